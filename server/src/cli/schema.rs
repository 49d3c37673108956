//! The JSON schema of `tilefit.toml`.
//!
//! By hand: `schemars` derives a schema from the types of fields, while a setting is a row of a table, and its shape is a column that the
//! settings of VS Code are made of, too.

use std::process::ExitCode;

use serde_json::{Map, Value, json};
use tilefit_analysis::project::{SETTINGS, SEVERITIES, Shape};
use tilefit_gpu::device::Arch;
use tilefit_pypto::target::Space;
use tilefit_python::diagnostics::Code;

use crate::terminal::print;

/// The JSON schema of `tilefit.toml`; editors make their settings of it, too.
pub(super) fn run() -> ExitCode {
    let mut properties = Map::new();
    for setting in SETTINGS.iter() {
        let mut schema = schema(&setting.shape);
        schema["description"] = setting.about.into();
        match setting.key.split_once('.') {
            None => {
                properties.insert(setting.key.to_owned(), schema);
            }
            Some((table, name)) => {
                let table = properties.entry(table).or_insert_with(|| object(json!({})));
                table["properties"][name] = schema;
            }
        }
    }
    let mut schema = object(properties.into());
    schema["$schema"] = "http://json-schema.org/draft-07/schema#".into();
    schema["title"] = "tilefit.toml".into();
    print(&format!("{schema:#}\n"));
    ExitCode::SUCCESS
}

fn object(properties: Value) -> Value {
    json!({ "type": "object", "additionalProperties": false, "properties": properties })
}

fn schema(shape: &Shape) -> Value {
    match shape {
        Shape::OneOf(names) => {
            let (names, meanings): (Vec<_>, Vec<_>) = names.iter().copied().unzip();
            json!({ "type": "string", "enum": names, "enumDescriptions": meanings, "default": names[0] })
        }
        Shape::Arch => {
            let names: Vec<_> = Arch::gpus().map(Arch::name).collect();
            json!({ "type": "string", "enum": names, "default": Arch::default().name() })
        }
        Shape::Archs => {
            let names: Vec<_> = Arch::all().map(Arch::name).collect();
            json!({ "type": "array", "items": { "type": "string", "enum": names }, "default": [] })
        }
        Shape::Text => json!({ "type": "string", "default": "" }),
        Shape::Flag(default) => json!({ "type": "boolean", "default": default }),
        Shape::Count(default) => json!({ "type": "integer", "minimum": 1, "default": default }),
        Shape::Patterns => json!({ "type": "array", "items": { "type": "string" }, "default": [] }),
        Shape::Bytes => {
            let bytes = json!({ "type": "integer", "minimum": 0 });
            let mut spaces = by_name(Space::ON_CHIP.map(Space::name), &bytes);
            spaces["additionalProperties"] = bytes; // older names, such as UB, are taken too
            spaces
        }
        Shape::Scenarios => {
            json!({ "type": "object", "additionalProperties": { "type": ["object", "array"] }, "default": {} })
        }
        Shape::Tensors => {
            let tensor = json!({ "type": "string", "pattern": "^ *\\[[0-9, ]+\\] *[A-Za-z0-9]+ *$" });
            let params = json!({ "type": "object", "additionalProperties": tensor });
            json!({ "type": "object", "additionalProperties": params, "default": {} })
        }
        Shape::Severities => {
            let codes = Code::ALL.iter().map(|code| code.name());
            by_name(codes, &json!({ "type": "string", "enum": SEVERITIES }))
        }
    }
}

fn by_name(names: impl IntoIterator<Item = &'static str>, each: &Value) -> Value {
    let properties: Map<_, _> = names.into_iter().map(|name| (name.to_owned(), each.clone())).collect();
    let mut table = object(properties.into());
    table["default"] = json!({});
    table
}
