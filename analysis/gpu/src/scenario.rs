//! Concrete values under which a kernel is compiled: scenario comments, settings, autotune configurations, callers and launches.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use tilefit_syntax::ast::{
    Arg, Ast, BoolOp, Clause, CompareOp, Expr, ExprId, FloatBits, Function, Param, ParamKind, Stmt,
};

use tilefit_python::eval::{self, Constant, Imports, OneOf, Scope};
use tilefit_python::finding::Reason;

use super::argument_type::ArgumentType;
use super::configuration::{Config, Options};
use super::device::{Arch, Compiler};
use super::host::{self, Passed};
use super::language::{self, Dtype};

/// One set of values under which a kernel may be compiled.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scenario {
    /// Values of constexpr parameters, and element types of pointers and descriptors (`a=fp16`), and where each is from.
    pub values: BTreeMap<String, (Constant, String)>,
    /// What an argument is, where that is more than an element type, and where it is from.
    pub arguments: BTreeMap<String, (ArgumentType, String)>,
    pub arch: Option<Arch>,
    pub num_warps: Option<u32>,
    pub num_ctas: Option<u32>,
    pub num_stages: Option<u32>,
    /// The most registers of a thread, which no memory depends on.
    pub maxnreg: Option<u32>,
    pub compiler: Option<Compiler>,
    /// Arguments known to be multiples of 16; `None`: nothing is known.
    pub divisible: Option<BTreeSet<String>>,
    /// Parameters and options without one value: the candidates that host code leaves; `None` if unrestricted.
    pub possible: BTreeMap<String, Option<OneOf>>,
    /// The launch, with other values, that what nothing else says is taken from.
    pub rest_of: Option<String>,
}

/// Scenarios of one kernel that are looked at; more are cut off.
pub const MOST_SCENARIOS: usize = 1024;

/// What a launch says of how a kernel is compiled.
pub const OPTIONS: [&str; 3] = ["num_warps", "num_ctas", "num_stages"];

/// All words of a scenario that are no parameters.
pub(super) const WORDS: [&str; 7] = ["arch", "target", "triton", OPTIONS[0], OPTIONS[1], OPTIONS[2], DIVISIBLE];

/// `divisible=a,b`: arguments that are multiples of 16.
pub(super) const DIVISIBLE: &str = "divisible";

/// What a scenario comment begins with.
pub(super) const MARK: &str = "# tilefit:";

const COMMENT: &str = "the scenario comment";
const OPTION: &str = "the option of the launch";
const SETTING: &str = "the setting `tlx.scenarios`";

/// The text after `# tilefit:` of each scenario comment of a block, in order.
pub fn comments(text: &str) -> Vec<String> {
    let scenarios = text.lines().filter_map(|line| line.split_once(MARK));
    scenarios.map(|(_, scenario)| scenario.trim().to_owned()).collect()
}

/// Behind the last word of the first scenario comment of a block.
pub fn end_of_comment(text: &str) -> Option<usize> {
    let start = text.find(MARK)?;
    let line = text[start..].lines().next()?;
    Some(start + line.trim_end().len())
}

impl Scenario {
    /// `HEAD_DIM=128 desc_v=bf16[64,64] arch=sm_100`; what is no `name=value` is passed over.
    pub fn parse(text: &str) -> Scenario {
        let mut scenario = Scenario::default();
        for (name, value) in words(text).filter_map(|word| word.split_once('=')) {
            // A kernel may have an argument of that name (`target=i64`).
            let is_word = matches!(name, "arch" | "target") && !bare(value).is_empty();
            let is_no_device = is_word && Arch::from_name(bare(value)).is_none();
            if is_no_device || !scenario.set_option(name, value) {
                scenario.set(name, value, COMMENT);
            }
        }
        scenario
    }

    /// Sets what a kernel is compiled for, or how; false for names that are parameters.
    fn set_option(&mut self, name: &str, value: &str) -> bool {
        let text = bare(value);
        match name {
            "arch" | "target" => self.arch = Arch::from_name(text),
            "triton" => self.compiler = Compiler::from_name(text),
            "num_warps" => self.num_warps = text.parse().ok(),
            "num_ctas" => self.num_ctas = text.parse().ok(),
            "num_stages" => self.num_stages = text.parse().ok(),
            DIVISIBLE => {
                let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
                self.divisible = Some(names.map(str::to_owned).collect());
            }
            _ => return false,
        }
        true
    }

    fn set(&mut self, name: &str, value: &str, from: &str) {
        let python = unquoted(value);
        let is_type = python.is_some() || value.ends_with(']') || value.starts_with('*');
        match ArgumentType::from_text(python.unwrap_or(value)).filter(|_| is_type) {
            Some(argument) => self.set_argument(name, argument, from),
            None => {
                let value = python.map_or_else(|| literal(value), |python| Constant::Str(python.to_owned()));
                self.values.insert(name.to_owned(), (value, from.to_owned()));
            }
        }
    }

    /// Also names the element type, which is all that some ask for.
    pub fn set_argument(&mut self, name: &str, argument: ArgumentType, from: &str) {
        if let Some(element) = argument.element() {
            self.values.insert(name.to_owned(), (element.constant(), from.to_owned()));
        }
        self.arguments.insert(name.to_owned(), (argument, from.to_owned()));
    }

    /// The value of a parameter. A quoted text that could be a type is text where the parameter is a constexpr.
    pub fn value(&self, param: &str, is_constexpr: bool) -> Option<(Constant, String)> {
        match self.arguments.get(param) {
            Some((ArgumentType::Scalar { dtype }, from)) if is_constexpr => {
                Some((Constant::Str(dtype.clone()), from.clone()))
            }
            _ => self.values.get(param).cloned(),
        }
    }

