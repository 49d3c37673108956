//! Python's own functions, as far as kernels and what they call while they are compiled use them.

use super::operators::LONGEST;
use super::value::{Value, unknown};

/// The name of a function of Python's own.
pub(super) fn builtin(name: &str) -> Option<&'static str> {
    const BUILTINS: [&str; 28] = [
        "len",
        "range",
        "min",
        "max",
        "abs",
        "sum",
        "int",
        "float",
        "bool",
        "str",
        "tuple",
        "list",
        "isinstance",
        "zip",
        "enumerate",
        "reversed",
        "sorted",
        "print",
        "all",
        "any",
        "getattr",
        "hasattr",
        "type",
        "dict",
        "divmod",
        "pow",
        "round",
        "repr",
    ];
    BUILTINS.into_iter().find(|&known| known == name)
}

/// As `str` gives it.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Str(text) => text.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => value.to_string(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Dtype(dtype) => dtype.mlir.replace("f8E4M3FN", "fp8e4nv").replace("f8E5M2", "fp8e5"),
        _ => "…".to_owned(),
    }
}

/// A text that was put together, unless it is longer than any that means something.
pub(super) fn plain(text: String) -> Value {
    if text.len() > LONGEST { unknown("a text that is too long") } else { Value::str(&text) }
}

pub(super) fn at(elements: &[Value], index: i64) -> Option<&Value> {
    let index = if index < 0 { index + elements.len() as i64 } else { index };
    elements.get(usize::try_from(index).ok()?)
}

pub(super) fn slice(elements: &[Value], lower: Option<i64>, upper: Option<i64>, step: Option<i64>) -> Vec<Value> {
    let length = elements.len() as i64;
    let clamp = |bound: i64| (if bound < 0 { bound + length } else { bound }).clamp(0, length);
    match step.unwrap_or(1) {
        step @ 1.. => {
            let (from, to) = (clamp(lower.unwrap_or(0)), clamp(upper.unwrap_or(length)));
            let all = elements.get(from as usize..to.max(from) as usize).unwrap_or_default();
            all.iter().step_by(step as usize).cloned().collect()
        }
        -1 if lower.is_none() && upper.is_none() => elements.iter().rev().cloned().collect(),
        _ => Vec::new(),
    }
}

/// The value of a call of one of them on known values; `None` for those that the kernel computes.
pub(super) fn call(name: &str, args: &[Value]) -> Option<Value> {
    if let Some(Value::Unknown(reason)) = args.iter().find(|arg| matches!(arg, Value::Unknown(_)))
        && name != "isinstance"
    {
        return Some(Value::Unknown(reason.clone()));
    }
    Some(match (name, args) {
        ("len", [of]) => match of {
            Value::Str(text) => Value::Int(text.len() as i64),
            Value::Dict(pairs) => Value::Int(pairs.len() as i64),
            _ => of.elements().map_or_else(|| unknown("the length of something"), |all| Value::Int(all.len() as i64)),
        },
        ("tuple", [of]) => Value::tuple(of.elements()?.to_vec()),
        ("list", [of]) => Value::list(of.elements()?.to_vec()),
        ("tuple", []) => Value::tuple([]),
        ("list", []) => Value::list([]),
        ("dict", []) => Value::dict([]),
        ("reversed", [of]) => Value::list(of.elements()?.iter().rev().cloned().collect::<Vec<_>>()),
        ("zip", lists) => {
            let lists: Vec<&[Value]> = lists.iter().map(Value::elements).collect::<Option<_>>()?;
            let count = lists.iter().map(|list| list.len()).min().unwrap_or(0);
            let row = |i: usize| Value::tuple(lists.iter().map(|list| list[i].clone()).collect::<Vec<_>>());
            Value::list((0..count).map(row).collect::<Vec<_>>())
        }
        ("enumerate", [of]) => {
            let pair = |(i, value): (usize, &Value)| Value::tuple([Value::Int(i as i64), value.clone()]);
            Value::list(of.elements()?.iter().enumerate().map(pair).collect::<Vec<_>>())
        }
        ("min" | "max", [of]) => extreme(name, of.elements()?)?,
        ("min" | "max", all) => extreme(name, all)?,
        ("sum", [of]) => {
            let all: Vec<i64> = of.elements()?.iter().map(Value::int).collect::<Option<_>>()?;
            Value::Int(all.into_iter().try_fold(0_i64, i64::checked_add)?)
        }
        ("sorted", [of]) => {
            let mut all: Vec<i64> = of.elements()?.iter().map(Value::int).collect::<Option<_>>()?;
            all.sort_unstable();
            Value::list(all.into_iter().map(Value::Int).collect::<Vec<_>>())
        }
        ("abs", [of]) => match of {
            Value::Float(value) => Value::Float(value.abs()),
            _ => Value::Int(of.int()?.checked_abs()?),
        },
        ("int", [Value::Float(value)]) => Value::Int(*value as i64),
        ("int", [Value::Str(text)]) => text.parse().map_or_else(|_| unknown("text that is not a number"), Value::Int),
        ("int", [of]) => Value::Int(of.int()?),
        ("float", [of]) => match of {
            Value::Float(value) => Value::Float(*value),
            Value::Str(text) => text.trim().parse().map_or_else(|_| unknown("text that is not a number"), Value::Float),
            _ => Value::Float(of.int()? as f64),
        },
        ("bool", [of]) => Value::Bool(of.truth()?),
        ("str" | "repr", [of]) => Value::str(&text(of)),
        ("all" | "any", [of]) => {
            let truths: Vec<bool> = of.elements()?.iter().map(Value::truth).collect::<Option<_>>()?;
            Value::Bool(if name == "all" { truths.into_iter().all(|it| it) } else { truths.into_iter().any(|it| it) })
        }
        ("pow", [base, power]) => Value::Int(base.int()?.checked_pow(u32::try_from(power.int()?).ok()?)?),
        ("divmod", [one, two]) => {
            let (one, two) = (one.int()?, two.int()?);
            let quotient = tilefit_python::eval::floor_div(one, two)?;
            Value::tuple([Value::Int(quotient), Value::Int(one - quotient * two)])
        }
        ("round", [of]) => Value::Int(of.int()?),
        ("print", _) => Value::None,
        ("isinstance", [value, class]) => return is_instance(value, class).map(Value::Bool),
        ("type", [of]) => Value::type_of(of),
        _ => return None,
    })
}

