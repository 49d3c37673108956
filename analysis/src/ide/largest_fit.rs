//! The largest value of a constant with which every kernel that depends on it still fits: found by laying the kernels out with others.

mod candidates;
mod constants;
mod judged;

use std::collections::BTreeMap;

use tilefit_gpu::device::Space;
use tilefit_pypto::memory::Patience;
use tilefit_python::diagnostics::Code;
use tilefit_python::eval;
use tilefit_python::work;
use tilefit_syntax::TextRange;
use tilefit_syntax::ast::{BinaryOp, Expr, ExprId};

pub use constants::Constant;
pub(crate) use constants::{constants, within};
pub use judged::{MemoryUse, Verdict};

use crate::db;

use super::code_action::{CodeAction, Effect, Fix};
use super::diagnostic::{Diagnostic, configured};
use super::speculative::{self, Concerned, Trials};
use super::{Context, formatting, languages};

use candidates::{Divisions, Form};
use judged::Outcome;

/// What came of the search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LargestFit {
    pub constant: Constant,
    /// Of the present value.
    pub present: Verdict,
    /// The largest value found that fits; all kernels that depend on it were laid out with it.
    pub best: Option<u64>,
    /// The value after `best`, if there is one, and what came of it. `None` where the budget was used up before it was tried.
    pub next: Option<(u64, Option<Verdict>)>,
    /// What the values are, for people: `multiples of 32 that divide 1024`.
    pub values: String,
    /// Every value that was tried, from the smallest.
    pub tried: Vec<(u64, Verdict)>,
    /// The kernels that come to something else with one of them, and the machine of each.
    pub kernels: Vec<(String, &'static str)>,
    /// What their memories take with the present value and with `best`, where it has an upper bound.
    pub memories: [Vec<MemoryUse>; 2],
    /// `best` changes what a kernel is called with, so that its callers have to change too.
    pub changes_parameters: bool,
}

impl LargestFit {
    /// Whether `best` is more than a value that fits: the next greater one was tried and does not.
    pub fn is_largest(&self) -> bool {
        matches!(self.next, Some((_, Some(Verdict::Exceeds(_) | Verdict::Refused(_)))))
    }
}

/// What a search may cost: values tried, steps of the analysis, blocks that may depend on the constant.
struct Budget {
    values: usize,
    steps: u64,
    blocks: usize,
    /// One trial may take the steps that a kernel may.
    whole_trials: bool,
}

impl Budget {
    fn of(patience: Patience) -> Budget {
        match patience {
            // Somebody waits for a menu.
            Patience::Background => Budget { values: 24, steps: 200_000, blocks: 48, whole_trials: false },
            Patience::CommandLine => Budget { values: 64, steps: 20_000_000, blocks: 2048, whole_trials: true },
        }
    }
}

