//! A text under edit: a rope, and its blocks with their trees. The cells of a notebook are one text, too: its parts.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use ropey::Rope;
use tree_sitter::{InputEdit, Point, Tree};

use crate::outline::{self, BlockKind, Segment};
use crate::position::{self, LineCol, PositionEncoding};
use crate::{TextRange, parser};

/// Larger texts are kept but not analysed; no kernel file comes near (bytes).
const ANALYSED_AT_MOST: usize = 16 << 20;

/// One version of a text. Cloning is cheap and gives a snapshot.
///
/// Edits change the rope at once; the blocks follow with [`Document::settle`], so that a flood of edits costs one cut.
#[derive(Clone)]
pub struct Document {
    rope: Rope,
    /// Where each part starts, in bytes; `None` of a text without parts.
    parts: Option<Arc<Vec<usize>>>,
    blocks: Arc<[Block]>,
    /// What has changed since the blocks were cut.
    unsettled: Option<Edit>,
}

/// A block at its place in the document.
#[derive(Clone)]
pub struct Block {
    pub key: BlockKey,
    pub start: usize,
    /// Index of the header block of the class or function around it.
    pub parent: Option<usize>,
    pub source: Arc<BlockSource>,
}

/// Tells the blocks of a document apart, and stays the same while their text and their place change.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BlockKey {
    /// Names from the outside in, joined by dots: `Program.kernel`.
    pub path: Arc<str>,
    pub kind: BlockKind,
    /// Counts the blocks of the same path and kind.
    pub ordinal: u32,
}

impl BlockKey {
    /// The innermost name of the path: `kernel` of `Program.kernel`.
    pub fn name(&self) -> &str {
        crate::ast::last_name(&self.path)
    }
}

/// Text and tree of a block; positions count from the start of the block. The text is parsed when the tree is first asked for.
pub struct BlockSource {
    pub text: String,
    parsed: OnceLock<ParsedText>,
    /// The tree of the text that this one grew out of, told of the edit.
    before: Option<Tree>,
}

struct ParsedText {
    tree: Option<Tree>,
    broken: Vec<TextRange>,
}

impl PartialEq for BlockSource {
    /// The tree follows from the text.
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for BlockSource {}

impl std::fmt::Debug for BlockSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("BlockSource").field(&self.text).finish()
    }
}

impl BlockSource {
    fn new(text: &str, before: Option<Tree>) -> Arc<BlockSource> {
        Arc::new(BlockSource { text: text.to_owned(), parsed: OnceLock::new(), before })
    }

    /// A text by itself, such as several blocks put together again.
    pub fn of(text: &str) -> Arc<BlockSource> {
        BlockSource::new(text, None)
    }

    pub fn tree(&self) -> Option<&Tree> {
        self.parsed().tree.as_ref()
    }

    /// The nodes around a byte offset of the block, from the inside out, each larger than the one before.
    pub fn enclosing(&self, offset: usize) -> Vec<TextRange> {
        let mut ranges: Vec<TextRange> = Vec::new();
        let root = self.tree().map(|tree| tree.root_node());
        let mut node = root.and_then(|root| root.descendant_for_byte_range(offset, offset));
        // After a name is on the name.
        let before =
            root.filter(|_| offset > 0).and_then(|root| root.descendant_for_byte_range(offset - 1, offset - 1));
        if let (Some(here), Some(before)) = (node, before)
            && before.end_byte() == offset
            && before.kind() == "identifier"
            && here.kind() != "identifier"
        {
            node = Some(before);
        }
        while let Some(current) = node {
            let range = TextRange::new(current.start_byte(), current.end_byte());
            if ranges.last().is_none_or(|last| range.start <= last.start && last.end <= range.end && range != *last) {
                ranges.push(range);
            }
            node = current.parent();
        }
        ranges
    }

    /// What the tree shows otherwise: `...` for logical lines with a bracket that is never closed, so that they hide no other line,
    /// and blanks for the `name=` of keywords in subscripts, which Python does not have but sketches of types do; and what is too long to be read.
    pub fn broken(&self) -> &[TextRange] {
        &self.parsed().broken
    }

