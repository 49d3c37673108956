//! Memory maps that clients watch. A map is drawn after the diagnostics of a version are out, so that no keystroke waits for it.

use std::collections::HashMap;
use std::ops::Range as Bytes;
use std::panic::{AssertUnwindSafe, catch_unwind};

use tilefit_answers::ext::MapOptions;
use tilefit_answers::{self as answers, View};
use tower_lsp::ls_types::Uri;

use crate::lsp::outbox::{Outbox, ToClient};
use crate::lsp::panics::panic_message;

/// A kernel that a client looks at.
#[derive(Clone)]
pub(crate) struct Watch {
    /// The document as the client named it: in a notebook a cell.
    pub(crate) uri: Uri,
    /// Byte offset of a place in the kernel; moves with the text.
    offset: usize,
    options: MapOptions,
}

/// One a document.
#[derive(Default)]
pub(crate) struct Watches(HashMap<Uri, Watch>);

impl Watches {
    pub(crate) fn start(&mut self, document: Uri, uri: Uri, offset: usize, options: MapOptions) {
        self.0.insert(document, Watch { uri, offset, options });
    }

    pub(crate) fn stop(&mut self, uri: &Uri) {
        self.0.remove(uri);
    }

    /// Unless it is of another cell by now.
    pub(crate) fn stop_of(&mut self, document: &Uri, uri: &Uri) {
        if self.of(document).is_some_and(|watch| watch.uri == *uri) {
            self.stop(document);
        }
    }

    pub(crate) fn of(&self, uri: &Uri) -> Option<Watch> {
        self.0.get(uri).cloned()
    }

    /// Keeps the watch on its kernel when `replaced` becomes `inserted` bytes.
    pub(crate) fn follow(&mut self, uri: &Uri, replaced: &Bytes<usize>, inserted: usize) {
        let Some(watch) = self.0.get_mut(uri) else { return };
        if replaced.end <= watch.offset {
            watch.offset = watch.offset - replaced.len() + inserted;
        } else if replaced.start < watch.offset {
            watch.offset = replaced.start;
        }
    }
}

/// Draws the map and sends it, on a worker. Answers with the document whose map an edit interrupted.
pub(crate) fn send(view: View, watch: Watch, outbox: &Outbox) -> Option<Uri> {
    let drawn = catch_unwind(AssertUnwindSafe(|| answers::memory_map_changed(&view, watch.offset, watch.options)));
    // Before the view is dropped: until then no newer version is analysed, and so maps arrive in order.
    match drawn {
        Ok(Ok(changed)) => outbox.send(match serde_json::to_value(changed) {
            Ok(changed) => ToClient::MemoryMap(changed),
            Err(error) => ToClient::error(format!("a memory map was lost: {error}")),
        }),
        Ok(Err(_)) => return Some(view.uri.clone()),
        Err(panic) => {
            outbox.send(ToClient::error(format!("a memory map was lost: {}", panic_message(panic.as_ref()))));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_moves_with_its_kernel() {
        let uri: Uri = "file:///a.py".parse().expect("a URI");
        let mut watches = Watches::default();
        watches.start(uri.clone(), uri.clone(), 100, MapOptions::default());
        let mut after = |replaced: Bytes<usize>, inserted| {
            watches.follow(&uri, &replaced, inserted);
            watches.of(&uri).expect("it is watched").offset
        };
        assert_eq!(after(0..0, 10), 110);
        assert_eq!(after(20..50, 0), 80);
        assert_eq!(after(80..90, 1), 80);
        assert_eq!(after(70..85, 3), 70);
        assert_eq!(after(71..200, 3), 70);
    }
}
