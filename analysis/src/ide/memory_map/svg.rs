//! A memory map as a picture. Its colours come from classes: a page brings its own ([`STYLE`] shows which there are), a picture by
//! itself has them inside.

use std::fmt::Write;

use tilefit_packing::svg::escaped;

use super::scale::{Panel, Room, panels};
use super::{BoxMap, BufferMap, Down, MemoryMap, SpaceMap, Step, heading, headline};
use crate::ide::formatting::{amount, exact_amount};

/// Of a picture by itself; light and dark.
pub const STYLE: &str = include_str!("map.css");

/// Colours of buffers, by turns; the classes `b0`, `b1` … .
pub const COLOURS: usize = 6;

/// Beside the lines.
const GUTTER: f64 = 44.0;
const GAP: f64 = 14.0;
const HEAD: f64 = 22.0;
const FOOT: f64 = 18.0;
const FONT: f64 = 11.0;
/// Mean width of a letter.
const LETTER: f64 = 6.2;
/// Addresses below a panel are no closer than this.
const STEP: f64 = 56.0;
/// A memory in its own scale is no narrower.
const NARROWEST: f64 = 96.0;
/// A statement has room for its line and a name.
const LOW_STEP: f64 = 15.0;
/// Rows are between these.
const LOW_ROW: f64 = 6.0;
const HIGH_ROW: f64 = 22.0;
/// Those that share a height which is given.
const HIGHEST_ROW: f64 = 48.0;
/// Rows share this height while they can, where none is given.
const HEIGHT: f64 = 560.0;
/// Boxes are no narrower than this.
const NARROW: f64 = 1.5;

/// The picture by itself: a file, or the source of an image.
pub fn file<At>(map: &MemoryMap<At>, room: Room) -> String {
    let style = format!("<style>{STYLE}</style>");
    let (width, height, picture) = draw(map, room);
    svg(map, &format!("viewBox=\"0 0 {width:.0} {height:.0}\""), &(style + &picture))
}

/// The picture as a part of a page that has the style, in pixels: what is wider or higher than there is room for is scrolled.
pub fn part<At>(map: &MemoryMap<At>, room: Room) -> String {
    let (width, height, picture) = draw(map, room);
    let size = format!("viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\"");
    svg(map, &size, &picture)
}

fn svg<At>(map: &MemoryMap<At>, size: &str, inside: &str) -> String {
    let summary = escaped(&summary(map));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"tilefit-map\" {size} font-family=\"ui-sans-serif, sans-serif\" \
         font-size=\"{FONT}\" role=\"group\" aria-label=\"{summary}\">\n{inside}</svg>\n"
    )
}

/// Width, height, and what is inside.
fn draw<At>(map: &MemoryMap<At>, room: Room) -> (f64, f64, String) {
    let copies = map.steps.iter().filter_map(|step| step.copy.as_ref()).map(|copy| copy.short.chars().count()).max();
    let gutter = GUTTER + copies.map_or(0.0, |letters| letters as f64 * LETTER + 10.0);
    let width = room.width.max(gutter + 200.0);
    let panels = panels(map, width - gutter - 4.0, (GAP, NARROWEST), room.scale);
    let width = panels.last().map_or(width, |last| width.max(gutter + last.left + last.width + 4.0));
    let mut svg = Svg { out: String::new(), gutter, rows: rows(map, room.height), number: 0 };
    svg.out.push_str(
        "<defs><pattern id=\"tilefit-hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">\
         <path class=\"hatch\" d=\"M0 0V6\"/></pattern></defs>\n",
    );
    svg.lines(map);
    svg.copies(map);
    for panel in &panels {
        svg.panel(map, panel);
    }
    (width, svg.bottom() + FOOT, svg.out)
}

/// Where each row begins and the last one ends: as high as there is room for, no lower than can be read.
fn rows<At>(map: &MemoryMap<At>, height: Option<f64>) -> Vec<f64> {
    let of_step = |row: f64, step: &Step| (row * step.rows as f64).max(LOW_STEP);
    let whole = |row: f64| map.steps.iter().map(|step| of_step(row, step)).sum::<f64>();
    let room = height.map_or(HEIGHT, |height| (height - HEAD - FOOT).max(0.0));
    let (mut low, mut high) = (LOW_ROW, if height.is_some() { HIGHEST_ROW } else { HIGH_ROW });
    if whole(high) <= room {
        low = high;
    }
    // To less than a pixel.
    for _ in 0..10 {
        let middle = (low + high) / 2.0;
        if whole(middle) <= room { low = middle } else { high = middle }
    }
    let mut tops = vec![HEAD];
    let mut top = HEAD;
    for step in &map.steps {
        let row = of_step(low, step) / step.rows.max(1) as f64;
        for _ in 0..step.rows {
            top += row;
            tops.push(top);
        }
    }
    tops
}

/// What a reader who does not see the picture hears first.
fn summary<At>(map: &MemoryMap<At>) -> String {
    let spaces: Vec<_> = map.spaces.iter().map(heading).collect();
    format!("Memory of {} on {}, planner {}: {}", map.kernel, map.target, map.planner, spaces.join("; "))
}

