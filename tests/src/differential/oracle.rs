//! The compiler, where it is installed: a command that is given files and answers one JSON document a line, in their order,
//! in the form of the recorded answers (`tests/conformance/pypto/README.md`).

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value as Json;

use super::judge::Configuration;

/// The environment variable that names the command.
pub const VARIABLE: &str = "TILEFIT_ORACLE";

/// How the compiler is asked: words of a command, to which paths are added. `{target}` and `{planner}` in them stand for the names
/// of a configuration in recorded answers, or for `both`.
#[derive(Debug, Clone)]
pub struct Oracle {
    words: Vec<String>,
    /// Processes at a time.
    pub processes: usize,
}

impl Oracle {
    /// `None` for an empty command.
    pub fn new(command: &str, processes: usize) -> Option<Oracle> {
        let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        (!words.is_empty()).then_some(Oracle { words, processes: processes.max(1) })
    }

    /// The answers about files, in their order; null for a file that the command says nothing of. Where only one configuration
    /// matters, the command may leave out the others.
    pub fn ask(&self, files: &[PathBuf], only: Option<Configuration>) -> std::io::Result<Vec<Json>> {
        let share = files.len().div_ceil(self.processes).max(1);
        let asked = std::thread::scope(|scope| {
            let shares: Vec<_> =
                files.chunks(share).map(|files| scope.spawn(move || self.ask_one(files, only))).collect();
            shares.into_iter().map(|share| share.join().expect("asking does not panic")).collect::<Vec<_>>()
        });
        let mut answers = Vec::new();
        for answered in asked {
            answers.extend(answered?);
        }
        Ok(answers)
    }

    fn ask_one(&self, files: &[PathBuf], only: Option<Configuration>) -> std::io::Result<Vec<Json>> {
        let (target, planner) = only.map_or(("both", "both"), |one| (one.backend, one.planner));
        let words = self.words[1..].iter().map(|word| word.replace("{target}", target).replace("{planner}", planner));
        let mut command = Command::new(&self.words[0]);
        command.args(words).args(files);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let lines = BufReader::new(child.stdout.take().expect("the output is a pipe")).lines();
        let parsed = lines.map_while(Result::ok).map(|line| serde_json::from_str(&line).unwrap_or(Json::Null));
        let mut answers: Vec<Json> = parsed.take(files.len()).collect();
        child.wait()?;
        answers.resize(files.len(), Json::Null);
        Ok(answers)
    }
}
