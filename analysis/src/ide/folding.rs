//! The parts of kernels: what can be folded, and what lies around a position.

use tilefit_syntax::TextRange;
use tilefit_syntax::ast::Stmt;

use crate::db;

use super::Context;
use super::scopes::Scopes;

/// Bytes of the parts of kernels that can be folded: functions, loops, branches, scopes.
pub(crate) fn folding_ranges(context: &Context<'_>) -> Vec<TextRange> {
    let mut folds = Vec::new();
    if context.file.excluded(context.db) {
        return folds;
    }
    let scopes = Scopes::new(context);
    for block in scopes.blocks().filter(|block| scopes.may_be_kernel(*block)) {
        let parsed = db::parsed(context.db, block.unit);
        for (id, stmt) in parsed.ast.stmts() {
            let range = parsed.spans.stmt(id);
            let range = match stmt {
                Stmt::Function(_) | Stmt::For { .. } | Stmt::While { .. } | Stmt::With { .. } => range,
                // Its branches fold by themselves.
                Stmt::If { body, .. } => match body.last() {
                    Some(&last) => TextRange::new(range.start, parsed.spans.stmt(last).end),
                    None => continue,
                },
                _ => continue,
            };
            folds.push(range.shifted(block.start));
        }
    }
    folds.sort_unstable();
    folds
}

/// The parts of the kernel around a byte offset, from the inside out; empty outside of kernels.
pub(crate) fn selection_ranges(context: &Context<'_>, offset: usize) -> Vec<TextRange> {
    if context.file.excluded(context.db) {
        return Vec::new();
    }
    let scopes = Scopes::new(context);
    let mut touched = scopes.blocks().zip(context.document().blocks());
    let Some((block, source)) = touched.find(|(block, _)| block.start + block.text.len() > offset) else {
        return Vec::new();
    };
    if offset < block.start || !scopes.may_be_kernel(block) {
        return Vec::new();
    }
    let mut ranges: Vec<_> =
        source.source.enclosing(offset - block.start).iter().map(|range| range.shifted(block.start)).collect();
    let file = TextRange::new(0, context.document().len());
    if ranges.last() != Some(&file) {
        ranges.push(file);
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fixture;

    const TEXT: &str = "\
import pypto.language as pl

@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INT64]):
    for i in pl.range(4):
        if n > 0:
            x = pl.load(a, [i, 0], [16, 64])
        else:
            x = pl.load(a, [0, 0], [16, 64])

def plain():
    for i in range(4):
        print(i)
";

    #[test]
    fn folds_of_kernels_only() {
        let fixture = Fixture::new(TEXT);
        let folds = fixture.folding_ranges();
        let first = |range: &TextRange| fixture.at(*range).lines().next().unwrap_or_default().to_owned();
        let lines: Vec<_> = folds.iter().map(first).collect();
        assert_eq!(lines, ["@pl.function(type=pl.FunctionType.InCore)", "for i in pl.range(4):", "if n > 0:"]);
        let branch = folds.last().expect("a fold");
        assert!(fixture.at(*branch).ends_with("[i, 0], [16, 64])"));
    }

    #[test]
    fn selections_grow() {
        let fixture = Fixture::new(TEXT);
        let ranges = fixture.selection_ranges(fixture.find("i, 0]") + 1);
        let texts: Vec<_> = ranges.iter().map(|range| fixture.at(*range)).collect();
        assert_eq!(texts[..3], ["i", "[i, 0]", "(a, [i, 0], [16, 64])"]);
        assert_eq!(texts.last(), Some(&TEXT));
        assert!(ranges.windows(2).all(|pair| pair[1].start <= pair[0].start && pair[0].end <= pair[1].end));
        assert!(fixture.selection_ranges(fixture.find("print")).is_empty());
    }
}
