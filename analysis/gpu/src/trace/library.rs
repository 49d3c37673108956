//! Functions that the packages of Triton bring beside the language: what they come to.

use tilefit_syntax::ast::{BinaryOp, ExprId};

use super::super::language::Dtype;
use super::calls::Args;
use super::operators::RANDOM;
use super::value::{Scalar, Value, unknown};
use super::{Frame, Tracer, identity};

/// Of `triton.language.extra.cuda.inline_ptx_lib`: one instruction for an element or a pair of them.
const INSTRUCTIONS: [&str; 4] = ["_mul_f32x2", "_sub_f32x2", "_fma_f32x2", "tanh_approx_fp32"];

impl Tracer<'_> {
    /// `None` where it is none of them.
    pub(super) fn library_call(&mut self, frame: &mut Frame, expr: ExprId, name: &str, args: &Args) -> Option<Value> {
        if name.starts_with("libdevice.") {
            return Some(self.each_as(frame, expr, "libdevice", identity(name), &args.all(), None));
        }
        if INSTRUCTIONS.contains(&name) {
            let of = Some(Dtype::named("float32"));
            return Some(self.each_as(frame, expr, "inline_asm_elementwise", identity(name), &args.all(), of));
        }
        if let Some(random) = RANDOM.iter().find(|(known, ..)| *known == name) {
            return Some(self.random(frame, expr, *random, args));
        }
        Some(match name {
            "_cvt_e4m3x4_f32" | "_cvt_e5m2x4_f32" => {
                let of = Dtype::named(if name == "_cvt_e4m3x4_f32" { "float8e4nv" } else { "float8e5" });
                self.each_as(frame, expr, "inline_asm_elementwise", 0, &args.all(), Some(of))
            }
            "_split_n_2D" => match (args.get(0, "x").cloned(), args.get(1, "SPLIT_FACTOR").and_then(Value::int)) {
                (Some(value), Some(parts @ 1..=64)) => {
                    let mut all = Vec::new();
                    self.columns(frame, expr, value, parts, &mut all);
                    Value::tuple(all)
                }
                _ => return None,
            },
            "_join_n_2D" => match args.get(0, "xs").and_then(Value::elements).map(<[Value]>::to_vec) {
                Some(parts) => self.beside(frame, expr, &parts),
                None => return None,
            },
            "map_elementwise" => self.map_elementwise(frame, expr, args),
            "swizzle2d" => self.swizzle2d(frame, expr, args)?,
            _ => return None,
        })
    }

    /// Numbers that are computed of a seed and the place of each, in many steps.
    fn random(
        &mut self,
        frame: &Frame,
        expr: ExprId,
        (name, results, is_float): (&'static str, usize, bool),
        args: &Args,
    ) -> Value {
        let of_64_bits = |value: &Value| matches!(value, Value::Tensor(tensor) if tensor.dtype.bits == 64 && tensor.dtype != Dtype::ANY);
        let is_wide = name.starts_with("philox") && args.positional.get(1).is_some_and(of_64_bits);
        let dtype = Dtype::named(match is_float {
            true => "float32",
            false if is_wide => "uint64",
            false => "uint32",
        });
        let given: Vec<Value> = args.all().into_iter().filter(|value| value.int().is_none()).collect();
        let one = |nth: usize| self.each_as(frame, expr, name, identity(nth), &given, Some(dtype));
        let all: Vec<Value> = (0..results).map(one).collect();
        match <[Value; 1]>::try_from(all) {
            Ok([only]) => only,
            Err(all) => Value::tuple(all),
        }
    }

    /// The columns of a matrix in so many parts.
    fn columns(&mut self, frame: &mut Frame, expr: ExprId, of: Value, parts: i64, all: &mut Vec<Value>) {
        let extents = |of: &Value| match of {
            Value::Tensor(tensor) if tensor.shape.len() == 2 => Some((tensor.shape[0] as i64, tensor.shape[1] as i64)),
            _ => None,
        };
        let (true, Some((rows, columns))) = (parts > 1, extents(&of)) else { return all.push(of) };
        let shape = Value::tuple([rows, 2, columns / 2].map(Value::Int));
        let apart = self.language_call(frame, expr, "reshape", Args::of([of, shape]));
        let order = Value::tuple([0, 2, 1].map(Value::Int));
        let turned = self.language_call(frame, expr, "permute", Args::of([apart, order]));
        let halves = self.language_call(frame, expr, "split", Args::of([turned]));
        match halves.elements() {
            Some(halves) => {
                for half in halves {
                    self.columns(frame, expr, half.clone(), parts / 2, all);
                }
            }
            None => all.push(halves),
        }
    }

    /// Matrices side by side, as one.
    fn beside(&mut self, frame: &mut Frame, expr: ExprId, parts: &[Value]) -> Value {
        let [first, _, ..] = parts else {
            return parts.first().cloned().unwrap_or_else(|| unknown("a matrix of no parts"));
        };
        let Value::Tensor(half) = first else { return unknown("a matrix of parts that are not tensors") };
        let rows = half.shape.first().copied().unwrap_or(1) as i64;
        let columns = half.shape.last().copied().unwrap_or(1) as i64 * parts.len() as i64;
        let (left, right) = parts.split_at(parts.len() / 2);
        let halves = [left, right].map(|half| self.beside(frame, expr, half));
        let joined = self.language_call(frame, expr, "join", Args::of(halves));
        let order = Value::tuple([0, 2, 1].map(Value::Int));
        let turned = self.language_call(frame, expr, "permute", Args::of([joined, order]));
        let shape = Value::tuple([rows, columns].map(Value::Int));
        self.language_call(frame, expr, "reshape", Args::of([turned, shape]))
    }

    /// `tl.swizzle2d(i, j, size_i, size_j, size_g)`: the place of a tile in groups of `size_g` rows.
    fn swizzle2d(&mut self, frame: &mut Frame, expr: ExprId, args: &Args) -> Option<Value> {
        let given = ["i", "j", "size_i", "size_j", "size_g"].into_iter().enumerate();
        let given: Vec<Value> = given.map(|(nth, name)| args.get(nth, name).cloned()).collect::<Option<_>>()?;
        let [i, j, rows, columns, group] = given.as_slice() else { return None };
        let row_start = self.binary(frame, expr, BinaryOp::Mul, i, columns);
        let nth = self.binary(frame, expr, BinaryOp::Add, &row_start, j);
        let of_group = self.binary(frame, expr, BinaryOp::Mul, group, columns);
        let number = self.binary(frame, expr, BinaryOp::FloorDiv, &nth, &of_group);
        let first = self.binary(frame, expr, BinaryOp::Mul, &number, group);
        let left = self.binary(frame, expr, BinaryOp::Sub, rows, &first);
        let height = self.language_call(frame, expr, "minimum", Args::of([left, group.clone()]));
        let within = self.binary(frame, expr, BinaryOp::Mod, &nth, &of_group);
        let row = self.binary(frame, expr, BinaryOp::Mod, &within, &height);
        let row = self.binary(frame, expr, BinaryOp::Add, &first, &row);
        let column = self.binary(frame, expr, BinaryOp::FloorDiv, &within, &height);
        Some(Value::tuple([row, column]))
    }

    /// `tl.map_elementwise(function, …)`: the function is followed with numbers to learn what it gives.
    fn map_elementwise(&mut self, frame: &mut Frame, expr: ExprId, args: &Args) -> Value {
        let (Some(Value::Function(function)), Some(given)) = (args.positional.first(), args.positional.get(1..)) else {
            return unknown("`map_elementwise` of a value that is not a function");
        };
        self.open();
        let element = |tracer: &mut Self, value: &Value| match value {
            Value::Tensor(tensor) => tracer.scalar(frame, expr, "element", tensor.dtype, &[]),
            value => value.clone(),
        };
        let pack = args.named("pack").and_then(Value::int).unwrap_or(1).clamp(1, 64);
        let elements: Vec<Value> =
            given.iter().flat_map(|value| (0..pack).map(|_| element(self, value)).collect::<Vec<_>>()).collect();
        let gives = self.follow(frame, expr, function, Args::of(elements));
        self.close(frame, expr, Vec::new());
        let mut one = |number: usize, gives: &Value| {
            let of = match gives {
                Value::Scalar(Scalar { dtype, .. }) => *dtype,
                Value::Unknown(reason) => return Value::Unknown(reason.clone()),
                value => self.promoted(std::slice::from_ref(value)),
            };
            self.each_as(frame, expr, "map_elementwise", identity((&*function.name, number)), given, Some(of))
        };
        match gives.elements() {
            Some(all) => {
                let distinct = all.iter().step_by(pack as usize).enumerate();
                Value::tuple(distinct.map(|(number, gives)| one(number, gives)).collect::<Vec<_>>())
            }
            None => one(0, &gives),
        }
    }
}
