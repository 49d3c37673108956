//! Layouts as bits (`lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp`): which element each bit of a thread's index moves to.

use super::super::device::Compiler;
use super::{Hardware, Layout, Reason, Vendor};

/// The most elements of a tensor that are counted: its compiler refuses more than 2^20 anyway.
const MOST_ELEMENTS: u64 = 1 << 30;
const MOST_REGISTER_BITS: usize = 30;
/// A block has at most 1,024 threads.
pub(super) const MOST_WARP_BITS: usize = 5;
/// The most dimensions. Layouts within layouts have one less each, so this bounds those, too.
const MOST_DIMENSIONS: usize = 16;

/// Three lists of bases: basis k says what is added to the element's coordinates when bit k of the register, lane or warp number is set. All zero: the bit
/// repeats data. No other two bases are alike, and each moves along one dimension, by a power of two.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LinearLayout {
    pub register: Vec<Vec<u32>>,
    pub lane: Vec<Vec<u32>>,
    pub warp: Vec<Vec<u32>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    Register,
    Lane,
    Warp,
}

impl LinearLayout {
    pub(super) fn list(&self, list: List) -> &[Vec<u32>] {
        match list {
            List::Register => &self.register,
            List::Lane => &self.lane,
            List::Warp => &self.warp,
        }
    }

    pub(super) fn list_mut(&mut self, list: List) -> &mut Vec<Vec<u32>> {
        match list {
            List::Register => &mut self.register,
            List::Lane => &mut self.lane,
            List::Warp => &mut self.warp,
        }
    }

    pub(super) fn bases(&self) -> impl Iterator<Item = &Vec<u32>> {
        self.register.iter().chain(&self.lane).chain(&self.warp)
    }

    pub(super) fn bases_mut(&mut self) -> impl Iterator<Item = &mut Vec<u32>> {
        self.register.iter_mut().chain(&mut self.lane).chain(&mut self.warp)
    }

    /// The elements that it reaches along each dimension.
    pub(super) fn extents(&self, rank: usize) -> Vec<u32> {
        let reach = |dim| self.bases().map(|basis| basis[dim]).max().unwrap_or(0);
        (0..rank).map(|dim| (2 * reach(dim)).max(1)).collect()
    }

    /// One number for each basis, for a tensor of the shape: dimension 0 has the lowest bits.
    pub(super) fn flat(&self, shape: &[u32]) -> Flat {
        let below = |dim: usize| shape[..dim].iter().map(|extent| extent.ilog2()).sum::<u32>();
        let number = |basis: &Vec<u32>| basis.iter().enumerate().map(|(dim, step)| step << below(dim)).sum::<u32>();
        let numbers = |list: &[Vec<u32>]| list.iter().map(number).collect::<Vec<u32>>();
        let register = numbers(&self.register).into_iter().filter(|&bit| bit != 0).collect();
        Flat { register, lane: numbers(&self.lane), warp: numbers(&self.warp), bits: below(shape.len()) }
    }
}

/// A layout over the flattened tensor: powers of two, or 0 where data are repeated. Registers that repeat data are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Flat {
    pub(super) register: Vec<u32>,
    pub(super) lane: Vec<u32>,
    pub(super) warp: Vec<u32>,
    /// log2 of the elements.
    pub(super) bits: u32,
}

/// The shape of a tensor whose layouts can be written as bits.
pub(super) fn check_shape(shape: &[u32]) -> Result<(), Reason> {
    if shape.is_empty() || shape.len() > MOST_DIMENSIONS {
        return Err(format!("a tensor of {} dimensions has no layout that is known here", shape.len()).into());
    }
    if let Some(extent) = shape.iter().find(|extent| !extent.is_power_of_two()) {
        return Err(format!("scratch is known for dimensions of powers of two only; got {extent}").into());
    }
    let elements = shape.iter().try_fold(1_u64, |product, &extent| product.checked_mul(u64::from(extent)));
    match elements {
        Some(..=MOST_ELEMENTS) => Ok(()),
        _ => Err(format!("a tensor of more than {MOST_ELEMENTS} elements").into()),
    }
}

/// `rank - 1, rank - 2, …`, or with the last two swapped: the order of the dimensions of a matrix product, batches last.
fn matrix_order(rank: usize, rows_first: bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rank).rev().collect();
    if !rows_first && rank > 1 {
        order.swap(0, 1);
    }
    order
}

