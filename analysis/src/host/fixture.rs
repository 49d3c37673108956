//! What tests are written with: files in one text, and the answers about the first of them.

use tilefit_syntax::{Document, TextRange};

use super::{Analysis, AnalysisHost, Cancellable};
use crate::db::FileId;
use crate::project::Config;

/// Begins a file; its path is the rest of the line.
const FILE: &str = "# file: ";

const CURSOR: &str = "$0";

/// A file in an editor, with others around it. There is a method for each feature, which asks it of the file.
pub struct Fixture {
    pub host: AnalysisHost,
    pub file: FileId,
    /// Of the file, without its cursor.
    pub text: String,
    cursor: Option<usize>,
}

impl Fixture {
    /// Of files one after the other. Each begins with a line `# file: PATH`, which the first may leave out; `$0` in the first is the cursor.
    pub fn new(source: &str) -> Fixture {
        let is_named = source.starts_with(FILE);
        let source = if is_named { source.to_owned() } else { format!("{FILE}/w/kernel.py\n{source}") };
        let mut files = source.split(FILE).skip(1).map(|file| file.split_once('\n').unwrap_or((file, "")));
        let (path, marked) = files.next().unwrap_or_default();
        let (text, cursor) = (marked.replacen(CURSOR, "", 1), marked.find(CURSOR));
        let mut host = AnalysisHost::new();
        let file = host.file_id(path);
        host.set_document(file, Document::new(&text));
        for (path, text) in files {
            let file = host.file_id(path);
            host.set_document(file, Document::new(text));
        }
        Fixture { host, file, text, cursor }
    }

    /// Types another text over that of the file.
    pub fn retype(&mut self, text: &str) {
        self.host.set_document(self.file, Document::new(text));
        text.clone_into(&mut self.text);
    }

    pub fn with(mut self, config: Config) -> Fixture {
        self.host.set_config(config);
        self
    }

    /// With what a `tilefit.toml` says.
    #[track_caller]
    pub fn with_settings(self, toml: &str) -> Fixture {
        let mut config = Config::default();
        assert_eq!(config.apply_tilefit_toml(toml), []);
        self.with(config)
    }

    /// Asks what is no feature, such as [`Analysis::unknown_imports`].
    pub fn ask<T>(&self, query: impl FnOnce(&Analysis, FileId) -> Cancellable<T>) -> T {
        query(&self.host.snapshot(), self.file).expect("nothing is edited")
    }

    #[track_caller]
    pub fn cursor(&self) -> usize {
        self.cursor.expect("a cursor")
    }

    /// Where the text first reads `what`.
    #[track_caller]
    pub fn find(&self, what: &str) -> usize {
        self.text.find(what).unwrap_or_else(|| panic!("the fixture has no `{what}`"))
    }

    pub fn whole(&self) -> TextRange {
        TextRange::new(0, self.text.len())
    }

    /// The text of a range.
    pub fn at(&self, range: TextRange) -> &str {
        &self.text[range.start..range.end]
    }

    /// The text after edits of it, in any order.
    pub fn edited(&self, edits: &[(TextRange, String)]) -> String {
        let mut edits: Vec<_> = edits.iter().collect();
        edits.sort_by_key(|(range, _)| std::cmp::Reverse(*range));
        let mut text = self.text.clone();
        edits.iter().for_each(|(range, new)| text.replace_range(range.start..range.end, new));
        text
    }
}
