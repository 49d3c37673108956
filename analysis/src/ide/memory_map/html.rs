//! A memory map as a page that stands alone, and as a part of another page.

use std::fmt::Write;

use tilefit_packing::svg::escaped;

use super::legend::{Sign, axes, signs};
use super::scale::{Room, Scale};
use super::svg::{self, STYLE};
use super::{MemoryMap, SpaceMap, heading};
use crate::ide::confirmation::{Confirmation, Differing, Place};
use crate::ide::formatting::{amount, range};

const PAGE_WIDTH: f64 = 1080.0;

const PAGE_STYLE: &str = include_str!("page.css");
const LEGEND_STYLE: &str = include_str!("legend.css");

/// A page with these maps. It needs nothing else, and runs nothing.
pub fn page<At>(title: &str, maps: &[MemoryMap<At>], scale: Scale) -> String {
    let room = Room { width: PAGE_WIDTH, height: None, scale };
    let parts: String = maps.iter().map(|map| part(map, room)).collect();
    let title = escaped(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>\n{PAGE_STYLE}{STYLE}{LEGEND_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{parts}</body>\n</html>\n"
    )
}

/// Heading, totals, legend, picture, and the same as a table. Colours come from the page; the height is that of the picture.
pub fn part<At>(map: &MemoryMap<At>, room: Room) -> String {
    let mut out = format!(
        "<section class=\"kernel\">\n<h2>{} <small>line {}, {}, {}{}</small></h2>\n",
        escaped(&map.kernel),
        map.line,
        map.target,
        map.planner,
        if map.status == "exact" { String::new() } else { format!(", {}", map.status) }
    );
    out.push_str("<ul class=\"totals\">\n");
    for space in &map.spaces {
        let class = if space.is_over() { " class=\"over\"" } else { "" };
        let exactly = escaped(&svg::exactly(space));
        let _ = writeln!(out, "<li{class} title=\"{exactly}\">{}{}</li>", escaped(&heading(space)), verdict(space));
    }
    out.push_str("</ul>\n");
    if let Some(confirmation) = &map.confirmation {
        confirmed(confirmation, &mut out);
    }
    for reason in &map.reasons {
        let _ = writeln!(out, "<p class=\"reason\">not modelled: {}</p>", escaped(reason));
    }
    if map.steps.is_empty() {
        out.push_str(match map.spaces.iter().all(|space| space.used == 0) {
            true => "<p>There is nothing in on-chip memory.</p>\n",
            false => "<p>It is not known what lies where.</p>\n",
        });
    } else {
        legend(map, &mut out);
        let _ = write!(out, "<div class=\"picture\">\n{}</div>\n", svg::part(map, room));
        table(map, &mut out);
    }
    out.push_str("</section>\n");
    out
}

/// What the author's compiler says, and what it has elsewhere, side by side.
fn confirmed(confirmation: &Confirmation, out: &mut String) {
    let _ = writeln!(out, "<p class=\"confirmation\">{}</p>", escaped(&confirmation.words()));
    if confirmation.differing().is_empty() {
        return;
    }
    let by = escaped(confirmation.by.as_deref().unwrap_or("the compiler"));
    let _ = writeln!(
        out,
        "<table class=\"differing\">\n<thead><tr><th scope=\"col\">line</th><th scope=\"col\">{by}</th><th scope=\"col\">tilefit</th></tr></thead>\n<tbody>"
    );
    let place = |place: &Option<Place>| {
        let place = place.as_ref().map(|place| format!("{} {place}", place.name));
        escaped(place.as_deref().unwrap_or("–"))
    };
    for Differing { line, compiler, tilefit } in confirmation.differing() {
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{line}</th><td>{}</td><td>{}</td></tr>",
            place(compiler),
            place(tilefit)
        );
    }
    out.push_str("</tbody>\n</table>\n");
}

fn verdict<At>(space: &SpaceMap<At>) -> &'static str {
    match space.verdict {
        Some("over-capacity") => ": too much is live at the same time",
        Some("fragmented") => ": no placement fits",
        Some("undecided") => ": no placement that fits is known",
        Some("fits") if space.is_over() => ": another placement fits",
        _ => "",
    }
}

fn legend<At>(map: &MemoryMap<At>, out: &mut String) {
    let _ = writeln!(out, "<ul class=\"legend\">\n<li class=\"axes\">{}</li>", axes(map));
    for (sign, words) in signs(map) {
        let class = match sign {
            Sign::Tile => "tile",
            Sign::Unused => "unused",
            Sign::Reserved => "reserved",
            Sign::Capacity => "capacity",
            Sign::Beyond => "beyond",
            Sign::Peak => "peak",
            Sign::Copies => "copies",
        };
        let _ = writeln!(out, "<li class=\"{class}\">{}</li>", escaped(&words));
    }
    out.push_str("</ul>\n");
}

fn table<At>(map: &MemoryMap<At>, out: &mut String) {
    out.push_str(
        "<details><summary>As a table</summary>\n<table>\n<thead><tr><th scope=\"col\">tile</th><th scope=\"col\">space</th>\
         <th scope=\"col\">addresses</th><th scope=\"col\">size</th><th scope=\"col\">lines</th><th scope=\"col\">buffer</th>\
         <th scope=\"col\">over</th></tr></thead>\n<tbody>\n",
    );
    let mut number = 0;
    for space in &map.spaces {
        for (buffer, each) in space.boxes() {
            let ranges: Vec<_> = each.ranges.iter().map(|[from, to]| range(*from, *to, space.unit)).collect();
            let (first, last) = each.lines();
            let over = if buffer.overflow > 0 { amount(buffer.overflow, space.unit) } else { String::new() };
            let _ = writeln!(
                out,
                "<tr data-box=\"{number}\"><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{first}–{last}</td><td>{} {}</td><td>{over}</td></tr>",
                escaped(&each.title()),
                space.name,
                shortened(&ranges),
                amount(each.size(), space.unit),
                buffer.kind.words(),
                escaped(&buffer.name)
            );
            number += 1;
        }
    }
    out.push_str("</tbody>\n</table>\n</details>\n");
}

fn shortened(ranges: &[String]) -> String {
    const MOST: usize = 4;
    match ranges.len() {
        0..=MOST => ranges.join(" "),
        more => format!("{} and {} more", ranges[..MOST].join(" "), more - MOST),
    }
}
