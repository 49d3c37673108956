//! Reads `Content-Length` frames from standard input and hands only well-formed messages on.
//!
//! tower-lsp ends its loop at the first frame that it cannot decode. A frame is therefore checked here; a bad one is
//! replaced by a [`MALFORMED`] message, which the guard answers as an error, and the session lives.

use std::io::{self, BufRead, Read};

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio::runtime::Handle;
use tower_lsp::jsonrpc::{Request, Response};

use crate::terminal::complain;

/// Method of the message for a frame which is not a JSON-RPC message; its parameter is the reason.
pub(crate) const MALFORMED: &str = "tilefit/malformedFrame";

/// No header comes near this. The rest of a longer line is read as lines of its own, none of which is one.
const MAX_HEADER_BYTES: u64 = 1 << 12;

/// No document comes near this; a larger length is garbage in a header, not a message to wait for.
const MAX_FRAME_BYTES: usize = 1 << 30;

const PIPE_BYTES: usize = 1 << 16;

/// Starts the thread that reads standard input; the returned stream carries the checked frames.
pub(crate) fn read_stdin(runtime: Handle) -> io::Result<DuplexStream> {
    let (mut checked, stream) = tokio::io::duplex(PIPE_BYTES);
    std::thread::Builder::new().name("stdin".into()).spawn(move || {
        let mut input = io::stdin().lock();
        loop {
            let body = match read_frame(&mut input) {
                Ok(Frame::Body(body)) => check(body),
                Ok(Frame::Malformed(why)) => stand_in(&Value::Null, &why),
                Ok(Frame::End) => return,
                Err(error) => {
                    complain(&format!("cannot read standard input: {error}"));
                    return;
                }
            };
            let header = format!("Content-Length: {}\r\n\r\n", body.len());
            let sent = runtime.block_on(async {
                checked.write_all(header.as_bytes()).await?;
                checked.write_all(&body).await
            });
            if sent.is_err() {
                return; // the session has ended
            }
        }
    })?;
    Ok(stream)
}

#[derive(Debug, PartialEq)]
enum Frame {
    Body(Vec<u8>),
    Malformed(String),
    End,
}

/// Reads header lines up to the empty one, then the body. Bytes that are no header are skipped, so that reading finds
/// its way back to the next message.
fn read_frame(input: &mut impl BufRead) -> io::Result<Frame> {
    let mut length = None;
    let mut garbage = false;
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(MAX_HEADER_BYTES).read_until(b'\n', &mut line)? == 0 {
            return Ok(if garbage { Frame::Malformed("the input ends inside a header".into()) } else { Frame::End });
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        match (content_length(line), length) {
            (Some(Ok(bytes)), _) => length = Some(bytes),
            (Some(Err(text)), _) => return Ok(Frame::Malformed(format!("`Content-Length: {text}` is not a length"))),
            (None, Some(bytes)) if line.is_empty() => return read_body(input, bytes),
            (None, None) if line.is_empty() && garbage => {
                return Ok(Frame::Malformed("a header without `Content-Length`".into()));
            }
            (None, _) => garbage |= !line.is_empty(),
        }
    }
}

/// The length that a header line announces, or its text when that is no length. A line may begin with the rest of a
/// body whose own header said too little.
fn content_length(line: &str) -> Option<Result<usize, String>> {
    const NAME: &[u8] = b"content-length:";
    let start = line.as_bytes().windows(NAME.len()).position(|window| window.eq_ignore_ascii_case(NAME))?;
    let value = line.get(start + NAME.len()..)?.trim();
    Some(value.parse().ok().filter(|&bytes| bytes <= MAX_FRAME_BYTES).ok_or_else(|| value.to_owned()))
}

fn read_body(input: &mut impl BufRead, bytes: usize) -> io::Result<Frame> {
    let mut body = Vec::new();
    let read = input.take(bytes as u64).read_to_end(&mut body)?;
    if read < bytes {
        return Ok(Frame::Malformed(format!("the input ends after {read} of {bytes} bytes of a message")));
    }
    Ok(Frame::Body(body))
}

