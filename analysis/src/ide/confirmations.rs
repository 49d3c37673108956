//! What to ask the author's compiler of the kernels of a file, and what its answers say of them.

use std::collections::{BTreeMap, HashSet};

use tilefit_python::diagnostics::Code;
use tilefit_syntax::TextRange;
use tilefit_syntax::ast::Stmt;

use crate::confirm::{
    Answer, By, FailureKind, Function, KernelsAsked, Outcome, Program, SharedBuffer, SharedPlan, Tile,
};
use crate::db::{self, Recorded};
use crate::project::Confirm;

use super::code_action::{CodeAction, Effect};
use super::confirmation::{Confirmation, Differing, KernelQuestion, Place, PlacedQuestion, Verdict};
use super::diagnostic::Diagnostic;
use super::language::{KernelView, Memory};
use super::plan_view::TilePlan;
use super::{Context, PlacedUnit, configurations, languages, machine_code};

/// What there is to ask of the kernels of a file.
pub(crate) fn questions(context: &Context<'_>) -> Vec<KernelQuestion> {
    let mut all = Vec::new();
    for placed in context.units() {
        for kernel in languages::all_kernels(context, placed.unit) {
            all.push(KernelQuestion {
                kernel: context.qualified_name(placed.unit, kernel.name()),
                line: context.line(placed.range(kernel.name_origin()).start),
                question: kernel.question(context, &placed),
            });
        }
    }
    all
}

/// What there is to ask, each once: of the plans that are shown, then of the rest, in text order.
pub(crate) fn all_questions(context: &Context<'_>, of: KernelsAsked) -> Vec<PlacedQuestion> {
    let mut all = Vec::new();
    for placed in context.units() {
        let kernel = TextRange::new(placed.start, placed.start + placed.len);
        for view in languages::all_kernels(context, placed.unit) {
            let asked = |question, is_shown| {
                let name = context.qualified_name(placed.unit, view.name());
                PlacedQuestion { question, name, kernel, is_shown }
            };
            all.extend(view.question(context, &placed).ok().map(|question| asked(question, true)));
            if of == KernelsAsked::EveryConfiguration {
                let others = configurations::questions(context, &placed);
                all.extend(others.into_iter().map(|question| asked(question, false)));
            }
        }
    }
    all.sort_by_key(|asked| !asked.is_shown);
    let mut seen = HashSet::new();
    all.retain(|asked| seen.insert(asked.question.clone()));
    all
}

/// What there is to say of a file without kernels.
pub(crate) fn why_no_kernels(context: &Context<'_>) -> String {
    if is_written_for_the_other_pypto(context) {
        return "this file is written for CANN's tensor framework, another package that is called `pypto`; tilefit reads kernels of \
                hw-native-sys/pypto, which import `pypto.language`"
            .to_owned();
    }
    "there are no kernels in this file".to_owned()
}

