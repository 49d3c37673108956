//! The memory map of a kernel: which bytes of each memory space belong to whom, from the first statement to the last.
//!
//! The map is plain data; [`svg`], [`html`] and [`text`] draw it.

pub mod html;
mod legend;
pub mod scale;
pub(in crate::ide) mod steps;
pub mod svg;
#[cfg(test)]
mod tests;
pub mod text;

use serde::Serialize;
use tilefit_pypto::target::{Planner, Target};
use tilefit_syntax::TextRange;

use crate::project::Config;

use super::confirmation::Confirmation;
use super::formatting::{amount, exact_amount, over, range, rounded_amount, shape};

/// Addresses run across, and the rows of [`steps`](MemoryMap::steps) down. `At` is how a place in the source is told: bytes here, an LSP range on the wire.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryMap<At = TextRange> {
    /// `Program.kernel`
    pub kernel: String,
    /// Of the kernel's name, from 1.
    pub line: usize,
    /// The whole kernel.
    pub range: At,
    pub target: &'static str,
    pub planner: &'static str,
    /// `exact`, `partial` or `not-modelled`.
    pub status: &'static str,
    /// Why the status is not `exact`.
    pub reasons: Vec<String>,
    /// What the author's compiler said of it, where it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmation: Option<Confirmation>,
    pub down: Down,
    pub steps: Vec<Step>,
    pub spaces: Vec<SpaceMap<At>>,
}

/// What a map shows beside what all features know of its kernel.
pub(crate) struct Drawing {
    pub(crate) down: Down,
    pub(crate) steps: Vec<Step>,
    pub(crate) spaces: Vec<SpaceMap>,
}

/// Rows that belong to one statement, or to one allocation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// In the source, from 1.
    pub line: usize,
    /// How many; never none.
    pub rows: usize,
    /// Where the statement is copied, with the body of a loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copy: Option<CopyMark>,
}

/// Which copy of a loop's body something belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CopyMark {
    /// `2/4`
    pub short: String,
    /// `stage 2 of 4`
    pub words: String,
}

/// What runs down a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Down {
    /// A row for each statement at which a tile begins or ends, or more where one tile takes the place of another within it.
    Time,
    /// A row for each allocation. They all live as long as the kernel, and are drawn one after the other: the compiler decides
    /// about offsets inside of a spec, and not here about where a spec lies.
    Allocations,
}

/// One memory space. Amounts and addresses are in [`unit`](SpaceMap::unit).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SpaceMap<At = TextRange> {
    pub name: &'static str,
    /// `bytes`, or `columns` of tensor memory.
    pub unit: &'static str,
    /// Bytes of one unit, for drawing all spaces in one scale.
    pub unit_bytes: u64,
    /// `None`: no limit is known.
    pub capacity: Option<u64>,
    /// The first address above everything.
    pub used: u64,
    /// The compiler may add to it.
    pub at_least: bool,
    /// A prefix that the runtime keeps for itself.
    pub reserved: u64,
    /// Buffers of which no address is known. They are in no picture.
    pub unplaced: usize,
    /// Most that is live at once; no placement can use less.
    pub peak: u64,
    pub peak_row: Option<usize>,
    /// In use at the peak by the addresses, and by nothing that is live: `used` less `peak`.
    pub waste: u64,
    /// Of any planner: `fits`, `over-capacity`, `fragmented` or `undecided`; `None` where nothing packs.
    pub verdict: Option<&'static str>,
    /// Addresses below the capacity that nothing ever uses.
    pub free: Vec<[u64; 2]>,
    pub buffers: Vec<BufferMap<At>>,
}

/// A range of addresses that some tiles share, by turns or as views of each other.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BufferMap<At = TextRange> {
    pub name: String,
    pub kind: BufferKind,
    pub address: u64,
    pub size: u64,
    /// How far it reaches beyond the capacity.
    pub overflow: u64,
    pub boxes: Vec<BoxMap<At>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum BufferKind {
    ReuseGroup,
    /// By the author of the kernel, or of a dump.
    Declared,
    /// A storage alias spec.
    Spec,
    /// Memory of its own, without a spec.
    Allocation,
}

impl BufferKind {
    pub fn words(self) -> &'static str {
        match self {
            BufferKind::ReuseGroup => "reuse group",
            BufferKind::Declared => "declared allocation",
            BufferKind::Spec => "spec",
            BufferKind::Allocation => "allocation",
        }
    }
}

