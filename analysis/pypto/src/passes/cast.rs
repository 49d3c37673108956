//! LegalizeTileCast: a conversion that the vector unit has no instruction for becomes the shortest chain of those it has.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use tilefit_python::diagnostics::Code;
use tilefit_python::element::Dtype;
use tilefit_python::finding::{Note, Origin, Reason};

use super::backend_layouts::base_name;
use super::layout;
use crate::ir::{
    Attr, AttrName, Call, Kernel, Operand, Rejection, Role, Stmt, Type, Value, Var, VarId, Why, rewrite, visit,
};
use crate::ops::OpId;
use crate::target::Target;

pub(super) fn run(kernel: &mut Kernel, target: Target) {
    let body = std::mem::take(&mut kernel.body);
    let mut legalize = Legalize { kernel, target, next: 0 };
    kernel.body = rewrite::expand_leaves(body, &mut |stmt, out| match stmt {
        Stmt::Let { var, value: Value::Call(call), origin } if call.op == OpId::CAST => {
            legalize.cast(var, call, origin, out);
        }
        other => out.push(other),
    });
}

/// A cast of a product that is computed in parts may be folded into the product's way out of the accumulator. That is not
/// modelled, so the result takes no memory.
pub(super) fn note_folded(kernel: &mut Kernel) {
    let mut casts = Vec::new();
    visit::statements(&kernel.body, &mut |stmt| {
        let Stmt::Let { var, value: Value::Call(call), .. } = stmt else { return };
        let source = call.args.first().and_then(Operand::var);
        let is_unknown = |source: VarId| matches!(kernel.var(source).ty, Type::Unknown(_));
        if call.op == OpId::CAST && source.is_some_and(is_unknown) {
            casts.push((*var, call.origin));
        }
    });
    for (var, at) in casts {
        let reason =
            Reason::new("a cast right after a product, because the compiler may fuse it into the store of the product");
        kernel.notes.push(Note { at, reason: reason.clone() });
        kernel.var_mut(var).ty = Type::Unknown(reason);
    }
}

/// The conversions that `pto.tcvt` has, by source (compiler at e2d0f78ae).
fn native(target: Target, from: Dtype) -> &'static [Dtype] {
    use Dtype::*;
    match (target, from) {
        (Target::Ascend910b, Fp32) => &[Fp16, Bf16, Int16, Int32, Int64],
        (Target::Ascend910b, Fp16) => &[Fp32, Int32, Int16, Int8, Uint8, Int4],
        (Target::Ascend910b, Bf16) => &[Fp32, Int32],
        (Target::Ascend910b, Int16) => &[Fp16, Fp32],
        (Target::Ascend910b, Int32) => &[Fp32, Int16, Int64, Fp16],
        (Target::Ascend910b, Uint8 | Int8 | Int4) => &[Fp16],
        (Target::Ascend950, Fp32) => &[Fp16, Bf16, Int16, Int32, Int64, Fp8E4M3Fn, Fp8E5M2, Hf8],
        (Target::Ascend950, Fp16) => &[Fp32, Int32, Int16, Int8, Uint8, Hf8],
        (Target::Ascend950, Bf16) => &[Fp32, Int32, Fp16, Fp4],
        (Target::Ascend950, Int16) => &[Fp16, Fp32, Uint8, Uint32, Int32],
        (Target::Ascend950, Int32) => &[Fp32, Int16, Int64, Uint16, Uint8],
        (Target::Ascend950, Uint8) => &[Fp16, Uint16],
        (Target::Ascend950, Int8) => &[Fp16, Int16, Int32],
        (Target::Ascend950, Uint32) => &[Uint8, Uint16, Int16],
        (Target::Ascend950, Fp8E4M3Fn | Fp8E5M2 | Hf8) => &[Fp32],
        (Target::Ascend950, Fp4) => &[Bf16],
        (_, Int64) => &[Fp32, Int32],
        _ => &[],
    }
}

struct Legalize<'a> {
    kernel: &'a mut Kernel,
    target: Target,
    /// Number of the next intermediate tile.
    next: u32,
}

impl Legalize<'_> {
    fn cast(&mut self, var: VarId, call: Call, origin: Origin, out: &mut Vec<Stmt>) {
        let source = call.args.first().and_then(Operand::var);
        let from = source.and_then(|source| self.kernel.tile(source)).map(|tile| tile.dtype);
        let declared = || self.kernel.tile(var).map(|tile| tile.dtype);
        let to = call.dtype(AttrName::TargetType).or_else(declared);
        let keep = |call: Call, out: &mut Vec<Stmt>| out.push(Stmt::Let { var, value: Value::Call(call), origin });
        let (Some(from), Some(to)) = (from, to) else { return keep(call, out) };
        let Some(chain) = chain(self.target, from, to) else {
            self.reject(from, to, call.origin);
            return keep(call, out);
        };
        let mut operand = call.args.first().cloned();
        let Some((last, between)) = chain.split_last() else { return keep(call, out) };
        for dtype in between {
            let step = hop(&call, operand.take(), *dtype);
            let middle = self.intermediate(var, *dtype, call.origin);
            layout::refresh(self.kernel, middle, &step);
            out.push(Stmt::Let { var: middle, value: Value::Call(step), origin });
            operand = Some(Operand::Var(middle));
        }
        keep(hop(&call, operand, *last), out);
    }

    fn intermediate(&mut self, result: VarId, dtype: Dtype, origin: Origin) -> VarId {
        let var = self.kernel.var(result);
        let lower = dtype.name().to_lowercase();
        let name = format!("{}__cast_{lower}_tmp_v{}", base_name(&var.name), self.next);
        let mut ty = var.ty.clone();
        if let Type::Tile(tile) = &mut ty {
            tile.dtype = dtype;
            tile.binding = None;
        }
        self.next += 1;
        self.kernel.add_var(Var { name, ty, role: Role::Def, inserted: Some(Why::CastStep), origin })
    }

    fn reject(&mut self, from: Dtype, to: Dtype, at: Origin) {
        let arch = match self.target {
            Target::Ascend910b => "a2a3",
            Target::Ascend950 => "a5",
        };
        let mut message = format!(
            "no native cast path from {from} to {to} for arch {arch}; pto.tcvt does not support this conversion"
        );
        // The search refuses to go through a type that loses values; the author may know that none are lost.
        let way_out = native(self.target, from).iter().find(|through| native(self.target, **through).contains(&to));
        if let Some(through) = way_out {
            message.push_str(&format!(". Cast to {through} first, then to {to}, if {through} holds all values"));
        }
        self.kernel.rejections.push(Rejection::new(at, Code::NoCastPath, message));
    }
}

