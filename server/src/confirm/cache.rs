//! Answers of compilers, kept in the user's cache directory: a file for each question about a text. Several editors may write at once.

use std::path::Path;

use tilefit_analysis::confirm::{Answer, Question, UpTo};

use super::wire::{Imported, Package, Reply};
use super::{sha256, sha256_of};
use crate::disk::CacheFolder;

/// Above this the oldest answers go.
const MOST_BYTES: u64 = 64 << 20;

pub(super) struct Cache(CacheFolder);

/// The name of an answer.
pub(super) struct Key(String);

impl Key {
    /// A question about a file with a text, to the compiler of an interpreter. The version makes the answers of older programs go.
    pub(super) fn of(python: &Path, file: &Path, sha256_of_text: &str, (question, up_to): (&Question, UpTo)) -> Key {
        let parts = (env!("CARGO_PKG_VERSION"), python, file, sha256_of_text, question);
        let parts = serde_json::to_string(&parts).unwrap_or_default();
        Key(sha256(
            match up_to {
                UpTo::Plan => parts,
                UpTo::MachineCode => parts + " to machine code",
            }
            .as_bytes(),
        ))
    }

    fn file(&self) -> String {
        format!("{}.json", self.0)
    }
}

/// Whether all that an answer rests on is as it was.
fn is_current(reply: &Reply) -> bool {
    let is_same = |file: &Imported| sha256_of(Path::new(&file.path)).as_ref() == Some(&file.sha256);
    reply.packages.iter().all(Package::is_still_installed) && reply.files.iter().all(is_same)
}

impl Cache {
    /// `None` where the user has no place for caches.
    pub(super) fn of_user() -> Option<Cache> {
        CacheFolder::of_user("confirmations").map(Cache)
    }

    pub(super) fn get(&self, key: &Key) -> Option<Answer> {
        let reply: Reply = serde_json::from_str(&self.0.read(&key.file())?).ok()?;
        is_current(&reply).then_some(reply.answer)
    }

    /// A disk that is full, or read-only, keeps nothing.
    pub(super) fn put(&self, key: &Key, reply: &Reply) {
        if let Ok(text) = serde_json::to_string(reply) {
            let _ = self.0.write(&key.file(), &text, MOST_BYTES);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::time::SystemTime;

    use tempfile::TempDir;
    use tilefit_analysis::confirm::{Asked, Outcome, SharedPlan};

    use super::*;

    fn question() -> Question {
        Question {
            ask: Asked::Triton,
            kernel: "k".to_owned(),
            target: "cuda:90".to_owned(),
            planner: None,
            signature: BTreeMap::new(),
            constexprs: BTreeMap::new(),
            divisible: Vec::new(),
            options: BTreeMap::new(),
        }
    }

    #[test]
    fn an_answer_is_kept_while_all_that_it_rests_on_is_the_same() {
        let folder = TempDir::new().expect("a folder");
        let cache = Cache(CacheFolder::at(folder.path().join("cache")));
        let helper = folder.path().join("helper.py");
        fs::write(&helper, "A = 1\n").expect("written");
        let package = folder.path().join("triton");
        fs::create_dir(&package).expect("a package");
        let mut installed =
            Package { version: None, path: Some(package.to_string_lossy().into_owned()), installed: None };
        installed.installed = installed.changed();
        let plan = SharedPlan {
            shared: 64,
            tensor_columns: 0,
            buffers: Vec::new(),
            tensor_memory: Vec::new(),
            machine: None,
            no_machine: None,
        };
        let reply = Reply {
            id: Some(1),
            answer: Answer { by: None, stood_in: Vec::new(), outcome: Outcome::Shared(plan) },
            files: vec![Imported { path: helper.to_string_lossy().into_owned(), sha256: sha256(b"A = 1\n") }],
            packages: vec![installed],
        };
        let key_up_to = |text: &str, up_to| {
            Key::of(Path::new("/python"), Path::new("/k.py"), &sha256(text.as_bytes()), (&question(), up_to))
        };
        let key = |text: &str| key_up_to(text, UpTo::Plan);
        assert!(cache.get(&key("one")).is_none());
        cache.put(&key("one"), &reply);
        assert_eq!(cache.get(&key("one")).as_ref(), Some(&reply.answer));
        assert!(cache.get(&key("two")).is_none());
        assert!(cache.get(&key_up_to("one", UpTo::MachineCode)).is_none());
        fs::write(&helper, "A = 2\n").expect("written");
        assert!(cache.get(&key("one")).is_none());
        fs::write(&helper, "A = 1\n").expect("written");
        assert!(cache.get(&key("one")).is_some());
        let upgraded = fs::File::open(&package).expect("a folder");
        upgraded.set_modified(SystemTime::UNIX_EPOCH).expect("a date");
        assert!(cache.get(&key("one")).is_none());
    }
}