/// One value in a buffer, for the rows in which it is needed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BoxMap<At = TextRange> {
    pub first_row: usize,
    /// After the last one.
    pub end_row: usize,
    /// The addresses that it takes, in order.
    pub ranges: Vec<[u64; 2]>,
    /// The addresses of its buffer that it leaves unused.
    pub waste: Vec<[u64; 2]>,
    /// The names that it has; they are views of each other, or carried on. Never empty.
    pub tiles: Vec<TileMap<At>>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TileMap<At = TextRange> {
    pub name: String,
    /// The name that the source gives: the author's, or that of the statement that the compiler makes the tile for, with what it is there.
    pub label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copy: Option<CopyMark>,
    /// Where it is defined.
    pub range: At,
    pub first_line: usize,
    pub last_line: usize,
    pub shape: Vec<u64>,
    pub dtype: &'static str,
    /// In the unit of the space.
    pub size: u64,
    /// By a pass of the compiler.
    pub inserted: bool,
}

/// Another target or planner than the settings say, to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Trial {
    pub target: Option<Target>,
    pub planner: Option<Planner>,
}

/// The kernels of one function: one, or one for each core that it is split between.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryMaps {
    pub maps: Vec<MemoryMap>,
    /// What the settings come to; under a trial that is something else.
    pub settings: Vec<Totals>,
}

/// The use of memory by a kernel, in short.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Totals {
    pub kernel: String,
    pub target: &'static str,
    pub planner: &'static str,
    pub spaces: Vec<SpaceTotal>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SpaceTotal {
    pub name: &'static str,
    pub unit: &'static str,
    pub used: u64,
    pub capacity: Option<u64>,
}

impl Trial {
    pub(super) fn config(self, settings: &Config) -> Config {
        let mut config = settings.clone();
        config.target = self.target.unwrap_or(config.target);
        config.planner = self.planner.unwrap_or(config.planner);
        config
    }
}

impl MemoryMaps {
    /// The use of each memory before and after, one line a memory: `Left 64 KiB → 96 KiB of 64 KiB`. None without a trial.
    pub fn changes(&self, trial: Trial) -> Vec<String> {
        if trial == Trial::default() {
            return Vec::new();
        }
        let after: Vec<_> = self.maps.iter().map(Totals::of).collect();
        let spaces = || self.settings.iter().chain(&after).flat_map(|totals| &totals.spaces);
        let mut names: Vec<&str> = Vec::new();
        for space in spaces().filter(|space| space.used > 0) {
            if !names.contains(&space.name) {
                names.push(space.name);
            }
        }
        let of = |totals: &[Totals], name: &str| -> Vec<SpaceTotal> {
            totals.iter().flat_map(|totals| &totals.spaces).filter(|space| space.name == name).cloned().collect()
        };
        names.iter().map(|name| change(name, &of(&self.settings, name), &of(&after, name))).collect()
    }
}

/// Each side has one total for each kernel that has the memory.
fn change(name: &str, before: &[SpaceTotal], after: &[SpaceTotal]) -> String {
    let list = |totals: &[SpaceTotal], word: fn(&SpaceTotal) -> String| {
        let words: Vec<_> = totals.iter().map(word).collect();
        if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
    };
    if before == after {
        return format!("{name} {}, as before", list(after, SpaceTotal::of_capacity));
    }
    let capacities = |totals: &[SpaceTotal]| -> Vec<_> { totals.iter().map(|total| total.capacity).collect() };
    let from = match capacities(before) == capacities(after) && after.len() == 1 {
        true => list(before, SpaceTotal::amount),
        false => list(before, SpaceTotal::of_capacity),
    };
    format!("{name} {from} → {}", list(after, SpaceTotal::of_capacity))
}

impl SpaceTotal {
    fn amount(&self) -> String {
        amount(self.used, self.unit)
    }

    fn of_capacity(&self) -> String {
        let capacity = self.capacity.map_or_else(|| "no known limit".to_owned(), |it| amount(it, self.unit));
        format!("{} of {capacity}", self.amount())
    }
}

impl Totals {
    pub(super) fn of(map: &MemoryMap) -> Totals {
        let spaces = map.spaces.iter().map(|space| SpaceTotal {
            name: space.name,
            unit: space.unit,
            used: space.used,
            capacity: space.capacity,
        });
        Totals { kernel: map.kernel.clone(), target: map.target, planner: map.planner, spaces: spaces.collect() }
    }
}

impl<At> MemoryMap<At> {
    fn rows(&self) -> usize {
        self.steps.iter().map(|step| step.rows).sum()
    }

