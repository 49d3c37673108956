//! What every configuration of a kernel takes on every device.

use expect_test::expect;
use tilefit_analysis::project::Config;
use tilefit_analysis::triton::device::Arch;
use tilefit_analysis::{Analysis, AnalysisHost, FileId};
use tilefit_syntax::{Document, TextRange};

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

fn analysis(devices: &[&str]) -> (Analysis, FileId) {
    let mut devices = devices.iter().filter_map(|name| Arch::from_name(name));
    let own = devices.next().unwrap_or_default();
    let mut host = AnalysisHost::new();
    host.set_config(Config { tlx_arch: own, is_gpu_named: true, devices: devices.collect(), ..Config::default() });
    let file = host.file_id("matmul.py");
    host.set_document(file, Document::new(MATMUL));
    (host.snapshot(), file)
}

/// The bytes are those that Triton 3.9 answers with.
#[test]
fn each_is_laid_out_for_each_device() {
    let (analysis, file) = analysis(&["sm_90", "sm_86"]);
    let kernels = analysis.configurations(file).expect("no edit");
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
    let (analysis, file) = analysis(&["sm_86"]);
    let hints = analysis.inlay_hints(file, TextRange::new(0, MATMUL.len())).expect("no edit");
    let line = |offset: usize| MATMUL[..offset].lines().count();
    let text: String = hints.iter().map(|hint| format!("{}: {}\n", line(hint.offset), hint.label)).collect();
    expect![[r#"
        8: 32768 B
        9: 147456 B, too much for sm_86
    "#]]
    .assert_eq(&text);
}

#[test]
fn a_lens_says_what_does_not_fit_on_other_devices() {
    let (analysis, file) = analysis(&["sm_90", "sm_86"]);
    let lenses = analysis.code_lenses(file).expect("no edit");
    let lens = analysis.code_lens(file, lenses[0].clone()).expect("no edit").expect("a lens");
    expect!["SMEM 49152/232448 · fits 2 of 2 configurations; 1 does not fit sm_86"].assert_eq(&lens.title);
}