    /// This scenario with a value of the configuration; `None` for one that there cannot be.
    fn with(&self, name: &str, value: &toml::Value) -> Option<Scenario> {
        let mut scenario = self.clone();
        let text = match value {
            toml::Value::String(text) => text.clone(),
            toml::Value::Integer(_) | toml::Value::Float(_) | toml::Value::Boolean(_) => value.to_string(),
            _ => return None,
        };
        if scenario.set_option(name, &text) {
            let is_understood = match name {
                "arch" | "target" => scenario.arch.is_some(),
                "triton" => scenario.compiler.is_some(),
                "num_warps" => scenario.num_warps.is_some(),
                "num_ctas" => scenario.num_ctas.is_some(),
                "num_stages" => scenario.num_stages.is_some(),
                _ => true,
            };
            return is_understood.then_some(scenario);
        }
        match value {
            toml::Value::String(text) => scenario.set(name, text, SETTING),
            value => {
                scenario.values.insert(name.to_owned(), (setting(value)?, SETTING.to_owned()));
            }
        }
        Some(scenario)
    }

    /// This scenario with what `other` has and it has not; `None` if they differ.
    fn agreeing(&self, other: &Scenario) -> Option<Scenario> {
        let is_same = |one: Option<u32>, other: Option<u32>| one.is_none() || other.is_none() || one == other;
        let same_options = is_same(self.num_warps, other.num_warps)
            && is_same(self.num_ctas, other.num_ctas)
            && is_same(self.num_stages, other.num_stages)
            && is_same(self.maxnreg, other.maxnreg);
        self.agreeing_in_values(other).filter(|_| same_options)
    }

    /// The same, whatever they say of how the kernel is compiled: this scenario is believed.
    fn agreeing_in_values(&self, other: &Scenario) -> Option<Scenario> {
        let differs = |(name, (value, _)): (&String, &(Constant, String))| {
            other.values.get(name).is_some_and(|(theirs, _)| theirs != value)
        };
        let differ = self.values.iter().any(differs);
        (!differ).then(|| self.filled_from(other))
    }

    /// Whether a launch whose values are all known may be one of this.
    fn may_be(&self, record: &Scenario) -> bool {
        let excludes = |(name, choice): (&String, &Option<OneOf>)| {
            let (Some(choice), Some((value, _))) = (choice, record.values.get(name)) else { return false };
            !choice.is_open() && !choice.values().any(|it| it == value)
        };
        let is_other = |name: &str| self.option(name).zip(record.option(name)).is_some_and(|(one, other)| one != other);
        !OPTIONS.into_iter().any(is_other)
            && !self.possible.iter().any(excludes)
            && self.agreeing_in_values(record).is_some()
    }

    /// Whether it may be given the arguments of a launch that has other values.
    fn is_given_the_like(&self, record: &Scenario) -> bool {
        let is_other = |(name, (argument, _)): (&String, &(ArgumentType, String))| {
            record.arguments.get(name).is_some_and(|(other, _)| other != argument)
        };
        let is_pointer = |value: &Constant| Dtype::from_constant(value).is_some();
        let leads_elsewhere = |(name, (value, _)): (&String, &(Constant, String))| {
            is_pointer(value) && record.values.get(name).is_some_and(|(other, _)| other != value)
        };
        !self.arguments.iter().any(is_other) && !self.values.iter().any(leads_elsewhere)
    }

    /// Who says what it says.
    fn said_by(&self) -> Option<String> {
        let values = self.values.values().map(|(_, from)| from);
        values.chain(self.arguments.values().map(|(_, from)| from)).next().cloned()
    }

    /// This scenario without some of its values, and without options of the launch: what a configuration says.
    pub fn without(mut self, names: &BTreeSet<&String>) -> Scenario {
        self.values.retain(|name, _| !names.contains(name));
        self.arguments.retain(|name, _| !names.contains(name));
        self.with_options(Options::default())
    }

    fn with_options(self, options: Options) -> Scenario {
        let Options { num_warps, num_ctas, num_stages, maxnreg } = options;
        Scenario { num_warps, num_ctas, num_stages, maxnreg, ..self }
    }

    /// Whether `other` says all that this says, and nothing else of it.
    pub fn is_part_of(&self, other: &Scenario) -> bool {
        let option = |one: Option<u32>, other: Option<u32>| one.is_none() || one == other;
        let values =
            self.values.iter().all(|(name, (value, _))| other.values.get(name).is_some_and(|it| it.0 == *value));
        let arguments = self
            .arguments
            .iter()
            .all(|(name, (argument, _))| other.arguments.get(name).is_some_and(|it| it.0 == *argument));
        let says = |name: &String| other.values.contains_key(name) || other.option(name).is_some();
        let possible =
            self.possible.iter().all(|(name, choice)| says(name) || other.possible.get(name) == Some(choice));
        values
            && arguments
            && possible
            && (self.arch.is_none() || self.arch == other.arch)
            && option(self.num_warps, other.num_warps)
            && option(self.num_ctas, other.num_ctas)
            && option(self.num_stages, other.num_stages)
            && option(self.maxnreg, other.maxnreg)
            && (self.divisible.is_none() || self.divisible == other.divisible)
    }

    /// Whether this is the launch that a scenario is of: it says the same of all that this one says. An argument that the scenario gives a number has a type
    /// here.
    pub fn is_launch_of(&self, scenario: &Scenario) -> bool {
        let is_number = |name: &String| {
            let number = scenario.values.get(name).map(|(value, _)| value);
            matches!(number, Some(Constant::Int(_) | Constant::Float(_) | Constant::Bool(_)))
        };
        let values =
            self.values.iter().all(|(name, (value, _))| scenario.values.get(name).is_some_and(|it| it.0 == *value));
        let arguments = self.arguments.iter().all(|(name, (argument, _))| {
            scenario.arguments.get(name).map_or_else(|| is_number(name), |it| it.0 == *argument)
        });
        let options =
            OPTIONS.into_iter().all(|name| self.option(name).is_none() || self.option(name) == scenario.option(name));
        values && arguments && options && self.divisible == scenario.divisible
    }

    /// The value of an option of the launch.
    pub(super) fn option(&self, name: &str) -> Option<u32> {
        match name {
            "num_warps" => self.num_warps,
            "num_ctas" => self.num_ctas,
            "num_stages" => self.num_stages,
            "maxnreg" => self.maxnreg,
            _ => None,
        }
    }

