//! Whether a call in half-typed code is on tiles or on tensors: many functions of PyPTO are both, with other parameters.

use tilefit_syntax::ast::Stmt;
use tilefit_syntax::tokens::{TokenKind, tokens};

use crate::db;

use super::cursor_context::CursorContext;
use super::language::ValueKind;
use super::{Context, languages};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Tiles,
    Tensors,
}

impl Level {
    fn of(kind: ValueKind) -> Option<Level> {
        match kind {
            ValueKind::Tile => Some(Level::Tiles),
            ValueKind::Tensor => Some(Level::Tensors),
            ValueKind::Scalar | ValueKind::Other => None,
        }
    }

    /// What is computed with at a position: that of the nearest statement above that makes a tile or a tensor, else what the function is
    /// usually written on.
    pub(super) fn at(context: &Context<'_>, place: &CursorContext<'_>) -> Level {
        let ast = db::syntax(context.db, place.unit);
        let spans = &db::parsed(context.db, place.unit).spans;
        let values = languages::of(context, place.unit).values(context, place.unit);
        let above = ast.stmts().filter_map(|(id, stmt)| match stmt {
            Stmt::Assign { targets, .. } if spans.stmt(id).end <= place.cursor.line => {
                Some((spans.stmt(id).start, ast.name(*targets.first()?)?))
            }
            _ => None,
        });
        let mut above: Vec<(usize, &str)> = above.collect();
        above.sort_unstable_by_key(|(start, _)| std::cmp::Reverse(*start));
        let level = |name: &str| Level::of(values.as_ref()?(name)?.kind);
        let nearest = above.into_iter().find_map(|(_, name)| level(name));
        let usual = || if db::is_kernel(context.db, place.unit) { Level::Tiles } else { Level::Tensors };
        nearest.unwrap_or_else(usual)
    }

    /// Of a call by its bracket: by its first argument, where that is a name whose value is known.
    pub(super) fn of_call(context: &Context<'_>, place: &CursorContext<'_>, bracket: usize) -> Level {
        let by_operand = || {
            let arguments = place.text.get(bracket + 1..)?;
            let line = arguments.split(['\n', '\r']).find(|line| !line.trim().is_empty())?;
            let tokens = tokens(line);
            let is_whole = |next: TokenKind| matches!(next, TokenKind::Comma | TokenKind::Close(_));
            let first = tokens.first().filter(|first| first.kind == TokenKind::Name)?;
            tokens.get(1).is_none_or(|next| is_whole(next.kind)).then_some(())?;
            let values = languages::of(context, place.unit).values(context, place.unit)?;
            Level::of(values(&line[first.range.start..first.range.end])?.kind)
        };
        by_operand().unwrap_or_else(|| Level::at(context, place))
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::Fixture;
    use crate::ide::tests::kernel_with;

    /// A scope on tensors with a line after the one that makes `x`.
    fn scope_with(line: &str) -> String {
        format!(
            "
import pypto.language as pl

@pl.jit
def main(a: pl.Tensor[[64, 64], pl.FP32], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        x = pl.exp(a)
        {line}
        o = pl.assemble(o, x, [0, 0])
    return o
"
        )
    }

    /// What is inserted for an operation, its signatures at the cursor of a call, and the first line of its hover.
    fn shown(text: &str) -> String {
        let fixture = Fixture::new(&text.replace("CALL", "pl.row_argmax$0"));
        let items = fixture.completions(fixture.cursor()).expect("completions").items;
        let item = items.into_iter().find(|item| item.label == "row_argmax").expect("the operation");
        let documentation = item.key.as_deref().and_then(crate::ide::documentation).expect("a page");
        let fixture = Fixture::new(&text.replace("CALL", "pl.row_argmax(x$0"));
        let help = fixture.signature_help(fixture.cursor()).expect("a call");
        let signatures: Vec<String> = help.signatures.into_iter().map(|signature| signature.label).collect();
        let hover = fixture.hover(fixture.cursor() - "max(x".len()).expect("a word");
        let line = |page: &str| [1, 4].map(|line| page.lines().nth(line).unwrap_or_default()).join(" · ");
        let (item, documentation) = (item.snippet.unwrap_or_default(), line(&documentation));
        format!("{item}\n{documentation}\n{}\n{}\n", signatures.join("\n"), line(&hover.markdown))
    }

    #[test]
    fn the_form_of_the_kernel() {
        expect![[r#"
            row_argmax(${1:input}, ${2:tmp_tile})$0
            pl.row_argmax(input, tmp_tile) -> Tile · Index of the maximum of each row.
            pl.row_argmax(input, tmp_tile) -> Tile
            pl.row_argmax(input, tmp_tile) -> Tile · Index of the maximum of each row.
        "#]]
        .assert_eq(&shown(&kernel_with("y = CALL")));
        expect![[r#"
            row_argmax(${1:input})$0
            pl.row_argmax(input) -> Tensor · Index of the maximum of each row.
            pl.row_argmax(input) -> Tensor
            pl.row_argmax(input) -> Tensor · Index of the maximum of each row.
        "#]]
        .assert_eq(&shown(&scope_with("y = CALL")));
        // Nothing is above yet.
        expect![[r#"
            row_argmax(${1:input})$0
            pl.row_argmax(input) -> Tensor · Index of the maximum of each row.
            pl.row_argmax(input) -> Tensor
            pl.row_argmax(input) -> Tensor · Index of the maximum of each row.
        "#]]
        .assert_eq(&shown(&scope_with("").replace("x = pl.exp(a)", "y = CALL")));
    }

    /// A tile in a scope is one, whatever stands around it.
    #[test]
    fn the_first_argument_decides() {
        let text =
            scope_with("t = pl.load(a, [0, 0], [64, 64])\n        u = pl.add(x, x)\n        y = pl.row_argmax(t, $0");
        let fixture = Fixture::new(&text);
        let help = fixture.signature_help(fixture.cursor()).expect("a call");
        assert_eq!(help.signatures[0].label, "pl.row_argmax(input, tmp_tile) -> Tile");
    }
}
