//! Settings exist once, in `analysis/src/project.rs`. The schema of `tilefit.toml`, its page in the book, and the settings of
//! the VS Code extension are made of them:
//! `UPDATE_EXPECT=1 cargo test -p tilefit-tests settings_schema` writes them anew.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Map, Value, json};

fn schema() -> Value {
    let output = Command::new(tilefit_tests::binary::tilefit()).arg("schema").output().expect("the binary starts");
    serde_json::from_slice(&output.stdout).expect("the schema is JSON")
}

fn in_checkout(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// The file is as it would be made now; with `UPDATE_EXPECT` it becomes so.
fn check(path: &str, actual: &str, expected: &str) {
    if actual != expected && std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(in_checkout(path), expected).expect("the checkout is writable");
        return;
    }
    assert_eq!(actual, expected, "{path} has drifted from the settings: run this with UPDATE_EXPECT=1");
}

fn read(path: &str) -> String {
    fs::read_to_string(in_checkout(path)).unwrap_or_default()
}

/// Settings with their dotted keys.
fn flat(schema: &Value) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for (key, setting) in schema["properties"].as_object().expect("settings") {
        match setting["description"].is_string() {
            true => found.push((key.clone(), setting.clone())),
            false => {
                found.extend(flat(setting).into_iter().map(|(inner, setting)| (format!("{key}.{inner}"), setting)))
            }
        }
    }
    found
}

#[test]
fn the_schema_file_is_what_the_server_prints() {
    let path = "docs/tilefit.schema.json";
    check(path, &read(path), &format!("{:#}\n", schema()));
}

#[test]
fn the_extension_has_the_settings_of_the_server() {
    let mut properties = Map::new();
    for (key, mut setting) in flat(&schema()) {
        let about = setting["description"].take();
        setting.as_object_mut().expect("a schema").remove("description");
        setting["markdownDescription"] = about;
        setting["scope"] = "resource".into();
        properties.insert(format!("tilefit.{key}"), setting);
    }
    let path = "editors/vscode/package.json";
    let actual = read(path);
    let start = actual.find("\"title\": \"Kernels\"").expect("the section of the server's settings");
    let start = start + actual[start..].find("\"properties\": ").expect("its settings") + "\"properties\": ".len();
    let end = start + actual[start..].find("\n        }\n").expect("their end") + "\n        }".len();
    let made = format!("{:#}", Value::from(properties)).replace('\n', "\n        ");
    check(path, &actual, &format!("{}{made}{}", &actual[..start], &actual[end..]));
}

#[test]
fn the_extension_offers_what_the_server_takes() {
    let schema = schema();
    let keys: Vec<_> = flat(&schema).into_iter().map(|(key, _)| key).collect();
    let names = |key: &str| schema["properties"][key]["enum"].clone();
    let expected = format!(
        "/** Made by tests/tests/settings_schema.rs out of the server's settings. */\n\n\
         /** What the server reads of the section `tilefit`. */\nexport const keys = {};\n\n\
         export const planners = {};\n\nexport const targets = {};\n",
        json!(keys),
        names("planner"),
        names("target")
    );
    let path = "editors/vscode/src/schema.ts";
    check(path, &read(path), &expected);
}

#[test]
fn the_book_has_every_setting() {
    let row = |(key, setting): (String, Value)| {
        let names = setting["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let names: Vec<_> = names.map(|name| format!("`{name}`")).collect();
        let one_of = if names.is_empty() { String::new() } else { format!(" One of {}.", names.join(", ")) };
        let about = setting["description"].as_str().expect("text").replace('|', "\\|");
        format!("| `{key}` | `{}` | {about}{one_of} |\n", setting["default"])
    };
    let rows: String = flat(&schema()).into_iter().map(row).collect();
    let path = "docs/guide/configuration.md";
    let actual = read(path);
    let (before, _) = actual.split_once("|---|---|---|\n").expect("the head of the table");
    let (_, after) = actual.split_once("<!-- end -->").expect("the end of the table");
    check(path, &actual, &format!("{before}|---|---|---|\n{rows}\n<!-- end -->{after}"));
}
