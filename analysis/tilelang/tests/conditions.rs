//! What conditions of the kernel do to its statements: those that never hold take theirs away, and those on the thread choose who runs them.

use std::collections::BTreeMap;

use tilefit_tilelang::program::{Kind, Launch, Op, Statement, Threads};

use crate::module::Module;

fn launch(body: &str) -> Launch {
    let lines: String = body.lines().map(|line| format!("            {line}\n")).collect();
    let text = format!(
        "import tilelang.language as T

@T.prim_func
def kernel(A: T.Tensor((256, 64), T.float16), flag: T.Tensor((8,), T.int32)):
    with T.Kernel(4, 2, threads=384) as (bx, by):
            a = T.alloc_shared((64, 64), T.float16)
            b = T.alloc_shared((64, 64), T.float16)
            tx = T.get_thread_binding()
{lines}"
    );
    let traced = Module::new(&text).follow("kernel", &BTreeMap::new());
    assert!(traced.mistakes.is_empty(), "{:?}", traced.mistakes);
    traced.launches.into_iter().next().expect("a launch")
}

fn ops(body: &[Statement]) -> Vec<&Op> {
    let mut all = Vec::new();
    for statement in body {
        match statement {
            Statement::Op(op) => all.push(op),
            Statement::Loop(inner) => all.extend(ops(&inner.body)),
            Statement::Branch(branch) => {
                all.extend(ops(&branch.then));
                all.extend(ops(&branch.otherwise));
            }
        }
    }
    all
}

fn copies(launch: &Launch) -> usize {
    ops(&launch.body).into_iter().filter(|op| op.kind == Kind::Copy).count()
}

#[test]
fn what_never_runs_is_not_there() {
    for (condition, is_decided) in [
        ("bx * 64 < 256", true),
        ("bx < 4 and by < 2", true),
        ("(bx * 2 + by) // 8 == 0", true),
        ("not (by > 1)", true),
        ("bx % 4 == bx // 4 * 4 + bx", false),
        ("bx * 64 < 192", false),
        ("flag[bx] > 0", false),
    ] {
        let launch = launch(&format!("if {condition}:\n    T.copy(A[0, 0], a)\nelse:\n    T.copy(A[0, 0], b)"));
        assert_eq!(copies(&launch), if is_decided { 1 } else { 2 }, "{condition}");
        assert_eq!(launch.body.iter().any(|it| matches!(it, Statement::Branch(_))), !is_decided, "{condition}");
    }
}

#[test]
fn a_condition_holds_in_its_branch() {
    let nested = |outer: &str, inner: &str| {
        launch(&format!(
            "if {outer}:\n    if {inner}:\n        T.copy(A[0, 0], a)\n    else:\n        T.copy(A[0, 0], b)"
        ))
    };
    assert_eq!(copies(&nested("bx > 0", "bx > 0")), 1);
    assert_eq!(copies(&nested("bx + by > 3", "bx > 2")), 1);
    assert_eq!(copies(&nested("bx > 0", "by > 0")), 2);
    // Between two loads of it, it may change.
    assert_eq!(copies(&nested("flag[bx] > 0", "flag[bx] > 0")), 2);
}

#[test]
fn a_variable_of_one_round_is_a_number() {
    let in_loop = |extent: usize| {
        launch(&format!(
            "for k in T.serial({extent}):\n    if k % 2 == 0:\n        T.copy(A[0, 0], a)\n    else:\n        T.copy(A[0, 0], b)"
        ))
    };
    assert_eq!((copies(&in_loop(1)), copies(&in_loop(2))), (1, 2));
}

#[test]
fn threads_of_a_branch_are_counted() {
    let threads = |body: &str| -> Vec<Threads> {
        ops(&launch(body).body).into_iter().filter(|op| op.kind == Kind::Copy).map(|op| op.threads.clone()).collect()
    };
    let split = "if tx < 128:\n    T.copy(A[0, 0], a)\nelif tx < 256:\n    T.copy(A[0, 0], a)\nelse:\n    T.copy(A[0, 0], b)\nT.copy(a, A[0, 0])";
    assert_eq!(threads(split), [Threads::Some(128), Threads::Some(128), Threads::Some(128), Threads::All]);
    assert_eq!(threads("if tx >= 128 and tx < 384:\n    T.copy(A[0, 0], a)"), [Threads::Some(256)]);
    assert_eq!(threads("if bx > 1:\n    T.copy(A[0, 0], a)"), [Threads::All]);
    for unclear in ["tx % 2 == 0", "tx // 32 == 1", "tx >> 5 == 1", "T.shuffle_elect(32)", "tx == bx"] {
        let threads = threads(&format!("if {unclear}:\n    T.copy(A[0, 0], a)"));
        assert!(matches!(threads[..], [Threads::Unknown(_)]), "{unclear}: {threads:?}");
    }
}
