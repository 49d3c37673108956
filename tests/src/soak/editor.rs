//! The author's editor: what is open in it, what it waits for, and what it makes of what the server says.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::findings::Finding;
use super::report::{Report, Sample};
use super::sources::Source;
use super::timings::Place;
use super::{Options, sources};
use crate::lsp_client::{LspClient, PATIENCE, Silence};
use crate::process::rss_mib;
use crate::questions::params;
use crate::random::Random;
use crate::typing::{self, Change, Kind};

const BETWEEN_SAMPLES: Duration = Duration::from_secs(2);

pub(super) struct Editor<'r> {
    pub(super) client: LspClient,
    sources: &'r [Source],
    /// The folder of the workspace.
    root: Option<PathBuf>,
    pub(super) documents: Vec<Document>,
    /// The document that the author looks at.
    pub(super) focus: usize,
    /// JSON.
    pub(super) settings: Arc<str>,
    waiting: Vec<Question>,
    start: Instant,
    sampled: Instant,
    pub(super) report: &'r mut Report,
}

pub(super) struct Document {
    source: usize,
    pub(super) name: String,
    pub(super) uri: String,
    pub(super) version: i32,
    /// Shared with what was asked of it.
    pub(super) text: Arc<String>,
    pub(super) undo: Vec<Vec<Change>>,
    /// The text when it was opened, and what the author did to it since.
    opened: Arc<String>,
    journal: Vec<Vec<Change>>,
    /// When the last edit was sent, and where it was.
    edited: (Instant, usize),
    /// Version and diagnostics, as the server last said.
    pub(super) said: Option<(i64, Value)>,
}

impl Document {
    /// What shows again how this text came to be: it when it was opened, as it is, and the changes between.
    pub(super) fn history(&self, name: &str) -> Vec<(String, Vec<u8>)> {
        let change = |change: &Change| json!([change.range.start, change.range.end, change.text]);
        let journal: Vec<Value> = self.journal.iter().map(|changes| changes.iter().map(change).collect()).collect();
        vec![
            (format!("{name}-opened.py"), self.opened.as_bytes().to_vec()),
            (format!("{name}-edits.json"), json!(journal).to_string().into_bytes()),
            (format!("{name}.py"), self.text.as_bytes().to_vec()),
        ]
    }

    fn place(&self, at: usize, settings: &Arc<str>) -> Place {
        let (line, column) = typing::position(&self.text, typing::snapped(&self.text, at));
        let (settings, text) = (Arc::clone(settings), Arc::clone(&self.text));
        Place { name: self.name.clone(), line, column, settings, text }
    }
}

struct Question {
    id: i64,
    method: &'static str,
    asked: Instant,
    place: Place,
    is_cancelled: bool,
}

/// A server to which nothing was said yet but what editors say first.
pub(super) fn started(root: Option<&PathBuf>) -> LspClient {
    let mut client = LspClient::spawn();
    let capabilities = json!({
        "general": { "positionEncodings": ["utf-8"] },
        "textDocument": { "inlayHint": { "resolveSupport": { "properties": ["tooltip"] } } },
        "workspace": { "workspaceEdit": { "documentChanges": true } },
    });
    let root = root.map(|root| sources::uri(root));
    client.initialize(json!({ "capabilities": capabilities, "rootUri": root }));
    client
}

pub(super) fn tell_settings(client: &mut LspClient, settings: &str) {
    let settings: Value = serde_json::from_str(settings).expect("settings are JSON");
    client.notify("workspace/didChangeConfiguration", json!({ "settings": { "tilefit": settings } }));
}

