//! The kernels whose memory maps a client watches.

use std::collections::HashMap;
use std::ops::Range as Bytes;

use ls_types::Uri;

use crate::ext::MapOptions;

/// A kernel that a client looks at.
#[derive(Clone)]
pub struct Watch {
    /// The document as the client named it: in a notebook a cell.
    pub uri: Uri,
    /// Byte offset of a place in the kernel; moves with the text.
    pub offset: usize,
    pub options: MapOptions,
}

/// One a document.
#[derive(Default)]
pub struct Watches(HashMap<Uri, Watch>);

impl Watches {
    pub fn start(&mut self, document: Uri, uri: Uri, offset: usize, options: MapOptions) {
        self.0.insert(document, Watch { uri, offset, options });
    }

    pub fn stop(&mut self, uri: &Uri) {
        self.0.remove(uri);
    }

    /// Unless it is of another cell by now.
    pub fn stop_of(&mut self, document: &Uri, uri: &Uri) {
        if self.of(document).is_some_and(|watch| watch.uri == *uri) {
            self.stop(document);
        }
    }

    pub fn of(&self, uri: &Uri) -> Option<Watch> {
        self.0.get(uri).cloned()
    }

    /// Keeps the watch on its kernel when `replaced` becomes `inserted` bytes.
    pub fn follow(&mut self, uri: &Uri, replaced: &Bytes<usize>, inserted: usize) {
        let Some(watch) = self.0.get_mut(uri) else { return };
        if replaced.end <= watch.offset {
            watch.offset = watch.offset - replaced.len() + inserted;
        } else if replaced.start < watch.offset {
            watch.offset = replaced.start;
        }
    }
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
