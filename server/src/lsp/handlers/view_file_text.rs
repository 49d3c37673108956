use tilefit_analysis::Cancellable;

use crate::lsp::ext::FileText;
use crate::lsp::query::View;

pub(in crate::lsp) fn view_file_text(view: &View) -> Cancellable<FileText> {
    Ok(FileText { text: view.document.text(), version: view.version })
}
