//! Any text is followed to an end: half-typed kernels, recursion, numbers that are too large.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tilefit_python::work::{Limits, within};
use tilefit_tilelang::trace::Traced;

use crate::module::Module;
use crate::recorded;

const TEXTS: [&str; 6] =
    ["attention_prefill", "blackwell_tmem", "language", "matmul_eager", "matmul_split", "reductions"];

/// Follows all functions of a text without arguments; `None` where one takes too long.
fn followed(text: &str) -> Vec<Option<Traced>> {
    let module = Module::new(text);
    let functions: Vec<String> = module.functions().map(str::to_owned).collect();
    let follow = |function: &String| match within(Limits::DEFAULT, || module.follow(function, &BTreeMap::new())) {
        Ok(traced) => Some(traced),
        Err(failure) => {
            assert!(matches!(failure, tilefit_python::work::Failure::TooLarge(_)), "{function} of\n{text}");
            None
        }
    };
    functions.iter().map(follow).collect()
}

#[test]
fn kernels_without_arguments_have_reasons_and_no_mistakes() {
    for file in TEXTS.into_iter().chain([
        "convolution",
        "dequant_lowbit",
        "hopper_manual",
        "matmul_lazy",
        "phases",
        "symbolic_sizes",
    ]) {
        for traced in followed(&recorded::text(&format!("{file}.py"))) {
            let traced = traced.unwrap();
            assert!(traced.mistakes.is_empty(), "{file}: {:?}", traced.mistakes);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_text_that_is_cut_is_followed(file in 0..TEXTS.len(), from in 0.0..1.0, length in 0..40_usize, insert in "[\\[\\](){}:,= TBin\\n0-9\"']{0,6}") {
        let text = recorded::text(&format!("{}.py", TEXTS[file]));
        let from = (from * text.len() as f64) as usize;
        let to = (from + length).min(text.len());
        followed(&format!("{}{insert}{}", &text[..from], &text[to..]));
    }

    #[test]
    fn lines_that_change_places_are_followed(file in 0..TEXTS.len(), one in 0.0..1.0, two in 0.0..1.0) {
        let text = recorded::text(&format!("{}.py", TEXTS[file]));
        let mut lines: Vec<&str> = text.lines().collect();
        let at = |part: f64| (part * lines.len() as f64) as usize;
        let (one, two) = (at(one), at(two));
        lines.swap(one, two);
        followed(&lines.join("\n"));
    }
}

/// The body of a kernel in a launch.
fn kernel(factory: &str, body: &str) -> String {
    let indented =
        |text: &str, by: usize| -> String { text.lines().map(|line| format!("{}{line}\n", " ".repeat(by))).collect() };
    format!(
        "import tilelang\nimport tilelang.language as T\n\n@tilelang.jit\ndef make(N=512):\n{}    @T.prim_func\n    def kern(X: T.Tensor((N, N), 'float16')):\n        with T.Kernel(4, threads=128) as b:\n            s = T.alloc_shared((64, 64), 'float16')\n{}    return kern\n",
        indented(factory, 4),
        indented(body, 12)
    )
}

#[test]
fn numbers_that_are_too_large_end() {
    for (factory, body) in [
        ("n = 10**12", "for i in range(n):\n    T.clear(s)"),
        ("n = sum(range(10**12))", "T.clear(s)"),
        ("n = [0] * 10**9", "T.clear(s)"),
        ("n = 'x' * 10**10", "T.clear(s)"),
        ("n = 2**10**6", "T.copy(X[n, 0], s)"),
        ("n = 1 << 200", "big = T.alloc_shared((n, 2**62, 2**62), 'float32')\nT.clear(big)"),
        ("n = -2**63", "T.clear(s)\nT.copy(X[n : n + 9223372036854775807, 0], s)"),
        ("n = [i for i in range(10**9)]", "T.clear(s)"),
        ("n = 1\nfor i in range(4000):\n    n = [n, n]", "T.clear(s)"),
        ("n = ()\nfor i in range(4000):\n    n = n + n + (1,)", "T.clear(s)"),
        ("def f(x):\n    return f(x + 1) + f(x)\nn = f(0)", "T.clear(s)"),
        ("f = lambda x: f(f(x))\nn = f(0)", "T.clear(s)"),
        ("n = 0\nwhile True:\n    n += 1", "T.clear(s)"),
        ("n = 0\nwhile n < 10**12:\n    n += 1", "T.clear(s)"),
        ("x = 0", "y = b\nfor i in range(100):\n    y = y * y + y"),
        ("x = {}\nfor i in range(4000):\n    x[i] = x", "T.clear(s)"),
        ("n = 0", "for i in T.Persistent([0], 0, b):\n    T.clear(s)"),
        ("n = 0", "for i in T.serial(0, 10, 0):\n    T.clear(s)"),
        ("n = divmod(-9223372036854775807 - 1, -1)", "T.clear(s)"),
    ] {
        followed(&kernel(factory, body));
    }
}

#[test]
fn a_macro_that_calls_itself_ends() {
    let text = kernel("@T.macro\ndef again(x):\n    T.clear(x)\n    again(x)", "again(s)");
    let traced = followed(&text).remove(0).unwrap();
    assert!(!traced.launches[0].unknown.is_empty());
}

#[test]
fn deep_nesting_ends() {
    let depth = 400;
    let expression = format!("n = {}1{}", "(".repeat(depth), ")".repeat(depth));
    followed(&kernel(&expression, "T.clear(s)"));
    let sum = vec!["b"; 3000].join(" + ");
    followed(&kernel("n = 1", &format!("y = {sum}\nT.copy(X[y, 0], s)")));
    let ifs: String = (0..120).map(|i| format!("{}if b > {i}:\n", " ".repeat(i))).collect::<String>()
        + &" ".repeat(120)
        + "T.clear(s)";
    followed(&kernel("n = 1", &ifs));
}