    fn parsed(&self) -> &ParsedText {
        self.parsed.get_or_init(|| {
            let unread = outline::unread(&self.text);
            if !unread.is_empty() {
                return self.parse_in_part(&unread);
            }
            // A text that ends inside a bracket has no tree without errors, and to recover from errors is slow.
            let as_it_is = (!outline::ends_inside_bracket(&self.text)).then(|| self.parse());
            if let Some(tree) = as_it_is.clone().flatten().filter(|tree| !tree.root_node().has_error()) {
                return ParsedText { tree: Some(tree), broken: Vec::new() };
            }
            let broken = outline::unclosed_lines(&self.text);
            let keywords = outline::subscript_keywords(&self.text);
            if broken.is_empty() && keywords.is_empty() {
                return ParsedText { tree: as_it_is.unwrap_or_else(|| self.parse()), broken };
            }
            self.parse_repaired(broken, keywords)
        })
    }

    fn parse(&self) -> Option<Tree> {
        parser::parse(&self.text, self.before.as_ref())
    }

    /// Without what is too long to be read.
    fn parse_in_part(&self, unread: &[(TextRange, &'static str)]) -> ParsedText {
        let mut text = self.text.clone();
        for (range, word) in unread {
            blank(&mut text, &[*range], word);
        }
        let broken = outline::unclosed_lines(&text);
        blank(&mut text, &broken, "...");
        let broken = unread.iter().map(|(range, _)| *range).chain(broken).collect();
        ParsedText { tree: parser::parse(&text, None), broken }
    }

    fn parse_repaired(&self, broken: Vec<TextRange>, keywords: Vec<TextRange>) -> ParsedText {
        let mut repaired = self.text.clone();
        blank(&mut repaired, &keywords, "");
        blank(&mut repaired, &broken, "...");
        let broken = [broken, keywords].concat();
        let before = match broken.as_slice() {
            [range] => self.before.clone().map(|mut tree| {
                let repair = Edit { start: range.start, old_end: range.end, new_end: range.end };
                repair.tell(&mut tree, &self.text, &repaired);
                tree
            }),
            _ => None,
        };
        ParsedText { tree: parser::parse(&repaired, before.as_ref()), broken }
    }

    /// The tree, if it is there and shows the text as it is.
    fn whole_tree(&self) -> Option<&Tree> {
        let parsed = self.parsed.get()?;
        parsed.tree.as_ref().filter(|_| parsed.broken.is_empty())
    }
}

/// Replaces each range by `word` and blanks; no offset moves.
fn blank(text: &mut String, ranges: &[TextRange], word: &str) {
    for range in ranges {
        // `format!` takes no width above 65,535.
        let blanks = " ".repeat(range.len().saturating_sub(word.len()));
        text.replace_range(range.start..range.end, &(word.to_owned() + &blanks));
    }
}

impl Default for Document {
    fn default() -> Self {
        Document::new("")
    }
}

impl Document {
    pub fn new(text: &str) -> Document {
        let mut document = Document { rope: Rope::from_str(text), parts: None, blocks: Arc::new([]), unsettled: None };
        document.cut_into_blocks(None);
        document
    }

    /// Texts one after another, such as the cells of a notebook, with a line break between them. What is left open in one, such as
    /// a bracket or a decorator, is not closed by the next. Lines in them end with `\n` alone.
    pub fn of_parts<T: AsRef<str>>(parts: &[T]) -> Document {
        let (text, starts) = joined(parts);
        let rope = Rope::from_str(&text);
        let mut document = Document { rope, parts: Some(Arc::new(starts)), blocks: Arc::new([]), unsettled: None };
        document.cut_into_blocks(None);
        document
    }

    /// The part that an offset is in; `None` of a text without parts.
    pub fn part_at(&self, offset: usize) -> Option<usize> {
        self.parts.as_ref()?.partition_point(|&start| start <= offset).checked_sub(1)
    }

    /// The bytes of a part, without the line break after it. A part that does not exist is empty.
    pub fn part(&self, index: usize) -> TextRange {
        let parts = self.parts.as_ref().map_or(&[][..], |parts| parts.as_slice());
        let Some(&start) = parts.get(index) else { return TextRange::empty(self.len()) };
        TextRange::new(start, parts.get(index + 1).map_or(self.len(), |next| next.saturating_sub(1).max(start)))
    }

    /// The bytes of a range that are in the part in which it starts.
    pub fn within_part(&self, range: TextRange) -> TextRange {
        match self.part_at(range.start) {
            None => range,
            Some(part) => TextRange::new(range.start, range.end.min(self.part(part).end).max(range.start)),
        }
    }

    /// Gives a part another text, by an edit of what differs: the bytes that it replaced, and how many are there now.
    pub fn set_part(&mut self, index: usize, text: &str) -> (Range<usize>, usize) {
        self.set_range(self.part(index), text)
    }

    /// Has this text from now on, by an edit of what differs, as [`Document::set_part`].
    pub fn set_text(&mut self, text: &str) -> (Range<usize>, usize) {
        self.set_range(TextRange::new(0, self.len()), text)
    }

    fn set_range(&mut self, TextRange { start, end }: TextRange, text: &str) -> (Range<usize>, usize) {
        let before = self.rope.byte_slice(start..end).to_string();
        let (changed, new) = difference(&before, text);
        let replaced = start + changed.start..start + changed.end;
        self.edit(replaced.clone(), new);
        (replaced, new.len())
    }

    /// Has these parts from now on, by an edit of what differs, as [`Document::set_part`].
    pub fn set_parts<T: AsRef<str>>(&mut self, parts: &[T]) -> (Range<usize>, usize) {
        let (text, starts) = joined(parts);
        let before = self.text();
        let (replaced, new) = difference(&before, &text);
        self.edit(replaced.clone(), new);
        self.parts = Some(Arc::new(starts));
        (replaced, new.len())
    }

    pub fn rope(&self) -> &Rope {
        &self.rope
    }

    pub fn text(&self) -> String {
        self.rope.to_string()
    }

    pub fn len(&self) -> usize {
        self.rope.len_bytes()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True where the text is larger than tilefit analyses; such a document has no blocks.
    pub fn is_oversized(&self) -> bool {
        self.len() > ANALYSED_AT_MOST
    }

    /// The blocks of the text as it was when it was last settled.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Of a position in the text as a whole.
    pub fn offset(&self, position: LineCol, encoding: PositionEncoding) -> usize {
        position::offset(&self.rope, position, encoding)
    }

    /// Of a position in a part.
    pub fn offset_in(&self, part: usize, position: LineCol, encoding: PositionEncoding) -> usize {
        let TextRange { start, end } = self.part(part);
        let line = position.line.saturating_add(self.rope.byte_to_line(start) as u32);
        self.offset(LineCol { line, ..position }, encoding).clamp(start, end)
    }

    /// In the part that the offset is in.
    pub fn position(&self, offset: usize, encoding: PositionEncoding) -> LineCol {
        let LineCol { line, col } = position::line_col(&self.rope, offset, encoding);
        LineCol { line: line - self.lines_before_part(offset) as u32, col }
    }

    /// The line of an offset, from 1, in the part that the offset is in.
    pub fn line(&self, offset: usize) -> usize {
        self.rope.byte_to_line(offset.min(self.len())) - self.lines_before_part(offset) + 1
    }

    fn lines_before_part(&self, offset: usize) -> usize {
        self.part_at(offset).map_or(0, |part| self.rope.byte_to_line(self.part(part).start))
    }

    /// Replaces the bytes of `range`; ends outside of the text or inside a character move back to the nearest valid one.
    pub fn edit(&mut self, range: Range<usize>, text: &str) {
        let start = self.char_boundary(range.start);
        let end = self.char_boundary(range.end.max(range.start));
        let (from, to) = (self.rope.byte_to_char(start), self.rope.byte_to_char(end));
        self.rope.remove(from..to);
        self.rope.insert(from, text);
        let edit = Edit { start, old_end: end, new_end: start + text.len() };
        if let Some(parts) = &mut self.parts {
            let after = Arc::make_mut(parts).iter_mut().filter(|part| **part > start);
            after.for_each(|part| *part = (*part).max(end) - end + edit.new_end);
        }
        self.unsettled = Some(self.unsettled.map_or(edit, |before| before.followed_by(edit)));
    }

    /// Cuts the blocks anew where the text was edited.
    pub fn settle(&mut self) {
        if let Some(edit) = self.unsettled.take() {
            self.cut_into_blocks(Some(edit));
        }
    }

    fn char_boundary(&self, offset: usize) -> usize {
        let offset = offset.min(self.len());
        self.rope.char_to_byte(self.rope.byte_to_char(offset))
    }

    /// Of each part by itself.
    fn segments(&self, text: &str) -> Vec<Segment> {
        let Some(parts) = self.parts.as_ref().filter(|parts| parts.len() > 1) else { return outline::segments(text) };
        let ends = parts.iter().skip(1).copied().chain([text.len()]);
        let mut all: Vec<Segment> = Vec::new();
        for (&start, end) in parts.iter().zip(ends) {
            let before = all.len();
            let of_part = outline::segments(&text[start..end]).into_iter().map(|segment| Segment {
                start: segment.start + start,
                parent: segment.parent.map(|parent| parent + before),
                ..segment
            });
            all.extend(of_part);
        }
        all
    }

    fn cut_into_blocks(&mut self, edit: Option<Edit>) {
        if self.is_oversized() {
            self.blocks = Arc::new([]);
            return;
        }
        let text = self.text();
        let segments = self.segments(&text);
        let keys = keys(&segments);
        let ends = segments.iter().skip(1).map(|next| next.start).chain([text.len()]);
        let mut reuse = Reuse { old: &self.blocks, edit, next: 0 };
        let blocks = segments.iter().zip(ends).zip(keys).map(|((segment, end), key)| {
            let range = TextRange::new(segment.start, end);
            let source = reuse.source(&text, range);
            Block { key, start: segment.start, parent: segment.parent, source }
        });
        self.blocks = blocks.collect();
    }
}

/// Parts as one text, and where each starts.
fn joined<T: AsRef<str>>(parts: &[T]) -> (String, Vec<usize>) {
    let (mut text, mut starts) = (String::new(), Vec::with_capacity(parts.len()));
    for part in parts {
        if !starts.is_empty() {
            text.push('\n');
        }
        starts.push(text.len());
        text.push_str(part.as_ref());
    }
    (text, starts)
}

/// The bytes of a text that another one has not, from the first that differs to the last, and what that one has there.
fn difference<'t>(before: &str, after: &'t str) -> (Range<usize>, &'t str) {
    let same = |(a, b): &(char, char)| a == b;
    let len = |(a, _): (char, char)| a.len_utf8();
    let start: usize = before.chars().zip(after.chars()).take_while(same).map(len).sum();
    let (old, new) = (&before[start..], &after[start..]);
    let end: usize = old.chars().rev().zip(new.chars().rev()).take_while(same).map(len).sum();
    (start..before.len() - end, &new[..new.len() - end])
}

/// A replaced range: `start..old_end` of the old text became `start..new_end` of the new one.
#[derive(Clone, Copy)]
struct Edit {
    start: usize,
    old_end: usize,
    new_end: usize,
}

impl Edit {
    /// One edit that spans both; `next` counts in the text that `self` left.
    fn followed_by(self, next: Edit) -> Edit {
        // What `next` reaches behind `self` is old text too.
        let beyond = next.old_end.saturating_sub(self.new_end);
        let kept = self.new_end.saturating_sub(next.old_end);
        Edit { start: self.start.min(next.start), old_end: self.old_end + beyond, new_end: next.new_end + kept }
    }

    /// Moves the nodes of the old text's tree to where they are in the new text, and marks those that the edit touched.
    fn tell(self, tree: &mut Tree, old_text: &str, new_text: &str) {
        tree.edit(&InputEdit {
            start_byte: self.start,
            old_end_byte: self.old_end,
            new_end_byte: self.new_end,
            start_position: point(old_text, self.start),
            old_end_position: point(old_text, self.old_end),
            new_end_position: point(new_text, self.new_end),
        });
    }

    /// Where a range of the new text was in the old one, if the edit did not touch it.
    fn old_range(self, new: TextRange) -> Option<TextRange> {
        if new.end < self.start {
            return Some(new);
        }
        let back = |offset: usize| (offset > self.new_end).then(|| offset - self.new_end + self.old_end);
        Some(TextRange::new(back(new.start)?, back(new.end)?))
    }
}

/// Finds for each new block the old one to take over: whole where the edit left it alone, its tree where the edit lies within.
struct Reuse<'b> {
    old: &'b [Block],
    edit: Option<Edit>,
    next: usize,
}

impl Reuse<'_> {
    fn source(&mut self, text: &str, range: TextRange) -> Arc<BlockSource> {
        let new_text = &text[range.start..range.end];
        let Some(edit) = self.edit else { return BlockSource::new(new_text, None) };
        if let Some(old) = edit.old_range(range).and_then(|old| self.block_at(old)) {
            return old.source.clone();
        }
        let before = self.block_around(edit, range).and_then(|old| edited_tree(old, edit, new_text));
        BlockSource::new(new_text, before)
    }

