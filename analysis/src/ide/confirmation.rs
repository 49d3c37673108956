//! What the author's compiler says of a kernel, beside what tilefit says of it.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use tilefit_syntax::TextRange;

use crate::confirm::Question;

use super::machine_code::MachineCode;

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

/// A question about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedQuestion {
    pub question: Question,
    /// Of its kernel, as in `Program.kernel`.
    pub name: String,
    /// The bytes of its kernel.
    pub kernel: TextRange,
    /// It is of the plan that is shown.
    pub is_shown: bool,
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
    /// The tests of the author's own run that said so; `None`: the compiler was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Vec<String>>,
    /// Where it was asked to go on to machine code, and could.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<MachineCode>,
    /// Why it could not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_machine: Option<String>,
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
        buffers: Vec<Differing>,
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

/// A buffer that the compiler and tilefit do not have at one place; `None`: not at all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Differing {
    /// From 1.
    pub line: usize,
    pub compiler: Option<Place>,
    pub tilefit: Option<Place>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    pub name: String,
    pub space: String,
    pub address: Option<u64>,
    pub bytes: Option<u64>,
}

/// `smem 0x400, 8192 bytes`
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.address {
            Some(address) => write!(f, "{} {address:#x}", self.space)?,
            None => write!(f, "{} ?", self.space)?,
        }
        self.bytes.map_or(Ok(()), |bytes| write!(f, ", {bytes} bytes"))
    }
}

/// `line 12 has smem 0x400, 8192 bytes, tilefit says `a` at smem 0x0, 8192 bytes`
impl fmt::Display for Differing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.compiler {
            Some(compiler) => write!(f, "line {} has `{}` at {compiler}", self.line, compiler.name)?,
            None => write!(f, "line {} has nothing", self.line)?,
        }
        match &self.tilefit {
            Some(tilefit) => write!(f, ", tilefit says `{}` at {tilefit}", tilefit.name),
            None => write!(f, ", tilefit says nothing is there"),
        }
    }
}

impl Confirmation {
    /// What the compiler has elsewhere.
    pub fn differing(&self) -> &[Differing] {
        match &self.verdict {
            Verdict::Differs { buffers, .. } => buffers,
            _ => &[],
        }
    }

    /// `confirmed by triton 3.9.0 on sm_90`, `recorded: smem 98304 by triton 3.9.0 on sm_90 in `tests/test_mm.py::test[64]``, and what its machine code
    /// takes.
    pub fn words(&self) -> String {
        match (&self.machine, &self.no_machine) {
            (Some(machine), _) => format!("{}; {}", self.of_plan(), machine.words()),
            (None, Some(why)) => format!("{}; not known as machine code: {why}", self.of_plan()),
            (None, None) => self.of_plan(),
        }
    }

    fn of_plan(&self) -> String {
        let by = self.by.as_deref().unwrap_or("the compiler");
        let on = &self.on;
        let used = || self.spaces.iter().map(|(space, used)| format!("{space} {used}")).collect::<Vec<_>>().join(" · ");
        match (&self.verdict, &self.recorded) {
            (_, Some(tests)) => {
                let test = tests.first().map(|test| format!(" in `{test}`")).unwrap_or_default();
                format!("recorded: {} by {by} on {on}{test}", used())
            }
            (verdict, None) => self.words_of(verdict, by, on, &used()),
        }
    }

    fn words_of(&self, verdict: &Verdict, by: &str, on: &str, used: &str) -> String {
        match verdict {
            Verdict::Confirmed => format!("confirmed by {by} on {on}"),
            Verdict::Within => format!("{used} by {by} on {on}"),
            Verdict::Differs { .. } => format!("{by} differs on {on}"),
            Verdict::Refused { .. } => format!("{by} refuses it on {on}"),
            Verdict::Failed { message, .. } => format!("not confirmed: {message}"),
        }
    }
}