    /// This scenario where something that it leaves open has a value.
    pub fn where_it_is(&self, name: &str, value: &Constant, from: &str) -> Scenario {
        let mut scenario = self.clone();
        scenario.possible.remove(name);
        let option = match name {
            "num_warps" => &mut scenario.num_warps,
            "num_ctas" => &mut scenario.num_ctas,
            "num_stages" => &mut scenario.num_stages,
            _ => {
                scenario.values.insert(name.to_owned(), (value.clone(), from.to_owned()));
                return scenario;
            }
        };
        if let Constant::Int(value) = value {
            *option = u32::try_from(*value).ok();
        }
        scenario
    }

    /// This scenario where parameters are called like options of the launch. A keyword of a launch, and what a `triton.Config` says, is both: the
    /// launcher binds it to the parameter, and reads the options from the same keywords (`JITFunction.run` in `triton/runtime/jit.py`).
    pub fn with_options_as_values(mut self, kernel: &Function, ast: &Ast) -> Scenario {
        for name in kernel.params.iter().filter_map(|param| ast.name(param.name)) {
            if let Some(value) = self.option(name)
                && !self.values.contains_key(name)
            {
                self.values.insert(name.to_owned(), (Constant::Int(i64::from(value)), OPTION.to_owned()));
            }
        }
        self
    }

    /// What a function is compiled for, and how, that is called under this scenario.
    pub fn of_callee(&self) -> Scenario {
        let (values, arguments, possible) = Default::default();
        Scenario { values, arguments, possible, divisible: None, ..self.clone() }
    }

    /// This scenario with what `other` has and it has not.
    pub fn filled_from(&self, other: &Scenario) -> Scenario {
        let mut filled = self.clone();
        for (name, argument) in &other.arguments {
            if !self.values.contains_key(name) {
                filled.arguments.entry(name.clone()).or_insert_with(|| argument.clone());
            }
        }
        for (name, value) in &other.values {
            if !self.arguments.contains_key(name) {
                filled.values.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        filled.arch = filled.arch.or(other.arch);
        filled.num_warps = filled.num_warps.or(other.num_warps);
        filled.num_ctas = filled.num_ctas.or(other.num_ctas);
        filled.num_stages = filled.num_stages.or(other.num_stages);
        filled.maxnreg = filled.maxnreg.or(other.maxnreg);
        filled.compiler = filled.compiler.or(other.compiler);
        filled.divisible = filled.divisible.or_else(|| other.divisible.clone());
        for (name, choice) in &other.possible {
            filled.possible.entry(name.clone()).or_insert_with(|| choice.clone());
        }
        let told = |name: &String| filled.values.contains_key(name) || filled.option(name).is_some();
        let left = filled.possible.iter().filter(|(name, _)| !told(name));
        filled.possible = left.map(|(name, choice)| (name.clone(), choice.clone())).collect();
        filled
    }
}

/// The words of a comment: blanks part them, and commas outside of brackets and quotes, other than those of `divisible=a,b`.
fn words(text: &str) -> impl Iterator<Item = &str> {
    words_at(text).map(|(_, word)| word)
}

/// Each with its offset.
pub(super) fn words_at(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        if rest.is_empty() {
            return None;
        }
        let at = text.len() - rest.len();
        let (word, after) = rest.split_at(end_of_word(rest));
        rest = after;
        Some((at, word))
    })
}

fn end_of_word(text: &str) -> usize {
    let is_list = text.starts_with("divisible=");
    let mut quote = None;
    let mut depth = 0_u32;
    for (at, character) in text.char_indices() {
        match character {
            _ if quote.is_some() => quote = quote.filter(|&open| open != character),
            '"' | '\'' => quote = Some(character),
            '[' | '(' | '{' | '<' => depth += 1,
            ']' | ')' | '}' | '>' => depth = depth.saturating_sub(1),
            ' ' | '\t' if depth == 0 => return at,
            ',' if depth == 0 && !is_list => return at,
            _ => {}
        }
    }
    // A bracket or a quote that is never closed spoils its own word only.
    if quote.is_some() || depth > 0 { text.find([' ', '\t']).unwrap_or(text.len()) } else { text.len() }
}

/// The text of an option, quoted or not.
fn bare(value: &str) -> &str {
    unquoted(value).unwrap_or(value).trim()
}

fn unquoted(text: &str) -> Option<&str> {
    let within = |quote: char| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
    within('"').or_else(|| within('\''))
}

/// A value as comments and recorders write it.
pub fn literal(text: &str) -> Constant {
    if let Ok(value) = text.parse::<i64>() {
        return Constant::Int(value);
    }
    if let Ok(value) = text.parse::<f64>() {
        return Constant::Float(FloatBits::new(value));
    }
    match text {
        "True" | "true" => Constant::Bool(true),
        "False" | "false" => Constant::Bool(false),
        "None" => Constant::None,
        _ => match Dtype::from_name(text.strip_prefix("tl.").unwrap_or(text)) {
            Some(dtype) => dtype.constant(),
            None => Constant::Str(text.trim_matches(['"', '\'']).to_owned()),
        },
    }
}

/// The scenarios that a setting describes: a table of values, whose lists stand for one scenario an element, or a list of such tables.
pub fn from_settings(value: &toml::Value) -> Option<Vec<Scenario>> {
    if let Some(tables) = value.as_array() {
        let all: Vec<_> = tables.iter().map(from_settings).collect::<Option<_>>()?;
        return Some(all.into_iter().flatten().take(MOST_SCENARIOS).collect());
    }
    let mut all = vec![Scenario::default()];
    for (name, value) in value.as_table()? {
        // A list of arguments is one value, and no choice of them.
        let arguments = value.as_array().filter(|_| name == "divisible");
        let joined = arguments.map(|names| names.iter().map(toml::Value::as_str).collect::<Option<Vec<_>>>());
        let joined = match joined {
            Some(names) => Some(toml::Value::String(names?.join(","))),
            None => None,
        };
        let values = match (&joined, value.as_array()) {
            (Some(joined), _) => std::slice::from_ref(joined),
            (None, Some(values)) => values.as_slice(),
            (None, None) => std::slice::from_ref(value),
        };
        let with =
            |scenario: &Scenario| values.iter().map(|value| scenario.with(name, value)).collect::<Option<Vec<_>>>();
        let product: Vec<_> = all.iter().map(with).collect::<Option<_>>()?;
        all = product.into_iter().flatten().take(MOST_SCENARIOS).collect();
    }
    Some(all)
}

