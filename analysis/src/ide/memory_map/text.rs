//! A memory map in characters, for terminals and text editors. Every cell says what it is without its colour, too.

use super::legend::{Sign, axes, signs};
use super::scale::{Panel, Scale, panels};
use super::svg::COLOURS;
use super::{BoxMap, BufferMap, Down, MemoryMap, SpaceMap, Step, heading};

/// A line of the drawing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Line {
    pub spans: Vec<Span>,
}

/// Characters of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    pub text: String,
    pub kind: Kind,
    /// Number of the box that it shows, counted over all spaces from 0.
    pub number: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Plain,
    Title,
    /// A space that is over its capacity.
    OverTitle,
    /// Source line.
    Line,
    /// Which copy of a loop's body.
    Copy,
    /// Addresses below a memory.
    Address,
    /// With the colour of its buffer, below [`COLOURS`].
    Tile(usize),
    Label(usize),
    /// Of a buffer, beyond the capacity.
    Over,
    Waste,
    Reserved,
    Free,
    Capacity,
    Peak,
}

impl Kind {
    /// `tile3`, `waste`
    pub fn name(self) -> String {
        match self {
            Kind::Plain => "plain".to_owned(),
            Kind::Title => "title".to_owned(),
            Kind::OverTitle => "overTitle".to_owned(),
            Kind::Line => "line".to_owned(),
            Kind::Copy => "copy".to_owned(),
            Kind::Address => "address".to_owned(),
            Kind::Tile(colour) => format!("tile{colour}"),
            Kind::Label(colour) => format!("label{colour}"),
            Kind::Over => "over".to_owned(),
            Kind::Waste => "waste".to_owned(),
            Kind::Reserved => "reserved".to_owned(),
            Kind::Free => "free".to_owned(),
            Kind::Capacity => "capacity".to_owned(),
            Kind::Peak => "peak".to_owned(),
        }
    }
}

/// Beside the lines.
const GUTTER: usize = 6;
/// Has the mark of the peak.
const GAP: usize = 2;
const NARROWEST: usize = 40;
/// For the names of what begins in a row and has no room for its name in it; in narrower pictures there is none.
const NAMES: usize = 24;
const ROOM_FOR_NAMES: usize = 70;
/// Letters of a name that say something.
const SHORTEST: usize = 3;
/// Between addresses.
const STEP: usize = 10;

/// Draws a map no wider than `columns`.
pub fn draw<At>(map: &MemoryMap<At>, columns: usize, scale: Scale) -> Vec<Line> {
    let columns = columns.max(NARROWEST);
    let mut lines = Vec::new();
    let partly = if map.status == "exact" { String::new() } else { format!(", {}", map.status) };
    let title = format!("{} ({}, {}{partly})", map.kernel, map.target, map.planner);
    wrapped(&mut lines, &title, (0, 2), columns, Kind::Title);
    for space in &map.spaces {
        let kind = if space.is_over() { Kind::OverTitle } else { Kind::Plain };
        wrapped(&mut lines, &heading(space), (2, 4), columns, kind);
    }
    if let Some(confirmation) = &map.confirmation {
        wrapped(&mut lines, &confirmation.words(), (2, 4), columns, Kind::Plain);
        for differing in confirmation.differing() {
            wrapped(&mut lines, &differing.to_string(), (4, 6), columns, Kind::Plain);
        }
    }
    for reason in &map.reasons {
        wrapped(&mut lines, &format!("not modelled: {reason}"), (2, 4), columns, Kind::Plain);
    }
    if map.steps.is_empty() {
        return lines;
    }
    lines.push(Line::default());
    legend(&mut lines, map, columns);
    lines.push(Line::default());
    let gutter = GUTTER + copies_width(map);
    let (mut panels, mut grids) = drawn(map, columns, gutter, scale);
    let has_nameless = grids.iter().any(|grid| !grid.nameless.is_empty());
    let margin = if has_nameless && columns >= ROOM_FOR_NAMES { NAMES } else { 0 };
    if margin > 0 {
        (panels, grids) = drawn(map, columns - margin, gutter, scale);
    }
    lines.push(names(&panels, &grids, gutter));
    rows(&mut lines, map, &grids, (gutter, margin));
    lines.push(addresses(&panels, &grids, gutter));
    lines
}

