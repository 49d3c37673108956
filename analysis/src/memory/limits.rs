//! What each memory space holds against what it can hold, and how to say so (`reference/memory.md` §10, §12).

use crate::diagnostics::Code;
use crate::ir::{Kernel, Origin};
use crate::memory::bases::Bases;
use crate::memory::lifetimes::{Group, Live};
use crate::memory::plan::{Finding, Fit, Order, Related, SpaceUse};
use crate::memory::sizes;
use crate::target::{Machine, Space};

/// The most bytes that one space holds at once. No placement takes less, if none of the tiles are alternatives.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Peak {
    pub bytes: u64,
    /// The first order number at which so much is live.
    pub at: Order,
    /// The groups live there, by index, largest first.
    pub live: Vec<usize>,
}

/// The peak of the groups of one space. Every group counts with its 32-aligned size, and a dead one while it is written.
pub(super) fn peak(groups: &[Group], of_space: impl Fn(&Group) -> bool) -> Peak {
    let mine: Vec<usize> = (0..groups.len()).filter(|index| of_space(&groups[*index])).collect();
    // At a definition, what is last used there is gone already.
    let is_live = |live: Live, at: Order| live.def <= at && (live.last > at || live.def == at);
    let mut changes: Vec<(Order, bool, u64)> = Vec::with_capacity(2 * mine.len());
    for group in mine.iter().map(|index| &groups[*index]) {
        let bytes = sizes::aligned(group.bytes());
        changes.push((group.live.def, true, bytes));
        changes.push((Order(group.live.last.0.max(group.live.def.0 + 1)), false, bytes));
    }
    // Ends before starts: intervals that touch are not live together.
    changes.sort_unstable();
    let mut peak = Peak::default();
    let mut bytes: u64 = 0;
    for (at, starts, change) in changes {
        bytes = if starts { bytes.saturating_add(change) } else { bytes.saturating_sub(change) };
        if bytes > peak.bytes {
            peak = Peak { bytes, at, live: Vec::new() };
        }
    }
    peak.live = mine.into_iter().filter(|index| is_live(groups[*index].live, peak.at)).collect();
    peak.live.sort_by_key(|index| std::cmp::Reverse(groups[*index].bytes()));
    peak
}

/// What a finding about a full space is written from.
pub(super) struct Overflow<'a> {
    pub kernel: &'a Kernel,
    pub bases: &'a Bases,
    pub groups: &'a [Group],
    pub space: Space,
    pub capacity: u64,
    /// What the compiler's allocator needs, in bytes.
    pub used: u64,
    pub reserved: u64,
    /// The reserved bytes are the ring of the pipe between the cores.
    pub ring: bool,
    pub peak: &'a Peak,
    /// The buffers of the allocator, as indices of the groups that share them.
    pub buffers: &'a [Vec<usize>],
    /// What the tiles need when placed by lifetime, and how that ended.
    pub packed: Option<(u64, Fit)>,
}

