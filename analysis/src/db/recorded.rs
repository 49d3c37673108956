//! What the author's own runs have launched, as the recorder of the Python module has written it down: `.tilefit/launches.jsonl`, a launch a line.
//!
//! It is a file of the repository, and nothing in it is believed beyond what it is: values under which a kernel may be compiled, and what a compiler
//! said of a text, which counts while that is the text on the screen.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use tilefit_gpu::device::{self, Arch};
use tilefit_gpu::scenario::{self, Scenario};
use tilefit_python::eval::Scope as _;
use tilefit_syntax::BlockKind;

use crate::confirm::{Answer, By, Outcome, SharedPlan};
use crate::launch::{self, Launch, RECORDS};

use super::scope::UnitScope;
use super::statements::defined;
use super::{SourceFile, Unit, Workspace, imports, parsed, syntax};

/// Lines of such a file that are read, and launches of one kernel that are looked at.
const MOST_LINES: usize = 32_768;
const MOST_LAUNCHES: usize = 64;

/// A recorded launch of a kernel.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Recorded {
    pub(crate) scenario: Scenario,
    pub(crate) arch: Arch,
    /// What the compiler said then.
    pub(crate) answer: Answer,
    /// The tests that launched it.
    pub(crate) tests: Vec<String>,
    /// By file, from the folder of the repository: the hashes of the functions that were compiled.
    sources: BTreeMap<String, BTreeMap<String, String>>,
    /// What the compiler took from modules; `None`: what has no text.
    globals: BTreeMap<String, Option<String>>,
}

/// A line of the file. Others may write more into it.
#[derive(Deserialize)]
struct Line {
    v: u32,
    file: String,
    kernel: String,
    #[serde(default)]
    sources: BTreeMap<String, BTreeMap<String, String>>,
    #[serde(default)]
    globals: BTreeMap<String, Option<String>>,
    target: String,
    #[serde(flatten)]
    launch: Launch,
    by: By,
    #[serde(default)]
    shared: Option<u64>,
    #[serde(default)]
    tensor_columns: u64,
    #[serde(default)]
    tests: Vec<String>,
    #[serde(default)]
    runs: u64,
}

/// The version of lines that is read.
const VERSION: u32 = 1;

/// The launches of each kernel, by its file from the folder of the repository, and its name.
type Launches = BTreeMap<(String, String), Arc<Vec<Recorded>>>;

/// The recorded launches of a kernel, the most used first.
#[salsa::tracked(returns(ref))]
pub(crate) fn recorded<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Arc<Vec<Recorded>> {
    let path = unit.file(db).path(db);
    let Some(file) = imports::known(db, &imports::in_folders_above(path, RECORDS)) else { return Arc::default() };
    let Some(of_root) = path.strip_prefix(root_of(db, file)) else { return Arc::default() };
    let name = (of_root.replace('\\', "/"), unit.key(db).path.to_string());
    let Some(launches) = launches(db, file).get(&name) else { return Arc::default() };
    // One of another function of this name, or from before its parameters changed, is none of this.
    let ast = syntax(db, unit);
    let params = scenario::function(ast).map_or(&[][..], |function| &function.params);
    // A part of a tuple is called `x.1`.
    let is_param = |name: &String| params.iter().any(|param| ast.name(param.name) == name.split('.').next());
    let is_of = |it: &&Recorded| it.scenario.values.keys().chain(it.scenario.arguments.keys()).all(is_param);
    Arc::new(launches.iter().filter(is_of).cloned().collect())
}

/// The folder of the repository, with the separator behind it.
fn root_of(db: &dyn salsa::Database, file: SourceFile) -> &str {
    file.path(db).strip_suffix(RECORDS).unwrap_or_default()
}

#[salsa::tracked(returns(ref))]
fn launches(db: &dyn salsa::Database, file: SourceFile) -> Arc<Launches> {
    let text = file.document(db).text().to_string();
    let lines = text.lines().take(MOST_LINES).filter_map(|line| serde_json::from_str::<Line>(line).ok());
    let mut lines: Vec<Line> = lines.filter(|line| line.v == VERSION).collect();
    lines.sort_by_key(|line| std::cmp::Reverse(line.runs));
    let mut all: BTreeMap<(String, String), Vec<Recorded>> = BTreeMap::new();
    for line in lines {
        let Some(arch) = Arch::from_name(&line.target) else { continue };
        let of_kernel = all.entry((line.file.clone(), line.kernel.clone())).or_default();
        if of_kernel.len() < MOST_LAUNCHES {
            of_kernel.push(line.recorded(arch));
        }
    }
    Arc::new(all.into_iter().map(|(kernel, launches)| (kernel, Arc::new(launches))).collect())
}

