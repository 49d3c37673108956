//! Sizes of buffers, and step 1 of the compiler: the size of each spec.

use tilefit_python::finding::Reason;

use super::kernel::{Buffer, Kernel, Known, Pair, SpecId};
use super::language::{Dtype, Storage};
use super::tree::Tree;
use super::{Rules, align_up};

/// 128 lanes of 32 bits.
pub const BYTES_OF_A_COLUMN: u64 = 512;

/// A buffer whose size is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sized {
    pub storage: Storage,
    pub shape: Vec<u64>,
    pub dtype: Dtype,
    pub num: u64,
    pub pair: Pair,
    /// One buffer, in bytes of shared memory or columns of tensor memory.
    pub unit: u64,
}

impl Sized {
    /// Sizes one allocation; under [`Rules::Seed`] tensor memory is counted in bytes too.
    pub fn of(buffer: &Buffer, rules: Rules) -> Known<Sized> {
        let storage = buffer.storage.clone()?;
        let shape = buffer.shape.clone()?;
        let dtype = buffer.dtype.clone()?;
        let num = buffer.num.clone()?;
        let pair = buffer.pair;
        let unit = match (rules, storage) {
            (Rules::Compiler, Storage::Tmem) => columns(&shape, dtype, pair)?,
            _ => elements(&shape).saturating_mul(dtype.bytes()),
        };
        Ok(Sized { storage, shape, dtype, num, pair, unit })
    }

    /// Bytes of one buffer.
    pub fn bytes(&self) -> u64 {
        elements(&self.shape).saturating_mul(self.dtype.bytes())
    }

    /// Rows of tensor memory that it takes.
    pub fn rows(&self) -> u64 {
        let rows = self.shape.iter().rev().nth(1).copied().unwrap_or(0);
        if rows == 64 && self.pair == Pair::None && !self.dtype.is_scale() { 64 } else { 128 }
    }

    /// Bytes of shared memory that it takes as an allocation of its own: arrays of one dimension are padded to a power of two.
    pub fn allocated(&self) -> u64 {
        let total = self.unit.saturating_mul(self.num);
        match (self.storage, self.shape.len()) {
            (Storage::Smem, 0) => total.checked_next_power_of_two().unwrap_or(total),
            _ => total,
        }
    }
}

fn elements(shape: &[u64]) -> u64 {
    shape.iter().fold(1, |product: u64, &extent| product.saturating_mul(extent))
}

/// Columns of one buffer in tensor memory (`getTmemAllocSizes` of the compiler).
fn columns(shape: &[u64], dtype: Dtype, pair: Pair) -> Known<u64> {
    let [.., rows, inner] = shape else {
        return Err(Reason::new("tensor memory cannot hold a buffer of one dimension"));
    };
    let (rows, inner) = (*rows, *inner);
    if dtype.is_scale() {
        return Ok(rows.div_ceil(32).saturating_mul(inner.div_ceil(4)));
    }
    let outer = elements(&shape[..shape.len() - 2]);
    let packed = |columns: u64| columns.saturating_mul(outer).saturating_mul(u64::from(dtype.bits)) / 32;
    Ok(match pair {
        Pair::Rhs => packed(inner) / 2,
        Pair::Lhs => packed(inner),
        Pair::None => packed(inner.saturating_mul((rows / 128).max(1))),
    })
}

/// What step 1 stores on a spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecSize {
    /// Bytes that the allocations need.
    pub required: u64,
    /// Bytes of the spec: what is required, or the explicit size.
    pub bytes: u64,
    /// `[bytes]` in shared memory, `[rows, columns]` in tensor memory.
    pub shape: Vec<u64>,
}

impl SpecSize {
    /// Bytes or columns.
    pub fn units(&self) -> u64 {
        self.shape.last().copied().unwrap_or(0)
    }
}

/// The size of a spec from its users in program order, which are at least one. `E` is `buffer_size_bytes`.
pub fn spec_size(
    users: &[&Sized],
    tree: Option<&Tree>,
    explicit: Option<u64>,
    storage: Storage,
    rules: Rules,
) -> SpecSize {
    let whole = |sized: &&Sized| sized.bytes().saturating_mul(sized.num);
    let computed = match (rules, storage) {
        (Rules::Seed, _) => linear(users.iter().map(whole).max().unwrap_or(0)),
        (Rules::Compiler, Storage::Tmem) => tensor_memory(users),
        (Rules::Compiler, _) => match tree {
            Some(tree) => {
                let first = users.first().map_or(1, |user| user.num);
                linear(align_up(tree.size(), tree.align()).saturating_mul(first))
            }
            None => linear(users.iter().map(whole).max().unwrap_or(0)),
        },
    };
    match explicit {
        None => computed,
        Some(bytes) => {
            let mut shape = computed.shape;
            if let [rows, columns] = shape.as_mut_slice() {
                *columns = (*columns).max(bytes / rows.saturating_mul(4).max(1));
            } else {
                shape = vec![bytes];
            }
            SpecSize { required: computed.required, bytes, shape }
        }
    }
}

fn linear(bytes: u64) -> SpecSize {
    SpecSize { required: bytes, bytes, shape: vec![bytes] }
}

/// One array of 32-bit words that covers every user; a tree does not count.
fn tensor_memory(users: &[&Sized]) -> SpecSize {
    let (mut rows, mut columns) = (0, 0);
    for user in users {
        let [.., m, n] = user.shape.as_slice() else { continue };
        let (mut m, mut n) = (*m, n.saturating_mul(user.num));
        match user.dtype.bytes() {
            bytes if bytes > 4 => n = n.saturating_mul(bytes / 4),
            bytes => n = n.div_ceil(4 / bytes.max(1)),
        }
        match user.pair {
            Pair::Rhs => (m, n) = (m.saturating_mul(2), n / 2),
            Pair::Lhs => m = m.saturating_mul(2),
            Pair::None => {}
        }
        rows = rows.max(m);
        columns = columns.max(n);
    }
    let rows: u64 = if rows <= 64 { 64 } else { 128 };
    let bytes = rows.saturating_mul(columns).saturating_mul(4);
    SpecSize { required: bytes, bytes, shape: vec![rows, columns] }
}

/// The users of a spec with their sizes, in program order; the first reason where one is not known.
pub fn users(kernel: &Kernel, spec: SpecId, rules: Rules) -> Known<Vec<(super::BufferId, Sized)>> {
    kernel.users(spec).map(|id| Ok((id, Sized::of(kernel.buffer(id), rules)?))).collect()
}
