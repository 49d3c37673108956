//! `tilefit configs`: every configuration of the kernels of files on every device that is asked about.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::ValueEnum;
use serde::Serialize;
use tilefit_analysis::ide::KernelConfigurations;
use tilefit_analysis::ide::configurations::{ConfigurationView, OnDevice};
use tilefit_analysis::ide::machine_code::{AtOnce, MachineCode};
use tilefit_analysis::project::Config;
use tilefit_gpu::device::Arch;

use super::Planning;
use super::columns::aligned;
use super::projects::Projects;
use super::source::{self, Source};
use super::which::{Kernels, no_kernels};
use super::workers::{self, isolated};
use crate::files;
use crate::imports::Imports;
use crate::notebook::in_cell;
use crate::terminal::{FAILURE, complain, fail, print};
use crate::tree::OnDisk;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Files, and directories to look for Python files in
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    kernels: Kernels,
    /// GPUs, beside that of each kernel: sm_80,sm_90
    #[arg(long, value_delimiter = ',', value_parser = device)]
    device: Vec<Arch>,
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// What comes first
    #[arg(long, value_enum, default_value_t = Order::Bytes)]
    sort: Order,
    /// Ask the compiler that is installed about each of them. Imports the files
    #[arg(long)]
    confirm: bool,
    /// Have it go on to machine code: registers, spills, and how many blocks run at once
    #[arg(long, requires = "confirm")]
    full: bool,
    #[command(flatten)]
    asking: source::Python,
    #[command(flatten)]
    planning: Planning,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Table,
    Csv,
    Json,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Order {
    /// Most shared memory on the kernel's own device
    Bytes,
    /// As they are written
    Source,
}

/// The object that `--format json` prints. A change that breaks its readers raises `schema`.
#[derive(Serialize)]
struct Report {
    schema: u32,
    files: Vec<OfFile>,
    /// Configurations of which the compiler says something else than tilefit, on all devices together.
    contradicted: usize,
}

#[derive(Serialize)]
struct OfFile {
    file: String,
    kernels: Vec<KernelConfigurations>,
}

/// Files that are analysed together: what they import is analysed once, and all of it is in memory.
const FILES_TOGETHER: usize = 64;

fn device(name: &str) -> Result<Arch, String> {
    Arch::from_name(name).ok_or_else(|| format!("a device: {}", Arch::names()))
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let asking = match arguments.confirm {
        true => arguments
            .asking
            .of(&Config::default(), &arguments.kernels)
            .map(|it| Some(it.every_configuration().up_to_machine_code(arguments.full))),
        false => Ok(None),
    };
    let mut asking = match asking {
        Ok(asking) => asking,
        Err(message) => return fail(&message),
    };
    let (planning, devices) = (arguments.planning.clone(), arguments.device.clone());
    let projects = Arc::new(Projects::new(&OnDisk, move |config| {
        planning.put_over(config);
        config.devices.extend(&devices);
    }));
    let (paths, mut failures) = files::find(&arguments.paths, &projects);
    let mut report = Report { schema: 2, files: Vec::new(), contradicted: 0 };
    if arguments.format == Format::Csv {
        print(CSV_HEAD);
    }
    let bar = workers::bar(paths.len());
    bar.tick();
    let mut between = "";
    let mut take = |done: Result<Option<OfFile>, String>| {
        bar.inc(1);
        match done {
            Err(message) => failures.push(message),
            Ok(None) => {}
            Ok(Some(file)) => {
                report.contradicted += contradicted(&file.kernels);
                match arguments.format {
                    Format::Table => {
                        bar.suspend(|| print(&format!("{between}{}", tables(&file, arguments.full))));
                        between = "\n";
                    }
                    Format::Csv => bar.suspend(|| print(&csv(&file))),
                    Format::Json => report.files.push(file),
                }
            }
        }
    };
    let mut imports = Imports::new(&OnDisk);
    for (project, together) in projects.each(&paths) {
        for together in together.chunks(FILES_TOGETHER) {
            let sources = Source::read_all_and_confirm(together, &project.config, asking.as_mut(), &mut imports);
            let each = together.iter().zip(sources);
            let work = |(path, source): (&PathBuf, Result<Source, String>)| {
                isolated(path, || Ok(of_file(arguments, path, &source?)))
            };
            workers::in_order(each, work, &mut take);
        }
    }
    bar.finish_and_clear();
    failures.extend(projects.problems());
    let contradicted = report.contradicted;
    if arguments.format == Format::Json {
        match serde_json::to_string(&report) {
            Ok(json) => print(&format!("{json}\n")),
            Err(error) => return fail(&format!("the table cannot be written as JSON: {error}")),
        }
    }
    failures.iter().for_each(|failure| complain(failure));
    match (failures.is_empty(), contradicted) {
        (false, _) => ExitCode::from(FAILURE),
        (true, 0) => ExitCode::SUCCESS,
        (true, _) => ExitCode::FAILURE,
    }
}

