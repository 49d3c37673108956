//! Order numbers and live intervals (`docs/reference/memory.md`, "Lifetimes").
//!
//! Every assignment, call for effect, yield and return takes the next number. A tile lives from its definition to its last
//! use, and to the end of every loop that it is used in and defined before. Intervals that touch do not overlap: an
//! operation has read its operands when it writes its result.

use rustc_hash::FxHashMap;
use tilefit_python::finding::Origin;

use crate::ir::{Call, Carry, If, Kernel, Operand, Stmt, Value, VarId, visit};
use crate::memory::bases::{BaseId, Bases};
use crate::memory::carried::{self, Inits};
use crate::memory::plan::Order;

/// When each tile is live.
pub(super) struct Lifetimes<'k> {
    /// Source node of each order number.
    pub statements: Vec<Origin>,
    /// Tiles that a statement defines, in order. Names that loops and branches carry are not among them.
    pub defined: Vec<VarId>,
    /// By variable.
    lives: Vec<Life<'k>>,
    /// Branch results that each tile may be the value of: tiles with a common one are alternatives to each other.
    families: FxHashMap<VarId, Vec<u32>>,
}

#[derive(Clone, Copy, Default)]
struct Life<'k> {
    /// Of tiles only.
    def: Option<Order>,
    last: Order,
    /// First and last mention, of carried names too.
    seen: Option<Live>,
    value: Option<&'k Value>,
}

/// From the order number of the definition to that of the last use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Live {
    pub def: Order,
    pub last: Order,
}

impl Live {
    /// Whether one needs its memory while the other one does.
    pub(super) fn overlaps(self, other: Live) -> bool {
        self.last > other.def && other.last > self.def
    }

    fn join(self, other: Live) -> Live {
        Live { def: self.def.min(other.def), last: self.last.max(other.last) }
    }
}

impl<'k> Lifetimes<'k> {
    pub(super) fn of(kernel: &'k Kernel, inits: &Inits, bases: &Bases) -> Lifetimes<'k> {
        let mut walk = Walk {
            kernel,
            inits,
            bases,
            lifetimes: Lifetimes {
                statements: Vec::new(),
                defined: Vec::new(),
                lives: vec![Life::default(); kernel.vars.len()],
                families: FxHashMap::default(),
            },
            loops: Vec::new(),
            loop_of: Vec::new(),
            inside: None,
            loop_results: FxHashMap::default(),
            branch_results: FxHashMap::default(),
            next_family: 0,
        };
        walk.block(&kernel.body);
        walk.extend_over_loops();
        walk.lifetimes
    }

    /// Of a tile that a statement defines.
    pub(super) fn live(&self, var: VarId) -> Option<Live> {
        let tile = self.lives.get(var.0 as usize)?;
        Some(Live { def: tile.def?, last: tile.last })
    }

    /// From the first to the last mention of this very name, carried ones too, and to the end of every loop that it is
    /// used in and defined before.
    pub(super) fn seen(&self, var: VarId) -> Option<Live> {
        self.lives.get(var.0 as usize)?.seen
    }

    pub(super) fn call(&self, var: VarId) -> Option<&'k Call> {
        match self.value(var)? {
            Value::Call(call) => Some(call),
            _ => None,
        }
    }

    pub(super) fn value(&self, var: VarId) -> Option<&'k Value> {
        self.lives.get(var.0 as usize)?.value
    }

    /// Whether two tiles are alternatives: values of the same branch result.
    pub(super) fn alternatives(&self, a: VarId, b: VarId) -> bool {
        match (self.families.get(&a), self.families.get(&b)) {
            (Some(a), Some(b)) => a.iter().any(|family| b.contains(family)),
            _ => false,
        }
    }
}

/// The tiles on one base, which live and share as one (a must-alias group).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    pub base: BaseId,
    /// In order of definition.
    pub members: Vec<VarId>,
    pub live: Live,
    /// Bytes of the first member; of one slot, where the allocation is declared.
    pub size: u64,
    /// Bytes of all slots of a declared allocation.
    pub declared: Option<u64>,
}

