//! One operation with its operands, and what the families of operations share.

use tilefit_pypto::ir::{Attr, AttrName, Call};
use tilefit_pypto::ops::{Category, Op, OpId, View};
use tilefit_python::element::{Dtype, Pad};

use super::array::{Array, each_index, rounded};
use super::statements::fresh;
use super::{Conditioning, Number, Result, Shared, Value, elementwise, indexed, movement, products, reductions};

pub(super) struct Operation<'a> {
    /// Without the dialect: `add`.
    pub(super) name: &'static str,
    /// The operation on tensors, where that differs from the one on tiles.
    pub(super) on_tensors: bool,
    /// An operation on an array of scalars.
    pub(super) on_scalars: bool,
    /// The row of the operation on tiles, where there is one.
    row: &'static Op,
    pub(super) call: &'a Call,
    args: Vec<Value>,
    made: Option<Made>,
    conditioning: Conditioning,
}

/// What the result is, before its elements.
#[derive(Debug, Clone)]
pub(super) struct Made {
    pub(super) dtype: Dtype,
    pub(super) shape: Vec<usize>,
}

pub(super) fn evaluate(call: &Call, args: Vec<Value>, made: Option<Made>, conditioning: Conditioning) -> Result<Value> {
    let full = call.op.op().name;
    let name = full.split_once('.').map_or(full, |(_, name)| name);
    let row = OpId::from_name(&format!("tile.{name}")).map_or(call.op.op(), OpId::op);
    let [on_tensors, on_scalars] = ["tensor.", "array."].map(|dialect| full.starts_with(dialect));
    let operation = Operation { name, on_tensors, on_scalars, row, call, args, made, conditioning };
    if operation.row.category == Category::Sync {
        return Ok(Value::Tuple(Vec::new()));
    }
    let families =
        [movement::evaluate, elementwise::evaluate, reductions::evaluate, products::evaluate, indexed::evaluate];
    for family in families {
        if let Some(value) = family(&operation)? {
            return Ok(value);
        }
    }
    Err("has no meaning in the reference".to_owned())
}

impl Operation<'_> {
    fn arg(&self, index: usize) -> Result<&Value> {
        self.args.get(index).ok_or_else(|| format!("operand {index} is missing"))
    }

    pub(super) fn array(&self, index: usize) -> Result<Shared> {
        match self.arg(index)? {
            Value::Array(array) => Ok(array.clone()),
            _ => Err(format!("operand {index} is no tile and no tensor")),
        }
    }

    /// The operands that are arrays, in order.
    pub(super) fn arrays(&self) -> Vec<Shared> {
        let array = |value: &Value| match value {
            Value::Array(array) => Some(array.clone()),
            _ => None,
        };
        self.args.iter().filter_map(array).collect()
    }

    pub(super) fn number(&self, index: usize) -> Result<Number> {
        match self.arg(index)? {
            Value::Number(number) => Ok(*number),
            _ => Err(format!("operand {index} is no scalar")),
        }
    }

    pub(super) fn int(&self, index: usize) -> Result<i64> {
        match self.number(index)? {
            Number::Int(value) => Ok(value),
            Number::Float(value) => Err(format!("operand {index} is {value}, which is no whole number")),
        }
    }

    /// A list operand; `None` where it is left out or empty.
    pub(super) fn ints(&self, index: usize) -> Result<Option<Vec<i64>>> {
        let Some(Value::Tuple(items)) = self.args.get(index) else { return Ok(None) };
        let int = |item: &Value| match item {
            Value::Number(Number::Int(value)) => Ok(*value),
            _ => Err(format!("operand {index} is no list of whole numbers")),
        };
        let items: Vec<i64> = items.iter().map(int).collect::<Result<_>>()?;
        Ok(Some(items).filter(|items| !items.is_empty()))
    }

    pub(super) fn list(&self, index: usize) -> Result<Vec<i64>> {
        self.ints(index)?.ok_or_else(|| format!("operand {index} is no list"))
    }

    pub(super) fn extents(&self, index: usize) -> Result<Vec<usize>> {
        let extents = self.list(index)?.into_iter().map(usize::try_from);
        extents.collect::<std::result::Result<_, _>>().map_err(|_| format!("operand {index} has a negative extent"))
    }

    pub(super) fn pad(&self, dtype: Dtype) -> f64 {
        let (least, greatest) = range(dtype);
        match self.call.attr(AttrName::PadValue) {
            Some(Attr::Pad(Pad::Max)) => greatest,
            Some(Attr::Pad(Pad::Min)) => least,
            _ => 0.0,
        }
    }

    pub(super) fn made(&self) -> Result<&Made> {
        self.made.as_ref().ok_or_else(|| "the type of the result is not known".to_owned())
    }

    /// The result, nothing of it defined.
    pub(super) fn undefined(&self) -> Result<Array> {
        let Made { dtype, shape } = self.made()?;
        Ok(Array::undefined(*dtype, shape).with_valid(&self.valid(shape)?))
    }

    /// The result, element by element of its valid part.
    pub(super) fn fill(&self, mut f: impl FnMut(&[usize]) -> Result<f64>) -> Result<Option<Value>> {
        let mut result = self.undefined()?;
        let (dtype, mut at, mut problem) = (result.dtype, 0, None);
        each_index(&result.shape.clone(), |index| {
            if problem.is_none() && result.is_valid(index) {
                match f(index) {
                    Ok(value) => result.data[at] = rounded(dtype, value),
                    Err(why) if self.conditioning == Conditioning::Strict => problem = Some(why),
                    Err(_) => {}
                }
            }
            at += 1;
        });
        match problem {
            Some(why) => Err(why),
            None => Ok(Some(fresh(result))),
        }
    }

    /// The valid part of a result with these extents, as the table of operations says.
    fn valid(&self, shape: &[usize]) -> Result<Vec<usize>> {
        let of = |arg: u8| self.array(arg.into()).map(|array| array.borrow().valid.clone());
        let valid = match self.row.view {
            View::Same(arg) => {
                let source = self.array(arg.into())?;
                let source = source.borrow();
                if source.shape == shape { source.valid.clone() } else { shape.to_vec() }
            }
            View::Assemble | View::Move => of(0)?,
            View::RowReduced => of(0).map(|valid| [&valid[..valid.len() - 1], &[1]].concat())?,
            View::ColReduced => of(0).map(|valid| [&[1], &valid[1..]].concat())?,
            // A product with one row is padded to the unit's block.
            View::Gemv => [&[1], &shape[1..]].concat(),
            View::Literal(arg) => match self.ints(arg.into())? {
                Some(_) => self.extents(arg.into())?,
                None => shape.to_vec(),
            },
            View::LayoutsSwapped => {
                let mut valid = of(0)?;
                let rank = valid.len();
                valid.swap(rank - 2, rank - 1);
                valid
            }
            _ => shape.to_vec(),
        };
        Ok(if valid.len() == shape.len() { valid } else { shape.to_vec() })
    }
}

/// The least and the greatest value of a type, as padding.
fn range(dtype: Dtype) -> (f64, f64) {
    if dtype.is_float() {
        return (f64::NEG_INFINITY, f64::INFINITY);
    }
    let bits = dtype.storage_bits() as i32;
    match dtype {
        Dtype::Uint8 | Dtype::Uint16 | Dtype::Uint32 | Dtype::Uint64 => (0.0, f64::powi(2.0, bits) - 1.0),
        _ => (-f64::powi(2.0, bits - 1), f64::powi(2.0, bits - 1) - 1.0),
    }
}
