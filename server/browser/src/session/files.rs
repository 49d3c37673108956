//! Files that are not open. There is no disk: a client that says that it reads files is asked for the settings of its workspace, and for what
//! the open documents import.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ls_types::notification::ShowMessage;
use ls_types::request::{CodeLensRefresh, InlayHintRefreshRequest, RegisterCapability, Request};
use ls_types::{
    DidChangeWatchedFilesParams, DidChangeWatchedFilesRegistrationOptions, FileSystemWatcher, GlobPattern,
    InitializeParams, MessageType, Registration, RegistrationParams, ShowMessageParams,
};
use serde_json::{Value, json};
use tilefit_analysis::FileId;
use tilefit_analysis::project::{Config, SETTINGS_FILES};
use tilefit_answers::convert::{path_of, uri_of};
use tilefit_answers::editor_settings;
use tilefit_answers::ext::{FirstFile, FirstFileParams, FirstFileRequest, SettingsInForce, SettingsNotification};
use tilefit_syntax::Document;

use super::{Message, Session};

#[derive(Default)]
pub(super) struct Files {
    /// The folder of the workspace; none for a client that reads no files.
    root: Option<String>,
    /// What the client has been asked and has not answered.
    asked: HashMap<i64, Wanted>,
    /// The number of the newest request.
    newest: i64,
    /// The file of settings that the client has found.
    settings: Option<FirstFile>,
    /// What the client says before it has answered what the settings are: nobody knows under which ones to answer it.
    pub(super) held: Option<Vec<Message>>,
    /// Candidates of imports that the client was asked about.
    sought: HashSet<Vec<String>>,
    /// Files whose text is the client's answer.
    imported: HashSet<String>,
}

#[derive(PartialEq, Eq)]
enum Wanted {
    Settings,
    /// The first of these paths.
    Import(Vec<String>),
}

impl Files {
    pub(super) fn of(params: &InitializeParams, client_reads: bool) -> Self {
        let folder = params.workspace_folders.iter().flatten().next().filter(|_| client_reads);
        let root = folder.map(|folder| folder.uri.as_str().trim_end_matches('/').to_owned());
        Files { root, ..Files::default() }
    }

    /// Puts the settings of the workspace over a configuration. Answers with what was not understood, in words for the user.
    fn apply_settings(&self, config: &mut Config) -> Vec<String> {
        let Some(FirstFile { uri, text, why }) = &self.settings else { return Vec::new() };
        let name = uri.as_str().rsplit('/').next();
        let Some(file) = SETTINGS_FILES.iter().find(|file| Some(file.name) == name) else { return Vec::new() };
        match text {
            Some(text) if (file.counts)(text) => {
                let problems = (file.apply)(config, text).into_iter();
                problems.map(|problem| format!("{}: {}", file.name, problem.message)).collect()
            }
            Some(_) => Vec::new(),
            None => vec![format!("{}: {}", file.name, why.as_deref().unwrap_or("it cannot be read"))],
        }
    }
}

impl Session {
    /// From now on the client takes whatever is said and asked.
    pub(super) fn initialized(&mut self) {
        if self.files.root.is_none() {
            self.apply_settings();
            return;
        }
        self.look_for_settings();
        self.files.held = Some(Vec::new());
        if self.abilities.watched_files {
            let watched = SETTINGS_FILES.iter().map(|file| file.name).chain(["*.py"]);
            let watchers = watched
                .map(|name| FileSystemWatcher { glob_pattern: GlobPattern::String(format!("**/{name}")), kind: None });
            let options = DidChangeWatchedFilesRegistrationOptions { watchers: watchers.collect() };
            self.request_of_client::<RegisterCapability>(&RegistrationParams {
                registrations: vec![Registration {
                    id: "tilefit-files".to_owned(),
                    method: "workspace/didChangeWatchedFiles".to_owned(),
                    register_options: Some(json!(options)),
                }],
            });
        }
    }

    fn look_for_settings(&mut self) {
        let Some(root) = &self.files.root else { return };
        let paths = SETTINGS_FILES.iter().map(|file| format!("{root}/{}", file.name)).collect();
        self.ask_for_file(paths, Wanted::Settings);
    }

    /// Asks for what a document imports and nobody was asked for yet.
    pub(super) fn look_for_imports(&mut self, file: FileId) {
        let Some(root) = &self.files.root else { return };
        let is_inside = |path: &String| path.strip_prefix(root.as_str()).is_some_and(|rest| rest.starts_with('/'));
        let unknown = self.host.snapshot().unknown_imports(file).unwrap_or_default();
        let inside =
            unknown.iter().map(|paths| paths.iter().filter(|path| is_inside(path)).cloned().collect::<Vec<_>>());
        for paths in inside.filter(|paths| !paths.is_empty()).collect::<Vec<_>>() {
            if self.files.sought.insert(paths.clone()) {
                self.ask_for_file(paths.clone(), Wanted::Import(paths));
            }
        }
    }

