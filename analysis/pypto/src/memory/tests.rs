//! Kernels built by hand, with the addresses that the rules of `docs/reference/memory.md` give them.

mod build;
mod random;

use expect_test::{Expect, expect};
use tilefit_python::element::Dtype::{self, *};
use tilefit_python::finding::Status;

use crate::memory::{Effort, Fit, Plan, plan, plan_for, plan_within};
use crate::target::Space::*;
use crate::target::{Machine, Planner, Target};
use build::Build;

/// One line a tile, one a space, one a finding.
fn show(plan: &Plan) -> String {
    let mut text = format!("{} {}\n", plan.planner, plan.status.name());
    for tile in &plan.tiles {
        let space = tile.space.map_or("?", |space| space.name());
        let address = tile.address.map_or("-".to_owned(), |address| address.to_string());
        let buffer = tile.buffer.map_or("-", |buffer| plan.buffer(buffer).name.as_str());
        let (first, last) = (tile.first.0, tile.last.0);
        text.push_str(&format!("{}: {space} {address} +{} {buffer} [{first}, {last}]\n", tile.name, tile.bytes));
    }
    for space in &plan.spaces {
        text.push_str(&format!("{}: {} used, peak {}, {:?}\n", space.space, space.used, space.peak, space.fit));
    }
    for used in plan.spaces.iter().filter(|used| used.used > used.capacity.unwrap_or(u64::MAX)) {
        text.push_str(&format!("{}: {}, best {}\n", used.space, used.fit.name(), used.best));
        used.trouble
            .iter()
            .flat_map(|trouble| &trouble.live)
            .for_each(|tile| text.push_str(&format!("  {} +{}\n", tile.name, tile.bytes)));
    }
    for finding in &plan.findings {
        text.push_str(&format!("{}[{}] {}\n", finding.severity.name(), finding.code, finding.message));
        for related in &finding.related {
            text.push_str(&format!("  {}\n", related.message));
        }
    }
    text
}

fn check(build: Build, planner: Planner, expected: Expect) {
    expected.assert_eq(&show(&plan(&build.kernel(), Target::Ascend910b, planner)));
}

/// `[64, 64]` in the vector unit's memory: 16384 bytes.
const SQUARE: (crate::target::Space, [u64; 2], Dtype) = (Vec, [64, 64], Fp32);

