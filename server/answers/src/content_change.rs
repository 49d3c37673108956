//! `textDocument/didChange`: edits by a client's positions.

use std::ops::Range;

use ls_types::{Position, TextDocumentContentChangeEvent};
use tilefit_syntax::{Document, LineCol, PositionEncoding};

/// Applies the changes of one `didChange` in order; each one's positions refer to the result of the one before.
/// `edited` hears of each one in turn, except of a whole new text: the bytes that it replaces, and how many it puts there.
pub fn apply(
    document: &mut Document,
    changes: Vec<TextDocumentContentChangeEvent>,
    encoding: PositionEncoding,
    mut edited: impl FnMut(&Range<usize>, usize),
) {
    for TextDocumentContentChangeEvent { range, text, .. } in changes {
        let offset = |at: Position| document.offset(LineCol { line: at.line, col: at.character }, encoding);
        let (start, end) = range.map_or((0, document.len()), |range| (offset(range.start), offset(range.end)));
        let replaced = start..end.max(start);
        document.edit(replaced.clone(), &text);
        if range.is_some() {
            edited(&replaced, text.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use ls_types::Range;

    use super::*;

    fn change(range: Option<(u32, u32, u32, u32)>, text: &str) -> TextDocumentContentChangeEvent {
        let range = range.map(|(a, b, c, d)| Range::new(Position::new(a, b), Position::new(c, d)));
        TextDocumentContentChangeEvent { range, range_length: None, text: text.to_owned() }
    }

    #[track_caller]
    fn check(text: &str, changes: Vec<TextDocumentContentChangeEvent>, encoding: PositionEncoding, expected: &str) {
        let mut document = Document::new(text);
        apply(&mut document, changes, encoding, |_, _| {});
        assert_eq!(document.text(), expected);
    }

    #[test]
    fn changes_build_on_each_other() {
        let changes = vec![
            change(Some((0, 0, 0, 0)), "x = 1\n"),
            change(Some((0, 4, 0, 5)), "22"),
            change(Some((9, 9, 9, 9)), "#"),
        ];
        check("y\n", changes, PositionEncoding::Utf16, "x = 22\ny\n#");
    }

    #[test]
    fn columns_count_in_the_negotiated_unit() {
        for (encoding, col) in [(PositionEncoding::Utf8, 6), (PositionEncoding::Utf16, 4), (PositionEncoding::Utf32, 3)]
        {
            check("'😀'a\r\nb", vec![change(Some((0, col, 0, col + 1)), "")], encoding, "'😀'\r\nb");
        }
    }

    #[test]
    fn a_range_that_runs_backwards_inserts() {
        check("abc", vec![change(Some((0, 2, 0, 1)), "-")], PositionEncoding::Utf16, "ab-c");
    }

    #[test]
    fn full_text_replaces_everything() {
        for (old, new) in
            [("", ""), ("a", ""), ("", "a"), ("aaa", "aa"), ("é", "è"), ("x😀y", "x😁y"), ("ab\r\n", "ab\n")]
        {
            check(old, vec![change(None, new)], PositionEncoding::Utf16, new);
        }
    }
}
