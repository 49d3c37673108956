//! Above each kernel: how full its memories are, which leads to its memory map, and a way to its C++. Where lenses stand is known
//! before anything is planned; what they say is found for one at a time.

use std::ops::Range;

use tilefit_pypto::printed::Match;
use tilefit_syntax::{TextRange, unparsed};

use crate::db::{self, Dumped};

use super::language::{Memory, View};
use super::{Context, PlacedUnit, confirmations, diagnostics, languages, missing_values};

/// A place for a lens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeLens {
    /// Bytes; the name of the kernel.
    pub range: TextRange,
    pub kind: LensKind,
    /// Of those of its kind at its place, from 0.
    pub nth: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LensKind {
    MemoryMap,
    GeneratedCode,
    Dump,
}

/// What a lens says and does. One that has nothing to say has no title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LensText {
    pub title: String,
    pub command: LensCommand,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LensCommand {
    ShowMemoryMap,
    ShowGeneratedCode,
    /// Writes what is missing into a comment above the kernel.
    AddMissingValues,
    OpenDump {
        path: String,
        /// From 0.
        line: usize,
    },
}

/// What a lens speaks of, and why that is not whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    /// By which it is known in other texts: its function with the names and the number of the kernels there.
    pub kernels: String,
    pub unfinished: Option<Unfinished>,
}

/// The first line, from 1, that keeps a kernel from being whole while it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfinished {
    Unparsed {
        line: usize,
    },
    /// It parses, and is not understood where the newest edit was: `pl.add()`, `pl.loa`.
    Edited {
        line: usize,
    },
}

/// As many different kernels at one place are told apart; of more, which many calls make of one scope, the fullest is shown for all.
const APART: usize = 4;

/// The kernels of a unit whose names stand at one place.
struct Group {
    range: TextRange,
    /// Of those that stand in the unit.
    kernels: Range<usize>,
}

fn groups(context: &Context<'_>, placed: &PlacedUnit<'_>) -> Vec<Group> {
    let declared = languages::declared(context, placed.unit);
    let mut groups = Vec::new();
    let mut next = 0;
    for here in declared.chunk_by(|a, b| placed.range(a.at) == placed.range(b.at)) {
        groups.push(Group { range: placed.range(here[0].at), kernels: next..next + here.len() });
        next += here.len();
    }
    groups
}

/// Where lenses stand, in text order.
pub(crate) fn code_lenses(context: &Context<'_>) -> Vec<CodeLens> {
    if !context.config().code_lens {
        return Vec::new();
    }
    context.units().flat_map(|placed| of_unit(context, &placed)).collect()
}

fn of_unit(context: &Context<'_>, placed: &PlacedUnit<'_>) -> Vec<CodeLens> {
    let mut lenses: Vec<CodeLens> = Vec::new();
    let mut add = |range, kind| {
        let nth = lenses.iter().filter(|lens| lens.range == range && lens.kind == kind).count();
        lenses.push(CodeLens { range, kind, nth });
    };
    let has_code = languages::of(context, placed.unit).generates_code(context, placed.unit);
    for group in groups(context, placed) {
        add(group.range, LensKind::MemoryMap);
        if has_code {
            add(group.range, LensKind::GeneratedCode);
        }
        dumps(context, placed, &group).iter().for_each(|_| add(group.range, LensKind::Dump));
    }
    lenses
}

/// What a lens of [`code_lenses`] says; `None` where the text has none any longer.
pub(crate) fn code_lens(context: &Context<'_>, lens: CodeLens) -> Option<LensText> {
    let at = TextRange::empty(lens.range.start);
    let placed = context.units_in(at).find(|placed| of_unit(context, placed).contains(&lens))?;
    match lens.kind {
        LensKind::MemoryMap => {
            let Group { kernels, .. } = group_of(context, &placed, &lens)?;
            let kernels = languages::of(context, placed.unit).kernels_of(context, placed.unit, kernels);
            let title = fill(context, &placed, &kernels);
            if !title.is_empty() {
                let is_sampled = kernels.iter().flatten().any(|kernel| kernel.is_sampled(context, &placed));
                let command = if is_sampled { LensCommand::AddMissingValues } else { LensCommand::ShowMemoryMap };
                return Some(LensText { title, command });
            }
            if let Some(title) = missing_values::missing(context, &placed, &kernels, false) {
                return Some(LensText { title, command: LensCommand::AddMissingValues });
            }
            let title = missing_values::obstacle(context, &placed, &kernels, false).unwrap_or_default();
            Some(LensText { title, command: LensCommand::ShowMemoryMap })
        }
        LensKind::GeneratedCode => {
            Some(LensText { title: "show generated C++".to_owned(), command: LensCommand::ShowGeneratedCode })
        }
        LensKind::Dump => {
            let groups = groups(context, &placed).into_iter().filter(|group| group.range == lens.range);
            let mut dumps = groups.flat_map(|group| dumps(context, &placed, &group));
            dumps.nth(lens.nth).map(|dumped| open_dump(context, dumped))
        }
    }
}

/// What is said of the kernels of each line of a cell, both from 1: how full their memories are, else what they lack.
pub(crate) fn in_words(context: &Context<'_>) -> Vec<((Option<usize>, usize), String)> {
    let mut found = Vec::new();
    for placed in context.units() {
        for Group { range, kernels } in groups(context, &placed) {
            let kernels = languages::of(context, placed.unit).kernels_of(context, placed.unit, kernels);
            let filled = Some(fill(context, &placed, &kernels)).filter(|filled| !filled.is_empty());
            let said = filled.or_else(|| missing_values::missing(context, &placed, &kernels, true));
            let said = said.or_else(|| missing_values::obstacle(context, &placed, &kernels, true));
            let place = (context.cell(placed.start), context.line(range.start));
            found.extend(said.map(|said| (place, said)));
        }
    }
    found
}

