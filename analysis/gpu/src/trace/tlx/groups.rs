//! Reuse groups, overlap definitions, and what products say of the buffers that they read.

use tilefit_python::diagnostics::Code;
use tilefit_python::finding::{Origin, Reason};
use tilefit_syntax::ast::{Expr, ExprId};

use super::super::super::tlx::kernel::{Element, Group, GroupId, GroupKind, Known, Op, Overlap, Pair, SpecId};
use super::super::super::tlx::language::Storage;
use super::super::calls::Args;
use super::super::value::Value;
use super::super::{Frame, Tracer};
use super::facts::{Fact, View};

const AT_RUN_TIME: &str = "a condition is known at run time only";

impl Tracer<'_> {
    /// `spec.set_buffer_overlap(group)`
    pub(in crate::trace) fn set_buffer_overlap(&mut self, frame: &Frame, expr: ExprId, spec: &Value, args: &Args) {
        let Some(&Fact::Spec(spec)) = self.fact(spec) else { return };
        let Some(definition) = args.get(0, "overlap_def") else {
            let message = "set_buffer_overlap takes a tlx.reuse_group".to_owned();
            return self.refuse_memory(frame, expr, Code::Rejected, message);
        };
        let group = match (self.fact(definition), definition) {
            (Some(&Fact::Group(group)), _) => Ok(group),
            (None, Value::Unknown(reason)) => Err(reason.clone()),
            _ => {
                let at = first_argument(frame, expr);
                let message = format!("overlap_def must be a reuse_group, got {}", self.type_name(definition));
                return self.refuse_memory(frame, at, Code::Rejected, message);
            }
        };
        self.add_overlap(self.shown_at(frame, expr), spec, group);
    }

    fn add_overlap(&mut self, at: Origin, spec: SpecId, group: Known<GroupId>) {
        let certain = self.is_certain();
        let kernel = &mut self.facts.kernel;
        kernel.ops.push(Op::Overlap(kernel.overlaps.len()));
        kernel.overlaps.push(Overlap { at, spec, group, certain });
    }

    /// `tlx.reuse_group(*buffers, group_type=…, group_size=…)`
    pub(super) fn reuse_group(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        let at = self.shown_at(frame, expr);
        let (written, is_open) = written_elements(frame, expr, args.positional.len());
        let speaks = frame.call.is_none() && self.is_certain();
        let untyped = (speaks && args.named("group_type").is_none() && !is_open).then_some(at);
        let kind = match args.named("group_type") {
            None => Ok(GroupKind::Shared),
            Some(Value::Language(name)) if &**name == "shared" => Ok(GroupKind::Shared),
            Some(Value::Language(name)) if &**name == "distinct" => Ok(GroupKind::Distinct),
            Some(Value::Unknown(reason)) => Err(reason.clone()),
            Some(_) => Err(Reason::new("the group type is not a tlx.reuse_group_type")),
        };
        let mut elements = Vec::new();
        for (nth, value) in args.positional.iter().enumerate() {
            // What a `**` of something unknown brings may be named.
            if !is_open || self.fact(value).is_some() {
                let at = written.get(nth).copied().unwrap_or(expr);
                elements.push(self.element(frame, at, value));
            }
        }
        let size = match args.named("group_size") {
            None => Ok(1),
            Some(Value::Int(size)) if *size > 0 => Ok(size.unsigned_abs()),
            Some(Value::Unknown(reason)) => Err(reason.clone()),
            Some(other) => {
                let got = match other {
                    Value::Int(size) => size.to_string(),
                    other => self.type_name(other).to_owned(),
                };
                let at = named_argument(frame, expr, "group_size").unwrap_or(expr);
                self.refuse_memory(
                    frame,
                    at,
                    Code::Rejected,
                    format!("group_size must be a positive integer, got {got}"),
                );
                Err(Reason::new("the group size is not a positive integer"))
            }
        };
        if args.positional.is_empty() && !is_open {
            self.refuse_memory(frame, expr, Code::Rejected, "reuse_group requires at least one element".to_owned());
        }
        let kernel = &mut self.facts.kernel;
        let id = GroupId(kernel.groups.len() as u32);
        kernel.ops.push(Op::Group(id));
        kernel.groups.push(Group { at, kind, untyped, size, elements });
        self.with_fact(Value::None, Some(Fact::Group(id)))
    }

    fn element(&mut self, frame: &Frame, arg: ExprId, value: &Value) -> Element {
        let at = self.shown_at(frame, arg);
        match (self.fact(value), value) {
            (Some(Fact::Buffers(views)), _) => match views.as_slice() {
                [View { buffer, form }] => Element::Leaf { buffer: *buffer, at, view: form.is_some() },
                _ => Element::Unknown(Reason::new(AT_RUN_TIME)),
            },
            (Some(&Fact::Group(group)), _) => Element::Group(group),
            (None, Value::Unknown(reason)) => Element::Unknown(reason.clone()),
            _ => {
                let got = self.type_name(value);
                let message = format!("reuse_group elements must be buffered_tensor or reuse_group, got {got}");
                self.refuse_memory(frame, arg, Code::Rejected, message);
                Element::Unknown(Reason::new("an element of the group is not a buffer"))
            }
        }
    }

    /// It holds the scales of a product.
    pub(super) fn holds_scales(&mut self, value: &Value) {
        match self.fact(value).cloned() {
            Some(Fact::Buffers(views)) => {
                for view in views {
                    self.facts.kernel.buffers[view.buffer.0 as usize].scales = true;
                }
            }
            _ => self.facts.kernel.hides_scales = true,
        }
    }

    /// A product over two CTAs gives its 64-row accumulator, and its operand in tensor memory, other layouts.
    pub(super) fn reads_operands(&mut self, args: &Args, is_scaled: bool) {
        let scales = [args.get(3, "A_scale"), args.get(5, "B_scale")];
        for scale in scales.into_iter().flatten().filter(|_| is_scaled) {
            self.holds_scales(scale);
        }
        if args.named("two_ctas").and_then(Value::truth) != Some(true) {
            return;
        }
        let kernel = &self.facts.kernel;
        let in_tensor_memory = |id: &_| kernel.buffer(*id).storage == Ok(Storage::Tmem);
        let Some(acc) = self.buffer_of(args.get(2, "acc")).filter(in_tensor_memory) else { return };
        let rows = kernel.buffer(acc).shape.as_ref().ok().and_then(|shape| shape.first().copied());
        if rows != Some(64) {
            return;
        }
        let left = self.buffer_of(args.get(0, "A")).filter(in_tensor_memory);
        self.facts.kernel.buffers[acc.0 as usize].pair = Pair::Rhs;
        if let Some(left) = left {
            self.facts.kernel.buffers[left.0 as usize].pair = Pair::Lhs;
        }
    }
}

