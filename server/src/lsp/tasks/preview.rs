//! Generated C++ for clients without an extension of their own: as a document that the client asks for
//! (`workspace/textDocumentContent`), else as a read-only file. Both follow every edit, after the diagnostics of a version are out.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use tilefit_analysis::Cancelled;
use tilefit_answers::{self as answers, View};
use tower_lsp::ls_types::Uri;

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
                let _ = fs::remove_file(path); // another may have been faster
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

/// A file for the C++ of a kernel, one for each kernel of each source of this session.
pub(crate) fn file_of(source: &Uri, kernel: &str) -> PathBuf {
    let source = utf8_percent_encode(source.as_str(), NON_ALPHANUMERIC).to_string();
    // Names of files have a limit; the end of a path says most.
    let source: String = source.chars().skip(source.chars().count().saturating_sub(120)).collect();
    let folder = std::env::temp_dir().join(format!("tilefit-{}", std::process::id())).join(source);
    folder.join(format!("{}.cpp", utf8_percent_encode(kernel, NON_ALPHANUMERIC)))
}

/// Puts a read-only file with this text into the place of the one that is there.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let new = path.with_extension("new");
    let _ = fs::remove_file(&new); // of a write that was interrupted
    fs::write(&new, text)?;
    let mut permissions = fs::metadata(&new)?.permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&new, permissions)?;
    fs::rename(&new, path)
}

/// Brings the previews of a document up to date, on a worker. Answers with the document if an edit interrupted it.
pub(crate) fn refresh(view: View, previews: &[Preview], outbox: &Outbox) -> Option<Uri> {
    for preview in previews {
        let code = catch_unwind(AssertUnwindSafe(|| answers::generated_code_of(&view, &preview.kernel)));
        let text = match code {
            Ok(Ok(Some(code))) => code.text,
            Ok(Ok(None)) => format!("// tilefit: there is no kernel {} any more\n", preview.kernel),
            Ok(Err(Cancelled)) => return Some(view.uri.clone()),
            Err(_) => continue, // it is said when the text is asked for
        };
        if !preview.note(text.clone()) {
            continue;
        }
        match &preview.place {
            PreviewTarget::Content(uri) => outbox.send(ToClient::RefreshContent(uri.clone())),
            PreviewTarget::File(path) => {
                if let Err(error) = write(path, &text) {
                    outbox.send(ToClient::error(format!("{}: {error}", path.display())));
                }
            }
        }
    }
    None
}
