//! What an edit computes again, and what the tests of features share.

pub(crate) mod growth;

use std::sync::{Arc, Mutex};

use tilefit_syntax::Document;

use crate::db::Database;
use crate::{Analysis, AnalysisHost, FileId, Fixture};

/// A kernel with a line after the one that loads `x`.
pub(in crate::ide) fn kernel_with(line: &str) -> String {
    format!(
        "
import pypto.language as pl

@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[64, 64], pl.FP32]):
    x = pl.load(a, [0, 0], [64, 64])
    {line}
"
    )
}

/// A host whose query executions are logged by query name.
struct Observed {
    host: AnalysisHost,
    file: FileId,
    document: Document,
    log: Arc<Mutex<Vec<String>>>,
    /// Kernels that were planned before.
    planned: usize,
}

impl Observed {
    fn open(text: &str) -> Observed {
        Observed::of(Document::new(text))
    }

    fn of(document: Document) -> Observed {
        let log = Arc::new(Mutex::new(Vec::new()));
        let sink = log.clone();
        let db = Database::observed(move |event| {
            if let salsa::EventKind::WillExecute { database_key } = event.kind
                && let Ok(mut log) = sink.lock()
            {
                log.push(format!("{database_key:?}"));
            }
        });
        let mut host = AnalysisHost::with_database(db);
        let file = host.file_id("kernels.py");
        host.set_document(file, document.clone());
        let mut observed = Observed { host, file, document, log, planned: 0 };
        observed.queries();
        observed
    }

    fn replace(&mut self, from: &str, to: &str) {
        let at = self.document.text().find(from).expect("the fixture has the text");
        self.document.edit(at..at + from.len(), to);
        self.document.settle();
        self.host.set_document(self.file, self.document.clone());
    }

    fn insert(&mut self, at: usize, text: &str) {
        self.document.edit(at..at, text);
        self.document.settle();
        self.host.set_document(self.file, self.document.clone());
    }

    /// Names of the queries that run for all features, with how often each ran, and how many kernels were `planned`.
    fn queries(&mut self) -> Vec<(String, usize)> {
        let analysis = self.host.snapshot();
        analysis.diagnostics(self.file).expect("no edit comes in between");
        for lens in analysis.code_lenses(self.file).expect("no edit comes in between") {
            analysis.code_lens(self.file, lens).expect("no edit comes in between").expect("it is there");
        }
        drop(analysis);
        let log = std::mem::take(&mut *self.log.lock().expect("no query panics"));
        let mut counts = std::collections::BTreeMap::new();
        for entry in log {
            let name = entry.split('(').next().unwrap_or("").to_owned();
            *counts.entry(name).or_insert(0) += 1;
        }
        let planned = self.host.database().planned();
        counts.insert("planned".to_owned(), planned - std::mem::replace(&mut self.planned, planned));
        counts.into_iter().collect()
    }
}

fn thirty_kernels() -> String {
    let mut text = "import pypto.language as pl\n\nN = 64\n\n@pl.program\nclass P:\n".to_owned();
    for i in 0..30 {
        text += &format!(
            "    @pl.function(type=pl.FunctionType.InCore)\n    def k{i}(self, a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:\n        x{i} = pl.load(a, [0, 0], [N, 64])\n        out = pl.store(x{i}, [0, 0], out)\n        return out\n\n"
        );
    }
    text
}

fn ran(queries: &[(String, usize)], query: &str) -> usize {
    queries.iter().find(|(name, _)| name == query).map_or(0, |(_, count)| *count)
}

#[test]
fn an_edit_in_one_of_thirty_kernels_plans_that_kernel_only() {
    let mut observed = Observed::open(&thirty_kernels());
    observed.replace("x7 = pl.load(a, [0, 0], [N, 64])", "x7 = pl.load(a, [0, 0], [32, 64])");
    let queries = observed.queries();
    for query in ["parsed", "syntax", "lowering", "plans"] {
        assert_eq!(ran(&queries, query), 1, "{query}: {queries:?}");
    }
    assert_eq!(ran(&queries, "constant"), 0, "{queries:?}");
}

