//! A tile bound to memory of its own: `x: pl.Tile[[64, 64], pl.FP32, pl.MemRef("x_buffer"), pl.Mem.Vec] = …`, which the compiler
//! never shares with others.

use tilefit_pypto::ir::Role;
use tilefit_pypto::memory::{Plan, PlannedTile};
use tilefit_pypto::target::Space;
use tilefit_python::diagnostics::Code;
use tilefit_python::finding::Origin;
use tilefit_python::finding::Status;
use tilefit_syntax::TextRange;
use tilefit_syntax::ast::Stmt;

use crate::db::{self, Outcome};

use super::code_action::{CodeAction, Effect};
use super::speculative::{self, Concerned, Edit, Said};
use super::{Context, PlacedUnit};

/// Offered on the name of a tile where it is defined, if the compiler takes it.
pub(super) fn bind(context: &Context<'_>, placed: &PlacedUnit<'_>, range: TextRange) -> Option<CodeAction> {
    let plans = context.plans(placed.unit).iter().filter_map(Outcome::plan);
    let (plan, tile) = plans.into_iter().find_map(|plan| {
        let is_it = |tile: &&PlannedTile| {
            tile.inserted.is_none() && tile.role == Role::Def && placed.range(tile.origin).touches(range.start)
        };
        Some((plan, plan.tiles.iter().find(is_it)?))
    })?;
    let space = tile.space.filter(|space| Space::ON_CHIP.contains(space))?;
    if plan.status != Status::Exact || tile.buffer.is_none_or(|buffer| plan.buffer(buffer).declared) {
        return None;
    }
    let name = allocation_name(context.text_of(placed), &tile.name);
    let edit = annotation(context, placed, tile, space, &name)?;
    is_taken(context, placed, &edit, tile, &name).then(|| CodeAction {
        title: format!("Bind `{}` to a declared allocation", tile.name),
        effect: Effect::Refactor(vec![edit]),
    })
}

fn allocation_name(text: &str, tile: &str) -> String {
    let mut name = format!("{tile}_buffer");
    while text.contains(&name) {
        name.push('_');
    }
    name
}

/// After the name of a tile that is assigned alone and has no annotation.
fn annotation(
    context: &Context<'_>,
    placed: &PlacedUnit<'_>,
    tile: &PlannedTile,
    space: Space,
    name: &str,
) -> Option<Edit> {
    let Origin::Expr(target) = tile.origin else { return None };
    let ast = db::syntax(context.db, placed.unit);
    let is_alone = ast.stmts().any(|(_, stmt)| match stmt {
        Stmt::Assign { targets, annotation: None, value: Some(_) } => *targets == [target],
        _ => false,
    });
    let shape = tile.shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let new = format!(": pl.Tile[[{shape}], pl.{}, pl.MemRef(\"{name}\"), pl.Mem.{space}]", tile.dtype);
    is_alone.then(|| (TextRange::empty(placed.range(tile.origin).end), new))
}

/// Whether the kernel is still planned in whole, with the tile in its allocation.
fn is_taken(context: &Context<'_>, placed: &PlacedUnit<'_>, edit: &Edit, tile: &PlannedTile, name: &str) -> bool {
    let concerned = Concerned::Block(placed.start);
    let before = Said::of(context, &concerned, Code::CapacityExceeded);
    speculative::after(context, std::slice::from_ref(edit), |context| {
        let is_bound = |plan: &Plan| {
            let mut tiles = plan.tiles.iter().filter(|other| other.name == tile.name && other.inserted.is_none());
            let buffer = tiles.find_map(|tile| tile.buffer.map(|buffer| plan.buffer(buffer)).filter(|it| it.declared));
            plan.status == Status::Exact && buffer.is_some_and(|buffer| buffer.name == name)
        };
        let units = concerned.units(context).into_iter();
        let bound = units.flat_map(|placed| context.plans(placed.unit)).filter_map(Outcome::plan).any(is_bound);
        bound && Said::of(context, &concerned, Code::CapacityExceeded).is_as_good_as(&before)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fixture;

    const TEXT: &str = "\
import pypto.language as pl

@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    x = pl.load(a, [0, 0], [64, 64])
    y = pl.exp(x)
    part = pl.slice(y, [32, 64], [0, 0])
    z: pl.Tile[[64, 64], pl.FP32] = pl.neg(y)
    out = pl.store(part, [0, 0], out)
    out = pl.store(z, [0, 0], out)
    return out
";

    /// The text with the tile bound whose name is at the first place that reads `at`.
    fn bound(at: &str) -> Option<String> {
        let fixture = Fixture::new(TEXT);
        let actions = fixture.code_actions(TextRange::empty(fixture.find(at) + 4));
        let edits = actions.into_iter().find_map(|action| match action.effect {
            Effect::Refactor(edits) => Some(edits),
            _ => None,
        })?;
        assert_eq!(edits.len(), 1, "{edits:?}");
        Some(fixture.edited(&edits))
    }

    #[test]
    fn a_tile_gets_memory_of_its_own() {
        let text = bound("    y = ").expect("it can be bound");
        assert!(
            text.contains("    y: pl.Tile[[64, 64], pl.FP32, pl.MemRef(\"y_buffer\"), pl.Mem.Vec] = pl.exp(x)\n"),
            "{text}"
        );
        let fixture = Fixture::new(&text);
        assert_eq!(fixture.diagnostics(), []);
        let hover = fixture.hover(fixture.find("    y") + 4).expect("a tile");
        assert!(hover.markdown.contains("| declared allocation | `y_buffer`, 16384 bytes"), "{}", hover.markdown);
        assert_eq!(
            bound("    x = "),
            Some(TEXT.replace("    x = ", "    x: pl.Tile[[64, 64], pl.FP32, pl.MemRef(\"x_buffer\"), pl.Mem.Vec] = "))
        );
    }

    #[test]
    fn nothing_is_offered_where_the_compiler_would_refuse() {
        assert_eq!(bound("    part = "), None, "a view");
        assert_eq!(bound("    z: "), None, "it has an annotation");
        assert_eq!(bound("    out = "), None, "a tensor");
    }
}
