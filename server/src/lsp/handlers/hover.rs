use tilefit_analysis::Cancellable;
use tower_lsp::ls_types::{Hover, HoverContents, Position};

use crate::lsp::client::Shows;
use crate::lsp::convert;
use crate::lsp::query::View;

pub(in crate::lsp) fn hover(view: &View, position: Position, shows: Shows) -> Cancellable<Option<Hover>> {
    let hover = view.analysis.hover(view.file, view.offset(position))?;
    Ok(hover.map(|hover| Hover {
        contents: HoverContents::Markup(convert::markup(hover.markdown, shows.markdown_in_hover)),
        range: Some(view.range(hover.range)),
    }))
}