impl Line {
    fn recorded(self, arch: Arch) -> Recorded {
        let tests: Vec<String> = self.tests.iter().map(|test| printable(test)).collect();
        let from = match tests.first() {
            Some(test) => format!("the launch recorded in `{test}`"),
            None => "a recorded launch".to_owned(),
        };
        let plan = SharedPlan {
            shared: self.shared.unwrap_or_default(),
            tensor_columns: self.tensor_columns,
            ..SharedPlan::default()
        };
        let by = By { name: printable(&self.by.name), version: printable(&self.by.version), ..self.by };
        let by = By {
            known: device::compared_with().any(|known| is_release_of(&by.version, &known)),
            with: Vec::new(),
            fork: None,
            ..by
        };
        Recorded {
            scenario: self.launch.scenario(&from),
            arch,
            answer: Answer { by: Some(by), stood_in: Vec::new(), outcome: Outcome::Shared(plan) },
            tests,
            sources: if self.shared.is_some() { self.sources } else { BTreeMap::new() },
            globals: self.globals,
        }
    }
}

/// Whether a version is one of `triton 3.9.0` up to its last number.
fn is_release_of(version: &str, known: &str) -> bool {
    let minor = |version: &str| version.rsplit_once('.').map(|(minor, _)| minor.to_owned());
    known.split(' ').nth(1).and_then(minor) == minor(version)
}

/// As much of a text as a person reads of a name, in one line.
fn printable(text: &str) -> String {
    const LONGEST: usize = 160;
    text.chars().map(|it| if it.is_control() { ' ' } else { it }).take(LONGEST).collect()
}

/// What the author's own run says of a kernel under a scenario: the recorded launch of this very text.
pub(crate) fn recorded_of<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    scenario: &Scenario,
    arch: Arch,
) -> Option<&'db Recorded> {
    let all = recorded(db, unit).iter().zip(are_current(db, unit));
    let mut current = all.filter(|(_, is_current)| **is_current).map(|(recorded, _)| recorded);
    current.find(|recorded| recorded.arch == arch && recorded.scenario.is_launch_of(scenario))
}

/// Of each recorded launch of a kernel whether the text is the one that was compiled.
#[salsa::tracked(returns(ref))]
fn are_current<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Vec<bool> {
    let path = unit.file(db).path(db);
    let Some(file) = imports::known(db, &imports::in_folders_above(path, RECORDS)) else { return Vec::new() };
    let root = root_of(db, file);
    recorded(db, unit).iter().map(|recorded| is_current(db, unit, root, recorded)).collect()
}

fn is_current<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>, root: &str, recorded: &Recorded) -> bool {
    let Some(files) = Workspace::try_get(db).map(|workspace| workspace.files(db)) else { return false };
    let mut functions = Vec::new();
    for (file, hashes) in &recorded.sources {
        let Some(&file) = files.get(&format!("{root}{file}")) else { return false };
        for (name, hash) in hashes {
            let function = match name.split_once('.') {
                Some(_) if *name == *unit.key(db).path => Some(unit),
                Some(_) => None,
                None => defined(db, file, name, BlockKind::Function),
            };
            match function {
                Some(function) if hash_of(db, function) == hash => functions.push(function),
                _ => return false,
            }
        }
    }
    let is_same = |(name, text): (&String, &Option<String>)| {
        let Some(text) = text else { return false };
        let value = launch::constant(text);
        functions.iter().any(|&function| UnitScope::new(db, function).constant(name).as_ref() == Some(&value))
    };
    functions.contains(&unit) && recorded.globals.iter().all(is_same)
}

/// Of the text of a function from its `def` to the end of its last statement, without the indentation that it stands in.
#[salsa::tracked(returns(ref))]
fn hash_of<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> String {
    let (text, spans) = (&unit.source(db).text, &parsed(db, unit).spans);
    let Some(function) = scenario::function(syntax(db, unit)) else { return String::new() };
    let name = spans.expr(function.name).start;
    let start = text[..name].rfind("def").unwrap_or(name);
    let column = start - text[..start].rfind('\n').map_or(0, |end| end + 1);
    let mut end = text.trim_end().len();
    while let Some(comment) = spans.comments.iter().find(|comment| comment.end == end && comment.start > start) {
        end = text[..comment.start].trim_end().len();
    }
    let is_blank = |character: char| matches!(character, ' ' | '\t');
    let mut lines = text[start..end].lines().enumerate().map(|(nth, line)| {
        let margin = line.chars().take_while(|&it| is_blank(it)).take(column).count();
        &line[if nth == 0 { 0 } else { margin }..]
    });
    let first = lines.next().unwrap_or_default().to_owned();
    let whole = lines.fold(first, |whole, line| whole + "\n" + line);
    Sha256::digest(whole.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
