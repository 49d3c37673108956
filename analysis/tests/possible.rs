//! Kernels whose launches leave something open: what they take whatever is given for it, and with each value that is possible.

use expect_test::{Expect, expect};
use tilefit_analysis::Fixture;
use tilefit_analysis::ide::configurations::{ConfigurationView, OnDevice};
use tilefit_analysis::project::Config;
use tilefit_gpu::device::Arch;
use tilefit_python::diagnostics::Severity;

const HEAD: &str = "import torch\nimport triton\nimport triton.language as tl\n\n\n";

fn open(text: &str) -> Fixture {
    let own = Arch::from_name("sm_90").expect("a device");
    Fixture::new(&format!("{HEAD}{text}")).with(Config { tlx_arch: own, is_gpu_named: true, ..Config::default() })
}

fn on(on: &OnDevice) -> String {
    let bytes = match on.high {
        Some(high) if high == on.low => high.to_string(),
        Some(high) => format!("{}..{high}", on.low),
        None => format!("{}..", on.low),
    };
    format!("{bytes} {}", on.verdict)
}

/// A line for each row; of what is possible the first and the last few.
fn check(text: &str, expected: Expect) {
    let mut shown = String::new();
    for kernel in open(text).configurations(&|_| true) {
        shown += &format!("{}\n", kernel.kernel);
        let line = |row: &ConfigurationView| {
            let values: Vec<_> = row.values.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let on = row.on[0].as_ref().map_or("not surveyed".to_owned(), on);
            format!("  {}{} | {on}\n", if row.possible { "possible " } else { "" }, values.join(" "))
        };
        let rows: Vec<String> = kernel.configurations.iter().map(line).collect();
        let skipped = rows.len().saturating_sub(12);
        rows[..rows.len().min(8)].iter().for_each(|row| shown += row);
        if skipped > 0 {
            shown += &format!("  … {skipped} more\n");
        }
        rows[rows.len().min(8)..].iter().skip(skipped).for_each(|row| shown += row);
        if let Some(reason) = kernel.configurations[0].on[0].as_ref().and_then(|on| on.reason.as_ref()) {
            shown += &format!("  {reason}\n");
        }
    }
    expected.assert_eq(&shown);
}

const ROWS: &str = "@triton.jit
def rows(x, y, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(0) * n + at, mask=at < n, other=0.0).to(tl.float32)
    tl.store(y + tl.program_id(0), tl.sum(v, 0))


";