/// It imports a `pypto`, and nothing of the language of kernels.
fn is_written_for_the_other_pypto(context: &Context<'_>) -> bool {
    let is_in = |module: &str, package: &str| {
        module.strip_prefix(package).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let mut imports_it = false;
    for (&unit, block) in db::units(context.db, context.file).iter().zip(context.document().blocks()) {
        if !block.source.text.contains("pypto") {
            continue;
        }
        for (_, statement) in db::syntax(context.db, unit).stmts() {
            let modules: Vec<String> = match statement {
                Stmt::Import(modules) => modules.iter().map(|it| it.module.clone()).collect(),
                Stmt::ImportFrom { level: 0, module, names } => {
                    names.iter().map(|it| format!("{module}.{}", it.name)).collect()
                }
                _ => continue,
            };
            if modules.iter().any(|module| is_in(module, "pypto.language")) {
                return false;
            }
            imports_it |= modules.iter().any(|module| is_in(module, "pypto"));
        }
    }
    imports_it
}

/// What was answered of the kernels of a file, in text order.
pub(crate) fn confirmations(context: &Context<'_>) -> Vec<Confirmation> {
    if context.file.answers(context.db).is_empty() {
        return Vec::new();
    }
    let mut all = Vec::new();
    for placed in context.units() {
        let kernels = languages::all_kernels(context, placed.unit);
        let asked = kernels.iter().filter_map(|kernel| of_kernel(context, &placed, &**kernel));
        all.extend(asked.filter(|it| it.recorded.is_none()));
    }
    all
}

/// The compiler's answer for a kernel, or what the author's own run has recorded of it; `None` if neither is about this text under these inputs.
pub(super) fn of_kernel(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    kernel: &dyn KernelView,
) -> Option<Confirmation> {
    let answers = context.file.answers(context.db);
    let question = (!answers.is_empty()).then(|| kernel.question(context, placed).ok()).flatten();
    let asked = question.as_ref().and_then(|question| answers.to(question));
    let (answer, recorded) = match asked {
        Some(answer) => (answer, None),
        None => kernel.recorded(context, placed).map(|recorded| (&recorded.answer, Some(recorded.tests.clone())))?,
    };
    let name = context.qualified_name(placed.unit, kernel.name());
    let line = context.line(placed.range(kernel.name_origin()).start);
    // Who records asks for totals only.
    let tiles = if recorded.is_some() { Vec::new() } else { kernel.details(context, placed).tiles };
    let plan = Predicted { line, name: kernel.name(), memories: kernel.memories(), tiles };
    let machine = question.and_then(|question| machine_code::of(&answer.outcome, &question));
    let (machine, no_machine) = match machine.transpose() {
        Ok(machine) => (machine, None),
        Err(why) => (None, Some(why)),
    };
    Some(Confirmation {
        kernel: name,
        line,
        by: answer.by.as_ref().map(By::to_string),
        on: kernel.target().to_owned(),
        spaces: plan.spaces_of(answer),
        verdict: plan.compared(answer),
        machine,
        no_machine,
        recorded,
    })
}

/// The compiler's own plan of a kernel that tilefit has bounds of.
pub(super) fn plan_within<'c>(
    context: &'c Context<'_>,
    placed: &PlacedUnit<'_>,
    kernel: &dyn KernelView,
) -> Option<&'c SharedPlan> {
    let answers = context.file.answers(context.db);
    let question = (!answers.is_empty()).then(|| kernel.question(context, placed).ok()).flatten()?;
    match &answers.to(&question)?.outcome {
        Outcome::Shared(plan) => Some(plan),
        _ => None,
    }
}

/// What a lens says of it beside the numbers; empty if the compiler was not asked.
pub(super) fn mark(context: &Context<'_>, placed: &PlacedUnit<'_>, kernel: &dyn KernelView) -> String {
    let Some(confirmation) = of_kernel(context, placed, kernel) else { return String::new() };
    let machine = confirmation.machine.as_ref().map_or(String::new(), |machine| format!(" · {}", machine.mark()));
    mark_of_plan(&confirmation) + &machine
}

fn mark_of_plan(confirmation: &Confirmation) -> String {
    let is_recorded = confirmation.recorded.is_some();
    match confirmation.verdict {
        Verdict::Confirmed if is_recorded => " · recorded".to_owned(),
        Verdict::Confirmed => " · confirmed".to_owned(),
        Verdict::Within => {
            let used = confirmation.spaces.values().next().copied().unwrap_or_default();
            format!(" · {used} {}", if is_recorded { "B recorded" } else { "by the compiler" })
        }
        Verdict::Differs { .. } => {
            let used: Vec<_> = confirmation.spaces.iter().map(|(space, used)| format!("{space} {used}")).collect();
            format!(" · {} differs: {}", if is_recorded { "the record" } else { "the compiler" }, used.join(", "))
        }
        Verdict::Refused { .. } => " · the compiler refuses it".to_owned(),
        Verdict::Failed { .. } => " · not confirmed".to_owned(),
    }
}

/// What was said of the kernels of a unit, a sentence each.
pub(super) fn words(context: &Context<'_>, placed: &PlacedUnit<'_>) -> Vec<String> {
    let kernels = languages::all_kernels(context, placed.unit);
    let mut all: Vec<String> = Vec::new();
    for kernel in &kernels {
        let words = of_kernel(context, placed, &**kernel).map(|confirmation| match &confirmation.verdict {
            Verdict::Differs { message, .. } => format!("{}: {message}", confirmation.words()),
            _ => confirmation.words(),
        });
        all.extend(words.filter(|words| !all.contains(words)));
    }
    all
}

