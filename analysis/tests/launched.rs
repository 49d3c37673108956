//! Kernels that an author wrote, by how the functions around them launch them.

use expect_test::{Expect, expect};
use tilefit_analysis::Fixture;
use tilefit_analysis::project::Config;
use tilefit_pypto::target::Target;

/// A line for each kernel of a program: its status, what is not modelled, and its tiles with their addresses.
fn plans(functions: &str, target: Target) -> String {
    let text = format!("import pypto.language as pl\n\n@pl.program\nclass P:\n{functions}");
    let mut lines = String::new();
    for plan in Fixture::new(&text).with(Config { target, ..Config::default() }).plans() {
        let address = |address: Option<u64>| address.map_or("?".to_owned(), |address| format!("{address:#x}"));
        let tiles: Vec<String> =
            plan.tiles.iter().map(|tile| format!("{} {}", tile.name, address(tile.address))).collect();
        lines += &format!("{} {} {:?} [{}]\n", plan.name, plan.status, plan.reasons, tiles.join(", "));
    }
    lines
}

#[track_caller]
fn check(functions: &str, expect: Expect) {
    expect.assert_eq(&plans(functions, Target::Ascend910b));
}

const PRODUCT: &str = "
    @pl.function(type=pl.FunctionType.InCore)
    def product(self, h: pl.Tensor[[16, 128], pl.BF16], w: pl.Tensor[[128, 256], pl.BF16], o: pl.Out[pl.Tensor[[16, 256], pl.FP32]]):
        for i in pl.range(4):
            t = pl.matmul(h, pl.slice(w, [128, 64], [0, i * 64]), out_dtype=pl.FP32)
            o = pl.assemble(o, t, [0, i * 64])
        return o
";

fn launched(body: &str) -> String {
    let body: String = body.lines().map(|line| format!("        {line}\n")).collect();
    format!(
        "{PRODUCT}
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[16, 128], pl.BF16], w: pl.Tensor[[128, 256], pl.BF16], o: pl.Out[pl.Tensor[[16, 256], pl.FP32]]):
{body}        return o
"
    )
}

