//! Delivers what the server says unasked, in the order in which it is said.

use std::sync::Arc;

use serde_json::{Value, json};
use tilefit_analysis::launch::RECORDS;
use tilefit_answers::Abilities;
use tilefit_answers::editor_settings::SECTION;
use tilefit_answers::ext::{
    MemoryMapNotification, RefreshTextDocumentContent, SettingsNotification, TEXT_DOCUMENT_CONTENT,
    TextDocumentContentParams,
};
use tilefit_gpu::tuned_configurations;
use tower_lsp::Client;
use tower_lsp::ls_types::{
    ConfigurationItem, DidChangeWatchedFilesRegistrationOptions, FileSystemWatcher, GlobPattern, Location, MessageType,
    Registration, ShowDocumentParams, WorkspaceEdit,
};

use super::progress::Progresses;
use crate::lsp::main_loop::event::Event;
use crate::lsp::main_loop::queue::Queue;
use crate::lsp::outbox::{Outbox, ToClient};
use crate::settings;
use crate::terminal::complain;

/// Delivers what is in the outbox. A request to the client runs beside, so that a slow answer holds up nothing.
pub(super) async fn deliver(
    client: Client,
    abilities: Abilities,
    outbox: Outbox,
    queue: Queue,
    progresses: Arc<Progresses>,
) {
    loop {
        match outbox.next().await {
            ToClient::Diagnostics { .. } if abilities.pulls_diagnostics => {}
            ToClient::DiagnosticsChanged if abilities.pulls_diagnostics && abilities.diagnostics_refresh => {
                let client = client.clone();
                // An error means that the client does not want to; there is nothing to do about it.
                tokio::spawn(async move { client.workspace_diagnostic_refresh().await });
            }
            ToClient::DiagnosticsChanged => {}
            ToClient::Diagnostics { uri, version, diagnostics } => {
                client.publish_diagnostics(uri, diagnostics, version).await;
            }
            ToClient::MemoryMap(map) => client.send_notification::<MemoryMapNotification>(map).await,
            ToClient::Settings(settings) if abilities.settings => {
                client.send_notification::<SettingsNotification>(settings).await;
            }
            ToClient::Info(message) => client.show_message(MessageType::INFO, message).await,
            ToClient::Warning(message) => client.show_message(MessageType::WARNING, message).await,
            ToClient::Error(message) => client.log_message(MessageType::ERROR, message).await,
            ToClient::Refresh => {
                tokio::spawn(refresh(client.clone(), abilities));
            }
            ToClient::Show(place) if abilities.show_document => {
                tokio::spawn(show(client.clone(), place));
            }
            ToClient::Apply(edit) => {
                tokio::spawn(apply(client.clone(), edit));
            }
            ToClient::RefreshContent(uri) => {
                let params = TextDocumentContentParams { uri };
                let client = client.clone();
                // An error means that the client does not show it any more.
                tokio::spawn(async move { client.send_request::<RefreshTextDocumentContent>(params).await });
            }
            ToClient::OfferContent(scheme) => {
                tokio::spawn(offer_content(client.clone(), scheme));
            }
            ToClient::PullSettings if abilities.configuration => {
                tokio::spawn(pull_settings(client.clone(), queue.clone()));
            }
            ToClient::WatchFiles if abilities.watched_files => {
                tokio::spawn(watch_files(client.clone()));
            }
            ToClient::Progress(task) if abilities.progress => {
                tokio::spawn(Arc::clone(&progresses).follow(task));
            }
            ToClient::Settings(_)
            | ToClient::Show(_)
            | ToClient::Progress(_)
            | ToClient::PullSettings
            | ToClient::WatchFiles => {}
        }
    }
}

async fn refresh(client: Client, abilities: Abilities) {
    // An error means that the client does not want to; there is nothing to do about it.
    if abilities.inlay_hint_refresh {
        let _ = client.inlay_hint_refresh().await;
    }
    if abilities.code_lens_refresh {
        let _ = client.code_lens_refresh().await;
    }
}

async fn show(client: Client, Location { uri, range }: Location) {
    let params = ShowDocumentParams { uri, external: None, take_focus: Some(true), selection: Some(range) };
    if let Err(error) = client.show_document(params).await {
        complain(&format!("the client does not show a document: {error}"));
    }
}

async fn apply(client: Client, edit: WorkspaceEdit) {
    if let Err(error) = client.apply_edit(edit).await {
        complain(&format!("the client does not edit a document: {error}"));
    }
}

async fn pull_settings(client: Client, queue: Queue) {
    let section = ConfigurationItem { scope_uri: None, section: Some(SECTION.to_owned()) };
    match client.configuration(vec![section]).await {
        Ok(mut values) => {
            let settings = values.pop().filter(|value| !value.is_null());
            queue.post(Event::EditorSettings(settings.unwrap_or_else(|| Value::Object(Default::default()))));
        }
        Err(error) => complain(&format!("the client did not send its settings: {error}")),
    }
}

async fn offer_content(client: Client, scheme: &'static str) {
    let registration = Registration {
        id: "tilefit-content".to_owned(),
        method: TEXT_DOCUMENT_CONTENT.to_owned(),
        register_options: Some(json!({ "schemes": [scheme] })),
    };
    if let Err(error) = client.register_capability(vec![registration]).await {
        complain(&format!("the client does not ask for documents: {error}"));
    }
}

async fn watch_files(client: Client) {
    // Python files may be imported for their constants, tables of configurations read, and what was recorded of launches.
    let watchers = settings::file_names()
        .chain(["*.py", tuned_configurations::FILE, tuned_configurations::TABLES, RECORDS])
        .map(|name| FileSystemWatcher { glob_pattern: GlobPattern::String(format!("**/{name}")), kind: None })
        .collect();
    let registration = Registration {
        id: "tilefit-files".to_owned(),
        method: "workspace/didChangeWatchedFiles".to_owned(),
        register_options: serde_json::to_value(DidChangeWatchedFilesRegistrationOptions { watchers }).ok(),
    };
    if let Err(error) = client.register_capability(vec![registration]).await {
        complain(&format!("the client does not watch files: {error}"));
    }
}
