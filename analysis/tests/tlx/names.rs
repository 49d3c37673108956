//! Names that nothing defines: a kernel that rests on one is not exact, and nothing is said of a name that Python finds.

use expect_test::{Expect, expect};
use tilefit_analysis::Fixture;

use super::open;

/// What is said of a file, as `code: message` a line, after the status of its kernels.
fn check(text: &str, expected: Expect) {
    let fixture = open(text, "");
    let statuses = fixture.plans().into_iter().map(|plan| format!("{}: {}", plan.name, plan.status));
    let said = fixture.diagnostics().into_iter().map(|diagnostic| {
        let at = fixture.at(diagnostic.range);
        format!("  {} at `{at}`: {}", diagnostic.code.name(), diagnostic.message)
    });
    let lines: Vec<String> = statuses.chain(said).collect();
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn a_misspelt_buffer_in_a_use_is_not_exact() {
    check(
        r#"
@triton.jit
def kernel(x):
    scale = tlx.local_alloc((64, 64), tl.float32, 2)
    full = tlx.alloc_barriers(2)
    tlx.local_store(scael[0], x)
    tlx.barrier_wait(fulll[0], 0)
"#,
        expect![[r#"
            kernel: partial
              unknown-name at `scael`: `scael` is not defined here; did you mean `scale`?
              unknown-name at `fulll`: `fulll` is not defined here; did you mean `full`?"#]],
    );
}

#[test]
fn what_a_followed_helper_misspells_is_said_there_and_noted_at_the_call() {
    check(
        r#"
@triton.jit
def store(buffer, x):
    tlx.local_store(bufer[0], x)

@triton.jit
def kernel(x):
    tiles = tlx.local_alloc((64, 64), tl.float32, 2)
    store(tiles, x)
"#,
        expect![[r#"
            kernel: partial
              unknown-name at `bufer`: `bufer` is not defined here; did you mean `buffer`?
              not-modelled at `store(tiles, x)`: not modelled: `bufer` is not defined here in `store`"#]],
    );
}

#[test]
fn a_statement_that_does_not_parse_is_not_exact() {
    check(
        r#"
@triton.jit
def kernel(x):
    tiles = tlx.local_alloc((64, 64), tl.float32, 2)
    tlx.local_store(tiles[0] x)
"#,
        expect![[r#"
            kernel: partial
              syntax-error at `tlx.local_store(tiles[0] x)`: this is not valid Python; the kernel is analysed without this statement"#]],
    );
}

#[test]
fn nothing_is_said_of_names_that_python_finds() {
    check(
        r#"
import os.path as osp
from math import pi as PI
from somewhere import *

def generate():
    return 3

# tilefit: arch=sm_90 num_warps=4
@triton.jit
def kernel(x, n, COUNT: tl.constexpr = 2):
    tiles = tlx.local_alloc((64, 64), tl.float32, COUNT)
    tlx.local_store(tiles[0], unknown_but_perhaps_of_the_star)
"#,
        expect!["kernel: exact"],
    );
    check(
        r#"
import os.path as osp
from math import pi as PI

try:
    import fast
except ImportError:
    fast = None

if osp:
    LATE = 3

@triton.jit
def kernel(x, n, COUNT: tl.constexpr = 2, *rest):
    global shared
    tiles = tlx.local_alloc((64, 64), tl.float32, COUNT)
    if n > 0:
        only_here = n
    with tlx.async_tasks() as tasks:
        with tlx.async_task("default"):
            tlx.use(tasks, only_here)
    listed = [tiles[each] for each in range(COUNT)]
    keyed = {name: value for name, value in listed}
    called = map(lambda argument: argument + 1, listed)
    if (walrus := n) > 0:
        tlx.use(walrus, rest, keyed, called, shared, LATE, AFTER, PI, fast)
    for i in tl.static_range(COUNT):
        if i > 0:
            tlx.use(previous)
        previous = tiles[i]
    try:
        tlx.use(float("inf"), print, max, __name__)
    except ValueError as error:
        tlx.use(error)
    (first, *others), last = listed, n
    tlx.use(first, others, last, i)

AFTER = 3
"#,
        expect!["kernel: partial"],
    );
}

#[test]
fn a_name_that_is_bound_further_down_only_is_said() {
    check(
        r#"
@triton.jit
def kernel(x, n):
    tiles = tlx.local_alloc((64, 64), tl.float32, 2)
    for i in range(n):
        tlx.use(previous)
        previous = tiles[0]
"#,
        expect![[r#"
            kernel: partial
              unknown-name at `previous`: `previous` is read before it is assigned"#]],
    );
}

#[test]
fn what_is_almost_a_member_of_a_module_of_triton_is_a_slip() {
    check(
        r#"
@triton.jit
def kernel(x, n):
    others = tlx.local_alloc((64, 64), tl.float32, 2)
    tiles = tlx.local_aloc((64, 64), tl.float61, 2)
    tl.stroe(x, tl.laod(x))
    tl.something_of_another_version(x)
    print(x.type, x.dtype.scalar)
"#,
        expect![[r#"
            kernel: partial
              unknown-name at `local_aloc`: `tlx` has no `local_aloc`; did you mean `local_alloc`?
              unknown-name at `float61`: `tl` has no `float61`; did you mean `float16`?
              unknown-name at `stroe`: `tl` has no `stroe`; did you mean `store`?
              unknown-name at `laod`: `tl` has no `laod`; did you mean `load`?"#]],
    );
}

#[test]
fn kernels_of_plain_triton_are_read_and_functions_of_python_left_alone() {
    let text = "import triton\n\n@triton.jit\ndef kernel(x):\n    use(nothing)\n\ndef plain(x):\n    use(nothing)\n";
    let found = Fixture::new(text).diagnostics();
    let line = |at: usize| text[..at].lines().count();
    let messages: Vec<_> = found.iter().map(|it| (line(it.range.start), it.message.as_str())).collect();
    assert_eq!(messages, [(5, "`use` is not defined here"), (5, "`nothing` is not defined here")]);
}
