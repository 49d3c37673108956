//! Sizes, copies, alignment and scratch.

use expect_test::expect;

use super::{GFX942, SM_80, SM_90, check};

const PRODUCT: &str = "
    global A f16 512x512
    global B f16 512x512
    global C f16 512x512
    shared a f16 64x32
    shared b f16 32x64
    fragment c f32 64x64
    fill > c
    loop 16 stages 3
      copy A > a
      copy B > b
      gemm a b > c 64x64x32
    copy c > C
";

#[test]
fn copies_of_a_pipelined_loop_are_as_many_as_its_stages() {
    check(
        SM_80,
        PRODUCT,
        expect![[r#"
        a: 12288 B (3 copies) at 0, lines 9 to 11
        b: 12288 B (3 copies) at 12288, lines 10 to 11
        total 24576
    "#]],
    );
}

#[test]
fn amd_pipelines_only_what_is_written_so() {
    check(
        GFX942,
        PRODUCT,
        expect![[r#"
        a: 4096 B at 0, lines 9 to 11
        b: 4096 B at 4096, lines 10 to 11
        total 8192
    "#]],
    );
    let written = PRODUCT.replace("stages 3", "order 0,1,2 stage 0,0,1");
    check(
        GFX942,
        &written,
        expect![[r#"
        a: 8192 B (2 copies) at 0, lines 9 to 11
        b: 8192 B (2 copies) at 8192, lines 10 to 11
        total 16384
    "#]],
    );
}

#[test]
fn hopper_aligns_operands_by_their_swizzle() {
    check(
        SM_90,
        PRODUCT,
        expect![[r#"
        a: 12288 B (3 copies) at 0 by 512, lines 9 to 11
        b: 12288 B (3 copies) at 12288 by 1024, lines 10 to 11
        total 24576
        256 threads, 6 barriers
    "#]],
    );
}

#[test]
fn elements_of_four_bits_are_two_an_octet() {
    check(
        SM_80,
        "
        global A i4 512x512
        shared a i4 3x3
        copy A > a
        copy a > A
    ",
        expect![[r#"
            a: 5 B at 0, lines 3 to 4
            total 5
        "#]],
    );
}

#[test]
fn a_reduction_needs_scratch_where_warps_share_its_rows() {
    let product = |flags: &str| {
        format!(
            "
        global A f16 512x512
        shared a f16 64x64
        shared b f16 64x64
        fragment c f32 64x64
        fragment r f32 64
        copy A > a
        copy A > b
        gemm a b > c 64x64x64 {flags}
        reduce c > r 1
    "
        )
    };
    check(
        SM_80,
        &product(""),
        expect![[r#"
        a: 8192 B at 0, lines 6 to 8
        b: 8192 B at 8192, lines 7 to 8
        workspace of line 9: 512 B at 16384, lines 9 to 9
        total 16896
    "#]],
    );
    check(
        SM_80,
        &product("rows"),
        expect![[r#"
        a: 8192 B at 0, lines 6 to 8
        b: 8192 B at 8192, lines 7 to 8
        total 16384
    "#]],
    );
}

#[test]
fn what_is_not_a_number_is_bounded() {
    check(
        SM_80,
        "
        global A f16 512x512
        shared a f16 64x64
        shared row f16 n
        copy A > a
        copy A > row
        parallel a row > A
    ",
        expect![[r#"
            a: 8192 B at ?, lines 4 to 6
            row: ? B at ?, lines 5 to 6
            total 8192 to ?
            as the size of `row` is known when the kernel is launched
        "#]],
    );
}

#[test]
fn very_many_stages_end() {
    check(
        SM_80,
        &PRODUCT.replace("stages 3", "stages 1000000"),
        expect![[r#"
        a: 4096000000 B (1000000 copies) at ?, lines 9 to 9
        b: 4096000000 B (1000000 copies) at ?, lines 10 to 10
        total 8192 to 8192008192
        as a loop is written out into more statements than are followed
    "#]],
    );
    check(
        SM_90,
        &PRODUCT.replace("stages 3", "stages 1000000"),
        expect![[r#"
        a: 4096000000 B (1000000 copies) at 0 by 512, lines 9 to 11
        b: 4096000000 B (1000000 copies) at 4096000000 by 1024, lines 10 to 11
        total 8192000000
        256 threads, 2000000 barriers
    "#]],
    );
}
