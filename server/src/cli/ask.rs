//! `tilefit ask`: whether kernels fit, for the Python module of the wheel, which asks before it launches and tunes. A JSON object a line:
//!
//! ```text
//! {"id": 1, "file": "/w/mm.py", "kernel": "matmul", "devices": ["sm_90"], "launches": [{"constexprs": {"BLOCK_M": "128"}, …}]}
//! {"id": 1, "fits": [[{"low": 98304, "high": 98304, "capacity": 232448, "verdict": "fits", …}]]}
//! {"id": 2, "error": "/w/mm.py: no such file"}
//! ```
//!
//! A file stays under analysis until it, or what it imports, changes.

use std::io::{self, BufRead as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use tilefit_analysis::ide::Fit;
use tilefit_analysis::launch::Launch;
use tilefit_gpu::device::{Arch, Compiler};

use super::Planning;
use super::source::Source;
use crate::disk;
use crate::tree::absolute;

/// Files under analysis at a time.
const MOST_FILES: usize = 8;

#[derive(Deserialize)]
struct Question {
    id: u64,
    file: PathBuf,
    kernel: String,
    devices: Vec<String>,
    launches: Vec<Launch>,
    /// The release that compiles, such as `3.6.0`; it is assumed where nothing is said.
    #[serde(default)]
    triton: Option<String>,
}

#[derive(Serialize)]
struct Answer {
    id: Option<u64>,
    #[serde(flatten)]
    said: Said,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Said {
    /// By device, then by launch.
    Fits(Vec<Vec<Fit>>),
    /// A sentence for the user.
    Error(String),
}

/// A file and what it rests on.
struct Known {
    path: PathBuf,
    source: Source,
    changed: Vec<(PathBuf, Option<SystemTime>)>,
}

pub(super) fn run() -> ExitCode {
    let mut known = Vec::new();
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let answer = answered(&line, &mut known);
        let Ok(mut text) = serde_json::to_string(&answer) else { break };
        text.push('\n');
        if out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err() {
            break; // nobody listens any more
        }
    }
    ExitCode::SUCCESS
}

fn answered(line: &str, known: &mut Vec<Known>) -> Answer {
    let question: Question = match serde_json::from_str(line) {
        Ok(question) => question,
        Err(error) => return Answer { id: None, said: Said::Error(format!("the question cannot be read: {error}")) },
    };
    let answer = catch_unwind(AssertUnwindSafe(|| fits(&question, known)));
    let said = match answer {
        Ok(Ok(fits)) => Said::Fits(fits),
        Ok(Err(why)) => Said::Error(why),
        Err(_) => {
            known.clear();
            Said::Error("tilefit failed on this kernel; please report it".to_owned())
        }
    };
    Answer { id: Some(question.id), said }
}

fn fits(question: &Question, known: &mut Vec<Known>) -> Result<Vec<Vec<Fit>>, String> {
    let device = |name: &String| Arch::from_name(name).ok_or_else(|| format!("tilefit knows no device `{name}`"));
    let devices: Vec<Arch> = question.devices.iter().map(device).collect::<Result<_, _>>()?;
    let source = source(&absolute(&question.file), known)?;
    let compiler = question.triton.as_deref().and_then(Compiler::earlier);
    let launches: Vec<Launch> = question.launches.iter().map(|launch| Launch { compiler, ..launch.clone() }).collect();
    let on = |&arch: &Arch| {
        let fits = |analysis: &tilefit_analysis::Analysis, file| {
            analysis.fits(file, &question.kernel, arch, &launches).map(Some)
        };
        source.ask(fits).unwrap_or_else(|| Err("the question was interrupted".to_owned()))
    };
    devices.iter().map(on).collect()
}

/// A file as it is on disk now.
fn source<'k>(path: &Path, known: &'k mut Vec<Known>) -> Result<&'k Source, String> {
    let at = known.iter().position(|it| it.path == path && it.is_current());
    let found = match at {
        Some(at) => known.remove(at),
        None => {
            known.retain(|it| it.path != path);
            Known::read(path)?
        }
    };
    known.truncate(MOST_FILES - 1);
    known.insert(0, found);
    Ok(&known[0].source)
}

impl Known {
    fn read(path: &Path) -> Result<Known, String> {
        let config = Planning { target: None, planner: None }.config_of(path);
        let source = Source::read(path, &config)?;
        let changed =
            source.files().into_iter().map(|path| (disk::changed(&path), path)).map(|(changed, path)| (path, changed));
        Ok(Known { path: path.to_owned(), changed: changed.collect(), source })
    }

    fn is_current(&self) -> bool {
        self.changed.iter().all(|(path, changed)| disk::changed(path) == *changed)
    }
}
