use zed_extension_api::{self as zed, serde_json::json, serde_json::Value, settings::LspSettings, LanguageServerId, Result};

/// Starts the server of the settings, `lsp.tilefit.binary`, or of PATH as the project has it: that is where `pip install tilefit` puts it.
struct Tilefit;

impl zed::Extension for Tilefit {
    fn new() -> Self {
        Tilefit
    }

    fn language_server_command(&mut self, id: &LanguageServerId, worktree: &zed::Worktree) -> Result<zed::Command> {
        let binary = LspSettings::for_worktree(id.as_ref(), worktree)?.binary;
        let (path, arguments) = binary.map(|binary| (binary.path, binary.arguments)).unwrap_or_default();
        let command = path
            .or_else(|| worktree.which("tilefit"))
            .ok_or("no tilefit on PATH: run `pip install tilefit`, or set lsp.tilefit.binary.path")?;
        let args = arguments.unwrap_or_else(|| vec!["server".to_owned()]);
        Ok(zed::Command { command, args, env: worktree.shell_env() })
    }

    fn language_server_initialization_options(&mut self, id: &LanguageServerId, worktree: &zed::Worktree) -> Result<Option<Value>> {
        Ok(LspSettings::for_worktree(id.as_ref(), worktree)?.settings)
    }

    fn language_server_workspace_configuration(&mut self, id: &LanguageServerId, worktree: &zed::Worktree) -> Result<Option<Value>> {
        let settings = LspSettings::for_worktree(id.as_ref(), worktree)?.settings;
        Ok(settings.map(|settings| json!({ "tilefit": settings })))
    }
}

zed::register_extension!(Tilefit);