    /// What there is to each box, a line each, in the order of their numbers.
    pub fn details(&self) -> Vec<Vec<String>> {
        let of_space = |space: &SpaceMap<At>| -> Vec<_> {
            space.boxes().map(|(buffer, each)| buffer.details(each, space)).collect()
        };
        self.spaces.iter().flat_map(of_space).collect()
    }

    /// The memories of which it is known what lies where. One without would look free.
    fn drawn(&self) -> impl Iterator<Item = &SpaceMap<At>> {
        self.spaces.iter().filter(|space| space.reserved > 0 || !space.buffers.is_empty())
    }

    /// The same map with places told in another way.
    pub fn located<Other>(self, place: &impl Fn(At) -> Other) -> MemoryMap<Other> {
        let MemoryMap { kernel, line, range, target, planner, status, reasons, confirmation, down, steps, spaces } =
            self;
        let (range, spaces) = (place(range), spaces.into_iter().map(|space| space.located(place)).collect());
        MemoryMap { kernel, line, range, target, planner, status, reasons, confirmation, down, steps, spaces }
    }
}

impl<At> SpaceMap<At> {
    fn located<Other>(self, place: &impl Fn(At) -> Other) -> SpaceMap<Other> {
        let tile = |tile: TileMap<At>| {
            let TileMap { name, label, copy, range, first_line, last_line, shape, dtype, size, inserted } = tile;
            let range = place(range);
            TileMap { name, label, copy, range, first_line, last_line, shape, dtype, size, inserted }
        };
        let boxed = |BoxMap { first_row, end_row, ranges, waste, tiles }: BoxMap<At>| {
            let tiles = tiles.into_iter().map(tile).collect();
            BoxMap { first_row, end_row, ranges, waste, tiles }
        };
        let buffers = self.buffers.into_iter().map(|BufferMap { name, kind, address, size, overflow, boxes }| {
            let boxes = boxes.into_iter().map(boxed).collect();
            BufferMap { name, kind, address, size, overflow, boxes }
        });
        SpaceMap {
            name: self.name,
            unit: self.unit,
            unit_bytes: self.unit_bytes,
            capacity: self.capacity,
            used: self.used,
            at_least: self.at_least,
            reserved: self.reserved,
            unplaced: self.unplaced,
            peak: self.peak,
            peak_row: self.peak_row,
            waste: self.waste,
            verdict: self.verdict,
            free: self.free,
            buffers: buffers.collect(),
        }
    }

    fn is_over(&self) -> bool {
        self.capacity.is_some_and(|capacity| self.used > capacity)
    }

    /// Boxes with their buffers, in the order in which pictures number them.
    fn boxes(&self) -> impl Iterator<Item = (&BufferMap<At>, &BoxMap<At>)> {
        self.buffers.iter().flat_map(|buffer| buffer.boxes.iter().map(move |each| (buffer, each)))
    }
}

impl<At> BoxMap<At> {
    /// `gate ·2/4, gate_row (+2)`: the author's names, and others where there is none.
    fn title(&self) -> String {
        self.names(true)
    }

    /// As much of the title as `fits`; what is cut off last is the name.
    fn label(&self, fits: impl Fn(&str) -> bool) -> String {
        let whole = self.title();
        if fits(&whole) { whole } else { self.names(false) }
    }

    fn names(&self, with_copies: bool) -> String {
        const NAMES: usize = 3;
        let mut names: Vec<(&str, Option<&CopyMark>)> = Vec::new();
        for tile in self.shown() {
            match names.iter_mut().find(|(name, _)| *name == tile.label) {
                // What several copies carry on is of none.
                Some((_, copy)) if *copy != tile.copy.as_ref() => *copy = None,
                Some(_) => {}
                None => names.push((&tile.label, tile.copy.as_ref())),
            }
        }
        let more = names.len().saturating_sub(NAMES);
        let more = if more == 0 { String::new() } else { format!(" (+{more})") };
        let words = names.iter().take(NAMES).map(|(name, copy)| match copy {
            Some(copy) if with_copies => format!("{name} ·{}", copy.short),
            _ => (*name).to_owned(),
        });
        format!("{}{more}", words.collect::<Vec<_>>().join(", "))
    }

    /// The tiles that name a box: the author's, where there are any.
    fn shown(&self) -> impl Iterator<Item = &TileMap<At>> {
        let any_of_author = self.tiles.iter().any(|tile| !tile.inserted);
        self.tiles.iter().filter(move |tile| !any_of_author || !tile.inserted)
    }

    /// The copy of a loop's body that all of it belongs to.
    fn copy(&self) -> Option<&CopyMark> {
        let first = self.shown().next()?.copy.as_ref()?;
        self.shown().all(|tile| tile.copy.as_ref() == Some(first)).then_some(first)
    }

