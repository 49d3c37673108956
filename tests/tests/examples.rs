//! The kernels of `docs/examples` are what README and guide show: those that are over capacity are so in the ways that their names say, the others fit.

use std::fmt::Write;
use std::path::PathBuf;

use expect_test::expect;
use tilefit_analysis::Fixture;
use tilefit_analysis::ide::plan_view::SpacePlan;

fn examples() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/examples");
    let entries = std::fs::read_dir(folder).expect("docs/examples is part of the repository");
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "py"));
    files.sort();
    files
}

#[test]
fn examples_say_what_they_promise() {
    let mut shown = String::new();
    for path in examples() {
        let text = std::fs::read_to_string(&path).expect("an example is a text file");
        for plan in Fixture::new(&text).plans() {
            let spaces: Vec<_> = plan.spaces.iter().map(|(name, space)| format!("{name} {}", amount(space))).collect();
            let _ = writeln!(shown, "{} {} {}: {}", plan.name, plan.status, plan.planner, spaces.join(", "));
            for diagnostic in &plan.diagnostics {
                let first = diagnostic.message.lines().next().unwrap_or("");
                let _ = writeln!(shown, "    line {} {}: {first}", diagnostic.line, diagnostic.code);
            }
        }
    }
    expect![[r#"
        OptionalBias.apply exact sequential: Vec 132096
        ChainedMatmul.chained exact packed: Acc 65536, Left 65536, Mat 196608, Right 65536
            line 34 fits-only-packed: Left: the compiler's default planner needs 96 KiB, 64 KiB available. The tiles fit in 64 KiB if freed buffers are split and reused. PyPTO e2d0f78ae accepts this kernel only with `memory_planner=DSA_RP`; compilers since September 2026 split freed ranges (pypto #2649) and may accept it without
        ScaleAdd.scale_add exact sequential: Vec 131072
        MatmulKLoop.matmul exact sequential: Acc 65536, Left 32768, Mat 65536, Right 32768
        MatmulMoves.matmul exact sequential: Acc 65536, Left 32768, Mat 65536, Right 32768
        OnlineSoftmax.attend exact sequential: Vec 20800
        Gate.gate exact sequential: Vec 196608
            line 22 capacity-exceeded: Vec overflow: 192 KiB live at once, 184 KiB available (8 KiB over). Any one of these fixes it: halve `value` or `gate`; make the last use of `value` or `gate` come before `squashed` is written. (compiler: "Vec buffer usage (196608 bytes) exceeds platform limit (188416 bytes)")
        PingPong.exponent exact sequential: Vec 98304
        RmsNorm.rmsnorm exact sequential: Vec 102432
        softmax exact sequential: Vec 262272
            line 20 capacity-exceeded: Vec overflow: the plan needs 262272 B, 184 KiB available (72.2 KiB over). Any plan needs the 256 KiB that are live at once. One more statement is over the limit. Save at least 72 KiB there: make tiles smaller, for example `scores` (128 KiB), or use them for the last time earlier. (compiler: "Vec buffer usage (262272 bytes) exceeds platform limit (188416 bytes)")
        activate exact sequential: Vec 65536
        project exact sequential: Acc 8192, Left 8192, Mat 147456, Right 65536
        rmsnorm exact sequential: Vec 135232
        Softmax.softmax exact sequential: Vec 65664
        matmul exact tilelang 0.1.15: smem 98304
        attention bounded compiler: smem 196712–196912, tmem 512
        product bounded compiler: smem 262216–262304
            line 14 capacity-exceeded: the kernel needs 262216–262304 bytes of shared memory, at least 29768 too many; sm_90 has 232448 per block
        matmul exact triton 3.9: smem 32768
    "#]].assert_eq(&shown);
}

/// `1024`, `1024–2048`, `1024–`
fn amount(space: &SpacePlan) -> String {
    match (space.used, space.bounds) {
        (Some(used), _) => used.to_string(),
        (None, Some(bounds)) => {
            format!("{}–{}", bounds.low, bounds.high.map_or(String::new(), |high| high.to_string()))
        }
        (None, None) => "?".to_owned(),
    }
}
