//! Mistakes that the text shows, each at its line; and none in kernels without any.

use std::collections::BTreeMap;
use std::fmt::Write;

use expect_test::{Expect, expect};
use tilefit_python::eval::Constant;
use tilefit_tilelang::trace::{Mistake, What};

use crate::module::Module;
use crate::recorded;

/// What is said of each function of a file, with the arguments that were recorded.
fn said(file: &str) -> String {
    let module = Module::new(&recorded::text(&format!("{file}.py")));
    let (mut text, mut seen) = (String::new(), Vec::new());
    for case in recorded::json(&format!("{file}.json")).as_array().unwrap() {
        let function = case["function"].as_str().unwrap().to_owned();
        if seen.contains(&function) {
            continue;
        }
        let traced = module.follow(&function, &recorded::arguments(&case["args"]));
        writeln!(text, "{function}").unwrap();
        for Mistake { at, what } in &traced.mistakes {
            writeln!(text, "  {}: {what:?}", module.line(&function, *at)).unwrap();
        }
        seen.push(function);
    }
    text
}

fn check(file: &str, expected: Expect) {
    expected.assert_eq(&said(file));
}

#[test]
fn names() {
    check(
        "mistakes_names",
        expect![[r#"
        misspelt_alloc
          13: Member { name: "alloc_share", nearest: Some("alloc_shared") }
        misspelt_buffer
          28: Name { name: "a_shard", nearest: Some("a_shared") }
        missing_prefix
          40: Name { name: "ceildiv", nearest: Some("T.ceildiv") }
        misspelt_dtype
          55: Dtype { name: "floatl6", nearest: Some("float16") }
        misspelt_keyword
          70: Keyword { function: "T.Pipelined", keyword: "num_stage", nearest: Some("num_stages") }
        forgotten_return
          78: NotReturned { kernel: Some("kern") }
        alloc_before_launch
    "#]],
    );
}

#[test]
fn shapes() {
    check(
        "mistakes_shapes",
        expect![[r#"
        forgotten_transpose
          20: Product { axis: 'K', left: 32, right: 64 }
        wrong_accumulator
          40: Product { axis: 'N', left: 128, right: 32 }
        mixed_operands
          60: ProductTypes { left: "float16", right: "bfloat16" }
        odd_threads
        too_large
        tmem_too_wide
        written_twice
        wrong_rank
          161: CopyExtents { source: "X", target: "s", wanted: 128, room: 64 }
    "#]],
    );
}

/// The mistakes of one factory.
fn mistakes(text: &str) -> Vec<What> {
    let module = Module::new(&format!("import tilelang\nimport tilelang.language as T\n\n{text}"));
    let function = module.functions().last().unwrap().to_owned();
    let arguments = BTreeMap::from([("N".to_owned(), Constant::Int(512))]);
    module.follow(&function, &arguments).mistakes.into_iter().map(|mistake| mistake.what).collect()
}

#[test]
fn variables_of_a_grid_are_as_many_as_its_dimensions() {
    let text = "
@T.prim_func
def kern(X: T.Tensor((512, 512), 'float16')):
    with T.Kernel(4, 4, threads=128) as (bx, by, bz):
        s = T.alloc_shared((64, 64), 'float16')
        T.copy(X[bx * 64, by * 64], s)
";
    assert_eq!(mistakes(text), [What::Variables { given: 3, dimensions: 2 }]);
}

#[test]
fn indices_are_as_many_as_dimensions() {
    let text = "
@T.prim_func
def kern(X: T.Tensor((512, 512), 'float16')):
    with T.Kernel(4, threads=128) as bx:
        s = T.alloc_shared((64, 64), 'float16')
        for i, j in T.Parallel(64, 64):
            s[i, j] = X[bx * 64 + i]
";
    assert_eq!(mistakes(text), [What::Indices { buffer: "X".to_owned(), given: 1, dimensions: 2 }]);
}

#[test]
fn whole_buffers_have_one_shape() {
    let text = "
@T.prim_func
def kern(X: T.Tensor((512, 512), 'float16')):
    with T.Kernel(4, threads=128) as bx:
        s = T.alloc_shared((64, 64), 'float16')
        r = T.alloc_fragment((64, 32), 'float16')
        T.copy(s, r)
";
    assert_eq!(mistakes(text), [What::CopyShapes { source: vec![64, 64], target: vec![64, 32] }]);
}

#[test]
fn a_keyword_of_a_copy_that_is_misspelt() {
    let text = "
@T.prim_func
def kern(X: T.Tensor((512, 512), 'float16')):
    with T.Kernel(4, threads=128) as bx:
        s = T.alloc_shared((64, 64), 'float16')
        T.copy(X[bx * 64, 0], s, coalesced_with=8)
";
    let (function, keyword) = ("T.copy".to_owned(), "coalesced_with".to_owned());
    assert_eq!(mistakes(text), [What::Keyword { function, keyword, nearest: Some("coalesced_width") }]);
}

#[test]
fn what_may_not_run_is_not_refused() {
    let text = "
@tilelang.jit
def make(N, flag):
    @T.prim_func
    def kern(X: T.Tensor((N, N), 'float16')):
        with T.Kernel(4, threads=128) as bx:
            s = T.alloc_shared((64, 64), 'float16')
            if flag:
                T.copy(s, T.alloc_fragment((32, 64), 'float16'))
    return kern
";
    assert_eq!(mistakes(text), []);
}

#[test]
fn what_has_no_value_is_asked_for() {
    let module = Module::new(&recorded::text("matmul_lazy.py"));
    let traced = module.follow("mm_plain", &BTreeMap::new());
    let mut text = format!("needed {:?}\nparameters {:?}\n", traced.needed, traced.parameters);
    for launch in &traced.launches {
        writeln!(text, "threads {:?}", launch.threads).unwrap();
        launch.unknown.iter().for_each(|reason| writeln!(text, "unknown: {reason}").unwrap());
        launch.buffers.iter().for_each(|buffer| writeln!(text, "{} {:?}", buffer.name, buffer.shape).unwrap());
    }
    expect![[r#"
        needed {"K": Number, "M": Number, "N": Number}
        parameters ["M", "N", "K", "tile_m", "tile_n", "tile_k", "depth", "nthreads", "ty"]
        threads Some(128)
        X [Unknown(Reason(Explanation { what: "`M` has no value", remedy: Some(Value { param: "M", example: Number, is_number: true }) })), Unknown(Reason(Explanation { what: "`K` has no value", remedy: Some(Value { param: "K", example: Number, is_number: true }) }))]
        W [Unknown(Reason(Explanation { what: "`K` has no value", remedy: Some(Value { param: "K", example: Number, is_number: true }) })), Unknown(Reason(Explanation { what: "`N` has no value", remedy: Some(Value { param: "N", example: Number, is_number: true }) }))]
        Y [Unknown(Reason(Explanation { what: "`M` has no value", remedy: Some(Value { param: "M", example: Number, is_number: true }) })), Unknown(Reason(Explanation { what: "`N` has no value", remedy: Some(Value { param: "N", example: Number, is_number: true }) }))]
        xs [Known(128), Known(32)]
        ws [Known(32), Known(128)]
        acc [Known(128), Known(128)]
    "#]].assert_eq(&text);
}

#[test]
fn a_statement_in_a_plain_function_is_lost() {
    let text = "
def helper(a, b):
    T.copy(a, b)
    T.clear(b)

def back(a, b):
    return T.copy(a, b)

@tilelang.jit
def make(N):
    @T.prim_func
    def kern(X: T.Tensor((N, N), 'float16'), Y: T.Tensor((N, N), 'float16')):
        with T.Kernel(N // 32, threads=128) as b:
            s = T.alloc_shared((32, N), 'float16')
            back(X[b * 32, 0], s)
            helper(s, Y[b * 32, 0])
            (lambda: T.clear(s))()
            [T.clear(s) for _ in range(2)]
            T.evaluate(T.copy(s, Y[0, 0]))
    return kern
";
    let module = Module::new(&format!("import tilelang\nimport tilelang.language as T\n\n{text}"));
    let traced = module.follow("make", &BTreeMap::from([("N".to_owned(), Constant::Int(64))]));
    let said: Vec<&What> = traced.mistakes.iter().map(|mistake| &mistake.what).collect();
    assert_eq!(said, [&What::Lost, &What::Lost]);
    // The wheel records these three and no others.
    assert_eq!(traced.launches[0].body.len(), 3);
}

#[test]
fn a_primitive_function_stands_by_itself() {
    let module = Module::new(&recorded::text("more.py"));
    let traced = module.follow("alone", &BTreeMap::new());
    let [launch] = traced.launches.as_slice() else { panic!("{traced:?}") };
    assert_eq!((launch.threads, launch.body.len()), (Some(128), 4));
    assert!(launch.unknown.is_empty() && traced.mistakes.is_empty());
}

#[test]
fn a_mistake_in_a_helper_is_shown_at_its_call() {
    let text = "import tilelang
import tilelang.language as T

TILE = T.alloc_share

def make_tile(rows):
    return T.alloc_shared((rows, 64), 'floatl6')

@tilelang.jit
def make(N):
    @T.prim_func
    def kern(X: T.Tensor((N, N), 'float16')):
        with T.Kernel(4, threads=128) as b:
            s = make_tile(32)
            t = TILE
    return kern
";
    let module = Module::new(text);
    let traced = module.follow("make", &BTreeMap::from([("N".to_owned(), Constant::Int(64))]));
    let said: Vec<usize> = traced.mistakes.iter().map(|mistake| module.line("make", mistake.at)).collect();
    assert_eq!(said, [14, 15]);
}
