//! What the author's own runs have launched, and questions about launches.

use expect_test::{Expect, expect};
use tilefit_analysis::Fixture;
use tilefit_analysis::launch::Launch;
use tilefit_gpu::device::{Arch, Compiler};

const KERNEL: &str = r#"import triton
import triton.language as tl

EPS = 1e-06


@triton.jit
def scaled(x):
    return x * EPS


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        x = tl.load(a + m[:, None] * K + k[None, :] + i)
        y = tl.load(b + (k[:, None] + i) * N + n[None, :])
        acc += tl.dot(x, y)
    tl.store(c + m[:, None] * N + n[None, :], scaled(acc))  # the end
"#;

/// The hashes are Python's.
const RECORD: &str = r#"{"v":1,"file":"ops/mm.py","kernel":"matmul","line":13,"sources":{"ops/mm.py":{"matmul":"8e34776c894f80e7f68419c2365233e6ca9ca9b13fb7ebb76b07bca42beb9b83","scaled":"af420b8d045e19d4df87205e4c1eb1dca7b9b0f1149edf7e6154cc21838522f6"}},"globals":{"EPS":"1e-06"},"target":"cuda:90","signature":{"a":"*fp16","b":"*fp16","c":"*fp32","M":"i32","N":"i32","K":"i32"},"constexprs":{"BM":"128","BN":"128","BK":"64"},"divisible":["a","b","c","M","N","K"],"options":{"num_warps":4,"num_ctas":1,"num_stages":3},"by":{"name":"triton","version":"3.9.0"},"shared":98304,"tensor_columns":0,"tests":["tests/test_mm.py::test_square[128]"],"runs":3}"#;

fn fixture(kernel: &str, records: &[&str]) -> Fixture {
    Fixture::new(&format!(
        "# file: /w/ops/mm.py\n{kernel}\n# file: /w/.tilefit/launches.jsonl\n{}\n",
        records.join("\n")
    ))
}

/// What a lens reads, what the hover says of the record, and what is wrong.
#[track_caller]
fn check(kernel: &str, records: &[&str], expected: Expect) {
    expected.assert_eq(&said(kernel, records));
}

fn said(kernel: &str, records: &[&str]) -> String {
    let fixture = fixture(kernel, records);
    let lenses = fixture.code_lenses().into_iter().filter_map(|lens| fixture.code_lens(lens));
    let hover = fixture.hover(fixture.find("matmul")).map(|hover| hover.markdown).unwrap_or_default();
    let said = hover.lines().filter(|line| line.contains("record")).map(str::to_owned);
    let wrong = fixture.diagnostics().into_iter().map(|it| format!("{}: {}", it.code.name(), it.message));
    let all: Vec<String> = lenses.map(|lens| lens.title).chain(said).chain(wrong).collect();
    all.join("\n")
}