/// The same conversion, of `operand` to `dtype`.
fn hop(call: &Call, operand: Option<Operand>, dtype: Dtype) -> Call {
    let mut hop = call.clone();
    hop.args = operand.into_iter().collect();
    for (name, attr) in &mut hop.attrs {
        if *name == AttrName::TargetType {
            *attr = Attr::Dtype(dtype);
        }
    }
    hop
}

/// The types to go through, the last one included; the shortest way, and among those the one that leaves integers first.
fn chain(target: Target, from: Dtype, to: Dtype) -> Option<Vec<Dtype>> {
    if from == to {
        return None;
    }
    if native(target, from).contains(&to) {
        return Some(vec![to]);
    }
    struct Reached {
        parent: Dtype,
        length: u32,
        cost: u32,
    }
    let mut reached = FxHashMap::default();
    reached.insert(from, Reached { parent: from, length: 0, cost: 0 });
    let mut queue = VecDeque::from([from]);
    while let Some(current) = queue.pop_front() {
        let (length, cost) = (reached[&current].length + 1, reached[&current].cost);
        let mut next = native(target, current).to_vec();
        if let Some(first) = same_width_float(current).and_then(|float| next.iter().position(|dtype| *dtype == float)) {
            next.swap(0, first);
        }
        for dtype in next {
            if dtype != to && narrows(dtype, to) {
                continue;
            }
            let cost = cost + edge_cost(current, dtype);
            match reached.get_mut(&dtype) {
                None => {
                    reached.insert(dtype, Reached { parent: current, length, cost });
                    queue.push_back(dtype);
                }
                Some(known) if known.length == length && cost < known.cost => {
                    known.parent = current;
                    known.cost = cost;
                }
                Some(_) => {}
            }
        }
    }
    let mut chain = Vec::new();
    let mut at = to;
    while at != from {
        chain.push(at);
        at = reached.get(&at)?.parent;
    }
    chain.reverse();
    Some(chain)
}

fn same_width_float(dtype: Dtype) -> Option<Dtype> {
    match dtype.logical_bits() {
        _ if dtype.is_float() => None,
        32 => Some(Dtype::Fp32),
        16 => Some(Dtype::Fp16),
        _ => None,
    }
}

fn edge_cost(from: Dtype, to: Dtype) -> u32 {
    match (from.is_float(), to.is_float()) {
        (false, true) if from.logical_bits() == to.logical_bits() => 0,
        (true, true) => 1,
        _ => 2,
    }
}

/// Bits of the significand, the leading one included, and of the exponent.
fn float_format(dtype: Dtype) -> Option<(u64, u64)> {
    match dtype {
        Dtype::Fp32 => Some((24, 8)),
        Dtype::Fp16 => Some((11, 5)),
        Dtype::Bf16 => Some((8, 8)),
        _ => None,
    }
}

fn is_signed(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::Int4 | Dtype::Int8 | Dtype::Int16 | Dtype::Int32 | Dtype::Int64)
}

fn value_bits(dtype: Dtype) -> u64 {
    dtype.logical_bits() - u64::from(is_signed(dtype))
}

/// Whether going through `middle` provably loses values that `to` can hold.
fn narrows(middle: Dtype, to: Dtype) -> bool {
    match (middle.is_float(), to.is_float()) {
        _ if middle == to => false,
        (false, true) => true,
        (true, true) => match (float_format(middle), float_format(to)) {
            (Some(middle), Some(to)) => middle.0 < to.0 || middle.1 < to.1,
            _ => false,
        },
        (true, false) => float_format(middle).is_some_and(|(significand, _)| significand < value_bits(to)),
        (false, false) => (!is_signed(middle) && is_signed(to)) || value_bits(middle) < value_bits(to),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_go_the_shortest_way_that_keeps_the_values() {
        use Dtype::*;
        let on_910b = |from, to| chain(Target::Ascend910b, from, to);
        assert_eq!(on_910b(Fp32, Fp16), Some(vec![Fp16]));
        assert_eq!(on_910b(Bf16, Fp16), Some(vec![Fp32, Fp16]));
        assert_eq!(on_910b(Int8, Fp32), None);
        assert_eq!(chain(Target::Ascend950, Int32, Fp16), Some(vec![Fp32, Fp16]));
        assert_eq!(chain(Target::Ascend950, Uint32, Fp32), None);
    }
}