/// How many of the configurations of some kernels the compiler contradicts, on all devices together.
fn contradicted(kernels: &[KernelConfigurations]) -> usize {
    let cells = kernels.iter().flat_map(|kernel| &kernel.configurations).flat_map(|row| &row.on).flatten();
    cells.filter(|on| on.is_contradicted()).count()
}

/// `None` for a file without kernels, which is said of one that is named.
fn of_file(arguments: &Arguments, path: &PathBuf, source: &Source) -> Option<OfFile> {
    let is_asked = |name: &str| arguments.kernels.include(name);
    let mut kernels = source.ask(|analysis, file| analysis.configurations(file, &is_asked));
    if arguments.sort == Order::Bytes {
        for kernel in &mut kernels {
            kernel.configurations = by_bytes(std::mem::take(&mut kernel.configurations));
        }
    }
    if kernels.is_empty() && arguments.paths.contains(path) {
        complain(&no_kernels(path));
    }
    (!kernels.is_empty()).then(|| OfFile { file: path.display().to_string(), kernels })
}

/// Most bytes first; what is possible stays behind the configuration that leaves it open.
fn by_bytes(rows: Vec<ConfigurationView>) -> Vec<ConfigurationView> {
    let most =
        |row: &ConfigurationView| row.on.first().cloned().flatten().map(|on| on.high.unwrap_or(u64::MAX).max(on.low));
    let mut written: Vec<Vec<ConfigurationView>> = Vec::new();
    for row in rows {
        match written.last_mut() {
            Some(last) if row.possible => last.push(row),
            _ => written.push(vec![row]),
        }
    }
    for rows in &mut written {
        rows[1..].sort_by_key(|row| std::cmp::Reverse(most(row)));
    }
    written.sort_by_key(|rows| std::cmp::Reverse(most(&rows[0])));
    written.into_iter().flatten().collect()
}

/// One for each kernel, an empty line between them.
fn tables(of: &OfFile, is_full: bool) -> String {
    of.kernels.iter().map(|kernel| table(&of.file, kernel, is_full)).collect::<Vec<_>>().join("\n")
}

/// `is_full`: the compiler was asked for machine code.
fn table(file: &str, kernel: &KernelConfigurations, is_full: bool) -> String {
    let place = format!("{}:{}: {}", in_cell(file, kernel.cell), kernel.line, kernel.kernel);
    let is_known = |row: &ConfigurationView| row.on.iter().flatten().any(OnDevice::is_known);
    if let Some(lacks) = &kernel.lacks
        && !kernel.configurations.iter().any(is_known)
    {
        return format!("{place}: {lacks}\n");
    }
    let names: Vec<&String> = kernel.configurations.first().map_or_else(Vec::new, |row| row.values.keys().collect());
    let heads = names.iter().map(|name| (*name).clone());
    let columns: &[&str] = if is_full { &["registers", "spills", "blocks/SM"] } else { &["blocks"] };
    let named = |device: &str| [device, ""].iter().chain(columns).map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let devices = kernel.devices.iter().flat_map(|device| named(device));
    let mut rows: Vec<Vec<String>> = vec![heads.chain(devices).chain([String::new()]).collect()];
    for row in &kernel.configurations {
        let values = row.values.values().cloned();
        let cells = kernel.devices.iter().zip(&row.on).flat_map(|(device, on)| match row.not_on.contains(device) {
            true => one_more(["", "not launched"], vec![String::new(); columns.len()]),
            false => cell(on, is_full),
        });
        let mark = why(row).unwrap_or(match (row.selected, row.possible) {
            (true, _) => "shown",
            (_, true) => "possible",
            _ => "",
        });
        rows.push(values.chain(cells).chain([mark.to_owned()]).collect());
    }
    let contradicted = match contradicted(std::slice::from_ref(kernel)) {
        0 => String::new(),
        count => format!("; the compiler contradicts {count}"),
    };
    let lacks = kernel.lacks.iter().map(|lacks| format!("  {lacks}\n"));
    let assumes = kernel.assumes.iter().map(|assumed| format!("  assumes: {assumed}\n"));
    let below: String = lacks.chain(assumes).collect();
    format!("{place}: {}{contradicted}\n{}{below}", kernel.summary, aligned(&rows))
}

