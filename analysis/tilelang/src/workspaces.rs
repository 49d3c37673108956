//! Scratch that reductions need whose threads are more than a warp
//! (docs/reference/tilelang.md, "8. What the source does not show, in `shared.dyn`").

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use tilefit_python::work;

use crate::products::{Instruction, Warps, instruction, warps};
use crate::program::{Buffer, BufferId, Extent, Kind, Launch, Op, Reduce, Scope};
use crate::steps::{Numbered, Step};
use crate::target::Target;

/// Threads that exchange values without memory.
const WARP: u64 = 32;
/// What a thread loads at once, bits.
const VECTOR: u64 = 128;

/// Of one reduction, by the number of its statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Workspace {
    /// Bytes; one element of the result for each thread.
    pub size: u64,
    pub need: Need,
    /// Of the result, elements that one thread has; `None` where that is not known.
    pub results: Option<u64>,
}

/// How many a reduction needs: one for each step in which more threads than a warp exchange values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Known(usize),
    /// It depends on a layout that is not modelled.
    Unsure,
}

impl Need {
    /// No reduction is seen to take more steps.
    pub(crate) const MOST: usize = 2;
}

/// How threads reduce a fragment.
#[derive(Debug, Clone, Copy)]
struct Reduced {
    /// In which more threads than a warp exchange values.
    steps: usize,
    /// Elements of the result that one thread has.
    results: u64,
}

/// Those of all reductions. `of_all`: the statements that the producer's warps run, too, and how many threads that are.
pub(crate) fn workspaces(
    launch: &Launch,
    steps: &[Rc<Step>],
    target: Target,
    of_all: (&BTreeSet<usize>, Option<u64>),
) -> BTreeMap<usize, Workspace> {
    let ops: Vec<Numbered> = steps.iter().flat_map(|step| step.ops()).collect();
    let layouts = Layouts::of(launch, &ops, target);
    let mut found = BTreeMap::new();
    for numbered in &ops {
        let op = numbered.op;
        let (Kind::Reduce(reduce), Some(source), Some(result)) = (&op.kind, source(launch, op), op.writes.first())
        else {
            continue;
        };
        let bits = launch.buffer(result.buffer).dtype.bits;
        let is_of_all = of_all.0.contains(&numbered.number);
        // Of the branch that it stands in.
        let threads = launch.threads_of(op);
        let running = if is_of_all { of_all.1 } else { threads.or(launch.threads) };
        let size = running.unwrap_or(0).saturating_mul(bits).div_ceil(8);
        // Layouts are of the threads that compute.
        let reduced = threads.filter(|_| !is_of_all).and_then(|threads| layouts.reduced(source, reduce.dim, threads));
        let need = reduced.map_or(Need::Unsure, |reduced| Need::Known(reduced.steps));
        found.insert(numbered.number, Workspace { size, need, results: reduced.map(|reduced| reduced.results) });
    }
    found
}

/// A left side of a product that is the result of another whose rows several warps share: the compiler finds no layout that suits both.
pub(crate) fn disputed(launch: &Launch, steps: &[Rc<Step>], target: Target) -> Option<BufferId> {
    let ops: Vec<Numbered> = steps.iter().flat_map(|step| step.ops()).collect();
    let layouts = Layouts::of(launch, &ops, target);
    let products = ops.iter().map(|numbered| numbered.op).filter(|op| matches!(op.kind, Kind::Gemm(_)));
    let mut operands = products.filter_map(|op| op.reads.first()).map(|region| region.buffer);
    operands.find(|&operand| {
        let is_shared = |buffer: &BufferId| match layouts.accumulators.get(buffer) {
            Some(warps) => warps.is_none_or(|warps| warps.n > 1),
            None => false,
        };
        launch.buffer(operand).scope == Scope::Fragment && layouts.alike(operand).iter().any(is_shared)
    })
}

/// What is reduced: in registers, if anything it reads is.
fn source(launch: &Launch, op: &Op) -> Option<BufferId> {
    let in_registers = op.reads.iter().find(|region| launch.buffer(region.buffer).scope == Scope::Fragment);
    in_registers.or(op.reads.first()).map(|region| region.buffer)
}

/// What is known of how fragments lie in threads.
struct Layouts<'p> {
    launch: &'p Launch,
    target: Target,
    ops: Vec<&'p Op>,
    /// Results of products, with the warps that share each.
    accumulators: BTreeMap<BufferId, Option<Warps>>,
    /// Left and right sides of products.
    operands: BTreeSet<BufferId>,
}

