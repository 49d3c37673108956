//! The configurations of the kernels of a file: what each takes on each device, whether it fits, and how many blocks fit beside each other.

use std::collections::BTreeMap;

use serde::Serialize;
use tilefit_syntax::TextRange;

use crate::confirm::{FailureKind, Outcome, Question};
use crate::db::{self, Configuration, Configurations, Under, Verdict};
use crate::finding::Reason;
use crate::triton::device::Arch;
use crate::triton::scenario::Scenario;

use super::inlay_hints::InlayHint;
use super::traced;
use super::traced::scenarios::{display, refused};
use super::{Context, PlacedUnit};

/// What the configurations of one kernel come to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KernelConfigurations {
    pub kernel: String,
    /// Of a notebook, from 1; lines count in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<usize>,
    /// Of its name, from 1.
    pub line: usize,
    /// The kernel's own device first.
    pub devices: Vec<&'static str>,
    /// What nothing says and the numbers rest on; the device that is assumed is the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumes: Vec<String>,
    pub configurations: Vec<ConfigurationView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConfigurationView {
    /// The parameters and options that are not the same in all of them.
    pub values: BTreeMap<String, String>,
    /// The plan of the kernel and its errors are of this one.
    pub selected: bool,
    /// A way to give what the configuration before leaves open: written by nobody, and the compiler takes it.
    pub possible: bool,
    /// By device; `None`: too many others came before.
    pub on: Vec<Option<OnDevice>>,
}

/// A configuration on a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OnDevice {
    /// Bytes of shared memory, at least and at most; `None` where nothing bounds it.
    pub low: u64,
    pub high: Option<u64>,
    pub capacity: u64,
    /// Columns of tensor memory, at least.
    pub columns: u64,
    /// `fits`, `exceeds`, `depends` on what is given for what the file leaves open, `refused` by a `static_assert` or the compiler, or `unknown`.
    pub verdict: &'static str,
    /// Why it is not one number of bytes, or what the compiler refuses.
    pub reason: Option<String>,
    /// Blocks that the shared memory of a multiprocessor holds at once, at least.
    pub blocks: Option<u64>,
    /// The compiler says so, and it is among what tilefit says.
    pub confirmed: bool,
    /// What tilefit says, where the compiler was asked and says something that this rules out. All else here is the compiler's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicted: Option<Prediction>,
}

/// What tilefit says of a configuration that the compiler contradicts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Prediction {
    pub low: u64,
    pub high: Option<u64>,
    /// Of tensor memory, at least and at most.
    pub columns: (u64, Option<u64>),
    pub verdict: &'static str,
}

impl OnDevice {
    /// The compiler says something else than tilefit.
    pub fn is_contradicted(&self) -> bool {
        self.predicted.is_some()
    }
}

/// Of all kernels of a file that have any.
pub(crate) fn configurations(context: &Context<'_>) -> Vec<KernelConfigurations> {
    context.units().filter_map(|placed| of_unit(context, &placed)).collect()
}

pub(super) fn of_unit(context: &Context<'_>, placed: &PlacedUnit<'_>) -> Option<KernelConfigurations> {
    let table = db::configurations_of(context.db, placed.unit).as_ref()?;
    let standing = context.standing(placed.unit).into_iter().next()?;
    let names = differing(table);
    let view = |row: &Configuration, selected: bool, possible: bool| ConfigurationView {
        values: names.iter().map(|name| (name.clone(), value_of(&row.scenario, name).unwrap_or_default())).collect(),
        selected,
        possible,
        on: (0..table.devices.len()).map(|device| on_device(context, placed, table, row, device)).collect(),
    };
    let views = table.rows.iter().enumerate().flat_map(|(nth, row)| {
        let ways = row.ways.iter().map(|way| view(way, false, true));
        std::iter::once(view(row, nth == table.selected, false)).chain(ways)
    });
    Some(KernelConfigurations {
        kernel: context.qualified_name(placed.unit, standing.name),
        cell: context.cell(placed.start),
        line: context.line(placed.range(standing.at).start),
        devices: table.devices.iter().map(|device| device.name()).collect(),
        assumes: assumes(context, placed),
        configurations: views.collect(),
    })
}

