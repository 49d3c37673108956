//! What keeps a session alive and what ends it.

use std::time::{Duration, Instant};

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use tilefit_tests::kernels::{Layout, source};
use tilefit_tests::lsp_client::{LspClient, UNREADABLE, range};

use crate::lsp::{URI, with_document};

const INTERNAL_ERROR: i64 = -32603;
const PARSE_ERROR: i64 = -32700;
const REQUEST_CANCELLED: i64 = -32800;

fn document() -> Value {
    json!({ "textDocument": { "uri": URI } })
}

fn sleep(milliseconds: u64) -> Value {
    json!({ "textDocument": { "uri": URI }, "milliseconds": milliseconds })
}

/// The session answers as if nothing had happened.
fn assert_alive(client: &mut LspClient, text: &str) {
    assert_eq!(client.text(URI).0, text);
}

#[test]
fn a_panic_is_answered_and_the_session_lives() {
    for method in ["tilefit/test/panic", "tilefit/test/panicInHandler"] {
        let mut client = with_document("x = 1\n");
        let error = client.request(method, document()).expect_err("a panic is an error");
        assert_eq!(error["code"], INTERNAL_ERROR, "{error}");
        assert!(error["message"].as_str().is_some_and(|message| message.contains("on request")), "{error}");
        assert_alive(&mut client, "x = 1\n");
        assert_eq!(client.shut_down().code(), Some(0));
    }
}

#[test]
fn exit_after_shutdown_gives_0_while_the_input_stays_open() {
    let client = with_document("");
    assert_eq!(client.shut_down().code(), Some(0));
}

#[test]
fn exit_without_shutdown_gives_1() {
    let mut client = with_document("");
    client.notify("exit", Value::Null);
    assert_eq!(client.wait().code(), Some(1));
}

#[test]
fn exit_does_not_wait_for_slow_requests() {
    let mut client = with_document("");
    client.ask("tilefit/test/sleep", sleep(600_000));
    assert_eq!(client.shut_down().code(), Some(0));
}

#[test]
fn shutdown_and_exit_in_one_write_answer_first() {
    let mut client = with_document("");
    let shutdown = client.ask("shutdown", Value::Null);
    client.notify("exit", Value::Null);
    assert_eq!(client.wait().code(), Some(0));
    assert_eq!(client.answer(shutdown), Ok(Value::Null));
}

#[test]
fn the_end_of_the_input_ends_the_process_with_a_message() {
    let mut client = with_document("");
    assert_alive(&mut client, "");
    client.close_stdin();
    assert_eq!(client.wait().code(), Some(1));
    let deadline = Instant::now() + Duration::from_secs(10);
    while !client.stderr().contains("the input ended without `shutdown`") {
        assert!(Instant::now() < deadline, "stderr: {}", client.stderr());
    }
}

#[test]
fn slow_requests_starve_no_other() {
    let mut client = with_document("x = 1\n");
    let slow: Vec<i64> = (0..40).map(|_| client.ask("tilefit/test/sleep", sleep(600_000))).collect();
    assert_alive(&mut client, "x = 1\n");
    client.request("textDocument/documentSymbol", document()).expect("symbols are answered beside slow requests");
    assert!(slow.iter().all(|&id| !client.is_answered(id)));
    assert_eq!(client.shut_down().code(), Some(0));
}

#[test]
fn an_edit_does_not_wait_for_slow_requests_which_then_answer_for_the_new_text() {
    let mut client = with_document("x = 1\n");
    let slow = client.ask("tilefit/test/sleep", sleep(1_000));
    client.change(URI, 2, json!([{ "range": range(0, 4, 0, 5), "text": "2" }]));
    client.diagnostics(URI, 2);
    assert!(!client.is_answered(slow));
    assert_eq!(client.answer(slow), Ok(json!(2)));
}

#[test]
fn a_cancelled_request_is_answered_at_once() {
    let mut client = with_document("x = 1\n");
    let slow = client.ask("tilefit/test/sleep", sleep(600_000));
    client.notify("$/cancelRequest", json!({ "id": slow }));
    assert_eq!(client.answer(slow).expect_err("it is cancelled")["code"], REQUEST_CANCELLED);
    client.notify("$/cancelRequest", json!({ "id": 99_999 }));
    assert_alive(&mut client, "x = 1\n");
}

