//! What each memory space holds against what it can hold, and how to say so (`docs/reference/memory.md`, "Addresses", "Hints").

use std::cmp::Ordering;

use tilefit_python::diagnostics::Code;
use tilefit_python::finding::Origin;
use tilefit_python::finding::{Finding, Related, bytes, rounded};

use crate::ir::Kernel;
use crate::memory::bases::Bases;
use crate::memory::labels::label;
use crate::memory::lifetimes::{Group, Lifetimes};
use crate::memory::plan::{Fit, Order, SpaceUse, StagePair, Trouble, Witness};
use crate::memory::planners::verdict::Packing;
use crate::memory::sizes;
use crate::target::{COMPILER, Machine, Space};

/// Tiles that a list in a sentence names.
const MOST_NAMED: usize = 3;

/// The most bytes that one space holds at once. No placement takes less, if none of the tiles are alternatives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Peak {
    pub bytes: u64,
    /// The first order number at which so much is live.
    pub at: Order,
}

/// The peak of the groups of one space. Every group counts with its 32-aligned size, and a dead one while it is written.
pub(super) fn peak(groups: &[Group], of_space: impl Fn(&Group) -> bool) -> Peak {
    let mine: Vec<&Group> = groups.iter().filter(|group| of_space(group)).collect();
    let mut changes: Vec<(Order, bool, u64)> = Vec::with_capacity(2 * mine.len());
    for group in mine {
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
            peak = Peak { bytes, at };
        }
    }
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
    pub lifetimes: &'a Lifetimes<'a>,
    /// The buffers of the allocator, as indices of the groups that share them.
    pub buffers: &'a [Vec<usize>],
    /// What came out when the tiles were placed by lifetime.
    pub packing: Option<&'a Packing>,
}

