//! From a name to where it is bound, to every place that mentions it, and to another name.

use tilefit_syntax::TextRange;

use crate::db::FileId;
use crate::db::{SourceFile, Workspace};

use super::scopes::{Scopes, Symbol, SymbolKind};
use super::{Context, hover};

/// A name in a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Mention {
    pub file: FileId,
    /// Bytes.
    pub range: TextRange,
    /// Binds the name.
    pub writes: bool,
}

/// A name that can be replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renameable {
    /// Bytes.
    pub range: TextRange,
    pub name: String,
}

/// Where the name at a byte offset is bound; for an imported one, in the file that it comes from, if that is known.
pub(crate) fn definition(context: &Context<'_>, offset: usize) -> Option<Mention> {
    let scopes = shown(context)?;
    let (range, symbol) = scopes.symbol_at(offset)?;
    if let Some((file, original)) = scopes.imported_from(&symbol) {
        let there = Scopes::of(context, file);
        if let Some(origin) = there.exported(&original)
            && let Some(range) = there.definition(&origin, TextRange::empty(usize::MAX))
        {
            return Some(Mention { file: FileId(file), range, writes: true });
        }
    }
    let range = scopes.definition(&symbol, range)?;
    Some(Mention { file: FileId(context.file), range, writes: true })
}

/// A name that a module offers to others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    pub name: String,
    /// Of the file that defines it.
    pub path: String,
}

/// The name at a byte offset, if other files can import it.
pub(crate) fn exported(context: &Context<'_>, offset: usize) -> Option<Exported> {
    let scopes = shown(context)?;
    let (file, name) = match scopes.symbol_at(offset) {
        None => (context.file, scopes.module_constant_at(offset)?.to_owned()),
        Some((_, symbol)) => match scopes.imported_from(&symbol) {
            Some(origin) => origin,
            None if symbol.scope.is_none() => (context.file, symbol.name),
            None => return None,
        },
    };
    Some(Exported { name, path: file.path(context.db).clone() })
}

/// Every mention of the name at a byte offset, also in the files that are known to import it.
pub(crate) fn references(context: &Context<'_>, offset: usize) -> Option<Vec<Mention>> {
    let scopes = shown(context)?;
    let (_, symbol) = scopes.symbol_at(offset)?;
    let (file, symbol) = match scopes.imported_from(&symbol) {
        Some((file, original)) => (file, Scopes::of(context, file).exported(&original)?),
        None => (context.file, symbol),
    };
    Some(mentions(context, file, &symbol))
}

fn mentions<'db>(context: &Context<'db>, file: SourceFile, symbol: &Symbol<'db>) -> Vec<Mention> {
    let occurrences = |file: SourceFile, symbol: &Symbol<'db>| {
        let found = Scopes::of(context, file).occurrences(symbol).into_iter();
        found.map(move |it| Mention { file: FileId(file), range: it.range, writes: it.writes })
    };
    let mut all: Vec<Mention> = occurrences(file, symbol).collect();
    if symbol.scope.is_some() {
        return all;
    }
    let known = Workspace::try_get(context.db).map(|workspace| workspace.files(context.db));
    for &other in known.into_iter().flat_map(|files| files.values()).filter(|&&other| other != file) {
        let scopes = Scopes::of(context, other);
        if let Some(imported) = scopes.exported(&symbol.name)
            && scopes.imported_from(&imported) == Some((file, symbol.name.clone()))
        {
            all.extend(occurrences(other, &imported));
        }
        let through_module = scopes.through_module(file, &symbol.name).into_iter();
        all.extend(through_module.map(|it| Mention { file: FileId(other), range: it.range, writes: it.writes }));
    }
    all
}

/// The name at a byte offset, if it is one that can be replaced.
pub(crate) fn prepare_rename(context: &Context<'_>, offset: usize) -> Option<Renameable> {
    let scopes = shown(context)?;
    let (range, symbol) = scopes.symbol_at(offset)?;
    // The compiler drops the first parameter of a method.
    let is_self = symbol.name == "self" && symbol.kind == SymbolKind::Local;
    (!is_self).then_some(Renameable { range, name: symbol.name })
}

