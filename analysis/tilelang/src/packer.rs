//! The allocator of shared memory: a scan over the buffers in the order in which they start to live
//! (docs/reference/tilelang.md, "7. Packer").

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use tilefit_python::work;

/// Something to place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tenant {
    pub name: Arc<str>,
    /// Bytes.
    pub size: u64,
    /// Bytes, a power of two.
    pub alignment: u64,
    /// The first event, and the one behind the last.
    pub start: usize,
    pub end: usize,
}

/// Where each lies, and what all take; bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Packing {
    pub offsets: Vec<u64>,
    pub total: u64,
}

/// What the total is a multiple of, if there is anything to pack.
const GRANULE: u64 = 16;

fn aligned(offset: u64, alignment: u64) -> u64 {
    offset.checked_next_multiple_of(alignment.max(1)).unwrap_or(u64::MAX)
}

/// Those that start first go first, of those the larger ones, of those by name.
pub(crate) fn pack(tenants: &[Tenant]) -> Packing {
    let mut order: Vec<usize> = (0..tenants.len()).collect();
    order.sort_by_key(|&i| (tenants[i].start, Reverse(tenants[i].size), &tenants[i].name));
    let mut offsets = vec![0; tenants.len()];
    let mut arena = Arena::default();
    let mut alive: BinaryHeap<Reverse<(usize, usize)>> = BinaryHeap::new();
    for i in order {
        let tenant = &tenants[i];
        while let Some(&Reverse((end, ended))) = alive.peek()
            && end <= tenant.start
        {
            alive.pop();
            arena.free(offsets[ended], tenants[ended].size);
        }
        offsets[i] = arena.take(tenant.size, tenant.alignment);
        alive.push(Reverse((tenant.end, i)));
    }
    let total = if tenants.len() > 1 { aligned(arena.top, GRANULE) } else { arena.top };
    Packing { offsets, total }
}

/// One behind the other, by name: without reuse.
pub(crate) fn in_a_row(tenants: &[Tenant]) -> Packing {
    let mut order: Vec<usize> = (0..tenants.len()).collect();
    order.sort_by_key(|&i| &tenants[i].name);
    let mut offsets = vec![0; tenants.len()];
    let mut top = 0;
    for i in order {
        offsets[i] = aligned(top, tenants[i].alignment);
        top = offsets[i].saturating_add(tenants[i].size);
    }
    Packing { offsets, total: if tenants.len() > 1 { aligned(top, GRANULE) } else { top } }
}

#[derive(Default)]
struct Arena {
    top: u64,
    /// The size of each free block by its offset; no two touch.
    blocks: BTreeMap<u64, u64>,
}

impl Arena {
    fn free(&mut self, mut offset: u64, mut size: u64) {
        if size == 0 {
            return;
        }
        if let Some((&next, &more)) = self.blocks.range(offset..).next()
            && next <= offset.saturating_add(size)
        {
            self.blocks.remove(&next);
            size = next.saturating_add(more).max(offset.saturating_add(size)) - offset;
        }
        if let Some((&before, &less)) = self.blocks.range(..offset).next_back()
            && offset <= before.saturating_add(less)
        {
            self.blocks.remove(&before);
            size = offset.saturating_add(size).max(before.saturating_add(less)) - before;
            offset = before;
        }
        self.blocks.insert(offset, size);
    }

    fn take(&mut self, size: u64, alignment: u64) -> u64 {
        self.take_block(size, alignment)
            .or_else(|| self.grow_last_block(size, alignment))
            .unwrap_or_else(|| self.take_top(size, alignment))
    }

    /// The smallest free block that is large enough once it is aligned; the first of such.
    fn take_block(&mut self, size: u64, alignment: u64) -> Option<u64> {
        work::spend_on_pairs(self.blocks.len());
        let is_enough = |&(&offset, &block): &(&u64, &u64)| {
            (aligned(offset, alignment) - offset).checked_add(size).is_some_and(|needed| needed <= block)
        };
        let (&offset, &block) = self.blocks.iter().filter(is_enough).min_by_key(|(offset, size)| (**size, **offset))?;
        self.blocks.remove(&offset);
        let at = aligned(offset, alignment);
        self.free(at.saturating_add(size), block - (at - offset) - size);
        self.free(offset, at - offset);
        Some(at)
    }

    /// A free block at the top that is too small is made larger.
    fn grow_last_block(&mut self, size: u64, alignment: u64) -> Option<u64> {
        let (&offset, &block) = self.blocks.last_key_value()?;
        let at = aligned(offset, alignment);
        if offset.saturating_add(block) != self.top || at >= self.top {
            return None;
        }
        self.blocks.remove(&offset);
        self.free(offset, at - offset);
        self.top = at.saturating_add(size);
        Some(at)
    }

    fn take_top(&mut self, size: u64, alignment: u64) -> u64 {
        let at = aligned(self.top, alignment);
        self.free(self.top, at - self.top);
        self.top = at.saturating_add(size);
        at
    }
}
