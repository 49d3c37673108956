//! Loop-invariant operands of products stay in L1 (the end of InferTileMemorySpace): a load that the compiler made for an
//! operand moves to before the loop that repeats it, and with it what brings the whole tile on to the cube.
//!
//! It moves over one loop only, and only where nothing can tell: the loop runs a known number of times and orders nothing, and the
//! tensor was made by the host function around the scope and is not written by the kernel.

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::finding::{Note, Origin, Reason};

use crate::ir::{AttrName, Call, For, Kernel, LoopKind, Operand, Stmt, Storage, Value, VarId, While, fold, visit};
use crate::memory::sizes;
use crate::ops::{Category, OpId};
use crate::target::{Machine, Space};

pub(super) fn run(kernel: &mut Kernel, machine: Machine) {
    let mut has_loads = false;
    visit::statements(&kernel.body, &mut |stmt| has_loads |= visit::call_of(stmt).is_some_and(is_operand_load));
    if !has_loads {
        return;
    }
    let body = std::mem::take(&mut kernel.body);
    let inventory = Inventory::of(kernel, machine, &body);
    let mut moving = Moving { kernel, inventory: &inventory, unclear: Vec::new() };
    let mut body = moving.body(body);
    for (at, name) in std::mem::take(&mut moving.unclear) {
        let reason = Reason::new(format!("the load of `{name}`, which the compiler may move out of the loop"));
        kernel.notes.push(Note { at, reason });
    }
    forget_marks(&mut body);
    kernel.body = body;
}

fn is_operand_load(call: &Call) -> bool {
    call.op == OpId::LOAD && call.attr(AttrName::OperandLoad).is_some()
}

fn forget_marks(body: &mut [Stmt]) {
    for stmt in body {
        if let Some(call) = visit::call_of_mut(stmt) {
            call.attrs.retain(|(name, _)| *name != AttrName::OperandLoad);
        }
        stmt.blocks_mut().for_each(|block| forget_marks(block));
    }
}

/// A call that reads a variable: where, and what it defines.
struct Use {
    op: OpId,
    index: usize,
    result: Option<VarId>,
}

/// What is known of the whole kernel before anything moves.
struct Inventory {
    definitions: FxHashMap<VarId, Call>,
    /// How often each variable is read, in whatever way.
    reads: FxHashMap<VarId, usize>,
    uses: FxHashMap<VarId, Vec<Use>>,
    /// Spaces whose tiles all fit at once, so that a longer life cannot hurt.
    roomy: FxHashSet<Space>,
    /// Tiles that only one product reads, and how they get to it from global memory.
    chains: FxHashSet<VarId>,
    /// Loads whose every part is an operand.
    panels: FxHashSet<VarId>,
    /// Tensors that the kernel stores to.
    written: FxHashSet<VarId>,
}

impl Inventory {
    fn of(kernel: &Kernel, machine: Machine, body: &[Stmt]) -> Inventory {
        let mut inventory = Inventory {
            definitions: FxHashMap::default(),
            reads: FxHashMap::default(),
            uses: FxHashMap::default(),
            roomy: roomy(kernel, machine, body),
            chains: FxHashSet::default(),
            panels: FxHashSet::default(),
            written: written(body),
        };
        for stmt in body {
            visit::uses(stmt, &mut |var| *inventory.reads.entry(var).or_default() += 1);
        }
        visit::statements(body, &mut |stmt| {
            let Some(call) = visit::call_of(stmt) else { return };
            let result = match stmt {
                Stmt::Let { var, .. } => Some(*var),
                _ => None,
            };
            inventory.definitions.extend(result.map(|result| (result, call.clone())));
            for (index, arg) in call.args.iter().enumerate() {
                if let Some(var) = arg.var() {
                    inventory.uses.entry(var).or_default().push(Use { op: call.op, index, result });
                }
            }
        });
        inventory.find_chains(kernel);
        inventory.find_panels(kernel);
        inventory
    }

