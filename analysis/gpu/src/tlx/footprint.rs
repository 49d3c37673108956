//! The real footprint: a spec and all that aliases it become one allocation of the largest type among them
//! (`RewriteLocalAlias.cpp` of the compiler), so the printed size of a spec is not what it takes.

use tilefit_python::finding::Reason;

use super::Rules;
use super::kernel::{Backing, Buffer, BufferId, Kernel, Known, Layout, SpecId};
use super::language::Storage;
use super::placed::{PlacedBuffer, SpecPlan};
use super::sizes::{BYTES_OF_A_COLUMN, Sized};

/// One allocation of the compiled kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Footprint {
    pub owner: Owner,
    pub storage: Storage,
    /// Bytes or columns.
    pub extent: u64,
    /// Rows of tensor memory.
    pub rows: u64,
    /// False where it is allocated under a condition that is not known.
    pub certain: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    Spec(SpecId),
    Buffer(BufferId),
}

/// Every allocation of a kernel, and the reasons for those that are not known.
pub fn footprints(
    kernel: &Kernel,
    specs: &[SpecPlan],
    places: &[Known<PlacedBuffer>],
    rules: Rules,
) -> (Vec<Footprint>, Vec<Reason>) {
    let mut known = Vec::new();
    let mut unknown: Vec<Reason> = Vec::new();
    let mut add = |footprint: Known<Footprint>| match footprint {
        Ok(footprint) => known.push(footprint),
        Err(reason) if unknown.contains(&reason) => {}
        Err(reason) => unknown.push(reason),
    };
    for plan in specs {
        add(of_spec(kernel, plan, places));
    }
    for id in kernel.buffer_ids() {
        match &kernel.buffer(id).backing {
            Backing::Own => add(of_buffer(kernel, id, places)),
            Backing::Unknown(reason) => add(Err(reason.clone())),
            Backing::Spec(_) | Backing::Alias(_) => {}
        }
    }
    if rules == Rules::Seed {
        // The seed counts tensor memory in bytes; what there is to have are columns.
        for footprint in known.iter_mut().filter(|footprint| footprint.storage == Storage::Tmem) {
            footprint.extent = footprint.extent.div_ceil(BYTES_OF_A_COLUMN);
        }
    }
    for reason in kernel.buffers.iter().filter_map(unread) {
        if !unknown.contains(&reason) {
            unknown.push(reason);
        }
    }
    (known, unknown)
}

/// Why the size of a buffer with a layout of its own is a lower bound here.
pub fn unread(buffer: &Buffer) -> Option<Reason> {
    let reason = || Reason::new(format!("`layout=` of `{}` may pad its rows, which is not counted", buffer.name));
    (buffer.layout == Layout::Unread).then(reason)
}

fn of_spec(kernel: &Kernel, plan: &SpecPlan, places: &[Known<PlacedBuffer>]) -> Known<Footprint> {
    let spec = kernel.spec(plan.spec);
    let storage = spec.storage.clone()?;
    let mut extent = plan.extent.clone()?;
    let (mut rows, mut most) = match &plan.size {
        Ok(size) if size.shape.len() == 2 => (size.shape[0], size.units()),
        Ok(size) => (0, size.units()),
        Err(_) => (128, extent),
    };
    for user in kernel.users(plan.spec) {
        if let Some(Ok(place)) = places.get(user.0 as usize)
            && place.span() > most
        {
            (rows, most) = (place.sized.rows(), place.span());
        }
        include_aliases(kernel, user, places, &mut extent, &mut rows)?;
    }
    Ok(Footprint { owner: Owner::Spec(plan.spec), storage, extent, rows, certain: spec.certain })
}

fn of_buffer(kernel: &Kernel, id: BufferId, places: &[Known<PlacedBuffer>]) -> Known<Footprint> {
    let sized = sized(places, id)?;
    let (mut extent, mut rows) = (sized.allocated(), sized.rows());
    include_aliases(kernel, id, places, &mut extent, &mut rows)?;
    let buffer = kernel.buffer(id);
    let certain = buffer.certain;
    Ok(Footprint { owner: Owner::Buffer(id), storage: sized.storage, extent, rows, certain })
}

/// The class takes the largest of its members.
fn include_aliases(
    kernel: &Kernel,
    base: BufferId,
    places: &[Known<PlacedBuffer>],
    extent: &mut u64,
    rows: &mut u64,
) -> Known<()> {
    // An alias comes after its base, so that the walk ends.
    for id in kernel.buffer_ids().filter(|&id| id > base) {
        if kernel.buffer(id).backing != Backing::Alias(base) {
            continue;
        }
        let alias = sized(places, id)?;
        let units = alias.unit.saturating_mul(alias.num);
        if units > *extent {
            *extent = units;
            *rows = alias.rows();
        }
        include_aliases(kernel, id, places, extent, rows)?;
    }
    Ok(())
}

fn sized(places: &[Known<PlacedBuffer>], id: BufferId) -> Known<&Sized> {
    match places.get(id.0 as usize) {
        Some(Ok(place)) => Ok(&place.sized),
        Some(Err(reason)) => Err(reason.clone()),
        None => Err(Reason::new("the buffer is unknown")),
    }
}

/// Bytes of shared memory of all that is known, conditional allocations included.
pub fn smem(footprints: &[Footprint]) -> u64 {
    let here = footprints.iter().filter(|footprint| footprint.storage != Storage::Tmem);
    here.fold(0, |sum, footprint| sum.saturating_add(footprint.extent))
}

/// The same of tensor memory, in columns.
pub fn tmem(footprints: &[Footprint]) -> u64 {
    let mut halves = Halves::default();
    for footprint in footprints.iter().filter(|footprint| footprint.storage == Storage::Tmem) {
        halves.place(footprint);
    }
    halves.0[0].max(halves.0[1])
}

/// Columns taken so far in the two halves of the rows: allocations of 64 rows lie beside each other, and all start at multiples of 4.
#[derive(Default)]
pub struct Halves([u64; 2]);

impl Halves {
    /// The first column of the next allocation.
    pub fn place(&mut self, footprint: &Footprint) -> u64 {
        let columns = footprint.extent.saturating_add(3) / 4 * 4;
        let halves = &mut self.0;
        if footprint.rows == 64 {
            let half = usize::from(halves[1] < halves[0]);
            let start = halves[half];
            halves[half] = start.saturating_add(columns);
            return start;
        }
        let start = halves[0].max(halves[1]);
        *halves = [start.saturating_add(columns); 2];
        start
    }
}
