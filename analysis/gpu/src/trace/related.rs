//! Which products of a block the compiler takes for related, and lays out alike (`warpsPerTileV2` in `AccelerateMatmul.cpp`): those that any operations
//! of the block lead from one to the other, forwards or backwards, but for transposes. Stores do as well: what goes to the same place is related.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::work;

use super::super::program::{Block, Kind, Load, Op, Program, ValueId};
use super::super::simplify::{is_needed, needed};

/// Products that are surely related to another one of their block, and those that surely are to none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Related {
    pub to_others: BTreeSet<ValueId>,
    pub to_none: BTreeSet<ValueId>,
}

/// `number`: the same for values that are computed alike.
pub(super) fn related(program: &Program, body: &Block, number: &dyn Fn(ValueId) -> u64) -> Related {
    let mut found = Related::default();
    let needed = needed(body, program.types.len());
    in_block(program, body, true, (&needed, number), &mut FxHashSet::default(), &mut found);
    found
}

/// `outside`: what is computed before the block, and not again in it.
fn in_block(
    program: &Program,
    block: &Block,
    is_kernel: bool,
    (needed, number): (&[bool], &dyn Fn(ValueId) -> u64),
    outside: &mut FxHashSet<u64>,
    found: &mut Related,
) {
    let mut own: FxHashSet<u64> = FxHashSet::default();
    for op in &block.ops {
        for inner in op.kind.blocks() {
            in_block(program, inner, false, (needed, number), outside, found);
        }
        own.extend(op.results.iter().map(|&result| number(result)).filter(|&result| outside.insert(result)));
    }
    own.iter().for_each(|value| _ = outside.remove(value));
    let leads = |op: &&Op| leads(op) && is_needed(op, needed);
    let results = block.ops.iter().filter(leads).filter_map(|op| op.results.first());
    let products: Vec<ValueId> = results.filter(|it| program.products.contains_key(it)).copied().collect();
    // Those that are computed alike are one.
    let distinct: BTreeSet<u64> = products.iter().map(|&product| number(product)).collect();
    if distinct.len() < 2 {
        // At the top of a kernel constants lead from one to another, too.
        found.to_none.extend(products.iter().filter(|_| !is_kernel));
        return;
    }
    let here = block.ops.iter().filter(leads).flat_map(|op| &op.results);
    let here: FxHashSet<u64> = here.map(|&it| number(it)).filter(|it| own.contains(it)).collect();
    let (mut surely, mut perhaps) = (Groups::default(), Groups::default());
    let mut data: FxHashSet<u64> = FxHashSet::default();
    let mut behind: FxHashMap<u64, BTreeSet<u64>> = FxHashMap::default();
    let mut loads: Vec<(u64, &Load)> = Vec::new();
    for op in block.ops.iter().filter(leads) {
        work::spend(1);
        let taken = op.operands.iter().map(|&operand| number(operand)).filter(|operand| here.contains(operand));
        let Some(&result) = op.results.first() else {
            let taken: Vec<u64> = taken.collect();
            taken.windows(2).for_each(|pair| perhaps.join(pair[0], pair[1]));
            // Pointers of one tensor are laid out alike wherever it is stored to.
            if let ("store", [to, value, ..]) = (op.name, taken.as_slice())
                && op.operands.first().is_some_and(|&pointers| number(pointers) == *to)
                && data.contains(value)
            {
                surely.join(*to, *value);
            }
            continue;
        };
        let id = number(result);
        let mut slice = BTreeSet::from([id]);
        let load = program.loads.get(&result);
        for operand in taken {
            perhaps.join(id, operand);
            if data.contains(&operand) && load.is_none() {
                surely.join(id, operand);
                data.insert(id);
            }
            work::spend(1);
            slice.extend(behind.get(&operand).into_iter().flatten());
        }
        if program.products.contains_key(&result) || load.is_some() {
            data.insert(id);
        }
        // Loads that are laid out alike share what their pointers are computed from.
        if let Some(load) = load {
            for (other, like) in &loads {
                work::spend(1);
                let is_like = like.tile == load.tile && like.width == load.width && like.runs_along == load.runs_along;
                let meet = || behind.get(other).is_some_and(|theirs| !theirs.is_disjoint(&slice));
                if is_like && load.runs_along.is_some() && meet() {
                    surely.join(id, *other);
                }
            }
            loads.push((id, load));
        }
        behind.insert(id, slice);
    }
    for &product in &products {
        let product_number = number(product);
        let others = || distinct.iter().filter(|&&other| other != product_number);
        if others().any(|&other| surely.are_one(product_number, other)) {
            found.to_others.insert(product);
        } else if !is_kernel && !others().any(|&other| perhaps.are_one(product_number, other)) {
            found.to_none.insert(product);
        }
    }
}

/// Constants stand at the top of a kernel, and transposes are left out.
fn leads(op: &Op) -> bool {
    op.name != "permute" && !matches!(op.kind, Kind::Constant | Kind::Yield)
}

/// Values that belong together.
#[derive(Default)]
struct Groups(BTreeMap<u64, u64>);

impl Groups {
    fn of(&self, value: u64) -> u64 {
        let mut value = value;
        while let Some(&next) = self.0.get(&value) {
            work::spend(1);
            value = next;
        }
        value
    }

    fn join(&mut self, one: u64, two: u64) {
        let (one, two) = (self.of(one), self.of(two));
        if one != two {
            self.0.insert(one, two);
        }
    }

    fn are_one(&self, one: u64, two: u64) -> bool {
        self.of(one) == self.of(two)
    }
}