#[test]
fn an_edit_in_one_cell_of_a_notebook_plans_the_kernels_of_that_cell_only() {
    let kernel = |i: usize| {
        format!(
            "@pl.function(type=pl.FunctionType.InCore)\ndef k{i}(a: pl.Tensor[[64, 64], pl.FP32]):\n    x{i} = pl.load(a, [0, 0], [N, 64])\n"
        )
    };
    let mut cells = vec!["import pypto.language as pl".to_owned(), "N = 64".to_owned()];
    cells.extend((0..30).map(kernel));
    let mut observed = Observed::of(Document::of_parts(&cells));
    let edit = |observed: &mut Observed, change: &dyn Fn(&mut Document)| {
        change(&mut observed.document);
        observed.document.settle();
        observed.host.set_document(observed.file, observed.document.clone());
        observed.queries()
    };
    let queries = edit(&mut observed, &|document| _ = document.set_part(9, &kernel(7).replace("[N, 64]", "[32, 64]")));
    for query in ["parsed", "syntax", "lowering", "plans"] {
        assert_eq!(ran(&queries, query), 1, "{query}: {queries:?}");
    }
    // A cell comes, and one moves down: no kernel is another one.
    cells[9] = kernel(7).replace("[N, 64]", "[32, 64]");
    cells.insert(4, "print('here')".to_owned());
    let queries = edit(&mut observed, &|document| _ = document.set_parts(&cells));
    assert_eq!((ran(&queries, "lowering"), ran(&queries, "planned")), (0, 0), "{queries:?}");
    let moved = cells.remove(20);
    cells.insert(25, moved);
    let queries = edit(&mut observed, &|document| _ = document.set_parts(&cells));
    assert_eq!((ran(&queries, "lowering"), ran(&queries, "planned")), (0, 0), "{queries:?}");
}

