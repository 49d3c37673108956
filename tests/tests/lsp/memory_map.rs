//! The memory map over the wire: once, and after every edit for a client that watches.

use serde_json::{Value, json};
use tilefit_tests::lsp_client::{LspClient, range};

use crate::lsp::{URI, with_document};

const KERNEL: &str = "\
import pypto.language as pl

COLS = 256

@pl.program
class Gate:
    @pl.function(type=pl.FunctionType.InCore)
    def gate(self, x: pl.Tensor[[64, COLS], pl.FP32], out: pl.Out[pl.Tensor[[64, COLS], pl.FP32]]) -> pl.Tensor[[64, COLS], pl.FP32]:
        a = pl.load(x, [0, 0], [64, COLS])
        b = pl.exp(a)
        out = pl.store(pl.add(a, b), [0, 0], out)
        return out
";

/// Line (from 0) of the definition of `a`.
const A: u32 = 8;

fn at(line: u32) -> Value {
    json!({ "textDocument": { "uri": URI }, "position": { "line": line, "character": 8 } })
}

/// `params` with more in it.
fn with(mut params: Value, key: &str, value: Value) -> Value {
    params[key] = value;
    params
}

fn set_columns(client: &mut LspClient, version: i32, old: &str, new: &str) {
    let end = 7 + old.len() as u32;
    client.change(URI, version, json!([{ "range": range(2, 7, 2, end), "text": new }]));
}

/// The map of exactly this version; older ones may come before it, newer ones not.
fn changed(client: &mut LspClient, version: i32) -> Value {
    loop {
        let params = client.notification("tilefit/memoryMapChanged");
        assert_eq!(params["uri"], URI);
        let found = params["version"].as_i64().expect("a version");
        assert!(found <= i64::from(version), "the map of version {found} came before that of {version}");
        if found == i64::from(version) {
            return params;
        }
    }
}

fn used(map: &Value) -> (&Value, &Value) {
    let space = &map["maps"][0]["spaces"][0];
    (&space["name"], &space["used"])
}

#[test]
fn a_map_tells_who_has_which_bytes() {
    let mut client = with_document(KERNEL);
    let answer = client.request("tilefit/memoryMap", at(A)).expect("a map");
    assert_eq!(answer["version"], 1);
    assert_eq!(used(&answer), (&json!("Vec"), &json!(131_072)));
    let map = &answer["maps"][0];
    assert_eq!(
        (&map["kernel"], &map["planner"], &map["down"]),
        (&json!("Gate.gate"), &json!("sequential"), &json!("time"))
    );
    let buffer = &map["spaces"][0]["buffers"][1];
    assert_eq!((&buffer["address"], &buffer["size"], &buffer["overflow"]), (&json!(65_536), &json!(65_536), &json!(0)));
    let tile = &buffer["boxes"][0]["tiles"][0];
    assert_eq!((&tile["name"], &tile["range"]), (&json!("b"), &range(A + 1, 8, A + 1, 9)));
    assert_eq!(map["spaces"][0]["free"], json!([[131_072, 188_416]]));
    assert_eq!(client.request("tilefit/memoryMap", at(0)), Ok(answer));
    assert!(client.request("tilefit/memoryMap", with(at(A), "planner", json!("best"))).is_err());
}

#[test]
fn a_map_is_drawn_on_request() {
    let mut client = with_document(KERNEL);
    let mut drawn = |kind: &str| {
        let picture = json!({ "kind": kind, "width": 80 });
        let answer = client.request("tilefit/memoryMap", with(at(A), "picture", picture)).expect("a map");
        answer["maps"][0].clone()
    };
    let html = drawn("html");
    assert!(html["html"].as_str().is_some_and(|html| html.contains("data-box=\"1\"")));
    assert_eq!(html["steps"][0], json!({ "line": A + 1, "rows": 1 }));
    assert!(drawn("svg")["html"].as_str().is_some_and(|svg| svg.starts_with("<svg ")));
    let text = drawn("text")["text"].clone();
    assert!(text["boxes"][2].as_array().is_some_and(|lines| lines[0] == "b" && lines.len() > 1), "{}", text["boxes"]);
    let lines = text["lines"].as_array().expect("lines");
    for mark in text["marks"].as_array().expect("marks") {
        let line = lines[mark["line"].as_u64().expect("a line") as usize].as_str().expect("text");
        let bytes = |key: &str| mark[key].as_u64().expect("a byte") as usize;
        assert!(line.get(bytes("start")..bytes("end")).is_some(), "{mark} does not cut {line:?} between characters");
    }
}

