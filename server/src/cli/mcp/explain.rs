use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tilefit_python::diagnostics::Code;

use super::reply::Reply;
use super::workspace::Workspace;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// A diagnostic code; without one, all codes are listed
    code: Option<String>,
}

pub(super) fn run(_: &Workspace, arguments: Arguments) -> Result<Reply, String> {
    let Some(name) = arguments.code else {
        let codes = Code::ALL.iter().map(|code| format!("{}: {}\n", code.name(), code.title()));
        return Ok(Reply { text: codes.collect(), structured: None });
    };
    let names = Code::ALL.iter().map(|code| code.name());
    let code = Code::from_name(&name).ok_or_else(|| {
        let meant = tilefit_python::spelling::did_you_mean(&name, names);
        let meant = if meant.is_empty() { "; without a code, `explain` lists them all" } else { &meant };
        format!("there is no diagnostic code `{name}`{meant}")
    })?;
    let about = json!({ "code": code.name(), "severity": code.severity().name(), "title": code.title() });
    Ok(Reply { text: code.page().to_owned(), structured: Some(about) })
}