/// Where each of so many elements of a group is written, and whether there may be more arguments than that says. All that a `*` unpacks stands at one
/// place.
fn written_elements(frame: &Frame, call: ExprId, count: usize) -> (Vec<ExprId>, bool) {
    let Expr::Call { args, .. } = frame.ast.expr(call) else { return (Vec::new(), false) };
    let by_position: Vec<ExprId> = args.iter().filter(|arg| arg.keyword.is_none()).map(|arg| arg.value).collect();
    let is_starred = |&value: &ExprId| matches!(frame.ast.expr(value), Expr::Starred(_));
    let hides = |value: ExprId| {
        matches!(
            frame.ast.expr(value),
            Expr::Unpacked(_) | Expr::Thunk(_) | Expr::Lambda(_) | Expr::Other(_) | Expr::Error
        )
    };
    let is_open = args.iter().any(|arg| hides(arg.value));
    let unpacked = (count + 1).saturating_sub(by_position.len());
    let several = |value| if is_starred(&value) { unpacked } else { 1 };
    let each = by_position.iter().flat_map(|&value| std::iter::repeat_n(value, several(value)));
    (each.take(count).collect(), is_open)
}

fn named_argument(frame: &Frame, call: ExprId, name: &str) -> Option<ExprId> {
    let Expr::Call { args, .. } = frame.ast.expr(call) else { return None };
    args.iter().find(|arg| arg.keyword.as_deref() == Some(name)).map(|arg| arg.value)
}

fn first_argument(frame: &Frame, call: ExprId) -> ExprId {
    match frame.ast.expr(call) {
        Expr::Call { args, .. } => args.first().map_or(call, |arg| arg.value),
        _ => call,
    }
}
