//! A memory map as a picture. Its colours come from classes: a page brings its own ([`STYLE`] shows which there are), a picture by
//! itself has them inside.

use std::fmt::Write;

use tilefit_packing::svg::escaped;

use super::scale::{Panel, panels};
use super::{BoxMap, BufferMap, Down, MemoryMap, SpaceMap, heading};
use crate::ide::formatting::amount;

/// Of a picture by itself; light and dark.
pub const STYLE: &str = include_str!("map.css");

/// Colours of buffers, by turns; the classes `b0`, `b1` … .
pub const COLOURS: usize = 6;

const GUTTER: f64 = 44.0;
const GAP: f64 = 14.0;
const HEAD: f64 = 22.0;
const FOOT: f64 = 18.0;
const FONT: f64 = 11.0;
/// Mean width of a letter.
const LETTER: f64 = 6.2;
/// Addresses below a panel are no closer than this.
const STEP: f64 = 56.0;
/// Rows are between these.
const LOW_ROW: f64 = 3.0;
const HIGH_ROW: f64 = 22.0;
/// Rows share this height while they can.
const HEIGHT: f64 = 560.0;
/// Boxes are no narrower than this.
const NARROW: f64 = 1.5;

/// The picture by itself: a file, or the source of an image.
pub fn file<At>(map: &MemoryMap<At>, width: f64) -> String {
    let style = format!("<style>{STYLE}</style>");
    draw(map, width, &style)
}

/// The picture as a part of a page that has the style.
pub fn part<At>(map: &MemoryMap<At>, width: f64) -> String {
    draw(map, width, "")
}

fn draw<At>(map: &MemoryMap<At>, width: f64, style: &str) -> String {
    let rows = map.rows.len().max(1);
    let row = (HEIGHT / rows as f64).clamp(LOW_ROW, HIGH_ROW);
    let width = width.max(GUTTER + 200.0);
    let height = HEAD + row * rows as f64 + FOOT;
    let mut svg = Svg { out: String::new(), row, number: 0 };
    let _ = writeln!(
        svg.out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"tilefit-map\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         font-family=\"ui-sans-serif, sans-serif\" font-size=\"{FONT}\" role=\"group\" aria-label=\"{}\">",
        escaped(&summary(map))
    );
    svg.out.push_str(style);
    svg.out.push_str(
        "<defs><pattern id=\"tilefit-hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">\
         <path class=\"hatch\" d=\"M0 0V6\"/></pattern></defs>\n",
    );
    svg.gutter(map);
    for panel in panels(map, width - GUTTER - 4.0, GAP) {
        svg.panel(map, &panel, rows);
    }
    svg.out.push_str("</svg>\n");
    svg.out
}

/// What a reader who does not see the picture hears first.
fn summary<At>(map: &MemoryMap<At>) -> String {
    let spaces: Vec<_> = map.spaces.iter().map(heading).collect();
    format!("Memory of {} on {}, planner {}: {}", map.kernel, map.target, map.planner, spaces.join("; "))
}

struct Svg {
    out: String,
    /// Height of a row.
    row: f64,
    /// Of the next box, from 0, over all spaces.
    number: usize,
}

impl Svg {
    fn y(&self, row: usize) -> f64 {
        HEAD + self.row * row as f64
    }

    fn gutter<At>(&mut self, map: &MemoryMap<At>) {
        let mut below = 0.0;
        for (row, line) in map.rows.iter().enumerate() {
            let y = self.y(row) + self.row.min(FONT + 4.0) - 4.0;
            if y < below {
                continue;
            }
            below = y + FONT + 2.0;
            let _ = writeln!(self.out, "<text class=\"line\" x=\"{:.1}\" y=\"{y:.1}\">{line}</text>", GUTTER - 8.0);
        }
    }

