use std::process::ExitCode;

use tilefit_analysis::diagnostics::Code;

use crate::terminal::{fail, print};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// A code such as `capacity-exceeded`, as it stands in the brackets after `error`
    code: String,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let Some(code) = Code::from_name(&arguments.code) else {
        let codes: String = Code::ALL.iter().map(|code| format!("\n  {:20} {}", code.name(), code.title())).collect();
        return fail(&format!("there is no diagnostic code `{}`; the codes are:{codes}", arguments.code));
    };
    print(code.page());
    ExitCode::SUCCESS
}