fn extreme(name: &str, all: &[Value]) -> Option<Value> {
    let ints: Vec<i64> = all.iter().map(Value::int).collect::<Option<_>>()?;
    let found = if name == "min" { ints.into_iter().min() } else { ints.into_iter().max() };
    found.map(Value::Int)
}

/// Whether a value is of a class, by the name of the class in the language or in Python.
fn is_instance(value: &Value, class: &Value) -> Option<bool> {
    if let Some(classes) = class.elements() {
        let mut known = Some(false);
        for class in classes {
            match is_instance(value, class) {
                Some(true) => return Some(true),
                Some(false) => {}
                None => known = None,
            }
        }
        return known;
    }
    if let Value::Class(class) = class {
        return match value {
            Value::Unknown(_) => None,
            Value::Record(record) => Some(record.class.name == class.name),
            _ => Some(false),
        };
    }
    let name: &str = match class {
        Value::Language(path) => path.rsplit('.').next().unwrap_or(path),
        Value::Python(name) => name,
        _ => return None,
    };
    let is_of = match value {
        Value::Unknown(_) => return None,
        Value::Int(_) => matches!(name, "int" | "constexpr"),
        Value::Bool(_) => matches!(name, "bool" | "int" | "constexpr"),
        Value::Float(_) => matches!(name, "float" | "constexpr"),
        Value::Str(_) => matches!(name, "str" | "constexpr"),
        Value::Tuple(_) => name == "tuple",
        Value::List(_) => matches!(name, "list" | "tuple"),
        Value::Dict(_) => name == "dict",
        Value::Tensor(_) | Value::Scalar(_) => name == "tensor",
        Value::Shared(_) => name == "shared_memory_descriptor",
        Value::TensorMemory(_) => name == "tensor_memory_descriptor",
        Value::Descriptor(_) => name == "tensor_descriptor",
        Value::Dtype(_) => name == "dtype",
        Value::Registers(super::value::Registers::Known(layout)) => {
            layout_class(layout) == name || name == "DistributedLayout"
        }
        Value::Registers(_) => name == "AutoLayout",
        Value::SharedLayout(layout) => {
            use super::super::shared_layout::SharedLayout as L;
            let own = match **layout {
                L::Nvmma(_) => "NVMMASharedLayout",
                L::Swizzled { .. } => "SwizzledSharedLayout",
                L::Barrier { .. } => "MBarrierLayout",
                L::Padded { .. } => "PaddedSharedLayout",
                L::Linear { .. } => "SharedLinearLayout",
            };
            own == name || name == "SharedLayout"
        }
        Value::TensorLayout(layout) => {
            let is_scales = matches!(**layout, super::super::shared_layout::TensorMemoryLayout::Scales { .. });
            name == if is_scales { "TensorMemoryScalesLayout" } else { "TensorMemoryLayout" }
        }
        _ => false,
    };
    // Of a class that is not known here it may be all the same.
    (is_of || CLASSES.contains(&name)).then_some(is_of)
}

/// The classes that values are told by.
const CLASSES: [&str; 29] = [
    "int",
    "bool",
    "float",
    "str",
    "constexpr",
    "tuple",
    "list",
    "dict",
    "dtype",
    "tensor",
    "shared_memory_descriptor",
    "tensor_memory_descriptor",
    "tensor_descriptor",
    "BlockedLayout",
    "SliceLayout",
    "DistributedLinearLayout",
    "NVMMADistributedLayout",
    "DotOperandLayout",
    "AMDMFMALayout",
    "DistributedLayout",
    "AutoLayout",
    "NVMMASharedLayout",
    "SwizzledSharedLayout",
    "MBarrierLayout",
    "PaddedSharedLayout",
    "SharedLinearLayout",
    "SharedLayout",
    "TensorMemoryLayout",
    "TensorMemoryScalesLayout",
];

fn layout_class(layout: &super::super::layouts::Layout) -> &'static str {
    use super::super::layouts::Layout as L;
    match layout {
        L::Blocked { .. } => "BlockedLayout",
        L::Slice { .. } => "SliceLayout",
        L::Linear { .. } => "DistributedLinearLayout",
        L::Mma { .. } => "NVMMADistributedLayout",
        L::DotOperand { .. } => "DotOperandLayout",
        L::Mfma { .. } => "AMDMFMALayout",
    }
}
