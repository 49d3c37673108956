//! What `pl` means in an expression that Python evaluates before it calls the compiler: element types, memories, dynamic
//! dimensions, declared allocations.

use tilefit_python::element::Dtype;
use tilefit_python::eval::{Argument, Behaviour, Constant, Object, Weighed};
use tilefit_python::finding::Reason;
use tilefit_syntax::ast::BinaryOp;

use crate::ir::Scalar;
use crate::target::Space;

/// A value that only PyPTO has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Space(Space),
    /// `pl.dynamic("N")`
    Dynamic(String),
    /// `pl.MemRef()` bound to a name, or `pl.MemRef("name")`.
    Allocation {
        name: Option<String>,
        slots: u32,
    },
}

impl Weighed for Value {
    fn weight(&self) -> usize {
        1
    }

    fn depth(&self) -> u32 {
        0
    }
}

impl Behaviour for Value {
    fn truth(&self) -> Option<bool> {
        matches!(self, Value::Space(_)).then_some(true)
    }

    /// What a dynamic extent is equal to is known at run time.
    fn is_known(&self) -> bool {
        !matches!(self, Value::Dynamic(_))
    }

    fn is_lasting(&self) -> bool {
        false
    }

    fn equals(&self, other: &Object) -> bool {
        other.get() == Some(self)
    }

    /// `buf = pl.MemRef()` takes the name that it is bound to.
    fn named(&self, name: &str) -> Option<Constant> {
        match *self {
            Value::Allocation { name: None, slots } => {
                Some(Constant::object(Value::Allocation { name: Some(name.to_owned()), slots }))
            }
            _ => None,
        }
    }

    fn member(&self, _: &str) -> Option<Constant> {
        None
    }

    fn with_member(&self, _: &str, _: &Constant) -> Option<Constant> {
        None
    }

    fn method(&self, _: &str, _: &[Constant]) -> Option<Constant> {
        None
    }

    fn either(&self, _: &Object) -> Option<Constant> {
        None
    }

    fn binary(&self, _: BinaryOp, left: &Constant, right: &Constant) -> Option<Constant> {
        let is_unknown = |side: &Constant| matches!(side, Constant::Unknown(_));
        match self {
            Value::Dynamic(name) if !is_unknown(left) && !is_unknown(right) => {
                Some(unknown(format!("arithmetic on the dynamic extent `{name}`")))
            }
            _ => None,
        }
    }
}

/// A dynamic extent as a scalar.
pub(super) fn dynamic(value: &Constant) -> Option<Scalar> {
    match value.get()? {
        Value::Dynamic(name) => Some(Scalar::Dynamic(name.clone())),
        _ => None,
    }
}

pub(super) fn space(value: &Constant) -> Option<Space> {
    match value.get()? {
        Value::Space(space) => Some(*space),
        _ => None,
    }
}

/// The meaning of a name; `None` where it is none of PyPTO's.
pub fn name(path: &[&str]) -> Option<Constant> {
    Some(match path {
        ["pl", "Mem" | "MemorySpace", space] => match Space::from_name(space) {
            Some(space) => Constant::object(Value::Space(space)),
            None => unknown(format!("there is no memory space `{space}`")),
        },
        [dtype] | ["pl" | "DataType", dtype] if Dtype::from_name(dtype).is_some() => {
            Constant::Dtype(Dtype::from_name(dtype)?)
        }
        ["pl" | "pld" | "ir", rest @ ..] if !rest.is_empty() => Constant::Member(rest.join(".")),
        _ => return None,
    })
}

/// What a call gives; `None` where the function is none of PyPTO's that Python runs.
pub fn call(path: &[&str], arguments: &dyn Fn() -> Vec<Argument>) -> Option<Constant> {
    Some(match path {
        ["pl", "dynamic"] => match positional(arguments()) {
            Some(Constant::Str(name)) => Constant::object(Value::Dynamic(name)),
            _ => unknown("`pl.dynamic` without a name"),
        },
        ["pl", "const"] => positional(arguments()).unwrap_or_else(|| unknown("`pl.const` without a value")),
        ["pl", dtype, "get_byte"] => match Dtype::from_name(dtype) {
            Some(dtype) => Constant::Int(dtype.get_byte() as i64),
            None => unknown(format!("there is no element type `pl.{dtype}`")),
        },
        ["pl", "MemRef"] => allocation(arguments()),
        _ => return None,
    })
}

/// The first argument, where it has no keyword.
fn positional(arguments: Vec<Argument>) -> Option<Constant> {
    arguments.into_iter().next().filter(|first| first.keyword.is_none()).map(|first| first.value)
}

fn allocation(arguments: Vec<Argument>) -> Constant {
    let slots = arguments.iter().find(|argument| argument.keyword.as_deref() == Some("slots"));
    let slots = match slots.map(|argument| &argument.value) {
        None => 1,
        Some(&Constant::Int(slots)) if (1..=1 << 20).contains(&slots) => slots as u32,
        Some(_) => return unknown("`slots` of `pl.MemRef` is not a positive constant"),
    };
    match positional(arguments) {
        None => Constant::object(Value::Allocation { name: None, slots }),
        Some(Constant::Str(name)) => Constant::object(Value::Allocation { name: Some(name), slots }),
        Some(_) => unknown("a `pl.MemRef` with an address is printed IR"),
    }
}

fn unknown(reason: impl Into<String>) -> Constant {
    Constant::Unknown(Reason::new(reason))
}