#[test]
fn results_take_the_buffers_of_operands_that_die() {
    let mut k = Build::new();
    let x = k.param("x");
    let a = k.call("a", "tile.load", &[x], SQUARE);
    let b = k.call("b", "tile.load", &[x], SQUARE);
    let c = k.call("c", "tile.add", &[a, b], SQUARE);
    let d = k.call("d", "tile.mul", &[c, b], SQUARE);
    let e = k.call("e", "tile.exp", &[d], SQUARE);
    k.store(e, x);
    check(
        k,
        Planner::Sequential,
        expect![[r#"
        sequential exact
        a: Vec 0 +16384 mem_vec_1 [0, 2]
        b: Vec 16384 +16384 mem_vec_2 [1, 3]
        c: Vec 0 +16384 mem_vec_1 [2, 3]
        d: Vec 0 +16384 mem_vec_1 [3, 4]
        e: Vec 0 +16384 mem_vec_1 [4, 5]
        Vec: 32768 used, peak 32768, Fits
    "#]],
    );
}

#[test]
fn operations_that_cannot_work_in_place_get_a_buffer_of_their_own() {
    let mut k = Build::new();
    let x = k.param("x");
    let a = k.call("a", "tile.load", &[x], SQUARE);
    let b = k.call("b", "tile.recip", &[a], SQUARE);
    let c = k.call("c", "tile.cast", &[b], (Vec, [64, 64], Fp16));
    let d = k.call("d", "tile.cast", &[c], SQUARE);
    k.store(d, x);
    check(
        k,
        Planner::Sequential,
        expect![[r#"
        sequential exact
        a: Vec 0 +16384 mem_vec_1 [0, 1]
        b: Vec 16384 +16384 mem_vec_2 [1, 2]
        c: Vec 16384 +8192 mem_vec_2 [2, 3]
        d: Vec 0 +16384 mem_vec_1 [3, 4]
        Vec: 32768 used, peak 16384, Fits
    "#]],
    );
}

#[test]
fn buffers_follow_each_other_in_the_text_order_of_their_names() {
    let mut k = Build::new();
    let x = k.param("x");
    let tiles: std::vec::Vec<_> =
        (0..12).map(|n| k.call(&format!("t{n}"), "tile.load", &[x], (Vec, [8 * (n + 1), 8], Fp32))).collect();
    for tile in tiles {
        k.store(tile, x);
    }
    check(
        k,
        Planner::Sequential,
        expect![[r#"
        sequential exact
        t0: Vec 0 +256 mem_vec_1 [0, 12]
        t1: Vec 8704 +512 mem_vec_2 [1, 13]
        t2: Vec 9216 +768 mem_vec_3 [2, 14]
        t3: Vec 9984 +1024 mem_vec_4 [3, 15]
        t4: Vec 11008 +1280 mem_vec_5 [4, 16]
        t5: Vec 12288 +1536 mem_vec_6 [5, 17]
        t6: Vec 13824 +1792 mem_vec_7 [6, 18]
        t7: Vec 15616 +2048 mem_vec_8 [7, 19]
        t8: Vec 17664 +2304 mem_vec_9 [8, 20]
        t9: Vec 256 +2560 mem_vec_10 [9, 21]
        t10: Vec 2816 +2816 mem_vec_11 [10, 22]
        t11: Vec 5632 +3072 mem_vec_12 [11, 23]
        Vec: 19968 used, peak 19968, Fits
    "#]],
    );
}

#[test]
fn a_loop_writes_its_carry_in_place() {
    let mut k = Build::new();
    let x = k.param("x");
    let acc = k.call("acc", "tile.load", &[x], SQUARE);
    let (iter, result) = k.begin_for("acc", acc);
    let t = k.call("t", "tile.load", &[x], SQUARE);
    let sum = k.call("acc", "tile.add", &[iter, t], SQUARE);
    k.end_for(&[sum]);
    k.store(result, x);
    check(
        k,
        Planner::Sequential,
        expect![[r#"
        sequential exact
        acc: Vec 0 +16384 mem_vec_1 [0, 4]
        acc: Vec 0 +16384 mem_vec_1 [1, 3]
        t: Vec 16384 +16384 mem_vec_2 [1, 2]
        acc: Vec 0 +16384 mem_vec_1 [2, 3]
        acc: Vec 0 +16384 mem_vec_1 [3, 4]
        Vec: 32768 used, peak 32768, Fits
    "#]],
    );
}

#[test]
fn a_carry_that_cannot_be_written_in_place_is_copied() {
    let mut k = Build::new();
    let x = k.param("x");
    let acc = k.call("acc", "tile.load", &[x], SQUARE);
    let (iter, result) = k.begin_for("acc", acc);
    let next = k.call("acc", "tile.recip", &[iter], SQUARE);
    k.end_for(&[next]);
    k.store(result, x);
    check(
        k,
        Planner::Sequential,
        expect![[r#"
        sequential exact
        acc: Vec 0 +16384 mem_vec_1 [0, 3]
        acc: Vec 0 +16384 mem_vec_1 [1, 2]
        acc: Vec 16384 +16384 mem_vec_2 [1, 2]
        acc_mv: Vec 0 +16384 mem_vec_1 [2, 2]
        acc: Vec 0 +16384 mem_vec_1 [2, 3]
        Vec: 32768 used, peak 32768, Fits
    "#]],
    );
}

#[test]
fn alternatives_of_a_branch_share_a_buffer() {
    let mut k = Build::new();
    let x = k.param("x");
    let a = k.call("a", "tile.load", &[x], SQUARE);
    k.begin_if();
    let then = k.call("y", "tile.exp", &[a], SQUARE);
    k.begin_else(&[then]);
    let otherwise = k.call("y", "tile.neg", &[a], SQUARE);
    let result = k.end_if("y", &[otherwise], SQUARE);
    let z = k.call("z", "tile.load", &[x], SQUARE);
    let sum = k.call("sum", "tile.add", &[result, z], SQUARE);
    k.store(sum, x);
    check(
        k,
        Planner::Sequential,
        expect![[r#"
        sequential exact
        a: Vec 0 +16384 mem_vec_1 [0, 3]
        y: Vec 16384 +16384 mem_vec_2 [1, 6]
        y: Vec 0 +16384 mem_vec_1 [3, 6]
        y_mv: Vec 16384 +16384 mem_vec_2 [4, 4]
        y: Vec 16384 +16384 mem_vec_2 [4, 6]
        z: Vec 32768 +16384 mem_vec_5 [5, 6]
        sum: Vec 0 +16384 mem_vec_1 [6, 7]
        Vec: 49152 used, peak 49152, Fits
    "#]],
    );
}

/// Issue 1908 of hw-native-sys/pypto: an operand of 64 KiB, then two of 32 KiB that live together.
fn chained() -> Build {
    let mut k = Build::new();
    let x = k.param("x");
    let left = |columns| (Left, [128, columns], Fp16);
    let a = k.call("a_l0", "tile.move", &[x], left(256));
    let b = k.call("b_l0", "tile.move", &[x], (Right, [256, 64], Fp16));
    let ab = k.call("ab", "tile.matmul", &[a, b], (Acc, [128, 64], Fp32));
    let ab_l1 = k.call("ab_l1", "tile.move", &[ab], (Mat, [128, 128], Fp16));
    let ab_l0 = k.call("ab_l0", "tile.move", &[ab_l1], left(128));
    let e_l0 = k.call("e_l0", "tile.move", &[x], left(128));
    let c = k.call("c_l0", "tile.move", &[x], (Right, [128, 64], Fp16));
    let abc = k.call("abc", "tile.matmul", &[ab_l0, c], (Acc, [128, 64], Fp32));
    let total = k.call("total", "tile.matmul_acc", &[abc, e_l0, c], (Acc, [128, 64], Fp32));
    k.store(total, x);
    k
}

#[test]
fn the_sequential_planner_never_divides_a_freed_range() {
    check(
        chained(),
        Planner::Sequential,
        expect![[r#"
            sequential exact
            a_l0: Left 0 +65536 mem_left_1 [0, 2]
            b_l0: Right 0 +32768 mem_right_2 [1, 2]
            ab: Acc 0 +32768 mem_acc_3 [2, 3]
            ab_l1: Mat 0 +32768 mem_mat_4 [3, 4]
            ab_l0: Left 0 +32768 mem_left_1 [4, 7]
            e_l0: Left 65536 +32768 mem_left_6 [5, 8]
            c_l0: Right 0 +16384 mem_right_2 [6, 8]
            abc: Acc 0 +32768 mem_acc_3 [7, 8]
            total: Acc 0 +32768 mem_acc_3 [8, 9]
            Mat: 32768 used, peak 32768, Fits
            Left: 98304 used, peak 65536, Fits
            Right: 32768 used, peak 32768, Fits
            Acc: 32768 used, peak 32768, Fits
            Left: fits, best 65536
            error[capacity-exceeded] Left overflow: the plan needs 96 KiB, 64 KiB available (32 KiB over). At most 64 KiB are live at once: with `memory_planner=DSA_RP`, the tiles fit in 64 KiB. (compiler: "Left buffer usage (98304 bytes) exceeds platform limit (65536 bytes)")
              64 KiB of Left for `a_l0` and `ab_l0`
              32 KiB of Left for `e_l0`
        "#]],
    );
}

#[test]
fn the_packed_planner_divides_a_freed_range() {
    check(
        chained(),
        Planner::Packed,
        expect![[r#"
            packed exact
            a_l0: Left 0 +65536 mem_left_1 [0, 2]
            b_l0: Right 0 +32768 mem_right_2 [1, 2]
            ab: Acc 0 +32768 mem_acc_3 [2, 3]
            ab_l1: Mat 0 +32768 mem_mat_4 [3, 4]
            ab_l0: Left 0 +32768 mem_left_5 [4, 7]
            e_l0: Left 32768 +32768 mem_left_6 [5, 8]
            c_l0: Right 0 +16384 mem_right_7 [6, 8]
            abc: Acc 32768 +32768 mem_acc_8 [7, 8]
            total: Acc 32768 +32768 mem_acc_8 [8, 9]
            Mat: 32768 used, peak 32768, Fits
            Left: 65536 used, peak 65536, Fits
            Right: 32768 used, peak 32768, Fits
            Acc: 65536 used, peak 32768, Fits
        "#]],
    );
}

#[test]
fn the_auto_planner_warns_where_only_packed_fits() {
    check(
        chained(),
        Planner::Auto,
        expect![[r#"
            packed exact
            a_l0: Left 0 +65536 mem_left_1 [0, 2]
            b_l0: Right 0 +32768 mem_right_2 [1, 2]
            ab: Acc 0 +32768 mem_acc_3 [2, 3]
            ab_l1: Mat 0 +32768 mem_mat_4 [3, 4]
            ab_l0: Left 0 +32768 mem_left_5 [4, 7]
            e_l0: Left 32768 +32768 mem_left_6 [5, 8]
            c_l0: Right 0 +16384 mem_right_7 [6, 8]
            abc: Acc 32768 +32768 mem_acc_8 [7, 8]
            total: Acc 32768 +32768 mem_acc_8 [8, 9]
            Mat: 32768 used, peak 32768, Fits
            Left: 65536 used, peak 65536, Fits
            Right: 32768 used, peak 32768, Fits
            Acc: 65536 used, peak 32768, Fits
            warning[fits-only-packed] Left: the compiler's default planner needs 96 KiB, 64 KiB available. The tiles fit in 64 KiB if freed buffers are split and reused. PyPTO e2d0f78ae accepts this kernel only with `memory_planner=DSA_RP`; compilers since September 2026 split freed ranges (pypto #2649) and may accept it without
              64 KiB of Left for `a_l0` and `ab_l0`
              32 KiB of Left for `e_l0`
        "#]],
    );
}

#[test]
fn too_much_at_once_is_an_error_whatever_the_planner() {
    let kernel = || {
        let mut k = Build::new();
        let x = k.param("x");
        let a = k.call("a", "tile.load", &[x], (Vec, [128, 256], Fp32));
        let b = k.call("b", "tile.load", &[x], (Vec, [128, 256], Fp32));
        let c = k.call("c", "tile.add", &[a, b], (Vec, [128, 256], Fp32));
        k.store(c, x);
        k
    };
    check(
        kernel(),
        Planner::Auto,
        expect![[r#"
            sequential exact
            a: Vec 0 +131072 mem_vec_1 [0, 2]
            b: Vec 131072 +131072 mem_vec_2 [1, 2]
            c: Vec 0 +131072 mem_vec_1 [2, 3]
            Vec: 262144 used, peak 262144, OverAtAnInstant
            Vec: over-capacity, best 262144
              a +131072
              b +131072
            error[capacity-exceeded] Vec overflow: 256 KiB live at once, 184 KiB available (72 KiB over). Any one of these fixes it: remove `a` or `b`; make the last use of `a` come before `b` is written. (compiler: "Vec buffer usage (262144 bytes) exceeds platform limit (188416 bytes)")
              `a` takes 128 KiB of Vec at the peak
              `b` takes 128 KiB of Vec at the peak
        "#]],
    );
    check(
        kernel(),
        Planner::Packed,
        expect![[r#"
            packed exact
            a: Vec 0 +131072 mem_vec_1 [0, 2]
            b: Vec 131072 +131072 mem_vec_2 [1, 2]
            c: Vec 0 +131072 mem_vec_3 [2, 3]
            Vec: 262144 used, peak 262144, OverAtAnInstant
            Vec: over-capacity, best 262144
              a +131072
              b +131072
            error[capacity-exceeded] Vec overflow: 256 KiB live at once, 184 KiB available (72 KiB over). Any one of these fixes it: remove `a` or `b`; make the last use of `a` come before `b` is written. (compiler: "Vec buffer usage (262144 bytes) exceeds platform limit (188416 bytes)")
              `a` takes 128 KiB of Vec at the peak
              `b` takes 128 KiB of Vec at the peak
        "#]],
    );
}

#[test]
fn a_configured_capacity_replaces_that_of_the_target() {
    let replaced = std::collections::BTreeMap::from([(Left, 98_304)]);
    let machine = Machine { target: Target::Ascend910b, replaced: &replaced };
    let plan = plan_for(&chained().kernel(), machine, Planner::Auto);
    assert_eq!((plan.planner, plan.findings.len()), (Planner::Sequential, 0));
    assert_eq!(plan.space(Left).map(|left| (left.used, left.capacity)), Some((98_304, Some(98_304))));
}

#[test]
fn an_ir_that_names_unknown_variables_is_not_planned() {
    let mut k = Build::new();
    let x = k.param("x");
    k.store(crate::ir::VarId(77), x);
    let plan = plan(&k.kernel(), Target::Ascend910b, Planner::Auto);
    assert_eq!(plan.status, Status::NotModelled);
}

/// `gap-above-bound-7` of `conformance/packing`, one unit being 32 bytes: 8 units are live at once, and 9 are needed.
fn gap() -> Build {
    let mut k = Build::new();
    let x = k.param("x");
    let units = |units| (Vec, [units, 8], Fp32);
    let a = k.call("a", "tile.load", &[x], units(4));
    let e = k.call("e", "tile.load", &[x], units(4));
    k.store(e, x);
    let f = k.call("f", "tile.load", &[x], units(2));
    let g = k.call("g", "tile.load", &[x], units(1));
    k.store(a, x);
    let d = k.call("d", "tile.load", &[x], units(2));
    k.store(g, x);
    let c = k.call("c", "tile.load", &[x], units(4));
    k.store(d, x);
    k.store(f, x);
    let b = k.call("b", "tile.load", &[x], units(3));
    k.store(c, x);
    k.store(b, x);
    k
}

/// What is said of a memory of `capacity` bytes for vectors.
fn told(build: Build, capacity: u64, nodes: u64) -> String {
    let replaced = std::collections::BTreeMap::from([(Vec, capacity)]);
    let machine = Machine { target: Target::Ascend910b, replaced: &replaced };
    let effort = Effort { nodes, ..Effort::INTERACTIVE };
    let plan = plan_within(&build.kernel(), machine, Planner::Auto, effort);
    let shown = show(&plan);
    shown.lines().skip(1 + plan.tiles.len()).map(|line| format!("{line}\n")).collect()
}

#[test]
fn what_no_placement_can_avoid_is_proved_and_the_tiles_are_named() {
    expect![[r#"
        Vec: 352 used, peak 256, Unpackable
        Vec: fragmented, best 288
          a +128
          e +128
        error[capacity-exceeded] Vec overflow: the plan needs 352 B, 256 B available (96 B over). At most 256 B are live at once, but no placement fits in Vec (proved): the free memory is in pieces that are too small. The lowest placement found needs 288 B. `a`, `e`, `c`, `b`, `f`, `d`, `g` cannot be placed together; without any one of them, the others can. (compiler: "Vec buffer usage (352 bytes) exceeds platform limit (256 bytes)")
          `a` takes 128 B of Vec and is in the way
          `e` takes 128 B of Vec and is in the way
          `c` takes 128 B of Vec and is in the way
          `b` takes 96 B of Vec and is in the way
          `f` takes 64 B of Vec and is in the way
          `d` takes 64 B of Vec and is in the way
          `g` takes 32 B of Vec and is in the way
    "#]].assert_eq(&told(gap(), 256, 16_000));
}

#[test]
fn what_the_search_does_not_finish_is_never_called_impossible() {
    expect![[r#"
        Vec: 352 used, peak 256, Undecided
        Vec: undecided, best 288
          a +128
          e +128
        error[capacity-exceeded] Vec overflow: the plan needs 352 B, 256 B available (96 B over). At most 256 B are live at once. The best placement found needs 288 B. 2 steps of search did not decide whether there is a lower one, of at least 256 B; the search continues. (compiler: "Vec buffer usage (352 bytes) exceeds platform limit (256 bytes)")
          128 B of Vec for `a` and `c`
          128 B of Vec for `e` and `b`, `f`
          64 B of Vec for `d`
          32 B of Vec for `g`
    "#]].assert_eq(&told(gap(), 256, 2));
}

#[test]
fn every_peak_is_told_and_what_is_enough_by_itself() {
    let mut k = Build::new();
    let x = k.param("x");
    let rows = |rows| (Vec, [rows, 8], Fp32);
    let a = k.call("a", "tile.load", &[x], rows(6));
    let b = k.call("b", "tile.load", &[x], rows(3));
    k.store(b, x);
    let c = k.call("c", "tile.load", &[x], rows(1));
    k.store(c, x);
    let d = k.call("d", "tile.load", &[x], rows(4));
    let e = k.call("e", "tile.add", &[d, d], rows(4));
    k.store(e, x);
    k.store(a, x);
    expect![[r#"
        Vec: 320 used, peak 320, OverAtAnInstant
        Vec: over-capacity, best 320
          a +192
          d +128
        error[capacity-exceeded] Vec overflow: 320 B live at once, 256 B available (64 B over). One more statement is over the limit. Any one of these fixes it: halve `a`; make the last use of `a` come before `d` is written. (compiler: "Vec buffer usage (320 bytes) exceeds platform limit (256 bytes)")
          `a` takes 192 B of Vec at the peak
          `d` takes 128 B of Vec at the peak
          288 B of Vec are live at once here, also more than available
    "#]].assert_eq(&told(k, 256, 16_000));
}

#[test]
fn alternatives_of_a_branch_are_not_live_together() {
    let mut k = Build::new();
    let x = k.param("x");
    let half = (Vec, [4, 8], Fp32);
    let a = k.call("a", "tile.load", &[x], half);
    k.begin_if();
    let then = k.call("y", "tile.load", &[x], half);
    k.begin_else(&[then]);
    let otherwise = k.call("y", "tile.load", &[x], half);
    let y = k.end_if("y", &[otherwise], half);
    let z = k.call("z", "tile.load", &[x], (Vec, [1, 8], Fp32));
    let sum = k.call("sum", "tile.add", &[a, y], half);
    k.store(z, x);
    k.store(sum, x);
    expect![[r#"
        Vec: 288 used, peak 288, OverAtAnInstant
        Vec: over-capacity, best 288
          a +128
          y +128
          z +32
        error[capacity-exceeded] Vec overflow: 288 B live at once, 256 B available (32 B over). Any one of these fixes it: remove `a` or `y`. (compiler: "Vec buffer usage (288 bytes) exceeds platform limit (256 bytes)")
          `a` takes 128 B of Vec at the peak
          `y` takes 128 B of Vec at the peak
          `z` takes 32 B of Vec at the peak
    "#]].assert_eq(&told(k, 256, 16_000));
}

#[test]
fn what_a_background_search_finds_is_taken_up() {
    for (capacity, fit) in [(256, Fit::Unpackable), (288, Fit::Fits)] {
        let replaced = std::collections::BTreeMap::from([(Vec, capacity)]);
        let machine = Machine { target: Target::Ascend910b, replaced: &replaced };
        let kernel = gap().kernel();
        let asked = Effort { nodes: 0, ..Effort::INTERACTIVE };
        let first = plan_within(&kernel, machine, Planner::Auto, asked);
        let [open] = first.open.as_slice() else {
            assert_eq!((fit, first.space(Vec).map(|used| used.fit)), (Fit::Fits, Some(Fit::Fits)));
            continue;
        };
        assert!(first.space(Vec).is_some_and(|used| used.searching && used.fit == Fit::Undecided));
        assert_eq!(open.run(crate::memory::Patience::Background, &|| true), None, "cancelled");
        let searched =
            std::sync::Arc::new(open.run(crate::memory::Patience::Background, &|| false).expect("nothing cancels"));
        let known = |problem: &_| searched.answers(problem).then(|| searched.clone());
        let then = plan_within(&kernel, machine, Planner::Auto, Effort { known: &known, ..asked });
        let used = then.space(Vec).expect("it is used");
        assert_eq!((used.fit, used.searching, then.open.len()), (fit, false, 0));
        let core = used.trouble.as_ref().and_then(|trouble| trouble.core.as_ref());
        assert_eq!(core.map(|(tiles, irreducible)| (tiles.len(), *irreducible)), Some((7, true)));
    }
}

/// Two stages of a pipeline, 128 bytes each, beside a tile of 128 bytes that lives throughout.
fn stages() -> Build {
    let mut k = Build::new();
    let x = k.param("x");
    let tile = (Vec, [4, 8], Fp32);
    let kept = k.call("kept", "tile.load", &[x], tile);
    for stage in 0..2 {
        let a = k.staged_load("a", x, tile, stage);
        k.store(a, x);
    }
    k.store(kept, x);
    k
}

#[test]
fn what_is_relaxed_is_named() {
    let told = |capacity| {
        let replaced = std::collections::BTreeMap::from([(Vec, capacity)]);
        let machine = Machine { target: Target::Ascend910b, replaced: &replaced };
        show(&plan_for(&stages().kernel(), machine, Planner::Packed))
    };
    expect![[r#"
        packed exact
        kept: Vec 0 +128 mem_vec_1 [0, 5]
        a: Vec 128 +128 mem_vec_2 [1, 2]
        a: Vec 128 +128 mem_vec_3 [3, 4]
        Vec: 256 used, peak 256, Relaxed
        hint[pipeline-depth] 1 of 1 pairs of pipeline stages share memory and wait for each other, because the memory is not large enough for all of them: `a` of stage 0 and `a` of stage 1; use smaller tiles or fewer stages to keep them apart
          share Vec: `a` of stage 0 and `a` of stage 1
    "#]].assert_eq(&told(256));
    expect![[r#"
        packed exact
        kept: Vec 0 +128 mem_vec_1 [0, 5]
        a: Vec 128 +128 mem_vec_2 [1, 2]
        a: Vec 256 +128 mem_vec_3 [3, 4]
        Vec: 384 used, peak 256, Fits
    "#]]
    .assert_eq(&told(384));
}