impl Group {
    /// The tile that the group is called by.
    pub(super) fn first(&self) -> VarId {
        self.members[0]
    }

    /// Bytes that the group needs.
    pub(super) fn bytes(&self) -> u64 {
        self.declared.unwrap_or(self.size)
    }
}

/// The groups of a kernel in order of their first definition.
pub(super) fn groups(lifetimes: &Lifetimes, bases: &Bases) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut by_base: FxHashMap<BaseId, usize> = FxHashMap::default();
    for var in &lifetimes.defined {
        let (Some(memory), Some(live)) = (bases.get(*var), lifetimes.live(*var)) else { continue };
        match by_base.get(&memory.base) {
            Some(index) => {
                let group: &mut Group = &mut groups[*index];
                group.members.push(*var);
                group.live = group.live.join(live);
            }
            None => {
                by_base.insert(memory.base, groups.len());
                let declared = bases.base(memory.base).declared;
                groups.push(Group { base: memory.base, members: vec![*var], live, size: memory.size, declared });
            }
        }
    }
    groups
}

struct Loop {
    first: u32,
    last: u32,
    parent: Option<u32>,
}

struct Walk<'k, 'a> {
    kernel: &'k Kernel,
    inits: &'a Inits,
    bases: &'a Bases,
    lifetimes: Lifetimes<'k>,
    loops: Vec<Loop>,
    /// The innermost loop of each order number.
    loop_of: Vec<Option<u32>>,
    inside: Option<u32>,
    /// A use of a loop's result is one of the value that the loop began with, whose memory it ends up in.
    loop_results: FxHashMap<VarId, VarId>,
    /// A use of a branch's result is one of the tiles that the branches made for it.
    branch_results: FxHashMap<VarId, Vec<VarId>>,
    next_family: u32,
}

