//! All files of the workspace at one moment: the open ones as the client has them, the others as they are on disk. They are looked at
//! in databases of their own, so that no edit waits for a file to be read.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use tilefit_analysis::project::Config;
use tilefit_analysis::{AnalysisHost, FileId};
use tilefit_answers::{Notebooks, convert};
use tilefit_syntax::{Document, PositionEncoding};
use tokio::sync::watch;
use tower_lsp::ls_types::Uri;

use crate::lsp::revision::Revision;
use crate::selection::Selection;
use crate::tree::is_python;
use crate::{disk, files};

pub(crate) struct Workspace {
    pub(crate) root: Option<PathBuf>,
    pub(crate) selection: Arc<Selection>,
    pub(crate) config: Config,
    pub(crate) open: Vec<OpenFile>,
    pub(crate) notebooks: Notebooks,
    pub(crate) encoding: PositionEncoding,
    /// Counts what the client has told of changed files.
    pub(crate) files: u64,
    /// Of everything that answers depend on.
    pub(crate) changes: watch::Receiver<Revision>,
}

pub(crate) struct OpenFile {
    pub(crate) uri: Uri,
    /// The name under which the analysis knows it.
    pub(crate) path: String,
    pub(crate) version: i32,
    /// Versions are the client's, who may use one twice.
    pub(crate) revision: Revision,
    pub(crate) document: Document,
}

/// What tells one state of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stamp {
    Open(Revision),
    OnDisk(Option<SystemTime>, u64),
    Gone,
}

impl Workspace {
    pub(crate) fn open_file(&self, path: &str) -> Option<&OpenFile> {
        self.open.iter().find(|open| open.path == path)
    }

    pub(crate) fn version_of(&self, uri: &Uri) -> Option<i32> {
        self.open_as(uri).map(|(_, version)| version)
    }

    /// The file that is open under a URI, or the notebook with the cell that is, and the version of that document.
    pub(crate) fn open_as(&self, uri: &Uri) -> Option<(&OpenFile, i32)> {
        self.open.iter().find_map(|open| {
            let cell = || self.notebooks.get(&open.path)?.iter().find(|cell| cell.uri == *uri);
            if open.uri == *uri { Some((open, open.version)) } else { Some((open, cell()?.version)) }
        })
    }

    /// The versions of all open documents of the client.
    pub(crate) fn versions(&self) -> HashMap<Uri, i32> {
        let open = self.open.iter().map(|open| (open.uri.clone(), open.version));
        let cells = self.notebooks.values().flat_map(|cells| cells.iter());
        open.chain(cells.map(|cell| (cell.uri.clone(), cell.version))).collect()
    }

    /// The Python files below the root that `selection` leaves, without those that git ignores.
    pub(crate) fn files(&self, selection: &Arc<Selection>) -> Vec<PathBuf> {
        let Some(root) = &self.root else { return Vec::new() };
        let mut files = files::find(std::slice::from_ref(root), selection).0;
        files.retain(|file| is_python(file));
        files
    }

    /// The text of a file on disk, if it is one that is read.
    pub(crate) fn read(&self, path: &Path) -> Option<String> {
        disk::read_within(self.root.as_deref()?, path).ok()
    }

    pub(crate) fn stamp(&self, path: &str) -> Stamp {
        match (self.open_file(path), fs::metadata(path)) {
            (Some(open), _) => Stamp::Open(open.revision),
            (None, Ok(metadata)) => Stamp::OnDisk(metadata.modified().ok(), metadata.len()),
            (None, Err(_)) => Stamp::Gone,
        }
    }

    /// The Python files that anything is shown of: those below the root, and open ones elsewhere.
    pub(crate) fn shown_paths(&self) -> Vec<String> {
        let below_root = self.files(&self.selection);
        let mut paths: Vec<String> = below_root.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        let shown = self.open.iter().filter(|open| !self.selection.excludes(&open.path));
        let elsewhere: Vec<_> = shown.filter(|open| !paths.contains(&open.path)).collect();
        paths.extend(elsewhere.into_iter().map(|open| open.path.clone()));
        paths
    }

    /// A database without files.
    pub(crate) fn empty_host(&self) -> AnalysisHost {
        let mut host = AnalysisHost::new();
        host.set_config(self.config.clone());
        host
    }

    /// The open files in a database, ready for others.
    pub(crate) fn host(&self) -> AnalysisHost {
        let mut host = self.empty_host();
        for open in &self.open {
            let file = host.file_id(&open.path);
            host.set_document(file, open.document.clone());
        }
        host
    }

    /// The URI of a file, as the client writes it where the file is open.
    pub(crate) fn uri_of(&self, path: &str) -> Option<Uri> {
        self.open_file(path).map(|open| open.uri.clone()).or_else(|| convert::uri_of(path))
    }
}

/// Hands in a file.
pub(crate) fn hand_in(host: &mut AnalysisHost, path: &str, document: Document) -> FileId {
    let file = host.file_id(path);
    host.set_document_at_rest(file, document);
    file
}
