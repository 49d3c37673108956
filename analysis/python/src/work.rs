//! What the analysis of a kernel may cost, and where a stage that runs can be interrupted.
//!
//! A stage counts what it does with [`spend`]: a statement looked at, a pair of tiles compared. Counts, not time, so that the same text has the
//! same answer on every machine. Beyond its [`Limits`] it ends at once, and the kernel is too large to analyse; so it does when an edit
//! or a cancelled request has made its answer worthless. Neither changes what a stage looks like: both unwind to [`within`].

use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::diagnostics::Code;
use crate::finding::{Finding, Origin};

/// What one kernel may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Statements that loops become which the compiler unrolls.
    pub statements: u64,
    /// Steps of each stage: looks at a statement, comparisons of two tiles or instructions.
    pub steps: u64,
}

impl Limits {
    pub const DEFAULT: Limits = Limits { statements: 4096, steps: 2_000_000 };
}

impl Default for Limits {
    fn default() -> Self {
        Limits::DEFAULT
    }
}

/// Why a stage has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// It takes more steps than the limit, which is this.
    TooLarge(u64),
    /// A fault of tilefit.
    Panicked,
}

impl Failure {
    pub fn finding(self, kernel: &str, at: Origin) -> Finding {
        let code = match self {
            Failure::TooLarge(_) => Code::KernelTooLarge,
            Failure::Panicked => Code::Internal,
        };
        let message = match self {
            Failure::TooLarge(_) => format!("kernel `{kernel}` is {self}"),
            Failure::Panicked => format!("tilefit failed on kernel `{kernel}`; please report it with this kernel"),
        };
        Finding::new(code, at, message)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::TooLarge(steps) => {
                write!(
                    f,
                    "too large to be analysed: a stage takes too many steps (the limit is {steps}, setting `limits.steps`)"
                )
            }
            Failure::Panicked => f.write_str("a fault of tilefit"),
        }
    }
}

/// Steps between two looks at whether anybody still waits.
const BETWEEN_LOOKS: u64 = 1024;

/// Pairs that are compared in the time of a step.
const PAIRS_A_STEP: u64 = 8;

/// Outside of [`within`] nothing is limited.
const UNLIMITED: u64 = u64::MAX;

thread_local! {
    /// Of the stage that runs.
    static LIMIT: Cell<u64> = const { Cell::new(UNLIMITED) };
    static LEFT: Cell<u64> = const { Cell::new(UNLIMITED) };
    /// Of the stages that are over.
    static SPENT: Cell<u64> = const { Cell::new(0) };
    /// To all stages together that a trial still has to go through.
    static TOGETHER: Cell<u64> = const { Cell::new(UNLIMITED) };
    static STATEMENTS: Cell<Statements> = const { Cell::new(Statements { made: 0, most: UNLIMITED }) };
}

/// Copies of statements.
#[derive(Clone, Copy)]
struct Statements {
    made: u64,
    most: u64,
}

/// The payload of an unwinding that [`within`] catches.
struct TooLarge;

/// Counts steps of the stage that this thread runs, and ends it where it has none left or nobody waits for it any more.
pub fn spend(steps: u64) {
    let before = LEFT.get();
    let Some(left) = before.checked_sub(steps) else { resume_unwind(Box::new(TooLarge)) };
    LEFT.set(left);
    if before / BETWEEN_LOOKS != left / BETWEEN_LOOKS {
        look();
    }
}

/// The steps that the stage has taken so far.
pub fn taken() -> u64 {
    LIMIT.get().saturating_sub(LEFT.get())
}

/// The steps of all stages that this thread has been through; to be compared with what it was before.
pub fn spent() -> u64 {
    SPENT.get()
}

/// Counts comparisons of one tile, or buffer, with each of so many others.
pub fn spend_on_pairs(others: usize) {
    spend(1 + others as u64 / PAIRS_A_STEP);
}

/// Ends the query that this thread runs if an edit waits for it or its request is cancelled.
pub fn look() {
    salsa::with_attached_database(|db| db.unwind_if_revision_cancelled());
}

/// The copies of a loop's body would be too many.
pub struct TooManyStatements {
    pub made: u64,
    pub most: u64,
}

/// Counts statements that this stage is about to copy, unless they are too many.
pub fn make_statements(count: u64) -> Result<(), TooManyStatements> {
    let Statements { made, most } = STATEMENTS.get();
    let made = made.saturating_add(count);
    if made > most {
        return Err(TooManyStatements { made, most });
    }
    STATEMENTS.set(Statements { made, most });
    Ok(())
}

/// Asks for what the database may remember: a count does not depend on whether it does.
pub fn remembered<T>(query: impl FnOnce() -> T) -> T {
    let around = LEFT.replace(UNLIMITED);
    let answer = query();
    LEFT.set(around);
    answer
}

/// Runs a stage of one kernel.
pub fn within<T>(limits: Limits, stage: impl FnOnce() -> T) -> Result<T, Failure> {
    let copies = Statements { made: 0, most: limits.statements };
    let most = limits.steps.min(TOGETHER.get());
    let around = (LIMIT.replace(most), LEFT.replace(most), STATEMENTS.replace(copies));
    // A stage builds what it returns and changes nothing else, so an unwinding leaves nothing half done.
    let ended = catch_unwind(AssertUnwindSafe(stage));
    let steps = most.saturating_sub(LEFT.get());
    SPENT.set(SPENT.get() + steps);
    TOGETHER.set(TOGETHER.get().saturating_sub(steps));
    LIMIT.set(around.0);
    LEFT.set(around.1);
    STATEMENTS.set(around.2);
    ended.map_err(|payload| failure(payload, most))
}

/// Runs a trial, in a database of its own, all stages of which may take so many steps together; `None` where that is not enough.
pub fn together<T>(steps: u64, trial: impl FnOnce() -> T) -> Option<T> {
    let around = TOGETHER.replace(steps);
    let ended = catch_unwind(AssertUnwindSafe(trial));
    let left = TOGETHER.replace(around);
    let answer = ended.unwrap_or_else(|payload| resume_unwind(payload));
    (left > 0).then_some(answer)
}

/// Runs a part of a stage that may take half of what is left; the rest goes on without it.
pub fn attempt<T>(part: impl FnOnce() -> T) -> Result<T, Failure> {
    let left = LEFT.replace(LEFT.get() / 2);
    let given = LEFT.get();
    let ended = catch_unwind(AssertUnwindSafe(part));
    LEFT.set(left - given.saturating_sub(LEFT.get()));
    ended.map_err(|payload| failure(payload, LIMIT.get()))
}

fn failure(payload: Box<dyn Any + Send>, limit: u64) -> Failure {
    match payload {
        payload if payload.is::<salsa::Cancelled>() => resume_unwind(payload),
        payload if payload.is::<TooLarge>() => Failure::TooLarge(limit),
        _ => Failure::Panicked,
    }
}

/// The steps that something takes, all stages together.
pub fn steps_of(work: impl FnOnce()) -> u64 {
    let around = (LEFT.replace(UNLIMITED), SPENT.replace(0));
    work();
    let outside = UNLIMITED - LEFT.replace(around.0);
    SPENT.replace(around.1) + outside
}