struct Svg {
    out: String,
    /// Width of what is left of the panels.
    gutter: f64,
    /// Where each row begins and the last one ends.
    rows: Vec<f64>,
    /// Of the next box, from 0, over all spaces.
    number: usize,
}

impl Svg {
    fn y(&self, row: usize) -> f64 {
        self.rows.get(row).copied().unwrap_or_else(|| self.bottom())
    }

    fn bottom(&self) -> f64 {
        self.rows.last().copied().unwrap_or(HEAD)
    }

    fn lines<At>(&mut self, map: &MemoryMap<At>) {
        let mut row = 0;
        for step in &map.steps {
            let y = self.y(row) + FONT;
            let _ = writeln!(
                self.out,
                "<text class=\"line\" x=\"{:.1}\" y=\"{y:.1}\">{}</text>",
                self.gutter - 8.0,
                step.line
            );
            row += step.rows;
        }
    }

    /// A bar beside the statements of each copy of a loop's body.
    fn copies<At>(&mut self, map: &MemoryMap<At>) {
        let mut row = 0;
        for group in map.steps.chunk_by(|one, other| one.copy == other.copy) {
            let first = row;
            row += group.iter().map(|step| step.rows).sum::<usize>();
            let Some(copy) = &group[0].copy else { continue };
            let (top, bottom, right) = (self.y(first), self.y(row), self.gutter - GUTTER + 2.0);
            let _ = writeln!(
                self.out,
                "<g class=\"copy\"><title>{}</title><text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                escaped(&copy.words),
                right - 5.0,
                top + FONT,
                escaped(&copy.short)
            );
            self.line("bar", (right, top + 1.5), (right, bottom - 1.5));
            self.out.push_str("</g>\n");
        }
    }

    fn panel<At>(&mut self, map: &MemoryMap<At>, panel: &Panel<'_, At>) {
        let Panel { space, left, width, .. } = *panel;
        let left = self.gutter + left;
        let (top, bottom) = (self.y(0), self.bottom());
        let title = heading(space);
        let short = headline(space);
        let used = format!("{} {}", space.name, amount(space.used, space.unit));
        let fits = |label: &&String| fitted(label, width).as_ref() == Some(*label);
        let label = [&title, &short, &used].into_iter().find(fits).cloned();
        let label = label.or_else(|| fitted(space.name, width.max(30.0))).unwrap_or_default();
        let _ = writeln!(
            self.out,
            "<g class=\"space\"><g><title>{}</title><text class=\"name\" x=\"{left:.1}\" y=\"{:.1}\">{}</text>",
            escaped(&exactly(space)),
            HEAD - 8.0,
            escaped(&label)
        );
        let inside = panel.capacity().unwrap_or(width);
        self.rect("ground", left, top, inside, bottom - top);
        self.out.push_str("</g>\n");
        self.steps(map, left, left + inside);
        if space.is_over() {
            self.rect("beyond", left + inside, top, width - inside, bottom - top);
        }
        if space.reserved > 0 {
            let of = exact_amount(space.reserved, space.unit);
            let _ = write!(self.out, "<g><title>reserved (queue between the cores): {of}</title>");
            self.rect("reserved", left, top, panel.x(space.reserved), bottom - top);
            self.out.push_str("</g>\n");
        }
        for (colour, buffer) in space.buffers.iter().enumerate() {
            for each in &buffer.boxes {
                self.boxed(panel, space, buffer, each, colour % COLOURS);
            }
        }
        let capacity = space.capacity.map_or_else(String::new, |value| amount(value, space.unit));
        let at = panel.capacity();
        let (class, at, capacity) = match at {
            Some(at) => {
                self.line("capacity", (left + at, top - 3.0), (left + at, bottom + 3.0));
                ("capacity", at, capacity)
            }
            // Further to the right.
            None if space.capacity.is_some() => ("further", width, format!("{capacity} →")),
            None => ("further", width, capacity),
        };
        self.note(class, left + at, bottom + FONT + 3.0, width, &capacity);
        let end = at - capacity.chars().count() as f64 * LETTER;
        self.addresses(panel, left, bottom, end);
        if let Some(row) = space.peak_row.filter(|_| map.down == Down::Time) {
            let y = self.y(row + 1) - 3.0;
            let _ =
                write!(self.out, "<g><title>peak: {} live at the same time</title>", amount(space.peak, space.unit));
            self.line("peak", (left - 4.0, y), (left + width + 4.0, y));
            self.out.push_str("</g>\n");
        }
        self.out.push_str("</g>\n");
    }

    /// A faint line above each statement, so that the eye finds its way from the source line to a box.
    fn steps<At>(&mut self, map: &MemoryMap<At>, from: f64, to: f64) {
        let mut row = 0;
        let mut path = String::new();
        for step in &map.steps {
            let _ = write!(path, "M{from:.1} {:.1}H{to:.1}", self.y(row));
            row += step.rows;
        }
        let _ = writeln!(self.out, "<path class=\"step\" d=\"{path}\"/>");
    }