impl Layout {
    /// Its bases for a tensor of the shape. An error: a layout that does not belong to the shape or device, or one that is not known here.
    pub fn linear(&self, shape: &[u32], hardware: &Hardware) -> Result<LinearLayout, Reason> {
        check_shape(shape)?;
        hardware.check()?;
        let linear = self.bases(shape, hardware)?;
        if linear.lane.len() != hardware.lanes().ilog2() as usize {
            return Err(format!("a layout of 2^{} threads in a warp", linear.lane.len()).into());
        }
        Ok(linear)
    }

    fn bases(&self, shape: &[u32], hardware: &Hardware) -> Result<LinearLayout, Reason> {
        match self {
            Layout::Blocked { size_per_thread, threads_per_warp, warps_per_cta, order } => {
                let order = permutation(order, shape.len())?;
                let mut tile = Tile::new(shape);
                for (list, counts) in
                    [(List::Register, size_per_thread), (List::Lane, threads_per_warp), (List::Warp, warps_per_cta)]
                {
                    tile.put_each(list, counts, &order)?;
                }
                let mut linear = tile.fit(shape, &order)?;
                // From 3.9 on a thread has no more elements than the tensor.
                if hardware.compiler >= Compiler::V3_9 {
                    linear.register.retain(|basis| basis.iter().any(|&step| step != 0));
                }
                Ok(linear)
            }
            Layout::Slice { dim, parent } => slice(*dim as usize, parent, shape, hardware),
            Layout::Linear { register, lane, warp } => {
                let (register, lane, warp) = (register.clone(), lane.clone(), warp.clone());
                as_written(LinearLayout { register, lane, warp }, shape)
            }
            Layout::Mma { version, warps_per_cta, instr_shape } => {
                let (tile_m, tile_n) = mma_tile(*version, instr_shape, shape.len())?;
                let order = matrix_order(shape.len(), true);
                let mut tile = Tile::new(shape);
                // An accumulator has two neighbours in a thread.
                tile.put_mma(order[0], tile_n, order[1], tile_m, 2)?;
                tile.put_each(List::Warp, warps_per_cta, &matrix_order(shape.len(), version.0 != 3))?;
                tile.fit(shape, &order)
            }
            Layout::DotOperand { operand, parent, k_width } => {
                let operand = Operand::new(*operand, shape)?;
                match &**parent {
                    Layout::Mma { version, warps_per_cta, instr_shape } => {
                        operand.of_mma(*version, warps_per_cta, instr_shape, *k_width, shape)
                    }
                    Layout::Blocked { size_per_thread, threads_per_warp, warps_per_cta, order } => {
                        operand.of_blocked(size_per_thread, threads_per_warp, warps_per_cta, order, shape)
                    }
                    Layout::Mfma { instr_shape, warps_per_cta, tiles_per_warp, .. } => {
                        check_mfma(hardware)?;
                        operand.of_mfma(instr_shape, warps_per_cta, tiles_per_warp, *k_width, shape)
                    }
                    _ => Err("an operand of a product whose accumulator has no layout of one".into()),
                }
            }
            Layout::Mfma { instr_shape, transposed, warps_per_cta, tiles_per_warp, element_bits, .. } => {
                check_mfma(hardware)?;
                mfma(instr_shape, *transposed, warps_per_cta, tiles_per_warp, *element_bits, shape)
            }
        }
    }
}

/// What a layout of a tensor is built of: bases that are put behind each other, and how far they reach along each dimension.
struct Tile {
    layout: LinearLayout,
    extents: Vec<u64>,
}

impl Tile {
    fn new(shape: &[u32]) -> Tile {
        let layout = LinearLayout { register: Vec::new(), lane: Vec::new(), warp: Vec::new() };
        Tile { layout, extents: vec![1; shape.len()] }
    }

    /// `count` times what there is, side by side along the dimension.
    fn put(&mut self, list: List, dim: usize, count: u32) -> Result<(), Reason> {
        for _ in 0..log2(count)? {
            let mut basis = vec![0; self.extents.len()];
            basis[dim] =
                u32::try_from(self.extents[dim]).map_err(|_| Reason::from("a layout of more than 2^32 elements"))?;
            self.extents[dim] *= 2;
            self.layout.list_mut(list).push(basis);
        }
        Ok(())
    }

