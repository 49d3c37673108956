//! Statements of a block as lines of its text, for what is shown and written between them.

use tilefit_python::finding::{Node, Origin};
use tilefit_syntax::TextRange;
use tilefit_syntax::ast::{Ast, StmtId};

use super::PlacedUnit;

/// All offsets count from the start of the block.
pub(super) struct Statements<'a> {
    pub(super) ast: &'a Ast,
    pub(super) placed: &'a PlacedUnit<'a>,
    pub(super) text: &'a str,
}

/// A statement that has its lines for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lines<'a> {
    pub(super) statement: TextRange,
    pub(super) indentation: &'a str,
    /// After the last line, before its line break.
    pub(super) end: usize,
}

impl<'a> Statements<'a> {
    /// The innermost statement around a node.
    pub(super) fn around(&self, origin: Origin) -> Option<TextRange> {
        let node = match origin.shown() {
            Node::Stmt(stmt) => return Some(self.placed.spans.stmt(stmt)),
            Node::Expr(expr) => self.placed.spans.expr(expr),
        };
        let ranges = self.ast.stmts().map(|(stmt, _)| self.placed.spans.stmt(stmt));
        ranges.filter(|range| range.start <= node.start && node.end <= range.end).min_by_key(|range| range.len())
    }

    /// The lines of the innermost statement around a node, unless it shares them with another statement.
    pub(super) fn lines(&self, origin: Origin) -> Option<Lines<'a>> {
        let statement = self.around(origin)?;
        let before = self.text.get(..statement.start)?;
        let indentation = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
        let behind = self.text.get(statement.end..)?;
        let rest = &behind[..behind.find(['\n', '\r']).unwrap_or(behind.len())];
        let is_alone = indentation.bytes().all(|byte| matches!(byte, b' ' | b'\t'))
            && (rest.trim_start().is_empty() || rest.trim_start().starts_with('#'));
        is_alone.then_some(Lines { statement, indentation, end: statement.end + rest.len() })
    }

    /// Whether two statements belong to one list: as deep as each other, and nothing between them is less deep.
    pub(super) fn are_in_one_list(&self, first: Lines<'_>, second: Lines<'_>) -> bool {
        let between = self.text.get(first.statement.start..second.statement.start).unwrap_or_default();
        let depth = first.indentation.len();
        let is_deep = |line: &str| {
            let code = line.trim_start();
            code.is_empty() || code.starts_with('#') || line.len() - code.len() >= depth
        };
        // The first of these lines lacks its indentation, the last one ends before its code.
        first.indentation == second.indentation
            && first.statement.start <= second.statement.start
            && between.lines().skip(1).all(is_deep)
    }

    /// The edit that writes a statement in the place of another one, in the coordinates of the file.
    pub(super) fn instead(&self, lines: Lines<'_>, new: &str) -> (TextRange, String) {
        let TextRange { start, end } = lines.statement;
        (TextRange::new(start + self.placed.start, end + self.placed.start), new.to_owned())
    }

    /// The edits that take statements away, in the coordinates of the file. A list that would be empty gets a `pass`.
    pub(super) fn without(&self, away: &[Lines<'_>]) -> Vec<(TextRange, String)> {
        let is_away = |range: TextRange| away.iter().any(|lines| lines.statement == range);
        let others: Vec<Lines<'_>> = self
            .ast
            .stmts()
            .filter(|(stmt, _)| !is_away(self.placed.spans.stmt(*stmt)))
            .filter_map(|(stmt, _)| self.lines(Origin::Stmt(stmt)).or_else(|| self.head(stmt)))
            .collect();
        let in_one_list = |a: Lines<'_>, b: Lines<'_>| self.are_in_one_list(a, b) || self.are_in_one_list(b, a);
        let mut edits: Vec<(TextRange, String)> = Vec::new();
        for (number, lines) in away.iter().enumerate() {
            let keeps_list = others.iter().any(|other| in_one_list(*other, *lines))
                || away[..number].iter().any(|other| in_one_list(*other, *lines));
            if keeps_list {
                let start = lines.statement.start - lines.indentation.len();
                let behind = self.text.get(lines.end..).unwrap_or_default();
                let end = lines.end + if behind.starts_with("\r\n") { 2 } else { usize::from(!behind.is_empty()) };
                edits.push((TextRange::new(start + self.placed.start, end + self.placed.start), String::new()));
            } else {
                edits.push(self.instead(*lines, "pass"));
            }
        }
        edits
    }

    /// A statement that holds others, by its first line.
    fn head(&self, stmt: StmtId) -> Option<Lines<'a>> {
        let statement = self.placed.spans.stmt(stmt);
        let before = self.text.get(..statement.start)?;
        let indentation = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
        let is_alone = indentation.bytes().all(|byte| matches!(byte, b' ' | b'\t'));
        is_alone.then_some(Lines { statement, indentation, end: statement.end })
    }

    /// The edit that writes a statement before another one, in the coordinates of the file.
    pub(super) fn before(&self, lines: Lines<'_>, new: &str) -> (TextRange, String) {
        let at = TextRange::empty(lines.statement.start + self.placed.start);
        (at, format!("{new}\n{}", lines.indentation))
    }

    /// The edit that writes a statement after another one, in the coordinates of the file.
    pub(super) fn after(&self, lines: Lines<'_>, new: &str) -> (TextRange, String) {
        let at = TextRange::empty(lines.end + self.placed.start);
        (at, format!("\n{}{new}", lines.indentation))
    }
}
