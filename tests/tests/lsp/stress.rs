//! Random sessions: whatever a client sends, the server lives, and then it answers as a fresh server does that was only shown the
//! texts as they are. The seeds are fixed, so that a failure comes again.

use serde_json::{Value, json};
use tilefit_tests::kernels::{Layout, source};
use tilefit_tests::lsp_client::{LspClient, range};
use tilefit_tests::questions::{METHODS, params};
use tilefit_tests::random::Random;
use tilefit_tests::tlx_kernels;

use crate::lsp::URI;

/// With a file, with a space in it, without one, and two cells of a notebook.
const URIS: [&str; 5] = [
    "file:///work/a.py",
    "file:///work/with%20space/%E5%80%A4.py",
    "untitled:Untitled-1",
    "vscode-notebook-cell:/work/book.ipynb#W0sZmlsZQ%3D%3D",
    "vscode-notebook-cell:/work/book.ipynb#W1sZmlsZQ%3D%3D",
];

const SNIPPETS: [&str; 18] = [
    "",
    "\n",
    "\r\n",
    "(",
    ")",
    "]",
    "\"\"\"",
    "'",
    "#",
    "😀",
    "値",
    "64",
    "512",
    "pl.",
    "    ",
    "x = pl.exp(x)\n",
    "@pl.jit\n",
    "BUF = pl.MemRef(slots=2)\n",
];

struct Session {
    client: LspClient,
    random: Random,
    /// What each document is, as far as the client knows.
    open: [Option<(i32, String)>; URIS.len()],
    asked: Vec<i64>,
}

fn capabilities() -> Value {
    json!({
        "general": { "positionEncodings": ["utf-16"] },
        "textDocument": {
            "diagnostic": {},
            "completion": { "completionItem": { "snippetSupport": true, "insertReplaceSupport": true } },
            "inlayHint": { "resolveSupport": { "properties": ["tooltip"] } },
        },
        "workspace": { "workspaceEdit": { "documentChanges": true } },
    })
}

fn start() -> LspClient {
    let mut client = LspClient::spawn();
    client.initialize(json!({ "capabilities": capabilities() }));
    client
}

impl Session {
    fn step(&mut self) {
        let document = self.random.below(URIS.len());
        let uri = URIS[document];
        match self.random.below(20) {
            0..=1 => self.open(document),
            2..=9 => self.edit(document),
            10 => {
                self.client.close(uri);
                self.open[document] = None;
            }
            11 => self.settings(),
            12 => self.nonsense(document),
            13 => {
                let id = self.asked.last().copied().unwrap_or(77);
                self.client.notify("$/cancelRequest", json!({ "id": id }));
            }
            _ => {
                let method = self.random.of(&METHODS);
                let line = self.random.of(&[0, 3, 9, 17, 30, 60, 1_000_000, u32::MAX]);
                let character = self.random.of(&[0, 4, 9, 14, 23, 40, u32::MAX]);
                let id = self.client.ask(method, params(uri, line, character));
                self.asked.push(id);
            }
        }
    }

    fn open(&mut self, document: usize) {
        let text = match self.random.below(4) {
            0 => String::new(),
            1 => tlx_kernels::source(1),
            2 => source(2, Layout::OneClass).replace('\n', "\r\n"),
            _ => source(3, Layout::ClassPerKernel),
        };
        let version = self.random.below(9) as i32;
        self.client.open(URIS[document], version, &text);
        self.open[document] = Some((version, text));
    }

    /// Also of documents that are not open, with versions that stay or leave some out, and sometimes before an older edit.
    fn edit(&mut self, document: usize) {
        let is_late = self.random.below(4) == 0;
        let Some(first) = self.next_edit(document, usize::from(is_late)) else {
            self.client.change(URIS[document], 1, json!([{ "text": "lost" }]));
            return;
        };
        let overtaking = is_late.then(|| self.next_edit(document, 1)).flatten();
        for (version, change) in overtaking.into_iter().chain([first]) {
            self.client.change(URIS[document], version, json!([change]));
        }
    }

    /// Of an open document; the version rises by `least` or more.
    fn next_edit(&mut self, document: usize, least: usize) -> Option<(i32, Value)> {
        let (line, snippet) = (self.random.below(60), self.random.of(&SNIPPETS));
        let (version, text) = self.open[document].as_mut()?;
        *version += (least + self.random.below(3)) as i32;
        // Whole lines, whose ends need no arithmetic.
        let starts: Vec<usize> = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let first = line.min(starts.len() - 1);
        let last = (first + self.random.below(2)).min(starts.len() - 1);
        // A lone `\r` is a line end to clients as well: such texts are sent whole.
        let has_lone_return = text.replace("\r\n", "").contains('\r');
        text.replace_range(starts[first]..starts[last], snippet);
        let change = match has_lone_return || self.random.below(8) == 0 {
            true => json!({ "text": text }),
            false => json!({ "range": range(first as u32, 0, last as u32, 0), "text": snippet }),
        };
        Some((*version, change))
    }

