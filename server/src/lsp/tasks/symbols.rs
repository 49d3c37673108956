//! `workspace/symbol`: kernels by name in every file, open or not. Nothing is planned for it, and a file is read again only when it has changed.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tilefit_answers::{KernelName, View, kernel_names, workspace_symbols};
use tilefit_syntax::Document;
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::WorkspaceSymbolResponse;

use super::query::content_modified;
use super::workspace::{self, Stamp, Workspace};

/// Kernels that an answer names; to find one among more takes another letter.
const MOST: usize = 1000;

/// The kernels of each file, as it was when they were looked for.
pub(crate) type KernelNames = HashMap<String, (Stamp, Arc<Vec<KernelName>>)>;

pub(crate) fn find(
    workspace: &Workspace,
    query: &str,
    known: &Mutex<KernelNames>,
    stopped: &AtomicBool,
) -> Result<WorkspaceSymbolResponse> {
    let mut found = Vec::new();
    for path in workspace.shown_paths() {
        if stopped.load(Ordering::Relaxed) {
            return Err(content_modified()); // no client waits any longer
        }
        let named = names(workspace, &path, known);
        found.extend(workspace_symbols(&named, query).take(MOST - found.len()));
        if found.len() == MOST {
            break;
        }
    }
    Ok(WorkspaceSymbolResponse::Nested(found))
}

fn names(workspace: &Workspace, path: &str, known: &Mutex<KernelNames>) -> Arc<Vec<KernelName>> {
    let stamp = workspace.stamp(path);
    let known = || known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, named)) = known().get(path).filter(|(then, _)| *then == stamp) {
        return Arc::clone(named);
    }
    // One file that tilefit fails on costs no others.
    let named = catch_unwind(AssertUnwindSafe(|| look(workspace, path))).ok().flatten();
    let named = Arc::new(named.unwrap_or_default());
    known().insert(path.to_owned(), (stamp, Arc::clone(&named)));
    named
}

/// `None` where the file cannot be read.
fn look(workspace: &Workspace, path: &str) -> Option<Vec<KernelName>> {
    let mut host = workspace.empty_host();
    let file = match workspace.open_file(path) {
        Some(open) => workspace::hand_in(&mut host, path, open.document.clone()),
        None => workspace::hand_in(&mut host, path, Document::new(&workspace.read(path.as_ref())?)),
    };
    let view = View::of_file(host.snapshot(), file, workspace.uri_of(path)?, 0, workspace.encoding);
    kernel_names(&view.among(Arc::clone(&workspace.notebooks))).ok()
}
