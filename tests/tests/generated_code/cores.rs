//! Kernels that use both cores: the two functions run side by side, that of the vector core on both of its units.

use crate::generated_code::array::Array;
use crate::generated_code::host::{Batch, Inputs, Run, planned};
use crate::generated_code::kernels::program;

type Reference<'a> = &'a dyn Fn(Inputs) -> Vec<(&'static str, Array)>;

fn add(batch: &mut Batch, name: &str, text: &str, reference: Reference) {
    add_with_notes(batch, name, text, &[], reference);
}

/// Adds a kernel of which tilefit says that it does not model all.
fn add_with_notes(batch: &mut Batch, name: &str, text: &str, known: &[&str], reference: Reference) {
    let mut kernels = planned(text);
    assert_eq!(kernels.len(), 2, "{name}: a kernel for each core");
    kernels.sort_by_key(|(kernel, _)| !kernel.name.contains("aic") && !kernel.name.contains("cube"));
    let [cube, vector] = [&kernels[0], &kernels[1]].map(|(kernel, plan)| {
        let notes: Vec<String> = kernel.notes.iter().map(|note| note.reason.to_string()).collect();
        assert_eq!(notes, known, "{name}");
        Run::new(name, kernel, plan).tolerance(2e-2)
    });
    batch.add_pair(cube, vector, reference);
}

/// A scope of host code that becomes two kernels.
fn scope(params: &str, scope: &str, body: &str) -> String {
    let mut text = String::from("import pypto.language as pl\n\n@pl.program\nclass P:\n    @pl.function\n");
    text.push_str(&format!("    def main(self, {params}):\n        with pl.at(level=pl.Level.CORE_GROUP{scope}):\n"));
    for line in body.lines() {
        text.push_str(&format!("            {line}\n"));
    }
    text.push_str("        return o\n");
    text
}

/// A product, something on the vector core, and a product of that.
pub(crate) fn both_ways(mode: &str) -> String {
    scope(
        "q: pl.Tensor[[32, 64], pl.BF16], k: pl.Tensor[[64, 64], pl.BF16], v: pl.Tensor[[64, 64], pl.BF16], \
         o: pl.Out[pl.Tensor[[32, 64], pl.FP32]]",
        mode,
        "s = pl.matmul(q, k, out_dtype=pl.FP32)\n\
         e = pl.mul(s, 0.015625)\n\
         h = pl.cast(e, pl.BF16)\n\
         r = pl.matmul(h, v, out_dtype=pl.FP32)\n\
         o[0:32, 0:64] = r",
    )
}

/// A product through global memory, which the vector core reads after a barrier of the cores.
pub(crate) fn through_memory(barrier: &str) -> String {
    program(
        "a: pl.Tensor[[64, 64], pl.FP16], b: pl.Tensor[[64, 64], pl.FP16], w: pl.Tensor[[16], pl.INT32], \
         t: pl.Out[pl.Tensor[[64, 64], pl.FP32]], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]",
        &format!(
            "a_l1 = pl.load(a, [0, 0], [64, 64], target_memory=pl.Mem.Mat)\n\
             b_l1 = pl.load(b, [0, 0], [64, 64], target_memory=pl.Mem.Mat)\n\
             c = pl.matmul(a_l1, b_l1)\n\
             t = pl.store(c, [0, 0], t)\n\
             {barrier}\n\
             v = pl.load(t, [0, 0], [64, 64])\n\
             e = pl.add(v, 1.0)\n\
             out = pl.store(e, [0, 0], out)\n\
             return out"
        ),
    )
}

const HALVES: [&str; 2] =
    [", optimizations=[pl.split(pl.SplitMode.UP_DOWN)]", ", optimizations=[pl.split(pl.SplitMode.LEFT_RIGHT)]"];

#[test]
fn kernels_for_both_cores_compute_what_they_say() {
    let mut batch = Batch::default();
    let exp_of_product = |i: Inputs| vec![("out", i["a"].scale(0.25).times(&i["b"].scale(0.25)).map(f64::exp))];
    add(
        &mut batch,
        "cube_to_vector",
        &program(
            "a: pl.Tensor[[64, 64], pl.FP16], b: pl.Tensor[[64, 64], pl.FP16], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]",
            "a_l1 = pl.load(a, [0, 0], [64, 64], target_memory=pl.Mem.Mat)\n\
             b_l1 = pl.load(b, [0, 0], [64, 64], target_memory=pl.Mem.Mat)\n\
             c = pl.matmul(a_l1, b_l1)\n\
             v = pl.move(c, target_memory=pl.Mem.Vec)\n\
             s = pl.mul(v, 0.0625)\n\
             e = pl.exp(s)\n\
             out = pl.store(e, [0, 0], out)\n\
             return out",
        ),
        &exp_of_product,
    );
    let product =
        "a: pl.Tensor[[64, 64], pl.BF16], b: pl.Tensor[[64, 128], pl.BF16], o: pl.Out[pl.Tensor[[64, 128], pl.FP32]]";
    for (name, mode) in ["up_down", "left_right"].iter().zip(HALVES) {
        add(
            &mut batch,
            name,
            &scope(
                product,
                mode,
                "c = pl.matmul(a, b, out_dtype=pl.FP32)\n\
                 d = pl.mul(c, 0.125)\n\
                 e = pl.add(d, 1.0)\n\
                 o[0:64, 0:128] = e",
            ),
            &|i| vec![("o", i["a"].times(&i["b"]).map(|x| x * 0.125 + 1.0))],
        );
    }
    for (name, mode) in [("both_ways", ""), ("halves_of_rows", HALVES[0]), ("halves_of_columns", HALVES[1])] {
        add(&mut batch, name, &both_ways(mode), &|i| vec![("o", i["q"].times(&i["k"]).scale(0.015625).times(&i["v"]))]);
    }
    // More tiles go through the queue than it has slots.
    add(
        &mut batch,
        "in_a_loop",
        &program(
            "a: pl.Tensor[[256, 64], pl.FP16], b: pl.Tensor[[64, 64], pl.FP16], out: pl.Out[pl.Tensor[[256, 64], pl.FP32]]",
            "b_l1 = pl.load(b, [0, 0], [64, 64], target_memory=pl.Mem.Mat)\n\
             b_r = pl.move(b_l1, target_memory=pl.Mem.Right)\n\
             for i in pl.range(4):\n\
             \x20   a_l1 = pl.load(a, [i * 64, 0], [64, 64], target_memory=pl.Mem.Mat)\n\
             \x20   a_l = pl.move(a_l1, target_memory=pl.Mem.Left)\n\
             \x20   c = pl.matmul(a_l, b_r)\n\
             \x20   v = pl.move(c, target_memory=pl.Mem.Vec)\n\
             \x20   e = pl.add(v, 2.0)\n\
             \x20   out = pl.store(e, [i * 64, 0], out)\n\
             return out",
        ),
        &|i| vec![("out", i["a"].times(&i["b"]).map(|x| x + 2.0))],
    );
    batch.check("cores");
}

/// A window lies in its tile with gaps between its rows; in the queue its rows lie one after the other.
#[test]
fn windows_are_passed_without_their_gaps() {
    let text = scope(
        "x: pl.Tensor[[16, 128], pl.FP32], v: pl.Tensor[[64, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]",
        "",
        "e = pl.add(x, 1.0)\n\
         r = pl.slice(e, [16, 64], [0, 64])\n\
         p = pl.matmul(r, v)\n\
         o[0:16, 0:64] = p",
    );
    let mut batch = Batch::default();
    add(&mut batch, "pushed_window", &text, &|i| {
        let right = Array::from(16, 64, |r, c| i["x"].at(r, c + 64) + 1.0);
        vec![("o", right.times(&i["v"]))]
    });
    batch.check("pushed_window");
}

/// The second vector unit pushes a half of which only some rows are valid; the cube puts both in one tile.
#[test]
fn halves_that_are_valid_in_part_are_put_together() {
    let text = scope(
        "x: pl.Tensor[[40, 64], pl.FP32], v: pl.Tensor[[64, 64], pl.FP32], o: pl.Out[pl.Tensor[[40, 64], pl.FP32]]",
        HALVES[0],
        "w = pl.slice(x, [64, 64], [0, 0], valid_shape=[40, 64])\n\
         e = pl.add(w, 1.0)\n\
         p = pl.matmul(e, v)\n\
         o = pl.assemble(o, p, [0, 0])",
    );
    let mut batch = Batch::default();
    add(&mut batch, "halves_valid_in_part", &text, &|i| vec![("o", i["x"].map(|x| x + 1.0).times(&i["v"]))]);
    batch.check("halves_valid_in_part");
}

/// Two queues, each with its number, written by the author.
#[test]
fn queues_that_the_author_sets_up_keep_their_tiles_apart() {
    let params =
        "a: pl.Tensor[[16, 16], pl.FP32], b: pl.Tensor[[16, 16], pl.FP32], out: pl.Out[pl.Tensor[[16, 16], pl.FP32]]";
    let text = format!(
        "import pypto.language as pl\n\n@pl.program\nclass P:\n\
         \x20   @pl.function(type=pl.FunctionType.AIV)\n\
         \x20   def vector(self, {params}):\n\
         \x20       first = pl.import_peer_buffer(name=\"first\", peer_func=\"cube\")\n\
         \x20       second = pl.import_peer_buffer(name=\"second\", peer_func=\"cube\")\n\
         \x20       pl.aiv_initialize_pipe(pl.const(0, pl.INT32), first, dir_mask=2, slot_size=1024, id=0)\n\
         \x20       pl.aiv_initialize_pipe(pl.const(0, pl.INT32), second, dir_mask=2, slot_size=1024, id=1)\n\
         \x20       x: pl.Tile[[16, 16], pl.FP32, pl.Mem.Vec] = pl.load(a, [0, 0], [16, 16])\n\
         \x20       y: pl.Tile[[16, 16], pl.FP32, pl.Mem.Vec] = pl.load(b, [0, 0], [16, 16])\n\
         \x20       sum: pl.Tile[[16, 16], pl.FP32, pl.Mem.Vec] = pl.add(x, y)\n\
         \x20       difference: pl.Tile[[16, 16], pl.FP32, pl.Mem.Vec] = pl.sub(x, y)\n\
         \x20       pl.tpush_to_aic(difference, split=0, id=1)\n\
         \x20       pl.tpush_to_aic(sum, split=0, id=0)\n\n\
         \x20   @pl.function(type=pl.FunctionType.AIC)\n\
         \x20   def cube(self, {params}):\n\
         \x20       first = pl.reserve_buffer(name=\"first\", size=8192, base=pl.AUTO)\n\
         \x20       second = pl.reserve_buffer(name=\"second\", size=8192, base=pl.AUTO)\n\
         \x20       pl.aic_initialize_pipe(pl.const(0, pl.INT32), first, dir_mask=2, slot_size=1024, id=0)\n\
         \x20       pl.aic_initialize_pipe(pl.const(0, pl.INT32), second, dir_mask=2, slot_size=1024, id=1)\n\
         \x20       sum: pl.Tile[[16, 16], pl.FP32, pl.Mem.Mat] = pl.tpop_from_aiv(split=0, id=0)\n\
         \x20       difference: pl.Tile[[16, 16], pl.FP32, pl.Mem.Mat] = pl.tpop_from_aiv(split=0, id=1)\n\
         \x20       left = pl.move(sum, target_memory=pl.Mem.Left)\n\
         \x20       right = pl.move(difference, target_memory=pl.Mem.Right)\n\
         \x20       product: pl.Tile[[16, 16], pl.FP32] = pl.matmul(left, right)\n\
         \x20       pl.tfree_to_aiv(sum, id=0)\n\
         \x20       pl.tfree_to_aiv(difference, id=1)\n\
         \x20       return pl.store(product, [0, 0], out)\n"
    );
    let mut batch = Batch::default();
    add(&mut batch, "two_queues", &text, &|i| vec![("out", i["a"].add(&i["b"]).times(&i["a"].sub(&i["b"])))]);
    batch.check("two_queues");
}

/// What the cube core has stored is in global memory when the vector core reads it; each waits for the other.
#[test]
fn cores_meet_at_a_barrier() {
    let mut batch = Batch::default();
    for (name, barrier) in [
        ("hard", "pl.system.syncall()"),
        ("soft", "pl.system.syncall(core_type=\"mix\", mode=\"soft\", gm_workspace=w)"),
    ] {
        // Without a barrier it would be a race.
        let known = ["a tensor that one core stores and the other loads"];
        let reference = |i: Inputs| vec![("out", i["a"].times(&i["b"]).map(|x| x + 1.0))];
        add_with_notes(&mut batch, name, &through_memory(barrier), &known, &reference);
    }
    batch.check("barrier");
}
