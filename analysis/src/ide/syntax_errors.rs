//! Kernels that do not parse: Python reads none of their file then, and what is said of them rests on a part of their text.

use tilefit_python::finding::Origin;
use tilefit_syntax::TextRange;
use tilefit_syntax::ast::{Expr, Stmt};

use crate::db;

use super::cursor_context::dialect;
use super::{Context, PlacedUnit};

/// Where the first error of each kernel stands, in bytes. A function is a kernel by its decorator, so that one whose header is broken counts.
pub(crate) fn syntax_errors(context: &Context<'_>) -> Vec<TextRange> {
    let placed = context.placed(TextRange::new(0, usize::MAX), db::may_be_decorated);
    let kernels = placed.filter(|placed| {
        let text = db::text(context.db, placed.unit);
        dialect(context.db, context.file, text).is_some() || !db::unparsed(context.db, placed.unit).is_empty()
    });
    kernels.filter_map(|placed| first_error(context, &placed)).collect()
}

fn first_error(context: &Context<'_>, placed: &PlacedUnit<'_>) -> Option<TextRange> {
    let ast = db::syntax(context.db, placed.unit);
    let exprs = ast.exprs().filter(|(_, expr)| matches!(expr, Expr::Error)).map(|(id, _)| Origin::Expr(id));
    let stmts = ast.stmts().filter(|(_, stmt)| matches!(stmt, Stmt::Error)).map(|(id, _)| Origin::Stmt(id));
    exprs.chain(stmts).map(|error| placed.range(error)).min()
}

#[cfg(test)]
mod tests {
    use crate::Fixture;

    /// Lines with the first error of a kernel, from 1.
    fn lines(text: &str) -> Vec<usize> {
        let errors = Fixture::new(text).syntax_errors();
        errors.iter().map(|range| text[..range.start].matches('\n').count() + 1).collect()
    }

    #[test]
    fn what_is_broken_in_a_kernel_is_found_and_elsewhere_it_is_not() {
        let pypto = |header: &str, body: &str| {
            format!(
                "import pypto.language as pl\n\n@pl.function(type=pl.FunctionType.InCore)\n{header}\n    {body}\n    y = 1\n"
            )
        };
        assert!(lines(&pypto("def k(a):", "x = pl.load(a, [0, 0], [16, 16])")).is_empty());
        assert_eq!(lines(&pypto("def k(a):", "x = pl.load(a, [0, 0], [16, 16]")), [5]);
        assert_eq!(lines(&pypto("def k(a)", "x = pl.load(a, [0, 0], [16, 16])")).len(), 1);
        assert_eq!(lines(&pypto("def k(a: pl.Tensor[[16", "x = 1")).len(), 1);
        let triton = "import triton\nimport triton.language as tl\n\n@triton.jit\ndef k(a):\n    x = tl.load(a\n    tl.store(a, x)\n";
        assert_eq!(lines(triton), [6]);
        assert!(lines("import pypto.language as pl\n\n@cached\ndef f(a):\n    x = (1\n").is_empty());
        assert!(lines("x = 1 +\n").is_empty());
    }
}
