//! Memory maps that clients watch. A map is drawn after the diagnostics of a version are out, so that no keystroke waits for it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tilefit_answers::panics::panic_message;
use tilefit_answers::{self as answers, View, Watch};
use tower_lsp::ls_types::Uri;

use crate::lsp::outbox::{Outbox, ToClient};

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
