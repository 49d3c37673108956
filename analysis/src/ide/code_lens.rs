//! Above each kernel: how full its memories are, which leads to its memory map, and a way to its C++.

use tilelens_syntax::TextRange;

use crate::db::{self, Dumped, Match, Outcome};
use crate::memory::{Plan, SpaceUse, Status};

use super::{Context, layout, tlx};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeLens {
    /// Bytes; the name of the kernel.
    pub range: TextRange,
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

/// As many different kernels at one place have lenses of their own; of more, which many calls make of one scope, the fullest stands
/// for all.
const APART: usize = 4;

struct Kernel<'p> {
    /// Among the kernels of its unit.
    index: usize,
    outcome: &'p Outcome,
    plan: &'p Plan,
    range: TextRange,
}

fn fullest(kernels: &[Kernel<'_>]) -> Option<usize> {
    let percent =
        |space: &SpaceUse| space.capacity.map_or(0, |capacity| space.used.saturating_mul(100) / capacity.max(1));
    let fill = |kernel: &Kernel<'_>| kernel.plan.spaces.iter().map(percent).max().unwrap_or(0);
    (0..kernels.len()).max_by_key(|&at| fill(&kernels[at]))
}

pub(crate) fn code_lenses(context: &Context<'_>) -> Vec<CodeLens> {
    let mut lenses = Vec::new();
    if !context.config().code_lens {
        return lenses;
    }
    for placed in context.units() {
        lenses.extend(context.tlx(placed.unit).map(|kernel| tlx::code_lens(context, &placed, kernel)));
        let planned = context.plans(placed.unit).iter().enumerate();
        let at = |(index, outcome)| {
            let plan = Outcome::plan(outcome)?;
            Some(Kernel { index, outcome, plan, range: placed.range(plan.name_origin) })
        };
        let kernels: Vec<_> = planned.filter_map(at).collect();
        for here in kernels.chunk_by(|a, b| a.range == b.range) {
            let mut titles: Vec<String> = here.iter().map(|kernel| title(kernel.plan)).collect();
            // Calls with equal shapes make equal kernels.
            let first_of_kind = |at: &usize| !titles[..*at].contains(&titles[*at]);
            let mut shown: Vec<usize> = (0..here.len()).filter(first_of_kind).collect();
            if shown.len() > APART {
                shown = fullest(here).into_iter().collect();
                shown
                    .iter()
                    .for_each(|&at| titles[at] = format!("{} kernels, the fullest: {}", here.len(), titles[at]));
            }
            for at in shown {
                let (Kernel { index, outcome, range, .. }, title) = (&here[at], std::mem::take(&mut titles[at]));
                let range = *range;
                lenses.push(CodeLens { range, title, command: LensCommand::ShowMemoryMap });
                if matches!(outcome, Outcome::Planned(_)) {
                    let title = "show generated C++".to_owned();
                    lenses.push(CodeLens { range, title, command: LensCommand::ShowGeneratedCode });
                }
                let dumped = context.dumped(placed.unit).get(*index).and_then(Option::as_ref);
                lenses.extend(dumped.map(|dumped| open_dump(context, range, dumped)));
            }
        }
    }
    lenses
}

fn open_dump(context: &Context<'_>, range: TextRange, dumped: &Dumped<'_>) -> CodeLens {
    let (db, dump) = (context.db, dumped.dump);
    let document = dump.document(db);
    let position = db::units(db, dump).iter().position(|unit| *unit == dumped.unit);
    let start = position.and_then(|position| document.blocks().get(position)).map_or(0, |block| block.start);
    let line = document.rope().byte_to_line(start.min(document.len()));
    let title = if dumped.matches == Match::Older { "open dump (of other text)" } else { "open dump" };
    let command = LensCommand::OpenDump { path: dump.path(db).clone(), line };
    CodeLens { range, title: title.to_owned(), command }
}

fn title(plan: &Plan) -> String {
    let spaces: Vec<_> = plan.spaces.iter().map(bar).collect();
    match (plan.status, spaces.is_empty()) {
        (Status::NotModelled, _) => "not modelled".to_owned(),
        (_, true) => "no tiles".to_owned(),
        (Status::Partial, _) => format!("{} · partly modelled", spaces.join("  ")),
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
