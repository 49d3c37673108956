//! What is wrong with launches.

use expect_test::expect;

use super::{SM_80, SM_90, check_findings};

const TWO_LOOPS: &str = "
    global A f16 512x512
    shared a f16 64x64
    shared d f16 64x64
    fragment c f32 64x64
    loop 8 stages 2
      copy A > a
      parallel a c > c
    loop 8 stages 2
      copy A > d
      parallel d c > c
";

#[test]
fn a_second_pipelined_loop_has_copies_of_copies() {
    check_findings(SM_80, TWO_LOOPS, expect![[""]]);
    check_findings(SM_90, TWO_LOOPS, expect!["line 8: d has 4 copies for 2 stages"]);
}

#[test]
fn two_loops_cannot_fill_one_buffer() {
    check_findings(SM_90, &TWO_LOOPS.replace(" d", " a"), expect!["lines 5 and 8 both fill a"]);
    check_findings(SM_80, &TWO_LOOPS.replace(" d", " a"), expect![[""]]);
}

#[test]
fn a_buffer_with_copies_is_not_used_elsewhere() {
    let launch = |product: &str| {
        format!(
            "
        global A f16 512x512
        shared a f16 64x64
        fragment c f32 64x64
        loop 8 stages 2
          copy A > a
          {product}
        copy c > a
        copy a > A
    "
        )
    };
    check_findings(
        SM_80,
        &launch("gemm a a > c 64x64x64"),
        expect!["line 6: a has 2 copies, but 1 in line 7, refused"],
    );
    check_findings(SM_80, &launch("parallel a > c"), expect!["line 6: a has 2 copies, but 1 in line 7"]);
    check_findings(SM_90, &launch("parallel a > c"), expect!["line 5: a has 2 copies, but 1 in line 7, refused"]);
}

#[test]
fn what_a_copy_fills_nothing_else_writes() {
    check_findings(
        SM_80,
        "
        global A f16 512x512
        shared a f16 64x64
        fragment c f32 64x64
        loop 8 stages 2
          copy A > a
          parallel a > a
          parallel a > c
    ",
        expect!["line 6: a is filled in line 5"],
    );
}

#[test]
fn warps_share_a_product_evenly() {
    check_findings(
        SM_80,
        "
        threads 384
        shared a f16 128x64
        shared b f16 64x64
        fragment c f32 128x64
        gemm a b > c 128x64x64
        gemm a b > c 128x64x24
    ",
        expect![[r#"
            line 5: 128x64 for 12 warps
            line 6: 128x64 for 12 warps"#]],
    );
}

#[test]
fn older_machines_have_no_barriers_and_no_tensor_memory() {
    let launch = "
        barrier ready u64 4
        tensor acc f32 128x512
        tensor more f32 128x64
    ";
    check_findings(
        SM_80,
        launch,
        expect![[r#"
        no barriers for ready
        no tensor memory for acc
        no tensor memory for more
        TooManyColumns { columns: 576, allocations: 2 }"#]],
    );
    check_findings(
        SM_90,
        launch,
        expect![[r#"
        no tensor memory for acc
        no tensor memory for more
        TooManyColumns { columns: 576, allocations: 2 }"#]],
    );
}
