use serde_json::json;
use tilelens_analysis::Cancellable;
use tilelens_analysis::ide::{self, LensCommand};
use tower_lsp::ls_types::{CodeLens, Command, Position, Uri};

use crate::lsp::capabilities::{OPEN_DUMP, SHOW_GENERATED_CODE};
use crate::lsp::query::View;

pub(in crate::lsp) fn code_lenses(view: &View) -> Cancellable<Option<Vec<CodeLens>>> {
    let lenses = view.analysis.code_lenses(view.file)?;
    Ok(Some(lenses.into_iter().map(|lens| code_lens(view, lens)).collect()))
}

fn code_lens(view: &View, lens: ide::CodeLens) -> CodeLens {
    let range = view.range(lens.range);
    let (command, arguments) = match lens.command {
        // Editors show a lens whose command is empty as plain text.
        LensCommand::None => (String::new(), None),
        LensCommand::ShowGeneratedCode => {
            (SHOW_GENERATED_CODE.to_owned(), Some(vec![json!(view.uri), json!(range.start)]))
        }
        LensCommand::OpenDump { path, line } => {
            let position = Position::new(line as u32, 0);
            let arguments = Uri::from_file_path(path).map(|uri| vec![json!(uri), json!(position)]);
            (OPEN_DUMP.to_owned(), arguments)
        }
    };
    CodeLens { range, command: Some(Command { title: lens.title, command, arguments }), data: None }
}