fn setting(value: &toml::Value) -> Option<Constant> {
    match value {
        toml::Value::Integer(value) => Some(Constant::Int(*value)),
        toml::Value::Boolean(value) => Some(Constant::Bool(*value)),
        toml::Value::Float(value) => Some(Constant::Float(FloatBits::new(*value))),
        _ => None,
    }
}

/// The scenarios of the comments over those of the settings, which stand where a comment says nothing.
pub fn explicit(comments: &[String], settings: &[Scenario]) -> Vec<Scenario> {
    let comments: Vec<_> = comments.iter().map(|comment| Scenario::parse(comment)).collect();
    if comments.is_empty() || settings.is_empty() {
        return if comments.is_empty() { settings.to_vec() } else { comments };
    }
    let mut all: Vec<Scenario> = Vec::new();
    for comment in &comments {
        for filled in settings.iter().map(|setting| comment.filled_from(setting)) {
            if !all.contains(&filled) && all.len() < MOST_SCENARIOS {
                all.push(filled);
            }
        }
    }
    all
}

/// Each explicit scenario, filled with the bases that agree with it; or the bases, where nothing is explicit.
pub fn combine(explicit: &[Scenario], bases: Vec<Scenario>) -> Vec<Scenario> {
    if explicit.is_empty() {
        return bases;
    }
    let filled = explicit.iter().flat_map(|scenario| {
        let mut agreeing: Vec<_> = bases.iter().filter_map(|base| scenario.agreeing(base)).collect();
        if agreeing.is_empty() {
            agreeing = bases.iter().filter_map(|base| scenario.agreeing_in_values(base)).collect();
        }
        if agreeing.is_empty() { vec![scenario.clone()] } else { agreeing }
    });
    filled.take(MOST_SCENARIOS).collect()
}

/// Each configuration with each launch.
pub fn product(configurations: &[Scenario], launches: &[Scenario]) -> Vec<Scenario> {
    if launches.is_empty() {
        return configurations.to_vec();
    }
    let all = launches.iter().flat_map(|launch| configurations.iter().map(move |it| it.filled_from(launch)));
    all.take(MOST_SCENARIOS).collect()
}

/// Ways to complete one launch that are looked at.
const MOST_COMPLETED: usize = 8;

/// Launches with what they leave open as the others give it that agree with them: the same launch, say, seen from a test that calls the function
/// in which it stands. Autotuned parameters (`tuned`) are never taken from a launch.
pub fn completed(launches: &[Scenario], others: &[&Scenario], tuned: &BTreeSet<&String>) -> Vec<Scenario> {
    let mut all: Vec<Scenario> = Vec::new();
    for launch in launches {
        let is_open = |name: &String| {
            !launch.values.contains_key(name) && !launch.arguments.contains_key(name) && !tuned.contains(name)
        };
        let missing = |other: &&&Scenario| {
            launch.agreeing_in_values(other)?;
            if launch.arch.is_some() && other.arch.is_some() && launch.arch != other.arch {
                return None;
            }
            let values = other.values.iter().filter(|(name, _)| is_open(name));
            let arguments = other.arguments.iter().filter(|(name, _)| is_open(name));
            let values = values.map(|(name, value)| (name.clone(), value.clone())).collect();
            let arguments = arguments.map(|(name, argument)| (name.clone(), argument.clone())).collect();
            Some(Scenario { values, arguments, arch: other.arch, ..Scenario::default() })
        };
        let ways = without_parts(others.iter().filter_map(|other| missing(&other)).collect());
        match ways.is_empty() {
            true => all.push(launch.clone()),
            false => all.extend(ways.iter().take(MOST_COMPLETED).map(|way| launch.filled_from(way))),
        }
    }
    without_parts(all)
}

/// Launches with what recorded ones add to those that agree with them, then what is recorded of others. A launch that leaves something open stays, for
/// there may be ways that nobody has recorded. What is recorded comes in its order.
pub fn with_recorded(launches: Vec<Scenario>, recorded: &[Scenario]) -> Vec<Scenario> {
    let mut all: Vec<Scenario> = Vec::new();
    let mut open: Vec<Scenario> = Vec::new();
    let mut is_of_others = vec![true; recorded.len()];
    for launch in launches {
        let mut is_recorded = false;
        for (nth, record) in recorded.iter().enumerate().filter(|(_, record)| launch.may_be(record)) {
            is_recorded = true;
            is_of_others[nth] = false;
            if all.len() < MOST_SCENARIOS {
                all.push(launch.filled_from(record));
            }
        }
        if !is_recorded {
            // The one that most is run of may have been this, before an edit.
            let alike = recorded.iter().enumerate().find(|(_, record)| launch.is_given_the_like(record));
            all.push(match alike {
                Some((nth, record)) => {
                    is_of_others[nth] = false;
                    Scenario { rest_of: record.said_by(), ..launch.filled_from(record) }
                }
                None => launch,
            });
        } else if !launch.possible.is_empty() {
            open.push(launch);
        }
    }
    let others = recorded.iter().zip(is_of_others).filter(|(_, is_other)| *is_other).map(|(record, _)| record.clone());
    let mut kept: Vec<Scenario> = Vec::new();
    for scenario in all.into_iter().chain(others).chain(open) {
        if kept.len() < MOST_SCENARIOS && !kept.contains(&scenario) {
            kept.push(scenario);
        }
    }
    kept
}

