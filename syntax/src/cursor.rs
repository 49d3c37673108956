//! What a position stands in, read from the text before it: the dotted name that is being typed and the brackets around it.
//! No tree is needed, because at that moment there often is none worth having.

use crate::tokens::{self, Token, TokenKind};
use crate::{TextRange, outline};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor<'t> {
    /// The dotted name that ends at the position; its last part may be empty (`pl.` is `["pl", ""]`). The first is empty
    /// where something else than a name is before the dot.
    pub path: Vec<&'t str>,
    /// Bytes of the last part, up to the position.
    pub word: TextRange,
    /// The brackets that are open, the innermost last.
    pub open: Vec<Open<'t>>,
    /// Where the logical line starts.
    pub line: usize,
    /// An expression may start here. False after one (`x |`), and where a name is being made up (`def |`).
    pub expects_operand: bool,
}

/// A bracket that is open at a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open<'t> {
    /// `(`, `[` or `{`.
    pub bracket: u8,
    pub at: usize,
    /// The dotted name before it; empty for lists, tuples and parentheses.
    pub callee: Vec<&'t str>,
    /// Arguments that are finished.
    pub commas: usize,
    /// Of the argument at the position.
    pub keyword: Option<&'t str>,
    /// Of the arguments before it, and its own.
    pub keywords: Vec<&'t str>,
}

/// Keywords after which a name is made up or a module is named.
const BINDERS: [&str; 7] = ["as", "class", "def", "for", "from", "import", "lambda"];

impl<'t> Cursor<'t> {
    /// `None` in comments and strings. `text` is a block, `offset` is clamped to it.
    pub fn at(text: &'t str, offset: usize) -> Option<Cursor<'t>> {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = outline::logical_line_at(text, offset);
        let before = &text[line..offset];
        let tokens = tokens::tokens(before);
        let ends_here = |token: &Token| token.range.end == before.len();
        let in_text = tokens.iter().any(|token| match token.kind {
            TokenKind::Comment => ends_here(token),
            TokenKind::String { closed } => ends_here(token) && !closed,
            _ => false,
        });
        if in_text {
            return None;
        }
        let mut reader = Reader { text: before, path: Vec::new(), open: Vec::new(), previous: None, before_it: None };
        tokens.iter().for_each(|token| reader.token(*token));
        let previous = reader.previous;
        let word_of = |token: Option<Token>| token.filter(|it| it.kind == TokenKind::Name).map(|it| reader.word(it));
        let is_operand = |token: Option<Token>| match token.map(|token| token.kind) {
            Some(TokenKind::Name) => !word_of(token).is_some_and(tokens::is_keyword),
            Some(TokenKind::Number | TokenKind::String { .. } | TokenKind::Close(_)) => true,
            _ => false,
        };
        let is_binder = |token: Option<Token>| word_of(token).is_some_and(|word| BINDERS.contains(&word));
        let (path, word, expects_operand) = match previous {
            Some(token) if token.kind == TokenKind::Name && ends_here(&token) => {
                let path = if reader.path.is_empty() { vec![reader.word(token)] } else { reader.path.clone() };
                let fits = !is_binder(reader.before_it) && (path.len() > 1 || !is_operand(reader.before_it));
                (path, token.range, fits)
            }
            Some(token) if token.kind == TokenKind::Dot => {
                let path = reader.path.iter().copied().chain([""]).collect();
                (path, TextRange::empty(before.len()), true)
            }
            other => (vec![""], TextRange::empty(before.len()), !is_operand(other) && !is_binder(other)),
        };
        Some(Cursor { path, word: word.shifted(line), open: shifted(reader.open, line), line, expects_operand })
    }

    /// The innermost call that the position is an argument of, lists inside of its arguments not counted.
    pub fn call(&self) -> Option<&Open<'t>> {
        self.open.iter().rev().find(|open| !open.callee.is_empty()).filter(|open| open.bracket == b'(')
    }
}

fn shifted(open: Vec<Open<'_>>, by: usize) -> Vec<Open<'_>> {
    open.into_iter().map(|open| Open { at: open.at + by, ..open }).collect()
}

struct Reader<'t> {
    text: &'t str,
    /// The dotted name that the last tokens are.
    path: Vec<&'t str>,
    open: Vec<Open<'t>>,
    previous: Option<Token>,
    before_it: Option<Token>,
}

