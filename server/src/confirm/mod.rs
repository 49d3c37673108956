//! The author's own compiler, asked what it plans. It runs in a child process, for it imports the author's module: what that does stays there.
//!
//! ```text
//! question ──> cache ──(not known)──> child ── JSON lines ──> driver/ (Python) ── fork ──> the compiler
//! ```

mod cache;
mod child;
pub(crate) mod python;
mod wire;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use sha2::{Digest as _, Sha256};
use tilefit_analysis::confirm::{Answer, Asked, Failure, FailureKind, Outcome, Question, UpTo};

use self::cache::Cache;
use self::child::Child;
use crate::disk;

/// Wall-clock time for one kernel. Compilers take less than a second for nearly all.
const SECONDS: u32 = 60;

/// Memory for one kernel. PyTorch reserves much more than it uses.
const BYTES: u64 = 32 << 30;

/// Asks the compiler of one Python environment. The process stays for the next question.
pub(crate) struct Confirmer {
    python: PathBuf,
    child: Option<Child>,
    cache: Option<Cache>,
}

impl Confirmer {
    pub(crate) fn new(python: PathBuf) -> Confirmer {
        Confirmer { python, child: None, cache: Cache::of_user() }
    }

    pub(crate) fn is_of(&self, python: &Path) -> bool {
        self.python == python
    }

    /// What the compiler says of a kernel in a file whose text has this hash. `stop` ends the wait, and what is waited for.
    pub(crate) fn ask(
        &mut self,
        file: &Path,
        sha256: &str,
        (question, up_to): (&Question, UpTo),
        stop: &AtomicBool,
    ) -> Answer {
        // Those of PyPTO have no machine code.
        let up_to = if question.ask == Asked::Triton { up_to } else { UpTo::Plan };
        let key = cache::Key::of(&self.python, file, sha256, (question, up_to));
        if let Some(answer) = self.cache.as_ref().and_then(|cache| cache.get(&key)) {
            return answer;
        }
        match self.ask_compiler(file, sha256, (question, up_to), stop) {
            Ok(reply) => {
                if let Some(cache) = &self.cache
                    && reply.is_lasting()
                {
                    cache.put(&key, &reply);
                }
                reply.answer
            }
            Err(failure) => unanswered(failure),
        }
    }

    fn ask_compiler(
        &mut self,
        file: &Path,
        sha256: &str,
        (question, up_to): (&Question, UpTo),
        stop: &AtomicBool,
    ) -> Result<wire::Reply, Failure> {
        let mut child = match self.child.take() {
            Some(child) if child.is_current() => child,
            _ => Child::start(&self.python)?,
        };
        let (id, full) = (child.next_id(), up_to == UpTo::MachineCode);
        let request = wire::Request { id, file, sha256, question, full, seconds: SECONDS, bytes: BYTES };
        let mut reply = child.ask(&request, stop)?;
        reply.packages = child.packages().to_vec();
        self.child = Some(child);
        Ok(reply)
    }
}

fn unanswered(error: Failure) -> Answer {
    Answer { by: None, stood_in: Vec::new(), outcome: Outcome::Failed { error } }
}

fn failure(kind: FailureKind, message: impl Into<String>) -> Failure {
    Failure { kind, message: message.into(), file: None, line: None, details: None }
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The hash of a file that is there and regular.
fn sha256_of(path: &Path) -> Option<String> {
    disk::read_named(path).ok().map(|text| sha256(text.as_bytes()))
}
