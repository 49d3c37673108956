//! What the author's compiler says of the kernels of a file, beside what tilefit says of them.

use std::collections::BTreeMap;

use serde::Serialize;
use tilefit_syntax::TextRange;

use crate::confirm::{Answer, By, FailureKind, Function, Outcome, Program, Question, SharedPlan, Tile};
use crate::diagnostics::Code;

use super::diagnostics::Diagnostic;
use super::language::{KernelView, Memory};
use super::plan_view::TilePlan;
use super::{Context, PlacedUnit};

/// What to ask of one kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelQuestion {
    /// `Program.kernel`
    pub kernel: String,
    /// Of its name, from 1.
    pub line: usize,
    /// Or why it cannot be asked, in words for the author.
    pub question: Result<Question, String>,
}

/// What the compiler's answer says of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Confirmation {
    /// `Program.kernel`
    pub kernel: String,
    /// Of its name, from 1.
    pub line: usize,
    /// `triton 3.9.0`; `None` where no compiler was found.
    pub by: Option<String>,
    /// The device.
    pub on: String,
    /// Bytes by memory space, as the compiler has it.
    pub spaces: BTreeMap<String, u64>,
    pub verdict: Verdict,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum Verdict {
    /// It plans the same.
    Confirmed,
    /// What it plans lies within what tilefit says.
    Within,
    /// It plans something else.
    Differs {
        /// Of the first buffer that differs, from 1.
        line: usize,
        message: String,
    },
    /// It does not take the kernel.
    Refused {
        line: usize,
        message: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        details: Option<String>,
    },
    /// It did not answer.
    Failed {
        message: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        details: Option<String>,
    },
}

impl Confirmation {
    /// `confirmed by triton 3.9.0 on sm_90`
    pub fn words(&self) -> String {
        let by = self.by.as_deref().unwrap_or("the compiler");
        let on = &self.on;
        match &self.verdict {
            Verdict::Confirmed => format!("confirmed by {by} on {on}"),
            Verdict::Within => {
                let spaces: Vec<_> = self.spaces.iter().map(|(space, used)| format!("{space} {used}")).collect();
                format!("{} by {by} on {on}", spaces.join(" · "))
            }
            Verdict::Differs { .. } => format!("{by} differs on {on}"),
            Verdict::Refused { .. } => format!("{by} refuses it on {on}"),
            Verdict::Failed { message, .. } => format!("not confirmed: {message}"),
        }
    }
}

/// What there is to ask of the kernels of a file.
pub(crate) fn questions(context: &Context<'_>) -> Vec<KernelQuestion> {
    let mut all = Vec::new();
    for placed in context.units() {
        for kernel in context.all_kernels(placed.unit) {
            all.push(KernelQuestion {
                kernel: context.qualified_name(placed.unit, kernel.name()),
                line: context.line(placed.range(kernel.name_origin()).start),
                question: kernel.question(context, &placed),
            });
        }
    }
    all
}

/// What was answered of the kernels of a file, in text order.
pub(crate) fn confirmations(context: &Context<'_>) -> Vec<Confirmation> {
    if context.file.answers(context.db).is_empty() {
        return Vec::new();
    }
    let mut all = Vec::new();
    for placed in context.units() {
        let kernels = context.all_kernels(placed.unit);
        all.extend(kernels.iter().filter_map(|kernel| of_kernel(context, &placed, &**kernel)));
    }
    all
}

/// What was answered of a kernel; `None` where nobody asked, of this text under these inputs.
pub(super) fn of_kernel(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    kernel: &dyn KernelView,
) -> Option<Confirmation> {
    let answers = context.file.answers(context.db);
    if answers.is_empty() {
        return None;
    }
    let question = kernel.question(context, placed).ok()?;
    let answer = &answers.iter().find(|answered| answered.question == question)?.answer;
    let name = context.qualified_name(placed.unit, kernel.name());
    let line = context.line(placed.range(kernel.name_origin()).start);
    let plan = Predicted {
        line,
        name: kernel.name(),
        memories: kernel.memories(),
        tiles: kernel.details(context, placed).tiles,
    };
    Some(Confirmation {
        kernel: name,
        line,
        by: answer.by.as_ref().map(By::to_string),
        on: kernel.target().to_owned(),
        spaces: plan.spaces_of(answer),
        verdict: plan.compared(answer),
    })
}

/// What the compiler refuses, and where it plans something else.
pub(super) fn diagnostics(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    kernel: &dyn KernelView,
) -> Option<Diagnostic> {
    let confirmation = of_kernel(context, placed, kernel)?;
    let by = confirmation.by.as_deref().unwrap_or("the compiler");
    let (code, line, message) = match confirmation.verdict {
        Verdict::Differs { line, message } => (
            Code::CompilerDiffers,
            line,
            format!("{by} lays `{}` out differently on {}: {message}", confirmation.kernel, confirmation.on),
        ),
        Verdict::Refused { line, message, details } => {
            let details = details.map_or(String::new(), |details| format!("\n{details}"));
            (Code::CompilerRefuses, line, format!("{by} refuses `{}`: {message}{details}", confirmation.kernel))
        }
        Verdict::Confirmed | Verdict::Within | Verdict::Failed { .. } => return None,
    };
    let range = text_of_line(context, line);
    Some(Diagnostic { range, code, severity: code.severity(), message, related: Vec::new() })
}

