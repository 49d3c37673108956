//! `textDocument/completion` and `completionItem/resolve`.

use ls_types::{
    CompletionItem, CompletionItemKind, CompletionList, CompletionResponse, CompletionTextEdit, Documentation,
    InsertReplaceEdit, InsertTextFormat, Position, Range, TextEdit,
};
use serde_json::Value;
use tilefit_analysis::Cancellable;
use tilefit_analysis::ide::{self, CompletionKind};

use crate::abilities::Shows;
use crate::convert;
use crate::view::View;

pub fn completion(view: &View, position: Position, shows: Shows) -> Cancellable<Option<CompletionResponse>> {
    let completions = view.analysis.completions(view.file, view.offset(position))?;
    Ok(completions.map(|completions| {
        let ranges = [view.range(completions.replaces), view.range(completions.overwrites)];
        let items = completions.items.into_iter().enumerate();
        let items = items.map(|(rank, completion)| item(rank, ranges, completion, shows)).collect();
        CompletionResponse::List(CompletionList { is_incomplete: false, items })
    }))
}

fn item(rank: usize, [insert, replace]: [Range; 2], completion: ide::Completion, shows: Shows) -> CompletionItem {
    let snippet = completion.snippet.filter(|_| shows.snippets);
    let format = snippet.as_ref().map(|_| InsertTextFormat::SNIPPET);
    let new = snippet.unwrap_or_else(|| completion.label.clone());
    CompletionItem {
        label: completion.label,
        kind: Some(kind(completion.kind)),
        detail: Some(completion.detail).filter(|detail| !detail.is_empty()),
        sort_text: Some(format!("{rank:04}")),
        insert_text_format: format,
        text_edit: Some(match shows.overwrites {
            true => CompletionTextEdit::InsertAndReplace(InsertReplaceEdit { new_text: new, insert, replace }),
            false => CompletionTextEdit::Edit(TextEdit::new(insert, new)),
        }),
        commit_characters: (completion.kind == CompletionKind::Module
            || completion.kind == CompletionKind::Enumeration)
            .then(|| vec![".".to_owned()]),
        data: completion.key.map(Value::String),
        ..CompletionItem::default()
    }
}

fn kind(kind: CompletionKind) -> CompletionItemKind {
    match kind {
        CompletionKind::Operation | CompletionKind::Function => CompletionItemKind::FUNCTION,
        CompletionKind::Module => CompletionItemKind::MODULE,
        CompletionKind::Type => CompletionItemKind::CLASS,
        CompletionKind::Enumeration => CompletionItemKind::ENUM,
        CompletionKind::Member | CompletionKind::Space => CompletionItemKind::ENUM_MEMBER,
        CompletionKind::Dtype => CompletionItemKind::CONSTANT,
        CompletionKind::Keyword => CompletionItemKind::FIELD,
        CompletionKind::Variable => CompletionItemKind::VARIABLE,
    }
}

/// Adds the documentation; it is the same in every document.
pub fn resolve_completion(mut item: CompletionItem, shows: Shows) -> CompletionItem {
    let key = item.data.as_ref().and_then(Value::as_str);
    if let Some(markdown) = key.and_then(ide::documentation) {
        let content = convert::markup(markdown, shows.completion);
        item.documentation = Some(Documentation::MarkupContent(content));
    }
    item
}