/// What nothing says of a kernel and its numbers rest on.
fn assumes(context: &Context<'_>, placed: &PlacedUnit<'_>) -> Vec<String> {
    let of_tlx = db::tlx_kernel(context.db, placed.unit).as_ref().and_then(|kernel| kernel.traced.as_ref());
    let traced = of_tlx.or_else(|| Some(&db::jit_kernel(context.db, placed.unit).as_ref()?.traced));
    traced.map_or_else(Vec::new, traced::assumes)
}

pub(super) fn on_device(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    table: &Configurations,
    row: &Configuration,
    device: usize,
) -> Option<OnDevice> {
    let (arch, came_to) = (table.devices[device], row.cells[device].as_ref()?);
    let mut on = OnDevice {
        low: came_to.smem.0,
        high: came_to.smem.1,
        capacity: arch.smem(),
        columns: came_to.tmem.0,
        verdict: came_to.verdict.name(),
        reason: match &came_to.refusal {
            Some(refusal) => Some(refused(context, placed, refusal)),
            None => came_to.reason.as_ref().map(Reason::to_string),
        },
        blocks: None,
        confirmed: false,
        predicted: None,
    };
    let answers = context.file.answers(context.db);
    if !answers.is_empty()
        && let Some(Under { question, is_example }) = db::question_under(context.db, placed.unit, &row.scenario, arch)
        && let Some(answer) = answers.to(&question)
    {
        let prediction = || Prediction { low: on.low, high: on.high, columns: came_to.tmem, verdict: on.verdict };
        match &answer.outcome {
            Outcome::Shared(plan) => {
                let is_said =
                    |used: u64, (low, high): (u64, Option<u64>)| used >= low && high.is_none_or(|high| used <= high);
                let agrees = is_said(plan.shared, came_to.smem)
                    && (arch.tmem() == 0 || is_said(plan.tensor_columns, came_to.tmem))
                    && came_to.verdict != Verdict::Refused;
                // An example says nothing of what else may be given, but that it is wrong to rule it out.
                if agrees && is_example && !came_to.is_exact() {
                    return Some(with_blocks(on, arch));
                }
                on.predicted = (!agrees).then(prediction);
                on.confirmed = agrees;
                (on.low, on.high, on.columns) = (plan.shared, Some(plan.shared), plan.tensor_columns);
                let fits = plan.shared <= arch.smem() && plan.tensor_columns <= arch.tmem();
                on.verdict = if fits { "fits" } else { "exceeds" };
                on.reason = None;
            }
            Outcome::Failed { error } if error.kind == FailureKind::Refused => {
                let agrees = came_to.verdict == Verdict::Refused;
                if agrees || !is_example {
                    on.predicted = (!agrees).then(prediction);
                    on.confirmed = agrees;
                    on.verdict = Verdict::Refused.name();
                    on.reason = Some(error.message.clone());
                }
            }
            _ => {}
        }
    }
    Some(with_blocks(on, arch))
}

fn with_blocks(on: OnDevice, arch: Arch) -> OnDevice {
    OnDevice { blocks: on.high.filter(|_| on.verdict == "fits").map(|high| arch.blocks(high)), ..on }
}

/// What to ask the compiler of each configuration, on each device.
pub(super) fn questions(context: &Context<'_>, placed: &PlacedUnit<'_>) -> Vec<Question> {
    let Some(table) = db::configurations_of(context.db, placed.unit) else { return Vec::new() };
    // Of what is left open the compiler is asked each way.
    let rows = table.rows.iter().flat_map(|row| match row.ways.as_slice() {
        [] => std::slice::from_ref(row),
        ways => ways,
    });
    let all = rows.flat_map(|row| table.devices.iter().map(move |device| (row, *device)));
    let all = all.filter_map(|(row, device)| db::question_under(context.db, placed.unit, &row.scenario, device));
    all.map(|under| under.question).collect()
}

