//! Above each kernel: how full its memories are, which leads to its memory map, and a way to its C++. Where lenses stand is known
//! before anything is planned; what they say is found for one at a time.

use tilefit_syntax::TextRange;

use crate::db::{self, Dumped, Outcome};
use crate::memory::{Plan, SpaceUse, Status};
use crate::printed::Match;

use super::{Context, PlacedUnit, layout, tlx};

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

/// What a lens says and does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LensText {
    pub title: String,
    pub command: LensCommand,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LensCommand {
    ShowMemoryMap,
    ShowGeneratedCode,
    OpenDump {
        path: String,
        /// From 0.
        line: usize,
    },
}

/// As many different kernels at one place are told apart; of more, which many calls make of one scope, the fullest stands for all.
const APART: usize = 4;

/// The kernels of a unit whose names stand at one place.
struct Group {
    range: TextRange,
    /// Of the kernels of the unit.
    kernels: std::ops::Range<usize>,
}

fn groups(context: &Context<'_>, placed: &PlacedUnit<'_>) -> Vec<Group> {
    let (db, unit) = (context.db, placed.unit);
    let mut names: Vec<_> = db::source_kernels(db, unit).map(|kernel| kernel.name_origin).collect();
    if names.is_empty() {
        // Printed ones have a plan, which is only read.
        names = context.plans(unit).iter().filter_map(|outcome| Some(outcome.plan()?.name_origin)).collect();
    }
    let mut groups = Vec::new();
    let mut next = 0;
    for here in names.chunk_by(|a, b| placed.range(*a) == placed.range(*b)) {
        groups.push(Group { range: placed.range(here[0]), kernels: next..next + here.len() });
        next += here.len();
    }
    groups
}

/// The plans of each kernel of a group, two where it works on both cores; with their index among those of the unit.
fn plans<'db>(context: &Context<'db>, placed: &PlacedUnit<'db>, group: &Group) -> Vec<Vec<(usize, &'db Plan)>> {
    let (db, unit) = (context.db, placed.unit);
    let standing = db::source_kernel_ids(db, unit);
    let count = |kernel: usize| match standing.get(kernel) {
        Some(&(host, index)) => db::planned(db, host, index, context.settings).len(),
        None => 1,
    };
    let mut first: usize = (0..group.kernels.start).map(count).sum();
    let of_kernel = |kernel| {
        let from = first;
        first += count(kernel);
        let all = context.plans(unit).iter().enumerate().take(first).skip(from);
        all.filter_map(|(index, outcome)| Some((index, Outcome::plan(outcome)?))).collect()
    };
    group.kernels.clone().map(of_kernel).collect()
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
    if let Some(kernel) = context.tlx(placed.unit) {
        add(placed.range(kernel.kernel.name_origin), LensKind::MemoryMap);
    }
    let has_code = !db::source_kernel_ids(context.db, placed.unit).is_empty();
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
            let tlx = context.tlx(placed.unit).map(|kernel| tlx::lens_title(context, &placed, kernel));
            let title = tlx.or_else(|| Some(fill(&plans(context, &placed, &group_of(context, &placed, &lens)?))))?;
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

fn group_of(context: &Context<'_>, placed: &PlacedUnit<'_>, lens: &CodeLens) -> Option<Group> {
    groups(context, placed).into_iter().filter(|group| group.range == lens.range).nth(lens.nth)
}

/// The dumps of the plans of a group. Without dumps, nothing is planned.
fn dumps<'db>(context: &Context<'db>, placed: &PlacedUnit<'db>, group: &Group) -> Vec<&'db Dumped<'db>> {
    let dumps = context.dumped(placed.unit);
    if dumps.is_empty() {
        return Vec::new();
    }
    let plans = plans(context, placed, group).into_iter().flatten();
    plans.filter_map(|(index, _)| dumps.get(index)?.as_ref()).collect()
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
fn fill(kernels: &[Vec<(usize, &Plan)>]) -> String {
    let percent =
        |space: &SpaceUse| space.capacity.map_or(0, |capacity| space.used.saturating_mul(100) / capacity.max(1));
    let fullness =
        |plans: &[(usize, &Plan)]| plans.iter().flat_map(|(_, plan)| &plan.spaces).map(percent).max().unwrap_or(0);
    let text = |plans: &[(usize, &Plan)]| match plans {
        [] => "not modelled".to_owned(),
        both => both.iter().map(|(_, plan)| title(plan)).collect::<Vec<_>>().join("  "),
    };
    // Calls with equal shapes make equal kernels.
    let mut titles: Vec<String> = Vec::new();
    for plans in kernels {
        let title = text(plans);
        if !titles.contains(&title) {
            titles.push(title);
        }
    }
    if titles.len() <= APART {
        return titles.join("  |  ");
    }
    let fullest = kernels.iter().max_by_key(|plans| fullness(plans)).map_or_else(String::new, |plans| text(plans));
    format!("{} kernels, the fullest: {fullest}", kernels.len())
}

fn title(plan: &Plan) -> String {
    let spaces: Vec<_> = plan.spaces.iter().map(bar).collect();
    match (plan.status, spaces.is_empty()) {
        (Status::NotModelled, _) => "not modelled".to_owned(),
        (_, true) => "no tiles".to_owned(),
        (Status::Partial, _) => format!("{} · partly modelled", spaces.join("  ")),
        (Status::Rejected, _) => format!("{} · rejected", spaces.join("  ")),
        (Status::Predicted, _) => format!("{} · predicted", spaces.join("  ")),
        (Status::Exact, _) => spaces.join("  "),
    }
}

/// `Vec ███░░░░░ 36 %`, or the bytes where the target has no limit.
fn bar(space: &SpaceUse) -> String {
    const CELLS: u64 = 8;
    let Some(capacity) = space.capacity.filter(|&capacity| capacity > 0) else {
        return format!("{} {}", space.space, layout::bytes(space.used));
    };
    let filled = space.used.saturating_mul(CELLS).div_ceil(capacity).min(CELLS) as usize;
    let percent = space.used.saturating_mul(100).div_ceil(capacity);
    format!("{} {}{} {percent} %", space.space, "█".repeat(filled), "░".repeat(CELLS as usize - filled))
}
