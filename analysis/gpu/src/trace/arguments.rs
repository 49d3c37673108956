//! What the parameters of a kernel are given.

use std::rc::Rc;
use std::sync::Arc;

use tilefit_python::eval::Constant;
use tilefit_python::finding::{Example, Reason, Remedy};
use tilefit_syntax::ast::{self, Ast, Expr, ExprId, Param, Stmt};
use tilefit_syntax::{BlockSource, Document};

use super::super::language::Dtype;
use super::super::possible::Usage;
use super::super::program::{Effect, Kind, Type, ValueId};
use super::super::shared_layout::{Nvmma, SharedLayout};
use super::value::{Descriptor, Scalar, Tensor, Value, unknown};
use super::{Argument, Dialect, Emitted, Frame, Tracer, identity};

impl Tracer<'_> {
    /// A value that the kernel is given when it is launched.
    fn given(&mut self, frame: &Frame, at: ExprId, of: Type) -> ValueId {
        let op = Emitted {
            name: "argument",
            effect: Effect::None,
            operands: &[],
            of,
            identity: identity(at),
            kind: Kind::Plain,
        };
        self.emit(frame, at, op)
    }

    pub(super) fn argument(&mut self, frame: &mut Frame, at: ExprId, name: &str, argument: &Argument) -> Value {
        match argument {
            Argument::Constant(constant) => from_constant(constant),
            Argument::Python(text) => self.python(frame.home, text).unwrap_or_else(|| Value::str(text)),
            Argument::Pointer(element) => match element.pointer_to() {
                Some(dtype) => {
                    self.check_float8(frame, at, dtype);
                    let id = self.given(frame, at, Type::Pointer);
                    // Pointers of one alignment are gone through alike.
                    self.numbers[id.0 as usize] = identity(("pointer", self.is_divisible(name)));
                    self.note_argument(id, name);
                    Value::Scalar(Scalar { id, dtype })
                }
                None => unknown(format!("`{name}` points to a type that has no pointers")),
            },
            Argument::Scalar(dtype) => {
                let id = self.given(frame, at, dtype.scalar_type());
                self.note_argument(id, name);
                Value::Scalar(Scalar { id, dtype: *dtype })
            }
            Argument::Descriptor { element, block, layout } => {
                let is_layout_told = layout.is_some();
                let layout = match layout {
                    Some(text) => match self.python(frame.home, text) {
                        Some(Value::SharedLayout(layout)) => Some(layout),
                        _ => None,
                    },
                    None => Some(Rc::new(default_layout(block, *element))),
                };
                self.check_float8(frame, at, *element);
                let id = self.given(frame, at, Type::Descriptor);
                Value::Descriptor(Descriptor {
                    id,
                    dtype: *element,
                    block: Rc::new(block.clone()),
                    layout,
                    is_layout_told,
                })
            }
        }
    }

    /// A parameter without a type is a number given at the launch, unless Python must know its value.
    pub(super) fn unnamed_argument(&mut self, frame: &Frame, param: &Param, usage: impl Fn() -> Usage) -> Value {
        let name = frame.ast.name(param.name).unwrap_or_default();
        let annotation = param.annotation.and_then(|annotation| frame.ast.dotted(annotation));
        if annotation.is_some_and(|path| path.last() == Some(&"constexpr")) {
            let (example, is_number) = match usage() {
                Usage::Number => (Example::Number, true),
                Usage::Flag => (Example::Truth, false),
                Usage::Type => (Example::Elements, false),
            };
            let remedy = Remedy::Value { param: name.to_owned(), example, is_number };
            return Value::Unknown(Reason::new(format!("`{name}` has no value here")).with_remedy(Some(remedy)));
        }
        let id = self.given(frame, param.name, Type::Scalar { bits: 32 });
        self.of_untyped.insert(id, name.into());
        self.note_argument(id, name);
        Value::Scalar(Scalar { id, dtype: Dtype::UNTYPED })
    }

    /// An untyped argument turns out to be no number. Returns what its author has to say.
    pub(super) fn no_number(&mut self, value: ValueId, example: Example) -> Reason {
        let Some(name) = self.of_untyped.get(&value).cloned() else {
            return Reason::new("what a pointer leads to is not known");
        };
        self.is_no_number(value, &name, example);
        has_no_value(&name, example)
    }

    fn is_no_number(&mut self, value: ValueId, name: &str, example: Example) {
        self.program.types[value.0 as usize] = Type::Pointer;
        self.untyped.entry(name.to_owned()).or_insert(example);
    }

    /// A value that is one of several, by a branch or a round: if one of them is an untyped argument, so is it.
    pub(super) fn is_one_of(&mut self, value: ValueId, others: &[ValueId]) {
        for names in [&mut self.of_untyped, &mut self.led, &mut self.counts_from] {
            if let Some(name) = others.iter().find_map(|other| names.get(other)).cloned() {
                names.insert(value, name);
            }
        }
    }

    /// The element type of a number, or of what a pointer leads to.
    pub(super) fn scalar_type(&mut self, scalar: &Scalar) -> Result<Dtype, Reason> {
        match scalar.dtype {
            Dtype::UNTYPED if self.launch.dialect == Dialect::Triton => Ok(self.any()),
            Dtype::UNTYPED => Err(self.no_number(scalar.id, Example::Elements)),
            dtype => Ok(dtype),
        }
    }

    /// The element type of what a pointer leads to, on which the bytes of a block hang; why it is not known.
    pub(super) fn led_to(&mut self, pointer: &Scalar) -> Result<Dtype, Reason> {
        match pointer.dtype {
            Dtype::UNTYPED => Err(self.no_number(pointer.id, Example::Elements)),
            dtype if dtype.is_pointer() && dtype != Dtype::POINTER_TO_ANY => Ok(dtype.element()),
            _ => match self.led.get(&pointer.id).cloned() {
                // One that is counted on from an argument.
                Some(name) => {
                    self.untyped.insert(name.to_string(), Example::Elements);
                    Err(has_no_value(&name, Example::Elements))
                }
                None => Err(Reason::new("what a descriptor leads to is not known")),
            },
        }
    }

    /// What is counted from where a pointer leads to is an integer; where its type is that of what it was loaded from, so are those.
    pub(super) fn note_offsets(&mut self, values: &[Value], operands: &[ValueId]) {
        for (value, operand) in values.iter().zip(operands) {
            let (Value::Tensor(Tensor { dtype, .. }) | Value::Scalar(Scalar { dtype, .. })) = value else { continue };
            if *dtype == Dtype::ANY
                && let Some(name) = self.led.get(operand)
                && let Some(example) = self.untyped.get_mut(&**name)
            {
                *example = Example::Indices;
            }
        }
    }

    /// The element type of something untyped.
    pub(super) fn any(&mut self) -> Dtype {
        self.has_any = true;
        Dtype::ANY
    }

    /// An untyped argument, as a pointer to whatever it is. `None` for what is something else, or where the layout of what is
    /// loaded depends on the author.
    pub(super) fn as_pointer(&mut self, value: &Value) -> Option<Value> {
        if self.launch.dialect != Dialect::Triton {
            return None;
        }
        let dtype = Dtype::POINTER_TO_ANY;
        let (id, of, pointer) = match value {
            Value::Scalar(scalar) => (scalar.id, scalar.dtype, Value::Scalar(Scalar { dtype, ..*scalar })),
            Value::Tensor(tensor) => (tensor.id, tensor.dtype, Value::Tensor(Tensor { dtype, ..tensor.clone() })),
            _ => return None,
        };
        let name = match of {
            Dtype::UNTYPED => self.of_untyped.get(&id)?.clone(),
            Dtype::ANY => self.counts_from.get(&id)?.clone(),
            _ => return None,
        };
        self.is_no_number(id, &name, Example::Elements);
        self.has_any = true;
        self.led.insert(id, name);
        Some(pointer)
    }

    /// The argument of whose type a cast is to the type: `x.to(y.dtype)`, `x.to(y.dtype.element_ty)`.
    pub(super) fn type_of_what(&self, frame: &Frame, cast: ExprId) -> Option<Rc<str>> {
        let Expr::Call { args, .. } = frame.ast.expr(cast) else { return None };
        let path = frame.ast.dotted(args.first()?.value)?;
        let [name, "dtype", ..] = path.as_slice() else { return None };
        let id = match frame.names.get(*name)? {
            Value::Tensor(Tensor { id, .. }) | Value::Scalar(Scalar { id, .. }) => id,
            Value::BlockPointer(pointer) => &pointer.base.id,
            _ => return None,
        };
        self.led.get(id).or_else(|| self.of_untyped.get(id)).cloned()
    }

    /// Why the element type of an operand of a product is not known; `None` where both are, or no argument can say it. One that an operand is
    /// loaded through is named first: what it leads to may be the type of the other one, too.
    pub(super) fn open_type(&mut self, operands: [&Tensor; 2]) -> Option<Reason> {
        let [one, two] = operands;
        let open = [(one, two), (two, one)].into_iter().filter(|(operand, _)| operand.dtype == Dtype::ANY);
        let single = Dtype::named("float32");
        let led = open.clone().find_map(|(operand, other)| {
            let name = self.led.get(&operand.id)?;
            let usual = match other.dtype {
                _ if self.single.contains(&operand.id) => Dtype::named("float16"),
                Dtype::ANY if self.single.contains(&other.id) => single,
                Dtype::ANY => Dtype::named("float16"),
                dtype => dtype,
            };
            Some((self.untyped.get_key_value(&**name)?, usual))
        });
        let Some(((name, example), usual)) = led else {
            open.clone().next()?;
            let (name, example) = self.untyped.iter().next()?;
            return Some(has_no_value(name, *example));
        };
        self.usual.entry(name.clone()).or_insert(usual);
        Some(has_no_value(name, *example))
    }

    /// The value of an expression that stands in a text of its own, and sees what a place sees.
    pub(super) fn python(&mut self, home: super::Home, text: &str) -> Option<Value> {
        let (ast, expr) = expression(text)?;
        let mut frame = Frame::of_host(ast, home);
        self.is_scenario = true;
        let value = self.value(&mut frame, expr);
        self.is_scenario = false;
        (!matches!(value, Value::Unknown(_))).then_some(value)
    }
}

