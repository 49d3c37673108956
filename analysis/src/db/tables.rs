//! Tables of configurations that host code reads from JSON files in a folder beside it, as vLLM and SGLang have them: by a name that says for which
//! shapes, types and device they were measured.

use std::sync::Arc;

use tilefit_gpu::tuned_configurations::TABLES;
use tilefit_python::eval::{Argument, Constant, OneOf, Pattern, Weighed};
use tilefit_python::finding::Reason;
use tilefit_python::work;

use super::{SourceFile, imports};

/// Values within the tables of a folder that are looked at.
const MOST_VALUES: usize = 1 << 20;

/// Rows that are compared with each other, and the values within one.
const MOST_ROWS: usize = 512;
const HEAVIEST_ROW: usize = 64;
/// Comparisons of two rows in the time of a step.
const ROWS_A_STEP: u64 = 32;

/// What one value may weigh.
const MOST_WEIGHT: usize = 3 << 14;

/// `json.load(file)`, `os.path.exists(path)` where the folder of that is known. `decides`: a number for what decides which table it is.
pub(super) fn call(
    db: &dyn salsa::Database,
    path: &[&str],
    arguments: &dyn Fn() -> Vec<Argument>,
    decides: &dyn Fn() -> Option<u32>,
) -> Option<Constant> {
    let is_asked = match path {
        ["json", "load" | "loads"] => false,
        ["os", "path", "exists" | "isfile"] => true,
        _ => return None,
    };
    let arguments = arguments();
    let paths = match &arguments.first()?.value {
        Constant::OneOf(choice) => choice.values().map(Pattern::in_folder).collect::<Option<Vec<_>>>()?,
        path => vec![Pattern::in_folder(path)?],
    };
    let (folder, _) = paths.first().filter(|(folder, _)| paths.iter().all(|(other, _)| other == folder))?;
    let all = tables(db, imports::known(db, &[format!("{folder}/{TABLES}")])?).as_ref()?;
    let is_meant = |name: &str| paths.iter().any(|(_, pattern)| pattern.may_be(name));
    let mut of_name = all.iter().filter(|(name, _)| is_meant(name)).map(|(_, table)| table).peekable();
    if is_asked {
        return of_name.peek().is_none().then_some(Constant::Bool(false));
    }
    any_of(of_name, decides()?)
}

/// One of some tables: a dictionary with the keys of all of them, under each of which any entry of any of them may be.
fn any_of<'t>(tables: impl Iterator<Item = &'t Constant>, by: u32) -> Option<Constant> {
    let (mut keys, mut entries) = (Vec::new(), Vec::new());
    for table in tables {
        let Constant::Dict(pairs) = table else { return Some(Constant::Unknown(Reason::new("a table is not read"))) };
        for (key, entry) in pairs.iter().filter(|(_, entry)| matches!(entry, Constant::Dict(_))) {
            work::spend(1 + entries.len() as u64 / ROWS_A_STEP);
            if entries.len() == MOST_ROWS || keys.len() == MOST_ROWS || entry.weight() > HEAVIEST_ROW {
                return Some(Constant::Unknown(Reason::new("the tables have too many rows")));
            }
            if !keys.contains(key) {
                keys.push(key.clone());
            }
            if !entries.contains(entry) {
                entries.push(entry.clone());
            }
        }
    }
    let weight = entries.iter().map(Constant::weight).max().unwrap_or(1);
    let any = OneOf::any(by, entries, MOST_WEIGHT / (weight * keys.len().max(1)))?;
    Some(Constant::Dict(keys.into_iter().map(|key| (key, any.clone())).collect()))
}

/// The tables of a folder, by their names; `None` where it is not a text of such tables.
#[salsa::tracked(returns(ref))]
fn tables(db: &dyn salsa::Database, folder: SourceFile) -> Option<Arc<Vec<(String, Constant)>>> {
    let text = folder.document(db).text().to_string();
    let serde_json::Value::Object(all) = serde_json::from_str(&text).ok()? else { return None };
    let mut left = MOST_VALUES;
    let tables = all.into_iter().map(|(name, table)| (name, constant(table, &mut left)));
    Some(Arc::new(tables.collect()))
}

fn constant(value: serde_json::Value, left: &mut usize) -> Constant {
    use serde_json::Value;

    *left = left.saturating_sub(1);
    if *left == 0 {
        return Constant::Unknown(Reason::new("the tables are too large"));
    }
    match value {
        Value::Null => Constant::None,
        Value::Bool(value) => Constant::Bool(value),
        Value::Number(number) => match number.as_i64() {
            Some(number) => Constant::Int(number),
            None => Constant::Unknown(Reason::new("a number in a table that is not an integer")),
        },
        Value::String(text) => Constant::Str(text),
        Value::Array(values) => Constant::List(values.into_iter().map(|value| constant(value, left)).collect()),
        Value::Object(entries) => {
            let entries = entries.into_iter().map(|(key, value)| (Constant::Str(key), constant(value, left)));
            Constant::Dict(entries.collect())
        }
    }
}
