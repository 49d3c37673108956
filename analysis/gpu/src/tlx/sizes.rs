//! Sizes of buffers.

use tilefit_python::finding::Reason;

use super::Rules;
use super::kernel::{Buffer, Known, Pair};
use super::language::{Dtype, Storage};

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
