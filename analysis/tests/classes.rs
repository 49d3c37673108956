//! What classes of host code give to launches, where they stand: a class sees what had its name before it.

use expect_test::{Expect, expect};
use tilefit_analysis::Fixture;

const BASE: &str = "# file: /w/base.py
class Cfg:
    BLOCK = 64

class Wide(Cfg):
    ROWS = 2
";

const KERNEL: &str = "
@triton.jit
def kernel(p, B: tl.constexpr):
    a = tlx.local_alloc((B, 64), tl.float16, 1)
    tlx.local_store(a[0], tlx.local_load(a[0]))
";

/// The `B` that a launch with `value` gives the kernel, where it is known.
fn given(classes: &str, value: &str) -> String {
    let imports = "import triton\nimport triton.language as tl\nimport triton.language.extra.tlx as tlx\n";
    let launch = format!("\ndef f(p):\n    kernel[(1,)](p, B={value})\n");
    let plans = Fixture::new(&format!("{imports}{classes}{KERNEL}{launch}{BASE}")).plans();
    let used = plans.iter().filter_map(|plan| plan.spaces["smem"].used).next();
    used.filter(|used| *used > 0).map_or("unknown".to_owned(), |used| (used / 128).to_string())
}

#[track_caller]
fn check(cases: &[(&str, &str)], expect: Expect) {
    let shown = cases.iter().map(|(classes, value)| format!("{value}: {}\n", given(classes, value)));
    expect.assert_eq(&shown.collect::<String>());
}

#[test]
fn a_class_of_the_same_name_sees_the_one_before() {
    check(
        &[
            ("from base import Cfg\n\nclass Cfg(Cfg):\n    BLOCK = Cfg.BLOCK * 2\n", "Cfg.BLOCK"),
            ("class Cfg:\n    BLOCK = 64\n\nclass Cfg(Cfg):\n    BLOCK = Cfg.BLOCK * 2\n", "Cfg.BLOCK"),
            ("class Cfg:\n    BLOCK = 16\n\nfrom base import Cfg\n\nclass Cfg(Cfg):\n    ROWS = 1\n", "Cfg.BLOCK"),
            ("class Cfg:\n    BLOCK = 16\n\nOLD = Cfg.BLOCK\n\nclass Cfg:\n    BLOCK = 32\n", "Cfg.BLOCK * OLD"),
        ],
        expect![[r#"
            Cfg.BLOCK: 128
            Cfg.BLOCK: 128
            Cfg.BLOCK: 64
            Cfg.BLOCK * OLD: 512
        "#]],
    );
}

#[test]
fn attributes_come_from_the_class_its_bases_and_its_module() {
    check(
        &[
            ("from base import Wide\n", "Wide.BLOCK * Wide.ROWS"),
            ("import base\n", "base.Wide.BLOCK"),
            ("from base import Wide as W\n\nclass C(W):\n    BLOCK = 2 * W.BLOCK\n", "C.BLOCK * C.ROWS"),
            ("N = 1\n\nclass C:\n    N = 8\n    BLOCK = N * 4\n", "C.BLOCK"),
            ("N = 1\n\nclass C:\n    BLOCK = N * 4\n    N = 8\n", "C.BLOCK"),
            ("class C:\n    BLOCK = 4\n    BLOCK = BLOCK * 4\n", "C.BLOCK"),
            (
                "class A:\n    N = 8\n\nclass B(A):\n    pass\n\nclass C(A):\n    N = 16\n\nclass D(B, C):\n    pass\n",
                "D.N",
            ),
            ("class C:\n    if DEBUG:\n        BLOCK = 4\n    else:\n        BLOCK = 8\n", "C.BLOCK"),
        ],
        expect![[r#"
            Wide.BLOCK * Wide.ROWS: 128
            base.Wide.BLOCK: 64
            C.BLOCK * C.ROWS: 256
            C.BLOCK: 32
            C.BLOCK: 4
            C.BLOCK: 16
            D.N: unknown
            C.BLOCK: unknown
        "#]],
    );
}

/// Python ends with a `NameError`, or does not end.
#[test]
fn what_is_defined_in_terms_of_itself_is_not_known() {
    let many = (0..300).map(|i| format!("class C{i}(C{}):\n    N = C{}.N\n", i + 1, (i * 7) % 300)).collect::<String>();
    check(
        &[
            ("class Cfg:\n    BLOCK = Cfg.BLOCK\n", "Cfg.BLOCK"),
            ("class C:\n    N = D.N\n\nclass D:\n    N = C.N\n", "C.N"),
            ("class C:\n    N = X\n\nX = C.N\n", "X"),
            ("def f():\n    return C.N\n\nclass C:\n    N = f() + f()\n", "C.N"),
            ("class C:\n    N = [C.N for N in C.N]\n", "C.N"),
            ("class C(C):\n    pass\n", "C.N"),
            (&many, "C0.N"),
        ],
        expect![[r#"
            Cfg.BLOCK: unknown
            C.N: unknown
            X: unknown
            C.N: unknown
            C.N: unknown
            C.N: unknown
            C0.N: unknown
        "#]],
    );
}

/// As many links as names of a module may have, and no more.
#[test]
fn long_chains_of_classes_come_to_an_end() {
    let chain = |count: usize| {
        let links = (1..count).map(|i| format!("class C{i}:\n    N = C{}.N\n", i - 1)).collect::<String>();
        format!("class C0:\n    N = 32\n{links}")
    };
    check(
        &[(&chain(20), "C19.N"), (&chain(5000), "C4999.N")],
        expect![[r#"
            C19.N: 32
            C4999.N: unknown
        "#]],
    );
}
