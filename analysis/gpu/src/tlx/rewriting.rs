//! Step 3 of the compiler: a buffer that is moved or spread becomes an array of more slots, and its indices are rewritten.

use super::Rules;
use super::offsets::Placement;

/// How the indices of a buffer map to slots of its own size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rewriting {
    pub scale: u64,
    pub offset_slots: u64,
    pub group_size: u64,
    /// Slots of the array that replaces the buffer.
    pub new_num: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotRewritable {
    /// The stride is no multiple of the buffer.
    Stride,
    /// The offset is no multiple of the buffer.
    Offset,
    /// The buffer is smaller than one column, by which the compiler divides.
    ZeroColumns,
}

impl Rewriting {
    /// A buffer without a place in a tree stays as it is.
    pub fn none(num: u64) -> Rewriting {
        Rewriting { scale: 1, offset_slots: 0, group_size: 1, new_num: num }
    }

    /// `unit` is the size of one buffer in the placement's units.
    pub fn of(placement: &Placement, unit: u64, num: u64, rules: Rules) -> Result<Rewriting, NotRewritable> {
        if unit == 0 {
            return Err(NotRewritable::ZeroColumns);
        }
        if !placement.stride.is_multiple_of(unit) {
            return Err(NotRewritable::Stride);
        }
        if !placement.offset.is_multiple_of(unit) {
            return Err(NotRewritable::Offset);
        }
        let (scale, offset_slots) = (placement.stride / unit, placement.offset / unit);
        if scale <= 1 && offset_slots == 0 {
            return Ok(Rewriting { scale, ..Rewriting::none(num) });
        }
        let last = num.saturating_sub(1);
        let new_num = match rules {
            Rules::Compiler => {
                let inner = last % placement.group_size.max(1);
                scale.saturating_mul(last).saturating_add(offset_slots).saturating_add(inner).saturating_add(1)
            }
            Rules::Seed => scale.saturating_mul(num).saturating_add(offset_slots),
        };
        Ok(Rewriting { scale, offset_slots, group_size: placement.group_size.max(1), new_num })
    }

    pub fn is_identity(&self) -> bool {
        self.scale <= 1 && self.offset_slots == 0
    }

    /// The slot of buffer `index`.
    pub fn slot(&self, index: u64) -> u64 {
        if self.is_identity() {
            return index;
        }
        let inner = index % self.group_size;
        self.scale.saturating_mul(index).saturating_add(self.offset_slots).saturating_add(inner)
    }
}
