use tilelens_analysis::Cancellable;
use tower_lsp::ls_types::{InlayHint, InlayHintKind, InlayHintLabel, InlayHintTooltip, Range};

use crate::lsp::query::View;

pub(in crate::lsp) fn inlay_hints(view: &View, range: Range) -> Cancellable<Option<Vec<InlayHint>>> {
    let hints = view.analysis.inlay_hints(view.file, view.text_range(range))?;
    let hints = hints.into_iter().map(|hint| InlayHint {
        position: view.position(hint.offset),
        label: InlayHintLabel::String(hint.label),
        kind: Some(InlayHintKind::TYPE),
        text_edits: None,
        tooltip: Some(InlayHintTooltip::String(hint.tooltip)),
        padding_left: Some(!hint.in_front),
        padding_right: Some(hint.in_front),
        data: None,
    });
    Ok(Some(hints.collect()))
}