/// What to replace so that the name at a byte offset is `new`, or why that cannot be done.
pub(crate) fn rename(context: &Context<'_>, offset: usize, new: String) -> Result<Vec<Mention>, String> {
    let nothing = || "there is no name of a kernel here".to_owned();
    let scopes = shown(context).ok_or_else(nothing)?;
    prepare_rename(context, offset).ok_or_else(nothing)?;
    let (_, symbol) = scopes.symbol_at(offset).ok_or_else(nothing)?;
    if symbol.name == new {
        return Ok(Vec::new());
    }
    if let Some(obstacle) = scopes.obstacle(&symbol, &new) {
        return Err(obstacle);
    }
    let all = mentions(context, context.file, &symbol);
    let mut others: Vec<SourceFile> =
        all.iter().map(|mention| mention.file.0).filter(|&it| it != context.file).collect();
    others.dedup();
    for other in others {
        let scopes = Scopes::of(context, other);
        let imported = scopes.exported(&symbol.name).filter(|it| scopes.imported_from(it).is_some());
        if let Some(why) = imported.and_then(|imported| scopes.collision(&imported, &new)) {
            return Err(format!("{}: {why}", other.path(context.db)));
        }
    }
    Ok(all)
}

/// The mentions of the name at a byte offset in this file; by setting, of a tile those that share its memory too.
pub(crate) fn highlights(context: &Context<'_>, offset: usize) -> Vec<Mention> {
    let file = FileId(context.file);
    let Some(scopes) = shown(context) else { return Vec::new() };
    let Some((range, symbol)) = scopes.symbol_at(offset) else { return Vec::new() };
    let own = scopes.occurrences(&symbol).into_iter();
    let mut all: Vec<Mention> = own.map(|it| Mention { file, range: it.range, writes: it.writes }).collect();
    if context.config().highlight_group {
        for range in hover::sharing(context, range.start) {
            if !all.iter().any(|mention| mention.range == range) {
                all.push(Mention { file, range, writes: true });
            }
        }
    }
    all
}

fn shown<'c, 'db>(context: &'c Context<'db>) -> Option<Scopes<'c, 'db>> {
    (!context.file.excluded(context.db)).then(|| Scopes::new(context))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::Fixture;

    const KERNELS: &str = "\
import pypto.language as pl

ROWS = 64
OTHER = 1

@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[[ROWS, 64], pl.FP32], out: pl.Out[pl.Tensor[[ROWS, 64], pl.FP32]]):
        x = pl.load(a, [0, 0], [ROWS, 64])
        y = pl.exp(x)
        y = pl.neg(y)
        for i in pl.range(4):
            y = pl.add(y, x)
        out = pl.store(y, [0, 0], out)
        return out

    @pl.function(type=pl.FunctionType.InCore)
    def l(self, a: pl.Tensor[[ROWS, 64], pl.FP32]):
        x = pl.load(a, [0, 0], [ROWS, 64])
        return x

    @pl.function
    def main(self, t: pl.Tensor[[ROWS, 64], pl.FP32], o: pl.Tensor[[ROWS, 64], pl.FP32]):
        o = self.k(t, out=o)
        return o

def plain(x):
    return x + OTHER