/// Asks the compiler, and tells others what it does otherwise.
pub(super) fn actions(context: &Context<'_>, placed: &PlacedUnit<'_>, range: TextRange) -> Vec<CodeAction> {
    let mut actions = Vec::new();
    for kernel in languages::all_kernels(context, placed.unit) {
        let name = placed.range(kernel.name_origin());
        if context.config().confirm != Confirm::Never && (name.intersects(range) || name.touches(range.start)) {
            let effect = Effect::Confirm(range.start);
            actions.push(CodeAction { title: "Confirm with the compiler".to_owned(), effect });
        }
        let all = diagnostics(context, placed, &*kernel);
        let Some(said) = all.into_iter().find(|it| it.code == Code::CompilerDiffers) else { continue };
        if said.range.intersects(range) || said.range.touches(range.start) {
            let Some(text) = reproduction(context, placed, &*kernel) else { continue };
            let name = format!("tilefit-{}.md", context.qualified_name(placed.unit, kernel.name()));
            let effect = Effect::Write { name, text, about: said };
            actions.push(CodeAction { title: "Write down how the compiler differs".to_owned(), effect });
        }
    }
    actions
}

/// A document for whoever mends it: the kernel, what was asked of whom, and both plans.
pub(super) fn reproduction(context: &Context<'_>, placed: &PlacedUnit<'_>, kernel: &dyn KernelView) -> Option<String> {
    let confirmation = of_kernel(context, placed, kernel)?;
    let question = kernel.question(context, placed).ok()?;
    let Verdict::Differs { message, buffers, .. } = &confirmation.verdict else { return None };
    let mut text = format!(
        "# `{}`: {}\n\ntilefit {}, {}: {message}\n\n```python\n{}\n```\n\n| asked | |\n|---|---|\n",
        confirmation.kernel,
        confirmation.words(),
        env!("CARGO_PKG_VERSION"),
        kernel.planner(),
        context.document().text().get(placed.start..placed.start + placed.len).unwrap_or_default().trim(),
    );
    let asked =
        question.signature.iter().chain(&question.constexprs).map(|(name, value)| (name.clone(), value.clone()));
    let options = question.options.iter().map(|(name, value)| (name.clone(), value.to_string()));
    let rest = [("target", question.target.clone()), ("divisible", question.divisible.join(", "))];
    let rest = rest.into_iter().map(|(name, value)| (name.to_owned(), value));
    for (name, value) in rest.chain(options).chain(asked) {
        text += &format!("| {name} | `{value}` |\n");
    }
    text += "\n| line | compiler | tilefit |\n|---|---|---|\n";
    let place =
        |place: &Option<Place>| place.as_ref().map_or("–".to_owned(), |place| format!("`{}` {place}", place.name));
    for Differing { line, compiler, tilefit } in buffers {
        text += &format!("| {line} | {} | {} |\n", place(compiler), place(tilefit));
    }
    for (space, used) in &confirmation.spaces {
        let ours = kernel.memories().into_iter().find(|memory| memory.name == space);
        let ours = ours.map_or("–".to_owned(), |memory| match (memory.used.low(), memory.used.high()) {
            (low, Some(high)) if low == high => low.to_string(),
            (low, Some(high)) => format!("{low}–{high}"),
            (low, None) => format!("at least {low}"),
        });
        text += &format!("| all of {space} | {used} | {ours} |\n");
    }
    Some(text)
}

/// What the compiler refuses, where it plans something else, and which configurations spill as machine code.
pub(super) fn diagnostics(context: &Context<'_>, placed: &PlacedUnit<'_>, kernel: &dyn KernelView) -> Vec<Diagnostic> {
    let confirmation = of_kernel(context, placed, kernel);
    let is_asked = !context.file.answers(context.db).is_empty();
    let in_list = is_asked.then(|| configurations::that_spill(context, placed)).flatten();
    let spills = match (&confirmation, in_list) {
        (_, Some(in_list)) => in_list,
        (Some(confirmation), None) => of_machine_code(confirmation, placed.range(kernel.name_origin())),
        (None, None) => Vec::new(),
    };
    // What other versions take is no defect.
    let is_untested = |record: &Recorded| record.answer.by.as_ref().is_some_and(|by| !by.known);
    let of_others =
        |it: &Confirmation| it.recorded.is_some() && kernel.recorded(context, placed).is_some_and(is_untested);
    let confirmation = confirmation.filter(|it| !of_others(it));
    confirmation.and_then(|confirmation| of_plan(context, confirmation)).into_iter().chain(spills).collect()
}