    /// Addresses at round steps, from the left edge to `end`.
    fn addresses<At>(&mut self, panel: &Panel<'_, At>, left: f64, bottom: f64, end: f64) {
        let step = panel.step(STEP);
        for number in 0.. {
            let address = step.saturating_mul(number);
            let label = panel.address(address);
            let half = label.len() as f64 * LETTER / 2.0;
            let at = panel.x(address);
            let middle = at.max(half);
            if middle + half > end {
                return;
            }
            self.line("tick", (left + at, bottom), (left + at, bottom + 3.0));
            let (x, y) = (left + middle, bottom + FONT + 3.0);
            let _ = writeln!(self.out, "<text class=\"address\" x=\"{x:.1}\" y=\"{y:.1}\">{label}</text>");
        }
    }

    fn boxed<At>(
        &mut self,
        panel: &Panel<'_, At>,
        space: &SpaceMap<At>,
        buffer: &BufferMap<At>,
        each: &BoxMap<At>,
        colour: usize,
    ) {
        let (top, bottom) = (self.y(each.first_row), self.y(each.end_row));
        let details = buffer.details(each, space);
        let lines: Vec<String> = details.iter().map(|line| escaped(line)).collect();
        let over = if buffer.overflow > 0 { " over" } else { "" };
        let _ = writeln!(
            self.out,
            "<g class=\"box b{colour}{over}\" role=\"img\" data-box=\"{}\" aria-label=\"{}\"><title>{}</title>",
            self.number,
            lines.join(", ").replacen(", ", ": ", 1),
            lines.join("\n")
        );
        self.number += 1;
        let left = self.gutter + panel.left;
        for (class, ranges) in [("tile", &each.ranges), ("waste", &each.waste)] {
            for &[start, end] in ranges {
                let (from, to) = (panel.x(start), panel.x(end));
                self.rect(class, left + from, top, (to - from).max(NARROW), bottom - top);
            }
        }
        let last = each.ranges.last().map_or(0.0, |range| panel.x(range[1]));
        if let (Some(edge), true) = (panel.capacity(), buffer.overflow > 0) {
            self.rect("excess", left + edge, top, (last - edge).max(0.0), bottom - top);
        }
        if let Some(&[start, end]) = each.ranges.first() {
            let (from, to) = (left + panel.x(start), left + panel.x(end));
            self.label(each, (from, top), (to - from, bottom - top));
        }
        self.out.push_str("</g>\n");
    }

    /// The name in a box, along its longer side if it does not fit across.
    fn label<At>(&mut self, each: &BoxMap<At>, (x, y): (f64, f64), (width, height): (f64, f64)) {
        let fits = |title: &str, room: f64| fitted(title, room).as_deref() == Some(title);
        let down = height > width && width >= FONT && !fits(&each.label(|title| fits(title, width - 6.0)), width - 6.0);
        let (along, across) = if down { (height, width) } else { (width, height) };
        let room = along - 6.0;
        let label = fitted(&each.label(|title| fits(title, room)), room).filter(|_| across >= FONT);
        let Some(label) = label else { return };
        let (class, x, y) = match down {
            true => ("label down", x + (width - FONT) / 2.0 + 2.5, y + 3.0),
            false => ("label", x + 3.0, y + FONT.min(height - 1.0) + 1.0),
        };
        let turned = if down { format!(" transform=\"rotate(90 {x:.1} {y:.1})\"") } else { String::new() };
        let _ =
            writeln!(self.out, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\"{turned}>{}</text>", escaped(&label));
    }

    fn rect(&mut self, class: &str, x: f64, y: f64, width: f64, height: f64) {
        let _ = writeln!(
            self.out,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
        );
    }

    fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let _ = writeln!(
            self.out,
            "<line class=\"{class}\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>",
            from.0, from.1, to.0, to.1
        );
    }

    /// Text that ends at `x`, where there is room for it.
    fn note(&mut self, class: &str, x: f64, y: f64, room: f64, text: &str) {
        if let Some(text) = fitted(text, room).filter(|fitted| fitted == text) {
            let _ =
                writeln!(self.out, "<text class=\"note {class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(&text));
        }
    }
}

/// `Vec: 16,928 bytes of 188,416 bytes`
pub(super) fn exactly<At>(space: &SpaceMap<At>) -> String {
    let of = |value| exact_amount(value, space.unit);
    let capacity = space.capacity.map_or_else(String::new, |capacity| format!(" of {}", of(capacity)));
    format!("{}: {}{capacity}; at the peak {} live", space.name, of(space.used), of(space.peak))
}

/// `text`, cut where it is too long; nothing where not even a part would do.
fn fitted(text: &str, width: f64) -> Option<String> {
    let room = (width / LETTER).max(0.0) as usize;
    if text.chars().count() <= room {
        return Some(text.to_owned());
    }
    (room >= 4).then(|| text.chars().take(room - 1).chain(['…']).collect())
}
