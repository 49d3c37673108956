//! Maps of small kernels: what they say, and how they are drawn.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use tilefit_syntax::Document;

use super::*;
use crate::AnalysisHost;

const GATE: &str = include_str!("../../../../docs/examples/overflow.py");

fn open(text: &str) -> (AnalysisHost, crate::FileId) {
    let mut host = AnalysisHost::new();
    let file = host.file_id("kernel.py");
    host.set_document(file, Document::new(text));
    (host, file)
}

fn maps(text: &str) -> Vec<MemoryMap> {
    let (host, file) = open(text);
    host.snapshot().memory_maps(file).expect("no edit comes in between")
}

fn at(text: &str, place: &str, trial: Trial) -> Option<MemoryMaps> {
    let (host, file) = open(text);
    let offset = text.find(place).expect("the fixture has the text");
    host.snapshot().memory_map(file, offset, trial).expect("no edit comes in between")
}

#[track_caller]
fn check(text: &str, expected: &Expect) {
    let drawing = |map: &MemoryMap| text::draw(map, 60).iter().map(|line| line.text() + "\n").collect::<String>();
    expected.assert_eq(&maps(text).iter().map(drawing).collect::<Vec<_>>().join("\n"));
}

#[test]
fn what_is_beyond_the_capacity_stands_out() {
    check(
        GATE,
        &expect![[r#"
            Gate.gate (ascend910b, sequential)
              Vec 192 KiB of 184 KiB, 8 KiB over

                  Vec
               20 █value███████·························┃
               21 █████████████▓gate▓▓▓▓▓▓▓▓▓···········┃
               22 █████████████▓▓▓▓▓▓▓▓▓▓▓▓▓▓█squashed██┃▒▒  ◂ peak Vec
               23 █████████████▓▓▓▓▓▓▓▓▓▓▓▓▓▓█gated█████┃▒▒
               24 █████████████▓mixed▓▓▓▓▓▓▓▓···········┃
               25 █result██████·························┃
        "#]],
    );
}

#[test]
fn a_smaller_tile_leaves_a_part_of_its_group_unused() {
    let text = GATE.replace("64, 256", "64, 128").replace(
        "        mixed = pl.add(gated, gate)\n        result = pl.add(mixed, value)\n",
        "        result = pl.cast(pl.add(gated, value), target_type=pl.BF16)\n",
    );
    let text =
        text.replace("pl.Tensor[[ROWS, COLS], pl.FP32]]\n    ) ->", "pl.Tensor[[ROWS, COLS], pl.BF16]]\n    ) ->");
    let map = &maps(&text)[0];
    let (buffer, boxed) = map.spaces[0].boxes().find(|(_, each)| each.title() == "result").expect("the tile");
    assert_eq!((buffer.size, boxed.size(), boxed.waste.len()), (32768, 16384, 1));
    let sentence = buffer.sentence(boxed, &map.spaces[0]);
    assert!(sentence.starts_with("result: Vec, 16 KiB at [0x"), "{sentence}");
    assert!(sentence.ends_with("leaves 16 KiB of it unused"), "{sentence}");
}

#[test]
fn buffers_of_a_spec_lie_within_it() {
    check(
        "import triton\nimport triton.language as tl\nimport triton.language.extra.tlx as tlx\n\n\
         @triton.jit\ndef kernel(desc):\n    spec = tlx.storage_alias_spec(storage=tlx.storage_kind.smem)\n    \
         a = tlx.local_alloc((128, 64), tl.bfloat16, 2, tlx.storage_kind.smem, reuse=spec)\n    \
         b = tlx.local_alloc((128, 32), tl.bfloat16, 2, tlx.storage_kind.smem, reuse=spec)\n    \
         c = tlx.local_alloc((128, 64), tl.float32, 1, tlx.storage_kind.tmem)\n    \
         spec.set_buffer_overlap(tlx.reuse_group(a, b, group_type=tlx.reuse_group_type.shared))\n    \
         tlx.local_load(a[0])\n    tlx.local_load(b[0])\n    tlx.local_load(c[0])\n",
        &expect![[r#"
            kernel (sm_100, compiler, bounded)
              smem 0 B of 227 KiB
              tmem 0 columns of 512 columns
        "#]],
    );
}

#[test]
fn another_planner_is_tried_without_being_set() {
    let text = include_str!("../../../../docs/examples/chained_matmul.py");
    let now = at(text, "a_l1 = ", Trial::default()).expect("a kernel");
    assert_eq!((now.maps[0].planner, now.settings[0].planner), ("packed", "packed"));
    let trial = Trial { planner: Some(Planner::Sequential), target: Some(Target::Ascend950) };
    let tried = at(text, "a_l1 = ", trial).expect("a kernel");
    assert_eq!((tried.maps[0].planner, tried.maps[0].target), ("sequential", "ascend950"));
    assert_eq!(tried.settings, now.settings);
    assert_eq!(now.changes(Trial::default()), [""; 0]);
    expect![[r#"
        Mat 192 KiB → 128 KiB of 512 KiB
        Left 64 KiB → 96 KiB of 64 KiB
        Right 64 KiB → 32 KiB of 64 KiB
        Acc 64 KiB of 128 KiB → 32 KiB of 256 KiB"#]]
    .assert_eq(&tried.changes(trial).join("\n"));
}

#[test]
fn outside_of_kernels_the_map_is_of_the_nearest() {
    let two = format!("{GATE}\n\n{}\nlast = 1\n", GATE.replace("Gate", "Other"));
    let kernel = |text: &str| at(&two, text, Trial::default()).expect("a map").maps[0].kernel.clone();
    assert_eq!([kernel("import"), kernel("last")], ["Gate.gate", "Other.gate"]);
    assert_eq!(at("def plain(x):\n    return x\n", "return", Trial::default()), None);
}

#[test]
fn names_cannot_break_out_of_a_picture() {
    let mut map = maps(GATE).remove(0);
    map.kernel = "a\"><script>&".to_owned();
    map.spaces[0].buffers[0].boxes[0].tiles[0].name = "<b>\u{1}".to_owned();
    for text in [svg::file(&map, 400.0), html::page("<i>", &[map])] {
        assert!(!text.contains("<script") && !text.contains("<b>") && !text.contains("<i>"), "{text}");
    }
}

proptest! {
    /// Ranges are in order, a box takes and wastes exactly its buffer, and every box can be drawn at every width.
    #[test]
    fn maps_add_up(rows in 1_u64..300, cols in 1_u64..600, columns in 0_usize..200) {
        let text = GATE.replace("ROWS, COLS = 64, 256", &format!("ROWS, COLS = {rows}, {cols}"));
        for map in maps(&text) {
            for space in &map.spaces {
                for (buffer, each) in space.boxes() {
                    let whole = [buffer.address, buffer.address + buffer.size];
                    let parts = merged(each.ranges.iter().chain(&each.waste).copied().collect());
                    prop_assert!(buffer.size == 0 || parts == [whole], "{parts:?} of {whole:?}");
                    prop_assert!(each.first_row < each.end_row && each.end_row <= map.rows.len());
                }
                let free: u64 = space.free.iter().map(|[start, end]| end - start).sum();
                prop_assert!(space.capacity.is_none_or(|capacity| free <= capacity));
            }
            let lines = text::draw(&map, columns);
            prop_assert!(lines.len() >= map.rows.len());
            for line in &lines[lines.len() - map.rows.len()..] {
                prop_assert!(line.text().chars().count() <= columns.max(40), "{} of {columns}", line.text());
            }
            svg::file(&map, columns as f64);
        }
    }
}