/// After each configuration that stands at a kernel by itself, what it takes on the kernel's device: the most of what its launches come to.
pub(super) fn hints(context: &Context<'_>, placed: &PlacedUnit<'_>, range: TextRange) -> Vec<InlayHint> {
    if !context.text_of(placed).contains("autotune") {
        return Vec::new();
    }
    let Some(table) = db::configurations_of(context.db, placed.unit) else { return Vec::new() };
    let mut hints = Vec::new();
    for (at, rows) in db::written_configurations(context.db, placed.unit) {
        let offset = placed.spans.expr(at).shifted(placed.start).end;
        let on = rows.iter().filter_map(|&nth| on_device(context, placed, table, &table.rows[nth], 0));
        let Some(most) = on.max_by_key(|on| (on.high.is_none(), on.high.unwrap_or(on.low))) else { continue };
        if offset < range.start || offset > range.end || (most.high.is_none() && most.low == 0) {
            continue;
        }
        let device = table.devices[0];
        let over = if most.verdict == "exceeds" { format!(", too much for {device}") } else { String::new() };
        let blocks = most.blocks.map_or(String::new(), |blocks| format!("; {blocks} at once on a multiprocessor"));
        let by = match &most.predicted {
            Some(predicted) => format!(", as the compiler says; predicted: {}", amount(predicted.low, predicted.high)),
            None if most.confirmed => ", as the compiler says".to_owned(),
            None => String::new(),
        };
        hints.push(InlayHint {
            offset,
            label: format!("{} B{over}", bytes(&most)),
            tooltip: format!("shared memory of a block on {device}, of {}{blocks}{by}", most.capacity),
            in_front: false,
            key: None,
        });
    }
    hints
}

fn bytes(on: &OnDevice) -> String {
    amount(on.low, on.high)
}

/// `98304`, `65536–98304`, `≥ 65536`
fn amount(low: u64, high: Option<u64>) -> String {
    match high {
        Some(high) if high == low => high.to_string(),
        Some(high) => format!("{low}–{high}"),
        None => format!("≥ {low}"),
    }
}

/// Parameters and options that do not have the same value everywhere.
fn differing<'t>(table: &'t Configurations) -> Vec<String> {
    let with_ways = |row: &'t Configuration| std::iter::once(row).chain(&row.ways).map(|it| &it.scenario);
    let scenarios = || table.rows.iter().flat_map(with_ways);
    let mut names: Vec<String> = scenarios().flat_map(|scenario| scenario.values.keys().cloned()).collect();
    names.extend(OPTIONS.iter().map(|(name, _)| (*name).to_owned()));
    names.sort();
    names.dedup();
    names.retain(|name| {
        let first = scenarios().next().and_then(|scenario| value_of(scenario, name));
        scenarios().any(|scenario| value_of(scenario, name) != first)
    });
    names
}

type OptionOf = fn(&Scenario) -> Option<u32>;

const OPTIONS: [(&str, OptionOf); 3] = [
    ("num_warps", |scenario| scenario.num_warps),
    ("num_stages", |scenario| scenario.num_stages),
    ("num_ctas", |scenario| scenario.num_ctas),
];

fn value_of(scenario: &Scenario, name: &str) -> Option<String> {
    let option = OPTIONS.iter().find(|(option, _)| *option == name).and_then(|(_, of)| of(scenario));
    option.map(|number| number.to_string()).or_else(|| Some(display(&scenario.values.get(name)?.0)))
}

/// `; 4 do not fit sm_86` for each device that the author asks about and that does not hold all; empty otherwise.
pub(super) fn beside(context: &Context<'_>, placed: &PlacedUnit<'_>) -> String {
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
