//! A search that an edit does not wait for.

use serde_json::{Value, json};
use tilefit_tests::kernels;
use tilefit_tests::lsp_client::LspClient;

use crate::lsp::URI;

/// Without a packing that anybody knows: the search continues for long.
const OPEN: &str = include_str!("../../benchmarks/minimalloc/D.1048576.csv");

/// A kernel whose search ends undecided after some seconds.
const UNDECIDED: &str = include_str!("../../conformance/pypto/gen_003.py");

fn client(capacity: u64) -> LspClient {
    let mut client = LspClient::spawn();
    let settings = json!({ "capacity": { "Vec": capacity } });
    client.initialize(json!({ "capabilities": {}, "initializationOptions": settings }));
    client
}

fn messages(diagnostics: &[Value]) -> String {
    json!(diagnostics).to_string()
}

#[test]
fn an_edit_does_not_wait_for_a_search() {
    let mut client = client(1_000_000);
    let text = kernels::of_problem(OPEN);
    client.open(URI, 1, &text);
    let first = messages(&client.diagnostics(URI, 1));
    assert!(first.contains("the search continues"), "{first}");
    client.change(URI, 2, json!([{ "text": "x = 1\n" }]));
    assert_eq!(client.diagnostics(URI, 2), [] as [Value; 0]);
    client.change(URI, 3, json!([{ "text": text }]));
    assert!(messages(&client.diagnostics(URI, 3)).contains("the search continues"));
    assert!(client.shut_down().success());
}

#[test]
fn what_a_search_comes_to_is_published_when_it_ends() {
    let mut client = LspClient::start();
    client.open(URI, 1, UNDECIDED);
    assert!(messages(&client.diagnostics(URI, 1)).contains("the search continues"));
    let later = messages(&client.diagnostics(URI, 1));
    assert!(later.contains("did not decide") && !later.contains("the search continues"), "{later}");
    assert!(client.shut_down().success());
}
