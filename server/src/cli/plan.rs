use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::ExitCode;

use clap::ValueEnum;
use serde::Serialize;
use tilefit_analysis::ide::KernelPlan;
use tilefit_analysis::ide::plan_view::TilePlan;

use super::columns::aligned;
use super::source::Source;
use super::which::{Kernels, Which, no_kernels};
use super::{Planning, usage};
use crate::terminal::{complain, fail, plain, print, print_styled};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// A file, and one of its kernels; without a kernel all of them
    #[arg(value_name = "FILE[:KERNEL]")]
    what: String,
    #[command(flatten)]
    kernels: Kernels,
    #[command(flatten)]
    planning: Planning,
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Table,
    Json,
    /// The IR after memory is allocated
    Python,
    /// The memory operations of TLX kernels after each step of their compiler
    Mlir,
}

/// The object that `--format json` prints. A change that breaks its readers raises `schema`.
#[derive(Serialize)]
struct Plans {
    schema: u32,
    file: String,
    kernels: Vec<KernelPlan>,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    match printed(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => fail(&message),
    }
}

/// Errors are sentences for the user.
fn printed(arguments: &Arguments) -> Result<(), String> {
    let which = Which::of(&arguments.what).and(&arguments.kernels);
    let source = Source::read(&which.path, &arguments.planning.config_of(&which.path))?;
    let all = source.ask(|analysis, file| analysis.plans(file));
    let kernels: Vec<KernelPlan> = which.among(&all, |kernel| &kernel.name)?.into_iter().cloned().collect();
    let path = which.path.display().to_string();
    if kernels.is_empty() {
        complain(&no_kernels(&which.path));
    }
    match arguments.format {
        Format::Table => {
            print_styled(&kernels.iter().map(|kernel| table(&path, kernel)).collect::<Vec<_>>().join("\n"));
            print(&compilers(&kernels));
        }
        Format::Python => {
            let all = source.ask(|analysis, file| analysis.allocated_ir(file));
            print(&joined(all.iter().filter(|ir| which.includes(&ir.kernel)).map(|ir| &ir.text)));
        }
        Format::Mlir => {
            let all = source.ask(|analysis, file| analysis.lowered_ir(file));
            print(&joined(all.iter().filter(|ir| which.includes(&ir.kernel)).map(|ir| &ir.text)));
        }
        Format::Json => {
            let plans = Plans { schema: 1, file: path, kernels };
            let json =
                serde_json::to_string(&plans).map_err(|it| format!("the plan cannot be written as JSON: {it}"))?;
            print(&format!("{json}\n"));
        }
    }
    Ok(())
}

fn joined<'t>(texts: impl Iterator<Item = &'t String>) -> String {
    texts.map(String::as_str).collect::<Vec<_>>().join("\n")
}

/// Which compilers the plans are for.
fn compilers(kernels: &[KernelPlan]) -> String {
    let compilers: BTreeSet<&str> = kernels.iter().filter_map(|kernel| kernel.compiler.as_deref()).collect();
    compilers.into_iter().map(|compiler| format!("\nplanned for {compiler}\n")).collect()
}

const COLUMNS: [&str; 8] = ["tile", "space", "address", "bytes", "shape", "dtype", "buffer", "lines"];

fn table(path: &str, kernel: &KernelPlan) -> String {
    let summary = kernel.summary();
    let heading = usage::heading(path, &summary, 0);
    heading + &plain(&tiles(kernel)) + &usage::bars(&summary) + &plain(&scenarios(kernel)) + &plain(&remarks(kernel))
}

fn tiles(kernel: &KernelPlan) -> String {
    if kernel.tiles.is_empty() {
        return String::new();
    }
    let rows: Vec<_> = std::iter::once(COLUMNS.map(str::to_owned)).chain(kernel.tiles.iter().map(row)).collect();
    aligned(&rows)
}

fn remarks(kernel: &KernelPlan) -> String {
    let mut text = String::new();
    for assumed in &kernel.assumes {
        let _ = writeln!(text, "  assumes: {assumed}");
    }
    for reason in &kernel.reasons {
        let _ = writeln!(text, "  not modelled: {reason}");
    }
    for diagnostic in kernel.diagnostics.iter().filter(|diagnostic| diagnostic.severity != "hint") {
        let _ = writeln!(text, "  {}: line {}: {}", diagnostic.severity, diagnostic.line, diagnostic.message);
    }
    text
}

/// The memory of a kernel under each of its scenarios.
fn scenarios(kernel: &KernelPlan) -> String {
    let Some(first) = kernel.scenarios.first() else { return String::new() };
    let names: Vec<&str> = first.values.keys().map(String::as_str).collect();
    let memories: Vec<String> = first.amounts().into_iter().map(|(memory, _)| memory).collect();
    let memories = memories.iter().map(String::as_str);
    let heads = ["scenario"].into_iter().chain(names.iter().copied()).chain(memories).chain([""]);
    let mut rows: Vec<Vec<String>> = vec![heads.map(str::to_owned).collect()];
    for (i, scenario) in kernel.scenarios.iter().enumerate() {
        let number = format!("{}{}", i + 1, if scenario.selected { " *" } else { "" });
        let values = names.iter().map(|&name| scenario.values.get(name).cloned().unwrap_or_default());
        let verdict = scenario.verdict.to_owned();
        let amounts = scenario.amounts().into_iter().map(|(_, amount)| amount);
        rows.push([number].into_iter().chain(values).chain(amounts).chain([verdict]).collect());
    }
    aligned(&rows)
}

fn row(tile: &TilePlan) -> [String; 8] {
    let dims: Vec<_> = tile.shape.iter().map(u64::to_string).collect();
    let lines = if tile.first_line == tile.last_line {
        tile.first_line.to_string()
    } else {
        format!("{}-{}", tile.first_line, tile.last_line)
    };
    [
        match &tile.copy {
            Some(copy) => format!("{} ·{}", tile.label, copy.short),
            None => tile.label.clone(),
        },
        tile.space.unwrap_or("?").to_owned(),
        tile.address.map_or_else(|| "?".to_owned(), |address| format!("{address:#x}")),
        tile.bytes.to_string(),
        format!("[{}]", dims.join(", ")),
        tile.dtype.to_owned(),
        tile.buffer.clone().unwrap_or_default(),
        lines,
    ]
}
