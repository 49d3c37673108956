//! References and renames of names that other files import, open or not.

use std::path::Path;
use std::sync::Arc;

use tilefit_analysis::ide::Exported;
use tilefit_answers::convert::path_of;
use tilefit_answers::{self as answers, Sought, View};
use tilefit_syntax::Document;
use tilefit_syntax::ast::last_name;
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::{CallHierarchyItem, Location, PrepareRenameResponse, Uri, WorkspaceEdit};

use super::query::content_modified;
use super::workspace::{self, Workspace};
use crate::imports::Imports;
use crate::selection::Selection;
use crate::tree::OnDisk;

pub(crate) fn references(
    workspace: &Workspace,
    sought: &Sought,
    with_definitions: bool,
) -> Result<Option<Vec<Location>>> {
    let view = view(workspace, sought)?;
    let locations = answers::references(&view, sought.position, with_definitions).ok().flatten();
    // A file that is open may have been opened under another spelling of its URI.
    let respelt = |mut location: Location| {
        let path = path_of(&location.uri);
        location.uri = workspace.uri_of(&path).unwrap_or(location.uri);
        location
    };
    Ok(locations.map(|locations| locations.into_iter().map(respelt).collect()))
}

pub(crate) fn prepare_rename(workspace: &Workspace, sought: &Sought) -> Result<Option<PrepareRenameResponse>> {
    answers::prepare_rename(&view(workspace, sought)?, sought.position).map_err(|_| content_modified())
}

pub(crate) fn rename(
    workspace: &Workspace,
    sought: &Sought,
    new: &str,
    with_versions: bool,
) -> Result<std::result::Result<Option<WorkspaceEdit>, String>> {
    let view = view(workspace, sought)?;
    let versions = workspace.versions();
    let renamed = answers::rename(&view, sought.position, new, with_versions.then_some(&versions));
    renamed.map_err(|_| content_modified())
}

/// The document that a name was met in, at the version that it was met in.
fn view(workspace: &Workspace, sought: &Sought) -> Result<View> {
    let open = workspace.open_as(&sought.uri).filter(|(_, version)| *version == sought.version);
    let (open, version) = open.ok_or_else(content_modified)?;
    Ok(view_of(workspace, sought.uri.clone(), &open.path, version, &sought.name))
}

/// A function that the client has been told of, in a file that it need not have opened.
pub(crate) fn view_of_item(workspace: &Workspace, item: &CallHierarchyItem) -> View {
    let path = workspace.open_as(&item.uri).map_or_else(|| path_of(&item.uri), |(open, _)| open.path.clone());
    let version = workspace.version_of(&item.uri).unwrap_or_default();
    let name = last_name(&item.name).to_owned();
    view_of(workspace, item.uri.clone(), &path, version, &Exported { name, path: path.clone() })
}

/// A file, in a database with every file that may mention the name. Git's ignored files are left out; those that the settings exclude
/// are not, since they are Python all the same.
fn view_of(workspace: &Workspace, uri: Uri, path: &str, version: i32, exported: &Exported) -> View {
    let mut host = workspace.host();
    let mut hand_in = |file: &Path, is_wanted: &dyn Fn(&str) -> bool| {
        let name = file.to_string_lossy();
        if workspace.open_file(&name).is_none()
            && let Some(text) = workspace.read(file).filter(|text| is_wanted(text))
        {
            workspace::hand_in(&mut host, &name, Document::new(&text));
        }
    };
    for other in workspace.files(&Arc::new(Selection::default())) {
        // A file of the same name may be the one that an import means instead.
        let is_namesake = other.file_name() == Path::new(&exported.path).file_name();
        hand_in(&other, &|text| is_namesake || text.contains(&exported.name));
    }
    if workspace.root.as_ref().is_some_and(|root| Path::new(path).starts_with(root)) {
        hand_in(Path::new(path), &|_| true);
    }
    let file = host.file_id(path);
    if let Some(root) = &workspace.root {
        Imports::new(&OnDisk).load(&mut host, &[(file, root)]);
    }
    View::of_file(host.snapshot(), file, uri, version, workspace.encoding).among(Arc::clone(&workspace.notebooks))
}
