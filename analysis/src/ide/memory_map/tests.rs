//! Maps of small kernels: what they say, and how they are drawn.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::scale::{Room, Scale};
use super::*;
use crate::Fixture;

const GATE: &str = include_str!("../../../../docs/examples/overflow.py");

fn maps(text: &str) -> Vec<MemoryMap> {
    Fixture::new(text).memory_maps()
}

fn at(text: &str, place: &str, trial: Trial) -> Option<MemoryMaps> {
    let fixture = Fixture::new(text);
    fixture.memory_map(fixture.find(place), trial)
}

fn wide(width: f64) -> Room {
    Room { width, height: None, scale: Scale::Own }
}

#[track_caller]
fn check(text: &str, expected: &Expect) {
    let drawing =
        |map: &MemoryMap| text::draw(map, 60, Scale::Own).iter().map(|line| line.text() + "\n").collect::<String>();
    expected.assert_eq(&maps(text).iter().map(drawing).collect::<Vec<_>>().join("\n"));
}

#[test]
fn what_is_beyond_the_capacity_stands_out() {
    check(
        GATE,
        &expect![[r#"
            Gate.gate (ascend910b, sequential)
              Vec 192 KiB of 184 KiB, 8 KiB over

              Horizontal: address. Vertical: time, by source line.
              █▓ tile; those of one colour in a memory reuse one buffer,
                one after another
              ┃ capacity   ▒ beyond the capacity   ◂ peak usage

                  Vec
               20 █value███████████·······························┃
               21 █████████████████▓gate▓▓▓▓▓▓▓▓▓▓▓···············┃
               22 █████████████████▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓█squashed██████┃▒▒◂
               23 █████████████████▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓█gated█████████┃▒▒
               24 █████████████████▓mixed▓▓▓▓▓▓▓▓▓▓···············┃
               25 █result██████████·······························┃
                  0x0              0x10000         0x20000
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
    expect![[r#"
        result
        Vec [0x0, 0x4000), 16 KiB (16,384 bytes)
        [64, 128] BF16, live in lines 24 to 25
        reuse group mem_vec_3, of which it leaves 16 KiB (16,384 bytes) unused"#]]
    .assert_eq(&buffer.details(boxed, &map.spaces[0]).join("\n"));
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
            kernel (sm_100, compiler, predicted)
              smem 0 KiB of 227 KiB
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
fn a_memory_of_which_no_address_is_known_does_not_look_free() {
    let mut map = maps(GATE).remove(0);
    map.spaces[0].buffers.clear();
    map.spaces[0].unplaced = 5;
    let text: Vec<String> = text::draw(&map, 80, Scale::Own).iter().map(|line| line.text()).collect();
    assert!(text[1].ends_with("8 KiB over, 5 buffers at unknown addresses"), "{text:?}");
    assert!(!text.iter().any(|line| line.contains('·')), "{text:?}");
}

#[test]
fn names_cannot_break_out_of_a_picture() {
    let mut map = maps(GATE).remove(0);
    map.kernel = "a\"><script>&".to_owned();
    map.spaces[0].buffers[0].boxes[0].tiles[0].name = "<b>\u{1}".to_owned();
    for text in [svg::file(&map, wide(400.0)), html::page("<i>", &[map], Scale::One)] {
        assert!(!text.contains("<script") && !text.contains("<b>") && !text.contains("<i>"), "{text}");
    }
}

/// A kernel on tensors with a loop whose body the compiler copies.
fn in_loop(header: &str, body: &str) -> String {
    format!(
        "import pypto.language as pl\n\n@pl.jit\ndef host(x: pl.Tensor[[64, 1024], pl.BF16], o: pl.Out[pl.Tensor[[64, 1024], pl.BF16]]):\n    \
         with pl.at(level=pl.Level.CORE_GROUP, name_hint=\"norm\"):\n        for i in {header}:\n            at = i * 128\n            {}\n    return o\n",
        body.replace('\n', "\n            ")
    )
}

const SQUARED: &str = "chunk = pl.cast(x[0:64, at : at + 128], pl.FP32)\nsquared = pl.mul(chunk, chunk)\no[0:64, at : at + 128] = pl.cast(squared, pl.BF16)";

#[test]
fn copies_of_a_pipelined_body_have_the_authors_names_and_say_which_they_are() {
    check(
        &in_loop("pl.pipeline(8, stage=2)", SQUARED),
        &expect![[r#"
            norm (ascend910b, sequential)
              Vec 96 KiB of 184 KiB, 48 KiB unused at the peak

              Horizontal: address. Vertical: time, by source line.
              █▓ tile; those of one colour in a memory reuse one buffer,
                one after another
              ╱ unused part of a buffer   ┃ capacity   ◂ peak usage
              1–2/2: stages 1 to 2 of 2 (the compiler copies these
                statements)

                         Vec
             1–2/2│    8 ████▓▓▓▓····································
               1/2│    8 ····▓▓▓▓█chunk█·····························◂
                  │    9 ····▓▓▓▓█squar█·····························
                  │   10 ····▓▓▓▓███╱╱╱╱·····························
               2/2│    8 ···············▓chunk▓▓·····················
                  │    9 ···············▓square▓·····················
                  │   10 ···············▓▓▓▓╱╱╱╱·····················
                         0x0            0x10000         0x20000
        "#]],
    );
}

#[test]
fn iterations_that_a_pipeline_leaves_over_are_told_apart() {
    let maps = maps(&in_loop("pl.pipeline(7, stage=2)", SQUARED));
    let marks = maps[0].steps.iter().map(|step| match &step.copy {
        Some(copy) => format!("{}: {} ({})\n", step.line, copy.short, copy.words),
        None => format!("{}\n", step.line),
    });
    expect![[r#"
        8: 1–2/2 (stages 1 to 2 of 2)
        8: 1/2 (stage 1 of 2)
        9: 1/2 (stage 1 of 2)
        10: 1/2 (stage 1 of 2)
        8: 2/2 (stage 2 of 2)
        9: 2/2 (stage 2 of 2)
        10: 2/2 (stage 2 of 2)
        8: rest (one iteration left over after the loop)
        9: rest (one iteration left over after the loop)
        10: rest (one iteration left over after the loop)
    "#]]
    .assert_eq(&marks.collect::<String>());
}

#[test]
fn iterations_of_an_unrolled_loop_are_copies() {
    check(
        &in_loop("pl.unroll(2)", SQUARED),
        &expect![[r#"
            norm (ascend910b, sequential)
              Vec 48 KiB of 184 KiB, 16 KiB unused at the peak

              Horizontal: address. Vertical: time, by source line.
              █▓ tile; those of one colour in a memory reuse one buffer,
                one after another
              ╱ unused part of a buffer   ┃ capacity   ◂ peak usage
              1/2: iteration 1 of 2 (the compiler copies these
                statements)

                       Vec
             1/2│    8 ████▓chunk▓▓··································◂
                │    9 ····▓square▓··································
                │   10 ····▓▓▓▓╱╱╱╱··································
             2/2│    8 ████▓chunk▓▓··································
                │    9 ····▓square▓··································
                │   10 ····▓▓▓▓╱╱╱╱··································
                       0x0             0x10000         0x20000
        "#]],
    );
}

#[test]
fn the_vector_units_of_a_kernel_that_goes_through_both_are_told_apart() {
    let body = "s = pl.matmul(x[0:64, 0:128], x[0:64, 128:256], b_trans=True, out_dtype=pl.FP32)\no[0:64, 0:64] = pl.cast(pl.exp(s), pl.BF16)";
    let maps = maps(&in_loop("pl.range(4)", body));
    let vector = maps.iter().find(|map| map.kernel.ends_with("_aiv")).expect("two kernels");
    let marks: Vec<_> =
        vector.steps.iter().filter_map(|step| step.copy.as_ref()).map(|copy| copy.short.as_str()).collect();
    assert!(marks.starts_with(&["unit 1"]) && marks.ends_with(&["unit 2"]), "{marks:?}");
}

#[test]
fn each_memory_has_its_own_scale_unless_all_have_one() {
    let map = &maps(include_str!("../../../../docs/examples/chained_matmul.py"))[0];
    let names = |scale| {
        text::draw(map, 80, scale)
            .iter()
            .map(|line| line.text())
            .find(|line| line.contains("Left  "))
            .unwrap_or_default()
    };
    expect!["      Mat         Left        Right       Acc"].assert_eq(&names(Scale::Own));
    expect![""].assert_eq(&names(Scale::One));
}

#[test]
fn rows_use_the_height_that_there_is() {
    let map = &maps(GATE)[0];
    let height = |height: f64| {
        let picture = svg::part(map, Room { height: Some(height), ..wide(600.0) });
        let number = picture.split_once(" height=\"").and_then(|(_, rest)| rest.split_once('"')).expect("a height").0;
        number.parse::<f64>().expect("a number")
    };
    assert!((190.0..=200.0).contains(&height(200.0)), "{}", height(200.0));
    assert!((290.0..=300.0).contains(&height(300.0)), "{}", height(300.0));
    assert_eq!(height(0.0), height(100.0), "what cannot be read is scrolled instead");
    assert!(height(10_000.0) < 500.0, "a few rows stay rows");
}

/// Whatever the loop and the planner.
#[test]
fn no_box_is_drawn_over_another() {
    let body =
        format!("{SQUARED}\nwide = pl.exp(squared)\no[0:64, at : at + 128] = pl.cast(pl.add(wide, chunk), pl.BF16)");
    let pipelines =
        [(1, 2), (3, 2), (8, 2), (5, 3), (7, 4)].map(|(trips, stages)| format!("pl.pipeline({trips}, stage={stages})"));
    for header in pipelines.into_iter().chain(["pl.unroll(3)".to_owned(), "pl.range(8)".to_owned()]) {
        for planner in [Planner::Sequential, Planner::Packed] {
            let trial = Trial { planner: Some(planner), target: None };
            let maps = at(&in_loop(&header, &body), "chunk", trial).expect("a kernel").maps;
            maps.iter().flat_map(|map| &map.spaces).for_each(|space| apart(space, &header));
        }
    }
}

#[track_caller]
fn apart(space: &SpaceMap, header: &str) {
    let boxes: Vec<_> = space.boxes().collect();
    for (nth, (buffer, one)) in boxes.iter().enumerate() {
        for (other_buffer, other) in &boxes[nth + 1..] {
            let by_address = buffer.address + buffer.size <= other_buffer.address
                || other_buffer.address + other_buffer.size <= buffer.address;
            let by_time = one.end_row <= other.first_row || other.end_row <= one.first_row;
            assert!(by_address || by_time, "{header}: {} and {} in {}", one.title(), other.title(), space.name);
        }
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
                    prop_assert!(each.first_row < each.end_row && each.end_row <= map.rows());
                }
                let free: u64 = space.free.iter().map(|[start, end]| end - start).sum();
                prop_assert!(space.capacity.is_none_or(|capacity| free <= capacity));
            }
            let lines = text::draw(&map, columns, Scale::Own);
            prop_assert!(lines.len() >= map.rows());
            for line in &lines {
                prop_assert!(line.text().chars().count() <= columns.max(40), "{} of {columns}", line.text());
            }
            svg::file(&map, wide(columns as f64));
        }
    }
}
