//! What the server says unasked, on its way to the client.

use crate::terminal::complain;
use serde_json::Value;
use tilefit_answers::ext::SettingsInForce;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tower_lsp::ls_types::{Diagnostic, Location, Uri};

pub(crate) enum ToClient {
    Diagnostics {
        uri: Uri,
        /// `None` when the document is closed.
        version: Option<i32>,
        diagnostics: Vec<Diagnostic>,
    },
    /// A memory map that it watches.
    MemoryMap(Value),
    /// The settings that are in force now.
    Settings(SettingsInForce),
    /// Shown to the user: something they wrote is not understood.
    Warning(String),
    /// Logged: something is wrong with the client or with tilefit.
    Error(String),
    /// Something that diagnostics of open documents depend on has changed, but not their text.
    DiagnosticsChanged,
    /// Hints and lenses that the client shows depend on settings that have changed.
    Refresh,
    /// Opens a place in an editor, where the client can.
    Show(Location),
    /// The text of a document that has no file has changed.
    RefreshContent(Uri),
    /// Asks for the section `tilefit` of the client's settings.
    PullSettings,
    WatchFiles,
    /// Offers the text of documents with this scheme.
    OfferContent(&'static str),
}

impl ToClient {
    /// Says it on standard error as well, where it survives a client without a log.
    pub(crate) fn error(message: String) -> Self {
        complain(&message);
        ToClient::Error(message)
    }
}

/// The sending end; sending never waits.
#[derive(Clone)]
pub(crate) struct Outbox(UnboundedSender<ToClient>);

impl Outbox {
    pub(crate) fn new() -> (Outbox, UnboundedReceiver<ToClient>) {
        let (sender, receiver) = unbounded_channel();
        (Outbox(sender), receiver)
    }

    pub(crate) fn send(&self, message: ToClient) {
        let _ = self.0.send(message); // fails at the end of the session only
    }
}
