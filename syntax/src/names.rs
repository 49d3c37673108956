//! Where a text mentions a name, and as what. From the tokens, so that lambdas and f-strings count, which the tree's view hides.

use crate::TextRange;
use crate::tokens::{Token, TokenKind, is_keyword, tokens};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention<'t> {
    /// Bytes.
    pub range: TextRange,
    pub usage: Usage<'t>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Usage<'t> {
    /// A variable.
    Name,
    /// After a dot; the names before it, as in [`crate::cursor::Cursor::path`].
    Attribute(Vec<&'t str>),
    /// `name=` in a call of this function.
    Keyword(Vec<&'t str>),
    /// Bound by an import.
    Imported,
    /// Of another module: `import name as …`, `from name import …`.
    Foreign,
    /// A parameter of a lambda.
    Lambda,
    /// All that a string literal says.
    Text,
}

/// The mentions of `name` in a block, in order.
pub fn mentions<'t>(text: &'t str, name: &str) -> Vec<Mention<'t>> {
    if name.is_empty() || !text.contains(name) {
        return Vec::new();
    }
    let tokens = tokens(text);
    let mut walk = Walk {
        text,
        tokens: &tokens,
        path: Vec::new(),
        open: Vec::new(),
        called: Vec::new(),
        import: None,
        lambda: None,
    };
    let mut found = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let usage = walk.step(index);
        let word = &text[token.range.start..token.range.end];
        match (token.kind, usage) {
            (TokenKind::Name, Some(usage)) if word == name => found.push(Mention { range: token.range, usage }),
            (TokenKind::String { closed: true }, _) if word.trim_matches(['"', '\'']) == name => {
                found.push(Mention { range: token.range, usage: Usage::Text });
            }
            _ => {}
        }
    }
    found
}

