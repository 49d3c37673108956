//! What may stand in `pl.split_aiv`, and what beside it (`verify_aiv_split.cpp`): a kernel that opens one says itself where the vector
//! units work, and marks what goes between the cores.

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::diagnostics::Code;
use tilefit_python::finding::Origin;

use super::cores::{Core, call_core, destination, popped};
use super::cut::reduces_along;
use crate::ir::{Call, Kernel, Operand, Rejection, SplitMode, Stmt, Value, VarId, visit};
use crate::ops::{Namespace, OpId};
use crate::target::Space;

pub(crate) fn check(kernel: &mut Kernel) {
    if kernel.vector_regions.is_empty() {
        return;
    }
    let mut regions: FxHashMap<Origin, Option<SplitMode>> = FxHashMap::default();
    // A region within another stands before it.
    for region in &kernel.vector_regions {
        let Some(stmts) = &region.stmts else { return };
        for stmt in stmts {
            regions.entry(*stmt).or_insert(region.split);
        }
    }
    let popped = popped(kernel);
    let mut definitions: FxHashMap<VarId, (&Call, bool)> = FxHashMap::default();
    visit::statements(&kernel.body, &mut |stmt| {
        if let Stmt::Let { var, value: Value::Call(call), origin } = stmt {
            definitions.insert(*var, (call, regions.contains_key(origin)));
        }
    });
    let checks = Checks { kernel, popped, definitions };
    let mut refused: Vec<(Origin, String)> = Vec::new();
    visit::statements(&kernel.body, &mut |stmt| {
        let (Stmt::Let { value: Value::Call(call), origin, .. } | Stmt::Eval { call, origin }) = stmt else { return };
        let message = match regions.get(origin) {
            Some(split) => checks.inside(call, *split),
            None => checks.outside(call),
        };
        refused.extend(message.map(|message| (call.origin, message)));
    });
    for (at, message) in refused {
        let rejection = Rejection::new(at, Code::Rejected, message);
        if !kernel.rejections.iter().any(|known| (known.at, known.code) == (rejection.at, rejection.code)) {
            kernel.rejections.push(rejection);
        }
    }
}

struct Checks<'k> {
    kernel: &'k Kernel,
    popped: FxHashSet<VarId>,
    /// The calls that make values, and whether they stand in a region.
    definitions: FxHashMap<VarId, (&'k Call, bool)>,
}

impl Checks<'_> {
    fn inside(&self, call: &Call, split: Option<SplitMode>) -> Option<String> {
        let name = call.op.op().name;
        if call.op.crosses_cores() {
            return self.transferred(call);
        }
        let crossing = self.operands(call).find(|(_, made, in_region)| {
            !in_region
                && !is_load_or_store(made)
                && self.core(made) == Core::Cube
                && self.reads_on(call) == Core::Vector
        });
        if let Some((var, ..)) = crossing {
            let var = &self.kernel.var(var).name;
            return Some(format!(
                "`{var}` is produced on the cube, outside `pl.split_aiv`, but `{name}` reads it on the vector units; move it with `{var} = pl.aiv_shard({var})` first"
            ));
        }
        if self.core(call) == Core::Cube {
            return Some(format!(
                "`{name}` runs on the cube, but `pl.split_aiv` is for work of the vector units; move it out of the region"
            ));
        }
        reduces_along(call.op, split?).then(|| {
            format!(
                "`{name}` reduces along the split axis, of which each vector unit has only a part; reduce the other axis, or join the parts with `pl.aic_gather` first"
            )
        })
    }

    /// What goes between the cores comes from the one and arrives on the other.
    fn transferred(&self, call: &Call) -> Option<String> {
        let operand = call.args.first().and_then(Operand::var)?;
        let from = self.kernel.tile(operand)?.space?;
        match (call.op, from) {
            (OpId::AIV_SHARD, Space::Acc) | (OpId::AIC_GATHER, Space::Vec) => None,
            (OpId::AIV_SHARD, from) => Some(format!(
                "`pl.aiv_shard` moves a product of the cube to the vector units, but its operand is in {from}; remove the `pl.aiv_shard`, or shard the result of a `pl.matmul`"
            )),
            (_, from) => Some(format!(
                "`pl.aic_gather` moves a tile of the vector units to the cube, but its operand is in {from}; gather a tile in Vec"
            )),
        }
    }

    fn outside(&self, call: &Call) -> Option<String> {
        let name = call.op.op().name;
        if call.op.crosses_cores() {
            return Some(format!("`{name}` marks the boundary of `pl.split_aiv`, so it must be inside one"));
        }
        if is_load_or_store(call) {
            return None;
        }
        let crossing = self
            .operands(call)
            .find(|(_, made, in_region)| *in_region && !is_load_or_store(made) && made.op != OpId::AIC_GATHER)
            .filter(|_| self.reads_on(call) == Core::Cube);
        if let Some((var, ..)) = crossing {
            let var = &self.kernel.var(var).name;
            return Some(format!(
                "`{var}` is produced in `pl.split_aiv`, but `{name}` reads it on the cube, outside; write `{var} = pl.aic_gather({var})` in the region"
            ));
        }
        (self.core(call) == Core::Vector && !has_stated_core(call)).then(|| {
            format!(
                "`{name}` runs on the vector units, but this kernel has `pl.split_aiv` regions for their work; put it into a region, `for _ in pl.split_aiv(2, mode=pl.SplitMode.NONE):` if both units do all of it"
            )
        })
    }

    fn core(&self, call: &Call) -> Core {
        call_core(self.kernel, call, &self.popped)
    }

    /// The core that reads the operands: of a move between the cores the one that it goes to.
    fn reads_on(&self, call: &Call) -> Core {
        match (call.op, self.core(call)) {
            (OpId::MOVE, Core::Both) => destination(call),
            (_, core) => core,
        }
    }

    /// Operands that a call makes, with that call and whether it stands in a region.
    fn operands(&self, call: &Call) -> impl Iterator<Item = (VarId, &Call, bool)> {
        let operands: &[Operand] = if is_load_or_store(call) { &[] } else { &call.args };
        let made = |var: VarId| self.definitions.get(&var).map(|(made, in_region)| (var, *made, *in_region));
        operands.iter().filter_map(Operand::var).filter_map(made)
    }
}

/// The compiler itself takes those out of regions.
fn is_load_or_store(call: &Call) -> bool {
    matches!(call.op, OpId::LOAD | OpId::STORE)
}

/// Operations that are of one core wherever they stand.
fn has_stated_core(call: &Call) -> bool {
    matches!(
        call.op,
        OpId::TPUSH_TO_AIC
            | OpId::TPOP_FROM_AIC
            | OpId::TFREE_TO_AIC
            | OpId::AIV_INITIALIZE_PIPE
            | OpId::GET_SUBBLOCK_IDX
            | OpId::TILE_PUT
            | OpId::TILE_GET
            | OpId::SYNC_SET
            | OpId::SYNC_WAIT
            | OpId::SYNCALL
    ) || call.op.op().namespace == Namespace::Prefetch
}
