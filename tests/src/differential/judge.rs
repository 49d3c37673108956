//! What the compiler says of a file beside what the analysis says of it.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value as Json;
use tilefit_analysis::ide::plan_view::TilePlan;
use tilefit_analysis::ide::{Diagnostic, KernelPlan};
use tilefit_analysis::project::Config;
use tilefit_analysis::{AnalysisHost, FileId};
use tilefit_pypto::coverage::{Mark, Setting};
use tilefit_pypto::target::{Planner, Target};
use tilefit_python::diagnostics::{Code, Severity};
use tilefit_syntax::Document;
use tilefit_syntax::ast::last_name;

/// One of the compiler's configurations, with its names in recorded answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Configuration {
    pub backend: &'static str,
    pub planner: &'static str,
}

impl Configuration {
    pub const ALL: [Configuration; 4] = [
        Configuration { backend: "910B", planner: "PYPTO" },
        Configuration { backend: "910B", planner: "DSA_RP" },
        Configuration { backend: "950", planner: "PYPTO" },
        Configuration { backend: "950", planner: "DSA_RP" },
    ];

    pub(super) fn of(result: &Json) -> Option<Configuration> {
        let is = |one: &Configuration| result["backend"] == one.backend && result["planner"] == one.planner;
        Configuration::ALL.into_iter().find(is)
    }

    pub fn target(self) -> Target {
        if self.backend == "950" { Target::Ascend950 } else { Target::Ascend910b }
    }

    pub fn setting(self) -> Setting {
        Setting::of(self.target(), self.our_planner())
    }

    fn our_planner(self) -> Planner {
        if self.planner == "DSA_RP" { Planner::DsaRp } else { Planner::Sequential }
    }
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.backend, self.planner)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Called exact, and another plan than the compiler's.
    Wrong,
    /// An error where the compiler plans.
    FalseError,
    /// Accepted, and the compiler refuses.
    Missed,
    /// A query panics, or a stage fails.
    Panic,
    /// Called predicted, and another plan than the compiler's.
    Differs,
    /// Nothing is claimed.
    NotExact,
    /// The compiler plans a function of which nothing is shown.
    NotFound,
    /// Called predicted, and the compiler's plan all the same.
    Predicted,
    /// Every tile, use and buffer is the compiler's, or both refuse.
    Right,
    /// The file cannot be imported where the compiler is, or holds nothing to plan.
    NoAnswer,
}

impl Kind {
    pub const ALL: [Kind; 10] = [
        Kind::Right,
        Kind::Predicted,
        Kind::Wrong,
        Kind::Differs,
        Kind::FalseError,
        Kind::Missed,
        Kind::NotExact,
        Kind::NotFound,
        Kind::Panic,
        Kind::NoAnswer,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Wrong => "wrong",
            Kind::FalseError => "false-error",
            Kind::Missed => "missed",
            Kind::Panic => "panic",
            Kind::Differs => "differs",
            Kind::NotExact => "not-exact",
            Kind::NotFound => "not-found",
            Kind::Predicted => "predicted",
            Kind::Right => "right",
            Kind::NoAnswer => "no-answer",
        }
    }

    /// A difference that is to be fixed.
    pub fn is_difference(self) -> bool {
        matches!(self, Kind::Wrong | Kind::FalseError | Kind::Missed | Kind::Differs | Kind::Panic)
    }
}

/// What a comparison comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    pub kind: Kind,
    /// The first difference, for people.
    pub because: String,
    /// Whether the compiler refuses.
    pub refused: bool,
    /// What the compared kernels use, where the plans are equal or differ.
    pub marks: Vec<Mark>,
}

pub(super) fn verdict(kind: Kind, because: impl Into<String>) -> Verdict {
    Verdict { kind, because: because.into(), refused: false, marks: Vec::new() }
}

/// Kernels of one file under every configuration. Files that it imports are read from beside it.
pub struct Ours {
    host: AnalysisHost,
    file: FileId,
}

