//! What the server says unasked, on its way to the client.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tilefit_answers::ext::SettingsInForce;
use tokio::sync::Notify;
use tower_lsp::ls_types::{Diagnostic, Location, Uri, WorkspaceEdit};

use super::long_task::LongTask;
use crate::terminal::complain;

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
    /// Shown to the user: what came of something that they asked for.
    Info(String),
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
    /// Edits what the client has open.
    Apply(WorkspaceEdit),
    /// How far something is, for as long as it takes.
    Progress(Arc<LongTask>),
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

    /// Whether there is no use in a message any more once `newer` is said.
    fn is_overtaken_by(&self, newer: &ToClient) -> bool {
        match (self, newer) {
            (ToClient::Diagnostics { uri: a, .. }, ToClient::Diagnostics { uri: b, .. })
            | (ToClient::RefreshContent(a), ToClient::RefreshContent(b)) => a == b,
            (ToClient::MemoryMap(a), ToClient::MemoryMap(b)) => a.get("uri") == b.get("uri"),
            (ToClient::Warning(a), ToClient::Warning(b)) | (ToClient::Error(a), ToClient::Error(b)) => a == b,
            (ToClient::Settings(_), ToClient::Settings(_))
            | (ToClient::DiagnosticsChanged, ToClient::DiagnosticsChanged)
            | (ToClient::Refresh, ToClient::Refresh)
            | (ToClient::PullSettings, ToClient::PullSettings) => true,
            _ => false,
        }
    }
}

/// With more messages than these waiting, what is said to people is not kept. The rest is bounded by the documents.
const MOST_WAITING: usize = 1_000;

/// Sending never waits. A message takes the place of one that it overtakes, so that a client that does not read costs no more memory than
/// its documents do.
#[derive(Clone, Default)]
pub(crate) struct Outbox(Arc<Waiting>);

#[derive(Default)]
struct Waiting {
    messages: Mutex<VecDeque<ToClient>>,
    arrived: Notify,
}

impl Outbox {
    pub(crate) fn send(&self, message: ToClient) {
        let mut messages = self.0.messages.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(older) = messages.iter_mut().find(|older| older.is_overtaken_by(&message)) {
            *older = message;
        } else if messages.len() < MOST_WAITING || !matches!(message, ToClient::Warning(_) | ToClient::Error(_)) {
            messages.push_back(message);
        }
        drop(messages);
        self.0.arrived.notify_one();
    }

    /// The next message; only one task may ask.
    pub(crate) async fn next(&self) -> ToClient {
        loop {
            let next = self.0.messages.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            match next {
                Some(message) => return message,
                None => self.0.arrived.notified().await,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagnostics(uri: &str, version: i32) -> ToClient {
        let uri = uri.parse().expect("a URI");
        ToClient::Diagnostics { uri, version: Some(version), diagnostics: Vec::new() }
    }

    #[test]
    fn a_client_that_does_not_read_costs_a_message_a_document() {
        let outbox = Outbox::default();
        for version in 0..1000 {
            outbox.send(diagnostics("file:///a.py", version));
            outbox.send(diagnostics("file:///b.py", version));
            outbox.send(ToClient::Refresh);
        }
        let waiting = outbox.0.messages.lock().expect("no panic");
        let versions = waiting.iter().map(|message| match message {
            ToClient::Diagnostics { version, .. } => *version,
            _ => None,
        });
        assert_eq!(versions.collect::<Vec<_>>(), [Some(999), Some(999), None]);
    }
}
