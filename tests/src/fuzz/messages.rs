//! Messages in any order, to the real server: it lives, answers each request once, and its documents and diagnostics are of the version that the
//! client sent last.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::choices::Choices;
use crate::kernels::{self, Layout};
use crate::lsp_client::{LspClient, range};
use crate::questions::{METHODS, params};
use crate::{tlx_kernels, typing};

const URIS: [&str; 4] = [
    "file:///work/a.py",
    "file:///work/with%20space/%E5%80%A4.py",
    "untitled:Untitled-1",
    "vscode-notebook-cell:/work/book.ipynb#W0sZmlsZQ%3D%3D",
];
const MOST_MESSAGES: usize = 80;

/// Less than what an input has in all, so that it is said what did not come.
const PATIENCE: Duration = Duration::from_secs(60);

struct Session {
    client: LspClient,
    is_started: bool,
    /// Without `initialized` the server says nothing unasked.
    is_initialized: bool,
    is_shut_down: bool,
    /// Version and text of each document that is open.
    open: [Option<(i32, String)>; URIS.len()],
    /// The last version of each, which those after closing and opening again are above: what is said of either may come as one.
    versions: [i32; URIS.len()],
    waiting: Vec<(i64, String)>,
}

pub fn messages(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let open = [const { None }; URIS.len()];
    let mut session = Session {
        client: LspClient::spawn(),
        is_started: false,
        is_initialized: false,
        is_shut_down: false,
        open,
        versions: [0; URIS.len()],
        waiting: Vec::new(),
    };
    if choices.percent(90) {
        session.initialize();
    }
    for _ in 0..MOST_MESSAGES {
        if choices.are_over() {
            break;
        }
        session.message(&mut choices);
    }
    session.finish();
}

impl Session {
    fn is_live(&self) -> bool {
        self.is_started && !self.is_shut_down
    }

    fn ask(&mut self, method: &str, params: Value) -> i64 {
        let id = self.client.ask(method, params);
        self.waiting.push((id, method.to_owned()));
        id
    }

    fn initialize(&mut self) {
        let capabilities = json!({ "general": { "positionEncodings": ["utf-8"] } });
        let id = self.client.ask("initialize", json!({ "capabilities": capabilities }));
        let answer = self.client.answer(id);
        assert_eq!(answer.is_ok(), !self.is_started && !self.is_shut_down, "initialize: {answer:?}");
        self.is_started = true;
    }

    fn initialized(&mut self) {
        self.client.notify("initialized", json!({}));
        self.is_initialized |= self.is_live();
    }

    fn message(&mut self, choices: &mut Choices) {
        let document = choices.below(URIS.len());
        let uri = URIS[document];
        match choices.below(100) {
            0..=9 => self.open(document, choices),
            10..=44 => self.edit(document, choices),
            45..=49 => {
                self.client.close(uri);
                self.open[document] = None;
            }
            50..=54 => {
                let known = self.waiting.len();
                let id = self.waiting.get(choices.below(known + 1)).map_or(12_345, |(id, _)| *id);
                self.client.notify("$/cancelRequest", json!({ "id": id }));
            }
            55..=59 => self.settings(choices),
            60..=64 => self.oddity(uri, choices),
            65..=66 => self.initialized(),
            67 => self.initialize(),
            68 if choices.percent(20) => {
                self.ask("shutdown", Value::Null);
                self.is_shut_down |= self.is_started;
            }
            _ => {
                let method = choices.of(&METHODS);
                let line = choices.of(&[0, 3, 9, 17, 30, 60, 1_000_000, u32::MAX]);
                let character = choices.of(&[0, 4, 9, 14, 23, 40, u32::MAX]);
                self.ask(method, params(uri, line, character));
            }
        }
    }

    /// Also of a document that is open.
    fn open(&mut self, document: usize, choices: &mut Choices) {
        let text = match choices.below(4) {
            0 => String::new(),
            1 => tlx_kernels::source(1),
            2 => kernels::source(2, Layout::OneClass).replace('\n', "\r\n"),
            _ => kernels::source(1, Layout::ClassPerKernel),
        };
        self.versions[document] += 1;
        let version = self.versions[document];
        self.client.open(URIS[document], version, &text);
        if self.is_live() {
            self.open[document] = Some((version, text));
        }
    }