    /// The calls that read a variable, if nothing else does.
    fn all_uses(&self, var: VarId) -> Option<&[Use]> {
        let uses = self.uses.get(&var)?;
        (self.reads.get(&var) == Some(&uses.len())).then_some(uses)
    }

    fn only_use(&self, var: VarId) -> Option<&Use> {
        match self.all_uses(var)? {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Whether only products read a tile, on the side whose memory it is in.
    fn feeds_products(&self, kernel: &Kernel, var: VarId) -> bool {
        let space = kernel.tile(var).and_then(|tile| tile.space);
        let is_operand = |usage: &Use| {
            let lhs = match usage.op {
                OpId::MATMUL | OpId::MATMUL_BIAS => 0,
                OpId::MATMUL_ACC => 1,
                _ => return false,
            };
            space == Some(Space::Left) && usage.index == lhs || space == Some(Space::Right) && usage.index == lhs + 1
        };
        self.all_uses(var).is_some_and(|uses| uses.iter().all(is_operand))
    }

    fn find_chains(&mut self, kernel: &Kernel) {
        let mut chains = FxHashSet::default();
        for (&last, call) in &self.definitions {
            let is_last = brings_to_cube(call.op) && self.only_use(last).is_some() && self.feeds_products(kernel, last);
            if let (true, Some(source)) = (is_last, call.args.first().and_then(Operand::var))
                && let Some(chain) = self.chain(kernel, last, source)
            {
                chains.extend(chain);
            }
        }
        self.chains = chains;
    }

    /// From a load in L1, through views, to a tile for the cube.
    fn chain(&self, kernel: &Kernel, last: VarId, mut source: VarId) -> Option<Vec<VarId>> {
        let mut chain = vec![last];
        loop {
            let reader = *chain.last()?;
            if self.only_use(source)?.result != Some(reader) || !is_in_mat(kernel, source) {
                return None;
            }
            chain.push(source);
            let call = self.definitions.get(&source)?;
            match call.op {
                OpId::LOAD => return Some(chain),
                OpId::TRANSPOSE_VIEW => source = call.args.first().and_then(Operand::var)?,
                _ => return None,
            }
        }
    }

    fn find_panels(&mut self, kernel: &Kernel) {
        let loads = self.definitions.iter().filter(|(var, call)| is_operand_load(call) && is_in_mat(kernel, **var));
        self.panels = loads.map(|(var, _)| *var).filter(|&panel| self.is_panel(kernel, panel)).collect();
    }

    /// Whether every part of a tile in L1 goes to a product.
    fn is_panel(&self, kernel: &Kernel, panel: VarId) -> bool {
        let reaches_product = |usage: &Use| match (usage.index, usage.result) {
            (0, Some(result)) if brings_to_cube(usage.op) => self.feeds_products(kernel, result),
            (0, Some(result)) if usage.op == OpId::TRANSPOSE_VIEW => {
                is_in_mat(kernel, result) && self.is_panel(kernel, result)
            }
            _ => false,
        };
        self.all_uses(panel).is_some_and(|uses| uses.iter().all(reaches_product))
    }
}

fn brings_to_cube(op: OpId) -> bool {
    matches!(op, OpId::MOVE | OpId::EXTRACT)
}

fn is_in_mat(kernel: &Kernel, var: VarId) -> bool {
    kernel.tile(var).is_some_and(|tile| tile.space == Some(Space::Mat))
}

/// Tensors that stores write to, in whatever loop.
fn written(body: &[Stmt]) -> FxHashSet<VarId> {
    let mut same: FxHashMap<VarId, VarId> = FxHashMap::default();
    let mut written = FxHashSet::default();
    visit::statements(body, &mut |stmt| {
        let of = |var: VarId, same: &FxHashMap<VarId, VarId>| same.get(&var).copied().unwrap_or(var);
        match stmt {
            Stmt::For(For { carries, .. }) | Stmt::While(While { carries, .. }) => {
                for carry in carries {
                    if let Some(init) = carry.init.var() {
                        let init = of(init, &same);
                        same.extend([(carry.iter, init), (carry.result, init)]);
                    }
                }
            }
            Stmt::Let { var, value: Value::Copy(source), .. } => {
                let source = of(*source, &same);
                same.insert(*var, source);
            }
            _ => {}
        }
        let Some(call) = visit::call_of(stmt) else { return };
        let target = matches!(call.op, OpId::STORE | OpId::MSCATTER).then(|| call.args.get(2)).flatten();
        if let Some(target) = target.and_then(Operand::var) {
            let target = of(target, &same);
            written.insert(target);
            if let Stmt::Let { var, .. } = stmt {
                same.insert(*var, target);
            }
        }
    });
    written
}

/// Memories in which all tiles of the kernel have room at once. Copies in pipelines are yet to be made, so that theirs is not known.
fn roomy(kernel: &Kernel, machine: Machine, body: &[Stmt]) -> FxHashSet<Space> {
    let mut room = Room { kernel, used: FxHashMap::default(), crowded: FxHashSet::default() };
    room.count(body, false);
    let Room { used, crowded, .. } = room;
    let mut reserves = false;
    visit::statements(body, &mut |stmt| {
        reserves |= visit::call_of(stmt).is_some_and(|call| call.op == OpId::RESERVE_BUFFER);
    });
    let fits = |space: &Space| {
        let used = used.get(space).copied().unwrap_or(0);
        machine.capacity(*space).is_some_and(|capacity| used <= capacity)
    };
    let spaces = [Space::Mat, Space::Left, Space::Right].into_iter();
    spaces.filter(|space| !reserves && !crowded.contains(space) && fits(space)).collect()
}

struct Room<'k> {
    kernel: &'k Kernel,
    used: FxHashMap<Space, u64>,
    crowded: FxHashSet<Space>,
}

impl Room<'_> {
    fn count(&mut self, body: &[Stmt], in_pipeline: bool) {
        for stmt in body {
            match stmt {
                Stmt::Let { var, value: Value::Call(call), .. } => {
                    let is_view = call.op.op().view_of.is_some() || call.op.op().reuses.is_some();
                    let Some(tile) = self.kernel.tile(*var).filter(|_| !is_view) else { continue };
                    let Some(space) = tile.space else { continue };
                    if in_pipeline {
                        self.crowded.insert(space);
                    }
                    let elements = tile.shape.iter().try_fold(1, |all: u64, extent| all.checked_mul(*extent));
                    let bits = elements.and_then(|elements| elements.checked_mul(tile.dtype.logical_bits()));
                    let used = self.used.entry(space).or_default();
                    *used = sizes::aligned(used.saturating_add(bits.map_or(u64::MAX / 2, |bits| bits.div_ceil(8))));
                }
                Stmt::For(inner) => {
                    self.count(&inner.body, in_pipeline || matches!(inner.kind, LoopKind::Pipeline { .. }));
                }
                _ => stmt.blocks().for_each(|block| self.count(block, in_pipeline)),
            }
        }
    }
}

