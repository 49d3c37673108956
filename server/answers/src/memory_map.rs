//! `tilefit/memoryMap` and what a client that watches one is sent: who has which bytes of each memory space.

use ls_types::Position;
use tilefit_analysis::Cancellable;
use tilefit_analysis::ide::MemoryMap;
use tilefit_analysis::ide::memory_map::scale::Room;
use tilefit_analysis::ide::memory_map::text::{self, Line};
use tilefit_analysis::ide::memory_map::{html, svg};

use crate::ext::{DrawnMap, MapOptions, Mark, MemoryMapAnswer, MemoryMapChanged, Picture, PictureKind, Text};
use crate::view::View;

pub fn memory_map(view: &View, position: Position, options: MapOptions) -> Cancellable<Option<MemoryMapAnswer>> {
    memory_map_at(view, view.offset(position), options)
}

/// What a client that watches the kernel around a byte offset is sent of this version.
pub fn memory_map_changed(view: &View, offset: usize, options: MapOptions) -> Cancellable<MemoryMapChanged> {
    let parts = memory_map_at(view, view.nearest(offset), options)?.map(|map| (map.maps, map.settings, map.changes));
    let (maps, settings, changes) = parts.unwrap_or_default();
    Ok(MemoryMapChanged { uri: view.uri.clone(), version: view.version, maps, settings, changes })
}

/// The maps of the kernel around a byte offset.
fn memory_map_at(view: &View, offset: usize, options: MapOptions) -> Cancellable<Option<MemoryMapAnswer>> {
    let maps = view.analysis.memory_map(view.file, offset, options.trial)?;
    Ok(maps.map(|found| MemoryMapAnswer {
        version: view.version,
        changes: found.changes(options.trial),
        maps: found.maps.into_iter().map(|map| drawn(view, map, options.picture)).collect(),
        settings: found.settings,
    }))
}

fn drawn(view: &View, map: MemoryMap, picture: Option<Picture>) -> DrawnMap {
    let (mut html, mut text) = (None, None);
    if let Some(Picture { kind, width, height, scale }) = picture {
        let room = Room { width: width.into(), height: height.map(f64::from), scale };
        match kind {
            PictureKind::Html => html = Some(html::part(&map, room)),
            PictureKind::Svg => html = Some(svg::part(&map, room)),
            PictureKind::Text => {
                let (lines, marks) = with_marks(&text::draw(&map, width.into(), scale));
                text = Some(Text { lines, marks, boxes: map.details() });
            }
        }
    }
    DrawnMap { map: map.located(&|range| view.range(range)), html, text }
}

fn with_marks(drawing: &[Line]) -> (Vec<String>, Vec<Mark>) {
    let (mut lines, mut marks) = (Vec::new(), Vec::new());
    for (number, line) in drawing.iter().enumerate() {
        let text = line.text();
        let mut start = 0;
        for span in &line.spans {
            let end = (start + span.text.len()).min(text.len());
            if start < end {
                marks.push(Mark { line: number, start, end, kind: span.kind.name(), number: span.number });
            }
            start = end;
        }
        lines.push(text);
    }
    (lines, marks)
}
