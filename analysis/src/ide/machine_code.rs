//! What a kernel takes as machine code, where the compiler was asked for that, and how many blocks a multiprocessor runs with it.

use std::fmt;

use serde::Serialize;
use tilefit_gpu::device::Arch;
use tilefit_gpu::occupancy::{Block, Occupancy, blocks_per_sm};
use tilefit_python::diagnostics::Code;
use tilefit_syntax::TextRange;

use crate::confirm::{Machine, Outcome, Question, Spills};

use super::Context;
use super::diagnostic::Diagnostic;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MachineCode {
    /// Who says so: `ptxas 13.4.59`.
    pub by: String,
    /// Of each thread.
    pub registers: u64,
    /// Bytes of each thread: registers that are spilled, and arrays that no register holds.
    pub stack: u64,
    pub spills: Spills,
    /// Of a block, with those of all tasks.
    pub warps: u64,
    /// By NVIDIA's rules, from these numbers and the compiler's shared memory; `None` on other devices, and for clusters.
    pub occupancy: Option<AtOnce>,
}

/// Blocks that a multiprocessor runs at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AtOnce {
    pub blocks: u64,
    /// What leaves no room for another one: `registers`, `shared memory`, `warps`, `barriers`, `blocks`.
    pub limits: Vec<&'static str>,
}

/// What an answer says; the error is why it has no machine code. `None` where nobody asked for it.
pub(super) fn of(outcome: &Outcome, question: &Question) -> Option<Result<MachineCode, String>> {
    let Outcome::Shared(plan) = outcome else { return None };
    let Some(machine) = &plan.machine else { return plan.no_machine.clone().map(Err) };
    let Machine { by, registers, stack, spills, warps, barriers, static_shared } = machine.clone();
    let is_cluster = question.options.get("num_ctas").is_some_and(|&ctas| ctas > 1);
    let arch = Arch::from_name(&question.target).filter(|_| !is_cluster);
    let block = Block { registers, shared: plan.shared.saturating_add(static_shared), warps, barriers };
    let occupancy = arch.and_then(|arch| blocks_per_sm(arch, block)).map(AtOnce::from);
    Some(Ok(MachineCode { by, registers, stack, spills, warps, occupancy }))
}

/// Whether an answer to this says how many blocks run at once.
pub(super) fn are_blocks_known(context: &Context<'_>, question: &Question) -> bool {
    let answer = context.file.answers(context.db).to(question);
    let machine = answer.and_then(|answer| of(&answer.outcome, question));
    matches!(machine, Some(Ok(MachineCode { occupancy: Some(_), .. })))
}

/// A hint at what is compiled; `what` says which kernel spills, and where.
pub(super) fn spilling(range: TextRange, what: String, machine: &MachineCode) -> Diagnostic {
    let code = Code::RegisterSpills;
    let message = format!(
        "{what}: {} for each thread, by {}; smaller blocks or more warps need fewer registers",
        machine.in_full(),
        machine.by
    );
    Diagnostic { range, code, severity: code.severity(), message, related: Vec::new(), elsewhere: None }
}

impl From<Occupancy> for AtOnce {
    fn from(Occupancy { blocks, limits }: Occupancy) -> AtOnce {
        AtOnce { blocks, limits: limits.into_iter().map(|limit| limit.name()).collect() }
    }
}

/// `2 blocks/SM (registers)`
impl fmt::Display for AtOnce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.blocks == 1 { "block" } else { "blocks" };
        write!(f, "{} {plural}/SM ({})", self.blocks, self.limits.join(", "))
    }
}

impl AtOnce {
    /// `2 (registers)`
    pub fn in_short(&self) -> String {
        format!("{} ({})", self.blocks, self.limits.join(", "))
    }
}

impl MachineCode {
    pub fn spills(&self) -> bool {
        !self.spills.are_none()
    }

    /// `1792 B`, of AMD the registers; `0` where nothing is spilled.
    pub fn spilled(&self) -> String {
        match self.spills {
            Spills::Bytes { stored: 0, loaded: 0 } => "0".to_owned(),
            Spills::Bytes { stored, .. } => format!("{stored} B"),
            Spills::Registers { registers } => registers.to_string(),
        }
    }

    /// `168 registers, no spills`; `255 registers, 1792 B spilled`
    pub(super) fn in_short(&self) -> String {
        let spilled = match self.spills {
            spills if spills.are_none() => "no spills".to_owned(),
            _ => format!("{} spilled", self.spilled()),
        };
        format!("{} registers, {spilled}", self.registers)
    }

    /// `255 registers, 1792 bytes of spill stores and 1280 of spill loads, 720 bytes of stack`
    pub(super) fn in_full(&self) -> String {
        let spilled = match self.spills {
            spills if spills.are_none() => "no spills".to_owned(),
            Spills::Bytes { stored, loaded } => {
                format!("{stored} bytes of spill stores and {loaded} of spill loads")
            }
            Spills::Registers { registers } => format!("{registers} spilled"),
        };
        let stack = if self.stack == 0 { String::new() } else { format!(", {} bytes of stack", self.stack) };
        format!("{} registers, {spilled}{stack}", self.registers)
    }

    /// With who says each number.
    pub(super) fn words(&self) -> String {
        let at_once = self.occupancy.as_ref();
        let at_once = at_once.map_or(String::new(), |it| format!("; {it} by NVIDIA's occupancy rules"));
        format!("{} by {}{at_once}", self.in_full(), self.by)
    }

    /// What a lens says of it.
    pub(super) fn mark(&self) -> String {
        let at_once = self.occupancy.as_ref().map_or(String::new(), |it| format!(" · {it}"));
        format!("{}{at_once}", self.in_short())
    }
}