/// Drops scenarios that another one subsumes.
pub fn without_parts(scenarios: Vec<Scenario>) -> Vec<Scenario> {
    let mut kept: Vec<Scenario> = Vec::new();
    for scenario in scenarios {
        if kept.len() == MOST_SCENARIOS || kept.iter().any(|other| scenario.is_part_of(other)) {
            continue;
        }
        kept.retain(|other| !other.is_part_of(&scenario));
        kept.push(scenario);
    }
    kept.retain(|scenario| *scenario != Scenario::default());
    kept
}

/// The function that a block is.
pub fn function(ast: &Ast) -> Option<&Function> {
    ast.body.iter().find_map(|&stmt| match ast.stmt(stmt) {
        Stmt::Function(function) => Some(function),
        _ => None,
    })
}

/// The decorator of that canonical name, with its arguments.
fn decorator<'a>(ast: &'a Ast, imports: &Imports, function: &Function, name: &str) -> Option<&'a [Arg]> {
    decorators(ast, imports, function, name).next()
}

/// The arguments of each decorator of that name, from the outermost on.
pub(super) fn decorators<'a>(
    ast: &'a Ast,
    imports: &Imports,
    function: &Function,
    name: &str,
) -> impl Iterator<Item = &'a [Arg]> {
    function.decorators.iter().filter_map(move |&decorator| {
        let (path, args): (_, &[Arg]) = match ast.expr(decorator) {
            Expr::Call { func, args } => (*func, args),
            _ => (decorator, &[]),
        };
        (language::canonical(imports, &ast.dotted(path)?)? == name).then_some(args)
    })
}

/// What gives a kernel its configurations: the arguments of `triton.autotune`, or of what else takes `configs` as that does.
#[derive(Clone, Copy)]
pub struct Tuner<'a> {
    args: &'a [Arg],
    is_authors: bool,
    /// The kernel is tuned under another name, and its own one launches it past that.
    pub is_renamed: bool,
    /// Configurations are dictionaries, as those of `tilelang.autotune` are.
    takes_dictionaries: bool,
}

