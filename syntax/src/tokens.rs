//! The tokens of a text, read without a tree, so that half-typed code reads like any other.

use crate::TextRange;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// An identifier or a keyword.
    Name,
    Number,
    /// Followed by the tokens of its `{…}` where it is an f-string.
    String {
        closed: bool,
    },
    Comment,
    Open(u8),
    Close(u8),
    Comma,
    Colon,
    Dot,
    /// `=` by itself.
    Assign,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    pub kind: TokenKind,
    /// Bytes.
    pub range: TextRange,
}

/// Words that are no names.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
    "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

pub fn is_keyword(word: &str) -> bool {
    KEYWORDS.binary_search(&word).is_ok()
}

/// True for what Python takes as a new name.
pub fn is_identifier(word: &str) -> bool {
    let mut chars = word.chars();
    let starts = chars.next().is_some_and(|c| c == '_' || c.is_alphabetic());
    starts && chars.all(is_name_char) && !is_keyword(word)
}

fn is_name_char(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// The tokens of a text, without white space.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut lexer = Lexer { text, at: 0, tokens: Vec::new() };
    while let Some(first) = lexer.peek() {
        lexer.token(first);
    }
    lexer.tokens
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    tokens: Vec<Token>,
}

impl Lexer<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn skip_while(&mut self, wanted: impl Fn(char) -> bool) {
        let rest = &self.text[self.at..];
        self.at += rest.find(|c| !wanted(c)).unwrap_or(rest.len());
    }

    fn push(&mut self, kind: TokenKind, start: usize) {
        self.tokens.push(Token { kind, range: TextRange::new(start, self.at) });
    }

    fn token(&mut self, first: char) {
        let start = self.at;
        match first {
            c if c.is_whitespace() || c == '\u{feff}' => self.at += c.len_utf8(),
            '#' => {
                self.skip_while(|c| c != '\n' && c != '\r');
                self.push(TokenKind::Comment, start);
            }
            '"' | '\'' => self.string(start, false),
            c if c.is_ascii_digit() => {
                self.skip_while(|c| is_name_char(c) || c == '.');
                self.push(TokenKind::Number, start);
            }
            c if is_name_char(c) => {
                self.skip_while(is_name_char);
                let word = &self.text[start..self.at];
                let is_prefix = word.len() <= 2 && word.bytes().all(|b| b"rRbBuUfF".contains(&b));
                match self.peek() {
                    Some('"' | '\'') if is_prefix => self.string(start, word.contains(['f', 'F'])),
                    _ => self.push(TokenKind::Name, start),
                }
            }
            c => {
                self.at += c.len_utf8();
                let kind = match c {
                    '(' | '[' | '{' => TokenKind::Open(c as u8),
                    ')' | ']' | '}' => TokenKind::Close(c as u8),
                    ',' => TokenKind::Comma,
                    ':' => TokenKind::Colon,
                    '.' => TokenKind::Dot,
                    '=' => self.equals(),
                    '!' | '<' | '>' | '+' | '-' | '*' | '/' | '%' | '&' | '|' | '^' | '@' => {
                        self.skip_while(|c| c == '=');
                        TokenKind::Other
                    }
                    _ => TokenKind::Other,
                };
                self.push(kind, start);
            }
        }
    }

    fn equals(&mut self) -> TokenKind {
        if self.peek() == Some('=') {
            self.at += 1;
            return TokenKind::Other;
        }
        TokenKind::Assign
    }

    /// From the quote on; `start` is that of the prefix. A one-line string that is not closed ends with its line.
    fn string(&mut self, start: usize, is_format: bool) {
        let bytes = self.text.as_bytes();
        let quote = bytes[self.at];
        let triple = bytes[self.at..].starts_with(&[quote; 3]);
        let width = if triple { 3 } else { 1 };
        let content = self.at + width;
        let mut at = content;
        let mut closed = false;
        while at < bytes.len() {
            match bytes[at] {
                b'\\' => at += 1,
                b'\n' | b'\r' if !triple => break,
                b if b == quote && (!triple || bytes[at..].starts_with(&[quote; 3])) => {
                    closed = true;
                    break;
                }
                _ => {}
            }
            at += 1;
        }
        let end = at.min(bytes.len());
        self.at = if closed { end + width } else { end };
        while !self.text.is_char_boundary(self.at) {
            self.at += 1; // after a backslash
        }
        self.push(TokenKind::String { closed }, start);
        if is_format && content < end {
            self.fields(content, end);
        }
    }

    /// The tokens inside of the braces of an f-string.
    fn fields(&mut self, start: usize, end: usize) {
        let bytes = self.text.as_bytes();
        let mut at = start;
        while at < end {
            if bytes[at] != b'{' {
                at += 1;
                continue;
            }
            if bytes.get(at + 1) == Some(&b'{') {
                at += 2;
                continue;
            }
            let field = at + 1;
            let mut depth = 1;
            at = field;
            while at < end {
                match bytes[at] {
                    b'{' => depth += 1,
                    b'}' => depth -= 1,
                    _ => {}
                }
                if depth == 0 {
                    break;
                }
                at += 1;
            }
            // Braces are ASCII, so that both ends lie between characters.
            let inner = tokens(&self.text[field..at.min(end)]);
            self.tokens.extend(inner.iter().map(|token| Token { range: token.range.shifted(field), ..*token }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<&str> {
        let all = tokens(text);
        let names = all.iter().filter(|token| token.kind == TokenKind::Name);
        names.map(|token| &text[token.range.start..token.range.end]).collect()
    }

    #[test]
    fn names_stand_outside_of_strings_and_comments() {
        assert_eq!(names("a = 'b' + c  # d\n\"\"\"e\nf\"\"\" g"), ["a", "c", "g"]);
        assert_eq!(names("r'a' rb\"b\" 0x1f 1.e5 x1"), ["x1"]);
        assert_eq!(names("'open\nx"), ["x"]);
        assert_eq!(names("größe.值"), ["größe", "值"]);
    }

    #[test]
    fn names_stand_inside_of_f_strings() {
        assert_eq!(names("f'{a + b[c]} {{d}} {e:{f}}' g"), ["a", "b", "c", "e", "f", "g"]);
        assert_eq!(names("f'{a"), ["a"]);
    }

    #[test]
    fn keywords_are_sorted() {
        assert!(KEYWORDS.is_sorted());
        assert!(is_identifier("tile_a") && !is_identifier("for") && !is_identifier("1a") && !is_identifier(""));
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_tokens_in_order(text in "[a-z0-9é值{}()\\[\\]'\"\\\\#.,=\nfr ]{0,60}") {
            let all = tokens(&text);
            for token in &all {
                proptest::prop_assert!(text.get(token.range.start..token.range.end).is_some_and(|it| !it.is_empty()));
            }
            proptest::prop_assert!(all.is_sorted_by_key(|token| token.range.start));
        }
    }
}