/// Of the constant at a byte offset. Errors are sentences for people.
pub(crate) fn largest_fit(context: &Context<'_>, offset: usize, patience: Patience) -> Result<LargestFit, String> {
    let Some(constant) = constants::at(context, offset) else {
        return Err("not an integer constant: put the cursor on the number or on its name".to_owned());
    };
    let budget = Budget::of(patience);
    let blocks = constants::dependents(context, &constant);
    if blocks.len() > budget.blocks {
        return Err(format!("too many functions of this file depend on it ({}) to try other values", blocks.len()));
    }
    let started = work::spent();
    let mut before = Outcome::default();
    for &block in &blocks {
        context.db.unwind_if_revision_cancelled();
        before.add(context, block);
        // What was laid out is known when somebody asks again.
        if work::spent() - started > budget.steps {
            return Err(TOO_MANY_STEPS.to_owned());
        }
    }
    if before.is_empty() {
        return Err("no kernel in this file uses it".to_owned());
    }
    let has_tiles = blocks.iter().any(|&block| {
        let start = context.document().blocks()[block].start;
        let placed = Concerned::Block(start).units(context);
        let has_kernels = |it: &super::PlacedUnit<'_>| !languages::all_kernels(context, it.unit).is_empty();
        placed.iter().any(|it| has_kernels(it) && languages::of(context, it.unit).dialect().has_tiles)
    });
    let form = Form::of(constant.name.as_deref(), constant.value, has_tiles);
    let divisions = divisions(context, &constant, &blocks);
    let values = form.values(constant.value, &divisions);
    let mut words = form.words(constant.value);
    for whole in divisions.dividing.iter().filter(|whole| whole.is_multiple_of(constant.value)) {
        words += &format!(", those that divide {whole}");
    }
    let present = values.binary_search(&constant.value).unwrap_or_default();
    let limits = context.config().limits;
    let limits = if budget.whole_trials { limits } else { speculative::short(limits) };
    let trials = Trials::of(context, limits);
    let mut search = Search {
        context,
        constant: &constant,
        blocks: &blocks,
        values,
        tried: BTreeMap::from([(present, before)]),
        present,
        changing: BTreeMap::new(),
        budget,
        trials,
        started,
    };
    search.run()?;
    Ok(search.result(words))
}

const TOO_MANY_STEPS: &str = "its kernels take too many steps to be laid out with another value";

struct Search<'a> {
    context: &'a Context<'a>,
    constant: &'a Constant,
    blocks: &'a [usize],
    values: Vec<u64>,
    /// By index of the value.
    tried: BTreeMap<usize, Outcome>,
    present: usize,
    /// The kernels that some value changes, and of each the scenarios.
    changing: BTreeMap<usize, Vec<usize>>,
    budget: Budget,
    trials: Trials,
    /// Steps at the start.
    started: u64,
}

/// So many values between one that fits and one that does not are tried one by one, the greatest first.
const FEW: usize = 6;

