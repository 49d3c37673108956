//! Generated C++ for clients without an extension of their own: as a document that the client asks for
//! (`workspace/textDocumentContent`), else as a read-only file. Both follow every edit, after the diagnostics of a version are out.

use std::collections::HashMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tilefit_analysis::Cancelled;
use tilefit_answers::{self as answers, View};
use tower_lsp::ls_types::Uri;

use crate::disk::{self, PrivateFolder};
use crate::lsp::outbox::{Outbox, ToClient};

/// A kernel whose C++ the client shows.
#[derive(Clone)]
pub(crate) struct Preview {
    kernel: String,
    place: PreviewTarget,
    shown: Arc<Mutex<String>>,
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum PreviewTarget {
    Content(Uri),
    File(PathBuf),
}

/// Those of each source.
#[derive(Default)]
pub(crate) struct Previews(HashMap<Uri, Vec<Preview>>);

impl Previews {
    pub(crate) fn add(&mut self, source: Uri, kernel: String, place: PreviewTarget, text: String) {
        let of_source = self.0.entry(source).or_default();
        if let Some(preview) = of_source.iter().find(|preview| preview.place == place) {
            preview.note(text);
        } else {
            of_source.push(Preview { kernel, place, shown: Arc::new(Mutex::new(text)) });
        }
    }

    pub(crate) fn of(&self, source: &Uri) -> &[Preview] {
        self.0.get(source).map_or(&[], Vec::as_slice)
    }

    /// The source is closed: its files go with it.
    pub(crate) fn close(&mut self, source: &Uri) {
        for preview in self.0.remove(source).unwrap_or_default() {
            if let PreviewTarget::File(path) = preview.place {
                disk::remove(&path);
            }
        }
    }
}

impl Preview {
    /// True if it is another text than before.
    fn note(&self, text: String) -> bool {
        let Ok(mut shown) = self.shown.lock() else { return false };
        let is_new = *shown != text;
        *shown = text;
        is_new
    }
}

/// Where the files of a session lie. It is made for the first one.
#[derive(Default)]
pub(crate) struct PreviewFolder(Mutex<Option<PrivateFolder>>);

impl PreviewFolder {
    /// A file for the C++ of a kernel, one for each kernel of each source.
    pub(crate) fn file_of(&self, source: &Uri, kernel: &str) -> io::Result<PathBuf> {
        let mut folder = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let made = match folder.take() {
            Some(made) => made,
            None => PrivateFolder::new()?,
        };
        Ok(folder.insert(made).file(source.as_str(), kernel, "cpp"))
    }
}

/// Brings the previews of a document up to date, on a worker. Answers with the document if an edit interrupted it.
pub(crate) fn refresh(view: View, previews: &[Preview], outbox: &Outbox) -> Option<Uri> {
    for preview in previews {
        let code = catch_unwind(AssertUnwindSafe(|| answers::generated_code_of(&view, &preview.kernel)));
        let text = match code {
            Ok(Ok(Some(code))) => code.text,
            Ok(Ok(None)) => format!("// tilefit: kernel {} no longer exists\n", preview.kernel),
            Ok(Err(Cancelled)) => return Some(view.uri.clone()),
            Err(_) => continue, // it is said when the text is asked for
        };
        if !preview.note(text.clone()) {
            continue;
        }
        match &preview.place {
            PreviewTarget::Content(uri) => outbox.send(ToClient::RefreshContent(uri.clone())),
            PreviewTarget::File(path) => {
                if let Err(error) = disk::write_read_only(path, &text) {
                    outbox.send(ToClient::error(format!("{}: {error}", path.display())));
                }
            }
        }
    }
    None
}
