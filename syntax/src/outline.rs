//! Cuts a Python text into blocks without parsing it: one block per function, per class header and per stretch of other
//! statements. Every byte belongs to exactly one block. A broken line spoils its own block only, because a line that can
//! only start a definition also ends any bracket that was left open.

use crate::TextRange;

/// What a block holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockKind {
    /// Statements of a module, class or enclosing function, outside of every inner definition.
    Statements,
    /// A whole function: decorators, header and body.
    Function,
    /// The header of a class and the statements up to its first method.
    ClassHeader,
    /// The header of a function that contains kernels or classes, and the statements up to the first of them.
    FunctionHeader,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) start: usize,
    pub(crate) kind: BlockKind,
    /// Name of the class or function; empty for statements.
    pub(crate) name: String,
    /// Index of the header segment of the class or function around it.
    pub(crate) parent: Option<usize>,
}

struct Scope {
    segment: usize,
    indent: usize,
}

/// The segments of a text, in order; the first starts at 0, each ends where the next starts.
pub(crate) fn segments(text: &str) -> Vec<Segment> {
    let mut cutter = Cutter { text, segments: Vec::new(), scopes: Vec::new() };
    let mut lines = LogicalLines { text, at: 0, ends: starts_definition };
    // Comments and decorators belong to the definition that they stand on; the flag is true where one of them is a decorator.
    let mut pending: Option<(usize, bool)> = None;
    let mut is_part = false;
    while let Some(line) = lines.next_line() {
        match line.first {
            First::Blank => pending = pending.filter(|&(_, decorated)| decorated),
            First::Comment => pending = pending.or(Some((line.start, false))),
            First::Decorator => {
                pending = Some((pending.map_or(line.start, |(start, _)| start), true));
                is_part |= makes_a_part(&text[line.start..]);
            }
            First::Def(name) => {
                let (start, decorated) = pending.take().unwrap_or((line.start, false));
                let splits_function = decorated && !std::mem::take(&mut is_part);
                cutter.definition(start, line.indent, BlockKind::Function, name, splits_function);
            }
            First::Class(name) => {
                let (start, _) = pending.take().unwrap_or((line.start, false));
                cutter.definition(start, line.indent, BlockKind::ClassHeader, name, true);
            }
            First::Other => {
                let start = pending.take().map_or(line.start, |(start, _)| start);
                cutter.statement(start, line.indent);
            }
        }
    }
    if cutter.segments.is_empty() {
        cutter.push(0, BlockKind::Statements, "");
    }
    cutter.segments[0].start = 0;
    cutter.segments
}

struct Cutter<'t> {
    text: &'t str,
    segments: Vec<Segment>,
    scopes: Vec<Scope>,
}

impl Cutter<'_> {
    fn push(&mut self, start: usize, kind: BlockKind, name: &str) {
        let parent = self.scopes.last().map(|scope| scope.segment);
        self.segments.push(Segment { start, kind, name: name.to_owned(), parent });
    }

    fn close(&mut self, indent: usize) {
        while self.scopes.last().is_some_and(|scope| scope.indent >= indent) {
            self.scopes.pop();
        }
    }

    fn definition(&mut self, start: usize, indent: usize, kind: BlockKind, name: &str, splits_function: bool) {
        self.close(indent);
        if let Some(scope) = self.scopes.last() {
            let outer = &mut self.segments[scope.segment];
            match outer.kind {
                BlockKind::Function if !splits_function => return,
                BlockKind::Function => outer.kind = BlockKind::FunctionHeader,
                _ => {}
            }
        }
        self.push(start, kind, name);
        self.scopes.push(Scope { segment: self.segments.len() - 1, indent });
    }

    fn statement(&mut self, start: usize, indent: usize) {
        self.close(indent);
        let scope = self.scopes.last().map(|scope| scope.segment);
        let Some(last) = self.segments.last() else { return self.push(start, BlockKind::Statements, "") };
        let continues = match last.kind {
            BlockKind::Statements => last.parent == scope,
            _ => scope == Some(self.segments.len() - 1),
        };
        if !continues {
            debug_assert!(start <= self.text.len());
            self.push(start, BlockKind::Statements, "");
        }
    }
}

