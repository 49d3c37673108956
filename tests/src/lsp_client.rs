//! A small language client: starts the real binary and talks to it over its standard input and output.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::binary;

/// A test that waits longer than this has found a hang, however loaded the machine is.
pub const PATIENCE: Duration = Duration::from_secs(120);

pub struct LspClient {
    process: Child,
    stdin: Option<ChildStdin>,
    /// Messages, and when each came.
    inbox: Receiver<(Instant, Value)>,
    stderr: Arc<Mutex<String>>,
    next_id: i64,
    responses: HashMap<i64, (Instant, Value)>,
    /// Ids that were answered once more while the first answer was not asked for yet.
    pub answered_twice: Vec<i64>,
    notifications: VecDeque<(Instant, Value)>,
    /// Answer to `workspace/configuration`.
    pub settings: Value,
    /// Methods of the requests that the server made.
    pub server_requests: Vec<Value>,
}

impl LspClient {
    /// Starts the server and nothing else.
    pub fn spawn() -> LspClient {
        LspClient::spawn_command(Command::new(binary::tilefit()).arg("server").env("TILEFIT_TEST_HOOKS", "1"))
    }

    /// Starts any server that speaks over its standard input and output.
    pub fn spawn_command(command: &mut Command) -> LspClient {
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("the server does not start: {error}"));
        let (sender, inbox) = channel();
        let mut stdout = BufReader::new(process.stdout.take().expect("stdout is piped"));
        thread::spawn(move || {
            while let Ok(Some(message)) = read_message(&mut stdout) {
                if sender.send((Instant::now(), message)).is_err() {
                    return;
                }
            }
        });
        let stderr = Arc::new(Mutex::new(String::new()));
        let mut pipe = BufReader::new(process.stderr.take().expect("stderr is piped"));
        let copy = Arc::clone(&stderr);
        thread::spawn(move || {
            let mut line = String::new();
            while pipe.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
                copy.lock().expect("no holder panics").push_str(&line);
                line.clear();
            }
        });
        LspClient {
            stdin: process.stdin.take(),
            process,
            inbox,
            stderr,
            next_id: 0,
            responses: HashMap::new(),
            answered_twice: Vec::new(),
            notifications: VecDeque::new(),
            settings: json!({}),
            server_requests: Vec::new(),
        }
    }

    /// Starts the server and initializes it as an editor without special abilities.
    pub fn start() -> LspClient {
        let mut client = LspClient::spawn();
        client.initialize(json!({ "capabilities": {} }));
        client
    }

    /// Sends `initialize` and `initialized`; returns the server's capabilities.
    pub fn initialize(&mut self, params: Value) -> Value {
        let answer = self.request("initialize", params).expect("initialize succeeds");
        self.notify("initialized", json!({}));
        answer["capabilities"].clone()
    }

    pub fn id(&self) -> u32 {
        self.process.id()
    }

    pub fn send_raw(&mut self, bytes: &[u8]) {
        self.try_send_raw(bytes).expect("the server reads its input");
    }

    fn try_send_raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        let stdin = self.stdin.as_mut().expect("the input is open");
        stdin.write_all(bytes).and_then(|()| stdin.flush())
    }

    /// Who waits for what a server says that has ended, hears of it then.
    pub fn send(&mut self, message: &Value) {
        let body = message.to_string();
        let _ = self.try_send_raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request without waiting for its answer.
    pub fn ask(&mut self, method: &str, params: Value) -> i64 {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// The answer to an earlier request: its result, or its error object.
    pub fn answer(&mut self, id: i64) -> Result<Value, Value> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some((_, response)) = self.responses.remove(&id) {
                return result(response);
            }
            self.receive(deadline, &format!("the answer to request {id}"));
        }
    }

    /// The answer to an earlier request and when it came, or why there is none.
    pub fn answer_before(&mut self, id: i64, deadline: Instant) -> Result<(Instant, Result<Value, Value>), Silence> {
        loop {
            if let Some((came, response)) = self.responses.remove(&id) {
                return Ok((came, result(response)));
            }
            let (came, message) = self.next_before(deadline)?;
            self.file(came, message);
        }
    }

    /// Waits for one more message, of whatever kind, and keeps it.
    pub fn hear_before(&mut self, deadline: Instant) -> Result<(), Silence> {
        let (came, message) = self.next_before(deadline)?;
        self.file(came, message);
        Ok(())
    }

    /// Ids with an answer that nobody asked for yet, or not once more.
    pub fn answered(&mut self) -> Vec<i64> {
        self.hear_all();
        self.responses.keys().copied().collect()
    }

    /// The notifications that are here, in their order, and when each came.
    pub fn take_notifications(&mut self) -> Vec<(Instant, Value)> {
        self.hear_all();
        self.notifications.drain(..).collect()
    }

    fn hear_all(&mut self) {
        while let Ok((came, message)) = self.inbox.try_recv() {
            self.file(came, message);
        }
    }

    fn next_before(&mut self, deadline: Instant) -> Result<(Instant, Value), Silence> {
        let message = self.inbox.recv_timeout(deadline.saturating_duration_since(Instant::now()));
        message.map_err(|error| match error {
            RecvTimeoutError::Timeout => Silence::TimedOut,
            RecvTimeoutError::Disconnected => {
                thread::sleep(Duration::from_millis(50)); // lets the last lines of stderr arrive
                Silence::Ended
            }
        })
    }

    /// True when the answer is here, without waiting for it.
    pub fn is_answered(&mut self, id: i64) -> bool {
        self.hear_all();
        self.responses.contains_key(&id)
    }

    pub fn request(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// The next notification of this method; others are kept.
    pub fn notification(&mut self, method: &str) -> Value {
        self.notification_that(method, |_| true)
    }

    /// True when a notification of this method is here, without waiting for it.
    pub fn has_notification(&mut self, method: &str) -> bool {
        self.hear_all();
        self.notifications.iter().any(|(_, message)| message["method"] == method)
    }

    /// The next notification of this method with such parameters; others are kept.
    fn notification_that(&mut self, method: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + PATIENCE;
        let is_it = |(_, message): &(Instant, Value)| message["method"] == method && is_wanted(&message["params"]);
        loop {
            if let Some(at) = self.notifications.iter().position(is_it) {
                return self.notifications.remove(at).expect("just found").1["params"].take();
            }
            self.receive(deadline, method);
        }
    }

    /// True when no notification of this method has arrived by the time a request is answered.
    pub fn has_no_notification(&mut self, method: &str) -> bool {
        // Answered or refused: what was sent before it is here.
        let _ = self.request("workspace/symbol", json!({ "query": "" }));
        !self.notifications.iter().any(|(_, message)| message["method"] == method)
    }

    /// Waits until the server has made a request of this method; returns its parameters.
    pub fn server_request(&mut self, method: &str) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(at) = self.server_requests.iter().position(|message| message["method"] == method) {
                return self.server_requests.remove(at)["params"].take();
            }
            self.receive(deadline, method);
        }
    }

    /// Diagnostics of exactly this version. Fails when an older one arrives after a newer one.
    pub fn diagnostics(&mut self, uri: &str, version: i32) -> Vec<Value> {
        let mut newest = i64::MIN;
        loop {
            let mut params = self.notification_that("textDocument/publishDiagnostics", |params| params["uri"] == uri);
            let found = params["version"].as_i64().expect("an open document's diagnostics have a version");
            assert!(found >= newest, "diagnostics of version {found} came after those of {newest}");
            newest = found;
            if found == i64::from(version) {
                return match params["diagnostics"].take() {
                    Value::Array(diagnostics) => diagnostics,
                    other => panic!("diagnostics are an array, not {other}"),
                };
            }
        }
    }

    pub fn open(&mut self, uri: &str, version: i32, text: &str) {
        let document = json!({ "uri": uri, "languageId": "python", "version": version, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// `changes`: LSP content changes, applied in order.
    pub fn change(&mut self, uri: &str, version: i32, changes: Value) {
        let document = json!({ "uri": uri, "version": version });
        self.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
    }

    pub fn close(&mut self, uri: &str) {
        self.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    }

    /// The server's own copy of a document, and its version.
    pub fn text(&mut self, uri: &str) -> (String, i64) {
        let answer = self.request("tilefit/viewFileText", json!({ "textDocument": { "uri": uri } }));
        let answer = answer.expect("an open document has a text");
        (answer["text"].as_str().expect("text").to_owned(), answer["version"].as_i64().expect("version"))
    }

    pub fn stderr(&self) -> String {
        self.stderr.lock().expect("no holder panics").clone()
    }

    /// `shutdown`, then `exit`.
    pub fn shut_down(mut self) -> ExitStatus {
        self.request("shutdown", Value::Null).expect("shutdown succeeds");
        self.notify("exit", Value::Null);
        self.wait()
    }

    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Waits for the end of the process. Its input stays open.
    pub fn wait(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.process.try_wait().expect("a child can be waited for") {
                return status;
            }
            assert!(Instant::now() < deadline, "the server does not end; it wrote:\n{}", self.stderr());
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn receive(&mut self, deadline: Instant, wanted: &str) {
        match self.hear_before(deadline) {
            Ok(()) => {}
            Err(Silence::TimedOut) => panic!("waited in vain for {wanted}; stderr:\n{}", self.stderr()),
            Err(Silence::Ended) => panic!("the server ended before {wanted}; stderr:\n{}", self.stderr()),
        }
    }

    fn file(&mut self, came: Instant, message: Value) {
        let id = message.get("id").cloned();
        match (id, message.get("method").is_some()) {
            (Some(id), true) => {
                let result = match message["method"].as_str() {
                    Some("workspace/configuration") => json!([self.settings]),
                    _ => Value::Null,
                };
                self.server_requests.push(message);
                self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
            }
            (Some(id), false) => {
                // An answer without an id answers a message that could not be read.
                let id = id.as_i64().unwrap_or(UNREADABLE);
                if self.responses.insert(id, (came, message)).is_some() {
                    self.answered_twice.push(id);
                }
            }
            (None, _) => self.notifications.push_back((came, message)),
        }
    }
}

fn result(mut response: Value) -> Result<Value, Value> {
    match response.get_mut("error") {
        Some(error) => Err(error.take()),
        None => Ok(response["result"].take()),
    }
}

/// Why nothing came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Silence {
    TimedOut,
    /// The server has ended, or closed its output.
    Ended,
}

/// The id of the answer to a message whose own id the server could not read.
pub const UNREADABLE: i64 = -1;

impl Drop for LspClient {
    fn drop(&mut self) {
        let _ = self.process.kill(); // it may have ended already
        let _ = self.process.wait();
    }
}

fn read_message(input: &mut impl BufRead) -> io::Result<Option<Value>> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        match line.trim_end().split_once(": ") {
            Some(("Content-Length", value)) => length = value.parse().map_err(io::Error::other)?,
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    serde_json::from_slice(&body).map(Some).map_err(io::Error::other)
}

/// An LSP range.
pub fn range(start_line: u32, start_col: u32, end_line: u32, end_col: u32) -> Value {
    json!({
        "start": { "line": start_line, "character": start_col },
        "end": { "line": end_line, "character": end_col },
    })
}

/// Diagnostics as one line each: `line:column severity code message`.
pub fn summary(diagnostics: &[Value]) -> String {
    diagnostics.iter().fold(String::new(), |mut text, diagnostic| {
        let start = &diagnostic["range"]["start"];
        let message = diagnostic["message"].as_str().unwrap_or_default().lines().next().unwrap_or_default();
        let code = diagnostic["code"].as_str().unwrap_or_default();
        let _ = writeln!(text, "{}:{} {} {code} {message}", start["line"], start["character"], diagnostic["severity"]);
        text
    })
}
