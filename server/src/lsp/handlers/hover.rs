use tilelens_analysis::Cancellable;
use tower_lsp::ls_types::{Hover, HoverContents, MarkupContent, MarkupKind, Position};

use crate::lsp::query::View;

pub(in crate::lsp) fn hover(view: &View, position: Position) -> Cancellable<Option<Hover>> {
    let hover = view.analysis.hover(view.file, view.offset(position))?;
    Ok(hover.map(|hover| Hover {
        contents: HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: hover.markdown }),
        range: Some(view.range(hover.range)),
    }))
}
