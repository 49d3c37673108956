//! A file from disk under analysis.

use std::env;
use std::path::{Path, PathBuf};

use tilefit_analysis::project::Config;
use tilefit_analysis::{Analysis, AnalysisHost, Cancellable, FileId};
use tilefit_syntax::Document;

use crate::{disk, dumps, imports};

/// A file and everything that can be asked about it.
pub(super) struct Source {
    pub(super) text: String,
    pub(super) document: Document,
    analysis: Analysis,
    file: FileId,
}

impl Source {
    /// The error is a sentence for the user.
    pub(super) fn read(path: &Path, config: &Config) -> Result<Source, String> {
        let text = disk::read_named(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut host = AnalysisHost::new();
        host.set_config(config.clone());
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let file = host.file_id(&absolute.to_string_lossy());
        let document = Document::new(&text);
        host.set_document(file, document.clone());
        let workspace = workspace_of(&absolute);
        imports::load(&mut host, file, &workspace);
        let mut dumps = Vec::new();
        for (path, text) in dumps::find(&absolute, &text, &workspace) {
            let dump = host.file_id(&path);
            host.set_text(dump, &text);
            dumps.push(dump);
        }
        host.set_dumps(file, &dumps);
        // A change waits for every snapshot, so none may live while answers are taken up.
        let diagnosis = host.snapshot().diagnosis(file).unwrap_or_default();
        for open in &diagnosis.open {
            if let Some(searched) = open.run(diagnosis.open.len(), &|| false) {
                host.set_searched(searched);
            }
        }
        Ok(Source { text, document, analysis: host.snapshot(), file })
    }

    /// Asks for one feature. Nothing edits the file, so nothing cancels the query.
    pub(super) fn ask<T: Default>(&self, feature: impl FnOnce(&Analysis, FileId) -> Cancellable<T>) -> T {
        feature(&self.analysis, self.file).unwrap_or_default()
    }
}

/// The current directory where the file lies below it, else the folder of the file.
fn workspace_of(file: &Path) -> PathBuf {
    let folder = file.parent().unwrap_or(file);
    env::current_dir().ok().filter(|current| file.starts_with(current)).unwrap_or_else(|| folder.to_owned())
}
