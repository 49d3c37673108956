//! `workspace/symbol`: kernels by name in every file, open or not. Nothing is planned for it, and a file is read again only when it has changed.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tilefit_analysis::ide::symbols::is_meant;
use tilefit_syntax::Document;
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::{Location, OneOf, Range, SymbolKind, WorkspaceSymbol, WorkspaceSymbolResponse};

use super::convert;
use super::query::content_modified;
use super::workspace::{self, Stamp, Workspace};

/// Kernels that an answer names; to find one among more takes another letter.
const MOST: usize = 1000;

/// The kernels of each file, as it was when they were looked for.
pub(super) type KernelNames = HashMap<String, (Stamp, Arc<Vec<Named>>)>;

#[derive(Clone)]
pub(super) struct Named {
    name: String,
    range: Range,
}

pub(super) fn find(
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
        let Some(uri) = workspace.uri_of(&path) else { continue };
        let named = names(workspace, &path, known);
        let meant = named.iter().filter(|named| is_meant(&named.name, query)).take(MOST - found.len());
        found.extend(meant.map(|named| WorkspaceSymbol {
            name: named.name.clone(),
            kind: SymbolKind::FUNCTION,
            tags: None,
            container_name: None,
            location: OneOf::Left(Location::new(uri.clone(), named.range)),
            data: None,
        }));
        if found.len() == MOST {
            break;
        }
    }
    Ok(WorkspaceSymbolResponse::Nested(found))
}

fn names(workspace: &Workspace, path: &str, known: &Mutex<KernelNames>) -> Arc<Vec<Named>> {
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
fn look(workspace: &Workspace, path: &str) -> Option<Vec<Named>> {
    let mut host = workspace.empty_host();
    let file = match workspace.open_file(path) {
        Some(open) => workspace::hand_in(&mut host, path, open.document.clone()),
        None => workspace::hand_in(&mut host, path, Document::new(&workspace::read(path.as_ref())?)),
    };
    let analysis = host.snapshot();
    let document = analysis.document(file);
    let named = analysis.kernel_names(file).ok()?.into_iter();
    let named = named.map(|(name, at)| Named { name, range: convert::range(document, at, workspace.encoding) });
    Some(named.collect())
}