    fn panel<At>(&mut self, map: &MemoryMap<At>, panel: &Panel<'_, At>, rows: usize) {
        let Panel { space, left, width, .. } = *panel;
        let left = GUTTER + left;
        let (top, bottom) = (self.y(0), self.y(rows));
        let title = heading(space);
        let short = format!("{} {}", space.name, amount(space.used, space.unit));
        let fits = |label: &&String| fitted(label, width).as_ref() == Some(*label);
        let label = [&title, &short].into_iter().find(fits).cloned().or_else(|| fitted(space.name, width.max(30.0)));
        let _ = writeln!(
            self.out,
            "<g class=\"space\"><g><title>{}</title><text class=\"name\" x=\"{left:.1}\" y=\"{:.1}\">{}</text>",
            escaped(&title),
            HEAD - 8.0,
            escaped(&label.unwrap_or_default())
        );
        let inside = panel.capacity().unwrap_or(width);
        self.rect("ground", left, top, inside, bottom - top);
        self.out.push_str("</g>\n");
        if space.is_over() {
            self.rect("beyond", left + inside, top, width - inside, bottom - top);
        }
        if space.reserved > 0 {
            let _ = write!(self.out, "<g><title>reserved: {}</title>", amount(space.reserved, space.unit));
            self.rect("reserved", left, top, panel.x(space.reserved), bottom - top);
            self.out.push_str("</g>\n");
        }
        for (colour, buffer) in space.buffers.iter().enumerate() {
            for each in &buffer.boxes {
                self.boxed(panel, space, buffer, each, colour % COLOURS);
            }
        }
        let capacity = amount_of(space.capacity, space.unit);
        let mut end = width;
        if let Some(at) = panel.capacity() {
            self.line("capacity", (left + at, top - 3.0), (left + at, bottom + 3.0));
            self.note("capacity", left + at, bottom + FONT + 3.0, width, &capacity);
            end = at - capacity.len() as f64 * LETTER;
        }
        self.addresses(panel, left, bottom, end);
        if let Some(row) = space.peak_row.filter(|_| map.down == Down::Time) {
            let y = self.y(row + 1) - (self.row / 2.0).min(3.0);
            let _ = write!(self.out, "<g><title>the peak: {} are live</title>", amount(space.peak, space.unit));
            self.line("peak", (left - 4.0, y), (left + width + 4.0, y));
            self.out.push_str("</g>\n");
        }
        self.out.push_str("</g>\n");
    }

    /// Addresses at round steps, from the left edge to `end`.
    fn addresses<At>(&mut self, panel: &Panel<'_, At>, left: f64, bottom: f64, end: f64) {
        let step = panel.step(STEP);
        for number in 0.. {
            let address = step.saturating_mul(number);
            let label = if panel.space.unit == "bytes" { format!("{address:#x}") } else { address.to_string() };
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
        let sentence = escaped(&buffer.sentence(each, space));
        let over = if buffer.overflow > 0 { " over" } else { "" };
        let _ = writeln!(
            self.out,
            "<g class=\"box b{colour}{over}\" role=\"img\" data-box=\"{}\" aria-label=\"{sentence}\"><title>{sentence}</title>",
            self.number
        );
        self.number += 1;
        let left = GUTTER + panel.left;
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
        if let (Some(&[start, end]), true) = (each.ranges.first(), bottom - top >= FONT) {
            let (from, to) = (panel.x(start), panel.x(end));
            if let Some(label) = fitted(&each.title(), to - from - 6.0) {
                let y = top + FONT.min(bottom - top - 1.0) + 1.0;
                let _ = writeln!(
                    self.out,
                    "<text class=\"label\" x=\"{:.1}\" y=\"{y:.1}\">{}</text>",
                    left + from + 3.0,
                    escaped(&label)
                );
            }
        }
        self.out.push_str("</g>\n");
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

fn amount_of(value: Option<u64>, unit: &str) -> String {
    value.map_or_else(String::new, |value| amount(value, unit))
}

/// `text`, cut where it is too long; nothing where not even a part would do.
fn fitted(text: &str, width: f64) -> Option<String> {
    let room = (width / LETTER).max(0.0) as usize;
    if text.chars().count() <= room {
        return Some(text.to_owned());
    }
    (room >= 4).then(|| text.chars().take(room - 1).chain(['…']).collect())
}