impl Ours {
    pub fn of(path: &str, text: &str) -> Ours {
        let mut host = AnalysisHost::new();
        let file = host.file_id(path);
        host.set_document(file, Document::new(text));
        let mut ours = Ours { host, file };
        ours.load_imports();
        ours
    }

    fn load_imports(&mut self) {
        const LONGEST_CHAIN: usize = 16;
        for _ in 0..LONGEST_CHAIN {
            let unknown = self.host.snapshot().unknown_imports(self.file).unwrap_or_default();
            let first = |paths: &Vec<String>| {
                paths.iter().find_map(|path| Some((std::fs::read_to_string(path).ok()?, path.clone())))
            };
            let found: Vec<_> = unknown.iter().filter_map(first).collect();
            if found.is_empty() {
                return;
            }
            for (text, path) in found {
                let imported = self.host.file_id(&path);
                self.host.set_document(imported, Document::new(&text));
            }
        }
    }

    /// The plans, and what the file is told that the compiler refuses it for: errors, and names that nothing defines.
    pub fn plans(&mut self, configuration: Configuration) -> (Vec<KernelPlan>, Vec<String>) {
        let (target, planner) = (configuration.target(), configuration.our_planner());
        self.host.set_config(Config { target, planner, ..Config::default() });
        let analysis = self.host.snapshot();
        let plans = analysis.plans(self.file).unwrap_or_default();
        let diagnostics = analysis.diagnostics(self.file).unwrap_or_default();
        let is_refused = |one: &Diagnostic| one.severity == Severity::Error || one.code == Code::UnknownName;
        let errors = diagnostics.into_iter().filter(is_refused);
        (plans, errors.map(|one| format!("{}: {}", one.code.name(), one.message)).collect())
    }
}

/// The verdicts of a file: one for each configuration that the compiler was asked about.
pub fn verdicts(path: &str, text: &str, answer: &Json) -> Vec<(Configuration, Verdict)> {
    let mut ours = Ours::of(path, text);
    let results = answer["results"].as_array().into_iter().flatten();
    let judged = results.filter_map(|result| {
        let configuration = Configuration::of(result)?;
        let asked = std::panic::AssertUnwindSafe(|| ours.plans(configuration));
        let judged = match std::panic::catch_unwind(asked) {
            Ok((kernels, errors)) => judge(result, &kernels, &errors),
            Err(_) => verdict(Kind::Panic, "a query panics"),
        };
        Some((configuration, Verdict { refused: result["ok"] == false, ..judged }))
    });
    judged.collect()
}

const NOT_IMPORTED: [&str; 3] = ["No module named", "attempted relative import", "cannot import name"];

/// One file under one configuration.
pub fn judge(result: &Json, kernels: &[KernelPlan], errors: &[String]) -> Verdict {
    if let Some(failed) = kernels.iter().flat_map(|kernel| &kernel.diagnostics).find(|one| one.code == "internal") {
        return verdict(Kind::Panic, &failed.message);
    }
    let unsure = kernels.iter().find(|kernel| !is_whole(kernel));
    let because = || unsure.map(|kernel| kernel.reasons.join("; ")).unwrap_or_default();
    if result["ok"] == false {
        let said = result["error"].as_str().unwrap_or_default();
        return match unsure {
            _ if NOT_IMPORTED.iter().any(|start| said.starts_with(start)) => verdict(Kind::NoAnswer, said),
            _ if !errors.is_empty() => verdict(Kind::Right, ""),
            Some(_) => verdict(Kind::NotExact, because()),
            None => {
                let pass = result["error_pass"].as_str().unwrap_or("?");
                verdict(Kind::Missed, format!("{pass}: {}", one_line(said)))
            }
        };
    }
    let functions: Vec<(&String, &Json)> = result["functions"].as_object().into_iter().flatten().collect();
    if functions.iter().all(|(_, function)| rows(function, "tiles").next().is_none()) {
        return match errors.first() {
            Some(error) => verdict(Kind::FalseError, one_line(error)),
            None => verdict(Kind::NoAnswer, "nothing planned"),
        };
    }
    if let Some(error) = errors.first() {
        return verdict(Kind::FalseError, one_line(error));
    }
    let mut missing = None;
    for (name, want) in functions {
        match kernels.iter().find(|kernel| last_name(&kernel.name) == name) {
            None if rows(want, "tiles").next().is_some() => missing = Some(name),
            None => {}
            Some(have) if !is_whole(have) => return verdict(Kind::NotExact, have.reasons.join("; ")),
            Some(have) => {
                if let Some(difference) = difference(want, have) {
                    let kind = if have.status == "exact" { Kind::Wrong } else { Kind::Differs };
                    let marks = have.marks.clone();
                    return Verdict { marks, ..verdict(kind, format!("{name}: {difference}")) };
                }
            }
        }
    }
    match (missing, unsure) {
        (None, _) => equal(kernels),
        (Some(_), Some(_)) => verdict(Kind::NotExact, because()),
        (Some(name), None) => verdict(Kind::Wrong, format!("no kernel {name}")),
    }
}