#[test]
fn operands_that_every_caller_made_may_be_loaded_once() {
    let noted = expect![[r#"
        P.product partial ["the load of `h`, which the compiler may move out of the loop"] [t__tmp_v0 0x0, h_mat 0x4000, h_mat_Left 0x0, t__tmp_v0_Right 0x0, t 0x0]
    "#]];
    let make = "hid = pl.create_tensor([16, 128], dtype=pl.BF16)\nhid = self.fill(x, hid)\n";
    check(&launched(&format!("{make}o = self.product(hid, w, o)")), noted);
    check(
        &launched(&format!("{make}o = self.product(o=o, w=w, h=hid)")),
        expect![[r#"
        P.product partial ["the load of `h`, which the compiler may move out of the loop"] [t__tmp_v0 0x0, h_mat 0x4000, h_mat_Left 0x0, t__tmp_v0_Right 0x0, t 0x0]
    "#]],
    );
    // As what inlines into a function for the host.
    check(
        &launched("a, b = self.made(x)\no = self.product(a, w, o)"),
        expect![[r#"
        P.product partial ["the load of `h`, which the compiler may move out of the loop"] [t__tmp_v0 0x0, h_mat 0x4000, h_mat_Left 0x0, t__tmp_v0_Right 0x0, t 0x0]
    "#]],
    );
}

#[test]
fn operands_that_some_caller_was_given_are_loaded_each_time() {
    let make = "hid = pl.create_tensor([16, 128], dtype=pl.BF16)\n";
    let exact = plans(&launched("o = self.product(x, w, o)"), Target::Ascend910b);
    assert!(exact.starts_with("P.product exact []"), "{exact}");
    for calls in [
        "part = pl.slice(x, [16, 128], [0, 0])\no = self.product(part, w, o)".to_owned(),
        format!("{make}o = self.product(hid, w, o)\no = self.product(x, w, o)"),
        format!("{make}o = pl.submit(self.product, hid, w, o)"),
        String::new(),
    ] {
        assert_eq!(plans(&launched(&calls), Target::Ascend910b), exact, "{calls}");
    }
}

/// A vector kernel that sends to the cube, and the cube kernel.
fn pair(attributes: &str, split: u32, groups: &str) -> String {
    format!(
        "
    @pl.function(type=pl.FunctionType.AIV{attributes})
    def vector(self, a: pl.Tensor[[64, 64], pl.FP32], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        peer = pl.import_peer_buffer(name=\"ring\", peer_func=\"cube\")
        pl.aiv_initialize_pipe(dir_mask=2, slot_size=16384, v2c_consumer_buf=peer)
        x: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.load(a, [0, 0], [64, 64])
        pl.tpush_to_aic(x, split={split})

    @pl.function(type=pl.FunctionType.AIC)
    def cube(self, a: pl.Tensor[[64, 64], pl.FP32], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        ring = pl.reserve_buffer(name=\"ring\", size=65536, base=0x0)
        pl.aic_initialize_pipe(dir_mask=2, slot_size=16384, v2c_consumer_buf=ring)
        p: pl.Tile[[64, 64], pl.FP32, pl.Mem.Mat] = pl.tpop_from_aiv(split={split})
        pl.tfree_to_aiv(p)
{groups}"
    )
}

fn group(name: &str, is_cluster: bool, calls: &str) -> String {
    let (kind, head) = match is_cluster {
        true => ("Orchestration", "        with pl.cluster():\n"),
        false => ("Group", "        for i in pl.range(2):\n"),
    };
    format!(
        "
    @pl.function(type=pl.FunctionType.{kind})
    def {name}(self, a: pl.Tensor[[64, 64], pl.FP32], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
{head}{calls}"
    )
}

const BOTH: &str = "            self.cube(a, o)\n            self.vector(a, o)\n";

#[test]
fn the_second_vector_unit_repeats_what_is_launched_with_the_cube() {
    let twice = expect![[r#"
        P.vector exact [] [x 0x0, x 0x0]
        P.cube exact [] [p ?]
    "#]];
    check(&pair("", 0, &group("both", false, BOTH)), twice);
    check(
        &pair("", 0, &group("both", true, BOTH)),
        expect![[r#"
            P.vector exact [] [x 0x0, x 0x0]
            P.cube exact [] [p ?]
        "#]],
    );
    check(
        &pair(", attrs={\"dual_aiv_dispatch\": True}", 0, ""),
        expect![[r#"
            P.vector exact [] [x 0x0, x 0x0]
            P.cube exact [] [p ?]
        "#]],
    );
}

#[test]
fn the_second_vector_unit_repeats_nothing_else() {
    let once = expect![[r#"
        P.vector exact [] [x 0x0]
        P.cube exact [] [p ?]
    "#]];
    check(&pair("", 0, ""), once);
    check(
        &pair("", 0, &group("alone", false, "            self.vector(a, o)\n")),
        expect![[r#"
            P.vector exact [] [x 0x0]
            P.cube exact [] [p ?]
        "#]],
    );
    check(
        &pair(", attrs={\"split_aiv\": True}", 0, &group("both", false, BOTH)),
        expect![[r#"
            P.vector exact [] [x 0x0]
            P.cube exact [] [p ?]
        "#]],
    );
    expect![[r#"
        P.vector exact [] [x 0x0, x_nz 0x4000]
        P.cube exact [] [p ?]
    "#]]
    .assert_eq(&plans(&pair("", 0, &group("both", false, BOTH)), Target::Ascend950));
}

#[test]
fn a_vector_kernel_that_is_launched_in_two_ways_is_not_clear() {
    let groups = group("both", false, BOTH) + &group("alone", false, "            self.vector(a, o)\n");
    check(
        &pair("", 0, &groups),
        expect![[r#"
            P.vector partial ["a vector kernel that the second vector unit may repeat"] [x 0x0]
            P.cube exact [] [p ?]
        "#]],
    );
}

/// Whether they are for the cube shows only when their operations have their memories.
#[test]
fn a_partner_of_no_core_is_not_clear() {
    let in_core = pair("", 0, &group("both", false, BOTH)).replace("FunctionType.AIC", "FunctionType.InCore");
    check(
        &in_core,
        expect![[r#"
            P.vector partial ["a vector kernel that the second vector unit may repeat"] [x 0x0]
            P.cube exact [] [p ?]
        "#]],
    );
}

#[test]
fn what_goes_to_the_cube_on_950_is_packed() {
    expect![[r#"
        P.vector exact [] [x 0x0, x_nz 0x4000]
        P.cube exact [] [p ?]
    "#]]
    .assert_eq(&plans(&pair("", 0, ""), Target::Ascend950));
    let packed = "packed = pl.move(x, target_memory=pl.Mem.Vec, blayout=pl.TileLayout.col_major, slayout=pl.TileLayout.row_major)\n";
    let by_author = pair("", 0, "").replace("pl.tpush_to_aic(x", &format!("{packed}        pl.tpush_to_aic(packed"));
    expect![[r#"
        P.vector exact [] [x 0x0, packed 0x4000]
        P.cube exact [] [p ?]
    "#]]
    .assert_eq(&plans(&by_author, Target::Ascend950));
}

#[test]
fn tiles_that_cross_in_halves_are_divided() {
    check(
        &pair("", 1, ""),
        expect![[r#"
            P.vector partial ["tiles that the compiler divides between the two vector units"] [x 0x0]
            P.cube exact [] [p ?]
        "#]],
    );
    check(
        &pair(", attrs={\"split\": pl.SplitMode.UP_DOWN}", 1, ""),
        expect![[r#"
            P.vector partial ["tiles that the compiler divides between the two vector units"] [x 0x0]
            P.cube exact [] [p ?]
        "#]],
    );
}