/// What the author of a kernel is told of an argument that is missing.
pub(super) fn has_no_value(name: &str, example: Example) -> Reason {
    let remedy = Remedy::Value { param: name.to_owned(), example, is_number: false };
    Reason::new(format!("`{name}` has no value here")).with_remedy(Some(remedy))
}

/// A text that is one expression.
fn expression(text: &str) -> Option<(Arc<Ast>, ExprId)> {
    let document = Document::new(text);
    let [block] = document.blocks() else { return None };
    let source: &BlockSource = &block.source;
    let (ast, _) = ast::parse(source);
    let [stmt] = ast.body[..] else { return None };
    let Stmt::Expr(expr) = *ast.stmt(stmt) else { return None };
    (!matches!(ast.expr(expr), Expr::Error)).then_some((Arc::new(ast), expr))
}

/// The layout that a descriptor of a block has where its author gives none.
pub(super) fn default_layout(block: &[u64], element: Dtype) -> SharedLayout {
    let element_bits = u64::from(element.bits.max(8));
    let swizzle = Nvmma::default_swizzle(block, element_bits, false, false, &Vec::new());
    SharedLayout::Nvmma(Nvmma {
        swizzle,
        element_bits,
        rank: block.len(),
        transposed: false,
        fp4_padded: false,
        cga: Vec::new(),
    })
}

/// A value of the code around a kernel.
pub(super) fn from_constant(constant: &Constant) -> Value {
    match constant {
        Constant::Int(value) => Value::Int(*value),
        Constant::Float(value) => Value::Float(value.get()),
        Constant::Bool(value) => Value::Bool(*value),
        Constant::Str(text) => Value::str(text),
        Constant::None => Value::None,
        Constant::List(values) => Value::list(values.iter().map(from_constant).collect::<Vec<_>>()),
        Constant::Tuple(values) => Value::tuple(values.iter().map(from_constant).collect::<Vec<_>>()),
        Constant::Dict(pairs) => {
            let pairs = pairs.iter().map(|(key, value)| (from_constant(key), from_constant(value)));
            Value::dict(pairs.collect::<Vec<_>>())
        }
        Constant::Unknown(reason) => Value::Unknown(reason.clone()),
        _ => match Dtype::from_constant(constant) {
            Some(dtype) => Value::Dtype(dtype),
            None => unknown("a value of another language"),
        },
    }
}