impl<'r> Editor<'r> {
    pub(super) fn start(
        sources: &'r [Source],
        options: &Options,
        start: Instant,
        report: &'r mut Report,
    ) -> Editor<'r> {
        let root = options.files.first().filter(|path| path.is_dir()).and_then(|path| path.canonicalize().ok());
        Editor {
            client: started(root.as_ref()),
            sources,
            root,
            documents: Vec::new(),
            focus: 0,
            settings: "{}".into(),
            waiting: Vec::new(),
            start,
            sampled: start,
            report,
        }
    }

    pub(super) fn root(&self) -> Option<&PathBuf> {
        self.root.as_ref()
    }

    pub(super) fn focused(&self) -> &Document {
        &self.documents[self.focus]
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Sources to open next: large ones only, or all.
    pub(super) fn closed(&self, are_large: bool) -> Vec<usize> {
        let is_closed = |source: &usize| self.documents.iter().all(|open| open.source != *source);
        (0..self.sources.len()).filter(is_closed).filter(|at| !are_large || self.sources[*at].is_large()).collect()
    }

    /// Something to paste.
    pub(super) fn other_text(&self, random: &mut Random) -> &'r str {
        &self.sources[random.below(self.sources.len())].text
    }

    pub(super) fn open(&mut self, source: usize) {
        let Source { name, uri, text } = &self.sources[source];
        self.client.open(uri, 1, text);
        let text = Arc::new(text.clone());
        self.documents.push(Document {
            source,
            name: name.clone(),
            uri: uri.clone(),
            version: 1,
            opened: Arc::clone(&text),
            text,
            undo: Vec::new(),
            journal: Vec::new(),
            edited: (Instant::now(), 0),
            said: None,
        });
        self.focus = self.documents.len() - 1;
        self.report.opened += 1;
    }

    pub(super) fn close(&mut self, document: usize) {
        let closed = self.documents.remove(document);
        self.client.close(&closed.uri);
        self.focus = 0;
    }

    pub(super) fn settings(&mut self, settings: &str) {
        self.settings = settings.into();
        tell_settings(&mut self.client, settings);
        self.report.settings += 1;
    }

    /// From now on a map follows the edits; or no longer.
    pub(super) fn watch_map(&mut self, random: &mut Random) {
        let document = self.focused();
        let place = document.place(random.below(document.text.len() + 1), &self.settings);
        let mut watch = params(&document.uri, place.line, place.column);
        watch["picture"] = json!({ "kind": "html", "width": 800 });
        if random.percent(30) {
            watch = json!({ "textDocument": { "uri": document.uri } });
        }
        self.client.notify("tilefit/watchMemoryMap", watch);
    }

    pub(super) fn edit(&mut self, kind: Kind, changes: &[Change]) {
        let undo = self.change(kind, changes);
        self.documents[self.focus].undo.push(undo);
    }

    /// Takes the last edit back; false where there is none.
    pub(super) fn undo(&mut self) -> bool {
        let undo = self.documents[self.focus].undo.pop();
        let is_one = undo.is_some();
        if let Some(changes) = undo {
            self.change(Kind::Undo, &changes);
        }
        is_one
    }

    fn change(&mut self, kind: Kind, changes: &[Change]) -> Vec<Change> {
        let document = &mut self.documents[self.focus];
        document.version += 1;
        let (sent, undo) = typing::send(Arc::make_mut(&mut document.text), changes);
        document.journal.push(changes.to_vec());
        document.edited = (Instant::now(), changes.last().map_or(0, |change| change.range.start));
        self.client.change(&document.uri, document.version, sent);
        *self.report.edits.entry(kind).or_default() += 1;
        undo
    }

    pub(super) fn ask(&mut self, method: &'static str, at: usize, is_cancelled: bool) {
        let document = self.focused();
        let place = document.place(at, &self.settings);
        let params = params(&document.uri, place.line, place.column);
        let asked = Instant::now();
        let id = self.client.ask(method, params);
        if is_cancelled {
            self.client.notify("$/cancelRequest", json!({ "id": id }));
            self.report.timings.cancelled(method);
        }
        self.waiting.push(Question { id, method, asked, place, is_cancelled });
    }

    /// Until all is answered but what looks at every file of the workspace; that too where `all` is wanted.
    pub(super) fn wait_for_answers(&mut self, all: bool) -> Result<(), Silence> {
        let mut at = 0;
        while let Some(question) = self.waiting.get(at) {
            if !all && question.method == "workspace/diagnostic" && !self.client.is_answered(question.id) {
                at += 1;
                continue;
            }
            let answer = self.client.answer_before(question.id, question.asked + PATIENCE);
            let (came, answer) = answer?;
            let Question { method, asked, place, is_cancelled, .. } = self.waiting.remove(at);
            if let Some(error) = answer.err().filter(|error| error["code"] == -32603) {
                let texts = vec![("answered.py".to_owned(), place.text.as_bytes().to_vec())];
                self.report.found(Finding {
                    kind: "internal error as an answer",
                    what: format!("{method}: {error}"),
                    texts,
                });
            }
            if !is_cancelled {
                self.report.timings.add(method, came - asked, || place);
            }
        }
        Ok(())
    }

    /// Until those of the newest version are here.
    pub(super) fn wait_for_diagnostics(&mut self) -> Result<(), Silence> {
        self.listen();
        let deadline = self.focused().edited.0 + PATIENCE;
        while self.focused().said.as_ref().is_none_or(|(version, _)| *version < i64::from(self.focused().version)) {
            self.client.hear_before(deadline)?;
            self.listen();
        }
        Ok(())
    }

    /// Takes in what the server has said unasked.
    pub(super) fn listen(&mut self) {
        for (came, mut message) in self.client.take_notifications() {
            match message["method"].as_str() {
                Some("textDocument/publishDiagnostics") => self.diagnostics(came, message["params"].take()),
                Some("window/logMessage") if message["params"]["type"] == 1 => {
                    let what = message["params"]["message"].to_string();
                    let texts = self.focused().history("logged");
                    self.report.found(Finding { kind: "error in the log", what, texts });
                }
                _ => {}
            }
        }
        self.client.server_requests.clear();
        if self.sampled.elapsed() > BETWEEN_SAMPLES {
            self.sampled = Instant::now();
            self.sample();
        }
    }

    fn diagnostics(&mut self, came: Instant, mut said: Value) {
        let Some(document) = self.documents.iter_mut().find(|document| said["uri"] == *document.uri) else { return };
        let Some(version) = said["version"].as_i64() else { return };
        let known = document.said.as_ref().map_or(0, |(known, _)| *known);
        let mut wrong = None;
        if version < known || version > i64::from(document.version) {
            let what = format!("version {version} after {known}, where {} was sent last", document.version);
            wrong = Some(("diagnostics of a wrong version", what));
        } else if version == i64::from(document.version) && version > known && version > 1 {
            let (sent, at) = document.edited;
            let place = || document.place(at, &self.settings);
            self.report.timings.add("an edit's diagnostics", came.saturating_duration_since(sent), place);
        }
        let internal = said["diagnostics"].as_array().into_iter().flatten().find(|found| found["code"] == "internal");
        if let Some(internal) = internal {
            wrong = Some(("internal error in diagnostics", internal["message"].to_string()));
        }
        if let Some((kind, what)) = wrong {
            self.report.found(Finding { kind, what, texts: document.history("diagnostics") });
        }
        document.said = Some((version, said["diagnostics"].take()));
    }

    fn sample(&mut self) {
        if let Some(mib) = rss_mib(self.client.id()) {
            let edits = self.report.edits.values().sum();
            self.report.samples.push(Sample { after: self.start.elapsed(), edits, mib });
        }
    }

    /// Ends the session, as it ought to be or after a silence.
    pub(super) fn finish(mut self, outcome: Result<(), Silence>) {
        let outcome = outcome.and_then(|()| self.wait_for_answers(true));
        self.sample();
        let history = self.focused().history("silent");
        if let Err(silence) = outcome {
            let waiting: Vec<String> = self
                .waiting
                .iter()
                .map(|it| format!("{} at {}:{}", it.method, it.place.name, it.place.line + 1))
                .collect();
            let what = format!("{silence:?} with {}: {}", self.focused().name, waiting.join(", "));
            self.report.found(Finding { kind: "lost answer", what, texts: history.clone() });
        }
        let twice = [std::mem::take(&mut self.client.answered_twice), self.client.answered()].concat();
        if !twice.is_empty() {
            self.report.found(Finding { kind: "answered twice", what: format!("{twice:?}"), texts: Vec::new() });
        }
        let stderr = self.client.stderr();
        if let Some(line) = stderr.lines().find(|line| line.contains("panicked")) {
            let texts = [history, vec![("stderr.txt".to_owned(), stderr.as_bytes().to_vec())]].concat();
            self.report.found(Finding { kind: "panic", what: line.to_owned(), texts });
        }
    }
}