    fn put_each(&mut self, list: List, counts: &[u32], order: &[usize]) -> Result<(), Reason> {
        self.put_each_but(list, counts, order, None)
    }

    /// The same; along the dimension `repeated`, data are repeated instead.
    fn put_each_but(
        &mut self,
        list: List,
        counts: &[u32],
        order: &[usize],
        repeated: Option<usize>,
    ) -> Result<(), Reason> {
        check_rank(counts, order.len())?;
        for &dim in order {
            if Some(dim) == repeated {
                self.repeat(list, counts[dim])?;
            } else {
                self.put(list, dim, counts[dim])?;
            }
        }
        Ok(())
    }

    fn repeat(&mut self, list: List, count: u32) -> Result<(), Reason> {
        let zero = vec![0; self.extents.len()];
        let bases = self.layout.list_mut(list);
        bases.resize(bases.len() + log2(count)? as usize, zero);
        Ok(())
    }

    /// The tile of a matrix unit of NVIDIA, where 4 × 8 lanes hold `width` neighbours along the inner dimension each.
    fn put_mma(
        &mut self,
        inner: usize,
        inner_count: u32,
        outer: usize,
        outer_count: u32,
        width: u32,
    ) -> Result<(), Reason> {
        self.put(List::Register, inner, width)?;
        self.put(List::Lane, inner, 4)?;
        self.put(List::Lane, outer, 8)?;
        self.put(List::Register, outer, outer_count / 8)?;
        self.put(List::Register, inner, (inner_count / 4).checked_div(width).unwrap_or(0))
    }

    /// As large as the shape: more registers, the dimensions in order, or data that are repeated.
    fn fit(mut self, shape: &[u32], order: &[usize]) -> Result<LinearLayout, Reason> {
        for &dim in order {
            let missing = u64::from(shape[dim]) / self.extents[dim];
            self.put(List::Register, dim, missing.max(1) as u32)?;
        }
        if self.layout.register.len() > MOST_REGISTER_BITS || self.layout.warp.len() > MOST_WARP_BITS {
            return Err("a layout of more registers or warps than any device has".into());
        }
        for basis in self.layout.bases_mut() {
            for (step, extent) in basis.iter_mut().zip(shape) {
                *step = if *step < *extent { *step } else { 0 };
            }
        }
        Ok(self.layout)
    }
}

fn log2(count: u32) -> Result<u32, Reason> {
    if !count.is_power_of_two() {
        return Err(format!("a layout with a part that is not a power of two; got {count}").into());
    }
    Ok(count.ilog2())
}

fn check_rank(list: &[u32], rank: usize) -> Result<(), Reason> {
    if list.len() != rank {
        return Err(format!("a layout of {} dimensions for a tensor of {rank}", list.len()).into());
    }
    Ok(())
}

fn permutation(order: &[u32], rank: usize) -> Result<Vec<usize>, Reason> {
    check_rank(order, rank)?;
    let mut sorted: Vec<usize> = order.iter().map(|&dim| dim as usize).collect();
    sorted.sort_unstable();
    if sorted != (0..rank).collect::<Vec<usize>>() {
        return Err("a layout whose order does not name each dimension once".into());
    }
    Ok(order.iter().map(|&dim| dim as usize).collect())
}

fn slice(dim: usize, parent: &Layout, shape: &[u32], hardware: &Hardware) -> Result<LinearLayout, Reason> {
    let mut parent_shape = shape.to_vec();
    if dim > parent_shape.len() || parent_shape.len() >= MOST_DIMENSIONS {
        return Err("a slice of a layout of fewer dimensions".into());
    }
    parent_shape.insert(dim, 1);
    let mut layout = parent.bases(&parent_shape, hardware)?;
    for basis in layout.bases_mut() {
        basis.remove(dim);
    }
    layout.register.retain(|basis| basis.iter().any(|&step| step != 0));
    Ok(layout)
}