#[derive(Debug, PartialEq)]
enum First<'t> {
    Blank,
    Comment,
    Decorator,
    Def(&'t str),
    Class(&'t str),
    Other,
}

struct LogicalLine<'t> {
    start: usize,
    indent: usize,
    first: First<'t>,
    /// A bracket is still open where the line ends.
    unclosed: bool,
}

/// The logical lines of a block (without indentation and line break) in which a bracket is never closed. Such a line ends
/// before the next line that reads as a statement of the same or an outer suite.
pub(crate) fn unclosed_lines(text: &str) -> Vec<TextRange> {
    let mut lines = LogicalLines { text, at: 0, ends: ends_unclosed_statement };
    let mut broken = Vec::new();
    while let Some(line) = lines.next_line() {
        if line.unclosed && matches!(line.first, First::Other) {
            let content = &text[line.start..lines.at];
            let start = line.start + content.len() - content.trim_start().len();
            broken.push(TextRange::new(start, line.start + content.trim_end().len()));
        }
    }
    broken.retain(|range| range.len() >= "...".len());
    broken
}

/// A logical line longer than this is read in part: a grammar takes a second for a megabyte, and nothing can be said of what is in it before
/// (bytes).
const LONGEST_LINE: usize = 64 << 10;

/// What stands in brackets of such a line is left out, if it is longer than this.
const LONGEST_IN_BRACKETS: usize = 1 << 10;

/// What is not read of a block, each with what its tree has there: of a logical line that is too long what stands in its brackets, so that the
/// rest of it means what it does; all of it where it is too long besides.
pub(crate) fn unread(text: &str) -> Vec<(TextRange, &'static str)> {
    let mut unread = Vec::new();
    if text.len() <= LONGEST_LINE {
        return unread;
    }
    let mut lines = LogicalLines { text, at: 0, ends: ends_unclosed_statement };
    while let Some(line) = lines.next_line() {
        let content = &text[line.start..lines.at];
        if content.len() <= LONGEST_LINE {
            continue;
        }
        let start = line.start + content.len() - content.trim_start().len();
        let end = line.start + content.trim_end().len();
        let in_brackets = if line.unclosed { Vec::new() } else { in_long_brackets(text, start, end) };
        let left = (end - start) - in_brackets.iter().map(|(range, _)| range.len()).sum::<usize>();
        match left {
            0..=LONGEST_LINE => unread.extend(in_brackets),
            _ => unread.push((TextRange::new(start, end), "...")),
        }
    }
    unread
}