/// The name at an offset of a block, a cursor after it included.
pub fn name_at(text: &str, offset: usize) -> Option<&str> {
    let is_part = |c: char| c == '_' || c.is_alphanumeric();
    let before = text.get(..offset)?;
    let start = offset - before.chars().rev().take_while(|&c| is_part(c)).map(char::len_utf8).sum::<usize>();
    let rest = &text[start..];
    let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    let word = &rest[..end];
    (!word.is_empty() && !is_keyword(word) && !word.starts_with(|c: char| c.is_ascii_digit())).then_some(word)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Import {
    /// `import a.b`
    Modules,
    /// `from a` up to `import`
    From,
    /// After `from a import`
    Names,
}

struct Walk<'t, 'k> {
    text: &'t str,
    tokens: &'k [Token],
    path: Vec<&'t str>,
    open: Vec<(u8, Vec<&'t str>)>,
    /// What stands before the brackets that were just closed: `kernel[grid]` is called as `kernel`.
    called: Vec<&'t str>,
    import: Option<Import>,
    /// Inside the parameters of a lambda, with the brackets that were open at its start.
    lambda: Option<usize>,
}

impl<'t> Walk<'t, '_> {
    fn word(&self, index: usize) -> &'t str {
        let range = self.tokens[index].range;
        &self.text[range.start..range.end]
    }

    fn kind(&self, index: Option<usize>) -> Option<TokenKind> {
        self.tokens.get(index?).map(|token| token.kind)
    }

    /// Takes a token; says how it is used if it is a name.
    fn step(&mut self, index: usize) -> Option<Usage<'t>> {
        let token = self.tokens[index];
        let previous = index.checked_sub(1);
        let starts_line = previous.is_none_or(|before| {
            // The tokens of an f-string lie inside of it.
            let between = self.text.get(self.tokens[before].range.end..token.range.start);
            between.is_some_and(|between| between.contains(['\n', '\r', ';']))
        });
        if starts_line && self.open.is_empty() {
            (self.import, self.lambda) = (None, None);
            self.path.clear();
        }
        let called = std::mem::take(&mut self.called);
        match token.kind {
            TokenKind::Name => return self.name(index, starts_line),
            TokenKind::Dot if self.kind(previous) != Some(TokenKind::Name) => self.path = vec![""],
            TokenKind::Dot => {}
            TokenKind::Open(bracket) => {
                let path = std::mem::take(&mut self.path);
                let callee = if self.kind(previous) == Some(TokenKind::Name) { path } else { called };
                self.open.push((bracket, callee));
            }
            TokenKind::Close(_) => {
                self.called = self.open.pop().map(|(_, callee)| callee).unwrap_or_default();
                self.path.clear();
            }
            TokenKind::Colon => {
                self.lambda = self.lambda.filter(|depth| *depth != self.open.len());
                self.path.clear();
            }
            TokenKind::Comment => {}
            _ => self.path.clear(),
        }
        None
    }

    fn name(&mut self, index: usize, starts_line: bool) -> Option<Usage<'t>> {
        let word = self.word(index);
        let next = self.kind(Some(index + 1));
        let previous = self.kind(index.checked_sub(1));
        if is_keyword(word) && previous != Some(TokenKind::Dot) {
            self.path.clear();
            match word {
                "import" if self.import == Some(Import::From) => self.import = Some(Import::Names),
                "import" if starts_line => self.import = Some(Import::Modules),
                "from" if starts_line => self.import = Some(Import::From),
                "lambda" => self.lambda = Some(self.open.len()),
                _ => {}
            }
            return None;
        }
        if previous == Some(TokenKind::Dot) {
            let base = self.path.clone();
            self.path.push(word);
            let is_foreign = self.import.is_some();
            return Some(if is_foreign { Usage::Foreign } else { Usage::Attribute(base) });
        }
        self.path = vec![word];
        let is_renamed = next == Some(TokenKind::Name) && self.word(index + 1) == "as";
        Some(match self.import {
            Some(Import::From) => Usage::Foreign,
            Some(_) if is_renamed => Usage::Foreign,
            Some(_) => Usage::Imported,
            None if self.lambda == Some(self.open.len())
                && !matches!(previous, Some(TokenKind::Assign | TokenKind::Other)) =>
            {
                Usage::Lambda
            }
            None => match self.open.last() {
                Some((b'(', callee))
                    if next == Some(TokenKind::Assign)
                        && !callee.is_empty()
                        && matches!(previous, Some(TokenKind::Open(_) | TokenKind::Comma)) =>
                {
                    Usage::Keyword(callee.clone())
                }
                _ => Usage::Name,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usages(text: &str) -> Vec<(usize, String)> {
        let shown = |usage: Usage<'_>| match usage {
            Usage::Attribute(base) => format!("behind {}", base.join(".")),
            Usage::Keyword(callee) => format!("keyword of {}", callee.join(".")),
            other => format!("{other:?}").to_lowercase(),
        };
        mentions(text, "x").into_iter().map(|mention| (mention.range.start, shown(mention.usage))).collect()
    }

    fn check(text: &str, expected: &[(usize, &str)]) {
        let expected: Vec<_> = expected.iter().map(|(at, usage)| (*at, (*usage).to_owned())).collect();
        assert_eq!(usages(text), expected, "{text}");
    }

    #[test]
    fn names_attributes_and_keywords() {
        check("x = f(x=x, y=self.x)\n", &[(0, "name"), (6, "keyword of f"), (8, "name"), (18, "behind self")]);
        check("k[grid](x=1)", &[(8, "keyword of k")]);
        check("a(b)[x].x", &[(5, "name"), (8, "behind ")]);
        check("f\"{x}\" + 'x' + \"ax\"", &[(3, "name"), (9, "text")]);
        check("# x\nxx = 1", &[]);
    }

    #[test]
    fn imports() {
        check("from x import x", &[(5, "foreign"), (14, "imported")]);
        check("from m import x as y, x", &[(14, "foreign"), (22, "imported")]);
        check("import a.x\nx", &[(9, "foreign"), (11, "name")]);
    }

    #[test]
    fn lambdas() {
        check("f(lambda x: x, x)", &[(9, "lambda"), (12, "name"), (15, "name")]);
        check("lambda y=x: y", &[(9, "name")]);
    }

    #[test]
    fn the_name_at_an_offset() {
        let at = |offset| name_at("ab = cd+1", offset);
        assert_eq!(
            (at(0), at(2), at(3), at(6), at(7), at(9)),
            (Some("ab"), Some("ab"), None, Some("cd"), Some("cd"), None)
        );
        assert_eq!(name_at("for", 1), None);
        assert_eq!(name_at("é", 1), None);
    }
}
