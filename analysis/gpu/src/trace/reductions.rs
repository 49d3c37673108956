//! What goes along an axis: reductions, scans, histograms, and gathers.

use std::rc::Rc;

use tilefit_syntax::ast::{BinaryOp, ExprId};

use super::super::device::Compiler;
use super::super::language::Dtype;
use super::super::program::{Effect, Type, elements};
use super::calls::Args;
use super::operators::unknown_for;
use super::registers::Asked;
use super::value::{Registers, Scalar, Tensor, Value, unknown};
use super::{Dialect, Emitted, Frame, Tracer, identity};

impl Tracer<'_> {
    /// `tl.softmax`, as the library writes it.
    pub(super) fn softmax(&mut self, frame: &mut Frame, expr: ExprId, args: &Args) -> Value {
        let Some(of @ Value::Tensor(_)) = args.get(0, "x").cloned() else {
            return unknown_for(args.get(0, "x"), "`softmax` of something");
        };
        let axis = args.get(1, "dim").filter(|axis| !matches!(axis, Value::None)).cloned().unwrap_or(Value::Int(0));
        let reduced = |tracer: &mut Self, frame: &mut Frame, name: &str, value: &Value| {
            let mut args = Args::of([value.clone(), axis.clone()]);
            args.named.push(("keep_dims".into(), Value::Bool(true)));
            tracer.language_call(frame, expr, name, args)
        };
        let most = reduced(self, frame, "max", &of);
        let less = self.binary(frame, expr, BinaryOp::Sub, &of, &most);
        let powers = self.each_as(frame, expr, "unary", identity("exp"), std::slice::from_ref(&less), None);
        let sum = reduced(self, frame, "sum", &powers);
        self.binary(frame, expr, BinaryOp::Div, &powers, &sum)
    }

    pub(super) fn reduction(
        &mut self,
        frame: &mut Frame,
        expr: ExprId,
        (name, params): (&'static str, &[&str]),
        args: &Args,
    ) -> Value {
        let given = |wanted: &str| {
            let position = params.iter().position(|&param| param == wanted)?;
            args.get(2 + position, wanted)
        };
        let inputs = match args.get(0, "input") {
            Some(Value::Tensor(tensor)) => vec![tensor.clone()],
            Some(Value::Unknown(reason)) => return Value::Unknown(reason.clone()),
            Some(tuple) => match tensors(tuple) {
                Some(tensors) => tensors,
                None => return unknown("a reduction of a value that is not a tensor"),
            },
            None => return unknown("a reduction of nothing"),
        };
        let Some(first) = inputs.first().cloned() else { return unknown("a reduction of nothing") };
        let axis = match args.get(1, "axis") {
            None | Some(Value::None) => None,
            Some(axis) => match axis.int() {
                Some(axis) => Some(if axis < 0 { axis + first.shape.len() as i64 } else { axis }),
                None => return unknown("the axis of a reduction is not known"),
            },
        };
        let returns_indices = given("return_indices").and_then(Value::truth) == Some(true);
        let with_index = matches!(name, "argmax" | "argmin") || returns_indices;
        let compiler = self.launch.hardware.compiler;
        let mut inputs: Vec<Tensor> = inputs
            .into_iter()
            .map(|input| {
                let dtype = match with_index {
                    true => compared(input.dtype, compiler),
                    false => accumulated(name, input.dtype, given("dtype")),
                };
                if dtype == input.dtype {
                    return input;
                }
                match self.elementwise(frame, expr, "cast", &[Value::Tensor(input.clone())], Some(dtype)) {
                    Value::Tensor(tensor) => tensor,
                    _ => input,
                }
            })
            .collect();
        if axis.is_none() {
            let mut flat = Vec::new();
            for input in &inputs {
                match self.reshaped(frame, expr, input, vec![elements(&input.shape)]) {
                    Value::Tensor(tensor) => flat.push(tensor),
                    other => return other,
                }
            }
            inputs = flat;
        }
        let axis = axis.unwrap_or(0);
        let rank = inputs[0].shape.len();
        if !usize::try_from(axis).is_ok_and(|axis| axis < rank) {
            self.demand(frame, expr, false, || format!("a tensor of {rank} dimensions has no axis {axis}"));
            return unknown(format!("a reduction along axis {axis} of a tensor with {rank} dimensions"));
        }
        let axis = axis as usize;
        let mut bits: Vec<u32> = inputs.iter().map(|input| input.dtype.bits).collect();
        if with_index {
            bits.push(32);
        }
        let keeps = given("keep_dims").and_then(Value::truth) == Some(true);
        if let [input] = inputs.as_slice()
            && name == "sum"
            && let Some(product) = self.summed_product(frame, expr, input, axis)
        {
            return match product {
                Value::Tensor(tensor) if keeps => Value::Tensor(self.expand_dims(frame, expr, &tensor, axis)),
                product => product,
            };
        }
        let inputs = self.tensors_in_one_layout(frame, expr, inputs);
        let shape = (*inputs[0].shape).clone();
        let mut rest = shape.clone();
        rest.remove(axis);
        let layout = inputs[0].layout.clone();
        // In a loop that adds them up the compiler may spread them over threads otherwise (`OptimizeThreadLocality.cpp`).
        if self.carries
            && self.launch.dialect == Dialect::Triton
            && let Registers::Loaded(key) = self.resolved(&layout)
        {
            self.contested.insert(key);
        }
        let kind = self.asks(Asked::Reduction { shape: shape.clone(), axis, bits, layout: layout.clone() });
        let sliced = self.sliced(&layout, axis as u32);
        let of = |dtype: Dtype| if rest.is_empty() { dtype.scalar_type() } else { Type::Tensor };
        let mut dtypes: Vec<Dtype> = inputs.iter().map(|input| input.dtype).collect();
        if with_index {
            dtypes.push(Dtype::named("int32"));
        }
        let results: Vec<super::ValueId> = dtypes.iter().map(|&dtype| self.new_value(of(dtype))).collect();
        let operands: Vec<super::ValueId> = inputs.iter().map(|input| input.id).collect();
        let op = super::Op {
            name: "reduce",
            at: self.site(frame, expr),
            effect: Effect::None,
            operands,
            results: results.clone(),
            identity: identity((name, axis, &shape)),
            kind,
        };
        self.push(op);
        let mut made = Vec::new();
        for (&id, &dtype) in results.iter().zip(&dtypes) {
            let value = if rest.is_empty() {
                Value::Scalar(Scalar { id, dtype })
            } else {
                let tensor = Tensor { id, dtype, shape: Rc::new(rest.clone()), layout: sliced.clone() };
                Value::Tensor(if keeps { self.expand_dims(frame, expr, &tensor, axis) } else { tensor })
            };
            made.push(value);
        }
        match name {
            "argmax" | "argmin" => made.pop().unwrap_or(Value::None),
            _ if made.len() == 1 => made.remove(0),
            _ => Value::tuple(made),
        }
    }

    pub(super) fn scan(&mut self, frame: &Frame, expr: ExprId, name: &str, args: &Args) -> Value {
        let Some(inputs) = args.get(0, "input").and_then(|value| match value {
            Value::Tensor(tensor) => Some(vec![tensor.clone()]),
            tuple => tensors(tuple),
        }) else {
            return unknown("a scan of a value that is not a tensor");
        };
        let (Some(first), Some(axis)) = (inputs.first(), args.get(1, "axis").map_or(Some(0), Value::int)) else {
            return unknown("a scan of nothing");
        };
        let axis = if axis < 0 { axis + first.shape.len() as i64 } else { axis }.max(0) as usize;
        let first = self.along_axis(frame, expr, first);
        let mut inputs = [&[first], &inputs[1..]].concat();
        if name != "associative_scan" {
            for input in &mut inputs {
                let dtype = scanned(name, input.dtype, args.get(3, "dtype"), self.launch.hardware.compiler);
                let value = Value::Tensor(input.clone());
                if dtype != input.dtype
                    && let Value::Tensor(cast) = self.elementwise(frame, expr, "cast", &[value], Some(dtype))
                {
                    *input = cast;
                }
            }
        }
        let inputs = self.tensors_in_one_layout(frame, expr, inputs);
        let first = &inputs[0];
        let bits = inputs.iter().map(|input| input.dtype.bits).collect();
        let kind = self.asks(Asked::Scan { shape: (*first.shape).clone(), axis, bits, layout: first.layout.clone() });
        let results: Vec<super::ValueId> = inputs.iter().map(|_| self.new_value(Type::Tensor)).collect();
        let op = super::Op {
            name: "scan",
            at: self.site(frame, expr),
            effect: Effect::None,
            operands: inputs.iter().map(|input| input.id).collect(),
            results: results.clone(),
            identity: identity((axis, "scan")),
            kind,
        };
        // Its input may be converted in its place.
        self.widened.extend(&results);
        self.push(op);
        let made = inputs.iter().zip(results).map(|(input, id)| Value::Tensor(Tensor { id, ..input.clone() }));
        let made: Vec<Value> = made.collect();
        if let [one] = made.as_slice() { one.clone() } else { Value::tuple(made) }
    }

    pub(super) fn histogram(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        let (Some(Value::Tensor(input)), Some(bins)) =
            (args.get(0, "input"), args.get(1, "num_bins").and_then(Value::int))
        else {
            return unknown("`histogram` of something");
        };
        let input = input.clone();
        self.check_histogram(frame, expr, &input);
        let bins = bins.max(0) as u64;
        let bytes = super::super::layouts::histogram_bytes(bins as u32, 32, self.warps as u32, &self.launch.hardware);
        let kind = self.asks(Asked::Fixed(bytes));
        let layout = self.layout_or_auto(args.get(3, "layout"));
        let op = Emitted {
            name: "histogram",
            effect: Effect::None,
            operands: &[input.id],
            of: Type::Tensor,
            identity: bins,
            kind,
        };
        let id = self.emit(frame, expr, op);
        Value::Tensor(Tensor { id, dtype: Dtype::named("int32"), shape: Rc::new(vec![bins]), layout })
    }

    pub(super) fn gather(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        let (Some(Value::Tensor(source)), Some(Value::Tensor(index)), Some(axis)) =
            (args.get(0, "src"), args.get(1, "index"), args.get(2, "axis").and_then(Value::int))
        else {
            return unknown("`gather` of something");
        };
        let (source, index) = (source.clone(), index.clone());
        let is_whole = !index.dtype.is_floating();
        self.demand(frame, expr, is_whole, || {
            format!("`gather` takes indices that are integers, and no `{}`", index.dtype)
        });
        let (source, index) = self.gathered(frame, expr, source, index);
        let axis = if axis < 0 { axis + source.shape.len() as i64 } else { axis }.max(0) as usize;
        let kind = self.asks(Asked::Gather {
            source: ((*source.shape).clone(), source.layout.clone()),
            index: ((*index.shape).clone(), index.layout.clone()),
            axis,
            bits: source.dtype.bits,
        });
        let op = Emitted {
            name: "gather",
            effect: Effect::None,
            operands: &[source.id, index.id],
            of: Type::Tensor,
            identity: axis as u64,
            kind,
        };
        let id = self.emit(frame, expr, op);
        let layout = match self.launch.dialect {
            Dialect::Gluon => index.layout.clone(),
            Dialect::Tlx | Dialect::Triton => self.choice_for(id),
        };
        Value::Tensor(Tensor { id, dtype: source.dtype, layout, ..index })
    }

    /// The compiler of TLX gathers in a layout in which all of a column is in one warp, if there is any.
    pub(super) fn gathered(&mut self, frame: &Frame, expr: ExprId, source: Tensor, index: Tensor) -> (Tensor, Tensor) {
        if self.launch.dialect == Dialect::Gluon {
            return (source, index);
        }
        let choice = self.new_choice();
        (self.as_chosen(frame, expr, &source, &choice), self.as_chosen(frame, expr, &index, &choice))
    }
}

