//! InCore functions on tiles.

use super::author::Author;
use super::operations::Level;
use super::{finish, names, parameters_that_are_scalars, result_type, sizes, taste};
use crate::random::Random;

pub(super) fn text(random: &mut Random) -> String {
    let taste = taste(random, Level::Tile);
    let budget = random.of(&[4, 8, 12, 20, 30]);
    let is_named = random.percent(12);
    let mut author = Author::new(random, Level::Tile, taste);
    author.scalars = parameters_that_are_scalars();
    author.budget = budget;
    author.depth = 2;
    author.named = is_named;
    author.dynamic = if author.random.percent(15) { 50 } else { 0 };
    author.statements(budget);
    finish(&mut author);
    let (parameters, outputs) = author.signature();
    let declared = author.declarations();
    let (parameters, result, body) = (parameters.join(", "), result_type(&outputs), author.lines.join("\n"));
    let imported = sizes::import(&body);
    format!(
        "import pypto.language as pl\n{imported}\n{declared}\n@pl.program\nclass Random:\n    @pl.function(type=pl.FunctionType.InCore)\n    def kernel(self, {parameters}) -> {result}:\n{body}\n        return {}\n",
        names(&outputs)
    )
}