    /// The names of the compiler's own tiles.
    fn made_by_compiler(&self) -> Option<String> {
        const NAMES: usize = 6;
        let mut names: Vec<&str> = Vec::new();
        for tile in self.tiles.iter().filter(|tile| tile.inserted) {
            if !names.contains(&tile.name.as_str()) {
                names.push(&tile.name);
            }
        }
        let more = names.len().saturating_sub(NAMES);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        names.truncate(NAMES);
        (!names.is_empty()).then(|| format!("made by the compiler: {}{more}", names.join(", ")))
    }

    fn size(&self) -> u64 {
        self.ranges.iter().map(|[start, end]| end - start).sum()
    }

    fn lines(&self) -> (usize, usize) {
        let first = self.tiles.iter().map(|tile| tile.first_line).min().unwrap_or(1);
        (first, self.tiles.iter().map(|tile| tile.last_line).max().unwrap_or(first))
    }
}

impl<At> BufferMap<At> {
    /// Everything about a box, a line each: the tooltip, and what a screen reader says.
    fn details(&self, each: &BoxMap<At>, space: &SpaceMap<At>) -> Vec<String> {
        let end = |range: Option<&[u64; 2]>, index: usize| range.map_or(self.address, |range| range[index]);
        let (start, stop) = (end(each.ranges.first(), 0), end(each.ranges.last(), 1));
        let mut lines = vec![each.title()];
        if let Some(copy) = each.copy() {
            lines.push(copy.words.clone());
        }
        let (size, at) = (exact_amount(each.size(), space.unit), range(start, stop, space.unit));
        lines.push(format!("{} {at}, {size}", space.name));
        let (first, last) = each.lines();
        let live =
            if first == last { format!("live in line {first}") } else { format!("live in lines {first} to {last}") };
        let shape = each.shown().next().map(|tile| format!("{} {}, {live}", shape(&tile.shape), tile.dtype));
        lines.push(shape.unwrap_or(live));
        let wasted: u64 = each.waste.iter().map(|[start, end]| end - start).sum();
        let of = format!("{} {}", self.kind.words(), self.name);
        lines.push(match wasted {
            0 => of,
            _ => format!("{of}, of which it leaves {} unused", exact_amount(wasted, space.unit)),
        });
        if let Some(capacity) = space.capacity.filter(|&capacity| stop > capacity) {
            lines.push(format!("{} over the capacity", exact_amount(stop - capacity.max(start), space.unit)));
        }
        lines.extend(each.made_by_compiler());
        lines
    }
}

/// `Vec 192 KiB of 184 KiB, 8 KiB over`: the heading of a space in every picture.
fn heading<At>(space: &SpaceMap<At>) -> String {
    let mut text = headline(space);
    if space.waste > 0 {
        text += &format!(", {} unused at the peak", rounded_amount(space.waste, space.unit));
    }
    match space.unplaced {
        0 => {}
        1 => text += ", one buffer at an unknown address",
        more => text += &format!(", {more} buffers at unknown addresses"),
    }
    text
}

/// The same without what is unused.
fn headline<At>(space: &SpaceMap<At>) -> String {
    let of = |value| rounded_amount(value, space.unit);
    let used = format!("{} {}{}", space.name, if space.at_least { "at least " } else { "" }, of(space.used));
    let Some(capacity) = space.capacity else { return format!("{used}, no limit known") };
    let text = format!("{used} of {}", of(capacity));
    match over(space.used, capacity, space.unit) {
        Some(over) => format!("{text}, {over}"),
        None => text,
    }
}

/// What is left of `[from, to)` without `taken`, which is in any order.
pub(super) fn without(from: u64, to: u64, mut taken: Vec<[u64; 2]>) -> Vec<[u64; 2]> {
    taken.sort_unstable();
    let mut left = Vec::new();
    let mut at = from;
    for [start, end] in taken {
        if start.min(to) > at {
            left.push([at, start.min(to)]);
        }
        at = at.max(end);
    }
    if at < to {
        left.push([at, to]);
    }
    left
}

/// Ranges that touch or overlap become one.
pub(super) fn merged(mut ranges: Vec<[u64; 2]>) -> Vec<[u64; 2]> {
    ranges.retain(|[start, end]| start < end);
    ranges.sort_unstable();
    let mut merged: Vec<[u64; 2]> = Vec::new();
    for [start, end] in ranges {
        match merged.last_mut() {
            Some(last) if start <= last[1] => last[1] = last[1].max(end),
            _ => merged.push([start, end]),
        }
    }
    merged
}
