use std::fmt::Write;

use expect_test::{Expect, expect};
use tilefit_syntax::{Document, ast};

use super::{Offsets, is_printed, kernels, plan};
use crate::target::Target;

fn check(path: &str, text: &str, expected: &Expect) {
    let mut shown = String::new();
    for block in Document::new(text).blocks() {
        let (ast, _) = ast::parse(&block.source);
        for kernel in kernels(&ast).iter().filter(|_| is_printed(&ast)) {
            let plan = plan(kernel, Offsets::of(path, kernel), Target::Ascend910b);
            let _ = writeln!(shown, "{}:", plan.kernel);
            for tile in &plan.tiles {
                let buffer = tile.buffer.map(|buffer| plan.buffer(buffer).name.as_str());
                let _ =
                    writeln!(shown, "  {} {:?} {:?} {} {buffer:?}", tile.name, tile.space, tile.address, tile.bytes);
            }
            for space in &plan.spaces {
                let _ = writeln!(shown, "  {} uses {}, {} live at once", space.space, space.used, space.peak);
            }
            for finding in &plan.findings {
                let _ = writeln!(shown, "  {}: {}", finding.code, finding.message);
            }
        }
    }
    expected.assert_eq(&shown);
}

/// The example of `hw-native-sys/pypto@7866786db:docs/dev/passes/07-allocate_memory_addr.md`, before the pass.
#[test]
fn unassigned_addresses_are_those_that_the_pass_gives() {
    check(
        "sketch.py",
        "# OpStmts [\nmem_vec_0: MemRefType = block.alloc(Vec, -1, 16384, 0)   # addr=-1 (unallocated)\nmem_vec_1: MemRefType = block.alloc(Vec, -1, 16384, 1)\ntile_a: Tile[[64, 64], FP32, memref=mem_vec_0] = block.load(...)\ntile_b: Tile[[64, 64], FP32, memref=mem_vec_1] = block.add(tile_a, ...)\n# ]\n",
        &expect![[r#"
            sketch:
              tile_a Some(Vec) Some(0) 16384 Some("mem_vec_0")
              tile_b Some(Vec) Some(16384) 16384 Some("mem_vec_1")
              Vec uses 32768, 16384 live at once
        "#]],
    );
}

/// Both sides of the second example of `hw-native-sys/pypto@247d11a4b:docs/dev/passes/07-add_alloc.md`.
#[test]
fn references_by_number_share_memory() {
    check(
        "sketch.py",
        "def compute(...):\n    tile_a: Tile[[64, 64], FP32, MemRef(id=0, space=UB)] = block.load(...)\n    tile_b: Tile[[64, 64], FP32, MemRef(id=1, space=UB)] = block.add(tile_a, ...)\n    tile_c: Tile[[64, 64], FP32, MemRef(id=0, space=UB)] = block.load(...)\n",
        &expect![[r#"
            compute:
              tile_a Some(Vec) Some(0) 16384 Some("memref_0")
              tile_b Some(Vec) Some(16384) 16384 Some("memref_1")
              tile_c Some(Vec) Some(0) 16384 Some("memref_0")
              Vec uses 32768, 16384 live at once
        "#]],
    );
    check(
        "sketch.py",
        "def compute(...):\n    alloc(memref=MemRef(id=0, space=UB, size=16384, addr=0))\n    alloc(memref=MemRef(id=1, space=UB, size=16384, addr=16384))\n    tensor: Tensor[[128, 128], FP32, MemRef(id=3, space=DDR)] = ...\n    tile_a: Tile[[64, 64], FP32, MemRef(id=0, space=UB, addr=0)] = block.load(...)\n    tile_b: Tile[[64, 64], FP32, MemRef(id=1, space=UB, addr=16384)] = block.add(tile_a, ...)\n",
        &expect![[r#"
            compute:
              tile_a Some(Vec) Some(0) 16384 Some("memref_0")
              tile_b Some(Vec) Some(16384) 16384 Some("memref_1")
              Vec uses 32768, 16384 live at once
        "#]],
    );
}

const DUMP: &str = "# pypto.program: P\nimport pypto.language as pl\n\n@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.AIV)\n    def k(a__ssa_v0: pl.Tensor[[64, 128], pl.FP32, pl.MemRef(\"mem_ddr_0\", pl.const(0, pl.INT64), 32768)]):\n        mem_vec_3: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 32768)\n        mem_vec_10: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 4096)\n        x__ssa_v0: pl.Tile[[64, 128], pl.FP32, pl.MemRef(mem_vec_3, pl.const(OFFSET, pl.INT64), 32768), pl.Mem.Vec] = pl.tile.load(a__ssa_v0, [0, 0], [64, 128], [64, 128])\n        v__ssa_v0: pl.Tile[[16, 128], pl.FP32, pl.MemRef(mem_vec_3, VIEW, 8192), pl.Mem.Vec] = pl.tile.slice(x__ssa_v0, [16, 128], [16, 0])\n        y__ssa_v0: pl.Tile[[8, 128], pl.FP32, pl.MemRef(mem_vec_10, pl.const(0, pl.INT64), 4096), pl.Mem.Vec] = pl.tile.exp(v__ssa_v0)\n        return x__ssa_v0, y__ssa_v0\n";

#[test]
fn offsets_of_dumps_count_from_what_the_pass_says() {
    let relative = DUMP.replace("OFFSET", "0").replace("VIEW", "8192");
    let expected = expect![[r#"
        k:
          x__ssa_v0 Some(Vec) Some(4096) 32768 Some("mem_vec_3")
          v__ssa_v0 Some(Vec) Some(12288) 8192 Some("mem_vec_3")
          y__ssa_v0 Some(Vec) Some(0) 4096 Some("mem_vec_10")
          Vec uses 36864, 36864 live at once
    "#]];
    check("passes_dump/30_after_MemoryReuse.py", &relative, &expected);
    let absolute = DUMP.replace("OFFSET", "4096").replace("VIEW", "12288");
    check("passes_dump/31_after_AllocateMemoryAddr.py", &absolute, &expected);
    check("as_python.py", &absolute, &expected);
}

#[test]
fn printed_addresses_that_collide_are_found() {
    let text = DUMP.replace("OFFSET", "0").replace("VIEW", "8192");
    check(
        "passes_dump/31_after_AllocateMemoryAddr.py",
        &text,
        &expect![[r#"
        k:
          x__ssa_v0 Some(Vec) Some(0) 32768 Some("mem_vec_3")
          v__ssa_v0 Some(Vec) Some(8192) 8192 Some("mem_vec_3")
          y__ssa_v0 Some(Vec) Some(0) 4096 Some("mem_vec_10")
          Vec uses 32768, 32768 live at once
          printed-overlap: `y__ssa_v0` (0x0 – 0x1000) overlaps `x__ssa_v0` (0x0 – 0x8000), which is still in use; give one of them another address
    "#]],
    );
}

/// What is printed may be too much although the same buffers fit, or because no placement is low enough.
#[test]
fn exceeded_memory_has_a_verdict() {
    let dump = |last: &str| {
        format!(
            "def k(...):\n    a: pl.Tile[[256, 96], pl.FP32, pl.MemRef(mem_vec_0, 0, 98304), pl.Mem.Vec] = pl.tile.load(...)\n    b: pl.Tile[[256, 96], pl.FP32, pl.MemRef(mem_vec_1, 98304, 98304), pl.Mem.Vec] = pl.tile.load(...)\n    c: pl.Tile[[256, 96], pl.FP32, pl.MemRef(mem_vec_2, 196608, 98304), pl.Mem.Vec] = pl.tile.{last}\n"
        )
    };
    let path = "34_after_AllocateMemoryAddr.py";
    check(
        path,
        &dump("add(a, b)"),
        &expect![[r#"
        k:
          a Some(Vec) Some(0) 98304 Some("mem_vec_0")
          b Some(Vec) Some(98304) 98304 Some("mem_vec_1")
          c Some(Vec) Some(196608) 98304 Some("mem_vec_2")
          Vec uses 294912, 196608 live at once
          capacity-exceeded: Vec buffer usage (294912 bytes) exceeds platform limit (188416 bytes), as printed; `c` ends highest. 196608 bytes are live at once, so no placement fits
    "#]],
    );
    check(
        path,
        &dump("exp(b)"),
        &expect![[r#"
        k:
          a Some(Vec) Some(0) 98304 Some("mem_vec_0")
          b Some(Vec) Some(98304) 98304 Some("mem_vec_1")
          c Some(Vec) Some(196608) 98304 Some("mem_vec_2")
          Vec uses 294912, 98304 live at once
          capacity-exceeded: Vec buffer usage (294912 bytes) exceeds platform limit (188416 bytes), as printed; `c` ends highest. At other addresses the buffers fit into 98304 bytes
    "#]],
    );
}
