//! The pre-SSA form of a kernel, as the author wrote it: names may be assigned again and carries may be implicit.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tilefit_python::finding::{Note, Origin};
use tilefit_syntax::BlockKey;
use tilefit_syntax::ast::ExprId;

use crate::ir::{
    Call, CrossCore, Inlined, LoopKind, Operand, Rejection, Scalar, Type, Value, Var, VarId, VectorRegion,
};

/// Variables here are the author's: one per name and scope, as the compiler's parser counts them.
#[derive(Debug, Default)]
pub(super) struct PreSsa {
    pub(super) vars: Vec<Var>,
    /// What the compiler calls variables that have another name there.
    pub(super) renamed: FxHashMap<VarId, String>,
    pub(super) params: Vec<VarId>,
    pub(super) body: Vec<Statement>,
}

#[derive(Debug)]
pub(super) enum Statement {
    /// `ty` is the type of this assignment, which may differ from the variable's in its view.
    Let {
        var: VarId,
        value: Value,
        ty: Type,
        origin: Origin,
    },
    Eval {
        call: Call,
        origin: Origin,
    },
    For {
        kind: LoopKind,
        index: VarId,
        bounds: [Scalar; 3],
        carries: Vec<ExplicitCarry>,
        body: Vec<Statement>,
        origin: Origin,
    },
    While {
        condition: Scalar,
        carries: Vec<ExplicitCarry>,
        body: Vec<Statement>,
        origin: Origin,
    },
    If {
        condition: Scalar,
        then: Vec<Statement>,
        otherwise: Option<Vec<Statement>>,
        /// Written with `pl.yield_`.
        results: Vec<VarId>,
        origin: Origin,
    },
    Yield {
        values: Vec<Operand>,
        origin: Origin,
    },
    Return {
        values: Vec<Operand>,
        origin: Origin,
    },
    Break(Origin),
    Continue(Origin),
    /// A scope of host code that the compiler makes a kernel of.
    Region(Region),
}

impl Statement {
    pub(super) fn origin(&self) -> Option<Origin> {
        match self {
            Statement::Let { origin, .. }
            | Statement::Eval { origin, .. }
            | Statement::For { origin, .. }
            | Statement::While { origin, .. }
            | Statement::If { origin, .. }
            | Statement::Yield { origin, .. }
            | Statement::Return { origin, .. }
            | Statement::Break(origin)
            | Statement::Continue(origin) => Some(*origin),
            Statement::Region(_) => None,
        }
    }

    pub(super) fn call(&self) -> Option<&Call> {
        match self {
            Statement::Let { value: Value::Call(call), .. } | Statement::Eval { call, .. } => Some(call),
            _ => None,
        }
    }

    /// The statements in it.
    pub(super) fn inner(&self) -> impl Iterator<Item = &Statement> {
        let (body, otherwise) = match self {
            Statement::For { body, .. } | Statement::While { body, .. } => (body.as_slice(), None),
            Statement::If { then, otherwise, .. } => (then.as_slice(), otherwise.as_deref()),
            _ => ([].as_slice(), None),
        };
        body.iter().chain(otherwise.unwrap_or_default())
    }
}

#[derive(Debug)]
pub(super) struct Region {
    pub(super) body: Vec<Statement>,
    /// `name_hint=`
    pub(super) hint: Option<String>,
    pub(super) cross_core: CrossCore,
    pub(super) vector_regions: Vec<VectorRegion>,
    /// Launched by a call of the host function itself, and not as a task of its own that others wait for.
    pub(super) is_called: bool,
    /// Launched with `pl.spmd`.
    pub(super) on_blocks: bool,
    /// In a `pl.manual_scope` that stands between it and the loop around.
    pub(super) is_apart: bool,
    pub origin: Origin,
    pub(super) name_origin: Origin,
    /// The function whose text it stands in, if that is not the one being lowered.
    pub(super) inlined_from: Option<Rc<InlinedFunction>>,
    /// [`Kernel::inlined`](crate::ir::Kernel::inlined)
    pub(super) inlined: Vec<Inlined>,
    pub(super) targets: BTreeMap<Origin, Arc<str>>,
    pub(super) notes: Vec<Note>,
    pub(super) rejections: Vec<Rejection>,
}

/// A function of the same file that is put in place of a call, whose scopes are shown where they are written.
#[derive(Debug)]
pub(super) struct InlinedFunction {
    pub(super) key: BlockKey,
    /// Its parameters, by the origins of the variables that the call gives.
    pub(super) params: FxHashMap<Origin, ExprId>,
}

impl InlinedFunction {
    /// The parameter of this function that is given a parameter of the function being lowered.
    pub(super) fn param(&self, var: &Var) -> Option<Origin> {
        self.params.get(&var.origin).copied().map(Origin::Expr)
    }
}

/// A carry written with `init_values`.
#[derive(Debug)]
pub(super) struct ExplicitCarry {
    pub(super) init: Operand,
    pub(super) iter: VarId,
    pub(super) result: VarId,
}

/// The type of each assignment, nested ones included.
pub(super) fn visit_types(body: &mut [Statement], see: &mut impl FnMut(VarId, &mut Type)) {
    for statement in body {
        match statement {
            Statement::Let { var, ty, .. } => see(*var, ty),
            Statement::For { body, .. } | Statement::While { body, .. } => visit_types(body, see),
            Statement::If { then, otherwise, .. } => {
                visit_types(then, see);
                visit_types(otherwise.as_deref_mut().unwrap_or_default(), see);
            }
            Statement::Region(region) => visit_types(&mut region.body, see),
            _ => {}
        }
    }
}
