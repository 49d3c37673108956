//! Whether the server says of an edited document what a fresh one says of its text.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::editor::{self, Editor};
use super::findings::Finding;
use crate::lsp_client::{LspClient, PATIENCE, Silence, range};
use crate::questions::params;
use crate::random::Random;
use crate::typing;

/// What is searched or read beside the answers comes later, in either server.
const UNTIL_EQUAL: Duration = Duration::from_secs(20);

const HOVERS: usize = 12;

impl Editor<'_> {
    /// Compares diagnostics, hovers and inlay hints of the document that the author looks at.
    pub(super) fn compare_with_fresh(&mut self, random: &mut Random) -> Result<(), Silence> {
        self.wait_for_answers(true)?;
        self.wait_for_diagnostics()?;
        let mut fresh = editor::started(self.root());
        editor::tell_settings(&mut fresh, &self.settings);
        // One may import another.
        for document in &self.documents {
            fresh.open(&document.uri, document.version, &document.text);
        }
        let questions = self.questions(random);
        let uri = self.focused().uri.clone();
        let expected_diagnostics = diagnostics(&mut fresh, &uri)?;
        let mut expected = answers(&mut fresh, &questions)?;
        expected.insert(0, expected_diagnostics);
        let deadline = Instant::now() + UNTIL_EQUAL;
        loop {
            self.listen();
            let mut ours = answers(&mut self.client, &questions)?;
            ours.insert(0, self.focused().said.clone().unwrap_or_default().1);
            let Some(at) = (0..ours.len()).find(|&at| ours[at] != expected[at]) else { break };
            if Instant::now() > deadline {
                let asked = at.checked_sub(1).map_or("diagnostics".to_owned(), |at| {
                    format!("{} {}", questions[at].0, questions[at].1["position"])
                });
                self.mismatch(&asked, &ours[at], &expected[at]);
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
            // What was said since replaces what it said first.
            if let Some(newer) = published(&mut fresh, &uri) {
                expected[0] = newer;
            }
            let again = answers(&mut fresh, &questions)?;
            expected.splice(1.., again);
        }
        self.report.compared += 1;
        Ok(())
    }

    fn questions(&self, random: &mut Random) -> Vec<(&'static str, Value)> {
        let document = self.focused();
        let mut questions = Vec::new();
        for _ in 0..HOVERS {
            let at = typing::snapped(&document.text, random.below(document.text.len() + 1));
            let (line, column) = typing::position(&document.text, at);
            questions.push(("textDocument/hover", params(&document.uri, line, column)));
        }
        let whole = json!({ "textDocument": { "uri": document.uri }, "range": range(0, 0, u32::MAX, 0) });
        questions.push(("textDocument/inlayHint", whole));
        questions
    }

    fn mismatch(&mut self, asked: &str, ours: &Value, fresh: &Value) {
        let mut texts = self.focused().history(&format!("mismatch-{}", self.report.compared));
        for (whose, value) in [("ours", ours), ("fresh", fresh)] {
            texts.push((format!("mismatch-{}-{whose}.json", self.report.compared), format!("{value:#}").into_bytes()));
        }
        let what = format!("{asked} in {}, settings {}", self.focused().name, self.settings);
        self.report.found(Finding { kind: "another answer than a fresh server's", what, texts });
    }
}

fn answers(client: &mut LspClient, questions: &[(&'static str, Value)]) -> Result<Vec<Value>, Silence> {
    let ids: Vec<i64> = questions.iter().map(|(method, params)| client.ask(method, params.clone())).collect();
    let answer = |id| {
        let (_, answer) = client.answer_before(id, Instant::now() + PATIENCE)?;
        Ok(answer.unwrap_or_else(|error| error))
    };
    ids.into_iter().map(answer).collect()
}

fn diagnostics(client: &mut LspClient, uri: &str) -> Result<Value, Silence> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(said) = published(client, uri) {
            return Ok(said);
        }
        client.hear_before(deadline)?;
    }
}

/// The newest diagnostics among what has come.
fn published(client: &mut LspClient, uri: &str) -> Option<Value> {
    let said = client.take_notifications().into_iter().rev().map(|(_, message)| message);
    let mut of_it = said
        .filter(|message| message["method"] == "textDocument/publishDiagnostics" && message["params"]["uri"] == *uri);
    of_it.next().map(|mut message| message["params"]["diagnostics"].take())
}
