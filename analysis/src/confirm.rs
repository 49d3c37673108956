//! What there is to ask the compiler of a kernel so that it plans what is planned here, and what it answers. How it is asked is the server's
//! business; the words are those of `server/src/confirm/driver`.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use tilefit_pypto::target::COMPILER;

/// Every compiler that answers were compared with: `PyPTO e2d0f78ae, triton 3.9.0`.
pub fn compared_with() -> String {
    let pypto = format!("{} {}", COMPILER.name, COMPILER.commit);
    let tilelang = tilefit_tilelang::COMPILER.to_owned();
    std::iter::once(pypto).chain(tilefit_gpu::device::compared_with()).chain([tilelang]).collect::<Vec<_>>().join(", ")
}

/// What a compiler is asked: one kernel, with all that its plan depends on beside the source.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Question {
    pub ask: Asked,
    /// As its file names it. For PyPTO the program, which has several kernels.
    pub kernel: String,
    /// `cuda:90`, `hip:gfx942`, `910B`
    pub target: String,
    /// Of PyPTO: `PYPTO` or `DSA_RP`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub planner: Option<String>,
    /// Types of arguments, in Triton's words: `*fp16`, `i32`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub signature: BTreeMap<String, String>,
    /// Python texts.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub constexprs: BTreeMap<String, String>,
    /// Arguments that are multiples of 16.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub divisible: Vec<String>,
    /// `num_warps`, `num_ctas`, `num_stages`, `maxnreg`
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub options: BTreeMap<String, u32>,
}

/// Which of the questions about a file are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelsAsked {
    /// Each kernel under the configuration that its plan is of.
    InForce,
    /// Each under all of them, on all devices of the settings.
    EveryConfiguration,
}

/// How far the compiler goes with each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UpTo {
    /// Memory is planned.
    #[default]
    Plan,
    /// And then it makes machine code.
    MachineCode,
}

/// Whose compiler is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Asked {
    /// Of Triton, Gluon and TLX.
    Triton,
    Pypto,
    Tilelang,
}

/// What a compiler answered, or why it did not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The compiler; absent where none was found.
    #[serde(default)]
    pub by: Option<By>,
    /// Packages that are not installed and that names stood in for.
    #[serde(default)]
    pub stood_in: Vec<String>,
    #[serde(flatten)]
    pub outcome: Outcome,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct By {
    /// `triton`
    pub name: String,
    pub version: String,
    /// What else makes the compiler what it is: `triton-utlx 3.8.0`.
    #[serde(default)]
    pub with: Vec<String>,
    /// Whose fork of it this is.
    #[serde(default)]
    pub fork: Option<String>,
    /// Whether the driver was tested with this version.
    #[serde(default = "yes")]
    pub known: bool,
}

fn yes() -> bool {
    true
}

impl std::fmt::Display for By {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.name, self.version)?;
        self.fork.iter().try_for_each(|fork| write!(f, " (a fork with {fork})"))?;
        self.with.iter().try_for_each(|with| write!(f, " with {with}"))?;
        if self.known { Ok(()) } else { write!(f, ", an untested version") }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Outcome {
    Failed { error: Failure },
    Shared(SharedPlan),
    Tiles { programs: Vec<Program> },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub kind: FailureKind,
    /// A sentence for the author.
    pub message: String,
    #[serde(default)]
    pub file: Option<String>,
    #[serde(default)]
    pub line: Option<usize>,
    /// The compiler's own words.
    #[serde(default)]
    pub details: Option<String>,
}

/// Why there is no plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// The compiler does not take the kernel.
    Refused,
    /// The author's module cannot be imported.
    Module,
    /// It ends Python.
    Exit,
    NoKernel,
    /// An argument has no type or value.
    Argument,
    Timeout,
    Memory,
    Killed,
    /// The file is another one than what was asked about.
    Changed,
    NoCompiler,
    /// The driver does not know this compiler.
    Driver,
}

/// The memory of a kernel of a GPU.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SharedPlan {
    /// Bytes of a block.
    pub shared: u64,
    #[serde(default)]
    pub tensor_columns: u64,
    #[serde(default)]
    pub buffers: Vec<SharedBuffer>,
    #[serde(default)]
    pub tensor_memory: Vec<TensorBuffer>,
    /// Where it was asked to go on to machine code, and could.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
    /// Why it could not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_machine: Option<String>,
}

/// What a kernel takes as machine code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The assembler: `ptxas 13.4.59`.
    pub by: String,
    /// Of each thread.
    pub registers: u64,
    /// Bytes of each thread.
    #[serde(default)]
    pub stack: u64,
    pub spills: Spills,
    /// Of a block, with those of all tasks.
    pub warps: u64,
    /// Named barriers of a block.
    #[serde(default)]
    pub barriers: u64,
    /// Bytes of shared memory of a block that the assembler adds.
    #[serde(default)]
    pub static_shared: u64,
}

/// What has no place in registers, of each thread, as each assembler counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Spills {
    /// By `ptxas`: of all instructions that store them and load them.
    Bytes { stored: u64, loaded: u64 },
    /// By LLVM for AMD.
    Registers { registers: u64 },
}

impl Spills {
    pub fn are_none(self) -> bool {
        matches!(self, Spills::Bytes { stored: 0, loaded: 0 } | Spills::Registers { registers: 0 })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedBuffer {
    pub op: String,
    /// In the kernel's own file.
    #[serde(default)]
    pub line: Option<usize>,
    pub offset: u64,
    /// Triton 3.8 does not say it of scratch.
    #[serde(default)]
    pub size: Option<u64>,
    pub kind: String,
    /// The function that is not inlined, from whose start the offset counts.
    #[serde(default)]
    pub function: Option<String>,
    /// Of a buffer of the kernel's own; empty where it is one number.
    #[serde(default)]
    pub shape: Vec<u64>,
    /// In MLIR's words.
    #[serde(default)]
    pub dtype: Option<String>,
    /// When it is needed, from one time to before another: numbers that grow from the start of the kernel to its end.
    #[serde(default)]
    pub live: Option<[u32; 2]>,
    /// Of what reads or writes it last, in the kernel's own file.
    #[serde(default)]
    pub last_line: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorBuffer {
    #[serde(default)]
    pub line: Option<usize>,
    pub column: u64,
    pub row: u32,
}

/// A PyPTO program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    pub name: String,
    pub functions: Vec<Function>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    pub name: String,
    #[serde(default)]
    pub tiles: Vec<Tile>,
    /// Bytes by memory space.
    #[serde(default)]
    pub spaces: BTreeMap<String, u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tile {
    pub name: String,
    #[serde(default)]
    pub line: Option<usize>,
    #[serde(default)]
    pub space: Option<String>,
    #[serde(default)]
    pub bytes: Option<u64>,
    #[serde(default)]
    pub address: Option<u64>,
    #[serde(default)]
    pub inserted: bool,
    #[serde(default)]
    pub kind: Option<String>,
}

/// A question about a file, and what was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    pub question: Question,
    pub answer: Answer,
}

/// All that was answered about a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answers(FxHashMap<Question, Answer>);

impl Answers {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn to(&self, question: &Question) -> Option<&Answer> {
        self.0.get(question)
    }
}

impl Extend<Answered> for Answers {
    fn extend<I: IntoIterator<Item = Answered>>(&mut self, answered: I) {
        self.0.extend(answered.into_iter().map(|it| (it.question, it.answer)));
    }
}

impl FromIterator<Answered> for Answers {
    fn from_iter<I: IntoIterator<Item = Answered>>(answered: I) -> Answers {
        let mut answers = Answers::default();
        answers.extend(answered);
        answers
    }
}