/// What stands in the long outer brackets of a line, each with a text that is as good there for Python: an unknown number of unknown values.
fn in_long_brackets(text: &str, start: usize, end: usize) -> Vec<(TextRange, &'static str)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let (mut at, mut depth, mut open, mut has_colon) = (start, 0_usize, start, false);
    while at < end {
        match bytes[at] {
            b'(' | b'[' | b'{' => {
                if depth == 0 {
                    (open, has_colon) = (at, false);
                }
                depth += 1;
            }
            b')' | b']' | b'}' if depth == 1 => {
                depth = 0;
                let inside = TextRange::new(open + 1, at);
                let before = text[start..open].trim_end().as_bytes().last();
                let is_call = before.is_some_and(|&b| b == b')' || b == b']' || b == b'_' || b.is_ascii_alphanumeric());
                let word = match bytes[open] {
                    b'{' if has_colon => "**...",
                    b'(' if !is_call => "*...,",
                    _ => "*...",
                };
                found.extend((inside.len() > LONGEST_IN_BRACKETS).then_some((inside, word)));
            }
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b':' if depth == 1 => has_colon = true,
            b'#' => {
                at = end_of_line(bytes, at);
                continue;
            }
            b'"' | b'\'' => {
                at = end_of_string(bytes, at);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// True where a bracket of the last logical line is never closed.
pub(crate) fn ends_inside_bracket(text: &str) -> bool {
    let mut lines = LogicalLines { text, at: 0, ends: |_, _| false };
    std::iter::from_fn(|| lines.next_line()).last().is_some_and(|line| line.unclosed)
}

/// The logical line around an offset of a block. One whose bracket is not closed ends as in [`unclosed_lines`].
pub(crate) fn logical_line_around(text: &str, offset: usize) -> TextRange {
    let mut lines = LogicalLines { text, at: 0, ends: ends_unclosed_statement };
    let mut around = TextRange::empty(0);
    while let Some(line) = lines.next_line()
        && line.start <= offset
    {
        around = TextRange::new(line.start, lines.at);
    }
    around
}

/// Where the logical line that starts at an offset ends. A bracket that is left open ends before the next definition.
pub(crate) fn end_of_logical_line(text: &str, start: usize) -> usize {
    let mut lines = LogicalLines { text, at: start, ends: starts_definition };
    lines.next_line();
    lines.at
}

/// Where the logical line around an offset of a block starts. A line whose bracket is not closed ends as in [`unclosed_lines`].
pub(crate) fn logical_line_at(text: &str, offset: usize) -> usize {
    logical_line_around(text, offset).start
}

/// Walks over logical lines: a line goes on inside brackets, triple-quoted strings and after a backslash.
pub(crate) struct LogicalLines<'t> {
    text: &'t str,
    at: usize,
    /// Tells from the rest of the text, and the indentation of a line with an open bracket, that the line must end here.
    ends: fn(&str, usize) -> bool,
}

impl<'t> LogicalLines<'t> {
    pub(crate) fn new(text: &'t str) -> LogicalLines<'t> {
        LogicalLines { text, at: 0, ends: starts_definition }
    }

    pub(crate) fn next_text(&mut self) -> Option<&'t str> {
        let line = self.next_line()?;
        Some(&self.text[line.start..self.at])
    }

    fn next_line(&mut self) -> Option<LogicalLine<'t>> {
        let start = self.at;
        if start >= self.text.len() {
            return None;
        }
        let (indent, first) = line_start(&self.text[start..]);
        let unclosed = self.skip_logical_line(start, indent);
        Some(LogicalLine { start, indent, first, unclosed })
    }

    /// Returns whether a bracket is still open at the end.
    fn skip_logical_line(&mut self, start: usize, indent: usize) -> bool {
        let bytes = self.text.as_bytes();
        let mut at = start;
        let mut depth = 0_usize;
        while at < bytes.len() {
            match bytes[at] {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                b'#' => {
                    at = end_of_line(bytes, at);
                    continue;
                }
                b'"' | b'\'' => {
                    at = end_of_string(bytes, at);
                    continue;
                }
                b'\\' if matches!(bytes.get(at + 1), Some(b'\n' | b'\r')) => {
                    at = next_line_start(bytes, at + 1);
                    continue;
                }
                b'\n' | b'\r' => {
                    at = next_line_start(bytes, at);
                    if depth == 0 || (self.ends)(&self.text[at..], indent) {
                        break;
                    }
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        self.at = at;
        depth > 0
    }
}

/// Decorators whose functions are no kernels by themselves: they are compiled with the function that they stand in.
const OF_PARTS: [&str; 2] = ["prim_func", "macro"];

/// `@T.prim_func`
fn makes_a_part(line: &str) -> bool {
    let path = line.trim_start().trim_start_matches('@');
    let end = path.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.')).unwrap_or(path.len());
    OF_PARTS.contains(&path[..end].rsplit('.').next().unwrap_or_default())
}

/// True where an open bracket must have been forgotten: the line reads as a definition at or left of `indent`, or as
/// an import at the margin.
fn starts_definition(rest: &str, indent: usize) -> bool {
    let (column, first) = line_start(rest);
    match first {
        First::Def(_) | First::Class(_) => column <= indent,
        First::Decorator => column <= indent,
        First::Other => column == 0 && (rest.starts_with("import ") || rest.starts_with("from ")),
        First::Blank | First::Comment => false,
    }
}

/// The `name=` of each keyword argument that stands directly in square brackets: `Tile[[64, 64], FP32, memref=m]`.
pub(crate) fn subscript_keywords(text: &str) -> Vec<TextRange> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut brackets = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            open @ (b'(' | b'[' | b'{') => brackets.push(open),
            b')' | b']' | b'}' => {
                brackets.pop();
            }
            b'#' => {
                at = end_of_line(bytes, at);
                continue;
            }
            b'"' | b'\'' => {
                at = end_of_string(bytes, at);
                continue;
            }
            b'=' if brackets.last() == Some(&b'[') && bytes.get(at + 1) != Some(&b'=') => {
                let before = text[..at].trim_end();
                let name =
                    before.len() - before.bytes().rev().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
                if name < before.len() && before[..name].trim_end().ends_with([',', '[']) {
                    found.push(TextRange::new(name, at + 1));
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// True where a line at or left of `indent` reads as a statement: an assignment, a call on its own, or a keyword. Lines that
/// go on inside brackets are indented further, or start with a literal or a bracket.
fn ends_unclosed_statement(rest: &str, indent: usize) -> bool {
    if starts_definition(rest, indent) {
        return true;
    }
    let (column, First::Other) = line_start(rest) else { return false };
    let line = rest.trim_start();
    let word = identifier(line);
    if column > indent || word.is_empty() || word.starts_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    const KEYWORDS: [&str; 9] = ["return", "for", "while", "if", "with", "break", "continue", "pass", "elif"];
    let after = line[word.len()..].trim_start_matches([' ', '\t']);
    let assigns = after.starts_with(':') || (after.starts_with('=') && !after.starts_with("=="));
    let calls = after.starts_with('.') && !line.lines().next().unwrap_or("").trim_end().ends_with(',');
    KEYWORDS.contains(&word) || assigns || calls
}

/// Indentation in columns (a tab goes to the next multiple of 8, as Python counts) and what the line starts with.
fn line_start(rest: &str) -> (usize, First<'_>) {
    let mut indent = 0;
    let mut at = if rest.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    for &byte in &rest.as_bytes()[at..] {
        match byte {
            b' ' => indent += 1,
            b'\t' => indent = (indent / 8 + 1) * 8,
            b'\x0c' => indent = 0,
            _ => break,
        }
        at += 1;
    }
    let rest = &rest[at..];
    let first = match rest.as_bytes().first() {
        None | Some(b'\n' | b'\r') => First::Blank,
        Some(b'#') => First::Comment,
        Some(b'@') => First::Decorator,
        _ => definition(rest).unwrap_or(First::Other),
    };
    (indent, first)
}

fn definition(rest: &str) -> Option<First<'_>> {
    let rest = keyword(rest, "async").unwrap_or(rest);
    if let Some(name) = keyword(rest, "def") {
        return Some(First::Def(identifier(name)));
    }
    keyword(rest, "class").map(|name| First::Class(identifier(name)))
}

fn keyword<'t>(rest: &'t str, word: &str) -> Option<&'t str> {
    let after = rest.strip_prefix(word)?;
    let trimmed = after.trim_start_matches([' ', '\t']);
    (trimmed.len() < after.len()).then_some(trimmed)
}

fn identifier(rest: &str) -> &str {
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    &rest[..end]
}

fn end_of_line(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().position(|b| matches!(b, b'\n' | b'\r')).map_or(bytes.len(), |n| from + n)
}

fn next_line_start(bytes: &[u8], line_break: usize) -> usize {
    match (bytes.get(line_break), bytes.get(line_break + 1)) {
        (Some(b'\r'), Some(b'\n')) => line_break + 2,
        _ => (line_break + 1).min(bytes.len()),
    }
}

/// The offset after the string literal that starts at `from`. A one-line string that is not closed ends with its line.
fn end_of_string(bytes: &[u8], from: usize) -> usize {
    let quote = bytes[from];
    let triple = bytes.len() >= from + 3 && bytes[from + 1] == quote && bytes[from + 2] == quote;
    let mut at = from + if triple { 3 } else { 1 };
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'\n' | b'\r' if !triple => return at,
            b if b == quote && !triple => return at + 1,
            b if b == quote && bytes.len() >= at + 3 && bytes[at + 1] == quote && bytes[at + 2] == quote => {
                return at + 3;
            }
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(text: &str, expected: Expect) {
        let segments = segments(text);
        let mut shown = String::new();
        for (i, segment) in segments.iter().enumerate() {
            let end = segments.get(i + 1).map_or(text.len(), |next| next.start);
            let parent = segment.parent.map_or("-".to_owned(), |p| segments[p].name.clone());
            let first = text[segment.start..end].lines().next().unwrap_or("").trim();
            shown += &format!("{:?} {:?} in {parent}: {first}\n", segment.kind, segment.name);
        }
        expected.assert_eq(&shown);
    }

    #[test]
    fn a_long_line_is_read_in_part() {
        let numbers = "1, ".repeat(LONGEST_LINE / 3 + 1);
        let check = |line: String, expected: &str| {
            let text = format!("x = [1]\n{line}\ny = 2\n");
            let mut read = text.clone();
            for (range, word) in unread(&text).into_iter().rev() {
                read.replace_range(range.start..range.end, word);
            }
            assert_eq!(read, format!("x = [1]\n{expected}\ny = 2\n"));
        };
        check(format!("L = [{numbers}]"), "L = [*...]");
        check(format!("T = ({numbers})"), "T = (*...,)");
        check(format!("f(a)({numbers})[0]"), "f(a)(*...)[0]");
        check(format!("@g(configs=[{numbers}], key=[1])"), "@g(*...)");
        check(format!("D = {{'a': [{numbers}]}}"), "D = {**...}");
        check(format!("A = \"{numbers}\""), "...");
        check(format!("    B = 1{}", " + 1".repeat(LONGEST_LINE)), "    ...");
        check("x = 1\n".repeat(LONGEST_LINE), &"x = 1\n".repeat(LONGEST_LINE));
    }

    #[test]
    fn methods_of_a_program_are_blocks() {
        check(
            "import pypto.language as pl\nN = 4\n\n# about P\n@pl.program\nclass P:\n    M = 2\n    @pl.function\n    def a(self):\n        x = (1,\n  2)\n\n    def b(self):\n        pass\n    K = 3\nZ = 1\n",
            expect![[r#"
                Statements "" in -: import pypto.language as pl
                ClassHeader "P" in -: # about P
                Function "a" in P: @pl.function
                Function "b" in P: def b(self):
                Statements "" in P: K = 3
                Statements "" in -: Z = 1
            "#]],
        );
    }

    #[test]
    fn a_factory_becomes_a_header_and_its_kernels() {
        check(
            "def make(n=64):\n    m = n * 2\n    @pl.program\n    class P:\n        @pl.function\n        def k(self): pass\n    return P\n\ndef plain():\n    def inner():\n        pass\n    return inner\n",
            expect![[r#"
                FunctionHeader "make" in -: def make(n=64):
                ClassHeader "P" in make: @pl.program
                Function "k" in P: @pl.function
                Statements "" in make: return P
                Function "plain" in -: def plain():
            "#]],
        );
    }

    #[test]
    fn parts_of_a_kernel_stay_in_its_block() {
        check(
            "@tilelang.jit\ndef make(n):\n    @T.macro\n    def load(x): pass\n    @T.prim_func\n    def k(x): pass\n    return k\n\nx = 1\n",
            expect![[r#"
                Function "make" in -: @tilelang.jit
                Statements "" in -: x = 1
            "#]],
        );
    }

    #[test]
    fn an_open_bracket_spoils_one_block() {
        check(
            "@pl.function\ndef a(x):\n    y = pl.load(x, [0, 0\n    z = 1\n\n@pl.function\ndef b(x):\n    '''doc\ndef no(): '''\n    pass\n",
            expect![[r#"
                Function "a" in -: @pl.function
                Function "b" in -: @pl.function
            "#]],
        );
    }

    #[test]
    fn any_text_is_covered() {
        check(
            "",
            expect![[r#"
            Statements "" in -: 
        "#]],
        );
        check(
            "   \n\n# only a comment",
            expect![[r#"
                Statements "" in -: 
            "#]],
        );
        check(
            "\\",
            expect![[r#"
            Statements "" in -: \
        "#]],
        );
    }
}