";

    /// The offset of the `nth` (from 0) place that reads `what`; `|` in it is the cursor.
    fn offset(text: &str, what: &str, nth: usize) -> usize {
        let plain = what.replace('|', "");
        let at = text.match_indices(&plain).nth(nth).expect("in the fixture").0;
        at + what.find('|').expect("a cursor")
    }

    fn place(text: &str, at: usize) -> String {
        let line = text[..at].matches('\n').count() + 1;
        let column = at - text[..at].rfind('\n').map_or(0, |at| at + 1) + 1;
        format!("{line}:{column}")
    }

    fn at(what: &str, nth: usize) -> String {
        let fixture = Fixture::new(KERNELS);
        let offset = offset(KERNELS, what, nth);
        let references = fixture.references(offset);
        let mut shown = fixture.definition(offset).map_or(String::new(), |it| place(KERNELS, it.range.start));
        shown.push(':');
        for mention in references.unwrap_or_default() {
            shown.push_str(&format!(
                " {}{}",
                place(KERNELS, mention.range.start),
                if mention.writes { "w" } else { "" }
            ));
        }
        shown
    }

    #[test]
    fn tiles() {
        // The second `y` of `y = pl.neg(y)` is that of the line above.
        expect!["11:9: 11:9w 12:9w 12:20 14:13w 14:24 15:24"].assert_eq(&at("pl.neg(|y", 0));
        expect!["10:9: 10:9w 11:20 14:27"].assert_eq(&at("pl.exp(|x", 0));
        expect!["20:9: 20:9w 21:16"].assert_eq(&at("return |x\n\n    @", 0));
        expect!["9:52: 9:52w 15:9w 15:35 16:16 25:23"].assert_eq(&at("[0, 0], |out", 0));
    }

    #[test]
    fn kernels_and_constants() {
        expect!["9:9: 9:9w 25:18"].assert_eq(&at("self.|k", 0));
        expect!["9:52: 9:52w 15:9w 15:35 16:16 25:23"].assert_eq(&at("t, o|ut=o", 0));
        expect!["3:1: 3:1w 9:31 9:75 10:33 19:31 20:33 24:34 24:69"].assert_eq(&at("R|OWS = 64", 0));
    }

    #[test]
    fn names_of_plain_python_are_not_ours() {
        expect![":"].assert_eq(&at("return x| +", 0));
        expect![":"].assert_eq(&at("O|THER = 1", 0));
        expect![":"].assert_eq(&at("def pl|ain", 0));
        expect![":"].assert_eq(&at("p|l.load", 0));
    }

    #[track_caller]
    fn check_rename(what: &str, new: &str, expected: Expect) {
        let fixture = Fixture::new(KERNELS);
        let shown = match fixture.rename(offset(KERNELS, what, 0), new.to_owned()) {
            Err(why) => why,
            Ok(mentions) => {
                let edits: Vec<_> = mentions.iter().map(|mention| (mention.range, new.to_owned())).collect();
                let text = fixture.edited(&edits);
                let changed = KERNELS.lines().zip(text.lines()).filter(|(old, new)| old != new);
                changed.map(|(_, new)| format!("{}\n", new.trim())).collect()
            }
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn rename_replaces_what_is_meant_and_nothing_else() {
        check_rename(
            "pl.neg(|y",
            "tile",
            expect![[r#"
            tile = pl.exp(x)
            tile = pl.neg(tile)
            tile = pl.add(tile, x)
            out = pl.store(tile, [0, 0], out)
        "#]],
        );
        check_rename(
            "def |k",
            "first",
            expect![[r#"
            def first(self, a: pl.Tensor[[ROWS, 64], pl.FP32], out: pl.Out[pl.Tensor[[ROWS, 64], pl.FP32]]):
            o = self.first(t, out=o)
        "#]],
        );
        check_rename(
            "[0, 0], |out",
            "result",
            expect![[r#"
            def k(self, a: pl.Tensor[[ROWS, 64], pl.FP32], result: pl.Out[pl.Tensor[[ROWS, 64], pl.FP32]]):
            result = pl.store(y, [0, 0], result)
            return result
            o = self.k(t, result=o)
        "#]],
        );
        check_rename("y = pl.exp(|x)", "y", expect!["`y` is already defined where `x` is used"]);
        check_rename("y = pl.exp(|x)", "not a name", expect!["`not a name` is not a valid name"]);
        check_rename("y = pl.exp(|x)", "ROWS", expect!["`ROWS` is already defined where `x` is used"]);
        check_rename("O|THER = 1", "MORE", expect!["there is no name of a kernel here"]);
        check_rename("|self", "me", expect!["there is no name of a kernel here"]);
    }

    #[test]
    fn constants_of_other_files() {
        let fixture = Fixture::new(
            "\
from sizes import ROWS
import pypto.language as pl

@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[ROWS, 64], pl.FP32]):
    x = pl.load(a, [0, 0], [$0ROWS, 64])
# file: /w/sizes.py
ROWS = 64
",
        );
        let definition = fixture.definition(fixture.cursor()).expect("a definition");
        let path = fixture.host.snapshot().path(definition.file).to_owned();
        assert_eq!((path.as_str(), definition.range.start), ("/w/sizes.py", 0));
        assert_eq!(fixture.references(fixture.cursor()).expect("references").len(), 4);
        let refused = fixture.rename(fixture.cursor(), "N".to_owned()).err();
        assert_eq!(refused.as_deref(), Some("`ROWS` is imported; rename it where it is defined"));
    }
}