    /// Also of a document that is not.
    fn edit(&mut self, document: usize, choices: &mut Choices) {
        let Some((version, text)) = &mut self.open[document] else {
            self.client.change(URIS[document], 5, json!([{ "text": "lost" }]));
            return;
        };
        *version += 1 + choices.below(3) as i32;
        self.versions[document] = *version;
        let before = text.clone();
        let (_, changes) = typing::next(&before, &before, choices);
        let (sent, _) = typing::send(text, &changes);
        let sent = if choices.percent(8) { json!([{ "text": text }]) } else { sent };
        self.client.change(URIS[document], *version, sent);
    }

    fn settings(&mut self, choices: &mut Choices) {
        let value = match choices.below(5) {
            0 => Value::Null,
            1 => json!([]),
            2 => json!({ "tilefit": { "target": "ascend950", "inlayHints": { "sync": true } } }),
            3 => json!({ "tilefit": { "planner": 7, "codeLens": "no" } }),
            _ => json!({ "tilefit": { "planner": "packed", "highlight": { "reuseGroup": true } } }),
        };
        self.client.notify("workspace/didChangeConfiguration", json!({ "settings": value }));
    }

    fn oddity(&mut self, uri: &str, choices: &mut Choices) {
        match choices.below(9) {
            0 => self.client.notify("textDocument/didOpen", json!({ "textDocument": { "uri": "no uri", "text": 3 } })),
            1 => self.client.notify("textDocument/didClose", json!({ "textDocument": { "uri": "http://[" } })),
            2 => {
                self.client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": uri, "type": 1 }] }))
            }
            3 => self.client.notify("tilefit/watchMemoryMap", params(uri, 9, 9)),
            4 => self.client.notify("$/unknown", json!([1])),
            5 => drop(self.ask("$/unknown", json!({}))),
            6 => drop(self.ask("tilefit/unknown", Value::Null)),
            7 => drop(self.ask("textDocument/hover", json!({ "textDocument": 3 }))),
            _ => {
                let change = json!([{ "range": range(9, 9, 0, 0), "text": "" }, {}]);
                self.client.notify("textDocument/didChange", json!({ "textDocument": {}, "contentChanges": change }));
            }
        }
    }

    fn finish(mut self) {
        for (id, method) in std::mem::take(&mut self.waiting) {
            let answer = self.client.answer_before(id, Instant::now() + PATIENCE);
            let (_, answer) = answer.unwrap_or_else(|why| panic!("{method}: {why:?}; {}", self.client.stderr()));
            if let Err(error) = answer {
                assert_ne!(error["code"], -32603, "{method}: {error}");
            }
        }
        if self.is_live() {
            if !self.is_initialized {
                self.initialized();
            }
            self.compare();
        }
        if !self.is_shut_down {
            let id = self.client.ask("shutdown", Value::Null);
            assert_eq!(self.client.answer(id).is_ok(), self.is_started);
        }
        assert_eq!(self.client.answered_twice, [0; 0], "answered twice");
        assert_eq!(self.client.answered(), [0; 0], "answered once more");
        self.client.notify("exit", Value::Null);
        self.client.wait();
        assert!(!self.client.stderr().contains("panicked"), "{}", self.client.stderr());
    }

    fn compare(&mut self) {
        for (uri, open) in URIS.iter().zip(&self.open) {
            let document = json!({ "textDocument": { "uri": uri } });
            let found = self.client.request("tilefit/viewFileText", document);
            match open {
                Some((version, text)) => {
                    let found = found.unwrap_or_else(|error| panic!("{uri} is open: {error}"));
                    assert_eq!((&found["version"], &found["text"]), (&json!(version), &json!(text)), "{uri}");
                }
                None => assert!(found.is_err(), "{uri} is not open: {found:?}"),
            }
        }
        // The versions of what was said, by document: they grow until it is closed.
        let mut newest: [Option<i64>; URIS.len()] = [None; URIS.len()];
        let deadline = Instant::now() + PATIENCE;
        loop {
            for (_, message) in self.client.take_notifications() {
                let said = &message["params"];
                let document = URIS.iter().position(|uri| said["uri"] == **uri);
                let Some(document) = document.filter(|_| message["method"] == "textDocument/publishDiagnostics") else {
                    continue;
                };
                let version = said["version"].as_i64();
                assert!(version.is_none() || version >= newest[document], "{version:?} after {newest:?}: {said}");
                newest[document] = version;
            }
            let sent = self.open.each_ref().map(|open| open.as_ref().map(|(version, _)| i64::from(*version)));
            if newest.iter().zip(&sent).all(|(said, sent)| sent.is_none() || said == sent) {
                return;
            }
            let heard = self.client.hear_before(deadline);
            assert_eq!(heard, Ok(()), "diagnostics are of {newest:?}, the documents {sent:?}");
        }
    }
}
