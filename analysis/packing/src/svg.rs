//! A picture of a packing: addresses across, time down, a box for every interval in which a buffer holds its bytes.

use std::fmt::Write;

use super::problem::Problem;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 600.0;
/// Boxes narrower or lower than this get no label.
const LABEL: (f64, f64) = (40.0, 12.0);

/// Draws `offsets` (in the order of the problem's buffers). What is beyond the capacity has a red edge; a red line marks the capacity.
pub fn draw(problem: &Problem, offsets: &[u64]) -> String {
    let placed = || problem.buffers().iter().zip(offsets.iter().copied());
    let reserved = problem.reserved().last().map_or(0, |range| range.end);
    let top = placed().map(|(buffer, offset)| offset.saturating_add(buffer.size)).max().unwrap_or(0).max(reserved);
    // A capacity far above everything would leave the picture empty.
    let right = if problem.capacity() < 2 * top.max(1) { top.max(problem.capacity()) } else { top }.max(1);
    let first = problem.buffers().iter().map(|buffer| buffer.lifetime.start()).min().unwrap_or(0);
    let last = problem.buffers().iter().map(|buffer| buffer.lifetime.end()).max().unwrap_or(1);
    let x = |address: u64| address as f64 / right as f64 * WIDTH;
    let y = |time: u64| (time - first) as f64 / (last - first).max(1) as f64 * HEIGHT;

    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-1 -1 {} {}\" font-family=\"sans-serif\" font-size=\"10\">\n",
        WIDTH + 2.0,
        HEIGHT + 2.0
    );
    for range in problem.reserved() {
        let (left, width) = (x(range.start), x(range.end) - x(range.start));
        let _ = writeln!(
            out,
            "<rect x=\"{left:.2}\" y=\"0\" width=\"{width:.2}\" height=\"{HEIGHT}\" fill=\"#bbb\"><title>reserved [{}, {})</title></rect>",
            range.start, range.end
        );
    }
    for (number, (buffer, offset)) in placed().enumerate() {
        let end = offset.saturating_add(buffer.size);
        let edge = if end > problem.capacity() { "#d00" } else { "#333" };
        // Steps of the golden angle keep neighbours apart in colour.
        let hue = number * 137 % 360;
        let id = escaped(&buffer.id);
        for interval in buffer.lifetime.intervals() {
            let (left, width) = (x(offset), x(end) - x(offset));
            let (upper, height) = (y(interval.start), y(interval.end) - y(interval.start));
            let _ = writeln!(
                out,
                "<rect x=\"{left:.2}\" y=\"{upper:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" fill=\"hsl({hue},60%,75%)\" \
                 stroke=\"{edge}\" stroke-width=\"0.5\"><title>{id}: {} bytes at [{offset}, {end}), time [{}, {})</title></rect>",
                buffer.size, interval.start, interval.end
            );
            if width >= LABEL.0 && height >= LABEL.1 {
                let _ = writeln!(out, "<text x=\"{:.2}\" y=\"{:.2}\">{id}</text>", left + 3.0, upper + 10.0);
            }
        }
    }
    if problem.capacity() <= right {
        let at = x(problem.capacity());
        let _ = writeln!(
            out,
            "<line x1=\"{at:.2}\" y1=\"0\" x2=\"{at:.2}\" y2=\"{HEIGHT}\" stroke=\"#d00\"><title>capacity {}</title></line>",
            problem.capacity()
        );
    }
    out.push_str("</svg>\n");
    out
}

/// A text that is safe between tags and within quotation marks of SVG and HTML.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Not allowed in XML, not even escaped.
            control if control.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::{Buffer, Spec};
    use super::*;

    #[test]
    fn draws_boxes_and_the_capacity() {
        let buffers = vec![Buffer::new("a<b>", 32, 0, 2), Buffer::new("c", 64, 2, 4)];
        let problem = Problem::new(Spec { capacity: 48, buffers, ..Spec::default() }).unwrap();
        expect![[r##"
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 -1 962 602" font-family="sans-serif" font-size="10">
            <rect x="0.00" y="0.00" width="480.00" height="300.00" fill="hsl(0,60%,75%)" stroke="#333" stroke-width="0.5"><title>a&lt;b&gt;: 32 bytes at [0, 32), time [0, 2)</title></rect>
            <text x="3.00" y="10.00">a&lt;b&gt;</text>
            <rect x="0.00" y="300.00" width="960.00" height="300.00" fill="hsl(137,60%,75%)" stroke="#d00" stroke-width="0.5"><title>c: 64 bytes at [0, 64), time [2, 4)</title></rect>
            <text x="3.00" y="310.00">c</text>
            <line x1="720.00" y1="0" x2="720.00" y2="600" stroke="#d00"><title>capacity 48</title></line>
            </svg>
        "##]].assert_eq(&draw(&problem, &[0, 0]));
    }
}
