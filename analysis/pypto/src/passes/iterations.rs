//! Loops taken apart: copies of single iterations, and the stages of a pipeline that they are.

use tilefit_python::finding::{Origin, Reason};

use super::io_order::{Drain, Drains, is_product};
use super::strays;
use crate::ir::rewrite::{self, Substitution};
use crate::ir::{
    Attr, AttrName, BodyCopy, Call, For, Kernel, Operand, Part, PipelineStage, Scalar, Stmt, Value, Var, VarId, Why,
};
use crate::ops::OpId;
use crate::target::Space;

/// A copy of one iteration.
pub(super) struct Iteration {
    pub(super) body: Vec<Stmt>,
    /// What it hands to the next one.
    pub(super) values: Vec<Operand>,
    /// The variables of the copy.
    copies: Substitution,
}

/// Copies `statements` of a loop, the last of which yields, for the iteration at `index` that takes `values`.
fn iteration(
    kernel: &mut Kernel,
    inner: &For,
    statements: &[Stmt],
    index: Scalar,
    values: &[Operand],
    copy: BodyCopy,
) -> Iteration {
    let first = kernel.vars.len();
    let mut copies = Substitution::unfolded();
    copies.set(inner.index, Operand::Scalar(index));
    for (carry, value) in inner.carries.iter().zip(values) {
        copies.set(carry.iter, value.clone());
    }
    let strays = strays::open(kernel, statements, &mut copies);
    let mut body = rewrite::copy(kernel, statements, &mut copies);
    strays.close(kernel, inner, &copies);
    note_copy(kernel, first, &copies, copy);
    let values = match body.pop_if(|last| matches!(last, Stmt::Yield { .. })) {
        Some(Stmt::Yield { values, .. }) => values,
        _ => values.to_vec(),
    };
    Iteration { body, values, copies }
}

/// Notes which copy of its loop's body the variables from `first` on belong to.
pub(super) fn note_copy(kernel: &mut Kernel, first: usize, copies: &Substitution, copy: BodyCopy) {
    let made = copies.vars().filter(|(_, new)| new.0 as usize >= first);
    kernel.copies.add(copy, made.collect());
}

/// Which of the stages of a region an iteration is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stage {
    pub(super) group: u32,
    pub(super) nth: i64,
    /// How many there are in its part.
    pub(super) count: i64,
    pub(super) part: Part,
}

/// Which tiles of a copied iteration say what stage they belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tagged {
    /// The one cube unit finishes an accumulator before it starts the next, so that accumulators of several stages can share memory.
    AllButAccumulators,
    /// One accumulator is drained while the next one is made.
    All,
    /// What comes from the other core lies in the queue.
    AllButReceived,
}

/// The kernel whose pipelines become copies of their iterations.
pub(super) struct Staging<'a> {
    pub kernel: &'a mut Kernel,
    next_group: u32,
    /// The indices of copied loops join them.
    pub(super) drains: &'a mut Drains,
}

impl<'a> Staging<'a> {
    pub(super) fn new(kernel: &'a mut Kernel, first_group: u32, drains: &'a mut Drains) -> Self {
        Staging { kernel, next_group: first_group, drains }
    }

    /// A number for copies that are stages of one region, which the author may have asked for.
    pub(super) fn group(&mut self, asked: Option<Origin>) -> u32 {
        let group = self.next_group;
        self.next_group += 1;
        self.kernel.asked_stages.extend(asked.map(|at| (group, at)));
        group
    }

    /// An iteration whose tiles say which stage they belong to.
    pub(super) fn stage(
        &mut self,
        inner: &For,
        statements: &[Stmt],
        index: Scalar,
        values: &[Operand],
        stage: Stage,
        tagged: Tagged,
    ) -> Iteration {
        let Stage { group, nth, count, part } = stage;
        let of_body = BodyCopy { of: inner.origin, part, nth: nth as u32, count: count as u32 };
        let mut copy = iteration(self.kernel, inner, statements, index, values, of_body);
        let copied: Vec<(VarId, Drain)> =
            self.drains.iter().filter_map(|(index, drain)| Some((copy.copies.var_of(*index)?, *drain))).collect();
        self.drains.extend(copied);
        tag(self.kernel, &mut copy.body, PipelineStage { group, stage: nth as u32 }, tagged);
        copy
    }

    pub(super) fn fresh(&mut self, var: VarId) -> VarId {
        let var = self.kernel.var(var).clone();
        self.kernel.add_var(var)
    }

    /// A variable of the compiler's like one of the author's.
    pub(super) fn named(&mut self, var: VarId, suffix: &str) -> VarId {
        let var = self.kernel.var(var);
        let name = format!("{}{suffix}", var.name);
        let var = Var { name, inserted: var.inserted.or(Some(Why::Intermediate)), ..var.clone() };
        self.kernel.add_var(var)
    }
}

pub(super) fn as_value(operand: Operand) -> Value {
    match operand {
        Operand::Var(var) => Value::Copy(var),
        Operand::Scalar(scalar) => Value::Scalar(scalar),
        Operand::List(_) => Value::Scalar(Scalar::Unknown(Reason::new("a loop-carried list"))),
        Operand::Unknown(reason) => Value::Scalar(Scalar::Unknown(reason)),
    }
}

/// Writes the stage into the calls that make tiles.
fn tag(kernel: &Kernel, body: &mut [Stmt], stage: PipelineStage, tagged: Tagged) {
    for stmt in body {
        match stmt {
            Stmt::Let { var, value: Value::Call(call), .. } => {
                let Some(tile) = kernel.tile(*var) else { continue };
                let is_left_out = match tagged {
                    Tagged::AllButAccumulators => is_product(call) && tile.space == Some(Space::Acc),
                    Tagged::All => false,
                    Tagged::AllButReceived => matches!(call.op, OpId::TPOP_FROM_AIC | OpId::TPOP_FROM_AIV),
                };
                if !is_left_out {
                    append_stage(call, stage);
                }
            }
            _ => stmt.blocks_mut().for_each(|block| tag(kernel, block, stage, tagged)),
        }
    }
}

fn append_stage(call: &mut Call, stage: PipelineStage) {
    for (name, attr) in &mut call.attrs {
        if let (&mut AttrName::PipelineStages, Attr::Stages(stages)) = (name, attr) {
            return stages.push(stage);
        }
    }
    call.attrs.push((AttrName::PipelineStages, Attr::Stages(vec![stage])));
}