    fn settings(&mut self) {
        let settings = [
            Value::Null,
            json!([]),
            json!({ "tilefit": null }),
            json!({ "tilefit": { "target": "ascend950" } }),
            json!({ "tilefit": { "planner": 7, "codeLens": "no" } }),
            json!({ "tilefit": { "planner": "packed", "highlight": { "reuseGroup": true } } }),
        ];
        let settings = settings[self.random.below(settings.len())].clone();
        self.client.notify("workspace/didChangeConfiguration", json!({ "settings": settings }));
    }

    fn nonsense(&mut self, document: usize) {
        let uri = URIS[document];
        match self.random.below(7) {
            0 => self.client.notify("textDocument/didOpen", json!({ "textDocument": { "uri": "no uri", "text": 3 } })),
            1 => self.client.notify("textDocument/didClose", json!({ "textDocument": { "uri": "http://[" } })),
            2 => {
                self.client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": uri, "type": 1 }] }))
            }
            3 => self.client.notify("window/workDoneProgress/cancel", json!({ "token": "none" })),
            4 => self.client.notify("tilefit/watchMemoryMap", params(uri, 9, 9)),
            5 => {
                let item = json!({ "range": range(0, 0, 0, 1), "data": [uri, 1, 99, 99] });
                self.asked.push(self.client.ask("codeLens/resolve", item));
            }
            _ => {
                let hint = json!({ "position": { "line": 9, "character": 9 }, "label": "Vec", "data": { "uri": uri, "version": 1 } });
                self.asked.push(self.client.ask("inlayHint/resolve", hint));
            }
        }
    }
}

/// All that is said of the open documents.
fn answers(client: &mut LspClient, open: &[Option<(i32, String)>]) -> Vec<(String, Result<Value, Value>)> {
    let mut all = Vec::new();
    for (uri, text) in URIS.iter().zip(open).filter_map(|(uri, open)| Some((uri, &open.as_ref()?.1))) {
        let lines = text.lines().count() as u32;
        for line in [0, lines / 3, lines / 2, lines.saturating_sub(3)] {
            for method in METHODS {
                all.push((format!("{method} {uri} {line}"), client.request(method, params(uri, line, 13))));
            }
        }
    }
    all
}

fn check(seed: u64) {
    let open = [const { None }; URIS.len()];
    let mut session = Session { client: start(), random: Random::new(seed, 0), open, asked: Vec::new() };
    for _ in 0..120 {
        session.step();
    }
    for id in std::mem::take(&mut session.asked) {
        let _ = session.client.answer(id); // panics when there is none
    }
    let settings = json!({ "settings": { "tilefit": { "target": "ascend950" } } });
    session.client.notify("workspace/didChangeConfiguration", settings.clone());
    let mut fresh = start();
    fresh.notify("workspace/didChangeConfiguration", settings);
    for (uri, open) in URIS.iter().zip(&session.open) {
        if let Some((version, text)) = open {
            assert_eq!(session.client.text(uri), (text.clone(), i64::from(*version)), "seed {seed}, {uri}");
            fresh.open(uri, *version, text);
        }
    }
    let (ours, theirs) = (answers(&mut session.client, &session.open), answers(&mut fresh, &session.open));
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs, "seed {seed}");
    }
    assert_eq!(session.client.shut_down().code(), Some(0));
}

#[test]
fn the_answers_of_a_long_session_are_those_of_a_fresh_server() {
    for seed in [1, 20_261_121, 0xDEAD_BEEF] {
        check(seed);
    }
}

#[test]
fn a_request_before_initialized_is_answered_and_one_after_shutdown_refused() {
    let mut client = LspClient::spawn();
    client.request("initialize", json!({ "capabilities": {} })).expect("initialize succeeds");
    client.open(URI, 1, "x = 1\n");
    assert_eq!(client.text(URI).0, "x = 1\n");
    client.notify("initialized", json!({}));
    client.diagnostics(URI, 1);
    client.request("shutdown", Value::Null).expect("shutdown succeeds");
    for method in METHODS {
        assert!(client.request(method, params(URI, 0, 0)).is_err(), "{method}");
    }
    client.notify("exit", Value::Null);
    assert_eq!(client.wait().code(), Some(0));
}

#[test]
fn an_unknown_document_is_an_error_for_each_request_about_it() {
    let mut client = start();
    for uri in [
        "file:///work/never.py",
        "untitled:Untitled-9",
        "vscode-notebook-cell:/x#a",
        "not a uri",
        "",
        "file:",
        "http://[::1",
    ] {
        for method in METHODS.iter().filter(|method| !method.starts_with("workspace/")) {
            assert!(client.request(method, params(uri, 0, 0)).is_err(), "{method} {uri}");
        }
    }
}

/// A notebook's cells are documents of their own: a kernel in one is analysed.
#[test]
fn a_kernel_without_a_file_is_a_kernel() {
    for uri in &URIS[2..] {
        let mut client = start();
        client.open(uri, 1, &source(1, Layout::ClassPerKernel));
        let symbols = client.request("textDocument/documentSymbol", json!({ "textDocument": { "uri": uri } }));
        assert_eq!(symbols.expect("symbols").as_array().map(Vec::len), Some(1), "{uri}");
        let found = client.request("workspace/symbol", json!({ "query": "" })).expect("symbols");
        assert_eq!(found[0]["location"]["uri"], **uri);
    }
}