/// Two of the kernels push and pop between the cores.
#[test]
fn a_pair_of_kernels_is_checked_when_one_of_them_moves_other_tiles() {
    let mut text = thirty_kernels();
    text += "    @pl.function(type=pl.FunctionType.AIV)
    def vector(self, a: pl.Tensor[[64, 64], pl.FP16]):
        peer = pl.import_peer_buffer(name=\"ring\", peer_func=\"cube\")
        pl.aiv_initialize_pipe(0, peer, dir_mask=2, slot_size=1024)
        x: pl.Tile[[16, 16], pl.FP16, pl.Mem.Vec] = pl.load(a, [0, 0], [16, 16])
        for i in pl.range(4):
            pl.tpush_to_aic(x, split=0)

    @pl.function(type=pl.FunctionType.AIC)
    def cube(self, a: pl.Tensor[[64, 64], pl.FP16]):
        ring = pl.reserve_buffer(name=\"ring\", size=4096, base=pl.AUTO)
        pl.aic_initialize_pipe(0, ring, dir_mask=2, slot_size=1024)
        for i in pl.range(4):
            y: pl.Tile[[16, 16], pl.FP16, pl.Mem.Mat] = pl.tpop_from_aiv(split=0)
            pl.tfree_to_aiv(y)
";
    let mut observed = Observed::open(&text);
    for (from, to, checks) in [
        ("x7 = pl.load(a, [0, 0], [N, 64])", "x7 = pl.load(a, [0, 0], [32, 64])", 0),
        ("            pl.tpush_to_aic", "            # a comment\n            pl.tpush_to_aic", 0),
        ("pl.load(a, [0, 0], [16, 16])", "pl.load(a, [16, 0], [16, 16])", 0),
        ("pl.range(4):\n            y", "pl.range(3):\n            y", 1),
    ] {
        observed.replace(from, to);
        let queries = observed.queries();
        assert_eq!((ran(&queries, "unpaired"), ran(&queries, "pairs_of")), (checks, 0), "{to}: {queries:?}");
        assert!(ran(&queries, "planned") <= 1, "{to}: {queries:?}");
    }
    let analysis = observed.host.snapshot();
    let diagnostics = analysis.diagnostics(observed.file).expect("no edit");
    let is_said =
        |diagnostic: &crate::ide::Diagnostic| diagnostic.code == tilefit_python::diagnostics::Code::UnpairedTransfer;
    assert!(diagnostics.iter().any(is_said));
}

#[test]
fn an_edit_in_one_scope_plans_that_scope_only() {
    let mut text = "import pypto.language as pl\n\n@pl.jit\ndef main(x: pl.Tensor[[64, 64], pl.FP32], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):\n".to_owned();
    for i in 0..10 {
        text += &format!(
            "    with pl.at(level=pl.Level.CORE_GROUP):\n        y{i} = pl.mul(x, {i}.0)\n        o[0:64, 0:64] = pl.exp(y{i})\n"
        );
    }
    let mut observed = Observed::open(&text);
    for (from, to) in [
        ("pl.mul(x, 4.0)", "pl.mul(x, 4.5)"),
        ("        y4 =", "        more = pl.add(pl.exp(x), 1.0)\n        y4 ="),
        ("pl.exp(y4)", "pl.exp(pl.abs(pl.neg(y4)))"),
        ("        more =", "        for i in pl.range(4):\n            many = pl.exp(x)\n        more ="),
        ("        more = pl.add(pl.exp(x), 1.0)\n", ""),
    ] {
        observed.replace(from, to);
        let queries = observed.queries();
        assert_eq!((ran(&queries, "lowering"), ran(&queries, "planned")), (1, 1), "{to}: {queries:?}");
    }
}

/// A function with a scope in each of its branches, put in place of two calls.
fn called_scopes() -> String {
    let mut text = "import pypto.language as pl\n\n@pl.jit.inline\ndef step(x: pl.Tensor, o: pl.Tensor):\n".to_owned();
    for i in 0..10 {
        text += &format!(
            "    for i{i} in pl.spmd(4, name_hint='scope{i}'):\n        y{i} = pl.mul(x, {i}.0)\n        o[0:64, 0:64] = pl.exp(y{i})\n"
        );
    }
    for i in 0..2 {
        text += &format!(
            "\n@pl.jit\ndef main{i}(x: pl.Tensor[[64, 64], pl.FP32], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):\n    step(x, o)\n    return o\n"
        );
    }
    text
}

#[test]
fn an_edit_in_one_scope_of_a_called_function_plans_that_scope_once() {
    let mut observed = Observed::open(&called_scopes());
    for (from, to) in [
        ("pl.mul(x, 4.0)", "pl.mul(x, 4.5)"),
        ("        y4 =", "        more = pl.add(pl.exp(x), 1.0)\n        y4 ="),
        ("        more =", "        for i in pl.range(4):\n            many = pl.exp(x)\n        more ="),
    ] {
        observed.replace(from, to);
        let queries = observed.queries();
        assert_eq!((ran(&queries, "lowering"), ran(&queries, "planned")), (2, 1), "{to}: {queries:?}");
    }
}

#[test]
fn the_scopes_of_a_called_function_are_shown_where_they_are_written() {
    let text = called_scopes();
    let mut fixture = Fixture::new(&text);
    let line = |offset: usize| text[..offset].lines().count();
    let hints = fixture.inlay_hints(fixture.whole());
    let hints: Vec<_> = hints.iter().map(|hint| (line(hint.offset), hint.label.as_str())).collect();
    assert_eq!(
        hints[..4],
        [(6, "Vec 0x0 16 KiB"), (7, "→ Vec 0x0 16 KiB"), (9, "Vec 0x0 16 KiB"), (10, "→ Vec 0x0 16 KiB")]
    );
    let lenses = fixture.code_lenses();
    let mut lines: Vec<usize> = lenses.iter().map(|lens| line(lens.range.start)).collect();
    lines.dedup();
    assert_eq!(lines, (0..10).map(|i| 5 + 3 * i).collect::<Vec<_>>());
    let hover = fixture.hover(fixture.find("y3)")).expect("a tile");
    assert!(hover.markdown.contains("live range | lines 15 – 16"), "{}", hover.markdown);
    assert!(!hover.markdown.contains("This scope becomes"), "{}", hover.markdown);
    fixture.retype(&text.replace("main1(x: pl.Tensor[[64, 64]", "main1(x: pl.Tensor[[32, 64]"));
    let hover = fixture.hover(fixture.find("y3)")).expect("a tile");
    assert!(
        hover
            .markdown
            .contains("This scope becomes 2 kernels; in the others, this tile is [32, 64] FP32: Vec 0x0 8 KiB."),
        "{}",
        hover.markdown
    );
}

#[test]
fn kernels_that_come_and_go_leave_the_others_alone() {
    let mut observed = Observed::open(&thirty_kernels());
    let pasted: String = thirty_kernels().lines().skip(4).take(20).map(|line| format!("{line}\n")).collect();
    let pasted = format!("\nimport pypto.language as pl\n\n@pl.program\nclass Q:\n{pasted}");
    observed.insert(observed.document.len(), &pasted);
    let queries = observed.queries();
    let planned = "kernels that equal others have a plan already";
    assert_eq!((ran(&queries, "lowering"), ran(&queries, "planned")), (3, 0), "{planned}: {queries:?}");
    observed.replace(&pasted, "");
    let queries = observed.queries();
    for query in ["lowering", "planned", "triton_kernel"] {
        assert_eq!(ran(&queries, query), 0, "{queries:?}");
    }
}

#[test]
fn a_comment_is_parsed_and_nothing_else() {
    let mut observed = Observed::open(&thirty_kernels());
    observed.replace("        x7 = pl", "        # a note\n        x7 = pl");
    let queries = observed.queries();
    assert_eq!(ran(&queries, "parsed"), 1, "{queries:?}");
    assert_eq!(ran(&queries, "lowering") + ran(&queries, "plans"), 0, "{queries:?}");
}

#[test]
fn a_new_line_above_computes_nothing_of_a_kernel() {
    let mut observed = Observed::open(&thirty_kernels());
    observed.replace("import pypto", "\n\nimport pypto");
    let queries = observed.queries();
    assert_eq!(ran(&queries, "lowering") + ran(&queries, "plans"), 0, "{queries:?}");
}

#[test]
fn a_constant_plans_the_kernels_that_use_it() {
    let mut observed = Observed::open(&thirty_kernels());
    observed.replace("N = 64", "N = 32");
    let queries = observed.queries();
    assert_eq!((ran(&queries, "lowering"), ran(&queries, "plans")), (30, 30), "{queries:?}");
}

#[test]
fn constants_come_from_other_files() {
    let text = thirty_kernels().replace("N = 64\n", "from .config import ROWS as N\n");
    let config = ["/w/config.py".to_owned(), "/w/config/__init__.py".to_owned()];
    let mut fixture = Fixture::new(&text);
    assert_eq!(*fixture.ask(Analysis::unknown_imports), [config]);
    let config = fixture.host.file_id("/w/config.py");
    fixture.host.set_document(config, Document::new("ROWS = COLS // 2\nCOLS = 128\n"));
    assert!(fixture.ask(Analysis::unknown_imports).is_empty());
    assert_eq!(fixture.plans()[0].tiles[0].shape, [64, 64]);
}

/// The text after AllocateMemoryAddr (`hw-native-sys/pypto@7866786db:docs/dev/passes/07-allocate_memory_addr.md`), and after AddAlloc
/// (`hw-native-sys/pypto@247d11a4b:docs/dev/passes/07-add_alloc.md`).
#[test]
fn sketches_get_their_addresses() {
    let text = "mem_vec_0: MemRefType = block.alloc(Vec, -1, 16384, 0)\nmem_vec_1: MemRefType = block.alloc(Vec, -1, 16384, 1)\ntile_a: Tile[[64, 64], FP32, memref=mem_vec_0] = block.load(...)\ntile_b: Tile[[64, 64], FP32, memref=mem_vec_1] = block.add(tile_a, ...)\n\ndef compute(...):\n    a: Tile[[64, 64], FP32, MemRef(id=0, space=UB)] = block.load(...)\n    b: Tile[[64, 64], FP32, MemRef(id=1, space=UB)] = block.add(a, ...)\n";
    let after = Fixture::new(text).allocated_ir();
    let texts: Vec<_> = after.iter().map(|ir| ir.text.trim_end()).collect();
    expect_test::expect![[r#"
        mem_vec_0: MemRefType = block.alloc(Vec, 0x0, 16384, 0)
        mem_vec_1: MemRefType = block.alloc(Vec, 0x4000, 16384, 1)
        tile_a: Tile[[64, 64], FP32, memref=mem_vec_0] = block.load(...)
        tile_b: Tile[[64, 64], FP32, memref=mem_vec_1] = block.add(tile_a, ...)
        def compute(...):
            alloc(memref=MemRef(id=0, space=Vec, size=16384, addr=0x0))
            alloc(memref=MemRef(id=1, space=Vec, size=16384, addr=0x4000))
            a: Tile[[64, 64], FP32, MemRef(id=0, space=UB, addr=0x0)] = block.load(...)
            b: Tile[[64, 64], FP32, MemRef(id=1, space=UB, addr=0x4000)] = block.add(a, ...)"#]]
    .assert_eq(&texts.join("\n"));
}

/// Ten TLX kernels behind an autotuned wrapper each.
fn ten_tlx_kernels() -> String {
    let mut text = "import triton\nimport triton.language as tl\nimport triton.language.extra.tlx as tlx\n\nK = tl.constexpr(64)\n\n".to_owned();
    for i in 0..10 {
        text += &format!(
            "@triton.autotune(configs=[triton.Config({{\"M\": m}}) for m in [64, 128]], key=[])\n@triton.jit\ndef outer{i}(desc, M: tl.constexpr):\n    kernel{i}(desc, M)\n\n# tilefit: desc=bf16\n@triton.jit\ndef kernel{i}(desc, M: tl.constexpr):\n    tiles{i} = tlx.local_alloc((M, K), tlx.dtype_of(desc), 2)\n    view = tiles{i}[0]\n\n"
        );
    }
    text
}

#[test]
fn an_edit_in_one_of_ten_tlx_kernels_reads_that_kernel_only() {
    let mut observed = Observed::open(&ten_tlx_kernels());
    observed.replace(
        "tiles7 = tlx.local_alloc((M, K), tlx.dtype_of(desc), 2)",
        "tiles7 = tlx.local_alloc((M, K), tlx.dtype_of(desc), 3)",
    );
    let queries = observed.queries();
    for query in ["parsed", "syntax", "triton_kernel", "triton_scenario_table"] {
        assert_eq!(ran(&queries, query), 1, "{query}: {queries:?}");
    }
    assert_eq!(ran(&queries, "scenarios_on"), 1, "{queries:?}");
}

#[test]
fn a_comment_reads_no_tlx_kernel_and_a_scenario_reads_one() {
    let mut observed = Observed::open(&ten_tlx_kernels());
    observed.replace("    tiles7 = ", "    # a note\n    tiles7 = ");
    let queries = observed.queries();
    assert_eq!(ran(&queries, "triton_kernel") + ran(&queries, "scenarios_on"), 0, "{queries:?}");
    observed.replace("# a note", "# tilefit: M=32");
    let queries = observed.queries();
    assert_eq!((ran(&queries, "triton_kernel"), ran(&queries, "scenarios_on")), (1, 1), "{queries:?}");
}

/// However large it is, a file that has nothing to do with another one costs that nothing.
#[test]
fn what_no_import_leads_to_is_not_read() {
    let kernel = "import triton\nimport triton.language as tl\n\n@triton.jit\ndef k(p, B: tl.constexpr):\n    tl.store(p + tl.arange(0, B), 1)\n\ndef f(p):\n    k[(1,)](p, B=64)\n";
    let parsed = |other: &str| {
        let mut observed = Observed::open("");
        let file = observed.host.file_id("/w/other.py");
        observed.host.set_document(file, Document::new(other));
        observed.file = observed.host.file_id("/w/kernels.py");
        observed.host.set_document(observed.file, Document::new(kernel));
        ran(&observed.queries(), "parsed")
    };
    let alone = parsed("");
    assert_eq!(parsed(&format!("import triton\n{kernel}\nL = [1, 2, 3]\n").replace("k(", "other(")), alone);
    assert!(parsed("from kernels import k\nk[(1,)](1, B=32)\n") > alone);
}
