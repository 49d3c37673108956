use serde_json::json;
use tilelens_analysis::Cancellable;
use tilelens_analysis::ide::{self, LensCommand};
use tower_lsp::ls_types::{CodeLens, Command, Position, Uri};

use crate::lsp::capabilities::{OPEN_DUMP, SHOW_GENERATED_CODE, SHOW_MEMORY_MAP};
use crate::lsp::query::View;

pub(in crate::lsp) fn code_lenses(view: &View) -> Cancellable<Option<Vec<CodeLens>>> {
    let lenses = view.analysis.code_lenses(view.file)?;
    Ok(Some(lenses.into_iter().map(|lens| code_lens(view, lens)).collect()))
}

fn code_lens(view: &View, lens: ide::CodeLens) -> CodeLens {
    let range = view.range(lens.range);
    let here = || Some(vec![json!(view.uri), json!(range.start)]);
    let (command, arguments) = match lens.command {
        LensCommand::ShowMemoryMap => (SHOW_MEMORY_MAP, here()),
        LensCommand::ShowGeneratedCode => (SHOW_GENERATED_CODE, here()),
        LensCommand::OpenDump { path, line } => {
            let position = Position::new(line as u32, 0);
            (OPEN_DUMP, Uri::from_file_path(path).map(|uri| vec![json!(uri), json!(position)]))
        }
    };
    CodeLens { range, command: Some(Command { title: lens.title, command: command.to_owned(), arguments }), data: None }
}