#[test]
fn malformed_messages_are_answered_and_survived() {
    let mut client = with_document("x = 1\n");
    for bytes in [
        &b"Content-Length: 10\r\n\r\n{\"jsonrpc\""[..],
        b"Content-Length: 8\r\n\r\nnot json",
        b"Content-Length: 4\r\n\r\n\xff\xfe\x00{",
        b"Content-Length: 2\r\n\r\n[]",
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: 99999999999999999999\r\n\r\n",
        b"no header at all\r\n\r\n",
    ] {
        client.send_raw(bytes);
        let error = client.answer(UNREADABLE).expect_err("a malformed message is an error");
        assert_eq!(error["code"], PARSE_ERROR, "{error}");
        assert_alive(&mut client, "x = 1\n");
    }
    assert!(client.stderr().contains("a malformed message was skipped"), "{}", client.stderr());
    client.send(&json!({ "jsonrpc": "1.0", "id": 12_345, "method": "shutdown" }));
    assert_eq!(client.answer(12_345).expect_err("the wrong protocol is an error")["code"], PARSE_ERROR);
    assert_alive(&mut client, "x = 1\n");
}

#[test]
fn unknown_messages_and_wrong_parameters_are_survived() {
    let mut client = with_document("x = 1\n");
    client.notify("tilefit/noSuchNotification", json!({}));
    client.notify("textDocument/didChange", json!({ "textDocument": 7 }));
    assert!(client.request("tilefit/noSuchRequest", json!({})).is_err());
    assert!(client.request("$/noSuchRequest", json!({})).is_err());
    assert!(client.request("textDocument/hover", json!([1, 2])).is_err());
    assert!(client.request("workspace/executeCommand", json!({ "command": "rm", "arguments": [] })).is_err());
    let command = json!({ "command": "tilefit.generatedCode", "arguments": [URI] });
    assert!(client.request("workspace/executeCommand", command).is_err());
    let elsewhere = json!({ "textDocument": { "uri": "untitled:Untitled-1" } });
    assert!(client.request("tilefit/viewFileText", elsewhere).is_err());
    assert_alive(&mut client, "x = 1\n");
}

#[test]
fn requests_before_initialize_are_refused() {
    let mut client = LspClient::spawn();
    assert!(client.request("tilefit/viewFileText", document()).is_err());
    client.initialize(json!({ "capabilities": {} }));
    client.open(URI, 1, "x");
    assert_alive(&mut client, "x");
}

/// Messages of a client that has lost its mind, over two documents.
#[derive(Debug, Clone)]
enum Message {
    Open(usize),
    Change(usize, u32, &'static str),
    Close(usize),
    Ask(usize, usize),
    CancelLast,
    Raw(&'static str),
}

const METHODS: [&str; 7] = [
    "textDocument/hover",
    "textDocument/inlayHint",
    "textDocument/codeLens",
    "textDocument/documentSymbol",
    "tilefit/generatedCode",
    "tilefit/test/panic",
    "tilefit/test/panicInHandler",
];

fn messages() -> impl Strategy<Value = Vec<Message>> {
    let document = 0..2_usize;
    let text = prop::sample::select(vec!["", "\n", "(", "x = 1\n", "\"\"\"", "😀"]);
    let raw = prop::sample::select(vec![
        "Content-Length: 3\r\n\r\n{]}",
        "Content-Length: 2\r\n\r\n{}",
        "Content-Length: x\r\n\r\n",
        "garbage\r\n\r\n",
    ]);
    let message = prop_oneof![
        2 => document.clone().prop_map(Message::Open),
        6 => (document.clone(), 0..120_u32, text).prop_map(|(document, line, text)| Message::Change(document, line, text)),
        1 => document.clone().prop_map(Message::Close),
        6 => (document, 0..METHODS.len()).prop_map(|(document, method)| Message::Ask(document, method)),
        1 => Just(Message::CancelLast),
        1 => raw.prop_map(Message::Raw),
    ];
    vec(message, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_request_of_any_session_is_answered(messages in messages()) {
        const URIS: [&str; 2] = ["file:///work/a.py", "untitled:Untitled-1"];
        let text = source(3, Layout::OneClass);
        let mut client = LspClient::start();
        let mut asked = Vec::new();
        for (message, version) in messages.iter().zip(1..) {
            match *message {
                Message::Open(document) => client.open(URIS[document], version, &text),
                Message::Change(document, line, text) => {
                    client.change(URIS[document], version, json!([{ "range": range(line, 4, line, 9), "text": text }]));
                }
                Message::Close(document) => client.close(URIS[document]),
                Message::Ask(document, method) => {
                    let params = json!({
                        "textDocument": { "uri": URIS[document] },
                        "position": { "line": version, "character": 9 },
                        "range": range(0, 0, 50, 0),
                    });
                    asked.push(client.ask(METHODS[method], params));
                }
                Message::CancelLast => client.notify("$/cancelRequest", json!({ "id": asked.last() })),
                Message::Raw(bytes) => client.send_raw(bytes.as_bytes()),
            }
        }
        for id in asked {
            let _ = client.answer(id); // panics when there is none
        }
        prop_assert_eq!(client.shut_down().code(), Some(0));
    }
}