/// Of a kernel that has no list of configurations.
fn of_machine_code(confirmation: &Confirmation, range: TextRange) -> Vec<Diagnostic> {
    let machine = confirmation.machine.iter().filter(|machine| machine.spills());
    let said = machine.map(|machine| {
        machine_code::spilling(
            range,
            format!("`{}` spills registers on {}", confirmation.kernel, confirmation.on),
            machine,
        )
    });
    said.collect()
}

fn of_plan(context: &Context<'_>, confirmation: Confirmation) -> Option<Diagnostic> {
    let by = confirmation.by.as_deref().unwrap_or("the compiler");
    let run = match confirmation.recorded.as_deref() {
        Some([test, ..]) => format!(", as recorded in `{test}`"),
        Some([]) => ", as recorded".to_owned(),
        None => String::new(),
    };
    let (code, line, message) = match confirmation.verdict {
        Verdict::Differs { line, message, .. } => (
            Code::CompilerDiffers,
            line,
            format!("{by} lays `{}` out differently on {}{run}: {message}", confirmation.kernel, confirmation.on),
        ),
        Verdict::Refused { line, message, details } => {
            let details = details.map_or(String::new(), |details| format!("\n{details}"));
            (Code::CompilerRefuses, line, format!("{by} refuses `{}`: {message}{details}", confirmation.kernel))
        }
        Verdict::Confirmed | Verdict::Within | Verdict::Failed { .. } => return None,
    };
    let range = text_of_line(context, line);
    Some(Diagnostic { range, code, severity: code.severity(), message, related: Vec::new(), elsewhere: None })
}

/// What stands in a line, from 1, without its indentation.
pub(super) fn text_of_line(context: &Context<'_>, line: usize) -> TextRange {
    let rope = context.document().rope();
    let line = line.clamp(1, rope.len_lines()) - 1;
    let start = rope.line_to_byte(line);
    let text = rope.line(line).to_string();
    let indented = text.len() - text.trim_start().len();
    TextRange::new(start + indented.min(text.trim_end().len()), start + text.trim_end().len())
}

/// What tilefit says of a kernel.
struct Predicted<'k> {
    name: &'k str,
    /// Of its name, from 1.
    line: usize,
    memories: Vec<Memory>,
    tiles: Vec<TilePlan>,
}