impl<'t> Reader<'t> {
    fn word(&self, token: Token) -> &'t str {
        &self.text[token.range.start..token.range.end]
    }

    fn token(&mut self, token: Token) {
        let previous = self.previous.map(|previous| previous.kind);
        match token.kind {
            TokenKind::Name => {
                let word = self.word(token);
                match previous {
                    Some(TokenKind::Dot) => self.path.push(word),
                    _ if tokens::is_keyword(word) => self.path.clear(),
                    _ => self.path = vec![word],
                }
            }
            TokenKind::Dot => {
                if previous != Some(TokenKind::Name) || self.path.is_empty() {
                    self.path = vec![""];
                }
            }
            TokenKind::Open(bracket) => {
                let callee = std::mem::take(&mut self.path);
                let callee = if previous == Some(TokenKind::Name) { callee } else { Vec::new() };
                let at = token.range.start;
                self.open.push(Open { bracket, at, callee, commas: 0, keyword: None, keywords: Vec::new() });
            }
            TokenKind::Close(_) => {
                self.open.pop();
                self.path.clear();
            }
            TokenKind::Comma => {
                self.path.clear();
                if let Some(open) = self.open.last_mut() {
                    open.commas += 1;
                    open.keyword = None;
                }
            }
            TokenKind::Assign => {
                let starts = |it: Token| matches!(it.kind, TokenKind::Open(_) | TokenKind::Comma);
                if previous == Some(TokenKind::Name)
                    && self.before_it.is_some_and(starts)
                    && let (Some(open), [name]) = (self.open.last_mut(), self.path.as_slice())
                {
                    open.keyword = Some(name);
                    open.keywords.push(name);
                }
                self.path.clear();
            }
            TokenKind::Comment => return,
            TokenKind::Number | TokenKind::String { .. } | TokenKind::Colon | TokenKind::Other => self.path.clear(),
        }
        self.before_it = self.previous;
        self.previous = Some(token);
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    /// The cursor is at `$0`.
    #[track_caller]
    fn check(text: &str, expected: Expect) {
        let offset = text.find("$0").expect("a cursor");
        let text = text.replacen("$0", "", 1);
        let shown = match Cursor::at(&text, offset) {
            None => "text".to_owned(),
            Some(cursor) => {
                let open = cursor.open.iter().map(|open| {
                    let keyword = open.keyword.map_or(String::new(), |keyword| format!(" {keyword}="));
                    format!(" {}{}{}{keyword}", open.callee.join("."), open.bracket as char, open.commas)
                });
                let operand = if cursor.expects_operand { "" } else { " no operand" };
                format!("{}{}{operand}", cursor.path.join("."), open.collect::<String>())
            }
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn dotted_names() {
        check("x = pl.tile.$0\n", expect!["pl.tile."]);
        check("x = pl.tile.ad$0d(a)\n", expect!["pl.tile.ad"]);
        check("x = f(a).$0", expect!["."]);
        check("x = 1.$0", expect![" no operand"]);
        check("x $0", expect![" no operand"]);
        check("return $0", expect![""]);
        check("for $0", expect![" no operand"]);
        check("def nam$0", expect!["nam no operand"]);
    }

    #[test]
    fn arguments() {
        check("x = pl.load(a, [0, 0], [64, $0", expect![" pl.load(2 [1"]);
        check("x = pl.load(a, target_memory=pl.Mem.$0)", expect!["pl.Mem. pl.load(1 target_memory="]);
        check("x = pl.load(a, b == $0", expect![" pl.load(1"]);
        check("x: pl.Tile[[64], $0", expect![" pl.Tile[1"]);
        check("x = pl.add(pl.exp(a), $0", expect![" pl.add(1"]);
    }

    #[test]
    fn a_line_that_is_not_finished_ends_before_the_next_statement() {
        check("    a = pl.load(x, [0\n    b = pl.$0\n", expect!["pl."]);
        check("    a = pl.load(\n        x, $0\n    b = pl.exp(a)\n", expect![" pl.load(1"]);
    }

    #[test]
    fn nothing_in_text() {
        check("x = 'pl.$0'", expect!["text"]);
        check("x = 1  # pl.$0", expect!["text"]);
        check("\"\"\"\npl.$0\n\"\"\"", expect!["text"]);
        check("x = 'a' + $0", expect![""]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_cursors(text in "[a-c值(){}\\[\\]'\"\\\\#.,= \n]{0,40}", offset in 0_usize..60) {
            if let Some(cursor) = Cursor::at(&text, offset) {
                proptest::prop_assert!(text.get(cursor.word.start..cursor.word.end).is_some());
                proptest::prop_assert!(!cursor.path.is_empty());
            }
        }
    }
}