/// What stands in a line, from 1, without its indentation.
fn text_of_line(context: &Context<'_>, line: usize) -> TextRange {
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
                let (message, details) = (error.message.clone(), error.details.clone());
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
                None => self.differs(self.line, format!("it has no kernel `{}`", self.name)),
            },
        }
    }

    fn function<'a>(&self, programs: &'a [Program]) -> Option<&'a Function> {
        programs.iter().flat_map(|program| &program.functions).find(|function| function.name == self.name)
    }

    fn differs(&self, line: usize, message: String) -> Verdict {
        Verdict::Differs { line, message }
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
        for (space, unit, used) in totals {
            let Some(said) = self.memory(space).map(|memory| memory.used) else { continue };
            if used < said.low() || said.high().is_some_and(|high| used > high) {
                let bounds = match said.high() {
                    Some(high) if high == said.low() => high.to_string(),
                    Some(high) => format!("{} to {high}", said.low()),
                    None => format!("at least {}", said.low()),
                };
                return match self.first_difference(plan) {
                    Some((line, buffer)) => {
                        self.differs(line, format!("{used} {unit}, tilefit says {bounds}; {buffer}"))
                    }
                    None => self.differs(self.line, format!("{used} {unit}, tilefit says {bounds}")),
                };
            }
            is_exact &= said.exactly().is_some();
        }
        if !is_exact {
            return Verdict::Within;
        }
        match self.first_difference(plan) {
            Some((line, message)) => self.differs(line, message),
            None => Verdict::Confirmed,
        }
    }

    /// The first buffer that the compiler has and tilefit has not, or has elsewhere.
    fn first_difference(&self, plan: &SharedPlan) -> Option<(usize, String)> {
        let is_explicit = |kind: &str| matches!(kind, "explicit" | "barrier");
        let mut unmatched: Vec<&TilePlan> = self.tiles.iter().filter(|tile| tile.space == Some("smem")).collect();
        for buffer in plan.buffers.iter().filter(|buffer| buffer.function.is_none() && is_explicit(&buffer.kind)) {
            let line = buffer.line.unwrap_or(self.line);
            let is_same = |tile: &&TilePlan| {
                tile.line == line
                    && tile.address == Some(buffer.offset)
                    && buffer.size.is_none_or(|size| tile.bytes == size)
            };
            match unmatched.iter().position(is_same) {
                Some(at) => _ = unmatched.swap_remove(at),
                None => {
                    let size = buffer.size.map_or(String::new(), |size| format!("{size} bytes "));
                    let theirs = format!("{size}at {}", buffer.offset);
                    let ours = unmatched.iter().filter(|tile| tile.line == line).map(|tile| {
                        let at = tile.address.map_or("?".to_owned(), |address| address.to_string());
                        format!("`{}` {} bytes at {at}", tile.name, tile.bytes)
                    });
                    let ours = ours.collect::<Vec<_>>().join(", ");
                    let ours = if ours.is_empty() { "nothing there".to_owned() } else { ours };
                    return Some((line, format!("line {line} has {theirs}, tilefit says {ours}")));
                }
            }
        }
        None
    }

    fn compared_with_tiles(&self, function: &Function) -> Verdict {
        let theirs: Vec<&Tile> = function
            .tiles
            .iter()
            .filter(|tile| !tile.inserted && tile.kind.as_deref().is_none_or(|kind| kind == "def"))
            .collect();
        let ours: Vec<&TilePlan> = self.tiles.iter().filter(|tile| !tile.inserted && tile.kind == "def").collect();
        for (nth, tile) in theirs.iter().enumerate() {
            let line = tile.line.unwrap_or(self.line);
            let Some(our) = ours.get(nth) else {
                return self.differs(line, format!("it has a tile `{}` that tilefit has not", tile.name));
            };
            let is_same = our.name == tile.name
                && tile.space.as_deref() == our.space
                && tile.address == our.address
                && tile.bytes.is_none_or(|bytes| bytes == our.bytes);
            if !is_same {
                let place = |space: Option<&str>, address: Option<u64>, bytes: Option<u64>| {
                    let address = address.map_or("?".to_owned(), |address| format!("{address:#x}"));
                    let bytes = bytes.map_or(String::new(), |bytes| format!(", {bytes} bytes"));
                    format!("{} {address}{bytes}", space.unwrap_or("?"))
                };
                let theirs = place(tile.space.as_deref(), tile.address, tile.bytes);
                let ours = place(our.space, our.address, Some(our.bytes));
                return self
                    .differs(line, format!("`{}` is at {theirs}, tilefit says `{}` at {ours}", tile.name, our.name));
            }
        }
        if let Some(more) = ours.get(theirs.len()) {
            return self.differs(more.line, format!("it has no tile `{}`", more.name));
        }
        for (space, &used) in &function.spaces {
            let said = self.memory(space).map_or(0, |memory| memory.used.low());
            if said != used {
                return self.differs(self.line, format!("{used} bytes of {space}, tilefit says {said}"));
            }
        }
        Verdict::Confirmed
    }
}