/// A layout whose author wrote the bases, for a tensor that may be larger or smaller than those reach: after a broadcast.
fn as_written(mut layout: LinearLayout, shape: &[u32]) -> Result<LinearLayout, Reason> {
    let rank = shape.len();
    if layout.bases().any(|basis| basis.len() != rank) {
        return Err("a linear layout whose bases have another number of dimensions than the tensor".into());
    }
    let is_step = |basis: &Vec<u32>| {
        let mut steps = basis.iter().filter(|&&step| step != 0);
        steps.next().is_none_or(|step| step.is_power_of_two() && *step <= 1 << 30) && steps.next().is_none()
    };
    if !layout.bases().all(is_step) {
        return Err("a linear layout with a basis that is not one step along one dimension".into());
    }
    let mut steps: Vec<&Vec<u32>> = layout.bases().filter(|basis| basis.iter().any(|&step| step != 0)).collect();
    let count = steps.len();
    steps.sort_unstable();
    steps.dedup();
    let extents = layout.extents(rank);
    if steps.len() != count || count != extents.iter().map(|extent| extent.ilog2() as usize).sum::<usize>() {
        return Err("a linear layout that reaches an element twice or not at all".into());
    }
    // Registers whose elements the tensor does not have are not repeated, but gone.
    layout.register.retain(|basis| basis.iter().zip(shape).all(|(step, extent)| step < extent));
    let order = register_order(&layout, rank);
    let mut tile = Tile { layout, extents: vec![1; rank] };
    tile.extents = extents.iter().zip(shape).map(|(&extent, &size)| u64::from(extent.min(size))).collect();
    tile.fit(shape, &order)
}

/// Dimensions in the order in which the registers first move along them, then the others from the last one on.
pub(super) fn register_order(layout: &LinearLayout, rank: usize) -> Vec<usize> {
    let moved = layout.register.iter().filter_map(|basis| basis.iter().position(|&step| step != 0));
    let mut order = Vec::with_capacity(rank);
    for dim in moved.chain((0..rank).rev()) {
        if !order.contains(&dim) {
            order.push(dim);
        }
    }
    order
}

/// Rows and columns of the accumulator of one instruction.
fn mma_tile(version: (u32, u32), instr_shape: &[u32], rank: usize) -> Result<(u32, u32), Reason> {
    let (rows, columns) = match (version.0, instr_shape) {
        (2, [.., rows, columns]) if instr_shape.len() == rank => (*rows, *columns),
        (3, [rows, columns] | [rows, columns, _]) if rank == 2 => (*rows, *columns),
        _ => return Err(format!("registers of version {} of the matrix unit with {rank} dimensions", version.0).into()),
    };
    if rows % 8 != 0 || columns % 8 != 0 {
        return Err(format!("an instruction of {rows} × {columns} of the matrix unit").into());
    }
    Ok((rows, columns))
}

/// One of the two tensors of a product.
struct Operand {
    is_left: bool,
    /// The dimension that is summed over.
    k: usize,
    /// The other one.
    outer: usize,
}

impl Operand {
    fn new(operand: u32, shape: &[u32]) -> Result<Operand, Reason> {
        match (operand, shape.len()) {
            (0, rank @ 2..) => Ok(Operand { is_left: true, k: rank - 1, outer: rank - 2 }),
            (1, rank @ 2..) => Ok(Operand { is_left: false, k: rank - 2, outer: rank - 1 }),
            _ => Err(format!("operand {operand} of a product, with {} dimensions", shape.len()).into()),
        }
    }

    fn of_mma(
        &self,
        version: (u32, u32),
        warps: &[u32],
        instr_shape: &[u32],
        k_width: u32,
        shape: &[u32],
    ) -> Result<LinearLayout, Reason> {
        let (rows, _) = mma_tile(version, instr_shape, shape.len())?;
        let hopper = version.0 == 3;
        if rows != 16 || (hopper && !self.is_left) {
            return Err("an operand in registers of a product that takes none".into());
        }
        let outer_count = if self.is_left { rows } else { 8 };
        let order = matrix_order(shape.len(), self.is_left);
        let mut tile = Tile::new(shape);
        tile.put_mma(self.k, k_width.saturating_mul(8), self.outer, outer_count, k_width)?;
        tile.put_each_but(List::Warp, warps, &matrix_order(shape.len(), !hopper), Some(self.k))?;
        tile.fit(shape, &order)
    }

