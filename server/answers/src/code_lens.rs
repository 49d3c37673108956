//! `textDocument/codeLens` and `codeLens/resolve`: what stands above a kernel.

use ls_types::{CodeLens, Command, Position, Range, Uri};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tilefit_analysis::ide::{self, LensCommand, LensKind};
use tilefit_analysis::{Cancellable, Cancelled};
use tilefit_syntax::TextRange;

use crate::capabilities::{ADD_MISSING_VALUES, OPEN_DUMP, SHOW_GENERATED_CODE, SHOW_MEMORY_MAP};
use crate::view::View;

/// Of more lenses than this only the places are told; what they say, the client asks for when it shows them.
const AT_ONCE: usize = 64;

/// Kinds by their number in [`Unresolved`].
const KINDS: [LensKind; 3] = [LensKind::MemoryMap, LensKind::GeneratedCode, LensKind::Dump];

/// The `data` of a lens without a command: the document and its version, the kind, and which of those of its kind at its place. A tuple, since
/// a large file has many.
#[derive(Debug, Serialize, Deserialize)]
pub struct Unresolved(Uri, i32, usize, usize);

impl Unresolved {
    /// What was left out of a lens, if anything was.
    pub fn of(lens: &CodeLens) -> Option<Unresolved> {
        Unresolved::deserialize(lens.data.as_ref()?).ok()
    }

    pub fn uri(&self) -> &Uri {
        &self.0
    }
}

pub fn code_lenses(view: &View) -> Cancellable<Option<Vec<CodeLens>>> {
    let mut lenses = view.analysis.code_lenses(view.file)?;
    lenses.retain(|lens| view.has(lens.range.start));
    let is_told = lenses.len() <= AT_ONCE;
    // Those of one kernel stand at one place.
    let mut last = (TextRange::empty(0), Range::default());
    let mut answer = |lens: ide::CodeLens| {
        if last.0 != lens.range {
            last = (lens.range, view.range(lens.range));
        }
        let range = last.1;
        if is_told {
            let has_title = |lens: &CodeLens| lens.command.as_ref().is_none_or(|command| !command.title.is_empty());
            return Ok(told(view, range, lens)?.filter(has_title));
        }
        let kind = KINDS.iter().position(|kind| *kind == lens.kind).unwrap_or_default();
        let unresolved = Unresolved(view.uri.clone(), view.version, kind, lens.nth);
        Ok(Some(CodeLens { range, command: None, data: Some(json!(unresolved)) }))
    };
    lenses.into_iter().filter_map(|lens| answer(lens).transpose()).collect::<Cancellable<_>>().map(Some)
}

/// What a lens says. One of an older version of the document has been overtaken; one that is gone stays as it is.
pub fn resolve_code_lens(view: &View, range: Range, unresolved: &Unresolved) -> Cancellable<Option<CodeLens>> {
    let &Unresolved(_, version, kind, nth) = unresolved;
    if version != view.version {
        return Err(Cancelled);
    }
    let Some(&kind) = KINDS.get(kind) else { return Ok(None) };
    let told = told(view, range, ide::CodeLens { range: view.text_range(range), kind, nth })?;
    // Its place was told: an editor says of one without a command that there is none.
    Ok(told.map(|mut lens| {
        if let Some(command) = lens.command.as_mut().filter(|command| command.title.is_empty()) {
            command.title = "memory map".to_owned();
        }
        lens
    }))
}

fn told(view: &View, range: Range, lens: ide::CodeLens) -> Cancellable<Option<CodeLens>> {
    let Some(mut text) = view.analysis.code_lens(view.file, lens.clone())? else { return Ok(None) };
    if lens.kind == LensKind::MemoryMap
        && let Some(spoken) = view.analysis.spoken(view.file, lens, view.edited)?
    {
        text.title = view.last_whole.title(spoken, view.version, text.title);
    }
    Ok(Some(code_lens(view, range, text)))
}

fn code_lens(view: &View, range: Range, text: ide::LensText) -> CodeLens {
    let here = || Some(vec![json!(view.uri), json!(range.start)]);
    let (command, arguments) = match text.command {
        LensCommand::ShowMemoryMap => (SHOW_MEMORY_MAP, here()),
        LensCommand::ShowGeneratedCode => (SHOW_GENERATED_CODE, here()),
        LensCommand::AddMissingValues => (ADD_MISSING_VALUES, here()),
        LensCommand::OpenDump { path, line } => {
            let position = Position::new(line as u32, 0);
            (OPEN_DUMP, Uri::from_file_path(path).map(|uri| vec![json!(uri), json!(position)]))
        }
    };
    CodeLens { range, command: Some(Command { title: text.title, command: command.to_owned(), arguments }), data: None }
}
