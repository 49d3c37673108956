//! A memory map in characters, for terminals and text editors. Every cell says what it is without its colour, too.

use super::scale::{Panel, panels};
use super::svg::COLOURS;
use super::{BoxMap, BufferMap, Down, MemoryMap, SpaceMap, heading};

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

const GUTTER: usize = 6;
const GAP: f64 = 2.0;
const NARROWEST: usize = 40;

/// Draws a map `columns` wide.
pub fn draw<At>(map: &MemoryMap<At>, columns: usize) -> Vec<Line> {
    let columns = columns.max(NARROWEST);
    let partly = if map.status == "exact" { String::new() } else { format!(", {}", map.status) };
    let mut lines = vec![Line::of(&format!("{} ({}, {}{partly})", map.kernel, map.target, map.planner), Kind::Title)];
    for space in &map.spaces {
        let kind = if space.is_over() { Kind::OverTitle } else { Kind::Plain };
        lines.push(Line::of(&format!("  {}", heading(space)), kind));
    }
    if let Some(confirmation) = &map.confirmation {
        lines.push(Line::of(&format!("  {}", confirmation.words()), Kind::Plain));
        let differing = confirmation.differing().iter().map(|it| Line::of(&format!("    {it}"), Kind::Plain));
        lines.extend(differing);
    }
    lines.extend(map.reasons.iter().map(|reason| Line::of(&format!("  not modelled: {reason}"), Kind::Plain)));
    if map.rows.is_empty() {
        return lines;
    }
    let panels = panels(map, room(map, columns) as f64, GAP);
    let grids: Vec<Grid> = numbered(&panels).map(|(panel, number)| Grid::of(panel, number, map.rows.len())).collect();
    lines.push(Line::default());
    lines.push(names(&panels, &grids));
    for (row, line) in map.rows.iter().enumerate() {
        lines.push(self::row(map, &grids, row, *line));
    }
    lines
}

/// Columns for the panels: beside the lines, the longest mark of a peak, the lines of capacities that are exceeded, and what rounding adds.
fn room<At>(map: &MemoryMap<At>, columns: usize) -> usize {
    let peaks = (0..map.rows.len()).map(|row| peak(map, row).chars().count()).max().unwrap_or(0);
    let over = map.spaces.iter().filter(|space| space.is_over()).count();
    let rounding = map.spaces.len().div_ceil(2);
    columns.saturating_sub(GUTTER + GAP as usize + peaks + over + rounding)
}

/// What is said after a row: the spaces that have their peak there.
fn peak<At>(map: &MemoryMap<At>, row: usize) -> String {
    let at_peak = map.spaces.iter().filter(|space| space.peak_row == Some(row) && map.down == Down::Time);
    let names: Vec<_> = at_peak.map(|space| space.name).collect();
    if names.is_empty() { String::new() } else { format!("◂ peak {}", names.join(", ")) }
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

fn names<At>(panels: &[Panel<'_, At>], grids: &[Grid]) -> Line {
    let mut line = Line::default();
    line.push(&" ".repeat(GUTTER), Kind::Plain, None);
    for (panel, grid) in panels.iter().zip(grids) {
        let width = grid.width + GAP as usize;
        let name: String = panel.space.name.chars().take(width - 1).collect();
        let padding = width - name.chars().count();
        line.push(&name, Kind::Title, None);
        line.push(&" ".repeat(padding), Kind::Plain, None);
    }
    line
}

fn row<At>(map: &MemoryMap<At>, grids: &[Grid], row: usize, source_line: usize) -> Line {
    let mut line = Line::default();
    let repeated = row > 0 && map.rows[row - 1] == source_line;
    let label = if repeated { String::new() } else { source_line.to_string() };
    line.push(&format!("{label:>width$} ", width = GUTTER - 1), Kind::Line, None);
    for grid in grids {
        for cell in &grid.cells[row] {
            line.push(&cell.letter.to_string(), cell.kind, cell.number);
        }
        line.push("  ", Kind::Plain, None);
    }
    let peak = peak(map, row);
    if !peak.is_empty() {
        line.push(&peak, Kind::Peak, None);
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
}

impl Grid {
    fn of<At>(panel: &Panel<'_, At>, first: usize, rows: usize) -> Grid {
        let space = panel.space;
        let width = (panel.width.round() as usize).max(1);
        let mut grid = Grid { width, cells: vec![vec![FREE; width]; rows] };
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
        let number = Some(number);
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
            self.label(rows.start, columns, &each.title(), Cell { letter: ' ', kind: Kind::Label(colour), number });
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
        const SHORTEST: usize = 3;
        let room = columns.len().saturating_sub(2);
        let Some(cells) = self.cells.get_mut(row).filter(|_| room >= SHORTEST.min(text.len())) else { return };
        for (at, letter) in cells[columns].iter_mut().skip(1).zip(text.chars().take(room)) {
            *at = Cell { letter: if letter.is_control() { ' ' } else { letter }, ..cell };
        }
    }
}

const FREE: Cell = Cell { letter: '·', kind: Kind::Free, number: None };
