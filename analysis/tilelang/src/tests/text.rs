//! Launches as text, and plans as text.
//!
//! A line is a buffer, `shared a f16 64x32`, or a statement, `copy A > a`; what a loop or a branch contains is indented by two. A statement's place is
//! its line.

use std::fmt::Write;
use std::sync::Arc;

use tilefit_python::finding::{Node, Origin, Reason};
use tilefit_syntax::Document;
use tilefit_syntax::ast::{self, ExprId};

use crate::finding::Finding;
use crate::plan::{Occupant, Plan};
use crate::program::{
    Branch, Buffer, BufferId, Dtype, Extent, Gemm, Kind, Launch, Loop, Op, Options, Reduce, Region, Scope, Statement,
    Threads, WarpPolicy, WrittenPipeline,
};

pub(super) fn launch(text: &str) -> Launch {
    let lines: Vec<(usize, &str)> = text
        .lines()
        .map(|line| (line.len() - line.trim_start().len(), line.trim()))
        .filter(|(_, line)| !line.is_empty())
        .collect();
    let mut reader =
        Reader { lines, at: 0, buffers: Vec::new(), node: node(), options: Options::default(), threads: 128 };
    let body = reader.block(0);
    Launch {
        function: "kernel".into(),
        threads: Some(reader.threads),
        buffers: reader.buffers,
        body,
        options: reader.options,
        unknown: Vec::new(),
    }
}

/// Some node: only the numbers of places differ.
pub(super) fn node() -> ExprId {
    let document = Document::new("x\n");
    let (ast, _) = ast::parse(&document.blocks()[0].source);
    match ast.stmt(ast.body[0]) {
        ast::Stmt::Expr(expr) => *expr,
        _ => unreachable!("an expression"),
    }
}

pub(super) fn origin(node: ExprId, line: usize) -> Origin {
    Origin::Inlined { call: node, function: line as u32, node: Node::Expr(node) }
}

struct Reader<'t> {
    lines: Vec<(usize, &'t str)>,
    at: usize,
    buffers: Vec<Buffer>,
    node: ExprId,
    options: Options,
    threads: u64,
}

impl Reader<'_> {
    fn block(&mut self, indent: usize) -> Vec<Statement> {
        let mut body = Vec::new();
        while let Some(&(own, line)) = self.lines.get(self.at).filter(|(own, _)| *own >= indent) {
            if line == "else" {
                break;
            }
            self.at += 1;
            let words: Vec<&str> = line.split_whitespace().collect();
            let at = origin(self.node, self.at);
            match words.as_slice() {
                ["threads", count] => self.threads = count.parse().expect("threads"),
                ["without", "reuse"] => self.options.is_reuse_off = true,
                ["without", "roles"] => self.options.is_warp_specialization_off = true,
                [scope @ ("global" | "shared" | "fragment" | "local" | "barrier" | "tensor"), name, dtype, shape] => {
                    let buffer = buffer(scope, name, dtype, shape, at);
                    self.buffers.push(buffer);
                }
                ["loop", extent, rest @ ..] => body.push(Statement::Loop(self.repeat(extent, rest, own, at))),
                ["if", reads @ ..] => {
                    let reads = reads.iter().map(|name| self.region(name, None)).collect();
                    let then = self.block(own + 2);
                    let has_else =
                        self.lines.get(self.at).is_some_and(|(other, line)| *other == own && *line == "else");
                    self.at += usize::from(has_else);
                    let otherwise = if has_else { self.block(own + 2) } else { Vec::new() };
                    body.push(Statement::Branch(Branch { reads, in_rounds: Vec::new(), then, otherwise, at }));
                }
                words => body.push(Statement::Op(self.op(words, at))),
            }
        }
        body
    }

    fn repeat(&mut self, extent: &str, words: &[&str], indent: usize, at: Origin) -> Loop {
        let numbers = |name: &str| -> Option<Vec<u64>> {
            let place = words.iter().position(|word| *word == name)?;
            words[place + 1].split(',').map(|number| number.parse().ok()).collect()
        };
        let written = numbers("order").zip(numbers("stage"));
        Loop {
            least: 0,
            extent: self::extent(extent),
            stages: numbers("stages").map_or(0, |stages| stages[0]),
            written: written.map(|(order, stage)| WrittenPipeline { order, stage }),
            is_explicitly_unrolled: words.contains(&"unrolled"),
            body: self.block(indent + 2),
            at,
        }
    }

    fn id(&self, name: &str) -> BufferId {
        let found = self.buffers.iter().position(|buffer| &*buffer.name == name);
        BufferId(found.unwrap_or_else(|| panic!("no buffer {name}")) as u32)
    }

    /// `tile`: the extents of what is copied.
    fn region(&self, name: &str, tile: Option<&[Extent]>) -> Region {
        let buffer = self.id(name);
        let own = &self.buffers[buffer.0 as usize];
        let extents = tile.map(|tile| match own.scope {
            Scope::Global => {
                let ones = own.shape.len().saturating_sub(tile.len());
                let behind = tile.len().saturating_sub(own.shape.len());
                vec![Extent::Known(1); ones].into_iter().chain(tile[behind..].iter().cloned()).collect()
            }
            _ => own.shape.clone(),
        });
        Region { buffer, extents, is_inside: Some(true) }
    }

    fn op(&self, words: &[&str], at: Origin) -> Op {
        let arrow = words.iter().position(|word| *word == ">").unwrap_or(words.len());
        let (sources, rest) = (&words[1..arrow], words.get(arrow + 1..).unwrap_or_default());
        let (results, flags) = rest.split_at(rest.len().min(1));
        let names = || sources.iter().chain(results);
        let tile =
            names().map(|name| &self.buffers[self.id(name).0 as usize]).find(|buffer| buffer.scope != Scope::Global);
        let by_element = matches!(words[0], "parallel" | "elements");
        let tile = tile.filter(|_| !by_element).map(|buffer| buffer.shape.as_slice());
        let shape: Vec<u64> =
            flags.first().map(|flag| flag.split('x').filter_map(|x| x.parse().ok()).collect()).unwrap_or_default();
        let kind = match words[0] {
            "copy" => Kind::Copy,
            "tma" => Kind::TmaCopy,
            "async" => Kind::AsyncCopy,
            "fill" => Kind::Fill,
            "parallel" => Kind::Parallel { is_copy: false },
            "elements" => Kind::Parallel { is_copy: true },
            "gemm" => Kind::Gemm(Gemm {
                is_tcgen05: false,
                transposes: [false, flags.contains(&"t")],
                m: shape[0],
                n: shape[1],
                k: shape[2],
                policy: if flags.contains(&"rows") { WarpPolicy::FullRow } else { WarpPolicy::Square },
            }),
            "reduce" => Kind::Reduce(Reduce { dim: flags[0].parse().expect("a dimension"), clears: true }),
            other => Kind::Other(Arc::from(other)),
        };
        let regions = |names: &[&str]| names.iter().map(|name| self.region(name, tile)).collect();
        Op { kind, reads: regions(sources), writes: regions(results), threads: Threads::All, at }
    }
}

