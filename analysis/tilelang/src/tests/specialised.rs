//! Warp specialisation.

use expect_test::expect;

use super::{SM_90, check};

const PRODUCT: &str = "
    global A f16 512x512
    global S f32 512
    shared a f16 64x64
    shared b f16 64x64
    shared s f32 64
    shared o f16 64x64
    fragment c f32 64x64
    fragment f f32 64
    BEFORE
    loop 8 stages 2
      IN
      copy A > a
      copy A > b
      gemm a b > c 64x64x64
    copy c > o
    copy o > A
";

fn product(before: &str, inside: &str) -> String {
    PRODUCT.replace("BEFORE", before).replace("IN", inside)
}

#[test]
fn copies_have_warps_of_their_own() {
    check(
        SM_90,
        &product("fill > c", "fill > c"),
        expect![[r#"
        a: 16384 B (2 copies) at 0 by 1024, lines 12 to 14
        o: 8192 B at 0 by 1024, lines 15 to 16
        b: 16384 B (2 copies) at 16384 by 1024, lines 13 to 14
        total 32768
        256 threads, 4 barriers
    "#]],
    );
}

#[test]
fn what_all_threads_copy_doubles_them() {
    let launch = product("threads 256", "elements S > s").replace("gemm a b > c", "parallel s > c\n      gemm a b > c");
    check(
        SM_90,
        &launch,
        expect![[r#"
        a: 16384 B (2 copies) at 0 by 1024, lines 12 to 15
        o: 8192 B at 0 by 1024, lines 16 to 17
        b: 16384 B (2 copies) at 16384 by 512, lines 13 to 15
        s: 512 B (2 copies) at 32768, lines 11 to 14
        total 33280
        512 threads, 8 barriers
    "#]],
    );
}

#[test]
fn statements_that_only_consumers_need_go_behind_the_producer() {
    check(
        SM_90,
        &product("copy S > s\n    copy s > f", "parallel f c > c"),
        expect![[r#"
        s: 256 B at 0, lines 9 to 10
        o: 8192 B at 0 by 1024, lines 16 to 17
        a: 16384 B (2 copies) at 1024 by 1024, lines 13 to 15
        b: 16384 B (2 copies) at 17408 by 1024, lines 14 to 15
        total 33792
        256 threads, 4 barriers
    "#]],
    );
}

#[test]
fn copies_that_are_deeper_end_all_pipelining() {
    check(
        SM_90,
        "
        global A f16 512x512
        shared a f16 64x64
        fragment c f32 64x64
        loop 8 stages 3
          loop 2
            copy A > a
            parallel a c > c
    ",
        expect![[r#"
            a: 8192 B at 0, lines 6 to 7
            total 8192
        "#]],
    );
}

#[test]
fn behind_an_outer_loop_all_is_of_consumers() {
    check(
        SM_90,
        "
        global A f16 512x512
        shared a f16 64x64
        shared b f16 64x64
        shared x f16 64x64
        fragment c f32 64x64
        loop 4
          loop 8 stages 2
            copy A > a
            copy A > b
            gemm a b > c 64x64x64
        copy c > x
        copy x > A
    ",
        expect![[r#"
            a: 16384 B (2 copies) at 0 by 1024, lines 8 to 10
            x: 8192 B at 0 by 1024, lines 11 to 12
            b: 16384 B (2 copies) at 16384 by 1024, lines 9 to 10
            total 32768
            256 threads, 4 barriers
        "#]],
    );
}

#[test]
fn the_author_can_have_none() {
    check(
        SM_90,
        &format!("without roles\n{}", product("fill > c", "fill > c")),
        expect![[r#"
        a: 16384 B (2 copies) at 0 by 1024, lines 13 to 15
        o: 8192 B at 0 by 1024, lines 16 to 17
        b: 16384 B (2 copies) at 16384 by 1024, lines 14 to 15
        total 32768
    "#]],
    );
}