/// The element type in which a reduction computes (`triton/language/standard.py`).
fn accumulated(name: &str, dtype: Dtype, asked: Option<&Value>) -> Dtype {
    if let Some(Value::Dtype(asked)) = asked {
        return *asked;
    }
    let is_signed = dtype.name.starts_with("int") && dtype.bits > 1;
    match name {
        "sum" if !dtype.is_floating() && dtype.bits < 32 => Dtype::named(if is_signed { "int32" } else { "uint32" }),
        "max" | "min" if dtype.bits < 32 => Dtype::named(if dtype.is_floating() { "float32" } else { "int32" }),
        _ => dtype,
    }
}

/// The element type in which elements are compared where their indices are wanted: their own. What becomes of others is seen by [`accumulated`].
fn compared(dtype: Dtype, compiler: Compiler) -> Dtype {
    // `_promote_bfloat16_to_float32`
    let is_promoted = compiler < Compiler::V3_9 && dtype.name == "bfloat16";
    if is_promoted { Dtype::named("float32") } else { dtype }
}

/// The element type in which `cumsum` and `cumprod` compute: 3.8 widens `bfloat16`, and integers of sums only; 3.9 widens integers of both.
fn scanned(name: &str, dtype: Dtype, asked: Option<&Value>, compiler: Compiler) -> Dtype {
    match name {
        "cumprod" if compiler < Compiler::V3_9 => compared(dtype, compiler),
        _ => accumulated("sum", compared(dtype, compiler), asked),
    }
}

fn tensors(value: &Value) -> Option<Vec<Tensor>> {
    let tensor = |value: &Value| match value {
        Value::Tensor(tensor) => Some(tensor.clone()),
        _ => None,
    };
    value.elements()?.iter().map(tensor).collect()
}
