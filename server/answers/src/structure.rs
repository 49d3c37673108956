//! `textDocument/foldingRange` and `textDocument/selectionRange`.

use ls_types::{FoldingRange, Position, Range, SelectionRange};
use tilefit_analysis::Cancellable;
use tilefit_syntax::TextRange;

use crate::view::View;

pub fn folding_ranges(view: &View) -> Cancellable<Option<Vec<FoldingRange>>> {
    let folds = view.analysis.folding_ranges(view.file)?.into_iter();
    let folds = folds.filter(|fold| view.has(fold.start)).map(|fold| view.range(fold));
    let folds = folds.filter(|range| range.start.line < range.end.line).map(|range| FoldingRange {
        start_line: range.start.line,
        end_line: range.end.line,
        ..FoldingRange::default()
    });
    Ok(Some(folds.collect()))
}

/// One for each position; outside of kernels the empty range there, as the protocol asks for.
pub fn selection_ranges(view: &View, positions: &[Position]) -> Cancellable<Option<Vec<SelectionRange>>> {
    let at = |&position: &Position| -> Cancellable<SelectionRange> {
        let ranges = view.analysis.selection_ranges(view.file, view.offset(position))?;
        let outwards = ranges.into_iter().filter(|range| view.has(range.start)).rev();
        let nested = outwards.fold(None, |parent: Option<Box<SelectionRange>>, range: TextRange| {
            Some(Box::new(SelectionRange { range: view.range(range), parent }))
        });
        Ok(nested.map_or_else(|| SelectionRange { range: Range::new(position, position), parent: None }, |it| *it))
    };
    positions.iter().map(at).collect::<Cancellable<_>>().map(Some)
}