impl<'a> Tuner<'a> {
    /// Among the decorators of the kernel that a block is.
    pub fn of(ast: &'a Ast, imports: &Imports) -> Option<Tuner<'a>> {
        let function = function(ast)?;
        if let Some(args) = decorator(ast, imports, function, "triton.autotune") {
            return Some(Tuner { args, is_authors: false, is_renamed: false, takes_dictionaries: false });
        }
        function.decorators.iter().find_map(|&decorator| Tuner::called(ast, imports, decorator))
    }

    /// Where a block calls it for a kernel of that name: `triton.autotune(configs=…)(kernel)`.
    pub fn for_name(ast: &'a Ast, imports: &Imports, kernel: &str) -> Option<Tuner<'a>> {
        let (call, tuner) = ast.exprs().find_map(|(call, expr)| match expr {
            Expr::Call { func, args } if matches!(args.as_slice(), [only] if ast.name(only.value) == Some(kernel)) => {
                Some((call, Tuner::called(ast, imports, *func)?))
            }
            _ => None,
        })?;
        let keeps_name = ast.stmts().any(|(_, stmt)| match stmt {
            Stmt::Assign { targets, value: Some(value), .. } => {
                *value == call && targets.iter().any(|&target| ast.name(target) == Some(kernel))
            }
            _ => false,
        });
        Some(Tuner { is_renamed: !keeps_name, ..tuner })
    }

    fn called(ast: &'a Ast, imports: &Imports, call: ExprId) -> Option<Tuner<'a>> {
        let Expr::Call { func, args } = ast.expr(call) else { return None };
        let path = ast.dotted(*func).and_then(|path| language::canonical(imports, &path));
        let takes_dictionaries = ast.dotted(*func).is_some_and(|path| is_of_tilelang(imports, &path));
        let is_authors = path.as_deref() != Some("triton.autotune") && !takes_dictionaries;
        let takes_configs = args.iter().any(|arg| arg.keyword.as_deref() == Some("configs"));
        (takes_configs || !is_authors).then_some(Tuner { args, is_authors, is_renamed: false, takes_dictionaries })
    }

    /// What it takes for the configurations.
    pub fn configs(&self) -> Option<ExprId> {
        let by_keyword = self.args.iter().find(|arg| arg.keyword.as_deref() == Some("configs"));
        Some(by_keyword.or(self.args.first())?.value)
    }
}

/// `tilelang.autotune`, by any of its names.
fn is_of_tilelang(imports: &Imports, path: &[&str]) -> bool {
    let module = path.first().and_then(|first| imports.module_of(first)).unwrap_or_default();
    path.last() == Some(&"autotune") && module.starts_with("tilelang") || module == "tilelang.autotune"
}

/// True for functions of `@triton.jit` and `@gluon.jit`.
pub fn is_jit(ast: &Ast, imports: &Imports, function: &Function) -> bool {
    ["triton.jit", "gluon.jit"].iter().any(|name| decorator(ast, imports, function, name).is_some())
}

/// True for functions of `@gluon.jit`.
pub fn is_gluon(ast: &Ast, imports: &Imports, function: &Function) -> bool {
    decorator(ast, imports, function, "gluon.jit").is_some()
}

/// True where a parameter's annotation says that its value is known when the kernel is compiled.
pub fn is_constexpr(ast: &Ast, imports: &Imports, annotation: ExprId) -> bool {
    let path = ast.dotted(annotation);
    let canonical = path.and_then(|path| language::canonical(imports, &path));
    matches!(canonical.as_deref(), Some("tl.constexpr" | "gl.constexpr"))
}

/// What the `static_assert`s of a kernel say of its parameters: `NAME == constant`, alone or joined by `and`.
pub fn asserted(
    ast: &Ast,
    function: &Function,
    scope: &dyn Scope,
    imports: &Imports,
) -> BTreeMap<String, (Constant, String)> {
    let mut facts = BTreeMap::new();
    for &stmt in &function.body {
        let Stmt::Expr(call) = ast.stmt(stmt) else { continue };
        let Expr::Call { func, args } = ast.expr(*call) else { continue };
        let canonical = ast.dotted(*func).and_then(|path| language::canonical(imports, &path));
        if let (Some("tl.static_assert" | "gl.static_assert"), [condition, ..]) =
            (canonical.as_deref(), args.as_slice())
        {
            equalities(ast, condition.value, scope, &mut facts);
        }
    }
    facts
}

fn equalities(ast: &Ast, condition: ExprId, scope: &dyn Scope, facts: &mut BTreeMap<String, (Constant, String)>) {
    let mut open = vec![condition];
    while let Some(condition) = open.pop() {
        match ast.expr(condition) {
            Expr::Bool2 { op: BoolOp::And, left, right } => open.extend([*right, *left]),
            Expr::Compare { left, rest } => {
                let [(CompareOp::Eq, right)] = rest.as_slice() else { continue };
                let Some(name) = ast.name(*left) else { continue };
                if let value @ (Constant::Int(_) | Constant::Bool(_)) = eval::evaluate(ast, *right, scope) {
                    facts.insert(name.to_owned(), (value, "a `static_assert`".to_owned()));
                }
            }
            _ => {}
        }
    }
}

/// What tunes a kernel: `@triton.autotune`, or a decorator that takes `configs` as that does.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuning {
    /// Why they are not known.
    pub configurations: Result<Vec<Scenario>, Reason>,
    /// A function of the author's may drop some of them before any is compiled.
    pub is_pruned: bool,
}

/// What tunes a kernel, given as its own block and function, that a block `ast` tunes. `scope` is what that block sees; it may take all that a list may
/// hold, and then is said to have `guessed`.
pub fn tuning(
    (kernel, function): (&Ast, &Function),
    (ast, tuner): (&Ast, Tuner<'_>),
    scope: &dyn Scope,
    guessed: &Cell<bool>,
) -> Option<Tuning> {
    let configs = tuner.configs()?;
    let made = || {
        let function = scope.function(ast.name(configs).filter(|_| tuner.takes_dictionaries)?)?;
        Some(eval::run(&[&function.ast], &[], scope))
    };
    let value = made().unwrap_or_else(|| eval::evaluate_first(ast, configs, MOST_SCENARIOS, scope));
    let value = match value {
        Constant::OneOf(choice) => match choice.all_elements() {
            Some(all) => Constant::List(all.into()),
            None => Constant::OneOf(choice),
        },
        value => value,
    };
    let is_plain = has_configurations(&value) || tuner.takes_dictionaries;
    let chosen = if is_plain { None } else { chosen_from(ast, configs, scope) };
    let is_pruned = guessed.get()
        || chosen.is_some()
        || tuner.is_authors
        || tuner.args.iter().any(|arg| arg.keyword.as_deref() == Some("prune_configs_by"));
    let configurations = match chosen.map_or(value, |(_, all)| all) {
        Constant::List(configs) | Constant::Tuple(configs) => {
            let count = configs.len();
            let scenario = |(i, config): (usize, &Constant)| {
                let mut scenario = match config {
                    Constant::Dict(pairs) if tuner.takes_dictionaries => of_values(pairs, i + 1, count),
                    config => of_configuration(config, i + 1, count)?,
                };
                // What a configuration says of an option goes over what it says of a parameter.
                for option in OPTIONS.into_iter().filter(|_| !tuner.takes_dictionaries) {
                    scenario.values.remove(option);
                }
                Some(scenario.with_options_as_values(function, kernel))
            };
            let found: Vec<Scenario> = configs.iter().enumerate().filter_map(scenario).take(MOST_SCENARIOS).collect();
            // `configs` of a decorator that does something else.
            if found.is_empty() {
                Err(Reason::new("no `triton.Config` is among the configurations"))
            } else {
                Ok(found)
            }
        }
        Constant::Unknown(reason) => Err(reason),
        _ => Err(Reason::new("the autotune configurations are not a list")),
    };
    Some(Tuning { configurations, is_pruned })
}

/// Calls in each other that are looked into for a list of configurations.
const MOST_CALLS: usize = 16;

/// The list from which a function that is not known chooses configurations, as in `configs=kept([triton.Config(…), …])`, and its value.
pub fn chosen_from(ast: &Ast, configs: ExprId, scope: &dyn Scope) -> Option<(ExprId, Constant)> {
    let mut open = vec![configs];
    for _ in 0..MOST_CALLS {
        let expr = open.pop()?;
        let inner = match ast.expr(expr) {
            Expr::Call { args, .. } => args.iter().rev().map(|arg| arg.value).collect(),
            Expr::Comprehension { element, clauses } => match clauses.as_slice() {
                // Only conditions follow what each of them is taken from.
                [Clause::For { target, iter }, rest @ ..]
                    if ast.name(*target).is_some()
                        && ast.name(*target) == ast.name(*element)
                        && rest.iter().all(|clause| matches!(clause, Clause::If(_))) =>
                {
                    vec![*iter]
                }
                _ => continue,
            },
            _ => continue,
        };
        for &expr in inner.iter().rev() {
            let value = eval::evaluate_first(ast, expr, MOST_SCENARIOS, scope);
            if has_configurations(&value) {
                return Some((expr, value));
            }
        }
        open.extend(inner);
    }
    None
}

fn has_configurations(value: &Constant) -> bool {
    match value {
        Constant::List(all) | Constant::Tuple(all) => all.iter().any(|it| it.get::<Config>().is_some()),
        _ => false,
    }
}

fn of_configuration(config: &Constant, number: usize, count: usize) -> Option<Scenario> {
    let config = config.get::<Config>()?;
    let Constant::Dict(pairs) = &config.values else { return None };
    Some(of_values(pairs, number, count).with_options(config.options))
}

fn of_values(pairs: &[(Constant, Constant)], number: usize, count: usize) -> Scenario {
    let values = pairs.iter().filter_map(|(key, value)| match (key, value) {
        (_, Constant::Unknown(_) | Constant::OneOf(_)) => None,
        (Constant::Str(name), value) => Some((
            name.clone(),
            (
                value.clone(),
                format!(
                    "autotune configuration {number} of {count}{}",
                    if count == MOST_SCENARIOS { " and more" } else { "" }
                ),
            ),
        )),
        _ => None,
    });
    let possible = pairs.iter().filter_map(|(key, value)| match (key, value) {
        (Constant::Str(name), Constant::OneOf(choice)) => Some((name.clone(), Some(choice.clone()))),
        _ => None,
    });
    Scenario { values: values.collect(), possible: possible.collect(), ..Scenario::default() }
}

/// A call or launch of a function of the file: `kernel(…)` or `kernel[grid](…)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub callee: String,
    pub arguments: Vec<(Option<String>, Constant)>,
}

/// The calls in a block of functions that `is_callee` names, with arguments as far as `scope` knows them.
pub fn calls(ast: &Ast, scope: &dyn Scope, is_callee: &dyn Fn(&str) -> bool) -> Vec<Call> {
    let call = |(_, expr): (ExprId, &Expr)| {
        let Expr::Call { func, args } = expr else { return None };
        let callee = match ast.expr(*func) {
            Expr::Name(name) => name.as_str(),
            Expr::Subscript { value, .. } => ast.name(*value)?,
            _ => return None,
        };
        if !is_callee(callee) || args.iter().any(|arg| matches!(ast.expr(arg.value), Expr::Starred(_))) {
            return None;
        }
        let arguments = args.iter().map(|arg| (arg.keyword.clone(), eval::evaluate(ast, arg.value, scope)));
        Some(Call { callee: callee.to_owned(), arguments: arguments.collect() })
    };
    ast.exprs().filter_map(call).collect()
}

impl Call {
    /// What a launch says of the kernel that is launched.
    pub fn launched(&self, ast: &Ast, imports: &Imports, kernel: &Function, from: &str) -> Scenario {
        let mut scenario = Scenario::default();
        let mut options = Options::default();
        let plain: Vec<&Param> = kernel.params.iter().filter(|param| param.kind == ParamKind::Plain).collect();
        let is_run_time =
            |param: &Param| !param.annotation.is_some_and(|annotation| is_constexpr(ast, imports, annotation));
        // By parameter that is no constexpr.
        let mut divisible: BTreeMap<&str, Option<bool>> = BTreeMap::new();
        for param in kernel.params.iter().filter(|param| is_run_time(param)) {
            divisible.insert(ast.name(param.name).unwrap_or_default(), None);
        }
        let mut at = 0;
        for (keyword, value) in &self.arguments {
            let param = match keyword {
                Some(keyword) => kernel.params.iter().find(|param| ast.name(param.name) == Some(keyword)),
                None => {
                    at += 1;
                    plain.get(at - 1).copied()
                }
            };
            let Some(param) = param else {
                let option = keyword.as_deref().unwrap_or_default();
                if options.set(option, value) {
                    match value {
                        // Memory is not looked for in ways to give it.
                        _ if !OPTIONS.contains(&option) => {}
                        Constant::OneOf(choice) if !choice.is_open() => {
                            _ = scenario.possible.insert(option.to_owned(), Some(choice.clone()))
                        }
                        Constant::Unknown(_) | Constant::OneOf(_) => {
                            _ = scenario.possible.insert(option.to_owned(), None)
                        }
                        _ => {}
                    }
                }
                continue;
            };
            let name = ast.name(param.name).unwrap_or_default();
            // A keyword is read as an option, too.
            if keyword.is_some() {
                options.set(name, value);
            }
            match host::passed(value, !is_run_time(param)) {
                Passed::Value(value) => {
                    scenario.values.insert(name.to_owned(), (value, from.to_owned()));
                }
                Passed::Argument(argument) => scenario.set_argument(name, argument, from),
                Passed::OneOf(choice) => _ = scenario.possible.insert(name.to_owned(), Some(choice)),
                Passed::Nothing => {}
            }
            if let Some(known) = divisible.get_mut(name) {
                *known = host::is_divisible(value);
            }
        }
        if divisible.values().all(Option::is_some) {
            let multiples = divisible.iter().filter(|(_, is_multiple)| **is_multiple == Some(true));
            scenario.divisible = Some(multiples.map(|(name, _)| (*name).to_owned()).collect());
        }
        OneOf::number_anew(scenario.possible.values_mut().flatten());
        scenario.with_options(options)
    }

    /// The known arguments by parameter of the callee.
    pub fn values(&self, ast: &Ast, callee: &Function, from: &str) -> BTreeMap<String, (Constant, String)> {
        let known = self.given(ast, callee).filter(|(_, value)| !matches!(value, Constant::Unknown(_)));
        known.map(|(name, value)| (name.to_owned(), (value.clone(), from.to_owned()))).collect()
    }

    /// What a call says of a function that is run for its arguments. One that is not known may be anything, and not the default.
    pub fn made(&self, ast: &Ast, callee: &Function, from: &str) -> Scenario {
        let mut scenario = Scenario::default();
        for (name, value) in self.given(ast, callee) {
            match value {
                Constant::OneOf(choice) => _ = scenario.possible.insert(name.to_owned(), Some(choice.clone())),
                Constant::Unknown(_) => _ = scenario.possible.insert(name.to_owned(), None),
                value => _ = scenario.values.insert(name.to_owned(), (value.clone(), from.to_owned())),
            }
        }
        if scenario.possible.remove(eval::UNKNOWN_KEYWORDS).is_some() {
            for name in callee.params.iter().filter_map(|param| ast.name(param.name)) {
                if !scenario.values.contains_key(name) {
                    scenario.possible.entry(name.to_owned()).or_insert(None);
                }
            }
        }
        OneOf::number_anew(scenario.possible.values_mut().flatten());
        scenario
    }

    /// The arguments by parameter of the callee.
    fn given<'a>(&'a self, ast: &'a Ast, callee: &'a Function) -> impl Iterator<Item = (&'a str, &'a Constant)> {
        let positional: Vec<_> = callee.params.iter().filter(|param| param.kind == ParamKind::Plain).collect();
        self.arguments.iter().enumerate().filter_map(move |(i, (keyword, value))| {
            let name = match keyword {
                Some(keyword) => Some(keyword.as_str()),
                None => positional.get(i).and_then(|param| ast.name(param.name)),
            };
            Some((name?, value))
        })
    }
}

/// The names that a scenario gives values, over those of the code around.
pub struct ScenarioScope<'a> {
    pub scenario: &'a Scenario,
    pub outer: &'a dyn Scope,
}

