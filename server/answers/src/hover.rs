//! `textDocument/hover`.

use ls_types::{Hover, HoverContents, Position};
use tilefit_analysis::Cancellable;

use crate::abilities::Shows;
use crate::convert;
use crate::view::View;

pub fn hover(view: &View, position: Position, shows: Shows) -> Cancellable<Option<Hover>> {
    let hover = view.analysis.hover(view.file, view.offset(position))?;
    Ok(hover.map(|hover| Hover {
        contents: HoverContents::Markup(convert::markup(hover.markdown, shows.hover)),
        range: Some(view.range(hover.range)),
    }))
}