    fn ask_for_file(&mut self, paths: Vec<String>, wanted: Wanted) {
        let uris = paths.iter().filter_map(|path| uri_of(path)).collect();
        let id = self.request_of_client::<FirstFileRequest>(&FirstFileParams { uris });
        // Answers may overtake each other: one to an older question may be of an older text.
        self.files.asked.retain(|_, asked| *asked != wanted);
        self.files.asked.insert(id, wanted);
    }

    /// Takes an answer of the client; one that is an error is as none.
    pub(super) fn hear(&mut self, id: &Value, result: Value) {
        let Some(wanted) = id.as_i64().and_then(|id| self.files.asked.remove(&id)) else { return };
        let found: Option<FirstFile> = serde_json::from_value(result).unwrap_or_default();
        match (wanted, found) {
            (Wanted::Settings, found) => {
                self.files.settings = found;
                self.apply_settings();
                let held = self.files.held.take().unwrap_or_default();
                held.into_iter().for_each(|message| self.take(message));
            }
            (Wanted::Import(_), Some(found)) => self.import(found),
            (Wanted::Import(paths), None) => paths.iter().for_each(|path| self.forget_import(path)),
        }
    }

    fn import(&mut self, found: FirstFile) {
        let path = path_of(&found.uri);
        let file = self.host.file_id(&path);
        if self.is_open(file) {
            return; // the text is the editor's
        }
        match found.text {
            Some(text) => self.host.set_document_at_rest(file, Document::new(&text)),
            None => self.host.set_unreadable(file, found.why.unwrap_or_else(|| "it cannot be read".to_owned())),
        }
        self.files.imported.insert(path);
        self.diagnose_importers(&[file]);
    }

    fn forget_import(&mut self, path: &str) {
        if !self.files.imported.remove(path) {
            return;
        }
        let file = self.host.file_id(path);
        if !self.is_open(file) {
            self.diagnose_importers(&[file]);
            self.host.remove_file(file);
        }
    }

    /// What is said of the documents that import these files may be another.
    pub(super) fn diagnose_importers(&mut self, changed: &[FileId]) {
        let mut is_seen = false;
        for open in self.documents.values_mut() {
            let depends = |&file: &FileId| file != open.file && self.host.depends_on(open.file, file);
            if changed.iter().any(depends) {
                open.is_undiagnosed = true;
                is_seen = true;
            }
        }
        if is_seen {
            self.refresh();
        }
    }

    fn is_open(&self, file: FileId) -> bool {
        self.documents.values().any(|open| open.file == file)
    }

    pub(super) fn files_changed(&mut self, params: DidChangeWatchedFilesParams) {
        for uri in params.changes.into_iter().map(|change| change.uri) {
            let path = path_of(&uri);
            if SETTINGS_FILES.iter().any(|file| path.rsplit('/').next() == Some(file.name)) {
                self.look_for_settings();
            } else if self.files.imported.contains(&path) {
                self.ask_for_file(vec![path.clone()], Wanted::Import(vec![path]));
            }
        }
        // What was not there may be there now.
        self.files.sought.clear();
        self.diagnose_all();
    }

    /// Of documents that are closed. What others import from one of them is read anew.
    pub(super) fn forget_imports_of_none(&mut self) {
        let analysis = self.host.snapshot();
        let needed = self.documents.values().filter_map(|open| analysis.imported_paths(open.file).ok());
        let needed: HashSet<String> = needed.flat_map(|paths| paths.to_vec()).collect();
        drop(analysis);
        let gone: Vec<String> = self.files.imported.difference(&needed).cloned().collect();
        gone.iter().for_each(|path| self.forget_import(path));
        self.files.sought.clear();
    }

    /// Those of the workspace, and over them those of the editor.
    pub(super) fn apply_settings(&mut self) {
        let mut config = Config::default();
        let mut problems = self.files.apply_settings(&mut config);
        problems.extend(editor_settings::apply(&mut config, &self.editor));
        for message in problems {
            self.notify::<ShowMessage>(&ShowMessageParams { typ: MessageType::WARNING, message });
        }
        if self.abilities.settings {
            self.notify::<SettingsNotification>(&SettingsInForce::of(&config));
        }
        self.host.set_config(config);
        for open in self.documents.values_mut() {
            open.last_whole = Arc::default();
        }
        self.diagnose_all();
        self.refresh();
    }

    /// What the client shows besides diagnostics may be another, though the text is not.
    pub(super) fn refresh(&mut self) {
        if self.documents.is_empty() {
            return;
        }
        if self.abilities.inlay_hint_refresh {
            self.request_of_client::<InlayHintRefreshRequest>(&());
        }
        if self.abilities.code_lens_refresh {
            self.request_of_client::<CodeLensRefresh>(&());
        }
    }

    /// Answers the number of the request.
    fn request_of_client<R: Request<Params: serde::Serialize>>(&mut self, params: &R::Params) -> i64 {
        self.files.newest += 1;
        let id = self.files.newest;
        let mut request = json!({ "jsonrpc": "2.0", "id": id, "method": R::METHOD });
        let params = json!(params);
        if !params.is_null() {
            request["params"] = params;
        }
        self.outbox.push(request.to_string());
        id
    }
}
