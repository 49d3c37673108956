//! The rows of a map in which time runs down: a statement is one row, or as many as it takes to show that one value takes the place of
//! another.

use std::ops::Range;

use tilefit_pypto::ir::{BodyCopy, Part};

use super::{CopyMark, Step};

/// A moment at which something begins or ends, and the statement that it is in.
pub(in crate::ide) struct Moment<'n> {
    pub(in crate::ide) at: u32,
    /// From 1.
    pub(in crate::ide) line: usize,
    /// The copies of loop bodies that the statement belongs to, outer loops first.
    pub(in crate::ide) copies: &'n [BodyCopy],
}

/// A value comes to addresses or leaves them. Two at one place cannot be drawn in one row.
pub(in crate::ide) struct Change {
    pub(in crate::ide) at: u32,
    pub(in crate::ide) comes: bool,
    pub(in crate::ide) space: &'static str,
    pub(in crate::ide) addresses: [u64; 2],
}

pub(in crate::ide) struct Time {
    /// The moment at which each row begins.
    rows: Vec<u32>,
    steps: Vec<Step>,
}

impl Time {
    /// Of moments in order, the last of which ends the last row, and of changes in any order.
    pub(in crate::ide) fn of(moments: &[Moment<'_>], mut changes: Vec<Change>) -> Time {
        changes.sort_by_key(|change| change.at);
        let mut time = Time { rows: Vec::new(), steps: Vec::new() };
        let moments = moments.split_last().map_or(&[] as &[Moment<'_>], |(_, before)| before);
        let mut start = 0;
        while start < moments.len() {
            let goes_on = |pair: &[Moment<'_>]| pair[0].line == pair[1].line && follows(pair[0].copies, pair[1].copies);
            let length = 1 + moments[start..].windows(2).take_while(|pair| goes_on(pair)).count();
            time.step(&moments[start..start + length], &changes);
            start += length;
        }
        time
    }

    /// Adds the rows of one statement.
    fn step(&mut self, moments: &[Moment<'_>], changes: &[Change]) {
        let [first, .., last] = moments else {
            let [only] = moments else { return };
            return self.add(only, only, vec![only.at]);
        };
        let mut rows = vec![first.at];
        let mut left: Vec<&Change> = Vec::new();
        let until = changes.partition_point(|change| change.at <= last.at);
        let from = changes.partition_point(|change| change.at <= first.at);
        for at_once in changes[from..until].chunk_by(|one, other| one.at == other.at) {
            left.extend(at_once.iter().filter(|change| !change.comes));
            let takes_place = |change: &Change| left.iter().any(|gone| gone.overlaps(change));
            if at_once.iter().any(|change| change.comes && takes_place(change)) {
                rows.push(at_once[0].at);
                left.clear();
            }
        }
        self.add(first, last, rows);
    }

    fn add(&mut self, first: &Moment<'_>, last: &Moment<'_>, rows: Vec<u32>) {
        let copy = span(first.copies, last.copies);
        self.steps.push(Step { line: first.line, rows: rows.len(), copy });
        self.rows.extend(rows);
    }

    /// The row that begins at a moment or around it.
    pub(in crate::ide) fn row(&self, moment: u32) -> usize {
        self.rows.partition_point(|&row| row <= moment).saturating_sub(1)
    }

    pub(in crate::ide) fn into_steps(self) -> Vec<Step> {
        self.steps
    }

    /// From one moment to before another; never none.
    pub(in crate::ide) fn rows(&self, first: u32, end: u32) -> Range<usize> {
        let row = self.row(first);
        row..self.rows.partition_point(|&start| start < end).max(row + 1)
    }
}

impl Change {
    fn overlaps(&self, other: &Change) -> bool {
        let ([start, end], [from, to]) = (self.addresses, other.addresses);
        self.space == other.space && start < to && from < end
    }
}

/// `2/4`, in words `stage 2 of 4`; `None` for what is of no copy.
pub(in crate::ide) fn mark(copies: &[BodyCopy]) -> Option<CopyMark> {
    span(copies, copies)
}

/// Of neighbouring copies, from the first to the last: `1–4/4`.
fn span(first: &[BodyCopy], last: &[BodyCopy]) -> Option<CopyMark> {
    let parts: Vec<[String; 2]> =
        first.iter().zip(last).map(|(first, last)| [short(first, last), words(first, last)]).collect();
    let joined =
        |which: usize, with: &str| parts.iter().map(|part| part[which].as_str()).collect::<Vec<_>>().join(with);
    (!parts.is_empty()).then(|| CopyMark { short: joined(0, " "), words: joined(1, ", ") })
}

fn short(first: &BodyCopy, last: &BodyCopy) -> String {
    let before = match first.part {
        Part::Unit if first.nth == last.nth => return format!("unit {}", first.nth + 1),
        Part::Unit => return "units".to_owned(),
        Part::Unrolled | Part::Stage => "",
        Part::Ahead => "ahead ",
        Part::Rest => "rest ",
    };
    match (first.nth, last.nth) {
        _ if first.part == Part::Rest && first.count == 1 => "rest".to_owned(),
        (nth, last) if nth == last => format!("{before}{}/{}", nth + 1, first.count),
        (nth, last) => format!("{before}{}–{}/{}", nth + 1, last + 1, first.count),
    }
}

fn words(first: &BodyCopy, last: &BodyCopy) -> String {
    let (one, many, after) = match first.part {
        Part::Unrolled => ("iteration", "iterations", ""),
        Part::Stage => ("stage", "stages", ""),
        Part::Ahead => ("stage", "stages", ", started before the loop"),
        Part::Rest => ("iteration", "iterations", " left over after the loop"),
        Part::Unit => ("vector unit", "vector units", ""),
    };
    match (first.nth, last.nth) {
        _ if first.count == 1 => format!("one {one}{after}"),
        (nth, last) if nth == last => format!("{one} {} of {}{after}", nth + 1, first.count),
        (nth, last) => format!("{many} {} to {} of {}{after}", nth + 1, last + 1, first.count),
    }
}

/// Whether a statement that belongs to `next` may stand in one row with one before it that belongs to `last`: it is the same copy, or one
/// that runs after it. The vector units run at the same time.
fn follows(last: &[BodyCopy], next: &[BodyCopy]) -> bool {
    let Some(((last, outer), (next, of_next))) = last.split_last().zip(next.split_last()) else {
        return last.is_empty() && next.is_empty();
    };
    let runs_after = last.nth == next.nth || (last.part != Part::Unit && last.nth < next.nth);
    outer == of_next && last.of == next.of && last.part == next.part && runs_after
}
