//! `workspace/executeCommand`: every command takes `[uri, position]`.

use ls_types::{ExecuteCommandParams, Position, Uri};
use serde_json::Value;

use crate::capabilities;

/// What a client can have the server do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    OpenGeneratedCode,
    GeneratedCode,
    AllocatedIr,
    LoweredIr,
    OpenDump,
    Confirm,
    AddMissingValues,
}

impl Command {
    /// The command, and the place that it is about. The error is a sentence for the client.
    pub fn of(params: ExecuteCommandParams) -> Result<(Command, Uri, Position), String> {
        let ExecuteCommandParams { command: name, arguments, .. } = params;
        let command = Command::from_name(&name).ok_or_else(|| format!("tilefit has no command `{name}`"))?;
        let (uri, position) = serde_json::from_value(Value::Array(arguments))
            .map_err(|error| format!("`{name}` takes [uri, position]: {error}"))?;
        Ok((command, uri, position))
    }

    fn from_name(name: &str) -> Option<Command> {
        Some(match name {
            capabilities::OPEN_GENERATED_CODE => Command::OpenGeneratedCode,
            capabilities::GENERATED_CODE => Command::GeneratedCode,
            capabilities::ALLOCATED_IR => Command::AllocatedIr,
            capabilities::LOWERED_IR => Command::LoweredIr,
            capabilities::OPEN_DUMP => Command::OpenDump,
            capabilities::CONFIRM => Command::Confirm,
            capabilities::ADD_MISSING_VALUES => Command::AddMissingValues,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_that_is_offered_is_known() {
        for name in capabilities::COMMANDS {
            assert!(Command::from_name(name).is_some(), "{name}");
        }
    }
}