impl Scope for ScenarioScope<'_> {
    fn outer(&self) -> Option<&dyn Scope> {
        Some(self.outer)
    }

    fn constant(&self, name: &str) -> Option<Constant> {
        match self.scenario.values.get(name) {
            Some((value, _)) => Some(value.clone()),
            None => self.outer.constant(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_read_as_values() {
        let scenario = Scenario::parse("HEAD_DIM=128 desc_v=bf16 CAUSAL=True arch=sm_90 nonsense");
        let value = |name: &str| scenario.values[name].0.clone();
        assert_eq!(value("HEAD_DIM"), Constant::Int(128));
        assert_eq!(Dtype::from_constant(&value("desc_v")).map(|dtype| dtype.name), Some("bfloat16"));
        assert_eq!(value("CAUSAL"), Constant::Bool(true));
        assert_eq!(scenario.arch.map(Arch::name), Some("sm_90"));
        assert_eq!(scenario.values.len(), 3);
    }

    #[test]
    fn arguments_have_types() {
        let text = "layout=\"gl.NVMMASharedLayout(128, 16, 2)\", a_desc=fp16[64, 64] p=\"*bf16\",n=\"i64\" \
                    d=\"tensordesc<fp16[64,32],NVMMASharedLayout(swizzle_byte_width=64, rank=2)>\" s='a b'";
        let scenario = Scenario::parse(text);
        let value = |name: &str| scenario.values.get(name).map(|(value, _)| value.clone());
        let argument = |name: &str| scenario.arguments.get(name).map(|(argument, _)| argument.clone());
        assert_eq!(value("layout"), Some(Constant::Str("gl.NVMMASharedLayout(128, 16, 2)".to_owned())));
        assert_eq!(value("s"), Some(Constant::Str("a b".to_owned())));
        let float16 = Dtype::from_name("fp16").map(Dtype::constant);
        assert_eq!(value("a_desc"), float16);
        assert_eq!(value("d"), float16);
        let descriptor = |block: [u64; 2], layout: Option<&str>| {
            let layout = layout.map(str::to_owned);
            Some(ArgumentType::Descriptor { element: "fp16".to_owned(), block: block.to_vec(), layout })
        };
        assert_eq!(argument("a_desc"), descriptor([64, 64], None));
        assert_eq!(argument("d"), descriptor([64, 32], Some("NVMMASharedLayout(swizzle_byte_width=64, rank=2)")));
        assert_eq!(argument("p"), Some(ArgumentType::Pointer { element: "bf16".to_owned() }));
        assert_eq!(argument("n"), Some(ArgumentType::Scalar { dtype: "i64".to_owned() }));
        assert_eq!(value("n"), None);
        assert_eq!(scenario.value("n", true).map(|(value, _)| value), Some(Constant::Str("i64".to_owned())));
    }

    #[test]
    fn options_are_no_values() {
        let scenario = Scenario::parse("num_warps=8 num_ctas=2, num_stages=3 divisible=a,b triton=3.8 M=64");
        assert_eq!((scenario.num_warps, scenario.num_ctas, scenario.num_stages), (Some(8), Some(2), Some(3)));
        assert_eq!(scenario.divisible, Some(["a", "b"].map(str::to_owned).into()));
        assert_eq!(scenario.compiler, Some(Compiler::V3_8));
        assert_eq!(scenario.values.keys().collect::<Vec<_>>(), ["M"]);
    }

    #[test]
    fn a_typo_spoils_its_own_word() {
        let scenario =
            Scenario::parse("= =3 a=\"b M=64 c=[1,2 d=fp16[6x] num_warps=many arch= triton=4 é='ü divisible= N=32");
        assert_eq!(scenario.values["M"].0, Constant::Int(64));
        assert_eq!(scenario.values["N"].0, Constant::Int(32));
        assert_eq!((scenario.num_warps, scenario.arch, scenario.compiler), (None, None, None));
        assert_eq!(scenario.divisible, Some(BTreeSet::new()));
        assert!(scenario.arguments.is_empty());
        for text in
            ["\"", "'", "[", "a=\"", "a='\"", "a=[", "divisible", "a=tensordesc<", "a=\"tensordesc<fp16[>\"", ",,"]
        {
            Scenario::parse(text);
        }
    }

    #[test]
    fn settings_say_the_same() {
        let settings = "divisible = [\"a\", \"b\"]\nnum_warps = [4, 8]\ntriton = 3.9\na = \"fp16[64,64]\"\nM = 64\n";
        let value = toml::Value::Table(settings.parse().expect("a table"));
        let scenarios = from_settings(&value).expect("they are understood");
        assert_eq!(scenarios.iter().map(|scenario| scenario.num_warps).collect::<Vec<_>>(), [Some(4), Some(8)]);
        assert_eq!(scenarios[0].divisible, Some(["a", "b"].map(str::to_owned).into()));
        assert_eq!(scenarios[0].compiler, Some(Compiler::V3_9));
        assert!(scenarios[0].arguments.contains_key("a"));
    }

    #[test]
    fn a_comment_picks_the_configurations_that_agree() {
        let base = |m: i64| {
            let values =
                [("M", m), ("N", 64)].map(|(name, value)| (name.to_owned(), (Constant::Int(value), String::new())));
            Scenario { values: values.into(), ..Scenario::default() }
        };
        let combined = combine(&[Scenario::parse("M=128 D=64")], vec![base(64), base(128)]);
        assert_eq!(combined.len(), 1);
        assert_eq!(combined[0].values["N"].0, Constant::Int(64));
        assert_eq!(combine(&[Scenario::parse("M=1")], vec![base(64)]).len(), 1);
        assert_eq!(combine(&[], vec![base(64), base(128)]).len(), 2);
    }
}
