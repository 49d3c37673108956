//! What an editor offers in a kernel of PyPTO: to look at its allocated IR, and to fix what can be fixed in one obvious way.

use tilefit_pypto::ir::{Kernel, Rejection, Type};
use tilefit_pypto::lower;
use tilefit_pypto::memory::Plan;
use tilefit_python::diagnostics::Code;
use tilefit_python::element::Dtype;
use tilefit_python::finding::Origin;
use tilefit_syntax::TextRange;
use tilefit_syntax::ast::{Arg, Ast, BinaryOp, Expr, ExprId, Stmt};

use crate::db::{self, Outcome};
use crate::ide::code_action::{CodeAction, Effect, Fix};
use crate::ide::diagnostic::{Diagnostic, not_modelled};
use crate::ide::unknown_names::suggested_names;
use crate::ide::{Context, PlacedUnit, sync_fixes};

use super::diagnostics::{asks_for_sequences, rejected};

/// What there is to do in the kernels of a unit. `said`: the diagnostics of the file.
pub(super) fn actions(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    range: TextRange,
    said: &dyn Fn() -> Vec<Diagnostic>,
) -> Vec<CodeAction> {
    let mut actions = Vec::new();
    if asks_for_sequences(context, placed.unit) {
        actions.extend(sync_fixes::sync_fixes(context, placed, range));
    }
    actions.extend(suggested_names(context, placed, range, said));
    let text = context.text_of(placed);
    for outcome in context.plans(placed.unit) {
        let Some(plan) = outcome.plan() else { continue };
        if placed.range(plan.origin).touches(range.start) {
            let effect = Effect::ShowAllocatedIr(range.start);
            actions.push(CodeAction { title: "Show allocated IR".to_owned(), effect });
        }
        let Outcome::Planned(planned) = outcome else { continue };
        actions.extend(scenario(context, placed, (outcome, plan), range, said));
        let site = Site { ast: db::syntax(context.db, placed.unit), placed, text, kernel: &planned.kernel };
        for diagnostic in &planned.kernel.rejections {
            let at = placed.range(diagnostic.at);
            if at.intersects(range) || at.touches(range.start) {
                actions.extend(site.fixes(diagnostic));
            }
        }
    }
    actions
}

/// A comment that says the shape of a parameter, where a note asks for it.
fn scenario(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    (outcome, plan): (&Outcome, &Plan),
    range: TextRange,
    said: &dyn Fn() -> Vec<Diagnostic>,
) -> Option<CodeAction> {
    let (note, remedy) = plan.notes.iter().find_map(|note| {
        let at = placed.range(note.at);
        let is_here = at.intersects(range) || at.touches(range.start);
        Some((note, note.reason.remedy().filter(|_| is_here)?))
    })?;
    // The shapes of a scope are those that the function around the calls is given.
    let host = db::host(context.db, placed.unit, outcome);
    let host = context.units().find(|placed| placed.unit == host)?;
    let text = context.text_of(&host);
    let at = text.len() - text.trim_start().len();
    let indent: String = text[..at].rsplit('\n').next().unwrap_or_default().to_owned();
    let asked = not_modelled(placed, note);
    let same =
        |shown: &Diagnostic| shown.range == asked.range && shown.code == asked.code && shown.message == asked.message;
    let diagnostic = said().into_iter().find(same)?;
    let edit = (TextRange::empty(host.start + at), format!("{remedy}\n{indent}"));
    let fix = Fix { edits: vec![edit], fixes: diagnostic, preferred: false };
    let title = format!("Write the shape of `{}` in a comment", remedy.param());
    Some(CodeAction { title, effect: Effect::Fix(fix) })
}

/// A kernel and the block that it stands in.
struct Site<'a> {
    ast: &'a Ast,
    placed: &'a PlacedUnit<'a>,
    /// Of the block.
    text: &'a str,
    kernel: &'a Kernel,
}

/// What a name refers to wherever the kernel defines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Tile,
    Scalar,
}