fn drawn<At>(map: &MemoryMap<At>, columns: usize, gutter: usize, scale: Scale) -> (Vec<Panel<'_, At>>, Vec<Grid>) {
    let panels = panels(map, room(map, columns, gutter) as f64, (GAP as f64, 1.0), scale);
    let grids = numbered(&panels).map(|(panel, number)| Grid::of(panel, number, map.rows())).collect();
    (panels, grids)
}

/// Columns for the panels: beside the gutter, the mark of the last peak, the lines of capacities that are exceeded, and what rounding adds.
fn room<At>(map: &MemoryMap<At>, columns: usize, gutter: usize) -> usize {
    let over = map.spaces.iter().filter(|space| space.is_over()).count();
    let rounding = map.spaces.len().div_ceil(2);
    columns.saturating_sub(gutter + GAP + over + rounding)
}

/// Columns for which copy of a loop's body a row is of.
fn copies_width<At>(map: &MemoryMap<At>) -> usize {
    let marks = map.steps.iter().filter_map(|step| step.copy.as_ref());
    marks.map(|copy| copy.short.chars().count() + 2).max().unwrap_or(0)
}

/// Breaks a text at words into lines, the first of which begins after `first` blanks and the others after `next`.
fn wrapped(lines: &mut Vec<Line>, text: &str, (first, next): (usize, usize), columns: usize, kind: Kind) {
    let mut line = " ".repeat(first);
    let mut is_empty = true;
    for word in text.split(' ') {
        let mut word = word;
        if !is_empty && line.chars().count() + 1 + word.chars().count() > columns {
            lines.push(Line::of(&line, kind));
            (line, is_empty) = (" ".repeat(next), true);
        }
        // A word that is longer than a line is broken too.
        while let Some((at, _)) = word.char_indices().nth(columns - line.chars().count() - usize::from(!is_empty)) {
            lines.push(Line::of(&format!("{line}{}", &word[..at]), kind));
            (line, is_empty, word) = (" ".repeat(next), true, &word[at..]);
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    lines.push(Line::of(&line, kind));
}

/// The signs that the map has, each in its own colour.
fn legend<At>(lines: &mut Vec<Line>, map: &MemoryMap<At>, columns: usize) {
    wrapped(lines, axes(map), (2, 2), columns, Kind::Plain);
    let mut line = Line::default();
    let mut used = 0;
    for (sign, words) in signs(map) {
        let (glyph, kind) = match sign {
            Sign::Tile => ("█▓", Kind::Tile(0)),
            Sign::Unused => ("╱", Kind::Waste),
            Sign::Reserved => ("░", Kind::Reserved),
            Sign::Capacity => ("┃", Kind::Capacity),
            Sign::Beyond => ("▒", Kind::Over),
            Sign::Peak => ("◂", Kind::Peak),
            Sign::Copies => ("", Kind::Copy),
        };
        let words = format!("{}{words}", if glyph.is_empty() { "" } else { " " });
        let length = glyph.chars().count() + words.chars().count();
        if used > 0 && used + 3 + length > columns {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        if length + 2 > columns {
            wrapped(lines, &format!("{glyph}{words}"), (2, 4), columns, Kind::Plain);
            continue;
        }
        let before = if used == 0 { 2 } else { 3 };
        line.push(&" ".repeat(before), Kind::Plain, None);
        line.push(glyph, kind, None);
        line.push(&words, Kind::Plain, None);
        used += before + length;
    }
    if used > 0 {
        lines.push(line);
    }
}

/// Panels with the number of their first box.
fn numbered<'p, 'm, At>(panels: &'p [Panel<'m, At>]) -> impl Iterator<Item = (&'p Panel<'m, At>, usize)> {
    let mut next = 0;
    panels.iter().map(move |panel| {
        let first = next;
        next += panel.space.boxes().count();
        (panel, first)
    })
}

fn names<At>(panels: &[Panel<'_, At>], grids: &[Grid], gutter: usize) -> Line {
    let mut line = Line::default();
    line.push(&" ".repeat(gutter), Kind::Plain, None);
    for (panel, grid) in panels.iter().zip(grids) {
        let width = grid.width + GAP;
        let name: String = panel.space.name.chars().take(width - 1).collect();
        let padding = width - name.chars().count();
        line.push(&name, Kind::Title, None);
        line.push(&" ".repeat(padding), Kind::Plain, None);
    }
    line
}

fn rows<At>(lines: &mut Vec<Line>, map: &MemoryMap<At>, grids: &[Grid], (gutter, margin): (usize, usize)) {
    let copies = gutter - GUTTER;
    let mut before: Option<&Step> = None;
    let mut row = 0;
    for step in &map.steps {
        for nth in 0..step.rows {
            let mut line = Line::default();
            let begins = nth == 0 && before.is_none_or(|before| before.copy != step.copy);
            let mark = match &step.copy {
                Some(copy) if begins => format!("{:>width$}│", copy.short, width = copies - 1),
                Some(_) => format!("{:>copies$}", "│"),
                None => " ".repeat(copies),
            };
            line.push(&mark, Kind::Copy, None);
            let label = if nth == 0 { step.line.to_string() } else { String::new() };
            line.push(&format!("{label:>width$} ", width = GUTTER - 1), Kind::Line, None);
            for (grid, space) in grids.iter().zip(map.drawn()) {
                for cell in &grid.cells[row] {
                    line.push(&cell.letter.to_string(), cell.kind, cell.number);
                }
                let is_peak = map.down == Down::Time && space.peak_row == Some(row);
                line.push(if is_peak { "◂" } else { " " }, if is_peak { Kind::Peak } else { Kind::Plain }, None);
                line.push(" ", Kind::Plain, None);
            }
            beside(&mut line, grids, row, margin);
            lines.push(line);
            row += 1;
        }
        before = Some(step);
    }
}

/// The names of what begins in a row, and has no room for its name there.
fn beside(line: &mut Line, grids: &[Grid], row: usize, margin: usize) {
    let mut told: Vec<&str> = Vec::new();
    let mut room = margin;
    for nameless in grids.iter().flat_map(|grid| &grid.nameless).filter(|nameless| nameless.row == row) {
        if told.contains(&nameless.name.as_str()) {
            continue;
        }
        let before = if told.is_empty() { "" } else { ", " };
        told.push(&nameless.name);
        room = room.saturating_sub(before.len());
        let Some(name) = cut(&nameless.name, room) else { return };
        room -= name.chars().count();
        line.push(before, Kind::Plain, None);
        line.push(&name, nameless.kind, Some(nameless.number));
    }
}

/// `text` in so many letters; nothing where hardly any of it would be left.
fn cut(text: &str, room: usize) -> Option<String> {
    if text.chars().count() <= room {
        return Some(text.to_owned());
    }
    (room > SHORTEST).then(|| text.chars().take(room - 1).chain(['…']).collect())
}

/// The addresses at which columns begin, below each memory.
fn addresses<At>(panels: &[Panel<'_, At>], grids: &[Grid], gutter: usize) -> Line {
    let mut line = Line::default();
    line.push(&" ".repeat(gutter), Kind::Plain, None);
    for (panel, grid) in panels.iter().zip(grids) {
        let step = panel.step(STEP as f64);
        let mut text = String::new();
        for number in 0.. {
            let address = step.saturating_mul(number);
            let label = panel.address(address);
            let at = panel.x(address).round() as usize;
            // One that is cut off would be another address.
            if at + label.len() > grid.width || (number > 0 && at == 0) {
                break;
            }
            let padding = at.saturating_sub(text.len());
            text.push_str(&" ".repeat(padding));
            text.push_str(&label);
        }
        text.push_str(&" ".repeat((grid.width + GAP).saturating_sub(text.len())));
        line.push(&text, Kind::Address, None);
    }
    if let Some(last) = line.spans.last_mut() {
        last.text.truncate(last.text.trim_end().len());
    }
    line
}

impl Line {
    fn of(text: &str, kind: Kind) -> Line {
        let mut line = Line::default();
        line.push(text, kind, None);
        line
    }

    fn push(&mut self, text: &str, kind: Kind, number: Option<usize>) {
        match self.spans.last_mut() {
            Some(last) if last.kind == kind && last.number == number => last.text.push_str(text),
            _ => self.spans.push(Span { text: text.to_owned(), kind, number }),
        }
    }

    pub fn text(&self) -> String {
        let text: String = self.spans.iter().map(|span| span.text.as_str()).collect();
        text.trim_end().to_owned()
    }
}

#[derive(Clone, Copy)]
struct Cell {
    letter: char,
    kind: Kind,
    number: Option<usize>,
}

/// The cells of one space, by row.
struct Grid {
    width: usize,
    cells: Vec<Vec<Cell>>,
    nameless: Vec<Nameless>,
}

/// A box without room for its name, and the row in which it begins.
struct Nameless {
    row: usize,
    name: String,
    kind: Kind,
    number: usize,
}

impl Grid {
    fn of<At>(panel: &Panel<'_, At>, first: usize, rows: usize) -> Grid {
        let space = panel.space;
        let width = (panel.width.round() as usize).max(1);
        let mut grid = Grid { width, cells: vec![vec![FREE; width]; rows], nameless: Vec::new() };
        let beyond = panel.capacity().map_or(width, |at| at.round() as usize);
        grid.fill(0..rows, beyond..width, Cell { letter: ' ', kind: Kind::Plain, number: None });
        if space.reserved > 0 {
            let reserved = grid.columns(panel, 0, space.reserved);
            grid.fill(0..rows, reserved, Cell { letter: '░', kind: Kind::Reserved, number: None });
        }
        let mut number = first;
        for (colour, buffer) in space.buffers.iter().enumerate() {
            for each in &buffer.boxes {
                grid.draw(panel, space, buffer, each, (colour % COLOURS, number));
                number += 1;
            }
        }
        if space.capacity.is_some() && beyond < width {
            for row in &mut grid.cells {
                row.insert(beyond, Cell { letter: '┃', kind: Kind::Capacity, number: None });
            }
            grid.width += 1;
        }
        grid
    }

    fn draw<At>(
        &mut self,
        panel: &Panel<'_, At>,
        space: &SpaceMap<At>,
        buffer: &BufferMap<At>,
        each: &BoxMap<At>,
        (colour, number): (usize, usize),
    ) {
        let rows = each.first_row..each.end_row.min(self.cells.len());
        let (box_number, number) = (number, Some(number));
        for &[start, end] in &each.waste {
            let columns = self.columns(panel, start, end);
            self.fill(rows.clone(), columns, Cell { letter: '╱', kind: Kind::Waste, number });
        }
        // Neighbours of other buffers keep apart without colours, too.
        let letter = if colour % 2 == 0 { '█' } else { '▓' };
        for &[start, end] in &each.ranges {
            let limit = space.capacity.unwrap_or(u64::MAX).clamp(start, end);
            let columns = self.columns(panel, start, end);
            self.fill(rows.clone(), columns, Cell { letter, kind: Kind::Tile(colour), number });
            if limit < end && buffer.overflow > 0 {
                let over = self.columns(panel, limit, end);
                self.fill(rows.clone(), over, Cell { letter: '▒', kind: Kind::Over, number });
            }
        }
        if let Some(&[start, end]) = each.ranges.first() {
            let columns = self.columns(panel, start, end);
            let room = columns.len().saturating_sub(2);
            let title = each.label(|title| title.chars().count() <= room);
            if room < SHORTEST.min(title.len()) {
                let name = title.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
                self.nameless.push(Nameless { row: rows.start, name, kind: Kind::Tile(colour), number: box_number });
            } else {
                self.label(rows.start, columns, &title, Cell { letter: ' ', kind: Kind::Label(colour), number });
            }
        }
    }

    /// The columns of a range of addresses; never none.
    fn columns<At>(&self, panel: &Panel<'_, At>, start: u64, end: u64) -> std::ops::Range<usize> {
        let from = (panel.x(start).round() as usize).min(self.cells.first().map_or(1, Vec::len) - 1);
        let to = (panel.x(end).round() as usize).min(self.cells.first().map_or(1, Vec::len));
        from..to.max(from + 1)
    }

    fn fill(&mut self, rows: std::ops::Range<usize>, columns: std::ops::Range<usize>, cell: Cell) {
        for row in self.cells.iter_mut().take(rows.end).skip(rows.start) {
            for at in row.iter_mut().take(columns.end).skip(columns.start) {
                *at = cell;
            }
        }
    }

    /// Writes the beginning of `text` into the first row of a box.
    fn label(&mut self, row: usize, columns: std::ops::Range<usize>, text: &str, cell: Cell) {
        let room = columns.len().saturating_sub(2);
        let Some(cells) = self.cells.get_mut(row) else { return };
        for (at, letter) in cells[columns].iter_mut().skip(1).zip(text.chars().take(room)) {
            *at = Cell { letter: if letter.is_control() { ' ' } else { letter }, ..cell };
        }
    }
}

const FREE: Cell = Cell { letter: '·', kind: Kind::Free, number: None };