/// `body` itself when tower-lsp will understand it, else its stand-in.
fn check(body: Vec<u8>) -> Vec<u8> {
    /// The decoder's own type is private; this is its definition.
    #[derive(Deserialize)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only whether it can be read matters")]
    enum Message {
        Response(Response),
        Request(Request),
    }
    let why = match serde_json::from_slice::<Message>(&body) {
        Ok(_) => return body,
        Err(error) if error.is_data() => "this is JSON, but not a JSON-RPC message".to_owned(),
        Err(error) => error.to_string(),
    };
    let id = serde_json::from_slice::<Value>(&body).ok().and_then(|value| value.get("id").cloned());
    stand_in(&id.filter(|id| id.is_string() || id.is_i64()).unwrap_or_default(), &why)
}

fn stand_in(id: &Value, why: &str) -> Vec<u8> {
    complain(&format!("a malformed message was skipped: {why}"));
    json!({ "jsonrpc": "2.0", "id": id, "method": MALFORMED, "params": why }).to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(input: &[u8]) -> Vec<Frame> {
        let mut input = input;
        std::iter::from_fn(|| match read_frame(&mut input).expect("memory can be read") {
            Frame::End => None,
            frame => Some(frame),
        })
        .collect()
    }

    fn body(text: &str) -> Frame {
        Frame::Body(text.as_bytes().to_vec())
    }

    #[test]
    fn frames_follow_each_other() {
        let input =
            b"Content-Length: 2\r\n\r\n{}content-length:4\r\nContent-Type: x; charset=utf-8\r\nX: y\r\n\r\nnull";
        assert_eq!(frames(input), [body("{}"), body("null")]);
    }

    #[test]
    fn a_wrong_length_costs_one_message() {
        let input = b"Content-Length: 1\r\n\r\n{}Content-Length: 2\r\n\r\n[]";
        assert_eq!(frames(input), [body("{"), body("[]")]);
    }

    #[test]
    fn a_header_without_an_end_is_not_kept() {
        let input = [&vec![b'x'; 1 << 20][..], b"\r\n\r\nContent-Length: 2\r\n\r\n{}"].concat();
        assert_eq!(frames(&input), [Frame::Malformed("a header without `Content-Length`".into()), body("{}")]);
    }

    #[test]
    fn garbage_is_skipped() {
        let input = b"hello\r\n\r\nContent-Length: -7\r\n\r\nContent-Length: 2\r\n\r\n{}";
        assert_eq!(
            frames(input),
            [
                Frame::Malformed("a header without `Content-Length`".into()),
                Frame::Malformed("`Content-Length: -7` is not a length".into()),
                body("{}"),
            ]
        );
    }

    #[test]
    fn the_end_inside_of_a_message_is_told() {
        assert_eq!(
            frames(b"Content-Length: 9\r\n\r\n{}"),
            [Frame::Malformed("the input ends after 2 of 9 bytes of a message".into())]
        );
    }

    #[test]
    fn only_messages_pass() {
        let method = |body: &[u8]| {
            let checked: Value = serde_json::from_slice(&check(body.to_vec())).expect("checked frames are JSON");
            (checked["method"].as_str().unwrap_or_default().to_owned(), checked["id"].clone())
        };
        assert_eq!(method(br#"{"jsonrpc":"2.0","method":"exit"}"#), ("exit".into(), Value::Null));
        assert_eq!(method(b"{\xff}"), (MALFORMED.into(), Value::Null));
        assert_eq!(method(b"[1, 2]"), (MALFORMED.into(), Value::Null));
        assert_eq!(method(br#"{"jsonrpc":"1.0","method":"exit","id":7}"#), (MALFORMED.into(), json!(7)));
    }
}
