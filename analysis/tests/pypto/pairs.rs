//! What authors write for both cores, held together.

use std::fmt::Write;

use expect_test::{Expect, expect};

use tilefit_analysis::Fixture;
use tilefit_analysis::project::Config;
use tilefit_pypto::target::Target;
use tilefit_python::diagnostics::Code;

/// The findings in a program of a vector and a cube kernel with these bodies, and of what else stands in the class.
fn findings(vector: &str, cube: &str, rest: &str, target: Target) -> String {
    let indented = |body: &str| body.lines().map(|line| format!("        {line}\n")).collect::<String>();
    let text = format!(
        "import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.AIV)
    def vector(self, a: pl.Tensor[[64, 16], pl.FP16], n: pl.Scalar[pl.INDEX]):
        peer = pl.import_peer_buffer(name=\"ring\", peer_func=\"cube\")
        ring = pl.reserve_buffer(name=\"back\", size=4096, base=pl.AUTO)
        pl.aiv_initialize_pipe(ring, peer, dir_mask=3, slot_size=1024)
        x: pl.Tile[[16, 16], pl.FP16, pl.Mem.Vec] = pl.load(a, [0, 0], [16, 16])
{}
    @pl.function(type=pl.FunctionType.AIC)
    def cube(self, a: pl.Tensor[[64, 16], pl.FP16], n: pl.Scalar[pl.INDEX]):
        peer = pl.import_peer_buffer(name=\"back\", peer_func=\"vector\")
        ring = pl.reserve_buffer(name=\"ring\", size=4096, base=pl.AUTO)
        pl.aic_initialize_pipe(peer, ring, dir_mask=3, slot_size=1024)
        m: pl.Tile[[16, 16], pl.FP16, pl.Mem.Mat] = pl.load(a, [0, 0], [16, 16], target_memory=pl.Mem.Mat)
        p = pl.matmul(pl.move(m, target_memory=pl.Mem.Left), pl.move(m, target_memory=pl.Mem.Right))
{}{rest}",
        indented(vector),
        indented(cube)
    );
    let fixture = Fixture::new(&text).with(Config { target, ..Config::default() });
    let mut report = String::new();
    for diagnostic in fixture.diagnostics() {
        if diagnostic.code == Code::UnpairedTransfer {
            let _ = writeln!(report, "{}", fixture.at(diagnostic.range));
            let _ = writeln!(report, "  {}", diagnostic.message);
            for related in diagnostic.related {
                let _ = writeln!(report, "  {}: {}", fixture.at(related.range), related.message);
            }
        }
    }
    report
}

#[track_caller]
fn check(vector: &str, cube: &str, expect: Expect) {
    expect.assert_eq(&findings(vector, cube, "", Target::Ascend910b));
}

/// Nothing is said.
#[track_caller]
fn silent(vector: &str, cube: &str) {
    check(vector, cube, expect![""]);
}

const POP: &str = "y: pl.Tile[[16, 16], pl.FP16, pl.Mem.Mat] = pl.tpop_from_aiv(split=0)\npl.tfree_to_aiv(y)";
const BACK: &str = "z: pl.Tile[[16, 16], pl.FP32, pl.Mem.Vec] = pl.tpop_from_aic(split=0)\npl.tfree_to_aic(z)";

fn within(head: &str, body: &str) -> String {
    let body: String = body.lines().map(|line| format!("    {line}\n")).collect();
    format!("{head}:\n{body}")
}

#[test]
fn as_many_pops_as_pushes() {
    silent("pl.tpush_to_aic(x, split=0)", POP);
    let push = "pl.tpush_to_aic(x, split=0)";
    silent(&within("for i in pl.range(4)", push), &within("for i in pl.range(2)", &format!("{POP}\n{POP}")));
    silent(&within("for i in pl.range(0, 8, 2)", push), &[POP; 4].join("\n"));
    // In an order in which both can go on.
    silent(&format!("{push}\n{BACK}"), &format!("{POP}\npl.tpush_to_aiv(p, split=0)"));
    silent(&format!("{push}\n{BACK}"), &format!("pl.tpush_to_aiv(p, split=0)\n{POP}"));
}

#[test]
fn more_of_one_than_of_the_other() {
    let push = "pl.tpush_to_aic(x, split=0)";
    check(
        &within("for i in pl.range(4)", push),
        &within("for i in pl.range(3)", POP),
        expect![[r#"
            pl.tpush_to_aic(x, split=0)
              `vector` pushes 4 tiles into queue 0 (vector → cube), but `cube` pops 3: the last tiles stay in the queue; pop as many as are pushed
              pl.tpop_from_aiv(split=0): `cube` pops 3 tiles here
        "#]],
    );
    check(
        &within("for i in pl.range(2)", push),
        &within("for i in pl.range(3)", POP),
        expect![[r#"
            pl.tpop_from_aiv(split=0)
              `cube` pops 3 tiles from queue 0 (vector → cube), but `vector` pushes 2: the kernel would hang here; push as many as are popped
              pl.tpush_to_aic(x, split=0): `vector` pushes 2 tiles here
        "#]],
    );
    check(
        &format!("{push}\n{push}"),
        POP,
        expect![[r#"
            pl.tpush_to_aic(x, split=0)
              `vector` pushes 2 tiles into queue 0 (vector → cube), but `cube` pops 1: the last tiles stay in the queue; pop as many as are pushed
              pl.tpop_from_aiv(split=0): `cube` pops 1 tile here
        "#]],
    );
    check(
        "",
        POP,
        expect![[r#"
            pl.tpop_from_aiv(split=0)
              pops from queue 0 (vector → cube), but `vector` never pushes into it: the kernel would hang
        "#]],
    );
    check(
        push,
        "",
        expect![[r#"
            pl.tpush_to_aic(x, split=0)
              pushes into queue 0 (vector → cube), but `cube` never pops from it: the tile stays in the queue
        "#]],
    );
    // Whatever the number, it is never popped.
    check(
        &within("for i in pl.range(n)", push),
        "",
        expect![[r#"
            pl.tpush_to_aic(x, split=0)
              pushes into queue 0 (vector → cube), but `cube` never pops from it: the tile stays in the queue
        "#]],
    );
    check(
        &format!("{push}\n{}", within("if n > 3", push)),
        &[POP; 3].join("\n"),
        expect![[r#"
            pl.tpop_from_aiv(split=0)
              `cube` pops 3 tiles from queue 0 (vector → cube), but `vector` pushes 1 to 2: the kernel would hang here; push as many as are popped
              pl.tpush_to_aic(x, split=0): `vector` pushes 1 tile here
              pl.tpush_to_aic(x, split=0): `vector` pushes at most 1 tile here
        "#]],
    );
}

#[test]
fn other_queues_than_the_partner() {
    let initialize = |core: &str| format!("pl.{core}_initialize_pipe(ring, peer, dir_mask=3, slot_size=1024, id=1)");
    let vector = format!("{}\npl.tpush_to_aic(x, split=0, id=1)", initialize("aiv"));
    let cube = format!("{}\n{POP}", initialize("aic"));
    check(
        &vector,
        &cube,
        expect![[r#"
            pl.tpush_to_aic(x, split=0, id=1)
              pushes into queue 1 (vector → cube), but `cube` never pops from it: the tile stays in the queue; `cube` pops from queue 0 (vector → cube), into which nothing is pushed
            pl.tpop_from_aiv(split=0)
              pops from queue 0 (vector → cube), but `vector` never pushes into it: the kernel would hang; `vector` pushes into queue 1 (vector → cube), from which nothing is popped
        "#]],
    );
}

#[test]
fn what_is_not_known_says_nothing() {
    let push = "pl.tpush_to_aic(x, split=0)";
    silent(&within("for i in pl.range(n)", push), &within("for i in pl.range(3)", POP));
    silent(&within("for i in pl.range(n)", push), &within("for i in pl.range(n)", &format!("{POP}\n{POP}")));
    silent(&format!("{push}\n{}", within("if n > 3", push)), &format!("{POP}\n{POP}"));
    silent(&within("if n > 3", push), POP);
    silent(&within("for i in pl.range(4)", &format!("{push}\n{}", within("if i > n", "break"))), POP);
    silent(&within("for i in pl.range(0)", push), "");
    // A part of the kernel that tilefit does not know may push as well.
    silent(&format!("{push}\nunheard_of(x)"), &format!("{POP}\n{POP}"));
}

/// How a function is launched has nothing to do with it.
#[test]
fn attributes_hide_no_transfer() {
    let text = "import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.AIV, attrs={\"unheard_of\": True})
    def vector(self, a: pl.Tensor[[64, 16], pl.FP16]):
        peer = pl.import_peer_buffer(name=\"ring\", peer_func=\"cube\")
        pl.aiv_initialize_pipe(0, peer, dir_mask=2, slot_size=1024)
        x: pl.Tile[[16, 16], pl.FP16, pl.Mem.Vec] = pl.load(a, [0, 0], [16, 16])
        pl.tpush_to_aic(x, split=0)

    @pl.function(type=pl.FunctionType.AIC)
    def cube(self, a: pl.Tensor[[64, 16], pl.FP16]):
        ring = pl.reserve_buffer(name=\"ring\", size=4096, base=pl.AUTO)
        pl.aic_initialize_pipe(0, ring, dir_mask=2, slot_size=1024)
";
    let codes: Vec<Code> = Fixture::new(text).diagnostics().iter().map(|diagnostic| diagnostic.code).collect();
    assert_eq!(codes, [Code::NotModelled, Code::UnpairedTransfer]);
}

#[test]
fn each_waits_for_the_other() {
    let push = "pl.tpush_to_aic(x, split=0)";
    let (vector, cube) = (format!("{BACK}\n{push}"), format!("{POP}\npl.tpush_to_aiv(p, split=0)"));
    check(
        &vector,
        &cube,
        expect![[r#"
            pl.tpop_from_aiv(split=0)
              `cube` waits here for tile 1 of queue 0 (vector → cube) while `vector` waits for tile 1 of queue 0 (cube → vector): both hang; make one of them push before it pops
              pl.tpop_from_aic(split=0): `vector` waits here
        "#]],
    );
    // A queue of four slots, of which none becomes free.
    let (fills, empties) = (within("for i in pl.range(5)", push), within("for i in pl.range(5)", POP));
    silent(&format!("{fills}{BACK}"), &format!("{empties}pl.tpush_to_aiv(p, split=0)"));
    silent(&format!("{fills}{BACK}"), &format!("pl.tpush_to_aiv(p, split=0)\n{empties}"));
    let (fills_too, empties_too) =
        (within("for i in pl.range(5)", "pl.tpush_to_aiv(p, split=0)"), within("for i in pl.range(5)", BACK));
    check(
        &format!("{fills}{empties_too}"),
        &format!("{fills_too}{empties}"),
        expect![[r#"
            pl.tpush_to_aiv(p, split=0)
              `cube` waits here for a free slot of queue 0 (cube → vector) while `vector` waits for a free slot of queue 0 (vector → cube): both hang; make one of them pop in between
              pl.tpush_to_aic(x, split=0): `vector` waits here
        "#]],
    );
    // On 950 a wait holds up one pipe only.
    assert_eq!(findings(&vector, &cube, "", Target::Ascend950), "");
}

#[test]
fn who_belongs_together() {
    let (push, twice) = ("pl.tpush_to_aic(x, split=0)", format!("{POP}\n{POP}"));
    let group = |calls: &str| {
        format!(
            "
    @pl.function(type=pl.FunctionType.AIC)
    def other(self, a: pl.Tensor[[64, 16], pl.FP16], n: pl.Scalar[pl.INDEX]):
        ring = pl.reserve_buffer(name=\"ring\", size=4096, base=pl.AUTO)
        pl.aic_initialize_pipe(0, ring, dir_mask=2, slot_size=1024)
        y: pl.Tile[[16, 16], pl.FP16, pl.Mem.Mat] = pl.tpop_from_aiv(split=0)
        pl.tfree_to_aiv(y)

{calls}"
        )
    };
    let found = |calls: &str| !findings(push, &twice, &group(calls), Target::Ascend910b).is_empty();
    let of = |kind: &str, body: &str| {
        format!(
            "    @pl.function(type=pl.FunctionType.{kind})\n    def host(self, a: pl.Tensor[[64, 16], pl.FP16], n: pl.Scalar[pl.INDEX]):\n{body}"
        )
    };
    assert!(found(""), "the vector kernel imports the buffer of the cube kernel");
    assert!(found(&of("Group", "        self.cube(a, n)\n        self.vector(a, n)\n")));
    assert!(
        !found(&of("Group", "        self.other(a, n)\n        self.vector(a, n)\n")),
        "a group says whose peer it is"
    );
    let cluster = |kernel: &str| {
        format!("        with pl.cluster():\n            self.{kernel}(a, n)\n            self.vector(a, n)\n")
    };
    assert!(found(&of("Orchestration", &cluster("cube"))));
    assert!(!found(&of("Orchestration", &cluster("other"))));
}

/// As printed IR spells them.
#[test]
fn transfers_under_their_full_names() {
    let (push, pop) = ("pl.tile.tpush_to_aic(x, split=0)", POP.replace("pl.tpop", "pl.tile.tpop"));
    silent(push, &pop);
    check(
        &format!("{push}\n{push}"),
        &pop,
        expect![[r#"
            pl.tile.tpush_to_aic(x, split=0)
              `vector` pushes 2 tiles into queue 0 (vector → cube), but `cube` pops 1: the last tiles stay in the queue; pop as many as are pushed
              pl.tile.tpop_from_aiv(split=0): `cube` pops 1 tile here
        "#]],
    );
}
