//! The configurations of the kernels of a file: what each takes on each device, whether it fits, and how many blocks fit beside each other.

use std::collections::BTreeMap;

use serde::Serialize;
use tilefit_gpu::device::{Arch, Space};
use tilefit_gpu::scenario::Scenario;
use tilefit_python::finding::{Origin, Reason};
use tilefit_syntax::TextRange;
use tilefit_syntax::ast::ExprId;

use crate::confirm::{FailureKind, Outcome, Question};
use crate::db::{self, Configuration, Configurations, Verdict};

use super::diagnostic::Diagnostic;
use super::gpu::scenarios::{display, refused};
use super::gpu::{self, lens};
use super::inlay_hint::InlayHint;
use super::machine_code::{self, MachineCode};
use super::{Context, PlacedUnit, formatting, languages, missing_values};

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
    /// How many fit each device: `7 of 9 fit sm_90, 1 depends, 1 unknown; 9 of 9 fit sm_100`
    pub summary: String,
    /// What nothing says and the numbers rest on; the device that is assumed is the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumes: Vec<String>,
    /// What the kernel lacks, in words, where some of its configurations are unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lacks: Option<String>,
    pub configurations: Vec<ConfigurationView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConfigurationView {
    /// The parameters and options that are not the same in all of them.
    pub values: BTreeMap<String, String>,
    /// The plan of the kernel and its errors are of this one.
    pub selected: bool,
    /// A possible value for what the configuration before leaves open: it is not written in the file, and the compiler takes it.
    pub possible: bool,
    /// By device; `None`: it is not launched there, or too many others came before.
    pub on: Vec<Option<OnDevice>>,
    /// The devices on which host code does not launch it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_on: Vec<&'static str>,
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
    /// The parameter without a value for which it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs: Option<String>,
    /// Blocks that the shared memory of a multiprocessor holds at once, at least.
    pub blocks: Option<u64>,
    /// The compiler says so, and it is among what tilefit says.
    pub confirmed: bool,
    /// The author's own run said so, of this very text.
    pub recorded: bool,
    /// What tilefit says, where the compiler was asked and says something that this rules out. All else here is the compiler's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicted: Option<Prediction>,
    /// What it takes as machine code, where the compiler was asked for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<MachineCode>,
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
    /// Whether anything is known of what it takes.
    pub fn is_known(&self) -> bool {
        self.low > 0 || self.high.is_some() || self.verdict == Verdict::Refused.name()
    }

    /// The compiler says something else than tilefit.
    pub fn is_contradicted(&self) -> bool {
        self.predicted.is_some()
    }
}

/// Of the kernels of a file that have any, and are asked for by their names.
pub(crate) fn configurations(context: &Context<'_>, is_asked: &dyn Fn(&str) -> bool) -> Vec<KernelConfigurations> {
    let is_of_asked = |placed: &PlacedUnit<'_>| {
        languages::declared(context, placed.unit).first().is_some_and(|kernel| is_asked(kernel.name))
    };
    context.units().filter(is_of_asked).filter_map(|placed| of_unit(context, &placed)).collect()
}

