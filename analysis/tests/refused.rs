//! What is said to be refused of plain Triton, beside what the compiler refuses (`tests/conformance/triton/refused*.json`).

use std::path::Path;

use serde_json::Value;
use tilefit_analysis::Fixture;
use tilefit_python::diagnostics::Severity;

/// The errors of a kernel.
fn errors(scenario: &str, params: &str, body: &[Value]) -> Vec<String> {
    let body: String = body.iter().map(|line| format!("    {}\n", line.as_str().expect("a line"))).collect();
    let text = format!(
        "import triton\nimport triton.language as tl\n\n# tilefit: {scenario}\n@triton.jit\ndef kernel({params}):\n{body}"
    );
    let diagnostics = Fixture::new(&text).diagnostics();
    diagnostics.into_iter().filter(|it| it.severity == Severity::Error).map(|it| it.message).collect()
}

/// How many of the kernels that the compiler refuses have an error, and how many have none; those that it takes have none.
fn found_and_missed(file: &str, errors: impl Fn(&[Value]) -> Vec<String>) -> (usize, usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/conformance/triton").join(file);
    let answers: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("the answers")).expect("JSON");
    let (mut found, mut missed) = (0, 0);
    for row in answers["rows"].as_array().expect("rows") {
        let body = row["body"].as_array().expect("lines");
        let errors = errors(body);
        match row["error"].as_str() {
            None => assert_eq!(errors, Vec::<String>::new(), "{body:?} is taken"),
            Some(_) if errors.is_empty() => missed += 1,
            Some(_) => found += 1,
        }
    }
    (found, missed)
}

#[test]
fn nothing_that_the_compiler_takes_is_refused() {
    let of_one = |body: &[Value]| {
        let stored = Value::from("tl.store(x_ptr, tl.sum(tl.ravel((c + 0).to(tl.float32))))");
        errors("x_ptr=fp32 arch=sm_90", "x_ptr", &[body, &[stored]].concat())
    };
    assert_eq!(found_and_missed("refused.json", of_one), (306, 2));
}

/// Most of those that are missed add to pointers what is no integer, store what does not go there, or are integers of another width.
#[test]
fn a_name_has_one_type_in_all_rounds_of_a_loop() {
    let told = |body: &[Value]| errors("x=fp16 out=fp32 B=128 arch=sm_80", "x, out, n, B: tl.constexpr", body);
    assert_eq!(found_and_missed("refused_in_loops.json", told), (189, 44));
    let untyped = |body: &[Value]| errors("B=128 arch=sm_80", "x, out, n, B: tl.constexpr", body);
    // Those that read `x` as `float16` are taken where it is `int32`.
    assert_eq!(found_and_missed("refused_in_loops.json", untyped), (128, 105));
}

/// An extreme of a tensor and of a number without a value is a tensor; offsets in a list go to a descriptor, whatever a launch gives.
#[test]
fn what_is_known_in_part_is_not_refused() {
    let lines = |text: &str| text.lines().map(Value::from).collect::<Vec<_>>();
    let clamped = lines(
        "i = tl.minimum(tl.arange(0, B), n - 1)
a = tl.load(x + tl.arange(0, B)[:, None] * n + i[None, :])
tl.store(out + i[None, :], tl.dot(a, tl.zeros((B, B), tl.float16)))",
    );
    assert_eq!(errors("x=fp16 B=128 arch=sm_90", "x, out, n: tl.constexpr, B: tl.constexpr", &clamped), [""; 0]);
    let stored = lines("x.store([0, 0], tl.zeros((B, B), tl.float16))");
    assert_eq!(errors("x=fp16 B=128 arch=sm_90", "x, B: tl.constexpr", &stored), [""; 0]);
    let number = lines("tl.store(tl.sum(tl.zeros((B,), tl.float32)), 1.0)");
    let said = "a store takes a pointer, and this is a number of type float32";
    assert_eq!(errors("B=128 arch=sm_90", "B: tl.constexpr", &number), [said]);
    // Whatever the type of `m` is, `n` makes 64 bits of 32.
    let widened = lines(
        "best = tl.zeros((B,), tl.int32)
for start in range(0, n, B):
    best = tl.where(tl.arange(0, B) < m, best + start, best)
tl.store(x + tl.arange(0, B), best)",
    );
    assert_eq!(errors("n=\"i64\" x=i32 B=128 arch=sm_90", "x, n, m, B: tl.constexpr", &widened).len(), 1);
    assert_eq!(errors("n=\"i32\" x=i32 B=128 arch=sm_90", "x, n, m, B: tl.constexpr", &widened), [""; 0]);
    // Triton 3.8 and 3.9: `'dtype' object is not callable`.
    let called = lines("tl.store(x, tl.float32(0.0))");
    let said = "`float32` is an element type and cannot be called; write `tl.full((), …, tl.float32)`";
    assert_eq!(errors("x=fp32 arch=sm_90", "x", &called), [said]);
    // `unexpected type fp8e5 and int32`; a number that has no name takes the type of the other side.
    let combined = |number: &str| {
        lines(&format!(
            "b = 2\na = tl.load(x + tl.arange(0, 64)) - {number}\ntl.store(out + tl.arange(0, 64), a.to(tl.float32))"
        ))
    };
    let said = "`float8e5` and `int32` have no type in common; cast one of them with `.to(…)`";
    assert_eq!(errors("x=fp8e5 out=fp32 arch=sm_90", "x, out", &combined("b")), [said]);
    assert_eq!(errors("x=fp8e5 out=fp32 arch=sm_90", "x, out", &combined("2")), [""; 0]);
    let compared = lines("b = 2\na = tl.load(x + tl.arange(0, 64)) > b\ntl.store(out + tl.arange(0, 64), a)");
    assert_eq!(errors("x=fp8e5 out=i1 arch=sm_90", "x, out", &compared), [said]);
    // What a round adds has 32 bits or 64: nothing says which.
    let counted = lines(
        "end = 0
for g in range(n):
    end = end + tl.load(sizes + g)
tl.store(x, end)",
    );
    assert_eq!(errors("x=i32 arch=sm_90", "x, sizes, n", &counted), [""; 0]);
}

/// What the body of a loop binds first ends with it, where it goes round once, too.
#[test]
fn a_name_of_a_loop_that_goes_round_once_is_free_again() {
    let lines = |text: &str| text.lines().map(Value::from).collect::<Vec<_>>();
    let twice = lines(
        "for i in range(0, B // 128):
    v = tl.load(x + tl.arange(0, 16))
    tl.store(out + tl.arange(0, 16), v)
for i in range(0, n):
    v = tl.load(x + tl.arange(0, 32))
    tl.store(out + tl.arange(0, 32), v)",
    );
    assert_eq!(errors("x=fp16 out=fp16 B=128 arch=sm_80", "x, out, n, B: tl.constexpr", &twice), [""; 0]);
}
