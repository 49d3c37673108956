//! `tilefit/viewFileText`: the server's own copy of a document.

use tilefit_analysis::Cancellable;

use crate::ext::FileText;
use crate::view::View;

pub fn view_file_text(view: &View) -> Cancellable<FileText> {
    Ok(FileText { text: view.document.text(), version: view.version })
}