/// What a lens for a memory map speaks of, and whether that is whole; `edited` is where the newest edit was.
pub(crate) fn spoken(context: &Context<'_>, lens: CodeLens, edited: Option<usize>) -> Option<Spoken> {
    let at = TextRange::empty(lens.range.start);
    let placed = context.units_in(at).find(|placed| of_unit(context, placed).contains(&lens))?;
    let Group { kernels, .. } = group_of(context, &placed, &lens)?;
    let declared = languages::declared(context, placed.unit);
    let names: Vec<&str> = declared[kernels].iter().map(|kernel| kernel.name).collect();
    let kernels = context.qualified_name(placed.unit, &format!("{} of {}", names.join(", "), declared.len()));
    Some(Spoken { kernels, unfinished: unfinished(context, &placed, edited) })
}

fn unfinished(context: &Context<'_>, placed: &PlacedUnit<'_>, edited: Option<usize>) -> Option<Unfinished> {
    let unparsed = db::unparsed(context.db, placed.unit).iter().map(|note| placed.range(note.at).start).min();
    if let Some(start) = unparsed {
        return Some(Unfinished::Unparsed { line: context.line(start) });
    }
    let edited = edited.filter(|&at| placed.start <= at && at <= placed.start + placed.len)?;
    let line = unparsed::line_around(context.text_of(placed), edited - placed.start).shifted(placed.start);
    let is_edited = |range: TextRange| line.start <= range.start && range.start <= line.end;
    let is_understood = !diagnostics::not_understood(context, placed).into_iter().any(is_edited);
    (!is_understood).then(|| Unfinished::Edited { line: context.line(line.start) })
}

fn group_of(context: &Context<'_>, placed: &PlacedUnit<'_>, lens: &CodeLens) -> Option<Group> {
    groups(context, placed).into_iter().filter(|group| group.range == lens.range).nth(lens.nth)
}

fn dumps<'db>(context: &Context<'db>, placed: &PlacedUnit<'db>, group: &Group) -> Vec<&'db Dumped<'db>> {
    languages::of(context, placed.unit).dumps(context, placed.unit, group.kernels.clone())
}

fn open_dump(context: &Context<'_>, dumped: &Dumped<'_>) -> LensText {
    let (db, dump) = (context.db, dumped.dump);
    let document = dump.document(db);
    let position = db::units(db, dump).iter().position(|unit| *unit == dumped.unit);
    let start = position.and_then(|position| document.blocks().get(position)).map_or(0, |block| block.start);
    let line = document.rope().byte_to_line(start.min(document.len()));
    let title = if dumped.matches == Match::Older { "open dump (of other text)" } else { "open dump" };
    let command = LensCommand::OpenDump { path: dump.path(db).clone(), line };
    LensText { title: title.to_owned(), command }
}

/// Of a kernel all memories, of many different ones those of the fullest.
fn fill(context: &Context<'_>, placed: &PlacedUnit<'_>, kernels: &[Vec<View<'_>>]) -> String {
    let percent =
        |memory: Memory| memory.capacity.map_or(0, |capacity| memory.used.low().saturating_mul(100) / capacity.max(1));
    let fullness = |parts: &[View<'_>]| parts.iter().flat_map(|part| part.memories()).map(percent).max().unwrap_or(0);
    let text = |parts: &[View<'_>]| match parts {
        [] => "not modelled".to_owned(),
        parts => {
            let part = |part: &View<'_>| {
                let said = part.fill(context, placed);
                let beside = other_devices(context, placed);
                let text = said + &beside + &confirmations::mark(context, placed, &**part);
                text.trim_start_matches([' ', '·']).to_owned()
            };
            parts.iter().map(part).collect::<Vec<_>>().join("  ")
        }
    };
    // Calls with equal shapes make equal kernels.
    let mut titles: Vec<String> = Vec::new();
    for parts in kernels {
        let title = text(parts);
        if !titles.contains(&title) {
            titles.push(title);
        }
    }
    if titles.len() <= APART {
        return titles.join("  |  ");
    }
    let fullest = kernels.iter().max_by_key(|parts| fullness(parts)).map_or_else(String::new, |parts| text(parts));
    format!("{} kernels, the fullest: {fullest}", kernels.len())
}

/// `; 4 do not fit sm_86` for each device that the author asks about and that does not hold all; empty otherwise.
fn other_devices(context: &Context<'_>, placed: &PlacedUnit<'_>) -> String {
    if context.config().devices.is_empty() {
        return String::new();
    }
    let Some(table) = db::configurations_of(context.db, placed.unit) else { return String::new() };
    let others = table.devices.iter().enumerate().skip(1).filter_map(|(nth, device)| {
        let exceeds =
            table.rows.iter().filter_map(|row| row.cells[nth].as_ref()).filter(|cell| cell.verdict.name() == "exceeds");
        let count = exceeds.count();
        match (count, table.rows.len()) {
            (0, _) => None,
            (_, 1) => Some(format!(" · does not fit {device}")),
            (1, _) => Some(format!(" · 1 does not fit {device}")),
            (count, _) => Some(format!(" · {count} do not fit {device}")),
        }
    });
    others.collect()
}
