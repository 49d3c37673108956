//! Which functions call a kernel or a helper of kernels, and which it calls.

use rustc_hash::FxHashMap;
use tilefit_syntax::TextRange;
use tilefit_syntax::ast::Expr;

use crate::db;
use crate::db::FileId;

use super::Context;
use super::navigation;
use super::scopes::{Block, Scopes, SymbolKind};

/// A function of the language.
#[derive(Clone, PartialEq, Eq)]
pub struct CallItem {
    pub file: FileId,
    /// `Program.kernel`
    pub name: String,
    /// Bytes; with decorators and body.
    pub range: TextRange,
    /// Bytes; the name.
    pub selection: TextRange,
}

/// A function at the other end of calls.
#[derive(Clone, PartialEq, Eq)]
pub struct Calls {
    pub item: CallItem,
    /// Bytes of the names that are called, in the file of the caller.
    pub ranges: Vec<TextRange>,
}

/// The function whose name is at a byte offset.
pub(crate) fn call_item(context: &Context<'_>, offset: usize) -> Option<CallItem> {
    let at = navigation::definition(context, offset)?;
    let there = Context::new(context.db, at.file.0);
    let scopes = Scopes::new(&there);
    let (_, symbol) = scopes.symbol_at(at.range.start).filter(|(_, symbol)| symbol.kind == SymbolKind::Kernel)?;
    item(&scopes, at.file, scopes.kernel_named(symbol.scope, &symbol.name)?)
}

fn item<'db>(scopes: &Scopes<'_, 'db>, file: FileId, block: Block<'db>) -> Option<CallItem> {
    let (selection, name) = scopes.function_name(block)?;
    // Blank lines up to the next function are no part of this one.
    let range = TextRange::new(block.start, block.start + block.text.trim_end().len());
    Some(CallItem { file, name, range, selection })
}

/// The functions that call the one whose name is at a byte offset.
pub(crate) fn incoming_calls(context: &Context<'_>, offset: usize) -> Vec<Calls> {
    let mentions = navigation::references(context, offset).unwrap_or_default();
    let mut all: Vec<Calls> = Vec::new();
    for mention in mentions.into_iter().filter(|mention| !mention.writes) {
        let there = Context::new(context.db, mention.file.0);
        let scopes = Scopes::new(&there);
        let block = scopes.blocks().find(|block| block.holds(mention.range));
        let Some(caller) = block.and_then(|block| item(&scopes, mention.file, block)) else { continue };
        match all.iter_mut().find(|calls| calls.item == caller) {
            Some(calls) => calls.ranges.push(mention.range),
            None => all.push(Calls { item: caller, ranges: vec![mention.range] }),
        }
    }
    all
}

/// The functions of the language that the one whose name is at a byte offset calls.
pub(crate) fn outgoing_calls(context: &Context<'_>, offset: usize) -> Vec<Calls> {
    let scopes = Scopes::new(context);
    let mut all: Vec<Calls> = Vec::new();
    let Some(caller) = scopes.blocks().find(|block| block.holds(TextRange::empty(offset))) else { return all };
    let parsed = db::parsed(context.db, caller.unit);
    // Looking a name up reads the whole function; a kernel calls few functions many times.
    let mut callees: FxHashMap<Vec<&str>, Option<CallItem>> = FxHashMap::default();
    for (_, expr) in parsed.ast.exprs() {
        let Expr::Call { func, .. } = expr else { continue };
        // `kernel[grid](…)` launches `kernel`.
        let func = match parsed.ast.expr(*func) {
            Expr::Subscript { value, .. } => *value,
            _ => *func,
        };
        let Some(path) = parsed.ast.dotted(func) else { continue };
        let Some(name) = path.last() else { continue };
        let end = parsed.spans.expr(func).end + caller.start;
        let range = TextRange::new(end - name.len(), end);
        let callee = callees.entry(path).or_insert_with(|| call_item(context, range.start));
        let Some(callee) = callee.clone() else { continue };
        match all.iter_mut().find(|calls| calls.item == callee) {
            Some(calls) => calls.ranges.push(range),
            None => all.push(Calls { item: callee, ranges: vec![range] }),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fixture;

    const TEXT: &str = "\
import pypto.language as pl

@pl.inline
def helper(x):
    return pl.exp(x)

@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[[64, 64], pl.FP32]):
        x = helper(pl.load(a, [0, 0], [64, 64]))
        return helper(x)

    @pl.function
    def main(self, a: pl.Tensor[[64, 64], pl.FP32]):
        return self.k(a)
";

    #[test]
    fn helpers_kernels_and_hosts() {
        let fixture = Fixture::new(TEXT);
        let after = |what: &str| fixture.find(what) + what.len();
        let shown = |calls: Vec<Calls>| {
            calls.iter().map(|calls| format!("{} {}", calls.item.name, calls.ranges.len())).collect::<Vec<_>>()
        };
        let item = fixture.call_item(after("self.")).expect("a kernel");
        assert_eq!((item.name.as_str(), fixture.at(item.selection)), ("P.k", "k"));
        assert!(fixture.call_item(after("return pl.")).is_none());
        assert_eq!(shown(fixture.incoming_calls(after("def "))), ["P.k 2"]);
        assert_eq!(shown(fixture.outgoing_calls(after("def k"))), ["helper 2"]);
        assert_eq!(shown(fixture.incoming_calls(after("def k"))), ["P.main 1"]);
        assert_eq!(shown(fixture.outgoing_calls(after("def main"))), ["P.k 1"]);
    }
}
