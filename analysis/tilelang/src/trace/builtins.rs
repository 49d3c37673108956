//! Functions of Python's own.

use std::cmp::Ordering;

use tilefit_python::finding::Reason;
use tilefit_python::work;
use tilefit_syntax::ast::{BinaryOp, ExprId};

use super::numbers::float;
use super::python::{ordered, put, sorted, text};
use super::value::{Args, FrameId, Value, length_of_range, not_known, unknown};
use super::{LONGEST, Tracer};

impl Tracer<'_> {
    /// What Python goes through.
    pub(super) fn iterated(&mut self, value: &Value) -> Result<Vec<Value>, Reason> {
        let items = match value {
            Value::Unknown(it) => return Err(it.reason.clone()),
            Value::List(items) | Value::Tuple(items) => items.items.to_vec(),
            Value::Dict(pairs) => pairs.items.iter().map(|(key, _)| key.clone()).collect(),
            Value::Str(text) => text.chars().take(LONGEST).map(|letter| Value::str(&letter.to_string())).collect(),
            Value::Range(start, stop, step) => {
                let length = length_of_range(*start, *stop, *step);
                if length > LONGEST as u64 {
                    return Err(Reason::new(format!("a range of {length} numbers is not gone through")));
                }
                (0..length as i64).map(|i| Value::Int(start.wrapping_add(i.wrapping_mul(*step)))).collect()
            }
            Value::Launch(spec) => {
                let variables = self.launch_variables(spec);
                match variables {
                    Value::List(items) => items.items.to_vec(),
                    one => vec![one],
                }
            }
            _ => return Err(Reason::new("a value that is not gone through")),
        };
        work::spend(items.len() as u64);
        Ok(items)
    }

    /// A function of Python's own.
    pub(super) fn builtin(&mut self, frame: FrameId, expr: ExprId, name: &str, args: &Args) -> Value {
        if let Some(Value::Unknown(it)) = args.get(0, "")
            && !matches!(name, "print" | "isinstance" | "type" | "hasattr" | "getattr" | "callable" | "id" | "range")
        {
            return not_known(it.reason.clone());
        }
        let first = args.get(0, "").cloned().unwrap_or(Value::None);
        match name {
            "len" => match &first {
                Value::Str(text) => Value::Int(text.chars().count() as i64),
                Value::Dict(pairs) => Value::Int(pairs.items.len() as i64),
                Value::Range(start, stop, step) => {
                    Value::Int(length_of_range(*start, *stop, *step).min(1 << 60) as i64)
                }
                first => {
                    first.items().map_or_else(|| unknown("the length of a value"), |it| Value::Int(it.len() as i64))
                }
            },
            "range" => self.range(args),
            "min" | "max" => self.least(name, args),
            "sum" => match self.iterated(&first) {
                Ok(items) => {
                    let start = args.get(1, "start").cloned().unwrap_or(Value::Int(0));
                    items.into_iter().fold(start, |sum, item| self.binary(BinaryOp::Add, sum, item))
                }
                Err(reason) => not_known(reason),
            },
            "abs" => match &first {
                Value::Int(value) => {
                    value.checked_abs().map_or_else(|| unknown("a number that is too large"), Value::Int)
                }
                Value::Float(value) => Value::Float(value.abs()),
                first => self.elementwise("abs", std::slice::from_ref(first)),
            },
            "int" => match &first {
                Value::Float(value) if value.is_finite() => Value::Int(*value as i64),
                Value::Str(text) => text.trim().parse().map_or_else(|_| unknown("a text as a number"), Value::Int),
                first => first.int().map_or_else(|| first.clone(), Value::Int),
            },
            "float" => match &first {
                Value::Str(text) => text.parse().map_or_else(|_| unknown("a text as a number"), Value::Float),
                first => float(first).map_or_else(|| unknown("a float of a value"), Value::Float),
            },
            "bool" => first.truth().map_or_else(|| unknown("whether a value is true"), Value::Bool),
            "str" | "repr" => text(&first).map_or_else(|| unknown("a text of a value"), |text| Value::str(&text)),
            "tuple" | "list" | "set" | "frozenset" | "iter" => {
                match (args.positional.is_empty(), self.iterated(&first)) {
                    (true, _) => Value::list(Vec::new()),
                    (false, Ok(items)) => self.long(items, name != "tuple"),
                    (false, Err(reason)) => not_known(reason),
                }
            }
            "dict" => {
                let mut pairs = match &first {
                    Value::Dict(pairs) => pairs.items.to_vec(),
                    Value::None => Vec::new(),
                    list => match self.iterated(list) {
                        Ok(items) => items
                            .iter()
                            .filter_map(|item| match item.items() {
                                Some([key, value]) => Some((key.clone(), value.clone())),
                                _ => None,
                            })
                            .collect(),
                        Err(reason) => return not_known(reason),
                    },
                };
                for (keyword, value, _) in &args.keywords {
                    put(&mut pairs, Value::Str(keyword.clone()), value.clone());
                }
                Value::dict(pairs)
            }
            "zip" => {
                let lists: Result<Vec<Vec<Value>>, Reason> =
                    args.positional.iter().map(|(list, _)| self.iterated(list)).collect();
                match lists {
                    Ok(lists) => {
                        let length = lists.iter().map(Vec::len).min().unwrap_or(0);
                        let row = |i: usize| Value::tuple(lists.iter().map(|list| list[i].clone()).collect());
                        self.long((0..length).map(row).collect(), true)
                    }
                    Err(reason) => not_known(reason),
                }
            }
            "enumerate" => match self.iterated(&first) {
                Ok(items) => {
                    let start = args.get(1, "start").and_then(Value::int).unwrap_or(0);
                    let pair = |(i, item)| Value::tuple(vec![Value::Int(start.saturating_add(i as i64)), item]);
                    self.long(items.into_iter().enumerate().map(pair).collect(), true)
                }
                Err(reason) => not_known(reason),
            },
            "reversed" => match self.iterated(&first) {
                Ok(items) => self.long(items.into_iter().rev().collect(), true),
                Err(reason) => not_known(reason),
            },
            "sorted" => match self.iterated(&first) {
                Ok(items) => sorted(items, args),
                Err(reason) => not_known(reason),
            },
            "map" => match args.positional.get(1).map(|(list, _)| self.iterated(list)) {
                Some(Ok(items)) => {
                    let call = |item| {
                        let one = Args { positional: vec![(item, None)], ..Args::default() };
                        self.call(frame, expr, &first, &one)
                    };
                    Value::list(items.into_iter().map(call).collect())
                }
                Some(Err(reason)) => not_known(reason),
                None => unknown("`map` of nothing"),
            },
            "all" | "any" => match self.iterated(&first) {
                Ok(items) => {
                    let wanted = name == "any";
                    let truths: Vec<Option<bool>> = items.iter().map(Value::truth).collect();
                    if truths.contains(&Some(wanted)) {
                        Value::Bool(wanted)
                    } else if truths.contains(&None) {
                        unknown("whether values are true")
                    } else {
                        Value::Bool(!wanted)
                    }
                }
                Err(reason) => not_known(reason),
            },
            "divmod" => {
                let second = args.get(1, "").cloned().unwrap_or(Value::None);
                let quotient = self.binary(BinaryOp::FloorDiv, first.clone(), second.clone());
                let rest = self.binary(BinaryOp::Mod, first, second);
                Value::tuple(vec![quotient, rest])
            }
            "pow" => {
                let second = args.get(1, "exp").cloned().unwrap_or(Value::None);
                self.binary(BinaryOp::Pow, first, second)
            }
            "round" => match (&first, args.get(1, "ndigits")) {
                (Value::Float(value), None) => Value::Int(value.round_ties_even() as i64),
                _ => first,
            },
            "isinstance" => self.is_instance(&first, args.get(1, "")),
            "print" => Value::None,
            "next" => match self.iterated(&first) {
                Ok(items) => items.into_iter().next().unwrap_or_else(|| unknown("the first of nothing")),
                Err(reason) => not_known(reason),
            },
            "getattr" => match args.get(1, "").and_then(Value::text).map(str::to_owned) {
                Some(name) => self.attribute(frame, expr, &first, &name),
                None => unknown("`getattr` of a name that is not known"),
            },
            "callable" => Value::Bool(matches!(
                first,
                Value::Function(_) | Value::Lambda(_) | Value::Partial(_) | Value::Library(_)
            )),
            "slice" => unknown("a slice by itself"),
            _ => unknown(format!("`{name}` of Python is not followed")),
        }
    }

    fn range(&mut self, args: &Args) -> Value {
        let numbers: Vec<Option<i64>> = args.positional.iter().map(|(value, _)| value.int()).collect();
        match numbers.as_slice() {
            [Some(stop)] => Value::Range(0, *stop, 1),
            [Some(start), Some(stop)] => Value::Range(*start, *stop, 1),
            [Some(start), Some(stop), Some(step)] => Value::Range(*start, *stop, *step),
            _ => self.loop_spec("serial", args),
        }
    }

    fn least(&mut self, name: &str, args: &Args) -> Value {
        let items = match args.positional.as_slice() {
            [(list, _)] => self.iterated(list),
            all => Ok(all.iter().map(|(value, _)| value.clone()).collect()),
        };
        let items = match items {
            Ok(items) => items,
            Err(reason) => return not_known(reason),
        };
        if let Some(Value::Unknown(it)) = items.iter().find(|item| matches!(item, Value::Unknown(_))) {
            return not_known(it.reason.clone());
        }
        let wanted = if name == "min" { Ordering::Less } else { Ordering::Greater };
        let mut best: Option<Value> = None;
        for item in items {
            best = Some(match best {
                None => item,
                Some(best) => match ordered(&item, &best) {
                    Some(order) if order == wanted => item,
                    Some(_) => best,
                    None => return unknown(format!("`{name}` of values of the kernel")),
                },
            });
        }
        best.unwrap_or_else(|| unknown(format!("`{name}` of nothing")))
    }

    fn is_instance(&mut self, value: &Value, kinds: Option<&Value>) -> Value {
        let Some(kinds) = kinds else { return unknown("`isinstance` of nothing") };
        let kinds: Vec<Value> = kinds.items().map_or_else(|| vec![kinds.clone()], <[Value]>::to_vec);
        let mut all = Some(false);
        for kind in &kinds {
            let Value::Library(path) = kind else {
                all = None;
                continue;
            };
            let last = path.rsplit('.').next().unwrap_or_default();
            let is_one = match value {
                Value::Unknown(_) => None,
                Value::Int(_) => Some(last == "int"),
                Value::Bool(_) => Some(matches!(last, "bool" | "int")),
                Value::Float(_) => Some(last == "float"),
                Value::Str(_) => Some(last == "str"),
                Value::Dtype(_) => Some(matches!(last, "dtype" | "DataType" | "str")),
                Value::None => Some(last == "NoneType"),
                Value::List(_) => Some(matches!(last, "list" | "Sequence" | "Iterable")),
                Value::Tuple(_) => Some(matches!(last, "tuple" | "Sequence" | "Iterable")),
                Value::Dict(_) => Some(last == "dict"),
                Value::Buffer(_) => Some(matches!(last, "Buffer" | "Tensor")),
                Value::Element(_) => Some(matches!(last, "BufferLoad" | "PrimExpr")),
                Value::Region(_) => Some(last == "BufferRegion"),
                Value::Expr(expr) => match last {
                    "PrimExpr" => Some(true),
                    "Var" => Some(expr.is_variable),
                    "int" | "float" | "str" | "bool" | "Buffer" | "BufferLoad" | "IntImm" => Some(false),
                    _ => None,
                },
                _ => None,
            };
            match is_one {
                Some(true) => return Value::Bool(true),
                Some(false) => {}
                None => all = None,
            }
        }
        all.map_or_else(|| unknown("what kind a value has"), Value::Bool)
    }
}
