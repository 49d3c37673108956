//! What authors do to a text: digits, renames, pastes, lines half typed and taken away, and what no author does.

use std::ops::Range;

use serde_json::{Value, json};

use crate::choices::Choices;
use crate::lsp_client::range;

/// A stretch of a text (bytes) and what stands there afterwards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub range: Range<usize>,
    pub text: String,
}

impl Change {
    fn insert(at: usize, text: impl Into<String>) -> Change {
        Change { range: at..at, text: text.into() }
    }

    fn delete(range: Range<usize>) -> Change {
        Change { range, text: String::new() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Digit,
    ValueRenamed,
    KernelRenamed,
    Paste,
    HalfLine,
    LinesDeleted,
    Comment,
    Newline,
    Noise,
    Undo,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Digit => "digit",
            Kind::ValueRenamed => "rename of a value",
            Kind::KernelRenamed => "rename of a kernel",
            Kind::Paste => "paste",
            Kind::HalfLine => "half-typed line",
            Kind::LinesDeleted => "deletion of lines",
            Kind::Comment => "comment",
            Kind::Newline => "newline",
            Kind::Noise => "noise",
            Kind::Undo => "undo",
        }
    }
}

/// How often each is done, of 100.
const OFTEN: [(usize, Kind); 9] = [
    (40, Kind::Digit),
    (15, Kind::ValueRenamed),
    (6, Kind::KernelRenamed),
    (7, Kind::Paste),
    (10, Kind::HalfLine),
    (6, Kind::LinesDeleted),
    (5, Kind::Comment),
    (5, Kind::Newline),
    (6, Kind::Noise),
];

/// What is typed and pasted without regard to where.
const NOISE: [&str; 22] = [
    "",
    "(",
    ")",
    "[",
    "]",
    "'",
    "\"\"\"",
    ".",
    ",",
    "=",
    "\n",
    "\r\n",
    "\r",
    "    ",
    "#",
    "pl.",
    "lambda x: ",
    "{",
    "値",
    "😀",
    "\u{feff}",
    "import ",
];

/// The next thing that is done to a text: changes to make one after the other, each to the text as the one before left it. `pasted` is
/// what there is on the clipboard.
pub fn next(text: &str, pasted: &str, choices: &mut Choices) -> (Kind, Vec<Change>) {
    let mut left = choices.below(100);
    let kind = OFTEN.iter().find_map(|&(often, kind)| {
        let is_it = left < often;
        left = left.saturating_sub(often);
        is_it.then_some(kind)
    });
    let kind = kind.unwrap_or(Kind::Noise);
    let at = choices.below(text.len() + 1);
    let changes = match kind {
        Kind::Digit => digit(text, at, choices),
        Kind::ValueRenamed => value_renamed(text, at, choices),
        Kind::KernelRenamed => kernel_renamed(text, at, choices),
        Kind::Paste => vec![Change::insert(line_start(text, at), excerpt(pasted, choices))],
        Kind::HalfLine => half_line(text, at, choices),
        Kind::LinesDeleted => vec![Change::delete(lines(text, at, 1 + choices.below(4)))],
        Kind::Comment => vec![Change::insert(line_end(text, at), "  # why")],
        Kind::Newline => vec![Change::insert(line_end(text, at), "\n")],
        Kind::Noise | Kind::Undo => Vec::new(),
    };
    if !changes.is_empty() {
        return (kind, changes);
    }
    let start = snapped(text, at);
    let end = snapped(text, (start + choices.below(6)).min(text.len())).max(start);
    (Kind::Noise, vec![Change { range: start..end, text: choices.of(&NOISE).to_owned() }])
}

/// Makes the changes; returns those that take them back.
pub fn apply(text: &mut String, changes: &[Change]) -> Vec<Change> {
    let mut undo = Vec::new();
    for change in changes {
        let removed = text[change.range.clone()].to_owned();
        text.replace_range(change.range.clone(), &change.text);
        let start = change.range.start;
        undo.push(Change { range: start..start + change.text.len(), text: removed });
    }
    undo.reverse();
    undo
}

/// The same, and the changes as a client with positions in UTF-8 sends them.
pub fn send(text: &mut String, changes: &[Change]) -> (Value, Vec<Change>) {
    let mut sent = Vec::new();
    let mut undo = Vec::new();
    for change in changes {
        let has_position = |at: usize| snapped(text, at) == at;
        let range = (has_position(change.range.start) && has_position(change.range.end)).then(|| {
            let (start, end) = (position(text, change.range.start), position(text, change.range.end));
            range(start.0, start.1, end.0, end.1)
        });
        undo.splice(0..0, apply(text, std::slice::from_ref(change)));
        sent.push(match range {
            Some(range) => json!({ "range": range, "text": change.text }),
            None => json!({ "text": text }),
        });
    }
    (json!(sent), undo)
}

/// Line and column (bytes) of an offset, as the protocol counts them: `\n`, `\r\n` and `\r` end a line.
pub fn position(text: &str, offset: usize) -> (u32, u32) {
    let before = &text.as_bytes()[..offset];
    let ends_line = |at: usize| match before[at] {
        b'\n' => true,
        b'\r' => text.as_bytes().get(at + 1) != Some(&b'\n'),
        _ => false,
    };
    let count = (0..offset).filter(|&at| ends_line(at)).count();
    let start = (0..offset).rev().find(|&at| ends_line(at)).map_or(0, |at| at + 1);
    (count as u32, (offset - start) as u32)
}

