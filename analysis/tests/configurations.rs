//! What every configuration of a kernel takes on every device.

use expect_test::expect;
use tilefit_analysis::Fixture;
use tilefit_analysis::ide::Effect;
use tilefit_analysis::ide::configurations::OnDevice;
use tilefit_analysis::project::Config;
use tilefit_gpu::device::Arch;
use tilefit_syntax::TextRange;

const MATMUL: &str = r#"import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BM": 64, "BN": 64, "BK": 64}, num_stages=3, num_warps=4),
        triton.Config({"BM": 128, "BN": 256, "BK": 64}, num_stages=4, num_warps=8),
    ],
    key=["M"],
)
@triton.jit
def matmul(a, b, c, M, N, K, am, ak, bk, bn, cm, cn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = (tl.program_id(0) * BM + tl.arange(0, BM)) % M
    columns = (tl.program_id(1) * BN + tl.arange(0, BN)) % N
    inner = tl.arange(0, BK)
    at = a + rows[:, None] * am + inner[None, :] * ak
    bt = b + inner[:, None] * bk + columns[None, :] * bn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(at, mask=inner[None, :] < K - k * BK, other=0.0)
        y = tl.load(bt, mask=inner[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(x, y, acc)
        at += BK * ak
        bt += BK * bk
    tl.store(c + rows[:, None] * cm + columns[None, :] * cn, acc.to(tl.float16))


def run():
    a = torch.rand((512, 512), device="cuda", dtype=torch.float16)
    b = torch.rand((512, 512), device="cuda", dtype=torch.float16)
    c = torch.empty((512, 512), device="cuda", dtype=torch.float16)
    grid = lambda meta: (triton.cdiv(512, meta["BM"]), triton.cdiv(512, meta["BN"]))
    matmul[grid](
        a, b, c, 512, 512, 512, a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1)
    )
"#;

fn open(text: &str, devices: &[&str]) -> Fixture {
    let mut devices = devices.iter().filter_map(|name| Arch::from_name(name));
    let own = devices.next().unwrap_or_default();
    let config = Config { tlx_arch: own, is_gpu_named: true, devices: devices.collect(), ..Config::default() };
    Fixture::new(text).with(config)
}

/// The bytes are those that Triton 3.9 answers with.
#[test]
fn each_is_laid_out_for_each_device() {
    let fixture = open(MATMUL, &["sm_90", "sm_86"]);
    let kernels = fixture.configurations(&|_| true);
    let [kernel] = kernels.as_slice() else { panic!("{kernels:?}") };
    let mut text = format!("{} {:?}\n", kernel.kernel, kernel.devices);
    for row in &kernel.configurations {
        let values: Vec<_> = row.values.iter().map(|(name, value)| format!("{name}={value}")).collect();
        text += &values.join(" ");
        for on in row.on.iter().flatten() {
            text += &format!(" | {}..{:?} {} {:?}", on.low, on.high, on.verdict, on.blocks);
        }
        text += "\n";
    }
    expect![[r#"
        matmul ["sm_90", "sm_86"]
        BM=64 BN=64 num_stages=3 num_warps=4 | 49152..Some(49152) fits Some(4) | 32768..Some(32768) fits Some(3)
        BM=128 BN=256 num_stages=4 num_warps=8 | 196608..Some(196608) fits Some(1) | 147456..Some(147456) exceeds None
    "#]]
    .assert_eq(&text);
}

#[test]
fn each_has_a_hint_where_it_stands() {
    let fixture = open(MATMUL, &["sm_86"]);
    let hints = fixture.inlay_hints(fixture.whole());
    let line = |offset: usize| MATMUL[..offset].lines().count();
    let text: String = hints.iter().map(|hint| format!("{}: {}\n", line(hint.offset), hint.label)).collect();
    expect![[r#"
        8: 32 KiB
        9: 144 KiB ⚠ 45 KiB over
        22: smem 0x0 2 × 8 KiB
        23: smem 0x4000 2 × 8 KiB
    "#]]
    .assert_eq(&text);
}

/// Of a text whose configurations are written elsewhere than at the kernel: each hint with its line.
#[track_caller]
fn check_hints_of_list(list: &str, argument: &str, expected: expect_test::Expect) {
    let (from, to) = (MATMUL.find("[\n").expect("a list"), MATMUL.find("],\n    key").expect("its end") + 1);
    let text = format!("{}{argument}{}", &MATMUL[..from], &MATMUL[to..]);
    let text = text.replacen("@triton.autotune", &format!("{list}\n@triton.autotune"), 1);
    let fixture = open(&text, &["sm_86"]);
    let hints = fixture.inlay_hints(fixture.whole());
    let line = |offset: usize| text[..offset].lines().last().unwrap_or_default().trim();
    expected.assert_eq(&hints.iter().map(|hint| format!("{} {}\n", line(hint.offset), hint.label)).collect::<String>());
}

#[test]
fn each_has_a_hint_where_the_list_has_a_name_or_is_what_a_function_returns() {
    let list = "[\n    triton.Config({'BM': 64, 'BN': 64, 'BK': 64}, num_stages=3, num_warps=4),\n    triton.Config({'BM': 128, 'BN': 256, 'BK': 64}, num_stages=4, num_warps=8),\n]\n";
    check_hints_of_list(
        &format!("CONFIGS = {list}"),
        "CONFIGS",
        expect![[r#"
        triton.Config({'BM': 64, 'BN': 64, 'BK': 64}, num_stages=3, num_warps=4) 32 KiB
        triton.Config({'BM': 128, 'BN': 256, 'BK': 64}, num_stages=4, num_warps=8) 144 KiB ⚠ 45 KiB over
        x smem 0x0 2 × 8 KiB
        y smem 0x4000 2 × 8 KiB
    "#]],
    );
    check_hints_of_list(
        &format!("def configs():\n    return {list}"),
        "configs()",
        expect![[r#"
        triton.Config({'BM': 64, 'BN': 64, 'BK': 64}, num_stages=3, num_warps=4) 32 KiB
        triton.Config({'BM': 128, 'BN': 256, 'BK': 64}, num_stages=4, num_warps=8) 144 KiB ⚠ 45 KiB over
        x smem 0x0 2 × 8 KiB
        y smem 0x4000 2 × 8 KiB
    "#]],
    );
    let is_cuda = "triton.runtime.driver.active.get_current_target().backend == 'cuda'";
    check_hints_of_list(
        &format!(
            "def of_cuda():\n    return {list}\ndef configs():\n    if {is_cuda}:\n        return of_cuda()\n    return [triton.Config({{}})]"
        ),
        "configs()",
        expect![[r#"
            x smem 0x0 2 × 8 KiB
            y smem 0x4000 2 × 8 KiB
        "#]],
    );
    let comprehension =
        "[triton.Config({'BM': 64, 'BN': n, 'BK': 64}, num_stages=4, num_warps=8) for n in (64, 128, 256)]";
    check_hints_of_list(
        &format!("def configs():\n    found = {comprehension}\n    return found"),
        "configs()",
        expect![[r#"
            found = [triton.Config({'BM': 64, 'BN': n, 'BK': 64}, num_stages=4, num_warps=8) 48–120 KiB ⚠ 1 of 3 do not fit
            x smem 0x0 3 × 8 KiB
            y smem 0x6000 3 × 8 KiB
        "#]],
    );
}

#[test]
fn a_lens_says_what_does_not_fit_on_other_devices() {
    let fixture = open(MATMUL, &["sm_90", "sm_86"]);
    let lenses = fixture.code_lenses();
    let lens = fixture.code_lens(lenses[0].clone()).expect("a lens");
    expect![
        "2 configurations · 48–192 KiB of 227 KiB (sm_90) · all fit · room for ≥ 1 block/SM · 1 does not fit sm_86"
    ]
    .assert_eq(&lens.title);
}

/// Prints what is offered at a place, and the lines that are other ones then: each that is smaller fits, and is the largest that does.
#[track_caller]
fn check_fixes(text: &str, at: &str, devices: &[&str], expected: expect_test::Expect) {
    let fixture = open(text, devices);
    let mut out = String::new();
    for action in fixture.code_actions(TextRange::empty(fixture.find(at))) {
        let edits = match action.effect {
            Effect::Improve(edits) => edits,
            Effect::Fix(fix) => fix.edits,
            _ => continue,
        };
        let fixed = fixture.edited(&edits);
        out += &format!("{}\n", action.title);
        let changed = fixed.lines().filter(|line| !text.lines().any(|old| old == *line));
        changed.for_each(|line| out += &format!("{line}\n"));
        for row in &open(&fixed, devices).configurations(&|_| true)[0].configurations {
            let on = row.on.iter().flatten().map(|on| format!("{} {}", on.low, on.verdict));
            out += &format!("    {}\n", on.collect::<Vec<_>>().join(", "));
        }
    }
    expected.assert_eq(&out);
}

const SMALL: &str = r#"triton.Config({"BM": 64, "BN": 64, "BK": 64}, num_stages=3, num_warps=4),"#;

#[test]
fn what_is_too_large_can_be_reduced_or_removed() {
    let large = r#"triton.Config({"BM": 128, "BN": 256, "BK": 128}, num_stages=4, num_warps=8),"#;
    let text = MATMUL.replace(SMALL, &format!("{large}\n        {SMALL}"));
    let at = r#"Config({"BM": 128, "BN": 256, "BK": 128}"#;
    check_fixes(
        &text,
        at,
        &["sm_90", "sm_86"],
        expect![[r#"
        Reduce `num_stages` to 2, which fits sm_90 (192 KiB)
                triton.Config({"BM": 128, "BN": 256, "BK": 128}, num_stages=2, num_warps=8),
            196608 fits, 98304 fits
            49152 fits, 32768 fits
            196608 fits, 147456 exceeds
        Reduce `BN` to 64, which fits sm_90 (192 KiB)
                triton.Config({"BM": 128, "BN": 64, "BK": 128}, num_stages=4, num_warps=8),
            196608 fits, 147456 exceeds
            49152 fits, 32768 fits
            196608 fits, 147456 exceeds
        Reduce `BM` to 32, which fits sm_90 (216 KiB)
                triton.Config({"BM": 32, "BN": 256, "BK": 128}, num_stages=4, num_warps=8),
            221184 fits, 221184 exceeds
            49152 fits, 32768 fits
            196608 fits, 147456 exceeds
        Reduce `BK` to 64, which fits sm_90 (192 KiB)
            196608 fits, 147456 exceeds
            49152 fits, 32768 fits
            196608 fits, 147456 exceeds
        Remove this configuration, which does not fit sm_90 or sm_86
            49152 fits, 32768 fits
            196608 fits, 147456 exceeds
    "#]],
    );
}

#[test]
fn what_fits_another_device_is_not_removed() {
    check_fixes(
        MATMUL,
        r#"Config({"BM": 128"#,
        &["sm_86", "sm_90"],
        expect![[r#"
        Reduce `num_stages` to 3, which fits sm_86 (96 KiB)
                triton.Config({"BM": 128, "BN": 256, "BK": 64}, num_stages=3, num_warps=8),
            32768 fits, 49152 fits
            98304 fits, 147456 fits
        Reduce `BN` to 128, which fits sm_86 (96 KiB)
                triton.Config({"BM": 128, "BN": 128, "BK": 64}, num_stages=4, num_warps=8),
            32768 fits, 49152 fits
            98304 fits, 131072 fits
        Reduce `BK` to 32, which fits sm_86 (72 KiB)
                triton.Config({"BM": 128, "BN": 256, "BK": 32}, num_stages=4, num_warps=8),
            32768 fits, 49152 fits
            73728 fits, 98304 fits
    "#]],
    );
    check_fixes(MATMUL, r#"Config({"BM": 64"#, &["sm_86", "sm_90"], expect![[r#""#]]);
}

#[test]
fn stages_that_nobody_wrote_can_be_written() {
    let text = MATMUL.replace(SMALL, r#"triton.Config({"BM": 128, "BN": 128, "BK": 128}),"#);
    check_fixes(
        &text,
        r#"Config({"BM": 128, "BN": 128"#,
        &["sm_86"],
        expect![[r#"
        Set `num_stages` to 2, which fits sm_86 (64 KiB)
                triton.Config({"BM": 128, "BN": 128, "BK": 128}, num_stages=2),
            65536 fits
            147456 exceeds
        Reduce `BM` to 64, which fits sm_86 (96 KiB)
                triton.Config({"BM": 64, "BN": 128, "BK": 128}),
            98304 fits
            147456 exceeds
        Reduce `BN` to 64, which fits sm_86 (96 KiB)
                triton.Config({"BM": 128, "BN": 64, "BK": 128}),
            98304 fits
            147456 exceeds
        Reduce `BK` to 64, which fits sm_86 (64 KiB)
                triton.Config({"BM": 128, "BN": 128, "BK": 64}),
            65536 fits
            147456 exceeds
        Remove this configuration, which does not fit sm_86
            147456 exceeds
    "#]],
    );
    let text = text.replace(r#""BK": 128})"#, r#""BK": 128}, **{})"#);
    check_fixes(
        &text,
        r#"Config({"BM": 128, "BN": 128"#,
        &["sm_86"],
        expect![[r#"
        Reduce `BM` to 64, which fits sm_86 (96 KiB)
                triton.Config({"BM": 64, "BN": 128, "BK": 128}, **{}),
            98304 fits
            147456 exceeds
        Reduce `BN` to 64, which fits sm_86 (96 KiB)
                triton.Config({"BM": 128, "BN": 64, "BK": 128}, **{}),
            98304 fits
            147456 exceeds
        Reduce `BK` to 64, which fits sm_86 (64 KiB)
                triton.Config({"BM": 128, "BN": 128, "BK": 64}, **{}),
            65536 fits
            147456 exceeds
        Remove this configuration, which does not fit sm_86
            147456 exceeds
    "#]],
    );
}

/// Also where it stands above the kernel.
#[test]
fn the_only_launch_can_be_reduced() {
    let tuned = MATMUL.find("@triton.autotune").expect("it is there")..MATMUL.find("@triton.jit").expect("it is there");
    let mut text = MATMUL.to_owned();
    text.replace_range(tuned, "");
    let text =
        text.replace("c.stride(0), c.stride(1)\n", "c.stride(0), c.stride(1),\n        BM=128, BN=256, BK=128\n");
    assert!(text.contains("BM=128"));
    check_fixes(
        &text,
        "matmul(a, b, c, M",
        &["sm_86"],
        expect![[r#"
        `BN = 64` fits: 96 KiB of shared memory
                BM=128, BN=64, BK=128
            98304 fits
        `BK = 64` fits: 96 KiB of shared memory
                BM=128, BN=256, BK=64
            98304 fits
        `num_stages = 2` fits: 96 KiB of shared memory
                BM=128, BN=256, BK=128, num_stages=2
            98304 fits
    "#]],
    );
    let (kernel, launch) = (text.find("@triton.jit").expect("it is there"), text.find("def run").expect("it is there"));
    let text = format!("{}{}\n\n{}", &text[..kernel], &text[launch..], &text[kernel..launch]);
    check_fixes(
        &text,
        "matmul(a, b, c, M",
        &["sm_86"],
        expect![[r#"
        `BN = 64` fits: 96 KiB of shared memory
                BM=128, BN=64, BK=128
            98304 fits
        `BK = 64` fits: 96 KiB of shared memory
                BM=128, BN=256, BK=64
            98304 fits
        `num_stages = 2` fits: 96 KiB of shared memory
                BM=128, BN=256, BK=128, num_stages=2
            98304 fits
    "#]],
    );
}

/// Bytes, or that it is not launched there, by configuration and device.
fn by_device(fixture: &Fixture) -> String {
    let mut text = String::new();
    for kernel in fixture.configurations(&|_| true) {
        text += &format!("{}\n", kernel.summary);
        for row in &kernel.configurations {
            let values: Vec<_> = row.values.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let cell = |(device, on): (&&str, &Option<OnDevice>)| match on {
                Some(on) => format!("{device} {}", on.low),
                None if row.not_on.contains(device) => format!("{device} not launched"),
                None => format!("{device} ?"),
            };
            let cells: Vec<String> = kernel.devices.iter().zip(&row.on).map(cell).collect();
            text += &format!("{} | {}\n", values.join(" "), cells.join(", "));
        }
    }
    text
}

const PRODUCT: &str = "import torch
import triton
import triton.language as tl
from enum import Enum


@triton.jit
def mm(X, Y, Z, n, D: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    d = tl.arange(0, D)
    s = tl.zeros((B, B), dtype=tl.float32)
    for k in range(0, n, D):
        s = tl.dot(tl.load(X + i[:, None] * n + (k + d)[None, :]), tl.load(Y + (k + d)[:, None] * B + i[None, :]), s)
    tl.store(Z + i[:, None] * B + i[None, :], s)


def use():
    x = torch.ones((4096, 64), dtype=torch.float16, device=\"cuda\")
    go(x, 64)
";

/// The bytes are those that Triton 3.9 answers with.
#[test]
fn host_code_is_followed_on_each_device() {
    let by_capability = "
def config(D):
    if torch.cuda.get_device_capability() == (8, 6):
        return 64, 2, 4
    elif torch.cuda.get_device_capability()[0] >= 9:
        return 128, 3, 8
    return 32, 1, 4


def go(X, D):
    B, stages, warps = config(D)
    mm[(1,)](X, X, torch.empty((64, 64), device=X.device), X.shape[0], D=D, B=B, num_stages=stages, num_warps=warps)
";
    let fixture = open(&format!("{PRODUCT}{by_capability}"), &["sm_90", "sm_86", "sm_80"]);
    expect![[r#"
        1 of 1 fit sm_90; 1 of 1 fit sm_86; 1 of 1 fit sm_80
        B=128 num_stages=3 num_warps=8 | sm_90 98304, sm_86 not launched, sm_80 not launched
        B=64 num_stages=2 num_warps=4 | sm_90 not launched, sm_86 16384, sm_80 not launched
        B=32 num_stages=1 num_warps=4 | sm_90 not launched, sm_86 not launched, sm_80 8192
    "#]]
    .assert_eq(&by_device(&fixture));
    // As flash-linear-attention asks: an enumeration, errors that nothing raises, the only device.
    let by_memory = "
class Least(Enum):
    ADA = 101376
    HOPPER = 232448

    @classmethod
    def of(cls, arch):
        try:
            return cls[arch.upper()].value
        except KeyError:
            return 0


def has(arch, at=0):
    try:
        found = [triton.runtime.driver.active.utils.get_device_properties(i)['max_shared_mem'] for i in range(torch.cuda.device_count())]
        return found[at] >= Least.of(arch)
    except Exception:
        return False


def go(X, D):
    if has(\"hopper\", X.device.index):
        B = 128
    elif has(\"ada\"):
        B = 64
    else:
        B = 32
    mm[(1,)](X, X, torch.empty((64, 64), device=X.device), X.shape[0], D=D, B=B, num_stages=2, num_warps=4)
";
    let fixture = open(&format!("{PRODUCT}{by_memory}"), &["sm_90", "sm_80", "gfx942"]);
    expect![[r#"
        1 of 1 fit sm_90; 1 of 1 fit sm_80; 1 of 1 fit gfx942
        B=128 | sm_90 65536, sm_80 not launched, gfx942 not launched
        B=64 | sm_90 not launched, sm_80 16384, gfx942 not launched
        B=32 | sm_90 not launched, sm_80 not launched, gfx942 8192
    "#]]
    .assert_eq(&by_device(&fixture));
}

/// Of functions and names that a condition on the device chooses, a kernel takes those of its own.
#[test]
fn names_are_chosen_by_the_device() {
    let text = "import torch
import triton
import triton.language as tl

IS_HOPPER = torch.cuda.get_device_capability()[0] == 9
ROWS: tl.constexpr = tl.constexpr(128 if IS_HOPPER else 64)


@triton.jit
def twice(x):
    return tl.sum(x, 0)


@triton.jit
def once(x):
    return tl.max(x, 0)


if IS_HOPPER:
    COLUMNS: tl.constexpr = tl.constexpr(64)
    reduced = twice
else:
    COLUMNS: tl.constexpr = tl.constexpr(32)
    reduced = once


@triton.jit
def k(x, y):
    i, j = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    a = tl.load(x + i[:, None] * COLUMNS + j[None, :])
    b = tl.load(x + j[:, None] * ROWS + i[None, :])
    tl.store(y + i, reduced(tl.dot(a, b, out_dtype=tl.float32)))
";
    let fixture = open(text, &["sm_90", "sm_86"]);
    expect![[r#"
        1 of 1 fit sm_90; 1 of 1 fit sm_86
         | sm_90 32768, sm_86 8192
    "#]]
    .assert_eq(&by_device(&fixture));
}