impl Predicted<'_> {
    fn spaces_of(&self, answer: &Answer) -> BTreeMap<String, u64> {
        match &answer.outcome {
            Outcome::Failed { .. } => BTreeMap::new(),
            Outcome::Shared(plan) => {
                let tensor = (plan.tensor_columns > 0).then(|| ("tmem".to_owned(), plan.tensor_columns));
                [("smem".to_owned(), plan.shared)].into_iter().chain(tensor).collect()
            }
            Outcome::Tiles { programs } => self.function(programs).map(|it| it.spaces.clone()).unwrap_or_default(),
        }
    }

    fn compared(&self, answer: &Answer) -> Verdict {
        match &answer.outcome {
            Outcome::Failed { error } => {
                let (message, details) = (error.message.clone(), error.details.clone().filter(|it| !it.is_empty()));
                match error.kind {
                    FailureKind::Refused => {
                        Verdict::Refused { line: error.line.unwrap_or(self.line), message, details }
                    }
                    _ => Verdict::Failed { message, details },
                }
            }
            Outcome::Shared(plan) => self.compared_with_buffers(plan),
            Outcome::Tiles { programs } => match self.function(programs) {
                Some(function) => self.compared_with_tiles(function),
                None => self.differs(format!("it has no kernel `{}`", self.name), Vec::new()),
            },
        }
    }

    fn function<'a>(&self, programs: &'a [Program]) -> Option<&'a Function> {
        programs.iter().flat_map(|program| &program.functions).find(|function| function.name == self.name)
    }

    fn memory(&self, name: &str) -> Option<&Memory> {
        self.memories.iter().find(|memory| memory.name == name)
    }

    fn compared_with_buffers(&self, plan: &SharedPlan) -> Verdict {
        let totals = [
            ("smem", "bytes of shared memory", plan.shared),
            ("tmem", "columns of tensor memory", plan.tensor_columns),
        ];
        let mut is_exact = true;
        let buffers = self.differing_buffers(plan);
        for (space, unit, used) in totals {
            let Some(said) = self.memory(space).map(|memory| memory.used) else { continue };
            if used < said.low() || said.high().is_some_and(|high| used > high) {
                let bounds = match said.high() {
                    Some(high) if high == said.low() => high.to_string(),
                    Some(high) => format!("{} to {high}", said.low()),
                    None => format!("at least {}", said.low()),
                };
                return self.differs(format!("{used} {unit}, tilefit says {bounds}"), buffers);
            }
            is_exact &= said.exactly().is_some();
        }
        match buffers.first() {
            _ if !is_exact => Verdict::Within,
            Some(first) => self.differs(first.to_string(), buffers),
            None => Verdict::Confirmed,
        }
    }

    /// At the first buffer that differs, else at the name of the kernel.
    fn differs(&self, message: String, buffers: Vec<Differing>) -> Verdict {
        Verdict::Differs { line: buffers.first().map_or(self.line, |first| first.line), message, buffers }
    }

    /// The buffers that the compiler has elsewhere, or that only one of the two has.
    fn differing_buffers(&self, plan: &SharedPlan) -> Vec<Differing> {
        let has_memory = |tile: &&TilePlan| tile.space == Some("smem") && !matches!(tile.kind, "view" | "unused");
        let mut ours: Vec<&TilePlan> = self.tiles.iter().filter(has_memory).collect();
        let mut theirs = Theirs::all(plan, self.line, &ours);
        let of_calls: Vec<Theirs<'_>> = theirs.iter().filter(|their| their.is_of_call()).cloned().collect();
        // The surest pairs first, so that nothing of which less is known takes a part of one.
        for is_pair in [Theirs::is_here, Theirs::is_there, Theirs::may_be_here, Theirs::may_be_there] {
            theirs.retain(|their| match ours.iter().position(|our| is_pair(their, our)) {
                Some(at) => {
                    ours.remove(at);
                    false
                }
                None => true,
            });
        }
        // The compiler has the buffers of a function once, however often it is called.
        ours.retain(|our| our.at_least > 0 && !of_calls.iter().any(|their| their.is_there(our)));
        let mut differing = Vec::new();
        for their in theirs {
            let our = ours.iter().position(|our| our.line == their.line && their.is_alike(our));
            let our = our.map(|at| place_of(ours.remove(at)));
            differing.push(Differing { line: their.line, compiler: Some(their.place()), tilefit: our });
        }
        differing.extend(ours.into_iter().map(|tile| Differing {
            line: tile.line,
            compiler: None,
            tilefit: Some(place_of(tile)),
        }));
        differing.sort_by_key(|it| it.line);
        differing
    }

    fn compared_with_tiles(&self, function: &Function) -> Verdict {
        let is_defined = |tile: &&Tile| !tile.inserted && tile.kind.as_deref().is_none_or(|kind| kind == "def");
        let theirs: Vec<&Tile> = function.tiles.iter().filter(is_defined).collect();
        let ours: Vec<&TilePlan> = self.tiles.iter().filter(|tile| !tile.inserted && tile.kind == "def").collect();
        let mut differing = Vec::new();
        for nth in 0..theirs.len().max(ours.len()) {
            let (their, our) = (theirs.get(nth), ours.get(nth));
            let is_same = their.zip(our).is_some_and(|(their, our)| {
                our.name == their.name
                    && their.space.as_deref() == our.space
                    && their.address == our.address
                    && their.bytes.is_none_or(|bytes| bytes == our.bytes)
            });
            if !is_same {
                let line = their.and_then(|tile| tile.line).or(our.map(|tile| tile.line)).unwrap_or(self.line);
                let their = their.map(|tile| Place {
                    name: tile.name.clone(),
                    space: tile.space.clone().unwrap_or_default(),
                    address: tile.address,
                    bytes: tile.bytes,
                });
                differing.push(Differing { line, compiler: their, tilefit: our.map(|tile| place_of(tile)) });
            }
        }
        if let Some(first) = differing.first() {
            return self.differs(first.to_string(), differing);
        }
        for (space, &used) in &function.spaces {
            let said = self.memory(space).map_or(0, |memory| memory.used.low());
            if said != used {
                return self.differs(format!("{used} bytes of {space}, tilefit says {said}"), Vec::new());
            }
        }
        Verdict::Confirmed
    }
}

