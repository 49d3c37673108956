//! What is only unknown since something before it is misspelt or does not parse: the slip is reported, and what follows from it is not.

use rustc_hash::FxHashSet;
use tilefit_syntax::TextRange;
use tilefit_syntax::ast::{Ast, Expr, ExprId, Param, Spans, Stmt, StmtId};
use tilefit_syntax::tokens::{TokenKind, tokens};
use tilefit_syntax::unparsed::Unparsed;

/// The slips of a block, in its bytes.
pub(super) struct Slips<'a> {
    pub(super) unparsed: &'a [Unparsed],
    /// Names that nothing defines, and element types.
    pub(super) unknown: Vec<TextRange>,
}

/// The values of a block that rest on slips.
pub(super) struct Echoes<'a> {
    ast: &'a Ast,
    spans: &'a Spans,
    slips: Slips<'a>,
    /// Uses of names, in text order.
    uses: Vec<(TextRange, &'a str)>,
    /// Names of values that rest on slips.
    spoilt: FxHashSet<&'a str>,
}

impl<'a> Echoes<'a> {
    pub(super) fn of(ast: &'a Ast, spans: &'a Spans, text: &'a str, slips: Slips<'a>) -> Echoes<'a> {
        let name = |(id, expr): (ExprId, &'a Expr)| match expr {
            Expr::Name(name) => Some((spans.expr(id), name.as_str())),
            _ => None,
        };
        let mut uses: Vec<_> = ast.exprs().filter_map(name).collect();
        uses.sort_unstable_by_key(|(range, _)| range.start);
        let spoilt = slips.unparsed.iter().flat_map(|unparsed| assigned(&text[unparsed.line.start..unparsed.line.end]));
        let mut echoes = Echoes { ast, spans, spoilt: spoilt.collect(), slips, uses };
        // A loop hands on what the end of its body makes.
        echoes.follow();
        echoes.follow();
        echoes
    }

    fn follow(&mut self) {
        let mut stmts: Vec<(TextRange, &Stmt)> =
            self.ast.stmts().map(|(id, stmt)| (self.spans.stmt(id), stmt)).collect();
        stmts.sort_by_key(|(range, _)| range.start);
        for (_, stmt) in stmts {
            if let Stmt::Function(function) = stmt {
                let is_spoilt = |param: &&Param| param.annotation.is_some_and(|it| self.rests_on_slips(it));
                let names = function.params.iter().filter(is_spoilt).filter_map(|param| self.ast.name(param.name));
                self.spoilt.extend(names.collect::<Vec<_>>());
            }
            let (value, targets) = match stmt {
                Stmt::Assign { targets, value: Some(value), .. } => (*value, targets.clone()),
                Stmt::AugAssign { target, value, .. } => (*value, vec![*target]),
                Stmt::For { target, iter, .. } => (*iter, vec![*target]),
                _ => continue,
            };
            if self.rests_on_slips(value) {
                let targets = targets.into_iter().flat_map(|target| self.names_in(self.spans.expr(target)));
                self.spoilt.extend(targets.collect::<Vec<_>>());
            }
        }
    }

    fn names_in(&self, range: TextRange) -> impl Iterator<Item = &'a str> {
        let first = self.uses.partition_point(|(at, _)| at.start < range.start);
        self.uses[first..].iter().take_while(move |(at, _)| at.start < range.end).map(|(_, name)| *name)
    }

    fn rests_on_slips(&self, expr: ExprId) -> bool {
        let range = self.spans.expr(expr);
        let is_in = |slip: &TextRange| range.start <= slip.start && slip.end <= range.end;
        self.slips.unknown.iter().any(is_in) || self.names_in(range).any(|name| self.spoilt.contains(name))
    }

    /// Whether a place is in a line that does not parse.
    pub(super) fn is_unparsed(&self, at: TextRange) -> bool {
        self.slips.unparsed.iter().any(|slip| slip.line.start <= at.start && at.start < slip.line.end)
    }

    /// Whether what is said at a place of the block follows from a slip.
    pub(super) fn has(&self, at: TextRange) -> bool {
        let around = |id: &StmtId| {
            let range = self.spans.stmt(*id);
            range.start <= at.start && at.end <= range.end
        };
        let innermost = self.ast.stmts().map(|(id, _)| id).filter(around).min_by_key(|id| self.spans.stmt(*id).len());
        let exprs = innermost.map_or_else(Vec::new, |id| self.ast.stmt(id).exprs());
        self.is_unparsed(at) || exprs.into_iter().any(|expr| self.rests_on_slips(expr))
    }
}

/// The names that a line assigns that does not parse.
fn assigned(line: &str) -> impl Iterator<Item = &str> {
    let tokens = tokens(line);
    let end = tokens.iter().position(|token| token.kind == TokenKind::Assign).unwrap_or(0);
    let names = tokens.into_iter().take(end).filter(|token| token.kind == TokenKind::Name);
    names.map(|token| &line[token.range.start..token.range.end])
}