impl Overflow<'_> {
    /// What is wrong, what fixes it, and the compiler's own words, by which its error is found again.
    pub(super) fn exceeded(&self) -> Finding {
        let message =
            format!("{} overflow: {}. (compiler: \"{}\")", self.space, self.explained(), self.as_the_compiler());
        self.finding(Code::CapacityExceeded, message)
    }

    fn as_the_compiler(&self) -> String {
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
        message
    }

    /// The allocator rejects what fits by lifetime.
    pub(super) fn fits_only_packed(&self, packed: u64) -> Finding {
        let Overflow { space, capacity, used, .. } = self;
        let message = format!(
            "{space}: the compiler's default planner needs {}, {} available. The tiles fit in {} if freed buffers are split and \
             reused. {} {} accepts this kernel only with `memory_planner=DSA_RP`; {}",
            bytes(*used),
            bytes(*capacity),
            bytes(packed),
            COMPILER.name,
            COMPILER.commit,
            COMPILER.later
        );
        self.finding(Code::FitsOnlyPacked, message)
    }

    /// What is wrong at one instant, where that is proved.
    fn over_at_an_instant(&self) -> Option<&Trouble> {
        self.packing.filter(|packing| packing.fit == Fit::OverAtAnInstant)?.trouble.as_ref()
    }

    /// Sentences without the last full stop.
    fn explained(&self) -> String {
        let needs = format!("the plan needs {}, {}", bytes(self.used), self.over());
        let undecided = format!("{needs}. Whether another placement fits was not decided");
        let Some(packing) = self.packing else { return undecided };
        let (space, best) = (self.space, bytes(packing.best));
        let at_most = format!("At most {} are live at once", bytes(packing.bound.saturating_sub(self.reserved)));
        match (packing.fit, &packing.trouble) {
            (Fit::Fits, _) => format!("{needs}. {at_most}: with `memory_planner=DSA_RP`, the tiles fit in {best}"),
            (Fit::Relaxed, _) => format!(
                "{needs}. {at_most}. With `memory_planner=DSA_RP`, the tiles fit in {best} if stages of a pipeline share memory and \
                 wait for each other: {}",
                pairs(&packing.relaxed)
            ),
            (Fit::OverAtAnInstant, Some(trouble)) => self.too_much_at_once(packing.bound, trouble),
            (Fit::Unpackable, Some(trouble)) => format!(
                "{needs}. {at_most}{}, but no placement fits in {space} (proved): the free memory is in pieces that are too small. \
                 The lowest placement found needs {best}. {}",
                convention(trouble),
                fragments(trouble)
            ),
            (Fit::Undecided, Some(trouble)) => format!(
                "{needs}. {at_most}{}. The best placement found needs {best}. {} steps of search did not decide whether there is a \
                 lower one, of at least {}{}",
                convention(trouble),
                packing.nodes,
                bytes(packing.lower_bound),
                if packing.searching { "; the search continues" } else { "" }
            ),
            (_, None) => undecided,
        }
    }

    /// `120 KiB available after 64 KiB reserved`
    fn available(&self) -> String {
        let room = bytes(self.capacity.saturating_sub(self.reserved));
        match self.reserved {
            0 => format!("{room} available"),
            reserved => format!("{room} available after {} reserved", bytes(reserved)),
        }
    }

    /// `184 KiB available (8 KiB over)`: what a lens and a map say of the plan.
    fn over(&self) -> String {
        format!("{} ({} over)", self.available(), rounded(self.used.saturating_sub(self.capacity)))
    }

    fn too_much_at_once(&self, bound: u64, trouble: &Trouble) -> String {
        let room = self.capacity.saturating_sub(self.reserved);
        let live = bound.saturating_sub(self.reserved);
        let excess = live.saturating_sub(room);
        let numbers = self.over();
        if let [alone] = trouble.live.as_slice()
            && room > 0
        {
            let Witness { name, shape, .. } = alone;
            let size = bytes(alone.bytes);
            return format!(
                "`{name}` {shape:?} alone takes {size}, {numbers}. Split it into parts of at most {}",
                bytes(room)
            );
        }
        // More than the plan takes: the packer sees other copies than the allocator makes.
        let proof = match live.saturating_add(self.reserved).cmp(&self.used) {
            Ordering::Equal => format!("{} live at once{}, {numbers}", bytes(live), convention(trouble)),
            Ordering::Less => format!(
                "the plan needs {}, {numbers}. Any plan needs the {} that are live at once{}",
                bytes(self.used.saturating_sub(self.reserved)),
                bytes(live),
                convention(trouble)
            ),
            Ordering::Greater => format!("no placement fits, {numbers}"),
        };
        let further = match trouble.further.len() {
            0 => String::new(),
            1 if !trouble.and_more => ". One more statement is over the limit".to_owned(),
            more => format!(
                ". {}{more} more statements are over the limit",
                if trouble.and_more { "At least " } else { "" }
            ),
        };
        format!("{proof}{further}. {}", advice(excess, trouble))
    }

    fn finding(&self, code: Code, message: String) -> Finding {
        let related = match self.packing.and_then(|packing| Some((packing.fit, packing.trouble.as_ref()?))) {
            Some((Fit::OverAtAnInstant, trouble)) => self.at_peaks(trouble),
            Some((Fit::Unpackable, Trouble { core: Some((tiles, _)), .. })) => self.in_core(tiles),
            _ => self.separate_buffers(),
        };
        Finding { space: Some(self.space.name()), related, ..Finding::new(code, self.breaker(), message) }
    }

    fn at_peaks(&self, trouble: &Trouble) -> Vec<Related> {
        let space = self.space;
        let live = trouble.live.iter().map(|Witness { name, bytes, at, .. }| {
            let message = format!("`{name}` takes {} of {space} at the peak", self::bytes(*bytes));
            Related { at: *at, message }
        });
        let further = trouble.further.iter().filter_map(|(at, bytes)| {
            let at = *self.lifetimes.statements.get(at.0 as usize)?;
            Some(Related {
                at,
                message: format!("{} of {space} are live at once here, also more than available", self::bytes(*bytes)),
            })
        });
        live.chain(further).collect()
    }

    fn in_core(&self, tiles: &[Witness]) -> Vec<Related> {
        let related = |Witness { name, bytes, at, .. }: &Witness| {
            let message = format!("`{name}` takes {} of {} and is in the way", self::bytes(*bytes), self.space);
            Related { at: *at, message }
        };
        tiles.iter().map(related).collect()
    }

    /// No instant is to blame, but that no buffer is divided.
    fn separate_buffers(&self) -> Vec<Related> {
        let mut buffers: Vec<&Vec<usize>> = self.buffers.iter().filter(|buffer| self.is_here(buffer)).collect();
        buffers.sort_by_key(|buffer| std::cmp::Reverse(self.size(buffer)));
        let related = |buffer: &&Vec<usize>| {
            let (first, others) = buffer.split_first()?;
            let others: Vec<String> = others.iter().map(|other| self.name(*other)).collect();
            let and = if others.is_empty() { String::new() } else { format!(" and {}", others.join(", ")) };
            let message = format!("{} of {} for {}{and}", bytes(self.size(buffer)), self.space, self.name(*first));
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

    fn name(&self, group: usize) -> String {
        let group = &self.groups[group];
        if group.declared.is_some() {
            return format!("`{}`", self.bases.base(group.base).name);
        }
        format!("`{}`", label(self.kernel, self.lifetimes, group.first()))
    }

    fn origin(&self, group: usize) -> Origin {
        self.kernel.var(self.groups[group].first()).origin
    }

    /// The tile that breaks the limit: the last one to join at the peak, or the first whose new buffer does not fit.
    fn breaker(&self) -> Origin {
        let room = self.capacity.saturating_sub(self.reserved);
        let joined = self.over_at_an_instant().and_then(|trouble| trouble.joined.as_ref().or(trouble.live.first()));
        let found = joined.map(|tile| tile.at).or_else(|| Some(self.origin(self.first_beyond(room)?)));
        found.unwrap_or(self.kernel.name_origin)
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

/// Some of the pairs, with their stages.
pub(super) fn pairs(all: &[StagePair]) -> String {
    let tile = |(name, stage): &(String, i64)| format!("`{name}` of stage {stage}");
    let pair = |pair: &StagePair| format!("{} and {}", tile(&pair.tiles[0]), tile(&pair.tiles[1]));
    let shown: Vec<String> = all.iter().take(MOST_NAMED).map(pair).collect();
    match all.len().saturating_sub(MOST_NAMED) {
        0 => shown.join(", "),
        more => format!("{}, and {more} more", shown.join(", ")),
    }
}

/// Some of `names`, quoted.
fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(MOST_NAMED).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(MOST_NAMED) {
        0 => shown.join(" or "),
        more => format!("{} or {more} more", shown.join(", ")),
    }
}

/// Said where one thing ends just where the peak begins.
fn convention(trouble: &Trouble) -> &'static str {
    if trouble.touching {
        " (a result may take the memory of an operand that is read for the last time there)"
    } else {
        ""
    }
}

/// Changes to one tile with which everything fits, or what is to be saved in several.
fn advice(excess: u64, trouble: &Trouble) -> String {
    let mut ways = Vec::new();
    if !trouble.halve.is_empty() {
        ways.push(format!("halve {}", listed(&trouble.halve)));
    }
    if !trouble.remove.is_empty() {
        ways.push(format!("remove {}", listed(&trouble.remove)));
    }
    if !trouble.end_earlier.is_empty() {
        let peak = trouble.joined.as_ref().map_or("the peak".to_owned(), |tile| format!("`{}` is written", tile.name));
        ways.push(format!("make the last use of {} come before {peak}", listed(&trouble.end_earlier)));
    }
    if ways.is_empty() {
        let largest = trouble.live.first();
        let example =
            largest.map_or(String::new(), |tile| format!(", for example `{}` ({})", tile.name, bytes(tile.bytes)));
        return format!(
            "Save at least {} there: make tiles smaller{example}, or use them for the last time earlier",
            bytes(excess)
        );
    }
    let choices = trouble.halve.len() + trouble.remove.len() + trouble.end_earlier.len();
    let fixes = if choices == 1 { "This" } else { "Any one of these" };
    format!("{fixes} fixes it: {}", ways.join("; "))
}

fn fragments(trouble: &Trouble) -> String {
    let Some((tiles, irreducible)) = &trouble.core else {
        return "The search did not find out which tiles are in each other's way".to_owned();
    };
    let names: Vec<String> = tiles.iter().map(|tile| format!("`{}`", tile.name)).collect();
    let without = if *irreducible { "; without any one of them, the others can" } else { "" };
    format!("{} cannot be placed together{without}", names.join(", "))
}

/// Use of a space by a plan; `packing` is what is known of other placements.
pub(super) fn space_use(
    machine: Machine,
    space: Space,
    used: u64,
    reserved: u64,
    peak: &Peak,
    packing: Option<&Packing>,
) -> SpaceUse {
    let capacity = machine.capacity(space);
    let exceeded = capacity.is_some_and(|capacity| used > capacity);
    let fit = match packing {
        _ if !exceeded => Fit::Fits,
        Some(packing) => packing.fit,
        None => Fit::Undecided,
    };
    let trouble = packing.and_then(|packing| packing.trouble.clone()).filter(|_| exceeded);
    // Of groups, alternatives of a branch count twice, but never in a plan that was made.
    let bound = packing.map_or(peak.bytes.saturating_add(reserved), |packing| packing.bound);
    SpaceUse {
        space,
        used,
        capacity,
        peak: bound.min(used),
        peak_at: trouble.as_ref().map_or(peak.at, |trouble| trouble.at),
        reserved,
        fit,
        best: packing.map_or(used, |packing| packing.best.min(used)),
        lower_bound: packing.map_or(bound, |packing| packing.lower_bound).min(used),
        trouble: trouble.map(Box::new),
        relaxed: Vec::new(),
        crossings: None,
        searching: exceeded && packing.is_some_and(|packing| packing.searching),
    }
}
