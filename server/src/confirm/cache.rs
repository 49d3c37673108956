//! Answers of compilers, kept in the user's cache directory: a file for each question about a text. Several editors may write at once.

use std::path::Path;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use tilefit_analysis::confirm::{Answer, Question};

use super::wire::Reply;
use super::{sha256, sha256_of};
use crate::disk::{self, CacheFolder};

/// Above this the oldest answers go.
const MOST_BYTES: u64 = 64 << 20;

pub(super) struct Cache(CacheFolder);

/// The name of an answer.
pub(super) struct Key(String);

impl Key {
    /// A question about a file with a text, to the compiler of an interpreter. The version makes the answers of older programs go.
    pub(super) fn of(python: &Path, file: &Path, sha256_of_text: &str, question: &Question) -> Key {
        let parts = (env!("CARGO_PKG_VERSION"), python, file, sha256_of_text, question);
        Key(sha256(serde_json::to_string(&parts).unwrap_or_default().as_bytes()))
    }

    fn file(&self) -> String {
        format!("{}.json", self.0)
    }
}

#[derive(Serialize, Deserialize)]
struct Entry {
    reply: Reply,
    /// When the packages of the compiler were changed last.
    installed: Vec<Option<SystemTime>>,
}

impl Entry {
    /// Whether all that the answer rests on is as it was.
    fn is_current(&self) -> bool {
        let is_same = |file: &super::wire::Imported| sha256_of(Path::new(&file.path)).as_ref() == Some(&file.sha256);
        installed(&self.reply) == self.installed && self.reply.files.iter().all(is_same)
    }
}

fn installed(reply: &Reply) -> Vec<Option<SystemTime>> {
    let changed = |path: &String| disk::changed(Path::new(path));
    reply.packages.iter().map(|package| package.path.as_ref().and_then(changed)).collect()
}

impl Cache {
    /// `None` where the user has no place for caches.
    pub(super) fn of_user() -> Option<Cache> {
        CacheFolder::of_user("confirmations").map(Cache)
    }

    pub(super) fn get(&self, key: &Key) -> Option<Answer> {
        let entry: Entry = serde_json::from_str(&self.0.read(&key.file())?).ok()?;
        entry.is_current().then_some(entry.reply.answer)
    }

    /// A disk that is full, or read-only, keeps nothing.
    pub(super) fn put(&self, key: &Key, reply: &Reply) {
        let entry = Entry { reply: reply.clone(), installed: installed(reply) };
        if let Ok(text) = serde_json::to_string(&entry) {
            let _ = self.0.write(&key.file(), &text, MOST_BYTES);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use tempfile::TempDir;
    use tilefit_analysis::confirm::{Asked, Outcome, SharedPlan};

    use super::super::wire::Imported;
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
        let plan = SharedPlan { shared: 64, tensor_columns: 0, buffers: Vec::new(), tensor_memory: Vec::new() };
        let reply = Reply {
            id: Some(1),
            answer: Answer { by: None, stood_in: Vec::new(), outcome: Outcome::Shared(plan) },
            files: vec![Imported { path: helper.to_string_lossy().into_owned(), sha256: sha256(b"A = 1\n") }],
            packages: Vec::new(),
        };
        let key = |text: &str| Key::of(Path::new("/python"), Path::new("/k.py"), &sha256(text.as_bytes()), &question());
        assert!(cache.get(&key("one")).is_none());
        cache.put(&key("one"), &reply);
        assert_eq!(cache.get(&key("one")), Some(reply.answer));
        assert!(cache.get(&key("two")).is_none());
        fs::write(&helper, "A = 2\n").expect("written");
        assert!(cache.get(&key("one")).is_none());
    }
}
