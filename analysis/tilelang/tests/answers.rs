//! Recorded kernels (`tests/conformance/tilelang`): their launches, and what the compiler answered.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use tilefit_python::finding::{Node, Origin};
use tilefit_syntax::{Document, ast};
use tilefit_tilelang::program::{
    Branch, Buffer, BufferId, Dtype, Extent, Gemm, Kind, Launch, Loop, Op, Options, Reduce, Region, Scope, Statement,
    Threads, WarpPolicy, WrittenPipeline,
};
use tilefit_tilelang::target::Target;

fn folder() -> PathBuf {
    match std::env::var_os("TILELANG_RECORDED") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance/tilelang"),
    }
}

/// One function under one set of arguments.
pub(crate) struct Case {
    /// For people.
    pub title: String,
    pub launches: Vec<Launch>,
    pub answers: Vec<Answer>,
}

/// What the compiler says of a case.
pub(crate) struct Answer {
    pub target: Target,
    pub options: Options,
    pub value: Value,
}

pub(crate) fn cases() -> Vec<Case> {
    let entries = std::fs::read_dir(folder()).expect("recorded kernels").flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    paths.iter().flat_map(|path| cases_of(path)).collect()
}

fn cases_of(path: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(path).expect("a recorded file");
    let file: Value = serde_json::from_str(&text).expect("JSON");
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    // Mistakes are recorded in another form.
    let cases = array(&file["cases"]);
    cases.iter().map(|case| of_case(&stem, case)).collect()
}

fn of_case(stem: &str, case: &Value) -> Case {
    let mut reader = Reader::of(case);
    let options = options(&case["pass_configs"]);
    let launches = array(&case["statements"]).iter().filter(|statement| statement.get("launch").is_some());
    let launches = launches.map(|launch| reader.launch(launch, options)).collect();
    let answers = array(&case["answers"]).iter().map(|answer| {
        let mut asked = case["pass_configs"].clone();
        for (name, value) in answer["pass_configs"].as_object().into_iter().flatten() {
            asked[name] = value.clone();
        }
        Answer { target: target(text(&answer["target"])), options: self::options(&asked), value: answer.clone() }
    });
    Case { title: format!("{stem}.{} {}", text(&case["function"]), case["args"]), launches, answers: answers.collect() }
}

fn options(configs: &Value) -> Options {
    let is_set = |name: &str| configs[name].as_bool().unwrap_or(configs[name].as_u64() == Some(1));
    Options {
        is_warp_specialization_off: is_set("tl.disable_warp_specialized"),
        is_tma_off: is_set("tl.disable_tma_lower"),
        has_roles: false,
        is_merge_aggressive: is_set("tl.enable_aggressive_shared_memory_merge"),
        is_reuse_off: is_set("tl.disable_shared_memory_reuse"),
        ..Options::default()
    }
}