    /// The old block with exactly this range. New blocks ask in order, so the search goes on where it stopped.
    fn block_at(&mut self, range: TextRange) -> Option<&Block> {
        while self.old.get(self.next).is_some_and(|block| block.start < range.start) {
            self.next += 1;
        }
        let block = self.old.get(self.next)?;
        (block.start == range.start && block.source.text.len() == range.len()).then_some(block)
    }

    /// The old block that the new `range` grew out of: same start, and the whole edit inside of it.
    fn block_around(&self, edit: Edit, range: TextRange) -> Option<&Block> {
        let index = self.old.partition_point(|block| block.start <= edit.start).checked_sub(1)?;
        let block = &self.old[index];
        let grown = block.source.text.len() + edit.new_end - edit.start;
        let inside = edit.old_end <= block.start + block.source.text.len();
        (block.start == range.start && inside && grown == range.len() + edit.old_end - edit.start).then_some(block)
    }
}

/// The tree of an old block, told of an edit inside of it.
fn edited_tree(block: &Block, edit: Edit, new_text: &str) -> Option<Tree> {
    let mut tree = block.source.whole_tree()?.clone();
    let within = Edit {
        start: edit.start - block.start,
        old_end: edit.old_end - block.start,
        new_end: edit.new_end - block.start,
    };
    within.tell(&mut tree, &block.source.text, new_text);
    Some(tree)
}