/// A buffer of the compiler's.
#[derive(Clone)]
struct Theirs<'a> {
    buffer: &'a SharedBuffer,
    /// In the kernel's file, from 1.
    line: usize,
    /// One for each call of its function.
    addresses: Vec<u64>,
    /// Nothing that tilefit knows is in its line.
    is_elsewhere: bool,
}

/// Calls of functions in functions that are not inlined are followed so deep.
const DEPTH_OF_CALLS: usize = 4;

impl<'a> Theirs<'a> {
    /// In a kernel whose name is in a line, beside `ours`.
    fn all(plan: &'a SharedPlan, of_kernel: usize, ours: &[&TilePlan]) -> Vec<Theirs<'a>> {
        let calls = |is_inner: bool| {
            let calls = plan.buffers.iter().filter(move |it| it.kind == "call" && it.function.is_some() == is_inner);
            calls.map(|call| call.offset)
        };
        let mut bases: Vec<u64> = calls(false).collect();
        let mut outer = bases.clone();
        for _ in 1..DEPTH_OF_CALLS {
            outer = outer.iter().flat_map(|base| calls(true).map(move |offset| base + offset)).collect();
            outer.sort_unstable();
            outer.dedup();
            bases.extend(&outer);
        }
        let buffers = plan.buffers.iter().filter(|buffer| buffer.kind != "call");
        let theirs = buffers.map(|buffer| {
            let line = buffer.line.unwrap_or(of_kernel);
            let addresses = match buffer.function {
                Some(_) => bases.iter().map(|base| base + buffer.offset).collect(),
                None => vec![buffer.offset],
            };
            Theirs { buffer, line, addresses, is_elsewhere: ours.iter().all(|our| our.line != line) }
        });
        theirs.collect()
    }

    fn is_of_call(&self) -> bool {
        self.buffer.function.is_some()
    }

    fn place(&self) -> Place {
        Place {
            name: self.buffer.op.clone(),
            space: "smem".to_owned(),
            address: self.addresses.first().copied(),
            bytes: self.buffer.size,
        }
    }

    /// Made for the same.
    fn is_alike(&self, our: &TilePlan) -> bool {
        let is_explicit = |kind: &str| matches!(kind, "explicit" | "barrier" | "def" | "staging");
        let (their, our) = (self.buffer.kind.as_str(), our.kind);
        their == our || is_explicit(their) && is_explicit(our)
    }

    fn is_same(&self, our: &TilePlan) -> bool {
        self.is_alike(our)
            && our.address.is_some_and(|address| self.addresses.contains(&address))
            && self.buffer.size.is_none_or(|size| our.bytes == size && our.at_least == size)
    }

    /// As far as ours is known.
    fn may_be_same(&self, our: &TilePlan) -> bool {
        self.is_alike(our)
            && our.address.is_none_or(|address| self.addresses.contains(&address))
            && self.buffer.size.is_none_or(|size| (our.at_least..=our.bytes).contains(&size))
    }

    fn is_here(&self, our: &TilePlan) -> bool {
        self.line == our.line && self.is_same(our)
    }

    /// The compiler may give what it adds itself another line: which one is not a matter of memory.
    fn is_there(&self, our: &TilePlan) -> bool {
        (our.inserted || self.is_elsewhere) && self.is_same(our)
    }

    fn may_be_here(&self, our: &TilePlan) -> bool {
        self.line == our.line && self.may_be_same(our)
    }

    fn may_be_there(&self, our: &TilePlan) -> bool {
        (our.inserted || self.is_elsewhere) && self.may_be_same(our)
    }
}

fn place_of(tile: &TilePlan) -> Place {
    let space = tile.space.unwrap_or("?").to_owned();
    Place { name: tile.name.clone(), space, address: tile.address, bytes: Some(tile.bytes) }
}