impl Overflow<'_> {
    /// The compiler's own words first, then the way out.
    pub(super) fn exceeded(&self) -> Finding {
        let (space, used, capacity) = (self.space, self.used, self.capacity);
        let mut message = format!("{space} buffer usage ({used} bytes) exceeds platform limit ({capacity} bytes)");
        if self.reserved > 0 {
            message.push_str(&format!(
                ". The first {} bytes of that space are reserved by system.reserve_buffer, so tiles are allocated above them",
                self.reserved
            ));
        }
        if self.reserved > 0 && self.ring {
            message.push_str(
                " — this is the cross-core pipe ring. Lower its depth with optimizations=[pl.cross_core_slot(slot_num=N)] \
                 on the enclosing pl.at(...), or shrink the tile that crosses the cube/vector boundary",
            );
        }
        message.push_str(". ");
        message.push_str(&self.way_out());
        self.finding(Code::CapacityExceeded, message)
    }

    /// The allocator rejects what fits by lifetime.
    pub(super) fn fits_only_packed(&self, packed: u64) -> Finding {
        let Overflow { space, capacity, used, .. } = self;
        let message = format!(
            "{space}: the compiler's allocator needs {used} bytes of {capacity}; packed by lifetime the tiles fit in {packed}. \
             The compiler accepts this kernel with memory_planner=DSA_RP only"
        );
        self.finding(Code::FitsOnlyPacked, message)
    }

    /// Proved by the packer, which knows what is an alternative to what.
    fn over_at_an_instant(&self) -> bool {
        let room = self.capacity.saturating_sub(self.reserved);
        self.peak.bytes > room && matches!(self.packed, Some((_, Fit::OverAtAnInstant)))
    }

    fn way_out(&self) -> String {
        let Overflow { space, capacity, reserved, .. } = self;
        let (live, room) = (self.peak.bytes, capacity.saturating_sub(*reserved));
        if self.over_at_an_instant() {
            let excess = live - room;
            return match self.peak.live.first() {
                Some(largest) if self.peak.live.len() == 1 => {
                    format!(
                        "{} alone has {} bytes; split it into parts of at most {room} bytes",
                        self.name(*largest),
                        self.groups[*largest].bytes()
                    )
                }
                Some(largest) => format!(
                    "{live} bytes are live at once, so no placement fits: save {excess} bytes there, for example in {} ({} bytes), \
                     or end the use of a tile earlier",
                    self.name(*largest),
                    self.groups[*largest].bytes()
                ),
                None => format!("save {excess} bytes"),
            };
        }
        match self.packed {
            Some((packed, Fit::Fits)) => format!(
                "At most {live} bytes are live at once: packed by lifetime the tiles fit in {packed} bytes, with memory_planner=DSA_RP"
            ),
            Some((_, Fit::Unpackable)) => format!(
                "At most {live} bytes are live at once, and yet no placement fits in {space}: the free memory is in pieces that are too small"
            ),
            Some((packed, _)) => format!(
                "At most {live} bytes are live at once; the best placement by lifetime that was found takes {packed} bytes, whether a \
                 better one exists was not decided"
            ),
            None => {
                format!("At most {live} bytes are live at once; whether a placement by lifetime fits was not decided")
            }
        }
    }

    fn finding(&self, code: Code, message: String) -> Finding {
        let related = if self.over_at_an_instant() { self.live_at_peak() } else { self.separate_buffers() };
        Finding { code, severity: code.severity(), at: self.breaker(), message, related }
    }

    fn live_at_peak(&self) -> Vec<Related> {
        let live = self.peak.live.iter();
        live.map(|index| Related { at: self.origin(*index), message: self.at_peak(*index) }).collect()
    }

    /// No instant is to blame, but that no buffer is divided.
    fn separate_buffers(&self) -> Vec<Related> {
        let mut buffers: Vec<&Vec<usize>> = self.buffers.iter().filter(|buffer| self.is_here(buffer)).collect();
        buffers.sort_by_key(|buffer| std::cmp::Reverse(self.size(buffer)));
        let related = |buffer: &&Vec<usize>| {
            let (first, others) = buffer.split_first()?;
            let others: Vec<String> = others.iter().map(|other| self.name(*other)).collect();
            let and = if others.is_empty() { String::new() } else { format!(" and {}", others.join(", ")) };
            let message = format!("{} bytes of {} for {}{and}", self.size(buffer), self.space, self.name(*first));
            Some(Related { at: self.origin(*first), message })
        };
        buffers.iter().filter_map(related).collect()
    }

    fn is_here(&self, buffer: &[usize]) -> bool {
        buffer.first().is_some_and(|first| self.bases.base(self.groups[*first].base).space == self.space)
    }

    fn size(&self, buffer: &[usize]) -> u64 {
        buffer.iter().map(|index| self.groups[*index].bytes()).max().unwrap_or(0)
    }

    fn at_peak(&self, group: usize) -> String {
        let bytes = self.groups[group].bytes();
        format!("{} takes {bytes} bytes of {} at the peak", self.name(group), self.space)
    }

    fn name(&self, group: usize) -> String {
        let group = &self.groups[group];
        if group.declared.is_some() {
            return format!("`{}`", self.bases.base(group.base).name);
        }
        format!("`{}`", self.kernel.var(group.first()).name)
    }

    fn origin(&self, group: usize) -> Origin {
        self.kernel.var(self.groups[group].first()).origin
    }

    /// The tile that breaks the limit: the last one to join at the peak, or the first whose new buffer does not fit.
    fn breaker(&self) -> Origin {
        let room = self.capacity.saturating_sub(self.reserved);
        let last = self.peak.live.iter().copied().max_by_key(|index| self.groups[*index].live.def);
        let found = if self.over_at_an_instant() { last } else { self.first_beyond(room).or(last) };
        found.map_or(self.kernel.name_origin, |index| self.origin(index))
    }

    fn first_beyond(&self, room: u64) -> Option<usize> {
        let first = |buffer: &Vec<usize>| buffer.iter().copied().min_by_key(|index| self.groups[*index].live.def);
        let here = self.buffers.iter().filter(|buffer| self.is_here(buffer));
        let mut opened: Vec<(usize, u64)> =
            here.filter_map(|buffer| Some((first(buffer)?, self.size(buffer)))).collect();
        opened.sort_by_key(|(index, _)| self.groups[*index].live.def);
        let mut total: u64 = 0;
        opened.into_iter().find_map(|(index, size)| {
            total = total.saturating_add(sizes::aligned(size));
            (total > room).then_some(index)
        })
    }
}

/// Use of a space by a plan; `packed` is how a placement by lifetime ended.
pub(super) fn space_use(
    machine: Machine,
    space: Space,
    used: u64,
    reserved: u64,
    peak: &Peak,
    packed: Option<Fit>,
) -> SpaceUse {
    let capacity = machine.capacity(space);
    let fit = match (capacity, packed) {
        (Some(capacity), Some(verdict @ (Fit::OverAtAnInstant | Fit::Unpackable))) if used > capacity => verdict,
        (Some(capacity), _) if used > capacity => Fit::Undecided,
        _ => Fit::Fits,
    };
    // Alternatives of a branch count twice in the peak, but never in a plan that was made.
    let bytes = peak.bytes.saturating_add(reserved).min(used);
    SpaceUse { space, used, capacity, peak: bytes, peak_at: peak.at, reserved, fit }
}