/// All of it is modelled; a predicted kernel uses something that was never compared.
pub(super) fn is_whole(kernel: &KernelPlan) -> bool {
    matches!(kernel.status, "exact" | "predicted")
}

pub(super) fn equal(kernels: &[KernelPlan]) -> Verdict {
    let uncompared = kernels.iter().flat_map(|kernel| &kernel.uncompared).cloned().collect::<Vec<_>>().join(", ");
    let kind = if kernels.iter().all(|kernel| kernel.status == "exact") { Kind::Right } else { Kind::Predicted };
    let marks = kernels.iter().flat_map(|kernel| kernel.marks.iter().copied()).collect();
    Verdict { marks, ..verdict(kind, uncompared) }
}

pub(super) fn rows<'j>(function: &'j Json, key: &str) -> impl Iterator<Item = &'j Json> {
    function[key].as_array().into_iter().flatten()
}

pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(240).collect()
}

/// A tile that the author wrote: name, space, bytes and address.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Authored<'a>(&'a str, &'a str, Option<u64>, Option<u64>);

impl fmt::Display for Authored<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |value: Option<u64>| value.map_or_else(|| "?".to_owned(), |value| value.to_string());
        write!(f, "{} in {}: {} bytes at {}", self.0, self.1, number(self.2), number(self.3))
    }
}