impl Search<'_> {
    fn run(&mut self) -> Result<(), String> {
        // What depends on the constant shows with its neighbours.
        for index in [Some(self.present + 1), self.present.checked_sub(1)].into_iter().flatten() {
            self.lay_out(index);
        }
        let twice = self.values.partition_point(|&value| value < 2 * self.constant.value);
        self.lay_out(twice.min(self.values.len() - 1));
        if self.changing.is_empty() {
            let tried = self.tried.keys().filter(|&&index| index != self.present);
            let tried: Vec<String> = tried.map(|&index| self.values[index].to_string()).collect();
            return Err(match tried.is_empty() {
                true => TOO_MANY_STEPS.to_owned(),
                false => {
                    format!("no kernel is known to use more or less memory with the values tried: {}", tried.join(", "))
                }
            });
        }
        // A kernel that only some values change counts for all of them, so that what fitted before may not be what fits now.
        let mut from = self.best().or_else(|| self.below(self.present));
        while let Some(fits) = from {
            let reached = self.above(fits);
            from = self.best().filter(|&best| best != reached);
        }
        Ok(())
    }

    /// The greatest value tried that fits.
    fn best(&self) -> Option<usize> {
        self.tried.keys().rev().copied().find(|&index| self.judged(index) == Verdict::Fits)
    }

    /// The greatest value found that fits: up from one that does, in steps that grow, and on beyond what does not fit as far as twice the value,
    /// for another value may be possible again.
    fn above(&mut self, mut fits: usize) -> usize {
        loop {
            let mut step = 1;
            while self.verdict(fits + step) == Some(Verdict::Fits) {
                (fits, step) = (fits + step, 2 * step);
            }
            fits = self.narrow(fits, (fits + step).min(self.values.len()));
            let twice = self.values.partition_point(|&value| value < 2 * self.values[fits]);
            let mut beyond = [fits + 1, fits + 2, twice].into_iter().filter(|&index| index > fits);
            match beyond.find(|&index| self.verdict(index) == Some(Verdict::Fits)) {
                Some(index) => fits = index,
                None => return fits,
            }
        }
    }

    /// The first smaller value found that fits, in steps that grow.
    fn below(&mut self, from: usize) -> Option<usize> {
        let (mut index, mut step, mut unknown) = (from, 1, 0);
        loop {
            index = index.checked_sub(step)?;
            match self.verdict(index)? {
                Verdict::Fits => return Some(index),
                // What is not known of so many values is not known of the next one either.
                Verdict::Unknown(_) if unknown == FEW => return None,
                Verdict::Unknown(_) => unknown += 1,
                _ => {}
            }
            step = (2 * step).min(index.max(1));
        }
    }

    /// The greatest value found that fits, between one that does and one that does not, or the end.
    fn narrow(&mut self, mut fits: usize, mut end: usize) -> usize {
        while end - fits > FEW + 1 {
            let middle = fits + (end - fits) / 2;
            match self.verdict(middle) {
                None => return fits,
                Some(Verdict::Fits) => fits = middle,
                Some(_) => end = middle,
            }
        }
        (fits + 1..end).rev().find(|&index| self.verdict(index) == Some(Verdict::Fits)).unwrap_or(fits)
    }

    /// `None` where the budget is used up.
    fn verdict(&mut self, index: usize) -> Option<Verdict> {
        self.lay_out(index).then(|| self.judged(index))
    }

    fn judged(&self, index: usize) -> Verdict {
        self.tried[&index].verdict(&self.tried[&self.present], &self.changing)
    }

    fn lay_out(&mut self, index: usize) -> bool {
        if self.tried.contains_key(&index) {
            return true;
        }
        let spent = work::spent().saturating_sub(self.started);
        let left = self.budget.steps.saturating_sub(spent);
        if index >= self.values.len() || self.tried.len() > self.budget.values || left == 0 {
            return false;
        }
        self.context.db.unwind_if_revision_cancelled();
        let edit = self.edit(self.values[index]);
        let (asker, blocks) = (self.context, self.blocks);
        let after = |context: &Context<'_>| Outcome::of(context, blocks, asker);
        let trial = || self.trials.after(asker, std::slice::from_ref(&edit), after);
        let Some(outcome) = work::together(left, trial).flatten() else { return false };
        let before = &self.tried[&self.present];
        for nth in outcome.changed(before) {
            let rows = self.changing.entry(nth).or_default();
            for row in outcome.changed_scenarios(before, nth) {
                if !rows.contains(&row) {
                    rows.push(row);
                }
            }
        }
        self.tried.insert(index, outcome);
        true
    }

    fn edit(&self, value: u64) -> (TextRange, String) {
        (self.constant.range, value.to_string())
    }

    fn result(&self, values: String) -> LargestFit {
        let before = &self.tried[&self.present];
        let tried: BTreeMap<usize, Verdict> = self.tried.keys().map(|&index| (index, self.judged(index))).collect();
        let best = self.best();
        let next = best.map(|best| best + 1).filter(|&next| next < self.values.len());
        let kernels = || self.changing.keys().copied();
        LargestFit {
            constant: self.constant.clone(),
            present: tried[&self.present].clone(),
            best: best.map(|best| self.values[best]),
            next: next.map(|next| (self.values[next], tried.get(&next).cloned())),
            values,
            kernels: kernels().map(|nth| (before.name(nth).to_owned(), before.target(nth))).collect(),
            memories: [Some(before), best.map(|best| &self.tried[&best])]
                .map(|of| of.map_or_else(Vec::new, |of| of.memories(&self.changing))),
            changes_parameters: best.is_some_and(|best| self.tried[&best].params != before.params),
            tried: tried.into_iter().map(|(index, verdict)| (self.values[index], verdict)).collect(),
        }
    }
}

