//! `tilefit/viewFileText`: the server's own copy of a document.

use tilefit_analysis::Cancellable;

use crate::ext::FileText;
use crate::view::View;

/// Of the cell of a notebook what the analysis sees.
pub fn view_file_text(view: &View) -> Cancellable<FileText> {
    let mut text = view.document.text();
    if let Some(own) = view.cell.map(|cell| view.document.part(cell)) {
        text = text[own.start..own.end].to_owned();
    }
    Ok(FileText { text, version: view.version })
}