fn target(name: &str) -> Target {
    match name.strip_prefix("sm_") {
        Some(capability) => {
            let digits = capability.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
            Target::Nvidia { capability: digits.parse().expect("a capability") }
        }
        None => Target::Amd { gfx: name.trim_start_matches("gfx").parse().expect("a number of AMD") },
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Statements of one case; each has an origin of its own.
struct Reader {
    buffers: Vec<Buffer>,
    ids: BTreeMap<String, BufferId>,
    next: u32,
    node: ast::ExprId,
    function: String,
}

impl Reader {
    fn of(case: &Value) -> Reader {
        let document = Document::new("x\n");
        let (ast, _) = ast::parse(&document.blocks()[0].source);
        let node = match ast.stmt(ast.body[0]) {
            ast::Stmt::Expr(expr) => *expr,
            _ => unreachable!("an expression"),
        };
        let mut reader = Reader {
            buffers: Vec::new(),
            ids: BTreeMap::new(),
            next: 0,
            node,
            function: text(&case["function"]).to_owned(),
        };
        for (key, buffer) in case["buffers"].as_object().into_iter().flatten() {
            let at = reader.origin();
            reader.ids.insert(key.clone(), BufferId(reader.buffers.len() as u32));
            reader.buffers.push(Buffer {
                name: Arc::from(key.split('#').next().unwrap_or(key)),
                scope: scope(text(&buffer["scope"]), text(&buffer["dtype"])),
                dtype: dtype(text(&buffer["dtype"])),
                shape: extents(&buffer["shape"]),
                is_swizzled: buffer.get("annotated").is_some(),
                address: None,
                is_used: true,
                at,
            });
        }
        reader
    }

    fn origin(&mut self) -> Origin {
        self.next += 1;
        Origin::Inlined { call: self.node, function: self.next, node: Node::Expr(self.node) }
    }

    fn launch(&mut self, launch: &Value, options: Options) -> Launch {
        let body = self.statements(&launch["launch"]);
        let threads = array(&launch["threads"]).iter().map(Value::as_u64);
        let threads = if launch["threads"].is_null() { Some(128) } else { threads.product() };
        let function = Arc::from(self.function.as_str());
        Launch { function, threads, buffers: self.buffers.clone(), body, options, unknown: Vec::new() }
    }

    fn statements(&mut self, body: &Value) -> Vec<Statement> {
        array(body).iter().map(|statement| self.statement(statement)).collect()
    }

    fn statement(&mut self, statement: &Value) -> Statement {
        let at = self.origin();
        if statement.get("for").is_some() {
            let numbers = |name: &str| array(&statement[name]).iter().filter_map(Value::as_u64).collect();
            let written = statement.get("tl_pipeline_order");
            return Statement::Loop(Loop {
                least: 0,
                extent: extent(&statement["extent"]),
                stages: statement["stages"].as_u64().unwrap_or(0),
                written: written.map(|_| WrittenPipeline {
                    order: numbers("tl_pipeline_order"),
                    stage: numbers("tl_pipeline_stage"),
                }),
                is_explicitly_unrolled: statement["explicit"].as_bool().unwrap_or(false),
                body: self.statements(&statement["body"]),
                at,
            });
        }
        if statement.get("if").is_some() {
            return Statement::Branch(Branch {
                in_rounds: Vec::new(),
                reads: self.regions(&statement["r"]),
                then: self.statements(&statement["then"]),
                otherwise: self.statements(&statement["else"]),
                at,
            });
        }
        let (reads, writes) = (self.regions(&statement["r"]), self.regions(&statement["w"]));
        Statement::Op(Op { kind: kind(statement), reads, writes, threads: Threads::All, at })
    }

    fn regions(&self, regions: &Value) -> Vec<Region> {
        let of = |region: &Value| {
            let buffer = self.ids[text(&region[0])];
            let extents = region[1].as_array().map(|_| extents(&region[1]));
            // Where a region begins is not recorded. Tiles of these kernels that fill their tensor lie within it, and no others do.
            let is_inside = extents.as_ref().map(|extents| fills(extents, &self.buffers[buffer.0 as usize].shape));
            Region { buffer, extents, is_inside }
        };
        array(regions).iter().map(of).collect()
    }
}

fn fills(tile: &[Extent], tensor: &[Extent]) -> bool {
    tile.iter().zip(tensor).all(|(tile, size)| match (tile, size) {
        (Extent::Known(tile), Extent::Known(size)) => *tile > 0 && size.is_multiple_of(*tile),
        _ => tile == size,
    })
}

fn kind(statement: &Value) -> Kind {
    let is_copy = statement["pure"].as_bool().unwrap_or(false);
    match text(&statement["op"]) {
        "copy" => Kind::Copy,
        "async_copy" => Kind::AsyncCopy,
        "tma_copy" => Kind::TmaCopy,
        name if name.contains("gemm") => {
            let flags: Vec<u64> = array(&statement["flags"]).iter().filter_map(Value::as_u64).collect();
            let policies = [WarpPolicy::Square, WarpPolicy::FullRow, WarpPolicy::FullColumn];
            Kind::Gemm(Gemm {
                is_tcgen05: name.starts_with("tcgen05"),
                transposes: [flags[0] != 0, flags[1] != 0],
                m: flags[2],
                n: flags[3],
                k: flags[4],
                policy: policies[flags[5] as usize],
            })
        }
        "reduce" => {
            let dim = text(&statement["kind"][1]).parse().unwrap_or(1);
            Kind::Reduce(Reduce { dim, clears: text(&statement["kind"][2]) == "T.bool(True)" })
        }
        "fill" => Kind::Fill,
        "cumsum" => Kind::CumulativeSum,
        "parallel" => Kind::Parallel { is_copy },
        "store" => Kind::Store { is_copy },
        other => Kind::Other(Arc::from(other)),
    }
}

fn scope(name: &str, dtype: &str) -> Scope {
    match name {
        "global" | "" => Scope::Global,
        "shared.dyn" if dtype == "bool" => Scope::StaticShared,
        "shared.dyn" => Scope::Shared,
        "shared" => Scope::StaticShared,
        "shared.barrier" => Scope::Barrier,
        "shared.tmem" => Scope::TensorMemory,
        "local.fragment" => Scope::Fragment,
        _ => Scope::Local,
    }
}

fn dtype(name: &str) -> Dtype {
    let digits: String = name.split('_').next().unwrap_or(name).chars().filter(char::is_ascii_digit).collect();
    Dtype { name: Arc::from(name), bits: if name == "bool" { 8 } else { digits.parse().expect("bits") } }
}

fn extents(values: &Value) -> Vec<Extent> {
    array(values).iter().map(extent).collect()
}

fn extent(value: &Value) -> Extent {
    match value.as_u64() {
        Some(extent) => Extent::Known(extent),
        None => Extent::Symbolic(Arc::from(value.as_str().map_or_else(|| value.to_string(), str::to_owned))),
    }
}