#[test]
fn an_extent_is_a_power_of_two() {
    check(
        ROWS,
        expect![[r#"
            rows
              BLOCK= | 0..16 fits
              possible BLOCK=1 | 0..4 fits
              possible BLOCK=2 | 0..8 fits
              possible BLOCK=4 | 0..16 fits
              possible BLOCK=8 | 0..16 fits
              possible BLOCK=16 | 0..16 fits
              possible BLOCK=32 | 0..16 fits
              possible BLOCK=64 | 0..16 fits
              … 10 more
              possible BLOCK=131072 | 0..16 fits
              possible BLOCK=262144 | 0..16 fits
              possible BLOCK=524288 | 0..16 fits
              possible BLOCK=1048576 | 0..16 fits
              it depends on what is given for what the file leaves open
        "#]],
    );
}

#[test]
fn the_host_narrows_what_is_possible() {
    check(
        &format!(
            "{ROWS}def total(x):
    y = torch.empty((64,), dtype=torch.float32)
    BLOCK = max(16, min(64, triton.next_power_of_2(x.shape[1])))
    rows[(64,)](x, y, x.shape[1], BLOCK=BLOCK)
"
        ),
        expect![[r#"
            rows
              BLOCK= | 0..16 fits
              possible BLOCK=16 | 0..16 fits
              possible BLOCK=32 | 0..16 fits
              possible BLOCK=64 | 0..16 fits
              the compiler chooses the layouts of registers
        "#]],
    );
}

#[test]
fn what_one_number_decides_goes_together() {
    check(
        &format!(
            "{ROWS}def settings(n):
    block = triton.next_power_of_2(n)
    if block > 16384:
        raise RuntimeError(\"too long\")
    num_warps = 4
    if block >= 8192:
        num_warps = 16
    elif block >= 2048:
        num_warps = 8
    return block, num_warps


def total(x):
    y = torch.empty((64,), dtype=torch.float32)
    block, num_warps = settings(x.shape[1])
    rows[(64,)](x, y, x.shape[1], BLOCK=block, num_warps=num_warps)
"
        ),
        expect![[r#"
            rows
              BLOCK= num_warps= | 0..64 fits
              possible BLOCK=1 num_warps=4 | 0..4 fits
              possible BLOCK=2 num_warps=4 | 0..8 fits
              possible BLOCK=4 num_warps=4 | 0..16 fits
              possible BLOCK=8 num_warps=4 | 0..16 fits
              possible BLOCK=16 num_warps=4 | 0..16 fits
              possible BLOCK=32 num_warps=4 | 0..16 fits
              possible BLOCK=64 num_warps=4 | 0..16 fits
              … 4 more
              possible BLOCK=2048 num_warps=8 | 0..32 fits
              possible BLOCK=4096 num_warps=8 | 0..32 fits
              possible BLOCK=8192 num_warps=16 | 0..64 fits
              possible BLOCK=16384 num_warps=16 | 0..64 fits
              it depends on what is given for what the file leaves open
        "#]],
    );
}

/// The platform is not known, but only the largest rows ask for it.
#[test]
fn what_is_open_in_some_cases_only_goes_together_in_the_others() {
    check(
        &format!(
            "{ROWS}def settings(n):
    block = triton.next_power_of_2(n)
    if block > 8192:
        raise RuntimeError(\"too long\")
    num_warps = 4
    if block >= 4096:
        num_warps = 16 if not is_hip() else 8
    return block, num_warps


def total(x):
    y = torch.empty((64,), dtype=torch.float32)
    block, num_warps = settings(x.shape[1])
    rows[(64,)](x, y, x.shape[1], BLOCK=block, num_warps=num_warps)
"
        ),
        expect![[r#"
            rows
              BLOCK= num_warps= | 0..64 fits
              possible BLOCK=1 num_warps=4 | 0..4 fits
              possible BLOCK=2 num_warps=4 | 0..8 fits
              possible BLOCK=4 num_warps=4 | 0..16 fits
              possible BLOCK=8 num_warps=4 | 0..16 fits
              possible BLOCK=16 num_warps=4 | 0..16 fits
              possible BLOCK=32 num_warps=4 | 0..16 fits
              possible BLOCK=64 num_warps=4 | 0..16 fits
              … 5 more
              possible BLOCK=4096 num_warps=16 | 0..64 fits
              possible BLOCK=4096 num_warps=8 | 0..32 fits
              possible BLOCK=8192 num_warps=16 | 0..64 fits
              possible BLOCK=8192 num_warps=8 | 0..32 fits
              it depends on what is given for what the file leaves open
        "#]],
    );
}

#[test]
fn flags_and_modes_have_few_values() {
    check(
        "MODE_SQUARES = 3


# tilefit: x=fp32 y=fp32
@triton.jit
def modes(x, y, MODE: tl.constexpr, TURNED: tl.constexpr):
    at = tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :]
    v = tl.load(x + at)
    if MODE == MODE_SQUARES:
        v = tl.cumsum(v * v, 0)
    if TURNED:
        v = tl.trans(v)
    tl.store(y + at, v)
",
        expect![[r#"
            modes
              MODE= TURNED= | 0..16384 fits
              possible MODE=3 TURNED=False | 0..16384 fits
              possible MODE=3 TURNED=True | 0..16384 fits
              possible MODE=False TURNED=False | 0 fits
              possible MODE=False TURNED=True | 0..16384 fits
              possible MODE=True TURNED=False | 0 fits
              possible MODE=True TURNED=True | 0..16384 fits
              possible MODE=4 TURNED=False | 0 fits
              possible MODE=4 TURNED=True | 0..16384 fits
              it depends on what is given for what the file leaves open
        "#]],
    );
}

#[test]
fn lengths_only_decide_how_often_loops_go_round() {
    check(
        "# tilefit: a=fp16 b=fp16 c=fp32 divisible=a,b,c
@triton.jit
def product(a, b, c, K: tl.constexpr):
    rows = tl.arange(0, 64)
    inner = tl.arange(0, 32)
    acc = tl.zeros((64, 64), tl.float32)
    for k in range(0, tl.cdiv(K, 32)):
        x = tl.load(a + rows[:, None] * 1024 + k * 32 + inner[None, :])
        y = tl.load(b + (k * 32 + inner[:, None]) * 64 + rows[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + rows[:, None] * 64 + rows[None, :], acc)
",
        expect![[r#"
            product
               | 0..24576 fits
              the number of iterations of a loop depends on a value that is unknown
        "#]],
    );
}

#[test]
fn no_error_rests_on_what_is_only_possible() {
    let text = "# tilefit: x=fp32 y=fp32
@triton.jit
def turned(x, y, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    tl.store(y + at, tl.trans(tl.load(x + at)))
";
    check(
        text,
        expect![[r#"
            turned
              BLOCK= | 0..4194304 depends
              possible BLOCK=1 | 0..4 fits
              possible BLOCK=2 | 0..16 fits
              possible BLOCK=4 | 0..64 fits
              possible BLOCK=8 | 0..256 fits
              possible BLOCK=16 | 0..1024 fits
              possible BLOCK=32 | 0..4096 fits
              possible BLOCK=64 | 0..16384 fits
              possible BLOCK=128 | 0..65536 fits
              possible BLOCK=256 | 0..262144 unknown
              possible BLOCK=512 | 0..1048576 unknown
              possible BLOCK=1024 | 0..4194304 unknown
              it depends on what is given for what the file leaves open
        "#]],
    );
    assert!(open(text).diagnostics().is_empty());
}

#[test]
fn larger_blocks_are_refused_and_other_extents_are_not_known() {
    check(
        "# tilefit: x=i32 BLOCK=96
@triton.jit
def odd(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, at)


# tilefit: x=i32 BLOCK=2048
@triton.jit
def large(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    tl.store(x + at, at)
",
        expect![[r#"
            odd
               | 0.. unknown
              an extent of 96, which is not a power of two: only some versions of Triton take it
            large
               | 0 refused
              line 16: a block has at most 1048576 elements, and this one has 4194304
        "#]],
    );
}

fn lenses(text: &str) -> Vec<String> {
    let fixture = open(text);
    let lenses = fixture.code_lenses().into_iter();
    lenses.filter_map(|lens| fixture.code_lens(lens)).map(|lens| lens.title).collect()
}

/// Strides only enter addresses, a flag is tried both ways, and the index decides no size.
#[test]
fn a_lens_asks_only_for_what_bounds_the_memory() {
    let text = "@triton.jit
def k(a, b, c, index, H: tl.constexpr, stride: tl.constexpr, M: tl.constexpr, FLAG: tl.constexpr):
    i = tl.load(index + tl.program_id(0).to(tl.int64)).to(tl.int64)
    m = tl.arange(0, M)
    x = tl.load(a + i * H + m[:, None] * stride + m[None, :])
    if FLAG:
        x = x * 2
    y = tl.load(b + m[:, None] * stride + m[None, :]).to(tl.float16)
    tl.store(c + m[:, None] * stride + m[None, :], tl.dot(x.to(tl.float16), y))
";
    assert_eq!(lenses(text), ["fits sm_90 at least up to M=64 (8–64 KiB) · assumes 4 warps, 3 stages"]);
    let of_any_type = text.replace("x.to(tl.float16), y", "x, y.to(x.dtype)");
    assert_eq!(
        lenses(&of_any_type),
        ["fits sm_90 up to M=128 (32–192 KiB), with 256 it may not · assumes 4 warps, 3 stages, a: 16 bits"]
    );
}

/// An option of a loop decides how much it loads ahead; without its value no number is the compiler's, and a kernel without products is quiet.
#[test]
fn an_option_of_a_loop_without_a_value_gives_no_number() {
    let text = "@triton.jit
def k(a, out, n, BLOCK: tl.constexpr, num_stages: tl.constexpr):
    for row in tl.range(0, n, 1, num_stages=num_stages):
        x = tl.load(a + row * BLOCK + tl.arange(0, BLOCK)).to(tl.float32)
        tl.store(out + row, tl.max(x, axis=0))
";
    let launched = |stages: &str| {
        format!(
            "{text}\ndef launch(a: torch.Tensor, out, n):\n    k[(1,)](a, out, n, BLOCK=1024, num_stages={stages})\n"
        )
    };
    assert_eq!(lenses(&launched("n")), [""]);
    let one = "4 if torch.cuda.is_available() else 2";
    assert_eq!(lenses(&launched(one)), ["at most 24.1 KiB of 227 KiB (sm_90) whatever num_stages is"]);
}

/// No value is asked for that would not help.
#[test]
fn a_lens_says_what_no_value_would_help_with() {
    let text = "@triton.jit
def k(a, c, K: tl.constexpr, M: tl.constexpr):
    x = tl._experimental_descriptor_load(a, [0, 0], [M, K], tl.float16)
    m = tl.arange(0, M)
    tl.store(c + m[:, None] * M + m[None, :], tl.dot(x, tl.trans(x)))
";
    assert_eq!(
        lenses(text),
        ["memory not known: Triton 3.8 and 3.9, which tilefit models, have no `_experimental_descriptor_load`"]
    );
}

/// Triton 3.9 refuses block pointers: who has them has an older one.
#[test]
fn block_pointers_are_those_of_triton_3_8() {
    let text = "@triton.jit
def k(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    pa = tl.make_block_ptr(a, (M, K), (K, 1), (pid * BM, 0), (BM, BK), (1, 0))
    pb = tl.make_block_ptr(b, (K, N), (N, 1), (0, 0), (BK, BN), (1, 0))
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, tl.cdiv(K, BK)):
        acc += tl.dot(tl.load(pa, boundary_check=(0, 1)), tl.load(pb, boundary_check=(0, 1)))
        pa = tl.advance(pa, (0, BK))
        pb = pb.advance((BK, 0))
    pc = tl.make_block_ptr(c, (M, N), (N, 1), (pid * BM, 0), (BM, BN), (1, 0))
    tl.store(pc, acc.to(c.dtype.element_ty), boundary_check=(0, 1))
";
    // 36,864 bytes by Triton 3.8.
    let told =
        "# tilefit: a=fp16 b=fp16 c=fp16 BM=128 BN=64 BK=32 arch=sm_90 num_warps=4 num_stages=3 divisible=a,b,c,M,N,K";
    assert_eq!(
        lenses(&format!("{told}\n{text}")),
        ["36–40 KiB of 227 KiB (sm_90) · room for ≥ 5 blocks/SM · assumes triton 3.8"]
    );
    let refused = format!("{told} triton=3.9\n{text}");
    let found = open(&refused).diagnostics();
    assert!(
        found[0].message.starts_with("`make_block_ptr` is gone: Triton 3.9 has removed block pointers"),
        "{found:?}"
    );
}

/// Pointers that a loop carries and that a branch chooses are the arguments that they start as.
#[test]
fn pointers_without_a_type_are_followed_through_loops_and_branches() {
    let text = "@triton.jit
def k(a, b, c, K, M: tl.constexpr):
    m = tl.arange(0, M)
    p = a + m[:, None] * K + m[None, :]
    q = b + K if K > 3 else b
    if tl.program_id(0) == 0:
        q += K
    acc = tl.zeros((M, M), tl.float32)
    for k in range(0, K, M):
        y = tl.load(q + m[:, None] * K + m[None, :])
        acc += tl.dot(tl.load(p), y)
        p += M
    tl.store(c + m[:, None] * M + m[None, :], acc)
";
    assert_eq!(lenses(text), ["fits sm_90 up to M=128 (64–160 KiB) · assumes 4 warps, 3 stages, a, b: 16 bits"]);
}

/// What is loaded may count from where an argument leads to: that one is the pointer, as in kernels over pages and sequences.
#[test]
fn pointers_are_found_behind_offsets_that_are_loaded() {
    let text = "@triton.jit
def k(a, b, c, index, K, M: tl.constexpr):
    m = tl.arange(0, M)
    i = tl.load(index + tl.program_id(0))
    a += i * K
    x = tl.load(a + m[:, None] * K + m[None, :])
    y = tl.load(i * K + b + m[:, None] * K + m[None, :]).to(a.dtype.element_ty)
    tl.store(c + m[:, None] * M + m[None, :], tl.dot(x, y))
";
    assert_eq!(lenses(text), ["fits sm_90 up to M=128 (64–192 KiB) · assumes 4 warps, 3 stages, a: 16 bits"]);
}

/// The type of a tensor of pointers that nobody says the type of is not that of a number.
#[test]
fn a_tensor_of_pointers_without_a_type_has_no_number_for_its_type() {
    let text = "@triton.jit
def k(a, b, c, K, M: tl.constexpr):
    m = tl.arange(0, M)
    ps, qs = a + m[:, None] * K + m[None, :], b + m[:, None] * K + m[None, :]
    x = tl.load(ps)
    y = tl.load(qs).to(ps.dtype.element_ty)
    tl.store(c + m[:, None] * M + m[None, :], tl.dot(x, y))
";
    assert_eq!(lenses(text), ["fits sm_90 up to M=128 (64–192 KiB) · assumes 4 warps, 3 stages, a: 16 bits"]);
}

/// Two things that have no value: the sum of a number and of a block is a block.
#[test]
fn a_block_of_unknown_extent_is_no_number() {
    let text = "@triton.jit
def k(a, b, c, N: tl.constexpr, M: tl.constexpr, K: tl.constexpr):
    m, i = tl.arange(0, M), tl.arange(0, K)
    x = tl.load(a + m[:, None] * N + (N + i[None, :])).to(tl.float16)
    y = tl.load(b + (N + i[:, None]) * N + m[None, :]).to(tl.float16)
    tl.store(c + m[:, None] * M + m[None, :], tl.dot(x, y))

def launch(a, b, c, n, k_):
    k[(1,)](a, b, c, n, 64, triton.cdiv(k_, 3))
";
    assert_eq!(lenses(text), ["fits sm_90 at least up to K=256 (32–160 KiB)"]);
}

/// Whoever launches a kernel may give something else than the defaults of its parameters.
#[test]
fn a_default_that_an_assert_refuses_is_no_error_where_nothing_launches_the_kernel() {
    let text = "@triton.jit
def k(a, b, LAYOUT: tl.constexpr = None):
    tl.static_assert(LAYOUT == 'rows')
    tl.store(b, tl.sum(tl.load(a + tl.arange(0, 64)), 0))
";
    let errors = |text: &str| {
        let found = open(text).diagnostics();
        found.into_iter().filter(|it| it.severity == Severity::Error).map(|it| it.code.name()).collect::<Vec<_>>()
    };
    assert_eq!(errors(text), [""; 0]);
    check(
        text,
        expect![[r#"
            k
               | 0.. unknown
              a `static_assert` fails with the defaults of the parameters, and no launch of the kernel is known
        "#]],
    );
    assert_eq!(errors(&format!("{text}\ndef launch(a, b):\n    k[(1,)](a, b)\n")), ["static-assert"]);
}

/// `@triton.heuristics` are functions of what the kernel is launched with.
#[test]
fn heuristics_choose_for_what_is_known() {
    let text = "@triton.heuristics({
    'HAS_BIAS': lambda args: args['bias'] is not None,
    'EVEN': lambda args: args['M'] % 32 == 0,
})
@triton.jit
def k(a, bias, c, M: tl.constexpr, HAS_BIAS: tl.constexpr, EVEN: tl.constexpr):
    m = tl.arange(0, M)
    x = tl.load(a + m[:, None] * M + m[None, :]).to(tl.float16)
    if HAS_BIAS or not EVEN:
        tl.store(c + m[:, None] * M + m[None, :], tl.dot(x, tl.trans(x)))

def launch(a, c):
    k[(1,)](a, None, c, M=64)
";
    let with_comment =
        |comment: &str| lenses(&text.replace("@triton.jit", &format!("# tilefit: {comment}\n@triton.jit")));
    assert_eq!(lenses(text), [""]);
    let taken = ["8–88 KiB of 227 KiB (sm_90) · room for ≥ 2 blocks/SM"];
    assert_eq!(with_comment("HAS_BIAS=True"), taken);
    assert_eq!(with_comment("bias=fp16 M=64"), taken);
    assert_eq!(with_comment("M=16"), ["at most 7 KiB of 227 KiB (sm_90)"]);
}

/// A decorator of the author's that takes configurations tunes as `triton.autotune` does.
#[test]
fn configurations_are_read_through_any_decorator() {
    let text = "@tuned(configs=[triton.Config({'M': m}, num_warps=4) for m in (32, 64)], key=['n'])
@triton.jit
def k(a, c, n, M: tl.constexpr):
    m = tl.arange(0, M)
    x = tl.load(a + m[:, None] * n + m[None, :]).to(tl.float16)
    tl.store(c + m[:, None] * n + m[None, :], tl.dot(x, tl.trans(x)))
";
    assert_eq!(
        lenses(text),
        ["2 configurations · at most 88 KiB of 227 KiB (sm_90) · all fit · room for ≥ 2 blocks/SM"]
    );
}

/// A kernel that each of the next tests tunes in a way of its own.
const TUNED: &str = "@triton.jit
def k(a, c, n, M: tl.constexpr):
    m = tl.arange(0, M)
    x = tl.load(a + m[:, None] * n + m[None, :]).to(tl.float16)
    tl.store(c + m[:, None] * n + m[None, :], tl.dot(x, tl.trans(x)))
";
const BOTH_FIT: &str = "2 configurations · at most 88 KiB of 227 KiB (sm_90) · all fit · room for ≥ 2 blocks/SM";

/// A function that is not known may leave some of them out.
#[test]
fn configurations_are_read_where_a_function_chooses_from_them() {
    let list = "[triton.Config({'M': m}, num_warps=4) for m in (32, 64)]";
    for configs in
        [format!("kept({list})"), format!("list(filter(kept, {list}))"), format!("[c for c in {list} if kept(c)]")]
    {
        let text = format!("from elsewhere import kept\n@triton.autotune(configs={configs}, key=['n'])\n{TUNED}");
        assert_eq!(lenses(&text), [BOTH_FIT], "{configs}");
    }
}

/// A list has all that it may hold, whatever adds it and under whatever condition.
#[test]
fn configurations_are_read_where_a_condition_is_not_known() {
    let of = |m: u32| format!("triton.Config({{'M': {m}}}, num_warps=4)");
    let (small, large) = (of(32), of(64));
    for made in [
        format!("C = [{small}]\nif is_large():\n    C += [{large}]"),
        format!("C = [{small}]\nif is_large():\n    C.append({large})"),
        format!("C = [{small}] if is_small() else [{large}]"),
        "C = []\nfor m in (32, 64):\n    C.append(triton.Config({'M': m}, num_warps=4))".to_owned(),
        "SIZES = [32] if is_small() else [64]\nC = [triton.Config({'M': m}, num_warps=4) for m in SIZES]".to_owned(),
        format!("def sizes():\n    if is_small():\n        return [{small}]\n    return [{large}]\nC = sizes()"),
        format!("C = [{small}]\nif is_small():\n    pass\nelif is_large():\n    C = C + [{large}]"),
    ] {
        let text = format!(
            "from elsewhere import is_large, is_small\n{made}\n@triton.autotune(configs=C, key=['n'])\n{TUNED}"
        );
        assert_eq!(lenses(&text), [BOTH_FIT], "{made}");
    }
    // What is taken of a list that may be another one is not all that it holds.
    let shortest = format!(
        "from elsewhere import is_small\nSIZES = [32, 64] if is_small() else [64]\n@triton.autotune(configs=[triton.Config({{'M': min(SIZES)}}, num_warps=4)], key=['n'])\n{TUNED}"
    );
    assert_eq!(lenses(&shortest), ["at most 88 KiB of 227 KiB (sm_90) whatever M is"]);
}

/// A kernel may be tuned behind its definition, under its own name or another one, or by a file that imports it.
#[test]
fn a_kernel_is_tuned_by_a_call() {
    let tuned = "triton.autotune(configs=[triton.Config({'M': m}, num_warps=4) for m in (32, 64)], key=['n'])(k)";
    assert_eq!(lenses(&format!("{TUNED}k = {tuned}\n")), [BOTH_FIT]);
    let launched = "def launch(a, c, n):\n    k[(1,)](a, c, n, M=128, num_warps=4)\n";
    let with_another = format!("{TUNED}tuned = {tuned}\n{launched}");
    assert_eq!(
        lenses(&with_another),
        ["2 of 3 configurations known · at most 88 KiB of 227 KiB (sm_90) · all of these fit · room for ≥ 2 blocks/SM"],
        "what is launched under its own name is not tuned"
    );
    let tuner = format!("# file: /w/tuner.py\nimport triton\nfrom kernel import k\ntuned = {tuned}\n");
    let fixture = open(&format!("{TUNED}{tuner}"));
    let lens = fixture.code_lenses().remove(0);
    assert_eq!(fixture.code_lens(lens).expect("a lens").title, BOTH_FIT);
}

/// What another decorator calls `configs` takes nothing away from the launches.
#[test]
fn configs_that_are_no_configurations_say_nothing() {
    let text = "@checked(configs=['small', 'large'])
@triton.jit
def k(a, c, n, M: tl.constexpr):
    m = tl.arange(0, M)
    x = tl.load(a + m[:, None] * n + m[None, :]).to(tl.float16)
    tl.store(c + m[:, None] * n + m[None, :], tl.dot(x, tl.trans(x)))

def launch(a, c, n):
    k[(1,)](a, c, n, M=64)
";
    let plain = text.split_once('\n').expect("the decorator").1;
    assert_eq!(lenses(text), lenses(plain));
    assert_eq!(lenses(text), ["8–88 KiB of 227 KiB (sm_90) · room for ≥ 2 blocks/SM"]);
}

/// A second click says more in the comment of the first one, which is the one that is in force.
#[test]
fn missing_values_go_into_the_comment_that_is_there() {
    let text = "# tilefit: a=fp16
@triton.jit
def k(a, b, c, n, M: tl.constexpr):
    m$0 = tl.arange(0, M)
    x, y = tl.load(a + m[:, None] * n + m[None, :]), tl.load(b + m[:, None] * n + m[None, :])
    tl.store(c + m[:, None] * M + m[None, :], tl.dot(x, y))
";
    let fixture = open(text);
    let (range, words) = fixture.missing_values(fixture.cursor()).expect("values are missing");
    let comment = HEAD.len() + "# tilefit: a=fp16".len();
    assert_eq!((range.start, range.end), (comment, comment));
    assert_eq!(words, " M=128");
}

/// Three extents may have thousands of ways together: some of them are shown, and a click on the lens gives values.
#[test]
fn some_ways_are_tried_where_there_are_too_many() {
    let text = "# tilefit: a=fp16 b=fp16 c=fp16 arch=sm_90 num_warps=4
@triton.jit
def k(a, b, c, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, j, i = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    s = tl.zeros((M, N), dtype=tl.float32)
    for k in range(0, n, K):
        x = tl.load(a + m[:, None] * n + (k + i)[None, :])
        y = tl.load(b + (k + i)[:, None] * n + j[None, :])
        s += tl.dot(x, y)
    tl.store(c + m[:, None] * n + j[None, :], s.to(tl.float16))
";
    expect!["12 ways tried: at most 3 KiB (K=16, M=16, N=16) to 64–256 KiB (K=128, M=128, N=128) of 227 KiB (sm_90), 11 known to fit · give M, N and K for more · assumes 3 stages"].assert_eq(&lenses(text).join("\n"));
}

/// Where a block of the usual extents has more elements than Triton takes, small extents are tried.
#[test]
fn small_extents_are_tried_where_the_usual_ones_are_too_large() {
    let text = "# tilefit: a=fp32 c=fp32 arch=sm_90 num_warps=4
@triton.jit
def k(a, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, L: tl.constexpr):
    x = tl.load(a + tl.zeros((M, N, K, L, 32), tl.int32))
    tl.store(c + tl.zeros((32, L, K, N, M), tl.int32), tl.trans(x, (4, 3, 2, 1, 0)))
";
    let said = lenses(text);
    assert!(said.iter().any(|lens| lens.contains("ways tried") && lens.contains("N=2")), "{said:?}");
}

/// What is tried in each way is not assumed as well.
#[test]
fn warps_that_are_tried_are_not_assumed() {
    let text = format!(
        "{ROWS}def total(x):
    y = torch.empty((64,), dtype=torch.float32)
    block = triton.next_power_of_2(x.shape[1])
    rows[(64,)](x, y, x.shape[1], BLOCK=block, num_warps=4 if block < 2048 else 8)
"
    );
    expect!["at most 32 B of 227 KiB (sm_90) whatever BLOCK and num_warps are"].assert_eq(&lenses(&text).join("\n"));
}

/// What a wrapper asserts of a number or of a tensor's elements holds where it launches.
#[test]
fn what_is_asserted_is_possible() {
    check(
        "@triton.jit
def k(x, y, n, D: tl.constexpr, B: tl.constexpr):
    i, d = tl.arange(0, B), tl.arange(0, D)
    a = tl.load(x + i[:, None] * D + d[None, :])
    b = tl.load(x + d[:, None] * B + i[None, :])
    tl.store(y + i[:, None] * B + i[None, :], tl.dot(a, b))


def go(q, k_, v):
    Lq, Lk, Lv = q.shape[-1], k_.shape[-1], v.shape[-1]
    assert Lk in {16, 32, 64}
    assert Lq == Lk and Lk == Lv, \"sizes\"
    assert q.dtype == torch.float16 and v.dtype == q.dtype
    k[(1,)](q, v, q.shape[0], D=Lq, B=Lv, num_warps=4)
",
        expect![[r#"
            k
              B= D= | 512..8192 fits
              possible B=16 D=16 | 512..1024 fits
              possible B=32 D=32 | 2048..4096 fits
              possible B=64 D=64 | 8192 fits
              it depends on what is given for what the file leaves open
        "#]],
    );
}

const TURNED: &str = "@triton.jit
def turned(x, y, A: tl.constexpr, B: tl.constexpr):
    at = tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :]
    tl.store(y + at, tl.trans(tl.trans(tl.load(x + at)) + 1.0))


";

#[test]
fn an_axis_is_as_long_wherever_it_is_read() {
    check(
        &format!(
            "{TURNED}def go(x, y):
    rows, width = x.shape
    if width > 64:
        raise ValueError(\"too wide\")
    turned[(rows,)](x, y, A=triton.next_power_of_2(width), B=triton.next_power_of_2(max(width, 16)))
"
        ),
        expect![[r#"
            turned
              A= B= | 0..32768 fits
              possible A=1 B=16 | 0..128 fits
              possible A=2 B=16 | 0..256 fits
              possible A=4 B=16 | 0..512 fits
              possible A=8 B=16 | 0..1024 fits
              possible A=16 B=16 | 0..2048 fits
              possible A=32 B=32 | 0..8192 fits
              possible A=64 B=64 | 0..32768 fits
              it depends on what is given for what the file leaves open
        "#]],
    );
}

#[test]
fn an_assertion_leaves_some_lengths() {
    check(
        &format!(
            "{TURNED}def go(x, y):
    width = x.shape[-1]
    assert width in {{32, 64, 128}}
    turned[(1,)](x, y, A=width, B=32 if width >= 64 else 64)
"
        ),
        expect![[r#"
            turned
              A= B= | 0..32768 fits
              possible A=32 B=64 | 0..16384 fits
              possible A=64 B=32 | 0..16384 fits
              possible A=128 B=32 | 0..32768 fits
              it depends on what is given for what the file leaves open
        "#]],
    );
}

#[test]
fn a_table_of_cases_gives_its_rows() {
    check(
        &format!(
            "{TURNED}def settings(n: int):
    if n >= 4096:
        return 32, 128, 8
    if 1024 <= n and n != 2048:
        return 32, 64, 4
    return 16, 64, 2


def go(x, y):
    rows, columns, warps = settings(x.size(1))
    turned[(1,)](x, y, A=rows, B=columns, num_warps=warps)
"
        ),
        expect![[r#"
            turned
              A= B= num_warps= | 0..32768 fits
              possible A=16 B=64 num_warps=2 | 0..8192 fits
              possible A=32 B=64 num_warps=4 | 0..16384 fits
              possible A=32 B=128 num_warps=8 | 0..32768 fits
              it depends on what is given for what the file leaves open
        "#]],
    );
}

#[test]
fn a_key_that_is_not_known_may_be_each_or_none() {
    check(
        &format!(
            "{TURNED}def go(x, y, blocks: int):
    width = x.shape[1]
    turned[(1,)](x, y, A={{64: 32}}.get(width, 16), B=min(32, triton.next_power_of_2(blocks)))
"
        ),
        expect![[r#"
            turned
              A= B= | 0..8192 fits
              possible A=16 B=1 | 0..128 fits
              possible A=16 B=2 | 0..256 fits
              possible A=16 B=4 | 0..512 fits
              possible A=16 B=8 | 0..1024 fits
              possible A=16 B=16 | 0..2048 fits
              possible A=16 B=32 | 0..4096 fits
              possible A=32 B=1 | 0..256 fits
              … 1 more
              possible A=32 B=4 | 0..1024 fits
              possible A=32 B=8 | 0..2048 fits
              possible A=32 B=16 | 0..4096 fits
              possible A=32 B=32 | 0..8192 fits
              it depends on what is given for what the file leaves open
        "#]],
    );
}

#[test]
fn a_loop_ends_in_some_cases_earlier() {
    check(
        &format!(
            "{TURNED}def go(x, y):
    width = x.shape[1]
    block = 128
    while block > width and block > 16:
        block //= 2
    turned[(1,)](x, y, A=16, B=block)
"
        ),
        expect![[r#"
            turned
              B= | 0..16384 fits
              possible B=32 | 0..4096 fits
              possible B=64 | 0..8192 fits
              possible B=128 | 0..16384 fits
              possible B=16 | 0..2048 fits
              it depends on what is given for what the file leaves open
        "#]],
    );
}

/// As FlagGems has them: what Hopper's file lacks is in that of all devices.
#[test]
fn configurations_stand_in_files_beside_the_code() {
    let kernel = |operation: &str| {
        format!(
            "from . import runtime


@triton.autotune(configs=runtime.get_tuned_config(\"{operation}\"), key=[])
{TURNED}
# file: /w/runtime/backend/_nvidia/tune_configs.yaml
turned:
  - META: {{A: 16, B: 16}}
  - META:
      A: 32
      B: 16
    num_warps: 8
rows:
  - gen: true
    param_map:
      META: {{A: a, B: b}}
      num_warps: warps
    a: [64]
    b: [16, 32]
    warps: [4, 8]
# file: /w/runtime/backend/_nvidia/hopper/tune_configs.yaml
turned:
  - META: {{A: 128, B: 64}}
    num_warps: 8
"
        )
    };
    check(
        &kernel("turned"),
        expect![[r#"
        turned
           | 0..65536 fits
          the compiler chooses the layouts of registers, and may convert one into another through shared memory
    "#]],
    );
    check(
        &kernel("rows"),
        expect![[r#"
        turned
          B=32 num_warps=8 | 0..16384 fits
          B=32 num_warps=4 | 0..16384 fits
          B=16 num_warps=8 | 0..8192 fits
          B=16 num_warps=4 | 0..8192 fits
          the compiler chooses the layouts of registers, and may convert one into another through shared memory
    "#]],
    );
    check(
        &kernel("other"),
        expect![[r#"
        turned
          A= B= | 0.. unknown
          possible A=64 B=64 | 0..32768 fits
          possible A=16 B=16 | 0..2048 fits
          possible A=128 B=128 | 0..131072 fits
          possible A=16 B=64 | 0..8192 fits
          possible A=32 B=64 | 0..16384 fits
          possible A=128 B=64 | 0..65536 fits
          possible A=64 B=16 | 0..8192 fits
          possible A=64 B=32 | 0..16384 fits
          possible A=64 B=128 | 0..65536 fits
          the bounds of `arange` are not known: `A` has no value here; add a comment `# tilefit: A=128` above the kernel
    "#]],
    );
}

/// Triton 3.9 answers 0 of both.
#[test]
fn loops_that_never_run_are_taken_out() {
    let kernel = |count: &str| {
        format!(
            "# tilefit: a=fp16 o=fp32 B=64 N=1
@triton.jit
def product(a, o, B: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) % N
    r = tl.arange(0, B)
    acc = tl.zeros((B, B), tl.float32)
    for k in range({count}):
        x = tl.load(a + r[:, None] * B + r[None, :] + k * B)
        acc += tl.dot(x, x)
    tl.store(o + r[:, None] * B + r[None, :], acc)
"
        )
    };
    check(
        &kernel("0, i"),
        expect![[r#"
        product
           | 0 fits
    "#]],
    );
    check(
        &kernel("i + 1, N"),
        expect![[r#"
        product
           | 0 fits
    "#]],
    );
}

/// What stands in a dictionary goes together, also where some have keys that others have not, and where it is changed on the way.
#[test]
fn options_in_a_dictionary_are_those_of_a_case() {
    let host = |body: &str| {
        format!(
            "{TURNED}

def options(n):
    if n > 64:
        return {{'A': 64, 'B': 32, 'num_warps': 8}}
    return {{'A': 16, 'B': 128}}

def run(x, y):
    rows, width = x.shape
    chosen = options(rows)
{body}"
        )
    };
    check(
        &host("    turned[(1,)](x, y, **chosen)\n"),
        expect![[r#"
        turned
          A=16 B=128 num_warps= | 0..16384 fits
          A=64 B=32 num_warps=8 | 0..16384 fits
          the compiler chooses the layouts of registers, and may convert one into another through shared memory
    "#]],
    );
    check(
        &host(
            "    found = {**chosen, 'A': 32}\n    found.setdefault('num_warps', 2)\n    turned[(1,)](x, y, **found)\n",
        ),
        expect![[r#"
            turned
              B= num_warps= | 0..32768 fits
              possible B=128 num_warps=2 | 0..32768 fits
              possible B=32 num_warps=8 | 0..8192 fits
              it depends on what is given for what the file leaves open
        "#]],
    );
    check(
        &host("    first = chosen.pop('A')\n    turned[(1,)](x, y, A=min(first, 32), **chosen)\n"),
        expect![[r#"
            turned
              A=16 B=128 num_warps= | 0..16384 fits
              A=32 B=32 num_warps=8 | 0..8192 fits
              the compiler chooses the layouts of registers, and may convert one into another through shared memory
        "#]],
    );
    // Who else holds it sees the change, so that is not known; a copy does not.
    check(
        &host("    other = chosen\n    chosen['A'] = 32\n    turned[(1,)](x, y, A=other['A'], B=other['B'])\n"),
        expect![[r#"
            turned
              A= B= | 0.. unknown
              possible A=64 B=64 | 0..32768 fits
              possible A=16 B=16 | 0..2048 fits
              possible A=128 B=128 | 0..131072 fits
              possible A=16 B=64 | 0..8192 fits
              possible A=32 B=64 | 0..16384 fits
              possible A=128 B=64 | 0..65536 fits
              possible A=64 B=16 | 0..8192 fits
              possible A=64 B=32 | 0..16384 fits
              possible A=64 B=128 | 0..65536 fits
              the bounds of `arange` are not known: `A` has no value here; add a comment `# tilefit: A=128` above the kernel
        "#]],
    );
    check(
        &host(
            "    other = {'A': 16, 'B': 16}\n    chosen = other.copy()\n    chosen['A'] = 32\n    turned[(1,)](x, y, A=other['A'], B=chosen['A'])\n",
        ),
        expect![[r#"
            turned
               | 0..4096 fits
              the compiler chooses the layouts of registers, and may convert one into another through shared memory
        "#]],
    );
}

/// Whatever the key is, the entry is one of those that there are.
#[test]
fn an_unknown_key_of_a_table_has_one_of_its_entries() {
    check(
        &format!(
            "{TURNED}
CONFIGS = {{1: {{'A': 16, 'B': 64}}, 16: {{'A': 32, 'B': 16}}, 256: {{'A': 64, 'B': 64}}}}

def run(x, y):
    rows = x.shape[0]
    chosen = CONFIGS[min(CONFIGS.keys(), key=lambda size: abs(size - rows))]
    turned[(1,)](x, y, **chosen)
"
        ),
        expect![[r#"
            turned
              A= B= | 0..32768 fits
              possible A=16 B=64 | 0..8192 fits
              possible A=32 B=16 | 0..4096 fits
              possible A=64 B=64 | 0..32768 fits
              it depends on what is given for what the file leaves open
        "#]],
    );
}

/// A row that is loaded and divided is kept in a layout of its own, also on the way into a loop.
#[test]
fn pointers_from_a_loaded_row_lead_into_a_loop() {
    check(
        "# tilefit: B=64
@triton.jit
def product(ids, a_ptr, c_ptr, n, s, B: tl.constexpr):
    i = tl.arange(0, B)
    row = tl.load(ids + i)
    a = a_ptr + (row[:, None] // 2 * s + i[None, :])
    acc = tl.zeros((B, B), tl.float32)
    for k in range(n):
        x = tl.load(a)
        acc += tl.dot(x, x)
        a += B
    tl.store(c_ptr + i[:, None] * B + i[None, :], acc)
",
        expect![[r#"
            product
               | 0..57344 fits
              whether an operand of `tl.dot` goes through shared memory follows from layouts that the compiler chooses
        "#]],
    );
}
