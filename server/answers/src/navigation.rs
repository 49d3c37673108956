//! From a name to other places: definition, references, highlights, rename.

use std::collections::HashMap;

use ls_types::{
    DocumentChanges, DocumentHighlight, DocumentHighlightKind, GotoDefinitionResponse, Location, OneOf,
    OptionalVersionedTextDocumentIdentifier, Position, PrepareRenameResponse, TextDocumentEdit, TextEdit, Uri,
    WorkspaceEdit,
};
use tilefit_analysis::Cancellable;
use tilefit_analysis::ide::{Exported, Mention};

use crate::view::View;

/// A name that a module offers to others, as it was met in a version of a document.
pub struct Sought {
    pub uri: Uri,
    pub version: i32,
    pub position: Position,
    pub name: Exported,
}

pub fn definition(view: &View, position: Position) -> Cancellable<Option<GotoDefinitionResponse>> {
    let definition = view.analysis.definition(view.file, view.offset(position))?;
    Ok(definition.and_then(|mention| location(view, mention)).map(GotoDefinitionResponse::Scalar))
}

pub fn references(view: &View, position: Position, with_definitions: bool) -> Cancellable<Option<Vec<Location>>> {
    let references = view.analysis.references(view.file, view.offset(position))?;
    Ok(references.map(|references| {
        let wanted = references.into_iter().filter(|mention| with_definitions || !mention.writes);
        wanted.filter_map(|mention| location(view, mention)).collect()
    }))
}

pub fn highlights(view: &View, position: Position) -> Cancellable<Option<Vec<DocumentHighlight>>> {
    let mentions = view.analysis.highlights(view.file, view.offset(position))?;
    let mentions: Vec<_> = mentions.into_iter().filter(|mention| view.has(mention.range.start)).collect();
    let highlight = |mention: Mention| DocumentHighlight {
        range: view.range(mention.range),
        kind: Some(if mention.writes { DocumentHighlightKind::WRITE } else { DocumentHighlightKind::READ }),
    };
    Ok((!mentions.is_empty()).then(|| mentions.into_iter().map(highlight).collect()))
}

pub fn prepare_rename(view: &View, position: Position) -> Cancellable<Option<PrepareRenameResponse>> {
    let name = view.analysis.prepare_rename(view.file, view.offset(position))?;
    Ok(name.map(|name| PrepareRenameResponse::RangeWithPlaceholder {
        range: view.range(name.range),
        placeholder: name.name,
    }))
}

/// The name at a position, if other files can import it.
pub fn exported(view: &View, position: Position) -> Cancellable<Option<Sought>> {
    let name = view.analysis.exported(view.file, view.offset(position))?;
    Ok(name.map(|name| Sought { uri: view.uri.clone(), version: view.version, position, name }))
}

/// The edits, or why there are none. With `versions` of the open documents for clients that check them.
pub fn rename(
    view: &View,
    position: Position,
    new: &str,
    versions: Option<&HashMap<Uri, i32>>,
) -> Cancellable<Result<Option<WorkspaceEdit>, String>> {
    let mentions = view.analysis.rename(view.file, view.offset(position), new.to_owned())?;
    Ok(mentions.map(|mentions| {
        let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
        for Location { uri, range } in mentions.into_iter().filter_map(|mention| location(view, mention)) {
            changes.entry(uri).or_default().push(TextEdit::new(range, new.to_owned()));
        }
        let Some(versions) = versions else { return Some(WorkspaceEdit::new(changes)) };
        let edit = |(uri, edits): (Uri, Vec<TextEdit>)| TextDocumentEdit {
            text_document: OptionalVersionedTextDocumentIdentifier { version: versions.get(&uri).copied(), uri },
            edits: edits.into_iter().map(OneOf::Left).collect(),
        };
        let document_changes = Some(DocumentChanges::Edits(changes.into_iter().map(edit).collect()));
        Some(WorkspaceEdit { document_changes, ..WorkspaceEdit::default() })
    }))
}

fn location(view: &View, mention: Mention) -> Option<Location> {
    view.location(mention.file, mention.range)
}
