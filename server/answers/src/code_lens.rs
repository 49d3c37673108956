//! `textDocument/codeLens` and `codeLens/resolve`: what stands above a kernel.

use ls_types::{CodeLens, Command, Position, Range, Uri};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tilefit_analysis::ide::{self, LensCommand, LensKind};
use tilefit_analysis::{Cancellable, Cancelled};
use tilefit_syntax::TextRange;

use crate::capabilities::{OPEN_DUMP, SHOW_GENERATED_CODE, SHOW_MEMORY_MAP};
use crate::view::View;

/// Of more lenses than this only the places are told; what they say, the client asks for when it shows them.
const AT_ONCE: usize = 64;

/// Kinds by their number in [`Untold`].
const KINDS: [LensKind; 3] = [LensKind::MemoryMap, LensKind::GeneratedCode, LensKind::Dump];

/// The `data` of a lens without a command: the document and its version, the kind, and which of those of its kind at its place. A tuple, since
/// a large file has many.
#[derive(Debug, Serialize, Deserialize)]
pub struct Untold(Uri, i32, usize, usize);

impl Untold {
    /// What was left out of a lens, if anything was.
    pub fn of(lens: &CodeLens) -> Option<Untold> {
        Untold::deserialize(lens.data.as_ref()?).ok()
    }

    pub fn uri(&self) -> &Uri {
        &self.0
    }
}

pub fn code_lenses(view: &View) -> Cancellable<Option<Vec<CodeLens>>> {
    let lenses = view.analysis.code_lenses(view.file)?;
    let is_told = lenses.len() <= AT_ONCE;
    // Those of one kernel stand at one place.
    let mut last = (TextRange::empty(0), Range::default());
    let mut told = |lens: ide::CodeLens| {
        if last.0 != lens.range {
            last = (lens.range, view.range(lens.range));
        }
        let range = last.1;
        if is_told {
            return Ok(view.analysis.code_lens(view.file, lens)?.map(|text| code_lens(view, range, text)));
        }
        let kind = KINDS.iter().position(|kind| *kind == lens.kind).unwrap_or_default();
        let untold = Untold(view.uri.clone(), view.version, kind, lens.nth);
        Ok(Some(CodeLens { range, command: None, data: Some(json!(untold)) }))
    };
    lenses.into_iter().filter_map(|lens| told(lens).transpose()).collect::<Cancellable<_>>().map(Some)
}

/// What a lens says. One of an older version of the document has been overtaken; one that is gone stays as it is.
pub fn resolve_code_lens(view: &View, range: Range, untold: &Untold) -> Cancellable<Option<CodeLens>> {
    let &Untold(_, version, kind, nth) = untold;
    if version != view.version {
        return Err(Cancelled);
    }
    let Some(&kind) = KINDS.get(kind) else { return Ok(None) };
    let lens = ide::CodeLens { range: view.text_range(range), kind, nth };
    Ok(view.analysis.code_lens(view.file, lens)?.map(|text| code_lens(view, range, text)))
}

fn code_lens(view: &View, range: Range, text: ide::LensText) -> CodeLens {
    let here = || Some(vec![json!(view.uri), json!(range.start)]);
    let (command, arguments) = match text.command {
        LensCommand::ShowMemoryMap => (SHOW_MEMORY_MAP, here()),
        LensCommand::ShowGeneratedCode => (SHOW_GENERATED_CODE, here()),
        LensCommand::OpenDump { path, line } => {
            let position = Position::new(line as u32, 0);
            (OPEN_DUMP, Uri::from_file_path(path).map(|uri| vec![json!(uri), json!(position)]))
        }
    };
    CodeLens { range, command: Some(Command { title: text.title, command: command.to_owned(), arguments }), data: None }
}
