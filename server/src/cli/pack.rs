use std::fmt::Write as _;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use serde_json::{Value, json};
use tilefit_packing::{Budget, BufferIx, Goal, PackResult, Problem, Verdict, csv, explain, pack, svg};

use crate::disk;
use crate::terminal::{self, fail, print};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Buffers in MiniMalloc's format: id,lower,upper,size and, where wanted, alignment, gaps, offset
    input: PathBuf,
    /// Memory size in bytes (default: find the smallest that fits)
    #[arg(long)]
    capacity: Option<u64>,
    /// Seconds after which the best packing so far is taken
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,
    /// File for the packing; standard output without it
    #[arg(short, long)]
    output: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t = Format::Csv)]
    format: Format,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Csv,
    Json,
    /// A picture: time across, addresses up
    Svg,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|_| "not a number of seconds from 0 on".to_owned())
}

/// Nodes of the exact search. The hardest public instances of MiniMalloc take a hundredth of it.
const NODES: u64 = 20_000_000;

/// More than a file can ask for.
const NO_LIMIT: u64 = i64::MAX as u64;

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    match packed(arguments) {
        Ok(code) => code,
        Err(message) => fail(&message),
    }
}

/// Errors are sentences for the user.
fn packed(arguments: &Arguments) -> Result<ExitCode, String> {
    let path = &arguments.input;
    let text = disk::read_named(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let capacity = arguments.capacity.unwrap_or(NO_LIMIT);
    let problem = csv::read(&text, capacity).map_err(|error| format!("{}: {error}", path.display()))?;
    let goal = if arguments.capacity.is_some() { Goal::Fit } else { Goal::Lowest };
    let (outcome, timed_out) = search(&problem, goal, arguments.timeout);
    let text = match arguments.format {
        Format::Csv => csv::write(&problem, Some(&outcome.placement.offsets)),
        Format::Svg => svg::draw(&problem, &outcome.placement.offsets),
        Format::Json => format!("{:#}\n", report(&problem, &outcome, arguments.capacity, timed_out)),
    };
    write(arguments.output.as_deref(), &text)?;
    terminal::say(&summary(&problem, &outcome, arguments.capacity, timed_out));
    let fits = matches!(outcome.verdict, Verdict::Fits { .. });
    Ok(if fits { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Searches, and says on a terminal that it does. The result depends on the clock only where the flag is true.
fn search(problem: &Problem, goal: Goal, timeout: Option<Duration>) -> (PackResult, bool) {
    let start = Instant::now();
    let timed_out = AtomicBool::new(false);
    let done = AtomicBool::new(false);
    let cancel = || {
        let over = timeout.is_some_and(|timeout| start.elapsed() > timeout);
        timed_out.fetch_or(over, Ordering::Relaxed);
        over
    };
    let outcome = thread::scope(|scope| {
        if std::io::stderr().is_terminal() {
            scope.spawn(|| show_progress(start, &done));
        }
        let outcome = pack(problem, &Budget { cancel: Some(&cancel), ..Budget::new(goal, NODES) });
        done.store(true, Ordering::Release);
        outcome
    });
    (outcome, timed_out.into_inner())
}

fn show_progress(start: Instant, done: &AtomicBool) {
    let mut shown = 0;
    while !done.load(Ordering::Acquire) {
        thread::sleep(Duration::from_millis(20));
        let tenths = start.elapsed().as_millis() / 100;
        if tenths > shown && tenths >= 5 {
            shown = tenths;
            terminal::overwrite_line(&format!("searching, {}.{} s ", tenths / 10, tenths % 10));
        }
    }
    if shown > 0 {
        terminal::overwrite_line("");
    }
}

fn write(output: Option<&Path>, text: &str) -> Result<(), String> {
    match output {
        Some(path) => disk::write_named(path, text).map_err(|error| format!("{}: {error}", path.display())),
        None => {
            print(text);
            Ok(())
        }
    }
}

fn name(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Fits { .. } => "fits",
        Verdict::OverCapacity { .. } => "over-capacity",
        Verdict::Fragmented => "fragmented",
        Verdict::Undecided => "undecided",
    }
}

fn ids<'p>(problem: &'p Problem, buffers: &[BufferIx]) -> Vec<&'p str> {
    buffers.iter().map(|&buffer| problem.buffer(buffer).id.as_str()).collect()
}

fn report(problem: &Problem, outcome: &PackResult, capacity: Option<u64>, timed_out: bool) -> Value {
    let peaks = outcome.bound.peaks.iter().map(|peak| {
        json!({ "lower": peak.plateau.start, "upper": peak.plateau.end, "bytes": peak.bytes, "live": ids(problem, &peak.live) })
    });
    let placed = problem.buffers().iter().zip(&outcome.placement.offsets);
    let buffers = placed.map(|(buffer, offset)| json!({ "id": buffer.id, "size": buffer.size, "offset": offset }));
    json!({
        "schema": 1,
        "verdict": name(&outcome.verdict),
        "optimal": matches!(outcome.verdict, Verdict::Fits { optimal: true }),
        "capacity": capacity,
        "best": outcome.placement.height,
        "bound": outcome.bound.bytes,
        "floor": outcome.lower_bound,
        "nodes": outcome.nodes,
        "timed_out": timed_out,
        "witness": peaks.collect::<Vec<_>>(),
        "irreducible": irreducible(problem, outcome),
        "buffers": buffers.collect::<Vec<_>>(),
    })
}

/// Buffers that cannot be packed even by themselves, and of which none can be spared.
fn irreducible<'p>(problem: &'p Problem, outcome: &PackResult) -> Vec<&'p str> {
    let core = match outcome.verdict {
        Verdict::Fragmented => explain::irreducible(problem, NODES / 100, None),
        _ => None,
    };
    core.map_or(Vec::new(), |core| ids(problem, &core.buffers))
}

fn summary(problem: &Problem, outcome: &PackResult, capacity: Option<u64>, timed_out: bool) -> String {
    let (best, bound) = (outcome.placement.height, outcome.bound.bytes);
    let mut text = format!("{} buffers, {best} bytes high, {bound} live at once: ", problem.buffers().len());
    let of = capacity.map_or(String::new(), |capacity| format!(" in {capacity} bytes"));
    let _ = match &outcome.verdict {
        Verdict::Fits { optimal: true } => writeln!(text, "fits{of}, and no packing is lower (proved)"),
        Verdict::Fits { optimal: false } => {
            writeln!(text, "fits{of}; nothing below {} bytes is possible", outcome.lower_bound)
        }
        Verdict::OverCapacity { overshoot } => {
            let live = outcome.bound.peaks.first().map_or(Vec::new(), |peak| ids(problem, &peak.live));
            writeln!(
                text,
                "does not fit{of}, whatever the packing: {overshoot} bytes too many at once in {}",
                live.join(", ")
            )
        }
        Verdict::Fragmented => {
            let subset = irreducible(problem, outcome);
            writeln!(
                text,
                "does not fit{of}, although it does at each instant (proved); already {} cannot be packed",
                subset.join(", ")
            )
        }
        Verdict::Undecided => {
            writeln!(text, "not decided{of}: the lowest packing has between {} and {best} bytes", outcome.lower_bound)
        }
    };
    if timed_out {
        text.push_str("The time ended the search; with more of it the answer may be better.\n");
    }
    text
}