struct Moving<'a> {
    kernel: &'a Kernel,
    inventory: &'a Inventory,
    /// Loads of tensors that something unknown may hold as well.
    unclear: Vec<(Origin, String)>,
}

impl Moving<'_> {
    fn body(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        let mut out = Vec::with_capacity(body.len());
        for stmt in body {
            match stmt {
                Stmt::For(mut inner) => {
                    let leaving = self.leaving(&inner);
                    let (moved, kept) = inner.body.into_iter().partition(|stmt| match stmt {
                        Stmt::Let { var, .. } => leaving.contains(var),
                        _ => false,
                    });
                    out.extend::<Vec<Stmt>>(moved);
                    inner.body = self.body(kept);
                    out.push(Stmt::For(inner));
                }
                other => out.push(other.map_blocks(|block| self.body(block))),
            }
        }
        out
    }

    /// What a loop's body defines that moves to before the loop.
    fn leaving(&mut self, inner: &For) -> FxHashSet<VarId> {
        let mut leaving = FxHashSet::default();
        if !runs_for_sure(inner) || has_order(&inner.body) {
            return leaving;
        }
        let mut made = FxHashSet::default();
        made.insert(inner.index);
        made.extend(inner.carries.iter().map(|carry| carry.iter));
        let mut yielded = FxHashSet::default();
        visit::statements(&inner.body, &mut |stmt| {
            visit::definitions(stmt, &mut |var| {
                made.insert(var);
            });
            if let Stmt::Yield { values, .. } = stmt {
                yielded.extend(values.iter().filter_map(Operand::var));
            }
        });
        for stmt in &inner.body {
            // What stands after a branch, a loop or an effect does not move over it.
            let Stmt::Let { var, value, .. } = stmt else { break };
            let Inventory { chains, panels, roomy, .. } = self.inventory;
            if !(chains.contains(var) || panels.contains(var)) || yielded.contains(var) {
                if visit::call_of(stmt).is_some_and(has_effect) {
                    break;
                }
                continue;
            }
            let Value::Call(call) = value else { continue };
            let mut is_same = true;
            visit::uses(stmt, &mut |used| is_same &= leaving.contains(&used) || !made.contains(&used));
            let has_room =
                self.kernel.tile(*var).and_then(|tile| tile.space).is_some_and(|space| roomy.contains(&space));
            let moves = is_same
                && has_room
                && match call.op {
                    OpId::LOAD => self.may_leave(*var, call),
                    _ => {
                        let source = call.args.first().and_then(Operand::var);
                        chains.contains(var) && source.is_some_and(|source| leaving.contains(&source))
                    }
                };
            if moves {
                leaving.insert(*var);
            }
        }
        leaving
    }

    /// Whether nothing can write what an operand's load reads, as long as the kernel runs.
    fn may_leave(&mut self, var: VarId, call: &Call) -> bool {
        let Some(tensor) = call.args.first().and_then(Operand::var) else { return false };
        let Inventory { written, .. } = self.inventory;
        if !is_operand_load(call) || !is_in_mat(self.kernel, var) || written.contains(&tensor) {
            return false;
        }
        let storage_of = |param: VarId| {
            let found = self.kernel.provenance.iter().find(|(given, _)| *given == param);
            found.map(|(_, storage)| *storage)
        };
        let is_added = |param: &VarId| storage_of(*param).is_none();
        let is_param = |var: &&VarId| self.kernel.params.contains(var);
        let mut outputs =
            written.iter().filter(is_param).filter(|param| !is_added(param)).filter_map(|&param| storage_of(param));
        match storage_of(tensor) {
            None | Some(Storage::Given(_)) => false,
            Some(storage @ Storage::Made(_)) if !outputs.clone().any(|output| output == Storage::Unclear) => {
                !outputs.any(|output| output == storage)
            }
            Some(_) => {
                self.unclear.push((call.origin, self.kernel.var(tensor).name.clone()));
                false
            }
        }
    }
}

fn runs_for_sure(inner: &For) -> bool {
    let is_forward = fold::constant(&inner.step).is_some_and(|step| step > 0);
    let trips = inner.trip_count();
    inner.kind == LoopKind::Range && is_forward && trips.is_some_and(|trips| trips > 0)
}

/// Whether a loop orders what happens on different pipes, cores or devices.
fn has_order(body: &[Stmt]) -> bool {
    let mut found = false;
    visit::statements(body, &mut |stmt| found |= visit::call_of(stmt).is_some_and(orders));
    found
}

fn orders(call: &Call) -> bool {
    matches!(
        call.op.op().category,
        Category::Sync | Category::CrossCore | Category::CrossCoreSystem | Category::Distributed
    )
}

fn has_effect(call: &Call) -> bool {
    matches!(call.op, OpId::STORE | OpId::ASSEMBLE) || orders(call)
}
