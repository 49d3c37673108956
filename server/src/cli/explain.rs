use std::process::ExitCode;

use tilefit_python::diagnostics::Code;

use super::columns::aligned;
use crate::terminal::{fail, print};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// A code such as `capacity-exceeded`, which findings show in brackets; without one, all codes are listed
    code: Option<String>,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let Some(name) = &arguments.code else {
        let codes = Code::ALL.iter().map(|code| [code.name(), severity(*code), code.title()].map(str::to_owned));
        print(&aligned(&codes.collect::<Vec<_>>()));
        return ExitCode::SUCCESS;
    };
    match Code::from_name(name) {
        Some(code) => {
            print(code.page());
            ExitCode::SUCCESS
        }
        None => fail(&format!("unknown diagnostic code `{name}`{}", Code::instead_of(name))),
    }
}

/// Without settings.
fn severity(code: Code) -> &'static str {
    if code.is_on_by_default() { code.severity().name() } else { "off" }
}
