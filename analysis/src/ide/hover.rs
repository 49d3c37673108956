//! What is known of the name under the cursor: by the language of its kernel, or of a word of the language itself.

use tilefit_pypto::target::Space;
use tilefit_python::element::Dtype;
use tilefit_syntax::TextRange;

use super::cursor_context::CursorContext;
use super::language::Hover;
use super::level::Level;
use super::pypto::inserted_tiles;
use super::{Context, completion, confirmations, languages};

pub(crate) fn hover(context: &Context<'_>, offset: usize) -> Option<Hover> {
    of_name(context, offset).or_else(|| of_word(context, offset))
}

/// Of the language: an operation, a type, an element type, a memory space.
fn of_word(context: &Context<'_>, offset: usize) -> Option<Hover> {
    let place = CursorContext::at(context, offset)?;
    let rest = &place.text[place.cursor.word.end..];
    let end = offset + rest.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(rest.len());
    let place = CursorContext::at(context, end)?;
    let path = place.canonical(&place.cursor.path)?;
    // The name of a module or a type is before no bracket.
    let level = match place.text[place.cursor.word.end..].starts_with('(') {
        true => Level::of_call(context, &place, place.cursor.word.end),
        false => Level::at(context, &place),
    };
    let operation = completion::about_word(&path, level)
        .map(|text| format!("{}\n{}", text.trim_end(), of_statement(context, offset)));
    let markdown = operation.or_else(|| constant(context, &place, &path))?;
    Some(Hover { range: place.word(), markdown })
}

/// What the compiler makes of the statement around the name of an operation.
fn of_statement(context: &Context<'_>, offset: usize) -> String {
    let found = context.units_in(TextRange::empty(offset)).find_map(|placed| {
        let made = context.plans(placed.unit).iter().filter_map(|outcome| {
            let plan = outcome.plan()?;
            let around = plan
                .statements
                .iter()
                .filter(|&&at| placed.range(at).touches(offset) && at.shown() != plan.origin.shown());
            let statement = around.min_by_key(|&&at| placed.range(at).len())?;
            Some(inserted_tiles::of_statement(outcome.kernel(), plan, *statement))
        });
        made.into_iter().find(|made| !made.is_empty())
    });
    found.unwrap_or_default()
}

/// `pl.FP32`, `pl.Mem.Vec`
fn constant(context: &Context<'_>, place: &CursorContext<'_>, path: &str) -> Option<String> {
    if let Some(space) = path.strip_prefix("pl.Mem.").or_else(|| path.strip_prefix("pl.MemorySpace.")) {
        let space = Space::from_name(space)?;
        return Some(format!("memory space {space}: {}", completion::free(context, place.unit, space)));
    }
    let dtype = Dtype::ALL.iter().find(|dtype| path.strip_prefix("pl.") == Some(dtype.name()))?;
    Some(format!("element type {dtype}: {}", completion::element(*dtype)))
}

fn of_name(context: &Context<'_>, offset: usize) -> Option<Hover> {
    let placed = context.units_in(TextRange::empty(offset)).find(|p| p.start <= offset && offset <= p.start + p.len)?;
    let mut hover = languages::of(context, placed.unit).hover(context, &placed, offset)?;
    for words in confirmations::words(context, &placed) {
        hover.markdown = format!("{}\n\n{words}", hover.markdown.trim_end());
    }
    Some(hover)
}

/// Where what shares memory with the tile or buffer at a byte offset is defined, itself included.
pub(super) fn sharing(context: &Context<'_>, offset: usize) -> Vec<TextRange> {
    let mut around = context.units_in(TextRange::empty(offset));
    let found = around.find_map(|placed| languages::of(context, placed.unit).sharing(context, &placed, offset));
    found.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::Fixture;
    use crate::ide::tests::kernel_with;

    /// The first lines of the hover at `$0` in a kernel.
    fn at(line: &str) -> Vec<String> {
        let fixture = Fixture::new(&kernel_with(line));
        let hover = fixture.hover(fixture.cursor());
        hover.map_or_else(Vec::new, |hover| hover.markdown.lines().take(5).map(str::to_owned).collect())
    }

    #[test]
    fn words_of_the_language() {
        assert_eq!(at("y = pl.tile.e$0xp(x)")[..2], ["```python", "pl.tile.exp(tile) -> Tile"]);
        assert_eq!(at("y = pl.e$0xp(x")[4], "The exponential of each element.");
        assert_eq!(at("y = pl.cast(x, pl.FP1$06)"), ["element type FP16: 2 B an element"]);
        assert_eq!(at("y = pl.move(x, pl.Mem.M$0at)"), ["memory space Mat: 480 KiB of 512 KiB free"]);
        assert_eq!(at("for i in pl.ra$0nge(4):")[1], "pl.range(*bounds, init_values=None)");
        assert!(at("y = pl.no_su$0ch(x)").is_empty());
        assert!(at("y = 1  # pl.e$0xp").is_empty());
    }
}
