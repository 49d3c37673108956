//! From a name to other places: definition, references, highlights, rename.

use std::collections::HashMap;

use tilelens_analysis::Cancellable;
use tilelens_analysis::ide::Mention;
use tower_lsp::ls_types::{
    DocumentHighlight, DocumentHighlightKind, GotoDefinitionResponse, Location, Position, PrepareRenameResponse,
    TextEdit, Uri, WorkspaceEdit,
};

use crate::lsp::query::View;

pub(in crate::lsp) fn definition(view: &View, position: Position) -> Cancellable<Option<GotoDefinitionResponse>> {
    let definition = view.analysis.definition(view.file, view.offset(position))?;
    Ok(definition.and_then(|mention| location(view, mention)).map(GotoDefinitionResponse::Scalar))
}

pub(in crate::lsp) fn references(
    view: &View,
    position: Position,
    with_definitions: bool,
) -> Cancellable<Option<Vec<Location>>> {
    let references = view.analysis.references(view.file, view.offset(position))?;
    Ok(references.map(|references| {
        let wanted = references.into_iter().filter(|mention| with_definitions || !mention.writes);
        wanted.filter_map(|mention| location(view, mention)).collect()
    }))
}

pub(in crate::lsp) fn highlights(view: &View, position: Position) -> Cancellable<Option<Vec<DocumentHighlight>>> {
    let mentions = view.analysis.highlights(view.file, view.offset(position))?;
    let highlight = |mention: Mention| DocumentHighlight {
        range: view.range(mention.range),
        kind: Some(if mention.writes { DocumentHighlightKind::WRITE } else { DocumentHighlightKind::READ }),
    };
    Ok((!mentions.is_empty()).then(|| mentions.into_iter().map(highlight).collect()))
}

pub(in crate::lsp) fn prepare_rename(view: &View, position: Position) -> Cancellable<Option<PrepareRenameResponse>> {
    let name = view.analysis.prepare_rename(view.file, view.offset(position))?;
    Ok(name.map(|name| PrepareRenameResponse::RangeWithPlaceholder {
        range: view.range(name.range),
        placeholder: name.name,
    }))
}

/// The edits, or why there are none.
pub(in crate::lsp) fn rename(
    view: &View,
    position: Position,
    new: &str,
) -> Cancellable<Result<Option<WorkspaceEdit>, String>> {
    let mentions = view.analysis.rename(view.file, view.offset(position), new.to_owned())?;
    Ok(mentions.map(|mentions| {
        let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
        for Location { uri, range } in mentions.into_iter().filter_map(|mention| location(view, mention)) {
            changes.entry(uri).or_default().push(TextEdit::new(range, new.to_owned()));
        }
        Some(WorkspaceEdit::new(changes))
    }))
}

fn location(view: &View, mention: Mention) -> Option<Location> {
    view.location(mention.file, mention.range)
}
