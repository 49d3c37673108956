//! `textDocument/codeAction`: fixes, refactorings and views of a kernel.

use std::collections::HashMap;
use std::ops::Range as Bytes;
use std::path::{Path, PathBuf};

use ls_types::{
    CodeAction, CodeActionContext, CodeActionKind, CodeActionOrCommand, CodeActionParams, CodeActionResponse,
    CodeActionTriggerKind, Command, CreateFile, DocumentChangeOperation, DocumentChanges, Location, OneOf,
    OptionalVersionedTextDocumentIdentifier, Position, Range, ResourceOp, TextDocumentEdit, TextEdit, Uri,
    WorkspaceEdit,
};
use serde_json::json;
use tilefit_analysis::Cancellable;
use tilefit_analysis::ide::{self, Effect, Fix};
use tilefit_syntax::{Document, TextRange};

use crate::capabilities::{CONFIRM, FIX_ALL, SHOW_ALLOCATED_IR, SHOW_LOWERED_IR};
use crate::convert;
use crate::diagnostic::lsp_diagnostic;
use crate::view::View;

/// A change to a file of settings.
#[derive(Debug, PartialEq, Eq)]
pub struct SettingEdit {
    pub path: PathBuf,
    /// `None` where there is no such file yet.
    pub text: Option<String>,
    /// Bytes of the text.
    pub range: Bytes<usize>,
    pub new: String,
}

/// How the files of settings in a folder have to change for a setting, by its key, to have a value; `None` where they are not
/// understood. The caller, which owns the files, says it: they are read only when an action needs them.
pub type WriteSetting = fn(&Path, &str, &str) -> Option<SettingEdit>;

/// What is asked for.
pub(crate) struct ActionsAsked {
    pub range: Range,
    /// All kinds without it.
    pub only: Option<Vec<CodeActionKind>>,
    /// The user opened a menu. Editors also ask by themselves wherever the cursor comes, and what takes a search is not for that.
    pub by_user: bool,
}

impl ActionsAsked {
    pub(crate) fn of(params: CodeActionParams) -> ActionsAsked {
        let CodeActionContext { only, trigger_kind, .. } = params.context;
        ActionsAsked { range: params.range, only, by_user: trigger_kind != Some(CodeActionTriggerKind::AUTOMATIC) }
    }
}

/// `write_setting` is asked only for actions that write one.
pub(crate) fn code_actions(
    view: &View,
    asked: &ActionsAsked,
    creates_files: bool,
    write_setting: WriteSetting,
) -> Cancellable<Option<CodeActionResponse>> {
    let only = asked.only.as_deref();
    let range = view.text_range(asked.range);
    let mut actions = view.analysis.code_actions(view.file, range)?;
    if asked.by_user && asked.range.start.line == asked.range.end.line {
        actions.extend(view.analysis.largest_fit_action(view.file, range.start)?);
    }
    let actions = actions.into_iter().filter_map(|action| code_action(view, action, creates_files, write_setting));
    let fix_all = match only {
        // It looks at the whole file, so only for those who ask for it.
        Some(kinds) if kinds.iter().any(|kind| kind.as_str().starts_with("source")) => fix_all(view)?,
        _ => None,
    };
    let actions = actions.chain(fix_all);
    let wanted = |action: &CodeAction| only.is_none_or(|only| only.iter().any(|kind| is_within(action, kind)));
    Ok(Some(actions.filter(wanted).map(CodeActionOrCommand::CodeAction).collect()))
}

/// All that has one obvious fix, at once.
fn fix_all(view: &View) -> Cancellable<Option<CodeAction>> {
    let edits = view.analysis.fix_all(view.file)?;
    Ok((!edits.is_empty()).then(|| CodeAction {
        title: "Apply all safe fixes of tilefit".to_owned(),
        kind: Some(CodeActionKind::new(FIX_ALL)),
        edit: Some(edit(view, edits)),
        ..CodeAction::default()
    }))
}

/// Kinds are a hierarchy; the empty one is its root.
fn is_within(action: &CodeAction, kind: &CodeActionKind) -> bool {
    let Some(rest) = action.kind.as_ref().and_then(|own| own.as_str().strip_prefix(kind.as_str())) else {
        return false;
    };
    kind.as_str().is_empty() || rest.is_empty() || rest.starts_with('.')
}

