//! Says whether a plan keeps apart what is live together. It looks at lifetimes and addresses only and shares no code with what
//! chose them, so that a mistake there shows here.

use std::fmt;

use tilefit_python::work;

use crate::ir::VarId;
use crate::memory::addresses::Layout;
use crate::memory::bases::{Bases, Offset};
use crate::memory::lifetimes::{Lifetimes, Live};
use crate::memory::plan::SpaceUse;
use crate::memory::sizes::ALIGNMENT;
use crate::target::Space;

/// The first thing found wrong with a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Violation {
    NotPlaced(VarId),
    Misaligned(VarId),
    /// In the reserved prefix of its space, or beyond the end of a space that it is said to fit.
    OutOfSpace(VarId),
    /// Live at the same time, in common bytes.
    Overlap(VarId, VarId),
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Violation::NotPlaced(tile) => write!(f, "tile {} has no address", tile.0),
            Violation::Misaligned(tile) => write!(f, "the buffer of tile {} is not aligned", tile.0),
            Violation::OutOfSpace(tile) => write!(f, "tile {} is outside its memory space", tile.0),
            Violation::Overlap(a, b) => write!(f, "tiles {} and {} overlap while both are live", a.0, b.0),
        }
    }
}

/// What is checked.
pub(super) struct Checked<'a> {
    /// Tiles and when they are needed.
    pub tiles: Vec<(VarId, Live)>,
    /// Which tiles must alias.
    pub groups: &'a Bases,
    /// Knows which tiles are alternatives of one branch and may share although both count as live.
    pub alternatives: Option<&'a Lifetimes<'a>>,
    /// Where the tiles are, and the addresses of that.
    pub bases: &'a Bases,
    pub layout: &'a Layout,
    pub spaces: &'a [SpaceUse],
}

struct Placed {
    var: VarId,
    live: Live,
    space: Space,
    start: u64,
    end: u64,
}

pub(super) fn check(checked: &Checked) -> Result<(), Violation> {
    let mut tiles = Vec::with_capacity(checked.tiles.len());
    for (var, live) in &checked.tiles {
        tiles.push(place(checked, *var, *live)?);
    }
    tiles.sort_by_key(|tile| tile.live.def);
    let mut live: Vec<&Placed> = Vec::new();
    for next in &tiles {
        work::spend_on_pairs(live.len());
        live.retain(|earlier| earlier.live.last > next.live.def);
        let clash = live.iter().find(|earlier| meet(earlier, next) && !may_meet(checked, earlier.var, next.var));
        if let Some(earlier) = clash {
            return Err(Violation::Overlap(earlier.var, next.var));
        }
        live.push(next);
    }
    Ok(())
}

/// In common bytes at the same time.
fn meet(a: &Placed, b: &Placed) -> bool {
    let together = a.live.last > b.live.def && b.live.last > a.live.def;
    together && a.space == b.space && a.start < b.end && b.start < a.end
}

fn may_meet(checked: &Checked, a: VarId, b: VarId) -> bool {
    let base = |var| checked.groups.get(var).map(|memory| memory.base);
    base(a) == base(b) || checked.alternatives.is_some_and(|lifetimes| lifetimes.alternatives(a, b))
}

/// The bytes of a tile under the plan.
fn place(checked: &Checked, var: VarId, live: Live) -> Result<Placed, Violation> {
    let memory = checked.bases.get(var).ok_or(Violation::NotPlaced(var))?;
    let space = checked.bases.base(memory.base).space;
    let range = checked.layout.placed.get(&memory.base).ok_or(Violation::NotPlaced(var))?;
    if range.address % ALIGNMENT != 0 {
        return Err(Violation::Misaligned(var));
    }
    let buffer_end = range.address.saturating_add(range.size);
    let (start, end) = match memory.offset {
        Offset::Known(offset) => {
            let start = range.address.saturating_add(offset);
            // A slice that reaches beyond its tile is the author's mistake, not the plan's.
            (start.min(buffer_end), start.saturating_add(memory.size).min(buffer_end))
        }
        Offset::Dynamic => (range.address, buffer_end),
    };
    let limits = checked.spaces.iter().find(|used| used.space == space).ok_or(Violation::NotPlaced(var))?;
    let capacity = limits.capacity.filter(|capacity| limits.used <= *capacity).unwrap_or(u64::MAX);
    if start < limits.reserved || end > capacity || end > limits.used {
        return Err(Violation::OutOfSpace(var));
    }
    Ok(Placed { var, live, space, start, end })
}