/// The first difference between the compiler's plan of a function and ours.
fn difference(want: &Json, have: &KernelPlan) -> Option<String> {
    let is_ours = |tile: &&TilePlan| !tile.inserted && tile.kind == "def";
    let ours: Vec<Authored<'_>> = have.tiles.iter().filter(is_ours).map(our_authored).collect();
    let definitions = rows(want, "tiles").filter_map(|tile| Some((tile, authored(tile, &ours)?)));
    let mut theirs: Vec<(&Json, Authored<'_>)> = definitions.collect();
    if theirs.len() > ours.len() {
        theirs.retain(|(tile, _)| !leads_into_loop(tile));
    }
    let theirs: Vec<Authored<'_>> = theirs
        .into_iter()
        .enumerate()
        .map(|(at, (tile, theirs))| {
            let address = placed(want, tile, ours.get(at).and_then(|ours| ours.3));
            Authored(theirs.0, theirs.1, theirs.2, address)
        })
        .collect();
    let show = |tiles: &[Authored<'_>], at: usize| tiles.get(at).map_or_else(|| "none".to_owned(), ToString::to_string);
    if let Some(at) = (0..theirs.len().max(ours.len())).find(|&at| theirs.get(at) != ours.get(at)) {
        return Some(format!("tile {at}: compiler {}; here {}", show(&theirs, at), show(&ours, at)));
    }
    resources(want, have)
}

/// The first difference between the places of all tiles, those that the compiler adds too, in the order of their definition.
pub(super) fn places(want: &Json, have: &KernelPlan) -> Option<String> {
    let is_definition = |kind: Option<&str>| matches!(kind, None | Some("def"));
    let theirs = rows(want, "tiles").filter(|tile| is_definition(tile["kind"].as_str()));
    let mut theirs: Vec<&Json> = theirs.collect();
    let ours = have.tiles.iter().filter(|tile| is_definition(Some(tile.kind)));
    let ours: Vec<_> = ours.map(|tile| (tile.space.unwrap_or("?"), Some(tile.bytes), tile.address)).collect();
    if theirs.len() > ours.len() {
        theirs.retain(|tile| !leads_into_loop(tile));
    }
    let mut places = Vec::with_capacity(theirs.len());
    for (at, tile) in theirs.into_iter().enumerate() {
        let address = placed(want, tile, ours.get(at).and_then(|ours| ours.2));
        places.push((tile["space"].as_str().unwrap_or("?"), tile["bytes"].as_u64(), address));
    }
    let theirs = places;
    let at = (0..theirs.len().max(ours.len())).find(|&at| theirs.get(at) != ours.get(at))?;
    Some(format!("tile {at}: compiler {:?}; here {:?}", theirs.get(at), ours.get(at)))
}

/// The first difference between the use of the spaces, and the buffers.
pub(super) fn resources(want: &Json, have: &KernelPlan) -> Option<String> {
    for (space, used) in want["spaces"].as_object().into_iter().flatten() {
        let ours = have.spaces.get(space.as_str()).map_or(0, |space| space.used.unwrap_or_default());
        let most = used["used"].as_u64().unwrap_or(0);
        if !(least_use(want, space).unwrap_or(most).min(most)..=most).contains(&ours)
            && (ours < most || reach(have, space) > most)
        {
            return Some(format!("{space}: compiler uses {most}; here {ours}"));
        }
    }
    // Where the slot of a declared allocation is computed, the answer gives the start of the first.
    let is_computed = |buffer: &str| {
        rows(want, "tiles").any(|tile| tile["dynamic_offset"] == true && tile["buffer"].as_str() == Some(buffer))
    };
    let theirs = rows(want, "tiles").filter_map(place).filter(|place| !is_computed(place.1));
    let ours = have.tiles.iter().filter_map(our_place).filter(|place| !is_computed(place.1));
    let (theirs, ours) = (buffers(theirs), buffers(ours));
    let only = |a: &[Buffer], b: &[Buffer]| {
        let only = a.iter().filter(|buffer| count(a, buffer) > count(b, buffer)).take(3);
        only.map(|(space, at, bytes)| format!("{bytes} bytes at {at} in {space}")).collect::<Vec<_>>().join(", ")
    };
    (theirs != ours).then(|| format!("buffers: compiler {}; here {}", only(&theirs, &ours), only(&ours, &theirs)))
}

/// A name with nothing but another name's value may be the author's, or what leads into a loop that assigns the name again.
fn leads_into_loop(tile: &Json) -> bool {
    let is_first = tile["ssa"].as_str().is_some_and(|name| name.ends_with("__ssa_v0"));
    tile["inserted"] == true && tile["op"].is_null() && is_first
}

/// The address of a tile. Where the answer gives the buffer's start only, because the compiler leaves the slot to be computed (`3 % 2`),
/// it is ours, if that is in the same buffer.
fn placed(want: &Json, tile: &Json, ours: Option<u64>) -> Option<u64> {
    let start = tile["address"].as_u64();
    let buffer = rows(want, "buffers").find(|buffer| buffer["name"] == tile["buffer"]);
    let size = buffer.and_then(|buffer| buffer["size"].as_u64()).unwrap_or(0);
    let within = |at: &u64| start.is_some_and(|start| (start..start.saturating_add(size)).contains(at));
    ours.filter(|at| tile["dynamic_offset"] == true && within(at)).or(start)
}

/// What the compiler uses of a space at least, where its answer does not say how much: it takes the lowest tile of a buffer for the
/// buffer's start, which is too high where only later slots of a declared allocation are bound, and a buffer to be as large as when it
/// was declared, where the compiler goes by the tiles that are left in it (AllocateMemoryAddr).
fn least_use(want: &Json, space: &str) -> Option<u64> {
    let tiles = rows(want, "tiles").filter(|tile| tile["space"] == space);
    let end = |tile: &Json| Some(tile["address"].as_u64()? + tile["bytes"].as_u64()?);
    tiles.filter_map(end).max().map(|end| end.next_multiple_of(32))
}

/// As far as the tiles of a space reach. Of an allocation after them, which copies read that no loop binds, the answer does not know.
fn reach(have: &KernelPlan, space: &str) -> u64 {
    let tiles = have.tiles.iter().filter_map(our_place).filter(|place| place.0 == space);
    tiles.map(|(_, _, start, bytes)| start + bytes).max().unwrap_or(0)
}

/// `None` for what the compiler adds. A name that is assigned again is `x_v1` where the text of a `@pl.jit` function is made
/// anew, which a recorded answer counts among the compiler's own.
fn authored<'j>(tile: &'j Json, ours: &[Authored<'_>]) -> Option<Authored<'j>> {
    let text = |key: &str| tile[key].as_str().unwrap_or("?");
    let name = text("name");
    let again = name.rsplit_once("_v").filter(|(stem, number)| {
        number.bytes().all(|byte| byte.is_ascii_digit()) && ours.iter().any(|one| one.0 == *stem)
    });
    let name = match again {
        Some((stem, _)) if text("ssa").strip_prefix(name).is_some_and(is_version) => stem,
        // What the author wrote in a function of another file counts among the compiler's own, too.
        _ if text("ssa").strip_prefix(name).is_some_and(|rest| rest.starts_with("_inline") && is_version(rest))
            && ours.iter().any(|one| one.0 == name) =>
        {
            name
        }
        _ if tile["inserted"] == true => return None,
        _ => name,
    };
    let is_definition = matches!(tile["kind"].as_str(), None | Some("def"));
    is_definition.then(|| Authored(name, text("space"), tile["bytes"].as_u64(), tile["address"].as_u64()))
}

/// Whether this is all that the compiler adds to the name of a value that the author wrote, be it in a function that is put in place
/// of its call: `_inline4__tile`, `__ssa_v0`.
fn is_version(suffix: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    match suffix.split_once("__") {
        Some((inlined, version)) => {
            let is_inlined = inlined.is_empty() || inlined.split("_inline").skip(1).all(digits);
            let numbered = |role| version.strip_prefix(role).is_some_and(digits);
            is_inlined && (version == "tile" || ["ssa_v", "iter_v", "rv_v", "phi_v"].into_iter().any(numbered))
        }
        None => false,
    }
}

fn our_authored(tile: &TilePlan) -> Authored<'_> {
    Authored(&tile.name, tile.space.unwrap_or("?"), Some(tile.bytes), tile.address)
}

/// Space, address and bytes.
type Buffer = (String, u64, u64);

/// A tile's buffer, by name and space, and the bytes that it takes there.
type Place<'a> = (&'a str, &'a str, u64, u64);

fn place(tile: &Json) -> Option<Place<'_>> {
    let space = tile["space"].as_str().filter(|&space| space != "DDR")?;
    Some((space, tile["buffer"].as_str()?, tile["address"].as_u64()?, tile["bytes"].as_u64()?))
}

fn our_place(tile: &TilePlan) -> Option<Place<'_>> {
    let space = tile.space.filter(|&space| space != "DDR")?;
    Some((space, tile.buffer.as_deref()?, tile.address?, tile.bytes))
}

/// Every buffer, with those of tiles that the compiler adds; names are each side's own.
fn buffers<'a>(places: impl Iterator<Item = Place<'a>>) -> Vec<Buffer> {
    let mut found: BTreeMap<(&str, &str), (u64, u64)> = BTreeMap::new();
    for (space, name, start, bytes) in places {
        let range = found.entry((space, name)).or_insert((start, 0));
        *range = (range.0.min(start), range.1.max(start + bytes));
    }
    let mut all: Vec<Buffer> =
        found.into_iter().map(|((space, _), (start, end))| (space.to_owned(), start, end - start)).collect();
    all.sort();
    all
}

fn count(buffers: &[Buffer], one: &Buffer) -> usize {
    buffers.iter().filter(|buffer| *buffer == one).count()
}
