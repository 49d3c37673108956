//! The core that runs a statement.

use rustc_hash::FxHashSet;

use crate::ir::{Attr, AttrName, Call, Kernel, Operand, Stmt, Value, VarId, visit};
use crate::ops::{CoreType, OpId, OutputSpace, Pipe};
use crate::target::Space;

/// The core that runs a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Core {
    /// Either: what it makes is made on both.
    Shared,
    Cube,
    Vector,
    Both,
}

impl Core {
    pub(super) fn of_space(space: Space) -> Core {
        match space {
            Space::Vec | Space::Ddr => Core::Vector,
            _ => Core::Cube,
        }
    }

    pub(super) fn and(self, other: Core) -> Core {
        match (self, other) {
            (Core::Shared, core) | (core, Core::Shared) => core,
            (a, b) if a == b => a,
            _ => Core::Both,
        }
    }
}

/// Tiles that the author takes from a queue: moving them does not cross again.
pub(super) fn popped(kernel: &Kernel) -> FxHashSet<VarId> {
    let mut popped = FxHashSet::default();
    visit::statements(&kernel.body, &mut |stmt| {
        if let Stmt::Let { var, value: Value::Call(call), .. } = stmt
            && matches!(call.op, OpId::TPOP_FROM_AIC | OpId::TPOP_FROM_AIV)
        {
            popped.insert(*var);
        }
    });
    popped
}

pub(super) fn body_core(kernel: &Kernel, body: &[Stmt], popped: &FxHashSet<VarId>) -> Core {
    body.iter().fold(Core::Shared, |core, stmt| core.and(stmt_core(kernel, stmt, popped)))
}

pub(super) fn stmt_core(kernel: &Kernel, stmt: &Stmt, popped: &FxHashSet<VarId>) -> Core {
    let own = visit::call_of(stmt).map_or(Core::Shared, |call| call_core(kernel, call, popped));
    stmt.blocks().fold(own, |core, block| core.and(body_core(kernel, block, popped)))
}

pub(super) fn call_core(kernel: &Kernel, call: &Call, popped: &FxHashSet<VarId>) -> Core {
    let source = || call.args.iter().find_map(|arg| kernel.tile(arg.var()?)).and_then(|tile| tile.space);
    match call.op {
        OpId::CREATE | OpId::GET_BLOCK_IDX | OpId::GET_BLOCK_NUM => Core::Shared,
        OpId::TPUSH_TO_AIV | OpId::TPOP_FROM_AIV | OpId::TFREE_TO_AIV | OpId::AIC_INITIALIZE_PIPE => Core::Cube,
        OpId::TPUSH_TO_AIC | OpId::TPOP_FROM_AIC | OpId::TFREE_TO_AIC | OpId::AIV_INITIALIZE_PIPE => Core::Vector,
        OpId::GET_SUBBLOCK_IDX => Core::Vector,
        op if op.crosses_cores() => Core::Both,
        OpId::NOTIFY if call.attr(AttrName::CorePlacement).is_some() => Core::Vector,
        OpId::SYNC_SET | OpId::SYNC_WAIT | OpId::SYNCALL => match call.core_type() {
            Some(CoreType::Aic | CoreType::AicOnly) => Core::Cube,
            Some(CoreType::Aiv | CoreType::AivOnly) => Core::Vector,
            Some(CoreType::Mix) | None => Core::Shared,
        },
        OpId::MOVE => {
            let to = destination(call);
            let crossed = call.args.first().and_then(Operand::var).is_some_and(|var| popped.contains(&var));
            match source().map(Core::of_space) {
                Some(from) if from != to && !crossed => Core::Both,
                _ => to,
            }
        }
        _ => {
            let output = match call.op.op().output {
                OutputSpace::Fixed(space) => Some(space),
                OutputSpace::TargetMemory => Some(call.target_memory().unwrap_or(Space::Vec)),
                OutputSpace::TargetMemoryOrDemand => call.target_memory(),
                OutputSpace::InheritFirstTile | OutputSpace::None => None,
            };
            output.or_else(source).map_or(Core::Shared, Core::of_space)
        }
    }
}

/// The core that has the pipes of a written flag or barrier. It says nothing of the kernel: on its own it makes none mixed.
pub(super) fn core_of_pipes(call: &Call) -> Core {
    let core = |name| match call.attr(name) {
        Some(Attr::Pipe(Pipe::V | Pipe::Mte3)) => Core::Vector,
        Some(Attr::Pipe(Pipe::M | Pipe::Mte1 | Pipe::Fix)) => Core::Cube,
        _ => Core::Shared,
    };
    match call.op {
        OpId::SYNC_SRC | OpId::SYNC_DST => core(AttrName::SetPipe).and(core(AttrName::WaitPipe)),
        OpId::BAR_V => Core::Vector,
        OpId::BAR_M => Core::Cube,
        _ => Core::Shared,
    }
}

/// The core that a call takes a tile to.
pub(super) fn destination(call: &Call) -> Core {
    match call.op {
        OpId::AIV_SHARD => Core::Vector,
        OpId::AIC_GATHER => Core::Cube,
        _ => Core::of_space(call.target_memory().unwrap_or(Space::Vec)),
    }
}