/// A place that a position can name: not inside of a character, nor of a `\r\n`.
pub fn snapped(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at)
        || at > 0 && text.as_bytes()[at - 1] == b'\r' && text.as_bytes().get(at) == Some(&b'\n')
    {
        at -= 1;
    }
    at
}

fn line_start(text: &str, at: usize) -> usize {
    let at = snapped(text, at);
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

fn line_end(text: &str, at: usize) -> usize {
    let at = snapped(text, at);
    snapped(text, text[at..].find('\n').map_or(text.len(), |end| at + end))
}

/// Whole lines.
fn lines(text: &str, at: usize, count: usize) -> Range<usize> {
    let start = line_start(text, at);
    let end = text[start..].match_indices('\n').nth(count - 1).map_or(text.len(), |(end, _)| start + end + 1);
    start..end
}

/// Some lines of a text.
fn excerpt<'t>(text: &'t str, choices: &mut Choices) -> &'t str {
    let at = choices.below(text.len() + 1);
    &text[lines(text, at, 1 + choices.below(40))]
}

fn digit(text: &str, at: usize, choices: &mut Choices) -> Vec<Change> {
    let from = snapped(text, at);
    let found = text[from..].find(|c: char| c.is_ascii_digit()).map(|found| from + found);
    let found = found.or_else(|| text.find(|c: char| c.is_ascii_digit()));
    let digit = choices.below(10).to_string();
    found.map(|found| Change { range: found..found + 1, text: digit }).into_iter().collect()
}

/// The name that the next assignment gives, in all of its function, or at the assignment only.
fn value_renamed(text: &str, at: usize, choices: &mut Choices) -> Vec<Change> {
    let from = line_start(text, at);
    let Some(equals) = text[from..].find(" = ").map(|found| from + found) else { return Vec::new() };
    let name = &text[line_start(text, equals)..equals].trim_start();
    if !is_name(name) {
        return Vec::new();
    }
    let start = equals - name.len();
    let function =
        text[..start].rfind("def ").unwrap_or(0)..text[equals..].find("def ").map_or(text.len(), |end| equals + end);
    renamed(text, function, start, name, choices)
}

fn kernel_renamed(text: &str, at: usize, choices: &mut Choices) -> Vec<Change> {
    let from = snapped(text, at);
    let Some(start) = text[from..].find("def ").map(|found| from + found + 4) else { return Vec::new() };
    let len = text[start..].find(|c: char| !is_name_part(c)).unwrap_or(text.len() - start);
    let name = &text[start..start + len];
    if name.is_empty() { Vec::new() } else { renamed(text, 0..text.len(), start, name, choices) }
}

/// The last mention first, so that those before it stay where they are.
fn renamed(text: &str, within: Range<usize>, at: usize, name: &str, choices: &mut Choices) -> Vec<Change> {
    let new = format!("{}_{}", name.split('_').next().unwrap_or_default(), choices.below(1000));
    let change = |start: usize| Change { range: start..start + name.len(), text: new.clone() };
    if choices.percent(30) {
        return vec![change(at)];
    }
    let is_whole = |start: &usize| {
        !text[..*start].ends_with(|c: char| is_name_part(c) || c == '.')
            && !text[start + name.len()..].starts_with(is_name_part)
    };
    let mentions = text[within.clone()].match_indices(name).map(|(found, _)| within.start + found).filter(is_whole);
    let mut changes: Vec<Change> = mentions.map(change).collect();
    changes.reverse();
    changes
}

fn is_name_part(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

fn is_name(text: &str) -> bool {
    text.chars().all(is_name_part) && text.starts_with(|c: char| c == '_' || c.is_alphabetic())
}

/// The start of a line once more below it, or what stays of it while its end is typed anew.
fn half_line(text: &str, at: usize, choices: &mut Choices) -> Vec<Change> {
    let line = line_start(text, at)..line_end(text, at);
    let cut = snapped(text, line.start + choices.below(line.len() + 1)).max(line.start);
    match choices.percent(50) {
        true => vec![Change::insert(line.end, format!("\n{}", &text[line.start..cut]))],
        false => vec![Change::delete(cut..line.end)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn positions_count_every_line_end() {
        let text = "a\r\nb\rc\nd";
        let positions: Vec<_> = [0, 1, 3, 4, 5, 6, 7, 8].map(|at| position(text, at)).into();
        assert_eq!(positions, [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1)]);
        assert_eq!(snapped(text, 2), 1);
    }

    #[test]
    fn what_is_done_can_be_undone() {
        let before = crate::kernels::source(3, crate::kernels::Layout::OneClass);
        let mut random = Random::new(1, 1);
        let mut kinds = Vec::new();
        for _ in 0..500 {
            let mut text = before.clone();
            let bytes = random.bytes(64);
            let (kind, changes) = next(&text, &before, &mut Choices::new(&bytes));
            let (_, undo) = send(&mut text, &changes);
            kinds.push(kind);
            apply(&mut text, &undo);
            assert_eq!(text, before);
        }
        for (_, kind) in OFTEN {
            assert!(kinds.contains(&kind), "{kind:?}");
        }
    }
}
