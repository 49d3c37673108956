//! `tilefit confirm` and `check --confirm`.

use std::path::{Path, PathBuf};
use std::process::Command;

use expect_test::expect;
use tilefit_tests::scripted_python::{KERNEL, OTHER, SAME, SPILLING, python};

use crate::cli::directory;

/// A directory with [`KERNEL`], another that cannot be asked about, and an interpreter that answers like this.
fn asked(name: &str, answer: &str) -> PathBuf {
    let unsaid = KERNEL.replace("# tilefit: x=fp16 arch=sm_90\n", "");
    let root = directory(name, &[("kernel.py", KERNEL.as_bytes()), ("unsaid.py", unsaid.as_bytes())]);
    python(&root, answer);
    root
}

/// Standard output and standard error, and the exit code.
fn run(root: &Path, arguments: &[&str]) -> String {
    let output = Command::new(tilefit_tests::binary::tilefit())
        .args(arguments)
        .args(["--python", "./python"])
        .current_dir(root)
        .env("XDG_CACHE_HOME", root.join("cache"))
        .output()
        .expect("the binary starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}{}exit {}\n", text(&output.stdout), text(&output.stderr), output.status.code().unwrap_or(-1))
}

#[test]
fn a_plan_is_confirmed() {
    let root = asked("confirm-same", SAME);
    expect![[r#"
        kernel.py:8: copy: confirmed by triton 3.9.0 on sm_90
        unsaid.py:7: copy: not asked: `x` has no value; write it, for example `# tilefit: x=bf16`
        1 confirmed, 1 not asked
        exit 0
    "#]]
    .assert_eq(&run(&root, &["confirm", "kernel.py", "unsaid.py"]));
    // The answer is known now.
    python(&root, "sys.exit(1)");
    assert!(run(&root, &["confirm", "kernel.py"]).starts_with("kernel.py:8: copy: confirmed by"));
}

#[test]
fn a_plan_that_differs_is_a_failure() {
    let root = asked("confirm-other", OTHER);
    expect![[r#"
        kernel.py:8: copy: triton 3.9.0 differs on sm_90
          kernel.py:13: 512 bytes of shared memory, tilefit says 256
          line 13 has `ttg.local_alloc` at smem 0x100, 256 bytes, tilefit says `tile` at smem 0x0, 256 bytes
        1 different
        exit 1
    "#]]
    .assert_eq(&run(&root, &["confirm", "kernel.py"]));
    let checked = run(&root, &["check", "--confirm", "kernel.py"]);
    assert!(checked.contains("warning[compiler-differs]") && checked.ends_with("exit 1\n"), "{checked}");
    let json = run(&root, &["confirm", "kernel.py", "--format", "json"]);
    assert!(json.contains(r#""verdict":{"is":"differs","line":13"#), "{json}");
}

/// The compiler's buffers have lines, sizes and times, so that its own plan is drawn where tilefit has bounds.
#[test]
fn the_map_of_a_bounded_kernel_is_that_of_the_compiler() {
    let kernel = "\
import triton
import triton.language as tl


# tilefit: a=fp16 b=fp16 c=fp32 K=1024 arch=sm_80
@triton.jit
def product(a, b, c, K):
    at = tl.arange(0, 64)
    acc = tl.zeros((64, 64), tl.float32)
    for k in range(0, K, 64):
        x = tl.load(a + at[:, None] * K + at[None, :] + k)
        y = tl.load(b + at[:, None] * K + at[None, :] + k)
        acc += tl.dot(x, y)
    top = tl.max(acc, 1)
    tl.store(c + at, top)
";
    let answer = r#"
product = [{"op": "ttg.local_alloc", "line": line, "offset": offset, "size": 8192, "kind": "explicit", "shape": [64, 64], "dtype": "f16",
            "live": [10 + line, 60], "last_line": 13} for line, offset in ((11, 0), (12, 8192))]
scratch = {"op": "tt.reduce", "line": 14, "offset": 0, "size": 512, "kind": "scratch", "live": [61, 62], "last_line": 14}
say({"id": asked["id"], "by": {"name": "triton", "version": "3.9.0"}, "shared": 16384, "buffers": product + [scratch]})
"#;
    let root = directory("confirm-map", &[("kernel.py", kernel.as_bytes())]);
    python(&root, answer);
    expect![[r#"
        product (sm_80, triton 3.9, bounded)
          smem 16 KiB of 163 KiB
          smem 16384 by triton 3.9.0 on sm_80
          not modelled: how many copies of what a loop loads the compiler keeps follows
            from what it knows of pointers and layouts
          not modelled: whether an operand of `tl.dot` goes through shared memory
            follows from layouts that the compiler chooses
          not modelled: the compiler chooses the layouts of registers

          Horizontal: address. Vertical: time, by source line.
          █▓ tile   ┃ capacity   ◂ peak usage

              smem
           11 ▓x▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓····························
           12 ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓█y█████████████████·········◂
           13 ···············································
           14 █··············································  scratch of `tt.reduce` …
              0x0                0x2000             0x4000
        exit 0
    "#]]
    .assert_eq(&run(&root, &["map", "--confirm", "kernel.py"]));
}

#[test]
fn machine_code_is_asked_for_and_told() {
    let root = asked("confirm-full", SPILLING);
    expect![[r#"
        kernel.py:8: copy: confirmed by triton 3.9.0 on sm_90; 255 registers, 1792 bytes of spill stores and 1280 of spill loads, 720 bytes of stack by ptxas 13.4.59; 2 blocks/SM (registers) by NVIDIA's occupancy rules
        1 confirmed, 1 with spills
        exit 0
    "#]].assert_eq(&run(&root, &["confirm", "--full", "kernel.py"]));
    expect![[r#"
        kernel.py:8: copy: confirmed by triton 3.9.0 on sm_90
        1 confirmed
        exit 0
    "#]]
    .assert_eq(&run(&root, &["confirm", "kernel.py"]));
    let json = run(&root, &["confirm", "--full", "kernel.py", "--format", "json"]);
    let machine = r#""registers":255,"stack":720,"spills":{"stored":1792,"loaded":1280},"warps":4,"occupancy":{"blocks":2,"limits":["registers"]}"#;
    assert!(json.contains(machine), "{json}");
}

/// The plan is what was asked for first.
#[test]
fn an_assembler_that_fails_costs_no_plan() {
    let answer = SAME.replace(r#""shared": 256"#, r#""shared": 256, "no_machine": "ptxas fatal: no""#);
    expect![[r#"
        kernel.py:8: copy: confirmed by triton 3.9.0 on sm_90; not known as machine code: ptxas fatal: no
        1 confirmed
        exit 0
    "#]]
    .assert_eq(&run(&asked("confirm-no-machine", &answer), &["confirm", "--full", "kernel.py"]));
}

#[test]
fn configurations_have_their_registers() {
    let root = directory("configs-full", &[("total.py", TUNED.as_bytes())]);
    python(
        &root,
        r#"
spilled = 8 if asked["constexprs"]["N"] == "512" else 0
machine = {"by": "ptxas 13.4.59", "registers": 32, "spills": {"stored": spilled, "loaded": spilled}, "warps": asked["options"]["num_warps"]}
say({"id": asked["id"], "by": {"name": "triton", "version": "3.9.0"}, "shared": 16, "machine": machine})
"#,
    );
    expect![[r#"
        total.py:8: total: 2 of 2 fit sm_90; 2 of 2 fit sm_86
          N    num_warps  sm_90                  registers  spills  blocks/SM              sm_86                  registers  spills  blocks/SM
          256  8          16     fits confirmed  32         0       8 (registers, warps)   16     fits confirmed  32         0       6 (warps)   shown
          512  4          16     fits confirmed  32         8 B     16 (registers, warps)  16     fits confirmed  32         8 B     12 (warps)
        exit 0
    "#]].assert_eq(&run(&root, &["configs", "--confirm", "--full", "total.py", "--device", "sm_86"]));
    let csv = run(&root, &["configs", "--confirm", "--full", "total.py", "--format", "csv", "--sort", "source"]);
    expect![[
        "total.py,8,total,N=512 num_warps=4,sm_90,16,16,232448,0,fits,32,true,false,,,,,32,0,8 B,16,registers; warps"
    ]]
    .assert_eq(csv.lines().nth(2).unwrap_or_default());
}

#[test]
fn a_compiler_that_refuses_is_quoted() {
    let answer = r#"
say({"id": asked["id"], "by": {"name": "triton", "version": "3.9.0"},
     "error": {"kind": "refused", "message": "no", "line": 14, "details": "at 14:4: no"}})
"#;
    expect![[r#"
        kernel.py:8: copy: triton 3.9.0 refuses it on sm_90
          kernel.py:14: no
          at 14:4: no
        1 refused by the compiler
        exit 0
    "#]]
    .assert_eq(&run(&asked("confirm-refused", answer), &["confirm", "kernel.py"]));
}

#[test]
fn without_a_compiler_there_is_no_answer() {
    let root = asked("confirm-none", "sys.exit(1)");
    expect![[r#"
        kernel.py:8: copy: not confirmed: the process that asks the compiler has ended (exit status: 1)
        1 without an answer
        exit 2
    "#]]
    .assert_eq(&run(&root, &["confirm", "kernel.py"]));
}

/// A kernel with two configurations.
const TUNED: &str = "\
import triton
import triton.language as tl


# tilefit: x=fp32 y=fp32 arch=sm_90
@triton.autotune(configs=[triton.Config({\"N\": 256}, num_warps=8), triton.Config({\"N\": 512}, num_warps=4)], key=[])
@triton.jit
def total(x, y, N: tl.constexpr):
    tl.store(y, tl.sum(tl.load(x + tl.arange(0, N)), 0))
";

#[test]
fn every_configuration_has_a_row() {
    let root = directory("configs", &[("total.py", TUNED.as_bytes())]);
    expect![[r#"
        total.py:8: total: 2 of 2 fit sm_90; 2 of 2 fit sm_86
          N    num_warps  sm_90        blocks  sm_86        blocks
          256  8          <= 32  fits  32      <= 32  fits  16      shown
          512  4          <= 16  fits  32      <= 16  fits  16
        exit 0
    "#]]
    .assert_eq(&run(&root, &["configs", "total.py", "--device", "sm_86"]));
    expect![[r#"
        file,line,kernel,configuration,device,low,high,capacity,columns,verdict,blocks,confirmed,possible,reason,predicted_low,predicted_high,assumes,registers,stack,spills,blocks_per_sm,limited_by
        total.py,8,total,N=256 num_warps=8,sm_90,0,32,232448,0,fits,32,false,false,the compiler chooses the layouts of registers,,,,,,,,
        total.py,8,total,N=512 num_warps=4,sm_90,0,16,232448,0,fits,32,false,false,the compiler chooses the layouts of registers,,,,,,,,
        exit 0
    "#]]
    .assert_eq(&run(&root, &["configs", "total.py", "--format", "csv", "--sort", "source"]));
    let several = run(&root, &["configs", "total.py", ".", "--format", "json"]);
    assert!(several.starts_with("{\"schema\":2,\"files\":[{\"file\":\"total.py\""), "{several}");
    assert!(run(&root, &["configs", "total.py", "--device", "sm_1"]).ends_with("exit 2\n"));
}

/// As vLLM and SGLang keep them: a file for each shape and board. One that is no JSON, and those of other boards, are passed over.
#[test]
fn rows_stand_in_json_beside_the_code() {
    const HOST: &str = "
import functools
import json
import os
import torch
import triton
import triton.language as tl


@triton.jit
def turned(x, y, A: tl.constexpr, B: tl.constexpr, GROUP: tl.constexpr):
    at = tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :] + GROUP
    tl.store(y + at, tl.trans(tl.trans(tl.load(x + at)) + 1.0))


@functools.lru_cache
def tuned(n: int, kind):
    device = torch.cuda.get_device_name().replace(' ', '_')
    kind = '' if not kind else f',dtype={kind}'
    path = os.path.join(os.path.dirname(os.path.realpath(__file__)), 'configs', f'N={n},device_name={device}{kind}.json')
    if os.path.exists(path):
        with open(path) as file:
            return {int(key): value for key, value in json.load(file).items()}
    return None


def run(x: torch.Tensor, y):
    rows, n = x.shape
    found = tuned(n, None)
    if found:
        config = found[min(found.keys(), key=lambda size: abs(size - rows))]
    else:
        config = {'A': 8, 'B': 8, 'GROUP': 1}
    turned[(1,)](x, y, **config)
";
    let hopper = "configs/N=64,device_name=NVIDIA_H100_80GB_HBM3.json";
    let files: [(&str, &[u8]); 6] = [
        ("turned.py", HOST.as_bytes()),
        (hopper, br#"{"1": {"A": 16, "B": 64, "GROUP": 1, "num_warps": 2}, "64": {"A": 64, "B": 128, "GROUP": 8, "num_warps": 8}}"#),
        ("configs/N=64,device_name=NVIDIA_H100_80GB_HBM3,dtype=fp8.json", br#"{"1": {"A": 256, "B": 256, "GROUP": 1}}"#),
        ("configs/N=64,device_name=NVIDIA_H200.json", br#"{"1": {"A": 128, "B": 256, "GROUP": 1}}"#),
        ("configs/N=64,device_name=NVIDIA_B200.json", b"{"),
        ("configs/notes.txt", b"not read"),
    ];
    let root = directory("tables", &files);
    expect![[r#"
        turned.py:11: turned: sm_100: 1 unknown; 2 of 2 fit sm_90; 1 of 1 fit sm_86
          A    B    GROUP  num_warps  sm_100                   blocks  sm_90                   blocks  sm_86                 blocks
                                                 needs A                         not launched                  not launched          shown
          128  128                    <= 131072  fits          1                 not launched                  not launched          possible
          128  64                     <= 65536   fits          3                 not launched                  not launched          possible
          64   128                    <= 65536   fits          3                 not launched                  not launched          possible
          64   64                     <= 32768   fits          6                 not launched                  not launched          possible
          32   64                     <= 16384   fits          13                not launched                  not launched          possible
          64   32                     <= 16384   fits          13                not launched                  not launched          possible
          16   64                     <= 8192    fits          25                not launched                  not launched          possible
          64   16                     <= 8192    fits          25                not launched                  not launched          possible
          16   16                     <= 2048    fits          32                not launched                  not launched          possible
                                                 not launched          <= 65536  fits          3               not launched
          16   64   1      2                     not launched          <= 8192   fits          25              not launched          possible
          64   128  8      8                     not launched          <= 65536  fits          3               not launched          possible
          8    8    1                            not launched          <= 512    fits          32      <= 512  fits          16
          to see its memory, give A and B values
          assumes: the device is sm_100 (none is named)
          assumes: the kernel has 4 warps (no number is given)
        exit 0
    "#]]
    .assert_eq(&run(&root, &["configs", "turned.py", "--device", "sm_90,sm_100,sm_86"]));
}

/// A prediction that the compiler contradicts stays to be seen beside what the compiler says, is counted, and fails.
#[test]
fn a_configuration_that_the_compiler_contradicts_shows_both() {
    let root = directory("configs-contradicted", &[("total.py", TUNED.as_bytes())]);
    // 32 bytes for each, where the second has room for 16 at most.
    python(
        &root,
        "say({\"id\": asked[\"id\"], \"by\": {\"name\": \"triton\", \"version\": \"3.9.0\"}, \"shared\": 32, \"buffers\": []})",
    );
    let table = run(&root, &["configs", "total.py", "--confirm", "--sort", "source"]);
    assert!(table.contains("the compiler contradicts 1") && table.ends_with("exit 1\n"), "{table}");
    assert!(table.contains("fits by the compiler, predicted <= 16") && table.contains("fits confirmed"), "{table}");
    let json = run(&root, &["configs", "total.py", "--confirm", "--format", "json"]);
    assert!(json.contains(r#""contradicted":1"#) && json.contains(r#""predicted":{"low":0,"high":16"#), "{json}");
}