    /// Each thread has all of the summed dimension.
    fn of_blocked(
        &self,
        registers: &[u32],
        lanes: &[u32],
        warps: &[u32],
        order: &[u32],
        shape: &[u32],
    ) -> Result<LinearLayout, Reason> {
        let order = permutation(order, shape.len())?;
        check_rank(registers, shape.len())?;
        let mut registers = registers.to_vec();
        registers[self.k] = shape[self.k];
        let mut tile = Tile::new(shape);
        tile.put_each(List::Register, &registers, &order)?;
        tile.put_each_but(List::Lane, lanes, &order, Some(self.k))?;
        tile.put_each_but(List::Warp, warps, &order, Some(self.k))?;
        tile.fit(shape, &order)
    }

    fn of_mfma(
        &self,
        instr_shape: &[u32],
        warps: &[u32],
        tiles: &[u32],
        k_width: u32,
        shape: &[u32],
    ) -> Result<LinearLayout, Reason> {
        let rank = shape.len();
        let (rows, columns) = mfma_tile(instr_shape, rank)?;
        check_rank(tiles, rank)?;
        let outer_count = if self.is_left { rows } else { columns };
        let mut tile = Tile::new(shape);
        tile.put(List::Register, self.k, k_width)?;
        tile.put(List::Lane, self.outer, outer_count)?;
        tile.put(List::Lane, self.k, 64 / outer_count)?;
        // A product of 64 × 4 takes 64 × 64 of the large operand.
        if outer_count == 64 {
            tile.put(List::Register, self.k, 16)?;
        }
        let missing = u64::from(shape[self.k]) / tile.extents[self.k];
        tile.put(List::Register, self.k, missing.max(1) as u32)?;
        tile.put(List::Register, self.outer, tiles[self.outer])?;
        tile.put_each(List::Warp, warps, &matrix_order(rank, true))?;
        tile.fit(shape, &matrix_order(rank, self.is_left))
    }
}

fn check_mfma(hardware: &Hardware) -> Result<(), Reason> {
    match hardware.vendor {
        Vendor::Amd => Ok(()),
        Vendor::Nvidia => Err("a layout of AMD's matrix unit on a device of NVIDIA".into()),
    }
}

fn mfma_tile(instr_shape: &[u32], rank: usize) -> Result<(u32, u32), Reason> {
    match instr_shape {
        [rows @ (4 | 16 | 32 | 64), columns @ (4 | 16 | 32 | 64), ..] if matches!(rank, 2 | 3) => Ok((*rows, *columns)),
        _ => Err(format!("an instruction {instr_shape:?} of AMD's matrix unit with {rank} dimensions").into()),
    }
}

/// An accumulator of AMD's matrix unit, whose tiles lie along the columns first, those of all warps before the next row of tiles.
fn mfma(
    instr_shape: &[u32],
    transposed: bool,
    warps: &[u32],
    tiles: &[u32],
    element_bits: u32,
    shape: &[u32],
) -> Result<LinearLayout, Reason> {
    let rank = shape.len();
    let (rows, columns) = mfma_tile(instr_shape, rank)?;
    check_rank(warps, rank)?;
    check_rank(tiles, rank)?;
    let (m, n) = (rank - 2, rank - 1);
    // Neighbours in a thread lie along the rows; transposed, along the columns.
    let (along, across, across_count) = if transposed { (n, m, rows) } else { (m, n, columns) };
    let height = if element_bits == 64 { 1 } else { 4 };
    let mut tile = Tile::new(shape);
    tile.put(List::Register, along, height)?;
    tile.put(List::Lane, across, across_count)?;
    tile.put(List::Lane, along, 64 / across_count)?;
    tile.put(List::Register, along, (rows * columns / (64 * height)).max(1))?;
    tile.put(List::Register, n, tiles[n])?;
    tile.put(List::Warp, n, warps[n])?;
    let missing = u64::from(shape[n]).div_ceil(u64::from(columns) * u64::from(warps[n]) * u64::from(tiles[n]).max(1));
    tile.put(List::Register, n, u32::try_from(missing).unwrap_or(0))?;
    tile.put(List::Register, m, tiles[m])?;
    tile.put(List::Warp, m, warps[m])?;
    if rank == 3 {
        tile.put(List::Warp, 0, warps[0])?;
    }
    tile.fit(shape, &matrix_order(rank, true))
}