/// `None` where the client cannot do it.
fn code_action(
    view: &View,
    action: ide::CodeAction,
    creates_files: bool,
    write_setting: WriteSetting,
) -> Option<CodeAction> {
    let title = action.title;
    Some(match action.effect {
        Effect::ShowAllocatedIr(offset) => show(view, title, SHOW_ALLOCATED_IR, offset),
        Effect::ShowLoweredIr(offset) => show(view, title, SHOW_LOWERED_IR, offset),
        Effect::Confirm(offset) => show(view, title, CONFIRM, offset),
        Effect::Write { name, text, about } => CodeAction {
            title,
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: Some(vec![lsp_diagnostic(view, about)]),
            edit: Some(new_file(view, &name, text).filter(|_| creates_files)?),
            is_preferred: Some(false),
            ..CodeAction::default()
        },
        Effect::Refactor(edits) => CodeAction {
            title,
            kind: Some(CodeActionKind::REFACTOR_REWRITE),
            edit: Some(edit(view, edits)),
            ..CodeAction::default()
        },
        Effect::Improve(edits) => CodeAction {
            title,
            kind: Some(CodeActionKind::QUICKFIX),
            edit: Some(edit(view, edits)),
            is_preferred: Some(false),
            ..CodeAction::default()
        },
        Effect::Fix(Fix { edits, fixes, preferred }) => CodeAction {
            title,
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: Some(vec![lsp_diagnostic(view, fixes)]),
            edit: Some(edit(view, edits)),
            is_preferred: Some(preferred),
            ..CodeAction::default()
        },
        Effect::SetPlanner { planner, fixes } => CodeAction {
            title,
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: Some(vec![lsp_diagnostic(view, fixes)]),
            edit: Some(setting(view, write_setting, "planner", planner.name(), creates_files)?),
            is_preferred: Some(false),
            ..CodeAction::default()
        },
    })
}

/// Writes a setting of the workspace.
fn setting(
    view: &View,
    write_setting: WriteSetting,
    key: &str,
    value: &str,
    creates_files: bool,
) -> Option<WorkspaceEdit> {
    let SettingEdit { path, text, range, new } = write_setting(view.settings_folder.as_ref()?, key, value)?;
    let uri = Uri::from_file_path(path)?;
    if let Some(text) = text {
        let range = convert::range(&Document::new(&text), TextRange::new(range.start, range.end), view.encoding);
        return Some(WorkspaceEdit::new(HashMap::from([(uri, vec![TextEdit::new(range, new)])])));
    }
    creates_files.then(|| created(uri, new))
}

/// The edit that gives the kernel at a place all values that it lacks.
pub fn missing_values(view: &View, position: Position) -> Cancellable<Option<WorkspaceEdit>> {
    let found = view.analysis.missing_values(view.file, view.offset(position))?;
    Ok(found.map(|found| edit(view, vec![found])))
}

/// A document beside the file, whose name may be anything.
fn new_file(view: &View, name: &str, text: String) -> Option<WorkspaceEdit> {
    let file = Path::new(view.analysis.path(view.file));
    if !file.is_absolute() {
        return None;
    }
    let name: String = name.chars().map(|c| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect();
    Some(created(Uri::from_file_path(file.with_file_name(name))?, text))
}

fn created(uri: Uri, text: String) -> WorkspaceEdit {
    let create = ResourceOp::Create(CreateFile { uri: uri.clone(), options: None, annotation_id: None });
    let text_document = OptionalVersionedTextDocumentIdentifier { uri, version: None };
    let edits = vec![OneOf::Left(TextEdit::new(Range::default(), text))];
    let write = TextDocumentEdit { text_document, edits };
    let operations = vec![DocumentChangeOperation::Op(create), DocumentChangeOperation::Edit(write)];
    let document_changes = Some(DocumentChanges::Operations(operations));
    WorkspaceEdit { document_changes, ..WorkspaceEdit::default() }
}

fn edit(view: &View, edits: Vec<(TextRange, String)>) -> WorkspaceEdit {
    let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
    for (range, new) in edits {
        if let Some(Location { uri, range }) = view.location(view.file, range) {
            changes.entry(uri).or_default().push(TextEdit::new(range, new));
        }
    }
    WorkspaceEdit::new(changes)
}

fn show(view: &View, title: String, command: &str, offset: usize) -> CodeAction {
    let arguments = Some(vec![json!(view.uri), json!(view.position(offset))]);
    let command = Some(Command { title: title.clone(), command: command.to_owned(), arguments });
    CodeAction { title, kind: Some(CodeActionKind::SOURCE), command, ..CodeAction::default() }
}
