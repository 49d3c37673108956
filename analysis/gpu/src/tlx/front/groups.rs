//! Reuse groups and overlap definitions.

use tilefit_syntax::ast::{Arg, Expr, ExprId};

use tilefit_python::diagnostics::Code;
use tilefit_python::eval::Constant;
use tilefit_python::finding::Reason;

use super::super::kernel::{Element, Group, GroupId, GroupKind, Known, Op, Overlap, SpecId};
use super::{Frame, Front, Value};

impl Front {
    pub(super) fn set_buffer_overlap(&mut self, frame: &mut Frame<'_>, expr: ExprId, spec: SpecId, args: &[Arg]) {
        let certain = self.uncertain.is_none();
        let at = self.at(frame, expr);
        let Some(definition) = args.first() else {
            let message = "set_buffer_overlap takes a tlx.reuse_group".to_owned();
            return self.refuse(frame, expr, Code::Rejected, message);
        };
        let value = self.settled(frame, definition.value);
        let group = match value {
            Value::Group(group) => Ok(group),
            Value::Constant(Constant::Unknown(reason)) => Err(reason),
            other => {
                let message = format!("overlap_def must be a reuse_group, got {}", other.type_name());
                return self.refuse(frame, definition.value, Code::Rejected, message);
            }
        };
        self.kernel.ops.push(Op::Overlap(self.kernel.overlaps.len()));
        self.kernel.overlaps.push(Overlap { at, spec, group, certain });
    }

    pub(super) fn reuse_group(&mut self, frame: &mut Frame<'_>, expr: ExprId, args: &[Arg]) -> Value {
        let at = self.at(frame, expr);
        let is_typed = args.iter().any(|arg| arg.keyword.as_deref() == Some("group_type"));
        // `**options` may bring it.
        let is_open = args.iter().any(|arg| {
            matches!(
                frame.ast.expr(arg.value),
                Expr::Unpacked(_) | Expr::Thunk(_) | Expr::Lambda(_) | Expr::Other(_) | Expr::Error
            )
        });
        let speaks = frame.call_site.is_none() && self.uncertain.is_none();
        let untyped = (speaks && !is_typed && !is_open).then_some(at);
        let mut group = Group { at, kind: Ok(GroupKind::Shared), untyped, size: Ok(1), elements: Vec::new() };
        for arg in args {
            let value = self.settled(frame, arg.value);
            match (arg.keyword.as_deref(), value) {
                (Some("group_type"), Value::Constant(Constant::Unknown(reason))) => group.kind = Err(reason),
                (Some("group_type"), Value::Constant(constant)) => {
                    let kind = GroupKind::from_constant(&constant);
                    group.kind = kind.ok_or_else(|| Reason::new("the group type is not a tlx.reuse_group_type"));
                }
                (Some("group_size"), value) => group.size = self.group_size(frame, arg.value, value),
                (Some(_), _) => {}
                (None, value) => {
                    let element = self.element(frame, arg.value, value);
                    group.elements.extend(element);
                }
            }
        }
        if args.iter().all(|arg| arg.keyword.is_some()) {
            self.refuse(frame, expr, Code::Rejected, "reuse_group requires at least one element".to_owned());
        }
        let id = GroupId(self.kernel.groups.len() as u32);
        self.kernel.ops.push(Op::Group(id));
        self.kernel.groups.push(group);
        Value::Group(id)
    }

    pub(super) fn group_size(&mut self, frame: &Frame<'_>, arg: ExprId, value: Value) -> Known<u64> {
        match value {
            Value::Constant(Constant::Int(size)) if size > 0 => Ok(size.unsigned_abs()),
            Value::Constant(Constant::Unknown(reason)) => Err(reason),
            other => {
                let got = match &other {
                    Value::Constant(Constant::Int(size)) => size.to_string(),
                    other => other.type_name().to_owned(),
                };
                let message = format!("group_size must be a positive integer, got {got}");
                self.refuse(frame, arg, Code::Rejected, message);
                Err(Reason::new("the group size is not a positive integer"))
            }
        }
    }

    pub(super) fn element(&mut self, frame: &Frame<'_>, arg: ExprId, value: Value) -> Vec<Element> {
        let at = self.at(frame, arg);
        match value {
            Value::Buffer { id, view } => vec![Element::Leaf { buffer: id, at, view: view.is_some() }],
            Value::Group(group) => vec![Element::Group(group)],
            Value::Sequence(values) if matches!(frame.ast.expr(arg), Expr::Starred(_)) => {
                values.into_iter().flat_map(|value| self.element(frame, arg, value)).collect()
            }
            Value::Constant(Constant::Unknown(reason)) => vec![Element::Unknown(reason)],
            other => {
                let message =
                    format!("reuse_group elements must be buffered_tensor or reuse_group, got {}", other.type_name());
                self.refuse(frame, arg, Code::Rejected, message);
                vec![Element::Unknown(Reason::new("an element of the group is not a buffer"))]
            }
        }
    }
}