fn buffer(scope: &str, name: &str, dtype: &str, shape: &str, at: Origin) -> Buffer {
    let scope = match scope {
        "global" => Scope::Global,
        "shared" => Scope::Shared,
        "fragment" => Scope::Fragment,
        "local" => Scope::Local,
        "barrier" => Scope::Barrier,
        _ => Scope::TensorMemory,
    };
    let (dtype, bits) = match dtype {
        "f16" => ("float16", 16),
        "f32" => ("float32", 32),
        "i8" => ("int8", 8),
        "i4" => ("int4", 4),
        other => (other, 64),
    };
    let shape = shape.split('x').map(extent).collect();
    Buffer {
        name: name.into(),
        scope,
        dtype: Dtype { name: dtype.into(), bits },
        shape,
        is_swizzled: false,
        address: None,
        is_used: true,
        at,
    }
}

fn extent(text: &str) -> Extent {
    match text.parse() {
        Ok(extent) => Extent::Known(extent),
        Err(_) if text == "?" => Extent::Unknown(Reason::new("its size is not known")),
        Err(_) => Extent::Symbolic(text.into()),
    }
}

fn line(at: Origin) -> u32 {
    match at {
        Origin::Inlined { function, .. } => function,
        _ => 0,
    }
}

pub(super) fn shown(launch: &Launch, plan: &Plan) -> String {
    let mut shown = String::new();
    for placed in &plan.placed {
        let name = match placed.what {
            Occupant::Buffer(id) => launch.buffer(id).name.to_string(),
            Occupant::Workspace(at) => format!("workspace of line {}", line(at)),
        };
        let number = |value: Option<u64>| value.map_or("?".to_owned(), |value| value.to_string());
        let copies = if placed.versions > 1 { format!(" ({} copies)", placed.versions) } else { String::new() };
        let alignment = if placed.alignment > 16 { format!(" by {}", placed.alignment) } else { String::new() };
        let (bytes, offset) = (number(placed.bytes), number(placed.offset));
        let (first, last) = (line(placed.live.first), line(placed.live.last));
        let _ = writeln!(shown, "{name}: {bytes} B{copies} at {offset}{alignment}, lines {first} to {last}");
    }
    let high = plan.total.high.map_or("?".to_owned(), |high| high.to_string());
    match plan.total.exactly() {
        Some(total) => _ = writeln!(shown, "total {total}"),
        None => _ = writeln!(shown, "total {} to {high}", plan.total.low),
    }
    if plan.is_specialised {
        let _ = writeln!(shown, "{:?} threads, {:?} barriers", plan.threads.unwrap_or(0), plan.barriers.unwrap_or(0));
    }
    for reason in &plan.reasons {
        let _ = writeln!(shown, "as {reason}");
    }
    shown
}

pub(super) fn shown_finding(launch: &Launch, finding: &Finding) -> String {
    let name = |buffer: BufferId| launch.buffer(buffer).name.clone();
    match *finding {
        Finding::SquaredVersions { at, buffer, stages, versions } => {
            format!("line {}: {} has {versions} copies for {stages} stages", line(at), name(buffer))
        }
        Finding::FilledByTwoLoops { buffer, first, second } => {
            format!("lines {} and {} both fill {}", line(first), line(second), name(buffer))
        }
        Finding::MixedVersions { buffer, versions, fewer, at, elsewhere, is_refused } => {
            let refused = if is_refused { ", refused" } else { "" };
            let (at, elsewhere) = (line(at), line(elsewhere));
            format!("line {at}: {} has {versions} copies, but {fewer} in line {elsewhere}{refused}", name(buffer))
        }
        Finding::WrittenTwice { buffer, first, second, .. } => {
            format!("line {}: {} is filled in line {}", line(second), name(buffer), line(first))
        }
        Finding::NoWarpPartition { at, m, n, warps } => format!("line {}: {m}x{n} for {warps} warps", line(at)),
        Finding::NoBarriers { buffer } => format!("no barriers for {}", name(buffer)),
        Finding::NoTensorMemory { buffer } => format!("no tensor memory for {}", name(buffer)),
        ref other => format!("{other:?}"),
    }
}
