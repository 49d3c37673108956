//! Requests with which the end-to-end tests break things on purpose. Only with `TILEFIT_TEST_HOOKS=1`:
//!
//! * `tilefit/test/panic` `{textDocument}`: a query that panics on its worker
//! * `tilefit/test/panicInHandler` `{textDocument}`: a handler that panics before it has queued anything
//! * `tilefit/test/sleep` `{textDocument, milliseconds}`: a query that takes its time and answers with the version;
//!   like every query it stops when an edit comes, and is then asked again

use std::thread::sleep;
use std::time::{Duration, Instant};

use serde::Deserialize;
use tilefit_analysis::Cancellable;
use tilefit_answers::View;
use tilefit_answers::ext::ViewFileTextParams;
use tilefit_answers::requests::OnEdit;
use tower_lsp::LspServiceBuilder;
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::TextDocumentIdentifier;

use super::backend::Backend;

pub(crate) fn register(service: LspServiceBuilder<Backend>) -> LspServiceBuilder<Backend> {
    if std::env::var_os("TILEFIT_TEST_HOOKS").is_none_or(|value| value != "1") {
        return service;
    }
    service
        .custom_method("tilefit/test/panic", Backend::test_panic)
        .custom_method("tilefit/test/panicInHandler", Backend::test_panic_in_handler)
        .custom_method("tilefit/test/sleep", Backend::test_sleep)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SleepParams {
    text_document: TextDocumentIdentifier,
    milliseconds: u64,
}

impl Backend {
    async fn test_panic(&self, params: ViewFileTextParams) -> Result<()> {
        self.queue.ask(params.text_document.uri, OnEdit::AskAgain, |_| panic!("on request")).await
    }

    async fn test_panic_in_handler(&self, _: ViewFileTextParams) -> Result<()> {
        panic!("on request")
    }

    async fn test_sleep(&self, params: SleepParams) -> Result<i32> {
        let time = Duration::from_millis(params.milliseconds);
        self.queue.ask(params.text_document.uri, OnEdit::AskAgain, move |view| be_slow(view, time)).await
    }
}

fn be_slow(view: &View, time: Duration) -> Cancellable<i32> {
    const NAP: Duration = Duration::from_millis(2);
    let start = Instant::now();
    while start.elapsed() < time {
        view.analysis.document_symbols(view.file)?; // notices an edit
        sleep(NAP);
    }
    Ok(view.version)
}