pub(super) fn of_unit(context: &Context<'_>, placed: &PlacedUnit<'_>) -> Option<KernelConfigurations> {
    let table = db::configurations_of(context.db, placed.unit).as_ref()?;
    let declared = languages::declared(context, placed.unit).into_iter().next()?;
    let names = differing(table);
    let devices: Vec<&'static str> = table.devices.iter().map(|device| device.name()).collect();
    let view = |row: &Configuration, selected: bool, possible: bool| ConfigurationView {
        values: names.iter().map(|name| (name.clone(), value_of(&row.scenario, name).unwrap_or_default())).collect(),
        selected,
        possible,
        on: (0..table.devices.len()).map(|device| on_device(context, placed, table, row, device)).collect(),
        not_on: devices.iter().zip(&row.is_launched).filter(|(_, launched)| !**launched).map(|(it, _)| *it).collect(),
    };
    let views = table.rows.iter().enumerate().flat_map(|(nth, row)| {
        let ways = row.ways.iter().map(|way| view(way, false, true));
        // What is as open as the configuration itself says nothing.
        let ways = ways.filter(|way| way.on.iter().flatten().any(OnDevice::is_known));
        std::iter::once(view(row, nth == table.selected, false)).chain(ways)
    });
    let configurations: Vec<_> = views.collect();
    let is_open = |on: &OnDevice| !on.is_known() && on.verdict == Verdict::Unknown.name();
    let is_lacking =
        configurations.iter().filter(|row| !row.possible).flat_map(|row| row.on.first()).flatten().any(is_open);
    let summary: Vec<String> =
        devices.iter().enumerate().map(|(nth, device)| fitting(&configurations, nth, device)).collect();
    Some(KernelConfigurations {
        kernel: context.qualified_name(placed.unit, declared.name),
        cell: context.cell(placed.start),
        line: context.line(placed.range(declared.at).start),
        devices,
        summary: summary.join("; "),
        assumes: gpu::assumes(db::triton_assumed(context.db, placed.unit)),
        lacks: is_lacking.then(|| missing_values::lacking(context, placed)).flatten(),
        configurations,
    })
}

/// `7 of 9 fit sm_90, 1 depends, 1 unknown`; `sm_90: 1 depends` where none is known to fit or not to
fn fitting(rows: &[ConfigurationView], nth: usize, device: &str) -> String {
    let written = rows.iter().filter(|row| !row.possible && !row.not_on.contains(&device));
    let verdict = |row: &ConfigurationView| row.on[nth].as_ref().map_or(Verdict::Unknown.name(), |on| on.verdict);
    let count = |wanted: Verdict| written.clone().filter(|row| verdict(row) == wanted.name()).count();
    let (fits, exceeds, all) = (count(Verdict::Fits), count(Verdict::Exceeds), written.clone().count());
    let others = [Verdict::Depends, Verdict::Refused, Verdict::Unknown].map(|verdict| (count(verdict), verdict.name()));
    let others =
        others.into_iter().filter(|(count, _)| *count > 0).map(|(count, verdict)| format!("{count} {verdict}"));
    let others = others.collect::<Vec<_>>().join(", ");
    match fits + exceeds {
        0 if all == 0 => format!("{device}: not launched"),
        0 => format!("{device}: {others}"),
        _ if others.is_empty() => format!("{fits} of {all} fit {device}"),
        _ => format!("{fits} of {all} fit {device}, {others}"),
    }
}