/// Why a configuration has no numbers: what the compiler refuses, and what is not known but for the value of a parameter.
fn why(row: &ConfigurationView) -> Option<&str> {
    let is_open = |on: &OnDevice| on.verdict == "unknown" && !on.is_known() && on.needs.is_none();
    let is_why = |on: &&OnDevice| on.verdict == "refused" || is_open(on);
    row.on.iter().flatten().find(is_why).and_then(|on| on.reason.as_deref())
}

/// Bytes, verdict, blocks; of machine code bytes, verdict, registers, spills, blocks.
fn cell(on: &Option<OnDevice>, is_full: bool) -> Vec<String> {
    let Some(on) = on else {
        return one_more(["?", "not surveyed"], vec![String::new(); if is_full { 3 } else { 1 }]);
    };
    let by = match &on.predicted {
        Some(predicted) => format!(" by the compiler, predicted {}", amount(predicted.low, predicted.high)),
        None if on.confirmed => " confirmed".to_owned(),
        None if on.recorded => " recorded".to_owned(),
        None => String::new(),
    };
    // What the compiler refuses takes nothing.
    let bytes = if on.verdict == "refused" { String::new() } else { amount(on.low, on.high) };
    let verdict = match &on.needs {
        Some(name) if !on.is_known() => format!("needs {name}"),
        _ => on.verdict.to_owned(),
    };
    let taken = match (&on.machine, is_full) {
        (Some(machine), true) => {
            let at_once = machine.occupancy.as_ref().map_or(String::new(), AtOnce::in_short);
            vec![machine.registers.to_string(), machine.spilled(), at_once]
        }
        (None, true) => vec![String::new(); 3],
        (_, false) => vec![on.blocks.map_or(String::new(), |blocks| blocks.to_string())],
    };
    one_more([&bytes, &(verdict + &by)], taken)
}

fn one_more(first: [&str; 2], rest: Vec<String>) -> Vec<String> {
    first.iter().map(|it| (*it).to_owned()).chain(rest).collect()
}

/// `98304`, `65536-98304`, `<= 98304`, `>= 65536`; nothing where nothing is known
fn amount(low: u64, high: Option<u64>) -> String {
    match high {
        Some(high) if high == low => high.to_string(),
        Some(high) if low == 0 => format!("<= {high}"),
        None if low == 0 => String::new(),
        Some(high) => format!("{low}-{high}"),
        None => format!(">= {low}"),
    }
}

const CSV_HEAD: &str = "file,line,kernel,configuration,device,low,high,capacity,columns,verdict,blocks,confirmed,possible,reason,predicted_low,predicted_high,assumes,registers,stack,spills,blocks_per_sm,limited_by\n";

/// The rows of a file, without a head.
fn csv(of: &OfFile) -> String {
    let mut text = String::new();
    for kernel in &of.kernels {
        for row in &kernel.configurations {
            let values: Vec<_> = row.values.iter().map(|(name, value)| format!("{name}={value}")).collect();
            for (device, on) in kernel.devices.iter().zip(&row.on) {
                let Some(on) = on else { continue };
                let (predicted, machine) = (on.predicted.as_ref(), on.machine.as_ref());
                let at_once = machine.and_then(|it| it.occupancy.as_ref());
                let number = |value: Option<u64>| value.map_or(String::new(), |value| value.to_string());
                let cells = [
                    in_cell(&of.file, kernel.cell),
                    kernel.line.to_string(),
                    kernel.kernel.clone(),
                    values.join(" "),
                    (*device).to_owned(),
                    on.low.to_string(),
                    number(on.high),
                    on.capacity.to_string(),
                    on.columns.to_string(),
                    on.verdict.to_owned(),
                    number(on.blocks),
                    on.confirmed.to_string(),
                    row.possible.to_string(),
                    on.reason.clone().unwrap_or_default(),
                    number(predicted.map(|it| it.low)),
                    number(predicted.and_then(|it| it.high)),
                    kernel.assumes.join("; "),
                    machine.map_or(String::new(), |it| it.registers.to_string()),
                    machine.map_or(String::new(), |it| it.stack.to_string()),
                    machine.map_or(String::new(), MachineCode::spilled),
                    at_once.map_or(String::new(), |it| it.blocks.to_string()),
                    at_once.map_or(String::new(), |it| it.limits.join("; ")),
                ];
                text += &(cells.map(|cell| quoted(&cell)).join(",") + "\n");
            }
        }
    }
    text
}

/// A field of RFC 4180.
fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.to_owned() }
}
