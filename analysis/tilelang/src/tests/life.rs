//! When buffers live, and what shares memory.

use expect_test::expect;

use super::{SM_80, check};

#[test]
fn each_copy_in_front_of_a_pipelined_loop_is_an_event() {
    check(
        SM_80,
        "
        global A f16 512x512
        shared small f16 16x64
        shared large f16 64x64
        fragment c f32 64x64
        loop 16 stages 2
          copy A > small
          copy A > large
          parallel small large > c
    ",
        expect![[r#"
            small: 4096 B (2 copies) at 0, lines 6 to 8
            large: 16384 B (2 copies) at 4096, lines 7 to 8
            total 20480
        "#]],
    );
}

#[test]
fn keys_end_before_values() {
    check(
        SM_80,
        "
        global K f16 512x64
        shared k f16 64x64
        shared v f16 64x64
        shared o f16 64x64
        fragment s f32 64x64
        fragment c f32 64x64
        loop 8 stages 2
          copy K > k
          gemm k k > s 64x64x64 rows
          copy K > v
          gemm s v > c 64x64x64
        copy c > o
        copy o > K
    ",
        expect![[r#"
            k: 16384 B (2 copies) at 0, lines 8 to 9
            o: 8192 B at 0, lines 12 to 13
            v: 16384 B (2 copies) at 16384, lines 10 to 11
            total 32768
        "#]],
    );
}

#[test]
fn what_ends_in_a_loop_is_held_until_something_else_happens_outside() {
    let behind = |last: &str| {
        format!(
            "
        global A f16 512x512
        shared a f16 64x64
        shared b f16 64x64
        shared x f16 64x64
        fragment c f32 64x64
        copy A > a
        copy A > b
        gemm a b > c 64x64x64
        {last}
    "
        )
    };
    check(
        SM_80,
        &behind("copy A > x\n        copy x > A"),
        expect![[r#"
            a: 8192 B at 0, lines 6 to 8
            x: 8192 B at 0, lines 9 to 10
            b: 8192 B at 8192, lines 7 to 8
            total 16384
        "#]],
    );
    check(
        SM_80,
        &behind(
            "loop 4
          copy A > x
          parallel x c > c",
        ),
        expect![[r#"
            a: 8192 B at 0, lines 6 to 8
            b: 8192 B at 8192, lines 7 to 8
            x: 8192 B at 16384, lines 10 to 11
            total 24576
        "#]],
    );
}

#[test]
fn an_if_is_one_around_each_statement() {
    let copies = |otherwise: &str| {
        format!(
            "
        global A f16 512x512
        shared x f16 64x64
        shared y f16 64x64
        fragment f f16 64x64
        if A
          copy A > x
          copy x > f
          copy A > y
          copy y > f
        {otherwise}
    "
        )
    };
    check(
        SM_80,
        &copies(""),
        expect![[r#"
        x: 8192 B at 0, lines 6 to 7
        y: 8192 B at 0, lines 8 to 9
        total 8192
    "#]],
    );
    check(
        SM_80,
        &copies(
            "else
          copy A > x",
        ),
        expect![[r#"
            x: 8192 B at 0, lines 6 to 11
            y: 8192 B at 8192, lines 8 to 9
            total 16384
        "#]],
    );
}

#[test]
fn without_reuse_buffers_lie_in_a_row_by_name() {
    check(
        SM_80,
        "
        without reuse
        global A f16 512x512
        shared z f16 3
        shared y f16 64
        copy A > z
        copy z > A
        copy A > y
        copy y > A
    ",
        expect![[r#"
            y: 128 B at 0, lines 7 to 8
            z: 6 B at 128, lines 5 to 6
            total 144
        "#]],
    );
}

#[test]
fn a_loop_of_one_iteration_is_its_body() {
    check(
        SM_80,
        "
        global A f16 512x512
        shared x f16 64x64
        shared y f16 64x64
        loop 1
          copy A > x
          copy x > A
          copy A > y
          copy y > A
    ",
        expect![[r#"
            x: 8192 B at 0, lines 5 to 6
            y: 8192 B at 0, lines 7 to 8
            total 8192
        "#]],
    );
}

#[test]
fn an_unrolled_loop_is_copies_of_its_body() {
    check(
        SM_80,
        "
        global A f16 512x512
        shared x f16 64x64
        shared y f16 64x64
        loop 2 unrolled
          copy A > x
          copy x > A
          copy A > y
          copy y > A
    ",
        expect![[r#"
            x: 8192 B at 0, lines 5 to 6
            y: 8192 B at 8192, lines 7 to 8
            total 16384
        "#]],
    );
}