#[test]
fn a_recorded_launch_is_a_scenario_and_its_total_is_shown_while_the_text_is_the_same() {
    check(
        KERNEL,
        &[RECORD],
        expect![[r#"
        96 KiB of 227 KiB (sm_90) · room for 2 blocks/SM · recorded
        recorded: smem 98304 by triton 3.9.0 on sm_90 in `tests/test_mm.py::test_square[128]`"#]],
    );
}

#[test]
fn after_an_edit_the_prediction_takes_over_for_the_same_launch() {
    check(
        &KERNEL.replace("acc += tl.dot(x, y)", "acc += tl.dot(x, y)\n        tl.debug_barrier()"),
        &[RECORD],
        expect!["32 KiB of 227 KiB (sm_90) · room for 6 blocks/SM"],
    );
    // In what the kernel calls, and in what it reads of the module.
    check(
        &KERNEL.replace("x * EPS", "x + EPS"),
        &[RECORD],
        expect!["96 KiB of 227 KiB (sm_90) · room for 2 blocks/SM"],
    );
    check(&KERNEL.replace("1e-06", "1e-05"), &[RECORD], expect!["96 KiB of 227 KiB (sm_90) · room for 2 blocks/SM"]);
    // Behind its end and above its `def` the text is nobody's.
    check(
        &KERNEL.replace("  # the end", "").replace("EPS = ", "# How little.\nEPS = "),
        &[RECORD],
        expect![[r#"
        96 KiB of 227 KiB (sm_90) · room for 2 blocks/SM · recorded
        recorded: smem 98304 by triton 3.9.0 on sm_90 in `tests/test_mm.py::test_square[128]`"#]],
    );
}

#[test]
fn what_the_compiler_said_otherwise_is_a_finding() {
    check(
        KERNEL,
        &[&RECORD.replace("98304", "65536")],
        expect![[r#"
        96 KiB of 227 KiB (sm_90) · room for 2 blocks/SM · the record differs: smem 65536
        recorded: smem 65536 by triton 3.9.0 on sm_90 in `tests/test_mm.py::test_square[128]`: 65536 bytes of shared memory, tilefit says 98304
        compiler-differs: triton 3.9.0 lays `matmul` out differently on sm_90, as recorded in `tests/test_mm.py::test_square[128]`: 65536 bytes of shared memory, tilefit says 98304"#]],
    );
    // Of a version that nobody has compared it is only said.
    check(
        KERNEL,
        &[&RECORD.replace("98304", "65536").replace("3.9.0", "3.2.0")],
        expect![[r#"
            96 KiB of 227 KiB (sm_90) · room for 2 blocks/SM · the record differs: smem 65536
            recorded: smem 65536 by triton 3.2.0, an untested version on sm_90 in `tests/test_mm.py::test_square[128]`: 65536 bytes of shared memory, tilefit says 98304"#]],
    );
}

#[test]
fn a_file_that_is_no_record_says_nothing() {
    let nothing = said(KERNEL, &[]);
    for line in
        ["{", "[]", "{\"v\":1}", "null", &RECORD.replace("\"v\":1", "\"v\":2"), &RECORD.replace("cuda:90", "tpu:4")]
    {
        assert_eq!(said(KERNEL, &[line]), nothing, "{line}");
    }
    let strange = RECORD.replace("\"128\"", "\"(1, \"").replace("*fp16", "*fp1").replace("[128]", "[\\u001b[31m]");
    check(
        KERNEL,
        &[&strange],
        expect![[r#"
        98304 B recorded
        recorded: smem 98304 by triton 3.9.0 on sm_90 in `tests/test_mm.py::test_square[ [31m]`
        not-modelled: not modelled: the bounds of `arange` are not known"#]],
    );
}

/// The launch in the host code decides, as far as it is known.
#[test]
fn host_code_is_completed_by_what_is_recorded() {
    let launched = |block: &str| {
        format!("{KERNEL}\n\ndef run(a, b, c, n):\n    matmul[(1,)](a, b, c, n, n, n, BM={block}, BN=128, BK=64)\n")
    };
    check(
        &launched("128"),
        &[RECORD],
        expect![[r#"
        96 KiB of 227 KiB (sm_90) · room for 2 blocks/SM · recorded
        recorded: smem 98304 by triton 3.9.0 on sm_90 in `tests/test_mm.py::test_square[128]`"#]],
    );
    check(
        &launched("256"),
        &[RECORD],
        expect![[r#"
            144 KiB of 227 KiB (sm_90) · room for 1 block/SM · assumes the rest of the launch recorded in `tests/test_mm.py::test_square[128]`
            * assumed: what host code leaves open is as in the launch recorded in `tests/test_mm.py::test_square[128]`, which has other values"#]],
    );
}

#[test]
fn the_configurations_of_the_text_are_tried_with_recorded_arguments() {
    let tuned = KERNEL.replace(
        "@triton.jit\ndef matmul",
        "@triton.autotune([triton.Config({\"BM\": 128, \"BN\": n, \"BK\": 64}) for n in (128, 256)], key=[])\n@triton.jit\ndef matmul",
    );
    check(
        &tuned,
        &[RECORD],
        expect![[r#"
        2 configurations · 96–144 KiB of 227 KiB (sm_90) · all fit · room for ≥ 1 block/SM · recorded
        recorded: smem 98304 by triton 3.9.0 on sm_90 in `tests/test_mm.py::test_square[128]`"#]],
    );
}

#[test]
fn a_launch_that_is_asked_about_fits_or_does_not() {
    let fixture = fixture(KERNEL, &[]);
    let line: serde_json::Value = serde_json::from_str(RECORD).expect("JSON");
    let launch: Launch = serde_json::from_value(line).expect("a launch");
    let with = |name: &str, value: &str| {
        let mut launch = launch.clone();
        launch.constexprs.insert(name.to_owned(), value.to_owned());
        launch
    };
    let launches = [
        launch.clone(),
        with("BN", "256"),
        with("BK", "48"),
        Launch::default(),
        Launch { constexprs: launch.constexprs.clone(), ..Launch::default() },
    ];
    let on = |device: &str, kernel: &str, launches: &[Launch]| {
        let arch = Arch::from_name(device).expect("a device");
        match fixture.fits(kernel, arch, launches) {
            Ok(fits) => {
                fits.into_iter().map(|it| format!("{device} {:?}..{:?} {}\n", it.low, it.high, it.verdict)).collect()
            }
            Err(why) => why,
        }
    };
    expect![[r#"
        sm_90 Some(98304)..Some(98304) fits
        sm_90 Some(147456)..Some(147456) fits
        sm_90 Some(0)..None unknown
        sm_90 Some(0)..None unknown
        sm_90 Some(32768)..Some(131072) fits
    "#]]
    .assert_eq(&on("sm_90", "matmul", &launches));
    expect![[r#"
        sm_86 Some(65536)..Some(65536) fits
        sm_86 Some(98304)..Some(98304) fits
        sm_86 Some(0)..None unknown
        sm_86 Some(0)..None unknown
        sm_86 Some(0)..Some(131072) may not fit
    "#]]
    .assert_eq(&on("sm_86", "matmul", &launches));
    expect!["there is no kernel `matmull` of a GPU in the file; did you mean `matmul`?"]
        .assert_eq(&on("sm_90", "matmull", &launches));
    let fits = fixture.fits("matmul", Arch::from_name("sm_90").expect("a device"), &[launch]).expect("a kernel");
    let buffers: Vec<String> = fits[0]
        .buffers
        .iter()
        .map(|it| format!("{} line {} at {:?}: {}", it.name, it.line, it.offset, it.size))
        .collect();
    expect![[r#"
        x line 17 at Some(0): 49152
        y line 18 at Some(49152): 49152
        scratch of `convert_layout` in line 20 line 20 at Some(0): 32768"#]]
    .assert_eq(&buffers.join("\n"));
}

/// The copies for rounds that are loaded ahead, and nothing else: not the one that `wgmma` still reads, nothing where no rounds overlap, and nothing of
/// what `wgmma` takes one way round only.
#[test]
fn of_an_earlier_triton_the_least_is_known() {
    let fixture = fixture(KERNEL, &[]);
    let line: serde_json::Value = serde_json::from_str(RECORD).expect("JSON");
    let launch: Launch = serde_json::from_value(line).expect("a launch");
    let with = |stages: u32, elements: &str| {
        let mut launch = Launch { compiler: Compiler::earlier("3.6.0"), ..launch.clone() };
        launch.options.insert("num_stages".to_owned(), stages);
        for name in ["a", "b"] {
            launch.signature.insert(name.to_owned(), elements.to_owned());
        }
        launch
    };
    let launches = [with(1, "*fp16"), with(3, "*fp16"), with(9, "*fp16"), with(9, "*fp32")];
    let on = |device: &str| -> String {
        let arch = Arch::from_name(device).expect("a device");
        let fits = fixture.fits("matmul", arch, &launches).expect("a kernel");
        fits.into_iter().map(|it| format!("{:?}..{:?} {}\n", it.low, it.high, it.verdict)).collect()
    };
    expect![[r#"
        Some(0)..None unknown
        Some(65536)..None unknown
        Some(262144)..None does not fit
        Some(0)..None unknown
    "#]]
    .assert_eq(&on("sm_90"));
    expect![[r#"
        Some(0)..None unknown
        Some(65536)..None unknown
        Some(262144)..None does not fit
        Some(524288)..None does not fit
    "#]]
    .assert_eq(&on("sm_86"));
}

/// Tests write kernels within functions, and call many of them the same.
#[test]
fn of_kernels_with_one_name_the_whole_name_tells_which() {
    let within = |name: &str, extent: u32| {
        format!(
            "def {name}():\n    @triton.jit\n    def kernel(x):\n        tl.store(x + tl.arange(0, {extent}), tl.sum(tl.arange(0, {extent})))\n\n\n"
        )
    };
    let text =
        format!("import triton\nimport triton.language as tl\n\n\n{}{}", within("one", 128), within("two", 2048));
    let fixture = Fixture::new(&text);
    let on = |kernel: &str| {
        let arch = Arch::from_name("sm_90").expect("a device");
        match fixture.fits(kernel, arch, &[Launch::default()]) {
            Ok(fits) => format!("{:?}..{:?}", fits[0].low, fits[0].high),
            Err(why) => why,
        }
    };
    expect![[r#"
        `kernel` may be any of `one.kernel`, `two.kernel`
        Some(0)..Some(16)
        Some(0)..Some(16)"#]]
    .assert_eq(&[on("kernel"), on("one.kernel"), on("two.kernel")].join("\n"));
}