impl<'p> Layouts<'p> {
    fn of(launch: &'p Launch, ops: &[Numbered<'p>], target: Target) -> Layouts<'p> {
        let mut layouts = Layouts {
            launch,
            target,
            ops: ops.iter().map(|numbered| numbered.op).collect(),
            accumulators: BTreeMap::new(),
            operands: BTreeSet::new(),
        };
        for op in ops.iter().map(|numbered| numbered.op) {
            let Kind::Gemm(gemm) = &op.kind else { continue };
            layouts.operands.extend(op.reads.iter().take(2).map(|region| region.buffer));
            let Some(result) = op.writes.first() else { continue };
            let threads = launch.threads_of(op);
            let instruction = instruction(launch, op, gemm, target, threads.unwrap_or(0));
            let shared_by = threads.and_then(|threads| warps(gemm, instruction, target, threads));
            let shared_by = shared_by.filter(|_| instruction != Instruction::TensorMemory);
            let known = layouts.accumulators.entry(result.buffer).or_insert(shared_by);
            *known = known.filter(|_| *known == shared_by);
        }
        layouts
    }

    fn reduced(&self, source: BufferId, dim: usize, threads: u64) -> Option<Reduced> {
        let alike = self.alike(source);
        let mut results = alike.iter().filter_map(|buffer| self.accumulators.get(buffer));
        let has_operands = alike.iter().any(|buffer| self.operands.contains(buffer));
        let own = self.accumulators.get(&source);
        match own.or_else(|| results.next()) {
            Some(&first) if own.is_some() || !has_operands && results.all(|other| *other == first) => {
                self.of_product(first?, self.launch.buffer(source), dim)
            }
            None if !has_operands => match self.loaded(source, &alike, threads) {
                Some(loaded) => loaded.reduced(dim),
                None => self.of_result(source, &alike, threads),
            },
            _ => None,
        }
    }

    /// Fragments of one shape that are computed from each other, element by element, lie alike.
    fn alike(&self, source: BufferId) -> BTreeSet<BufferId> {
        let is_alike = |buffer: BufferId| {
            let (one, other) = (self.launch.buffer(source), self.launch.buffer(buffer));
            other.scope == Scope::Fragment && one.shape == other.shape
        };
        let mut alike = BTreeSet::from([source]);
        loop {
            let before = alike.len();
            for op in self.ops.iter().filter(|op| op.is_copy() || op.is_by_element()) {
                work::spend(1);
                let touched = || op.reads.iter().chain(&op.writes).map(|region| region.buffer);
                if touched().any(|buffer| alike.contains(&buffer)) {
                    alike.extend(touched().filter(|&buffer| is_alike(buffer)));
                }
            }
            if alike.len() == before {
                return alike;
            }
        }
    }

    /// Of the result of a product, along its columns.
    fn of_product(&self, warps: Warps, of: &Buffer, dim: usize) -> Option<Reduced> {
        let [Extent::Known(rows), Extent::Known(_)] = of.shape.as_slice() else { return None };
        let is_shared = usize::from(warps.n > 1);
        let rows = rows / warps.m.max(1);
        match (dim, self.target) {
            (1, Target::Nvidia { .. }) => Some(Reduced { steps: is_shared, results: rows / 8 }),
            // The lanes of a wavefront that share a row are far apart.
            (1, Target::Amd { .. }) => Some(Reduced { steps: 1 + is_shared, results: rows / 16 }),
            _ => None,
        }
    }

    /// A fragment that threads load in vectors, row after row.
    fn loaded(&self, source: BufferId, alike: &BTreeSet<BufferId>, threads: u64) -> Option<Loaded> {
        let shape = self.launch.buffer(source).shape.iter().map(Extent::known).collect::<Option<Vec<u64>>>()?;
        let bits = self.loaded_bits(alike)?.max(1);
        let &row = shape.last()?;
        if self.is_cut(alike, row) {
            return None;
        }
        let is_even = threads.is_power_of_two() && shape.iter().all(|extent| extent.is_power_of_two());
        let total = shape.iter().fold(1_u64, |product, &extent| product.saturating_mul(extent));
        let vector = vector(bits, total, row, threads);
        is_even.then_some(Loaded { total, row, dims: shape.len(), vector, threads })
    }

    /// The result of another reduction, along the rows of a fragment that is loaded.
    fn of_result(&self, source: BufferId, alike: &BTreeSet<BufferId>, threads: u64) -> Option<Reduced> {
        let mut makers = self.ops.iter().filter(|op| op.writes.iter().any(|region| alike.contains(&region.buffer)));
        let (Some(maker), None) = (makers.next(), makers.next()) else { return None };
        let Kind::Reduce(Reduce { dim: 1, .. }) = maker.kind else { return None };
        let from = self::source(self.launch, maker)?;
        let loaded = self.loaded(from, &self.alike(from), threads)?;
        let is_flat = self.launch.buffer(source).shape.len() == 1 && loaded.dims == 2 && loaded.total >= threads;
        let steps = usize::from(threads > WARP && threads > loaded.in_row());
        is_flat.then_some(Reduced { steps, results: 1 })
    }

    /// A row is loaded from a shorter one of a tensor: how threads share what is there is not modelled.
    fn is_cut(&self, alike: &BTreeSet<BufferId>, row: u64) -> bool {
        let mut loads = self.ops.iter().filter(|op| op.writes.iter().any(|region| alike.contains(&region.buffer)));
        loads.any(|op| {
            let mut sources = op.reads.iter().map(|region| self.launch.buffer(region.buffer));
            sources.any(|buffer| {
                let length = buffer.shape.last().and_then(Extent::known);
                op.is_copy() && buffer.scope == Scope::Global && length.is_some_and(|length| length < row)
            })
        })
    }

    /// Cumulative sums go through shared memory: whether that, or the load before, says how threads share a fragment is not modelled where the load
    /// reaches over the end of its tensor.
    fn is_summed_up(&self, alike: &BTreeSet<BufferId>) -> bool {
        let sums = self.ops.iter().filter(|op| op.kind == Kind::CumulativeSum);
        let scratch: BTreeSet<BufferId> = sums.flat_map(|op| &op.writes).map(|region| region.buffer).collect();
        let loads = || self.ops.iter().filter(|op| op.writes.iter().any(|region| alike.contains(&region.buffer)));
        let sources = || loads().flat_map(|op| &op.reads).map(|region| region.buffer);
        sources().any(|source| scratch.contains(&source)) && sources().any(|source| self.ends_within(source, alike))
    }

    /// Whether a tensor is no whole number of tiles.
    fn ends_within(&self, tensor: BufferId, tiles: &BTreeSet<BufferId>) -> bool {
        let tensor = self.launch.buffer(tensor);
        let is_part = |(of, part): (&Extent, &Extent)| match (of.known(), part.known()) {
            (Some(of), Some(part)) => part == 0 || !of.is_multiple_of(part),
            _ => false,
        };
        let shapes = tiles.iter().map(|&tile| &self.launch.buffer(tile).shape);
        tensor.scope == Scope::Global
            && shapes.into_iter().any(|shape| tensor.shape.iter().rev().zip(shape.iter().rev()).any(is_part))
    }

    /// The narrowest element that the fragments are loaded from, bits; `None` where nothing is loaded, or not in vectors.
    fn loaded_bits(&self, alike: &BTreeSet<BufferId>) -> Option<u64> {
        let loads = self.ops.iter().filter(|op| {
            (op.is_copy() || op.is_by_element()) && op.writes.iter().any(|region| alike.contains(&region.buffer))
        });
        let sources = loads.flat_map(|op| &op.reads).map(|region| self.launch.buffer(region.buffer));
        let elsewhere: Vec<&Buffer> = sources.filter(|buffer| buffer.scope != Scope::Fragment).collect();
        if elsewhere.iter().any(|buffer| buffer.scope == Scope::TensorMemory) || self.is_summed_up(alike) {
            return None;
        }
        let narrowest = elsewhere.iter().map(|buffer| buffer.dtype.bits).min()?;
        let own = alike.iter().map(|&buffer| self.launch.buffer(buffer).dtype.bits).min()?;
        Some(narrowest.min(own))
    }
}