impl<'k> Walk<'k, '_> {
    fn next(&self) -> Order {
        Order(self.lifetimes.statements.len() as u32)
    }

    fn take(&mut self, origin: Origin) -> Order {
        let order = self.next();
        self.lifetimes.statements.push(origin);
        self.loop_of.push(self.inside);
        order
    }

    fn block(&mut self, block: &'k [Stmt]) {
        for stmt in block {
            match stmt {
                Stmt::Let { var, value, origin } => {
                    let order = self.take(*origin);
                    let life = &mut self.lifetimes.lives[var.0 as usize];
                    life.value = Some(value);
                    if self.kernel.tile(*var).is_some() {
                        (life.def, life.last) = (Some(order), order);
                        self.lifetimes.defined.push(*var);
                    }
                    self.mention(*var, order);
                    visit::value_uses(value, &mut |read| self.used(read, order));
                }
                Stmt::Eval { call, origin } => {
                    let order = self.take(*origin);
                    visit::call_uses(call, &mut |read| self.used(read, order));
                }
                Stmt::Yield { values, origin } | Stmt::Return { values, origin } => {
                    let order = self.take(*origin);
                    for value in values {
                        visit::operand_uses(value, &mut |read| self.used(read, order));
                    }
                }
                Stmt::For(each) => self.looped(&each.carries, &each.body),
                Stmt::While(each) => self.looped(&each.carries, &each.body),
                Stmt::If(branch) => self.branch(branch),
                Stmt::Break(_) | Stmt::Continue(_) => {}
            }
        }
    }

    fn looped(&mut self, carries: &'k [Carry], body: &'k [Stmt]) {
        let first = self.next();
        for carry in carries {
            self.operand_used(&carry.init, first);
            self.mention(carry.iter, first);
        }
        let this = self.loops.len() as u32;
        self.loops.push(Loop { first: first.0, last: first.0, parent: self.inside });
        let outside = self.inside.replace(this);
        self.block(body);
        self.inside = outside;
        let last = Order(self.next().0.saturating_sub(1));
        self.loops[this as usize].last = last.0;
        for carry in carries {
            self.mention(carry.iter, last);
            self.mention(carry.result, last);
            let Some(init) = carried::own_var(self.kernel, Some(&carry.init)) else { continue };
            if self.kernel.tile(carry.result).is_some() && self.is_defined(init) {
                self.loop_results.insert(carry.result, init);
            }
        }
    }

    fn branch(&mut self, branch: &'k If) {
        let start = self.next();
        visit::scalar_uses(&branch.condition, &mut |read| self.used(read, start));
        self.block(&branch.then);
        let middle = self.next();
        self.block(&branch.otherwise);
        let end = self.next();
        let (then, otherwise) = (visit::yielded(&branch.then), visit::yielded(&branch.otherwise));
        for (slot, result) in branch.results.iter().enumerate() {
            self.mention(*result, Order(end.0.saturating_sub(1)));
            if self.bases.of_tile(self.kernel, *result).is_none() {
                continue;
            }
            let family = self.next_family;
            self.next_family += 1;
            let mut made = Vec::new();
            for (values, from, to) in [(then, start, middle), (otherwise, middle, end)] {
                if let Some(value) = values.get(slot).and_then(Operand::var) {
                    self.alternatives(value, from, to, &mut made);
                }
            }
            for tile in &made {
                self.lifetimes.families.entry(*tile).or_default().push(family);
            }
            if !made.is_empty() {
                self.branch_results.insert(*result, made);
            }
        }
    }

    /// The tiles made in `[from, to)` that a branch hands on as `value`, those of an inner branch's result in its stead.
    fn alternatives(&self, value: VarId, from: Order, to: Order, made: &mut Vec<VarId>) {
        let inner = self.branch_results.get(&value).map_or(std::slice::from_ref(&value), Vec::as_slice);
        let local = |var: &VarId| self.lifetimes.live(*var).is_some_and(|live| (from..to).contains(&live.def));
        made.extend(inner.iter().copied().filter(local));
    }

    fn is_defined(&self, var: VarId) -> bool {
        self.lifetimes.live(var).is_some()
    }

    fn operand_used(&mut self, operand: &Operand, at: Order) {
        visit::operand_uses(operand, &mut |read| self.used(read, at));
    }

    fn used(&mut self, var: VarId, at: Order) {
        self.mention(var, at);
        let var = self.inits.resolve(var);
        match self.branch_results.get(&var) {
            Some(made) => {
                for tile in made.clone() {
                    self.extend(tile, at);
                }
            }
            None => {
                let var = self.loop_results.get(&var).copied().unwrap_or(var);
                self.extend(var, at);
            }
        }
    }

    fn extend(&mut self, var: VarId, at: Order) {
        if let Some(tile) = self.lifetimes.lives.get_mut(var.0 as usize)
            && tile.def.is_some()
        {
            tile.last = tile.last.max(at);
        }
    }

    fn mention(&mut self, var: VarId, at: Order) {
        if let Some(tile) = self.lifetimes.lives.get_mut(var.0 as usize) {
            let here = Live { def: at, last: at };
            tile.seen = Some(tile.seen.map_or(here, |seen| seen.join(here)));
        }
    }

    fn extend_over_loops(&mut self) {
        for index in 0..self.lifetimes.lives.len() {
            let life = self.lifetimes.lives[index];
            if let Some(def) = life.def {
                self.lifetimes.lives[index].last = self.end_of_loops(Live { def, last: life.last });
            }
            if let Some(seen) = life.seen {
                self.lifetimes.lives[index].seen = Some(Live { last: self.end_of_loops(seen), ..seen });
            }
        }
    }

    /// The last statement of the outermost loop that the definition is before and the last use in. Loops that end before the
    /// last use add nothing.
    fn end_of_loops(&self, live: Live) -> Order {
        let mut end = live.last;
        let mut next = self.loop_of.get(live.last.0 as usize).copied().flatten();
        while let Some(around) = next.and_then(|index| self.loops.get(index as usize)) {
            if live.def.0 < around.first {
                end = end.max(Order(around.last));
            }
            next = around.parent;
        }
        end
    }
}
