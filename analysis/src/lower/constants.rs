//! What `pl` means in an expression that Python evaluates before it calls the compiler: element types, memories, dynamic
//! dimensions, declared allocations.

use crate::element::Dtype;
use crate::eval::{Argument, Constant};
use crate::ir::Reason;
use crate::target::Space;

/// What a name stands for; `None` where it is none of PyPTO's.
pub(crate) fn name(path: &[&str]) -> Option<Constant> {
    Some(match path {
        ["pl", "Mem" | "MemorySpace", space] => match Space::from_name(space) {
            Some(space) => Constant::Space(space),
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
pub(crate) fn call(path: &[&str], arguments: &dyn Fn() -> Vec<Argument>) -> Option<Constant> {
    Some(match path {
        ["pl", "dynamic"] => match positional(arguments()) {
            Some(Constant::Str(name)) => Constant::Dynamic(name),
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
        None => Constant::Allocation { name: None, slots },
        Some(Constant::Str(name)) => Constant::Allocation { name: Some(name), slots },
        Some(_) => unknown("a `pl.MemRef` with an address is printed IR"),
    }
}

fn unknown(reason: impl Into<String>) -> Constant {
    Constant::Unknown(Reason::new(reason))
}
