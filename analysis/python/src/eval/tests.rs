use expect_test::{Expect, expect};

use super::*;
use crate::eval::Standalone;

/// The value of `x`.
fn shown(module: &str) -> String {
    match Standalone::new(module).constant("x") {
        Some(Constant::Unknown(reason)) => format!("unknown: {reason}"),
        Some(Constant::Object(object)) => format!("{object:?}"),
        Some(value) => format!("{value:?}"),
        None => "not bound".to_owned(),
    }
}

fn check(module: &str, expect: Expect) {
    expect.assert_eq(&shown(module));
}

#[test]
fn arithmetic_is_pythons() {
    check(
        "x = (-7 // 2, -7 % 2, 7 % -2, 2 ** 10, 1 << 4)",
        expect!["Tuple([Int(-4), Int(1), Int(-1), Int(1024), Int(16)])"],
    );
    check("x = 2 ** 70", expect!["unknown: the result is not a 64-bit integer"]);
    check("x = 1 // 0", expect!["unknown: the result is not a 64-bit integer"]);
}

#[test]
fn names_lists_and_builtins() {
    check(
        "
TILE = [64, 128]
N = len(TILE)
x = TILE[0:1] + [max(TILE) // N]",
        expect!["List([Int(64), Int(64)])"],
    );
    check(
        "
M, N = 16, 32
x = N if M < N else M",
        expect!["Int(32)"],
    );
}

#[test]
fn comprehensions_nest() {
    check(
        "x = [(a, b) for a in [1, 2] for (b, c) in [(3, 4), (5, 6)] if c > 4]",
        expect!["List([Tuple([Int(1), Int(5)]), Tuple([Int(2), Int(5)])])"],
    );
    check("x = {\"a\": 1, \"b\": foo()}[\"a\"]", expect!["Int(1)"]);
    check("x = [a for a in foo()]", expect!["unknown: calls `foo`, which tilefit does not evaluate"]);
}

#[test]
fn what_is_not_known_says_why() {
    check("x = foo()", expect!["unknown: calls `foo`, which tilefit does not evaluate"]);
    check(
        "
x = 1
x = 2",
        expect!["unknown: `x` is assigned more than once, or under a condition"],
    );
    check(
        "
if foo():
    x = 2",
        expect!["unknown: `x` is assigned more than once, or under a condition"],
    );
    check(
        "
if 1 > 2:
    x = 2
elif 2 > 1:
    x = 3
else:
    x = 4",
        expect!["Int(3)"],
    );
    check("from sizes import x", expect!["unknown: `x` is imported from `sizes`, which tilefit does not read"]);
    check("y = 1", expect!["not bound"]);
}

#[test]
fn dictionaries_are_made_by_comprehensions() {
    check(
        r#"
SIZES = {"a": 1, "b": 2}
ALL = {f"x{name}": 4 * size for name, size in SIZES.items()}
x = ALL["xb"]"#,
        expect!["Int(8)"],
    );
    check("x = {k: 1 for k in [1, 1, foo()]}", expect!["unknown: calls `foo`, which tilefit does not evaluate"]);
    check("x = {\"a\": 1, \"a\": 2}[\"a\"]", expect!["Int(2)"]);
    check("x = \"a\" in {\"a\": foo()}", expect!["Bool(true)"]);
    check("x = 1 in [2, foo()]", expect!["unknown: calls `foo`, which tilefit does not evaluate"]);
}

#[test]
fn the_program_starts_without_arguments_and_environment() {
    check(
        r#"
import os as o
x = int(o.environ.get("ROWS", "64")) if o.getenv("N") is None else 0"#,
        expect!["Int(64)"],
    );
    check(
        "
import sys
x = len(sys.argv)",
        expect!["Int(1)"],
    );
}

#[test]
fn what_takes_long_is_unknown() {
    let long = "unknown: the expression takes too long to compute";
    for text in [
        "x = [a for a in range(4000) for b in range(4000) for c in range(4000) if c < 0]",
        "x = [a for a in range(4000) for b in range(4000) for c in range(4000) if c < 0][0]",
        "x = [[a for a in range(4000)] for b in range(4000)]",
    ] {
        assert_eq!(shown(text), long);
    }
    check("x = [[[0] * 4000] * 4000] * 4000", expect!["unknown: repeats a list"]);
    check("x = len([(a, b) for a in range(60) for b in range(60)])", expect!["Int(3600)"]);
}

#[test]
fn loops_end_where_python_ends_them() {
    check(
        "
def largest(limit):
    block = 128
    while block * 64 > limit:
        block //= 2
        if block == 16:
            break
    else:
        block += 1
    return block

x = largest(4096), largest(100)",
        expect!["Tuple([Int(65), Int(16)])"],
    );
    check(
        "
import itertools as it

x = [a * b for a, b in it.product((1, 2), [3, 4])], it.product(), list(zip([1, 2], [3, 4], [5]))",
        expect![
            "Tuple([List([Int(3), Int(4), Int(6), Int(8)]), List([Tuple([])]), List([Tuple([Int(1), Int(3), Int(5)])])])"
        ],
    );
}
