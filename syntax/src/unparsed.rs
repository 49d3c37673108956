//! Why a place does not parse, as far as its tokens say: the trees of half-typed code only say where.

use crate::tokens::{Token, TokenKind, tokens};
use crate::{TextRange, outline};

/// A logical line that does not parse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unparsed {
    /// Where it begins and ends; one line may have several places.
    pub line: TextRange,
    /// What is to be looked at.
    pub at: TextRange,
    pub problem: Problem,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Problem {
    /// This bracket.
    NeverClosed(char),
    /// This bracket closes none.
    ClosesNothing(char),
    /// At the end of the header of a loop, a branch, a scope, ….
    NoColon,
    Other,
}

/// Statements whose first line ends with a colon.
const HEADERS: [&str; 11] = ["class", "def", "elif", "else", "except", "finally", "for", "if", "try", "while", "with"];

/// The logical line of a block around an offset, without the white space around it.
pub fn line_around(text: &str, offset: usize) -> TextRange {
    let line = outline::logical_line_around(text, offset);
    let content = &text[line.start..line.end];
    let start = line.start + content.len() - content.trim_start().len();
    TextRange::new(start, (line.start + content.trim_end().len()).max(start))
}

/// What is wrong with the logical line of a block at an offset that does not parse.
pub fn at(text: &str, offset: usize) -> Unparsed {
    let line = line_around(text, offset);
    let tokens = tokens(&text[line.start..line.end]);
    let mut open: Vec<&Token> = Vec::new();
    let mut unmatched = None;
    for token in &tokens {
        match token.kind {
            TokenKind::Open(_) => open.push(token),
            TokenKind::Close(bracket) => match open.pop() {
                Some(opening) if opening.kind == TokenKind::Open(opposite(bracket)) => {}
                _ => unmatched = unmatched.or(Some((token, bracket))),
            },
            _ => {}
        }
    }
    let found = |at: TextRange, problem| Unparsed { line, at: at.shifted(line.start), problem };
    if let Some((token, bracket)) = unmatched {
        return found(token.range, Problem::ClosesNothing(bracket.into()));
    }
    if let Some(&&Token { kind: TokenKind::Open(bracket), range }) = open.last() {
        // The bracket with what stands after it: one character is hard to see.
        let end =
            text[line.start + range.start..line.end].find(['\n', '\r']).map_or(line.len(), |end| range.start + end);
        return found(TextRange::new(range.start, end), Problem::NeverClosed(bracket.into()));
    }
    let word = |token: &Token| &text[line.start + token.range.start..line.start + token.range.end];
    let is_header = tokens.first().is_some_and(|first| HEADERS.contains(&word(first)));
    let mut code = tokens.iter().filter(|token| token.kind != TokenKind::Comment);
    match code.next_back() {
        Some(last) if is_header && !tokens.iter().any(|token| token.kind == TokenKind::Colon) => {
            found(last.range, Problem::NoColon)
        }
        Some(last) => found(TextRange::new(0, last.range.end), Problem::Other),
        None => found(TextRange::new(0, line.len()), Problem::Other),
    }
}

fn opposite(bracket: u8) -> u8 {
    match bracket {
        b')' => b'(',
        b']' => b'[',
        _ => b'{',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, shown: &str, problem: Problem) {
        let found = at(text, text.len() / 2);
        assert_eq!((&text[found.at.start..found.at.end], found.problem), (shown, problem));
    }

    #[test]
    fn what_is_wrong_with_a_line() {
        check("    y = pl.exp(x\n", "(x", Problem::NeverClosed('('));
        check("    y = pl.load(x, [0, 0\n", "[0, 0", Problem::NeverClosed('['));
        check("    y = pl.exp(x))\n", ")", Problem::ClosesNothing(')'));
        check("    y = pl.exp(x]\n", "]", Problem::ClosesNothing(']'));
        check("    for i in pl.range(4)  # a loop\n", ")", Problem::NoColon);
        check("    y = pl.exp(x) 4  # why\n", "y = pl.exp(x) 4", Problem::Other);
        check("", "", Problem::Other);
    }
}