/// tree-sitter counts `\n` only; never mix its rows with LSP lines.
fn point(text: &str, offset: usize) -> Point {
    let before = &text.as_bytes()[..offset];
    let row = before.iter().filter(|&&b| b == b'\n').count();
    let column = offset - before.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
    Point { row, column }
}

fn keys(segments: &[Segment]) -> Vec<BlockKey> {
    let mut seen = std::collections::HashMap::new();
    let mut keys: Vec<BlockKey> = Vec::with_capacity(segments.len());
    for segment in segments {
        let outer = segment.parent.map_or("", |parent| &keys[parent].path);
        let path: Arc<str> = match (outer.is_empty(), segment.name.is_empty()) {
            (true, _) => segment.name.as_str().into(),
            (false, true) => outer.into(),
            (false, false) => format!("{outer}.{}", segment.name).into(),
        };
        let count = seen.entry((path.clone(), segment.kind)).or_insert(0);
        keys.push(BlockKey { path, kind: segment.kind, ordinal: *count });
        *count += 1;
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn trees(document: &Document) -> Vec<String> {
        let tree = |block: &Block| block.source.tree().map(|tree| tree.root_node().to_sexp());
        document.blocks().iter().map(|b| format!("{:?} {} {:?}", b.key, b.start, tree(b))).collect()
    }

    #[test]
    fn an_edit_keeps_the_other_blocks() {
        let mut document = Document::new("def a():\n    x = 1\n\ndef b():\n    y = 2\n");
        let before = document.clone();
        let digit = document.text().find('1').unwrap_or_default();
        document.edit(digit..digit + 1, "64");
        document.settle();
        assert!(!Arc::ptr_eq(&before.blocks()[0].source, &document.blocks()[0].source));
        assert!(Arc::ptr_eq(&before.blocks()[1].source, &document.blocks()[1].source));
        document.edit(0..0, "\n");
        document.settle();
        assert!(Arc::ptr_eq(&before.blocks()[1].source, &document.blocks()[1].source));
    }

    #[test]
    fn what_one_part_leaves_open_does_not_concern_the_next() {
        let document = Document::of_parts(&["@pl.function", "def a(x):\n    y = f(", "    '''", "z = 1\n", ""]);
        let shown: Vec<_> = document.blocks().iter().map(|it| (it.key.kind, it.source.text.as_str())).collect();
        expect_test::expect![[r#"
            [
                (
                    Statements,
                    "@pl.function\n",
                ),
                (
                    Function,
                    "def a(x):\n    y = f(\n",
                ),
                (
                    Statements,
                    "    '''\n",
                ),
                (
                    Statements,
                    "z = 1\n\n",
                ),
                (
                    Statements,
                    "",
                ),
            ]
        "#]]
        .assert_debug_eq(&shown);
    }

    #[test]
    fn positions_count_in_their_part() {
        let document = Document::of_parts(&["a\nb", "", "cé\nd"]);
        let at = |line, col| LineCol { line, col };
        assert_eq!(document.position(3, PositionEncoding::Utf8), at(1, 1));
        assert_eq!(document.position(4, PositionEncoding::Utf8), at(0, 0));
        assert_eq!([0, 2, 4, 5, 9].map(|offset| document.line(offset)), [1, 2, 1, 1, 2]);
        assert_eq!(document.offset_in(2, at(1, 0), PositionEncoding::Utf8), 9);
        assert_eq!(document.offset_in(1, at(7, 7), PositionEncoding::Utf8), 4);
        assert_eq!(document.offset_in(9, at(0, 0), PositionEncoding::Utf8), document.len());
        assert_eq!(document.within_part(TextRange::new(2, 8)), TextRange::new(2, 3));
        assert_eq!(Document::of_parts::<&str>(&[]).part_at(0), None);
    }

    #[test]
    fn offsets_outside_are_moved() {
        let mut document = Document::new("é");
        document.edit(1..99, "x");
        assert_eq!(document.text(), "x");
    }

    fn cell() -> impl Strategy<Value = String> {
        prop::collection::vec(piece(), 0..6).prop_map(|pieces| pieces.concat().replace('\r', ""))
    }

    fn piece() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec![
            "\n",
            "    ",
            "(",
            ")",
            "[",
            "\"\"\"",
            "'",
            "#",
            "@pl.function\n",
            "def f(a):\n",
            "class P:\n",
            "x = 1\n",
            "    y = pl.load(a, [0, 0], [64, 64])\n",
            "😀",
            "\r\n",
            "\r",
            "\\\n",
            "if x:\n",
            "64",
            ",",
            ":",
            "\t",
            "return x\n",
        ])
    }

    proptest! {
        #[test]
        fn edited_parts_equal_fresh_ones(
            start in prop::collection::vec(cell(), 0..6),
            edits in prop::collection::vec((0..7_usize, 0..3_usize, prop::collection::vec(cell(), 0..3), prop::bool::ANY), 1..12),
        ) {
            let mut parts = start;
            let mut document = Document::of_parts(&parts);
            for (at, removed, inserted, settles) in edits {
                trees(&document); // else there is nothing to edit in place
                let at = at % (parts.len() + 1);
                match inserted.as_slice() {
                    [text] if removed == 1 && at < parts.len() => {
                        parts[at].clone_from(text);
                        document.set_part(at, text);
                    }
                    _ => {
                        parts.splice(at..(at + removed).min(parts.len()), inserted);
                        document.set_parts(&parts);
                    }
                }
                if settles {
                    document.settle();
                }
            }
            document.settle();
            let fresh = Document::of_parts(&parts);
            prop_assert_eq!(document.text(), fresh.text());
            prop_assert_eq!(&document.parts, &fresh.parts);
            prop_assert_eq!(trees(&document), trees(&fresh));
        }

        #[test]
        fn an_edited_document_equals_a_fresh_one(
            start in prop::collection::vec(piece(), 0..40),
            edits in prop::collection::vec((0..400_usize, 0..12_usize, prop::collection::vec(piece(), 0..4), prop::bool::ANY), 1..12),
        ) {
            let mut document = Document::new(&start.concat());
            for (at, removed, inserted, settles) in edits {
                trees(&document); // else there is nothing to edit in place
                let at = at % (document.len() + 1);
                document.edit(at..at + removed, &inserted.concat());
                if settles {
                    document.settle();
                }
            }
            document.settle();
            let fresh = Document::new(&document.text());
            prop_assert_eq!(trees(&document), trees(&fresh));
        }
    }
}