/// How a fragment lies in threads that load it.
#[derive(Debug, Clone, Copy)]
struct Loaded {
    /// Elements, and those of a row.
    total: u64,
    row: u64,
    dims: usize,
    /// Elements that a thread has together.
    vector: u64,
    threads: u64,
}

impl Loaded {
    /// Threads that have parts of one row.
    fn in_row(self) -> u64 {
        self.threads.min(self.row / self.vector).max(1)
    }

    fn reduced(self, dim: usize) -> Option<Reduced> {
        let Loaded { total, row, dims, vector, threads } = self;
        let in_row = self.in_row();
        let exchange = |is_wide: bool| usize::from(is_wide);
        if dim + 1 == dims {
            let rows = (total / row.max(1)).div_ceil((threads / in_row).max(1));
            return Some(Reduced { steps: exchange(in_row > WARP), results: rows });
        }
        let columns = row.div_ceil(in_row.saturating_mul(vector)).saturating_mul(vector);
        let is_full = dims == 2 && total >= threads;
        is_full.then(|| Reduced { steps: exchange(threads > WARP && threads > in_row), results: columns })
    }
}

/// Elements that a thread loads at once: as many as there may be with work for all threads.
fn vector(bits: u64, total: u64, row: u64, threads: u64) -> u64 {
    let mut vector = (VECTOR / bits).clamp(1, row.max(1));
    while vector > 1 && !total.is_multiple_of(threads.saturating_mul(vector)) {
        vector /= 2;
    }
    vector
}