impl Site<'_> {
    fn fixes(&self, rejection: &Rejection) -> Vec<CodeAction> {
        match (rejection.code, rejection.at) {
            (Code::UnknownDtype, Origin::Expr(at)) => self.dtypes(rejection, at),
            (Code::Rejected, Origin::Expr(at)) => self.operator(rejection, at).into_iter().collect(),
            (Code::Rejected, Origin::Stmt(at)) => match self.ast.stmt(at) {
                Stmt::AugAssign { target, op, value } => {
                    self.augmented(rejection, *target, *op, *value).into_iter().collect()
                }
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// The names that are nearest to one that is no element type.
    fn dtypes(&self, rejection: &Rejection, at: ExprId) -> Vec<CodeAction> {
        let Some((at, wrong)) = self.wrong_dtype(at) else { return Vec::new() };
        let end = self.placed.spans.expr(at).end + self.placed.start;
        let range = TextRange::new(end - wrong.len(), end);
        let mut nearest = Dtype::nearest(wrong);
        let preferred = nearest.len() == 1;
        // The compiler refuses to cast a tile to what it is.
        let own = self.cast_of(at);
        nearest.retain(|name| own != Some(*name));
        let fix = |name: &&str| {
            let title = format!("Replace `{wrong}` by `{name}`");
            self.fix(rejection, title, (range, (*name).to_owned()), preferred)
        };
        nearest.iter().map(fix).collect()
    }

    /// The element type of the tile that is cast to the type that `target` names.
    fn cast_of(&self, target: ExprId) -> Option<&'static str> {
        self.ast.exprs().find_map(|(_, expr)| {
            let Expr::Call { func, args } = expr else { return None };
            let is_cast = self.ast.dotted(*func)?.last() == Some(&"cast") && args.iter().any(|arg| arg.value == target);
            let name = self.ast.name(args.first().filter(|_| is_cast)?.value)?;
            let mut types = self.kernel.vars.iter().filter(|var| var.name == name).map(|var| match &var.ty {
                Type::Tile(tile) => Some(tile.dtype.name()),
                _ => None,
            });
            let first = types.next()??;
            types.all(|other| other == Some(first)).then_some(first)
        })
    }

    /// `pl.NAME` that is no element type: the expression itself, or the one argument of a call.
    fn wrong_dtype(&self, at: ExprId) -> Option<(ExprId, &str)> {
        let wrong = |expr: ExprId| match self.ast.dotted(expr)?.as_slice() {
            ["pl", _] => match self.ast.expr(expr) {
                Expr::Attribute { name, .. } if !Dtype::ALL.iter().any(|dtype| dtype.name() == name) => {
                    self.slice(expr).ends_with(name.as_str()).then_some((expr, name.as_str()))
                }
                _ => None,
            },
            _ => None,
        };
        let Expr::Call { args, .. } = self.ast.expr(at) else { return wrong(at) };
        let mut all = args.iter().filter_map(|Arg { value, .. }| wrong(*value));
        all.next().filter(|_| all.next().is_none())
    }

    /// `x + y` of tiles as `pl.add(x, y)`. The lowering rejects these operators for their operands only.
    fn operator(&self, rejection: &Rejection, at: ExprId) -> Option<CodeAction> {
        let Expr::Binary { op, left, right } = self.ast.expr(at) else { return None };
        let operation = operation(*op)?;
        let (first, second) = match (self.kind(*left), self.kind(*right)) {
            (Some(Kind::Tile), _) => (*left, *right),
            // Tiles come first, and for these two the order does not count.
            (Some(Kind::Scalar), Some(Kind::Tile)) if matches!(op, BinaryOp::Add | BinaryOp::Mul) => (*right, *left),
            _ => return None,
        };
        let new = format!("pl.{operation}({}, {})", self.argument(first)?, self.argument(second)?);
        self.rewrite(rejection, new)
    }

    /// `y += x` as `y = pl.add(y, x)`, or for scalars as `y = y + x`.
    fn augmented(&self, rejection: &Rejection, target: ExprId, op: BinaryOp, value: ExprId) -> Option<CodeAction> {
        let name = self.ast.name(target)?;
        let new = match self.kind(target)? {
            Kind::Tile => format!("{name} = pl.{}({name}, {})", operation(op)?, self.argument(value)?),
            Kind::Scalar => format!("{name} = {name} {} {}", lower::scalar_sign(op)?, self.operand(value)?),
        };
        self.rewrite(rejection, new)
    }

    /// Known for numbers, and for names that mean the same kind of thing in the whole kernel.
    fn kind(&self, expr: ExprId) -> Option<Kind> {
        let name = match self.ast.expr(expr) {
            Expr::Int(_) | Expr::Float(_) => return Some(Kind::Scalar),
            Expr::Name(name) => name,
            _ => return None,
        };
        let mut kinds = self.kernel.vars.iter().filter(|var| var.name == *name).map(|var| match var.ty {
            Type::Tile(_) => Some(Kind::Tile),
            Type::Scalar(_) => Some(Kind::Scalar),
            Type::Tensor(_) | Type::Array { .. } | Type::Tuple(_) | Type::Unknown(_) => None,
        });
        let first = kinds.next()??;
        kinds.all(|kind| kind == Some(first)).then_some(first)
    }

    /// The text of an expression as an argument of a call.
    fn argument(&self, expr: ExprId) -> Option<&str> {
        let is_one = !matches!(
            self.ast.expr(expr),
            Expr::Tuple(_)
                | Expr::Starred(_)
                | Expr::Unpacked(_)
                | Expr::Thunk(_)
                | Expr::Lambda(_)
                | Expr::Other(_)
                | Expr::Error
        );
        is_one.then(|| self.slice(expr))
    }

    /// The text of an expression as an operand.
    fn operand(&self, expr: ExprId) -> Option<String> {
        let text = self.argument(expr)?;
        let is_atom = matches!(
            self.ast.expr(expr),
            Expr::Name(_) | Expr::Int(_) | Expr::Float(_) | Expr::Call { .. } | Expr::Attribute { .. }
        );
        Some(if is_atom || text.starts_with('(') && text.ends_with(')') {
            text.to_owned()
        } else {
            format!("({text})")
        })
    }

    fn slice(&self, expr: ExprId) -> &str {
        let range = self.placed.spans.expr(expr);
        self.text.get(range.start..range.end).unwrap_or_default()
    }

    /// Writes `new` instead of the rejected node, unless a comment would be lost.
    fn rewrite(&self, rejection: &Rejection, new: String) -> Option<CodeAction> {
        let range = self.placed.range(rejection.at);
        let old = self.text.get(range.start - self.placed.start..range.end - self.placed.start)?;
        if old.contains('#') {
            return None;
        }
        let title = format!("Write `{new}`");
        Some(self.fix(rejection, title, (range, new), true))
    }

    fn fix(&self, rejection: &Rejection, title: String, edit: (TextRange, String), preferred: bool) -> CodeAction {
        let fixes = rejected(self.placed, rejection);
        CodeAction { title, effect: Effect::Fix(Fix { edits: vec![edit], fixes, preferred }) }
    }
}

/// The operation that an operator is on tiles.
fn operation(op: BinaryOp) -> Option<&'static str> {
    Some(match op {
        BinaryOp::Add => "add",
        BinaryOp::Sub => "sub",
        BinaryOp::Mul => "mul",
        BinaryOp::Div => "div",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::Fixture;

    fn kernel(body: &str) -> String {
        let body: String = body.lines().map(|line| format!("        {line}\n")).collect();
        format!(
            "import pypto.language as pl\n\n@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.InCore)\n    def k(self, a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INT64], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):\n        x = pl.load(a, [0, 0], [64, 64])\n        y = pl.exp(x)\n{body}        out = pl.store(y, [0, 0], out)\n        return out\n"
        )
    }

    /// Prints the titles of the fixes of the whole file; applies each, after which its diagnostic must be gone.
    #[track_caller]
    fn check(body: &str, expect: Expect) {
        let fixture = Fixture::new(&kernel(body));
        let mut titles = String::new();
        for CodeAction { title, effect } in fixture.code_actions(fixture.whole()) {
            let Effect::Fix(fix) = effect else { continue };
            assert!(fixture.diagnostics().contains(&fix.fixes));
            let fixed = fixture.edited(&fix.edits);
            assert_eq!(Fixture::new(&fixed).diagnostics(), [], "{title}:\n{fixed}");
            titles.push_str(&title);
            titles.push_str(if fix.preferred { "\n" } else { " (not preferred)\n" });
        }
        expect.assert_eq(&titles);
    }

    #[test]
    fn operators_on_tiles_become_operations() {
        check(
            "y = x + y",
            expect![[r#"
            Write `pl.add(x, y)`
        "#]],
        );
        check(
            "y = 2.0 * x",
            expect![[r#"
            Write `pl.mul(x, 2.0)`
        "#]],
        );
        check(
            "y = (x) / 3.0",
            expect![[r#"
            Write `pl.div(x, 3.0)`
        "#]],
        );
        check(
            "y += x",
            expect![[r#"
            Write `y = pl.add(y, x)`
        "#]],
        );
        check(
            "y *= pl.exp(x)",
            expect![[r#"
            Write `y = pl.mul(y, pl.exp(x))`
        "#]],
        );
        check(
            "m = n + 1\nm -= n - 1",
            expect![[r#"
            Write `m = m - (n - 1)`
        "#]],
        );
    }

    #[test]
    fn nothing_is_offered_where_the_way_out_is_not_obvious() {
        check("y = 2.0 - x", expect![[""]]);
        check("y = x @ y", expect![[""]]);
        check("y = (x  # the first\n    + y)", expect![[""]]);
        check("k = 3 if n > 4 else 2", expect![[""]]);
        check("y **= x", expect![[""]]);
    }

    #[test]
    fn element_types_are_replaced_by_their_neighbours() {
        check(
            "z = pl.create_tile([64, 64], dtype=pl.FP31)",
            expect![[r#"
            Replace `FP31` by `FP32`
        "#]],
        );
        check(
            "z = pl.create_tile([64, 64], dtype=pl.BF61)",
            expect![[r#"
            Replace `BF61` by `BF16`
        "#]],
        );
        check(
            "z = pl.create_tile([64, 64], dtype=pl.FP8E5)",
            expect![[r#"
            Replace `FP8E5` by `FP8E5M2`
        "#]],
        );
        check("z = pl.create_tile([64, 64], dtype=pl.COMPLEX128)", expect![[""]]);
    }

    #[test]
    fn the_allocated_ir_is_offered_inside_of_kernels() {
        let fixture = Fixture::new(&kernel(""));
        let titles = |offset| {
            let actions = fixture.code_actions(TextRange::empty(offset));
            actions.into_iter().map(|action| action.title).collect::<Vec<_>>()
        };
        let inside = fixture.find("pl.exp");
        assert_eq!(titles(inside), ["Show allocated IR"]);
        assert!(titles(0).is_empty());
        let ir = fixture.allocated_ir_at(inside).expect("a kernel");
        assert_eq!(Some(&ir), fixture.allocated_ir().first());
        assert_eq!(ir.kernel, "P.k");
        // Outside of kernels it is that of the nearest one.
        assert_eq!(fixture.allocated_ir_at(0), Some(ir));
    }
}
