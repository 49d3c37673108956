//! `tilefit configs`: every configuration of the kernels of a file on every device that is asked about.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use serde::Serialize;
use tilefit_analysis::ide::KernelConfigurations;
use tilefit_analysis::ide::configurations::{ConfigurationView, OnDevice};
use tilefit_analysis::triton::device::Arch;

use super::Planning;
use super::columns::aligned;
use super::source::{self, Source};
use super::which::{Kernels, no_kernels};
use crate::terminal::{complain, fail, print};

#[derive(clap::Args)]
pub(super) struct Arguments {
    file: PathBuf,
    /// GPUs, beside that of each kernel: sm_80,sm_90
    #[arg(long, value_delimiter = ',', value_parser = device)]
    device: Vec<Arch>,
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// What comes first
    #[arg(long, value_enum, default_value_t = Order::Bytes)]
    sort: Order,
    /// Ask the compiler that is installed about each of them. Imports the file
    #[arg(long)]
    confirm: bool,
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
    file: String,
    kernels: Vec<KernelConfigurations>,
}

fn device(name: &str) -> Result<Arch, String> {
    Arch::from_name(name).ok_or_else(|| format!("a GPU: {}", Arch::names()))
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let mut config = arguments.planning.config_of(&arguments.file);
    config.devices.extend(&arguments.device);
    let read = match arguments.confirm {
        true => arguments
            .asking
            .of(&config, &Kernels::default())
            .and_then(|asking| Source::read_and_confirm(&arguments.file, &config, &mut asking.every_configuration())),
        false => Source::read(&arguments.file, &config),
    };
    let source = match read {
        Ok(source) => source,
        Err(message) => return fail(&message),
    };
    let mut kernels = source.ask(|analysis, file| analysis.configurations(file));
    if kernels.is_empty() {
        complain(&no_kernels(&arguments.file));
    }
    if arguments.sort == Order::Bytes {
        for kernel in &mut kernels {
            let most = |row: &ConfigurationView| {
                row.on.first().cloned().flatten().map(|on| on.high.unwrap_or(u64::MAX).max(on.low))
            };
            kernel.configurations.sort_by_key(|row| std::cmp::Reverse(most(row)));
        }
    }
    let file = arguments.file.display().to_string();
    match arguments.format {
        Format::Table => print(&kernels.iter().map(|kernel| table(&file, kernel)).collect::<Vec<_>>().join("\n")),
        Format::Csv => print(&csv(&file, &kernels)),
        Format::Json => match serde_json::to_string(&Report { schema: 1, file, kernels }) {
            Ok(json) => print(&format!("{json}\n")),
            Err(error) => return fail(&format!("the table cannot be written as JSON: {error}")),
        },
    }
    ExitCode::SUCCESS
}

fn table(file: &str, kernel: &KernelConfigurations) -> String {
    let names: Vec<&String> = kernel.configurations.first().map_or_else(Vec::new, |row| row.values.keys().collect());
    let heads = names.iter().map(|name| (*name).clone());
    let devices = kernel.devices.iter().flat_map(|device| [(*device).to_owned(), String::new(), "blocks".to_owned()]);
    let mut rows: Vec<Vec<String>> = vec![heads.chain(devices).chain([String::new()]).collect()];
    for row in &kernel.configurations {
        let values = row.values.values().cloned();
        let cells = row.on.iter().flat_map(cell);
        let mark = if row.selected { "shown" } else { "" };
        rows.push(values.chain(cells).chain([mark.to_owned()]).collect());
    }
    let fitting: Vec<String> = kernel
        .devices
        .iter()
        .enumerate()
        .map(|(nth, device)| {
            let known = || kernel.configurations.iter().filter_map(|row| row.on[nth].as_ref());
            let count = |verdict| known().filter(|on| on.verdict == verdict).count();
            let (fits, all) = (count("fits"), kernel.configurations.len());
            match all - fits - count("exceeds") - count("refused") {
                0 => format!("{fits} of {all} fit {device}"),
                unknown => format!("{fits} of {all} fit {device}, of {unknown} it is not known"),
            }
        })
        .collect();
    format!("{file}:{}: {}: {}\n{}", kernel.line, kernel.kernel, fitting.join(", "), aligned(&rows))
}

/// Bytes, verdict, blocks.
fn cell(on: &Option<OnDevice>) -> [String; 3] {
    let Some(on) = on else { return ["?".to_owned(), "not surveyed".to_owned(), String::new()] };
    let bytes = match on.high {
        Some(high) if high == on.low => high.to_string(),
        Some(high) => format!("{}-{high}", on.low),
        None => format!(">= {}", on.low),
    };
    let confirmed = if on.confirmed { " confirmed" } else { "" };
    [bytes, format!("{}{confirmed}", on.verdict), on.blocks.map_or(String::new(), |blocks| blocks.to_string())]
}

fn csv(file: &str, kernels: &[KernelConfigurations]) -> String {
    let mut text =
        "file,line,kernel,configuration,device,low,high,capacity,columns,verdict,blocks,confirmed\n".to_owned();
    for kernel in kernels {
        for row in &kernel.configurations {
            let values: Vec<_> = row.values.iter().map(|(name, value)| format!("{name}={value}")).collect();
            for (device, on) in kernel.devices.iter().zip(&row.on) {
                let Some(on) = on else { continue };
                let number = |value: Option<u64>| value.map_or(String::new(), |value| value.to_string());
                let cells = [
                    file.to_owned(),
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
