//! LSP positions. Lines end at `\n`, `\r\n` and `\r` only; columns count units of the negotiated encoding.

use ropey::{Rope, RopeSlice};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct LineCol {
    pub line: u32,
    pub col: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PositionEncoding {
    Utf8,
    #[default]
    Utf16,
    Utf32,
}

/// The byte offset of a position. A line past the end gives the end of the text, a column past the end of its line gives
/// the end of the line, a column inside a character gives the start of that character.
pub fn offset(rope: &Rope, position: LineCol, encoding: PositionEncoding) -> usize {
    let (line, column) = (position.line as usize, position.col as usize);
    if line >= rope.len_lines() {
        return rope.len_bytes();
    }
    let start = rope.line_to_byte(line);
    let end = start + content(rope.line(line)).len_bytes();
    let (first, last) = (rope.byte_to_char(start), rope.byte_to_char(end));
    let char = match encoding {
        PositionEncoding::Utf8 => rope.byte_to_char(end.min(start.saturating_add(column))),
        PositionEncoding::Utf16 => {
            let [first, last] = [first, last].map(|char| rope.char_to_utf16_cu(char));
            rope.utf16_cu_to_char(last.min(first.saturating_add(column)))
        }
        PositionEncoding::Utf32 => last.min(first.saturating_add(column)),
    };
    rope.char_to_byte(char)
}

/// The position of a byte offset; an offset past the end gives the end of the text.
pub fn line_col(rope: &Rope, offset: usize, encoding: PositionEncoding) -> LineCol {
    let offset = offset.min(rope.len_bytes());
    let line = rope.byte_to_line(offset);
    let (first, char) = (rope.line_to_char(line), rope.byte_to_char(offset));
    let column = match encoding {
        PositionEncoding::Utf8 => rope.char_to_byte(char) - rope.char_to_byte(first),
        PositionEncoding::Utf16 => rope.char_to_utf16_cu(char) - rope.char_to_utf16_cu(first),
        PositionEncoding::Utf32 => char - first,
    };
    LineCol { line: line as u32, col: column as u32 }
}

/// The line without its line break.
fn content(line: RopeSlice<'_>) -> RopeSlice<'_> {
    let mut end = line.len_bytes();
    while end > 0 && matches!(line.byte(end - 1), b'\n' | b'\r') {
        end -= 1;
    }
    line.byte_slice(..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [PositionEncoding; 3] = [PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32];

    #[test]
    fn columns_count_units_of_the_encoding() {
        let rope = Rope::from_str("a😀é = 1\r\nb\rc\u{2028}d\n");
        let columns = ALL.map(|e| line_col(&rope, "a😀é".len(), e).col);
        assert_eq!(columns, [7, 4, 3]);
        let offsets = ALL.map(|e| offset(&rope, LineCol { line: 0, col: 3 }, e));
        assert_eq!(offsets, [1, 5, 7]);
        assert_eq!(rope.len_lines(), 4, "a lone CR ends a line, U+2028 does not");
    }

    #[test]
    fn positions_outside_clamp() {
        let rope = Rope::from_str("ab\r\ncd");
        for encoding in ALL {
            assert_eq!(offset(&rope, LineCol { line: 0, col: 99 }, encoding), 2);
            assert_eq!(offset(&rope, LineCol { line: 9, col: 0 }, encoding), 6);
            assert_eq!(line_col(&rope, 99, encoding), LineCol { line: 1, col: 2 });
        }
        assert_eq!(offset(&Rope::new(), LineCol { line: 3, col: 3 }, PositionEncoding::Utf16), 0);
    }

    proptest::proptest! {
        #[test]
        fn round_trip(text in "[a-z😀é\r\n\t ]{0,40}") {
            let rope = Rope::from_str(&text);
            for encoding in ALL {
                for (at, _) in text.char_indices() {
                    let back = offset(&rope, line_col(&rope, at, encoding), encoding);
                    let inside_crlf = text.as_bytes()[at] == b'\n' && at > 0 && text.as_bytes()[at - 1] == b'\r';
                    proptest::prop_assert_eq!(back, if inside_crlf { at - 1 } else { at });
                }
            }
        }
    }
}