#[test]
fn a_picture_has_the_height_and_the_scale_that_are_asked_for() {
    let mut client = with_document(KERNEL);
    let mut svg = |picture: Value| {
        let answer = client.request("tilefit/memoryMap", with(at(A), "picture", picture)).expect("a map");
        answer["maps"][0]["html"].as_str().expect("a picture").to_owned()
    };
    let of_height = svg(json!({ "kind": "svg", "width": 600, "height": 150 }));
    assert!(of_height.contains(" height=\"150\""), "{of_height}");
    let one_scale = svg(json!({ "kind": "svg", "width": 600, "height": 150, "scale": "one" }));
    assert_eq!(one_scale, of_height, "there is one memory");
    let unknown = json!({ "kind": "svg", "width": 600, "scale": "log" });
    assert!(client.request("tilefit/memoryMap", with(at(A), "picture", unknown)).is_err());
}

#[test]
fn a_watched_map_follows_every_edit() {
    let mut client = with_document(KERNEL);
    client.notify("tilefit/watchMemoryMap", at(A));
    assert_eq!(used(&changed(&mut client, 1)).1, &json!(131_072));
    set_columns(&mut client, 2, "256", "512");
    let map = changed(&mut client, 2);
    assert_eq!(used(&map).1, &json!(262_144));
    assert_eq!(map["maps"][0]["spaces"][0]["buffers"][1]["overflow"], json!(262_144 - 188_416));
    // Lines above move the kernel, and the watch with it.
    client.change(URI, 3, json!([{ "range": range(0, 0, 0, 0), "text": "#\n#\n#\n#\n#\n#\n#\n#\n#\n#\n#\n#\n" }]));
    assert_eq!(used(&changed(&mut client, 3)).1, &json!(262_144));
    client.notify("tilefit/watchMemoryMap", json!({ "textDocument": { "uri": URI } }));
    client.change(URI, 4, json!([{ "range": range(0, 0, 1, 0), "text": "" }]));
    client.diagnostics(URI, 4);
    client.text(URI);
    assert!(!client.has_notification("tilefit/memoryMapChanged"));
}

#[test]
fn a_kernel_that_is_gone_has_no_maps() {
    let mut client = with_document(KERNEL);
    client.notify("tilefit/watchMemoryMap", at(A));
    changed(&mut client, 1);
    client.change(URI, 2, json!([{ "text": "x = 1\n" }]));
    assert_eq!(changed(&mut client, 2)["maps"], json!([]));
    client.change(URI, 3, json!([{ "text": KERNEL }]));
    changed(&mut client, 3);
}

#[test]
fn settings_redraw_and_a_trial_shows_both() {
    let mut client = with_document(KERNEL);
    client.notify("tilefit/watchMemoryMap", with(at(A), "target", json!("ascend950")));
    let map = changed(&mut client, 1);
    assert_eq!((&map["maps"][0]["target"], &map["settings"][0]["target"]), (&json!("ascend950"), &json!("ascend910b")));
    assert_eq!(map["changes"], json!(["Vec 128 KiB of 184 KiB → 128 KiB of 240 KiB"]));
    assert_eq!(
        map["settings"][0]["spaces"],
        json!([{ "name": "Vec", "unit": "bytes", "used": 131_072, "capacity": 188_416 }])
    );
    client.notify("tilefit/watchMemoryMap", at(A));
    let of_target = |client: &mut LspClient, target: &str| {
        while client.notification("tilefit/memoryMapChanged")["maps"][0]["target"] != target {}
    };
    of_target(&mut client, "ascend910b");
    client.notify("workspace/didChangeConfiguration", json!({ "settings": { "tilefit": { "target": "ascend950" } } }));
    of_target(&mut client, "ascend950");
}