/// What is divided by a constant, and what it is divided by, where that is known.
fn divisions(context: &Context<'_>, constant: &Constant, blocks: &[usize]) -> Divisions {
    let mut divisions = Divisions::default();
    let Some(name) = constant.name.as_deref().filter(|_| constant.is_bound) else { return divisions };
    for &block in blocks {
        let unit = db::units(context.db, context.file)[block];
        let ast = &constants::parsed(context, block).ast;
        let is_it = |expr: ExprId| ast.name(expr) == Some(name);
        let value = |expr: ExprId| match db::value(context.db, unit, expr) {
            eval::Constant::Int(value) => u64::try_from(value).ok().filter(|&value| value > 0),
            _ => None,
        };
        for (_, expr) in ast.exprs() {
            match expr {
                Expr::Binary { op: BinaryOp::FloorDiv | BinaryOp::Mod, left, right } => {
                    if is_it(*right) {
                        divisions.dividing.extend(value(*left));
                    } else if is_it(*left) {
                        divisions.divided_by.extend(value(*right));
                    }
                }
                Expr::Call { func, args } if ast.dotted(*func).is_some_and(|path| path.last() == Some(&"range")) => {
                    if let [_, end, step, ..] = args.as_slice()
                        && is_it(step.value)
                    {
                        divisions.dividing.extend(value(end.value));
                    }
                }
                _ => {}
            }
        }
    }
    for all in [&mut divisions.dividing, &mut divisions.divided_by] {
        all.sort_unstable();
        all.dedup();
    }
    divisions
}

/// For the constant at a byte offset, where a greater value fits, or the present one does not and another does.
pub(crate) fn action(context: &Context<'_>, offset: usize) -> Option<CodeAction> {
    if context.document().len() > LONGEST_TEXT {
        return None;
    }
    let found = largest_fit(context, offset, Patience::Background).ok()?;
    let (best, present) = (found.best?, found.constant.value);
    let (next, why) = found.next.as_ref().and_then(|(next, why)| Some((next, why.as_ref()?)))?;
    // What a kernel is called with is for its callers to say.
    if best == present || found.changes_parameters {
        return None;
    }
    let why = match why {
        Verdict::Exceeds(MemoryUse { target, memory, used, capacity, .. }) => {
            let unit = if *memory == Space::Tensor.name() { "columns" } else { "bytes" };
            let [used, capacity] = [*used, *capacity].map(|amount| formatting::amount(amount, unit));
            format!("{next} takes {used} of {capacity} {memory} of {target}")
        }
        Verdict::Refused(_) => format!("{next} is refused"),
        Verdict::Fits | Verdict::Warned(_) | Verdict::Unknown(_) => return None,
    };
    let what = found.constant.name.as_ref().map_or_else(|| present.to_string(), String::clone);
    let title = format!("Set `{what}` to {best}, the largest value that fits ({why})");
    let edits = vec![(found.constant.range, best.to_string())];
    let effect = match found.present {
        Verdict::Exceeds(MemoryUse { kernel, .. }) => match exceeded(context, &kernel) {
            Some(fixes) => Effect::Fix(Fix { edits, fixes, preferred: false }),
            None => Effect::Improve(edits),
        },
        _ => Effect::Improve(edits),
    };
    Some(CodeAction { title, effect })
}

/// Of a longer file, whose names are looked for in all of it, a menu would be late.
const LONGEST_TEXT: usize = 1 << 20;

/// What is said of a kernel that does not fit.
fn exceeded(context: &Context<'_>, kernel: &str) -> Option<Diagnostic> {
    context.units().find_map(|placed| {
        let views = languages::all_kernels(context, placed.unit);
        let view = views.iter().find(|view| context.qualified_name(placed.unit, view.name()) == kernel)?;
        let mut said = view.diagnostics(context, &placed).into_iter();
        let mut diagnostic = said.find(|said| said.code == Code::CapacityExceeded)?;
        configured(context, &mut diagnostic).then_some(diagnostic)
    })
}

#[cfg(test)]
mod tests;