pub(super) fn on_device(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    table: &Configurations,
    row: &Configuration,
    device: usize,
) -> Option<OnDevice> {
    let (arch, usage) = (table.devices[device], row.cells[device].as_ref()?);
    let leading = usage.leading();
    let (low, high) = usage.amount(leading);
    let tensor = usage.amount(Space::Tensor);
    let mut on = OnDevice {
        low,
        high,
        capacity: usage.memories.iter().find(|it| it.space == leading).map_or(0, |it| it.capacity),
        columns: tensor.0,
        verdict: usage.verdict.name(),
        reason: match &usage.refusal {
            Some(refusal) => Some(refused(context, placed, refusal)),
            None => usage.reason.as_ref().map(Reason::to_string),
        },
        needs: usage.reason.as_ref().and_then(Reason::remedy).map(|remedy| remedy.param().to_owned()),
        blocks: None,
        confirmed: false,
        recorded: false,
        predicted: None,
        machine: None,
    };
    let answers = context.file.answers(context.db);
    let asked = || {
        let under = (!answers.is_empty()).then(|| db::question_under(context.db, placed.unit, &row.scenario, arch));
        let under = under.flatten()?;
        Some((answers.to(&under.question)?, Some(under)))
    };
    let recorded = || Some((&db::recorded_of(context.db, placed.unit, &row.scenario, arch)?.answer, None));
    if let Some((answer, under)) = asked().or_else(recorded) {
        let is_example = under.as_ref().is_some_and(|under| under.is_example);
        let prediction = || Prediction { low: on.low, high: on.high, columns: tensor, verdict: on.verdict };
        match &answer.outcome {
            Outcome::Shared(plan) => {
                let is_said =
                    |used: u64, (low, high): (u64, Option<u64>)| used >= low && high.is_none_or(|high| used <= high);
                let agrees = is_said(plan.shared, usage.amount(Space::Shared))
                    && (arch.tmem() == 0 || is_said(plan.tensor_columns, tensor))
                    && usage.verdict != Verdict::Refused;
                // An example says nothing of what else may be given, but that it is wrong to rule it out.
                if agrees && is_example && !usage.is_exact() {
                    return Some(with_blocks(on, arch));
                }
                on.predicted = (!agrees).then(prediction);
                (on.confirmed, on.recorded) = (agrees && under.is_some(), under.is_none());
                (on.low, on.high, on.columns) = (plan.shared, Some(plan.shared), plan.tensor_columns);
                let fits = plan.shared <= arch.smem() && plan.tensor_columns <= arch.tmem();
                on.verdict = if fits { "fits" } else { "exceeds" };
                on.reason = None;
                on.machine = under.and_then(|under| machine_code::of(&answer.outcome, &under.question)?.ok());
            }
            Outcome::Failed { error } if error.kind == FailureKind::Refused => {
                let agrees = usage.verdict == Verdict::Refused;
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
    OnDevice { blocks: on.high.filter(|_| on.verdict == "fits" && !arch.is_npu()).map(|high| arch.blocks(high)), ..on }
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

/// The configurations of a kernel that spill registers, each where it is written; `None` where no list of them is in the file.
pub(super) fn that_spill(context: &Context<'_>, kernel: &PlacedUnit<'_>) -> Option<Vec<Diagnostic>> {
    let list = db::configuration_list(context.db, kernel.unit)?;
    let placed = context.place(list.unit)?;
    let table = db::configurations_of(context.db, kernel.unit).as_ref()?;
    let name = languages::declared(context, kernel.unit).first()?.name;
    let name = context.qualified_name(kernel.unit, name);
    let written = db::rows_of_list(context.db, kernel.unit, &list);
    if written.is_empty() {
        return None;
    }
    let mut all = Vec::new();
    for (at, rows) in written {
        let on_devices = |row: usize| {
            let devices = table.devices.iter().enumerate();
            let on = devices.filter_map(move |(nth, device)| {
                let on = on_device(context, kernel, table, &table.rows[row], nth)?;
                Some((device, on.machine.filter(MachineCode::spills)?))
            });
            on.collect::<Vec<_>>()
        };
        let spilling_rows: Vec<_> = rows.iter().map(|&row| on_devices(row)).filter(|on| !on.is_empty()).collect();
        let Some((device, machine)) = spilling_rows.first().and_then(|on| on.first()) else { continue };
        let others = if rows.len() > 1 {
            format!(" with {} of {} launches", spilling_rows.len(), rows.len())
        } else {
            String::new()
        };
        let what = format!("`{name}` spills registers in this configuration on {device}{others}");
        all.push(machine_code::spilling(placed.range(Origin::Expr(at)), what, machine));
    }
    Some(all)
}

/// After each configuration that is written in the file, what it takes on the device of its kernel, over all launches; after one in a
/// comprehension what all take that it makes.
pub(super) fn hints(context: &Context<'_>, range: TextRange) -> Vec<InlayHint> {
    let mut hints: Vec<InlayHint> = Vec::new();
    for kernel in context.units().filter(|placed| context.text_of(placed).contains("autotune")) {
        let Some(list) = db::configuration_list(context.db, kernel.unit) else { continue };
        let Some(placed) = context.place(list.unit) else { continue };
        let offset = |at: ExprId| placed.range(Origin::Expr(at)).end;
        let is_shown = |at: ExprId| range.start <= offset(at) && offset(at) <= range.end;
        if !list.made.iter().any(|&at| is_shown(at)) {
            continue;
        }
        let Some(table) = db::configurations_of(context.db, kernel.unit) else { continue };
        for (at, rows) in db::rows_of_list(context.db, kernel.unit, &list) {
            let on = rows.iter().filter_map(|&nth| on_device(context, &kernel, table, &table.rows[nth], 0));
            let on: Vec<OnDevice> = on.filter(|on| on.is_known() && on.verdict != Verdict::Refused.name()).collect();
            // Several kernels may share a list: the first speaks for it.
            if is_shown(at) && !hints.iter().any(|hint| hint.offset == offset(at)) {
                hints.extend(hint(offset(at), &on, table.devices[0]));
            }
        }
    }
    hints
}

fn hint(offset: usize, all: &[OnDevice], device: Arch) -> Option<InlayHint> {
    if all.iter().all(|on| on.high == Some(0)) {
        return None;
    }
    let most = all.iter().max_by_key(|on| (on.high.is_none(), on.high.unwrap_or(on.low)))?;
    let low = all.iter().map(|on| on.low).min()?;
    let amount = lens::amount((low, most.high))?;
    let exceeding = all.iter().filter(|on| on.verdict == Verdict::Exceeds.name()).count();
    let over = match formatting::over(most.low, most.capacity, "bytes") {
        _ if exceeding == 0 => String::new(),
        Some(over) if exceeding == all.len() => format!(" ⚠ {over}"),
        None if exceeding == all.len() => format!(" ⚠ too much for {device}"),
        _ => format!(" ⚠ {exceeding} of {} do not fit", all.len()),
    };
    let blocks = all.iter().map(|on| on.blocks).min().flatten();
    let blocks = blocks.map_or(String::new(), |blocks| format!("; {blocks} at once on a multiprocessor"));
    let by = match &most.predicted {
        Some(predicted) => {
            format!(", as the compiler says; predicted: {}", self::amount(predicted.low, predicted.high))
        }
        None if most.confirmed => ", as the compiler says".to_owned(),
        None if most.recorded => ", as recorded".to_owned(),
        None => String::new(),
    };
    let exactly = self::amount(low, most.high);
    let machine = match all {
        [on] => on.machine.as_ref().map_or(String::new(), |machine| format!(" · {}", machine.mark())),
        _ => String::new(),
    };
    let by = match all {
        [OnDevice { machine: Some(machine), .. }] => format!("{by}; {}", machine.words()),
        _ => by,
    };
    Some(InlayHint {
        offset,
        label: format!("{amount}{over}{machine}"),
        tooltip: format!("{exactly} of {} bytes of shared memory of a block on {device}{blocks}{by}", most.capacity),
        in_front: false,
        key: None,
    })
}

/// `98304`, `65536–98304`, `at most 98304`, `≥ 65536`
fn amount(low: u64, high: Option<u64>) -> String {
    match high {
        Some(high) if high == low => high.to_string(),
        Some(high) if low == 0 => format!("at most {high}"),
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

const OPTIONS: [(&str, OptionOf); 4] = [
    ("num_warps", |scenario| scenario.num_warps),
    ("num_stages", |scenario| scenario.num_stages),
    ("num_ctas", |scenario| scenario.num_ctas),
    ("maxnreg", |scenario| scenario.maxnreg),
];

fn value_of(scenario: &Scenario, name: &str) -> Option<String> {
    let option = OPTIONS.iter().find(|(option, _)| *option == name).and_then(|(_, of)| of(scenario));
    option.map(|number| number.to_string()).or_else(|| Some(display(&scenario.values.get(name)?.0)))
}
