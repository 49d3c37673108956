//! Reductions and scans, with the buffers that their macros make.

use tilefit_python::finding::{Origin, Reason};
use tilefit_syntax::ast::ExprId;

use super::copies::Operand;
use super::recording::joined;
use super::value::{Args, FrameId, Size, Value};
use super::{Tracer, What};
use crate::program::{Kind, Reduce, Region, Scope};

fn region(operand: &Operand) -> Region {
    Region {
        buffer: operand.view.id,
        extents: Some(operand.full().iter().map(Size::extent).collect()),
        is_inside: None,
    }
}

fn is_shared(operand: &Operand) -> bool {
    matches!(operand.view.scope, Scope::Shared | Scope::StaticShared)
}

impl Tracer<'_> {
    /// `T.reduce_sum(buffer, out, dim, clear)`; one side or both may be in shared memory, and then go through registers.
    pub(super) fn reduction(&mut self, frame: FrameId, expr: ExprId, name: &str, args: &Args) -> Value {
        let at = self.at(frame, expr);
        let (given, out) = (args.get(0, "buffer").cloned(), args.get(1, "out").cloned());
        let source = given.as_ref().and_then(|value| self.operand(value));
        let target = out.as_ref().and_then(|value| self.operand(value));
        let (Some(source), Some(target)) = (source, target) else {
            let bad = [given, out].into_iter().flatten().find(|value| self.operand(value).is_none());
            self.no_operand(name, bad.as_ref());
            return Value::None;
        };
        let has_kind = name == "reduce";
        let dim_at = if has_kind { 3 } else { 2 };
        let rank = source.full().len();
        let dim = args.get(dim_at, "dim").cloned().unwrap_or(Value::Int(-1));
        let dim = match dim.int() {
            Some(dim) if dim < 0 => usize::try_from(dim + rank as i64).unwrap_or(0),
            Some(dim) => usize::try_from(dim).unwrap_or(0),
            None => {
                self.note(Reason::new("the dimension of a reduction is not known"));
                0
            }
        };
        let clears_at = if name == "reduce_abssum" { usize::MAX } else { dim_at + 1 };
        let clears = match args.get(clears_at, "clear") {
            None => true,
            Some(value) => value.truth().unwrap_or(true),
        };
        self.check_reduction(&source, &target, dim, at);
        let made = |tracer: &mut Self, of: &Operand| {
            let name = tracer.out.buffer(of.view.id).map_or_else(String::new, |buffer| format!("{}_frag", buffer.name));
            let view = tracer.made_buffer(&name, Scope::Fragment, &of.view.dtype, &of.full(), at)?;
            tracer.operand(&Value::Buffer(view))
        };
        let (from_shared, to_shared) = (is_shared(&source), is_shared(&target));
        let near_source = if from_shared { made(self, &source) } else { Some(source.clone()) };
        let near_target = if to_shared { made(self, &target) } else { Some(target.clone()) };
        let (Some(near_source), Some(near_target)) = (near_source, near_target) else { return Value::None };
        if to_shared && !clears {
            self.op(Kind::Copy, vec![region(&target)], vec![region(&near_target)], at);
        }
        if from_shared {
            self.op(Kind::Copy, vec![region(&source)], vec![region(&near_source)], at);
        }
        let indices = joined([&source.touches[..], &target.touches]);
        let reads = [vec![region(&near_source)], Self::read_of(&indices)].concat();
        self.op(Kind::Reduce(Reduce { dim, clears }), reads, vec![region(&near_target)], at);
        if to_shared {
            self.op(Kind::Copy, vec![region(&near_target)], vec![region(&target)], at);
        }
        Value::None
    }

    fn check_reduction(&mut self, source: &Operand, target: &Operand, dim: usize, at: Origin) {
        let known = |sizes: &[Size]| -> Option<Vec<u64>> {
            sizes.iter().map(|size| size.known().and_then(|size| u64::try_from(size).ok())).collect()
        };
        let (Some(all), Some(given)) = (known(&source.full()), known(&target.full())) else { return };
        if dim >= all.len() {
            return;
        }
        let without: Vec<u64> = all.iter().enumerate().filter(|(i, _)| *i != dim).map(|(_, size)| *size).collect();
        let mut with_one = all.clone();
        with_one[dim] = 1;
        // One number of a vector.
        if given != without && given != with_one {
            self.mistake(at, What::ReductionShape { given, expected: without });
        }
    }

    /// `T.cumsum(src, dst, dim)`: one of registers goes through shared memory.
    pub(super) fn scan(&mut self, frame: FrameId, expr: ExprId, name: &str, args: &Args) -> Value {
        let at = self.at(frame, expr);
        let given = args.get(0, "src").cloned();
        let Some(source) = given.as_ref().and_then(|value| self.operand(value)) else {
            self.no_operand(name, given.as_ref());
            return Value::None;
        };
        let target = match args.get(1, "dst") {
            None | Some(Value::None) => source.clone(),
            Some(value) => match self.operand(&value.clone()) {
                Some(target) => target,
                None => {
                    self.no_operand(name, args.get(1, "dst"));
                    return Value::None;
                }
            },
        };
        if source.view.scope != Scope::Fragment {
            return Self::operation_of(Kind::CumulativeSum, vec![region(&source)], vec![region(&target)], at);
        }
        // The macro binds the buffer to a name of its own, which the buffer keeps.
        if let Some(buffer) = self.out.buffer_mut(source.view.id) {
            buffer.name = "src_buffer".into();
        }
        let Some(view) = self.made_buffer("scan_smem", Scope::Shared, &source.view.dtype, &source.full(), at) else {
            return Value::None;
        };
        let Some(near) = self.operand(&Value::Buffer(view)) else { return Value::None };
        self.op(Kind::Copy, vec![region(&source)], vec![region(&near)], at);
        self.op(Kind::CumulativeSum, vec![region(&near)], vec![region(&near)], at);
        self.op(Kind::Copy, vec![region(&near)], vec![region(&target)], at);
        Value::None
    }

    /// `T.finalize_reducer(accumulator, target)`
    pub(super) fn finalized(&mut self, frame: FrameId, expr: ExprId, args: &Args) -> Value {
        let at = self.at(frame, expr);
        let source = args.get(0, "reducer").or_else(|| args.keyword("acc")).and_then(|value| self.operand(value));
        let target = args.get(1, "dst").and_then(|value| self.operand(value));
        let reads = source.iter().map(region).collect();
        let writes = target.as_ref().or(source.as_ref()).map(region).into_iter().collect();
        Self::operation_of(Kind::Other("finalize_reducer".into()), reads, writes, at)
    }
}
