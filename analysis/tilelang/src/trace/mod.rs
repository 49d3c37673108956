//! Follows a kernel as TileLang's front end does, under one set of arguments, and writes down what each launch does to its buffers.
//!
//! What Python computes is computed; what the kernel computes stays a statement. What is not known is said, and the rest goes on.

mod arithmetic;
mod assignments;
mod builtins;
mod calls;
mod conditions;
mod copies;
mod expressions;
mod factory;
mod frames;
mod functions;
mod launches;
mod library;
mod loops;
mod numbers;
mod operators;
mod products;
mod python;
mod recording;
mod reductions;
mod statements;
mod symbolic;
mod value;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::eval::Constant;
use tilefit_python::finding::{Example, Node, Origin, Reason, Remedy};
use tilefit_python::work;
use tilefit_syntax::BlockKey;
use tilefit_syntax::ast::{Ast, Expr, ExprId, Param, StmtId};

use crate::program::{Launch, Options};
use frames::Frame;
use recording::Recording;
use value::{Code, FrameId, Value};

pub use crate::mistakes::{Mistake, What};

/// Where names are looked up: the kernel's function is at 0, each helper at its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Home(pub u32);

impl Home {
    pub const KERNEL: Home = Home(0);
}

/// What a kernel sees of the code around it.
pub trait Environment {
    /// What a name of the module means at a place; `None` where the workspace does not say.
    fn definition(&self, home: Home, name: &str) -> Option<Definition>;

    /// The value of a name of the host, where its expression says nothing to a kernel.
    fn constant(&self, home: Home, name: &str) -> Option<Constant>;

    /// What `module.name` means, where a name at a place means that module of the workspace.
    fn member(&self, home: Home, module: &str, name: &str) -> Option<Definition>;

    /// The whole path of an imported dotted name: `tilelang.language.copy` for `T.copy`, `math.ceil` for `ceil`.
    fn canonical(&self, home: Home, path: &[&str]) -> Option<String>;

    /// The kernel is for Ascend NPUs: names and rules are those of their compiler.
    fn is_for_npus(&self) -> bool;

    /// Names may stand at a place that nothing shows: a star import that cannot be followed.
    fn is_open(&self, home: Home) -> bool;
}

pub enum Definition {
    Function {
        ast: Arc<Ast>,
        key: Option<BlockKey>,
        home: Home,
    },
    /// An expression, or one element of what it gives.
    Expression {
        ast: Arc<Ast>,
        expr: ExprId,
        element: Option<usize>,
        home: Home,
    },
    Constant(Constant),
    Module,
}

/// What following a kernel came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Traced {
    pub launches: Vec<Launch>,
    /// What the front end refuses, or the passes for what the text alone says.
    pub mistakes: Vec<Mistake>,
    /// Parameters without values that the launches depend on, each with an example.
    pub needed: BTreeMap<String, Example>,
    /// Parameters of the function that the kernel depends on, in order: those that are not tensors, and `T.const`'s.
    pub parameters: Vec<String>,
    /// The block of each function that was put in place of a call, by its number in [`Origin::Inlined`]; `None` for the kernel's own.
    pub functions: Vec<Option<BlockKey>>,
    /// Why there is no launch, or why there may be others.
    pub unknown: Vec<Reason>,
}

/// Functions that call functions deeper than this are not followed.
const DEEPEST_CALL: u32 = 24;
/// Deeper expressions and statements are not looked at.
const DEEPEST_NESTING: u32 = 90;
/// Longest list, text and loop of Python that is followed.
const LONGEST: usize = 4096;

/// What is written for a parameter, as its annotation and its default say it; `None` for what no comment can say.
pub fn example(ast: &Ast, param: &Param) -> Option<Example> {
    if ast.name(param.name) == Some("num_stages") {
        return Some(Example::Small);
    }
    let annotated =
        param.annotation.and_then(|annotation| ast.dotted(annotation)).and_then(|path| path.last().copied());
    match (annotated, param.default.map(|default| ast.expr(default))) {
        (Some("int" | "float"), _) => Some(Example::Number),
        (Some("bool"), _) => Some(Example::Truth),
        (Some("dtype"), _) => Some(Example::Elements),
        (Some("str"), _) if ast.name(param.name).is_some_and(|name| name.ends_with("type")) => Some(Example::Elements),
        (Some(_), _) => None,
        (None, None | Some(Expr::Int(_))) => Some(Example::Number),
        (None, Some(Expr::Bool(_))) => Some(Example::Truth),
        (None, Some(_)) => None,
    }
}

/// Follows the function that a block is: a factory, a kernel of the eager kind, or a primitive function.
///
/// Arguments for tensors of an eager kernel are their shapes, as tuples.
pub fn follow(ast: &Arc<Ast>, environment: &dyn Environment, arguments: &BTreeMap<String, Constant>) -> Traced {
    let mut tracer = Tracer::new(environment, arguments, BTreeMap::new());
    tracer.block(ast);
    // What shapes say of `T.const` is known when tensors are declared, and needed before.
    if tracer.sizes != tracer.learnt {
        let learnt = std::mem::take(&mut tracer.learnt);
        tracer = Tracer::new(environment, arguments, learnt);
        tracer.block(ast);
    }
    tracer.finish()
}

impl<'a> Tracer<'a> {
    fn new(
        environment: &'a dyn Environment,
        arguments: &'a BTreeMap<String, Constant>,
        sizes: BTreeMap<String, i64>,
    ) -> Tracer<'a> {
        Tracer {
            environment,
            is_for_npus: environment.is_for_npus(),
            arguments,
            frames: Vec::new(),
            out: Recording::default(),
            traced: Traced { functions: vec![None], ..Traced::default() },
            known: FxHashMap::default(),
            modules: FxHashMap::default(),
            numbers: FxHashMap::default(),
            prims: Vec::new(),
            options: Options::default(),
            outer_call: None,
            root: None,
            depth: 0,
            nesting: 0,
            uncertain: 0,
            asked: BTreeMap::new(),
            learnt: sizes.clone(),
            sizes,
            declared: FxHashMap::default(),
            bound: FxHashMap::default(),
            loops: Vec::new(),
            pipelined: None,
            stores: 0,
            facts: conditions::Facts::default(),
        }
    }
}

fn node_of_nothing(node: Node) -> Origin {
    match node {
        Node::Expr(expr) => Origin::Expr(expr),
        Node::Stmt(stmt) => Origin::Stmt(stmt),
    }
}

struct Tracer<'a> {
    environment: &'a dyn Environment,
    is_for_npus: bool,
    arguments: &'a BTreeMap<String, Constant>,
    frames: Vec<Frame>,
    out: Recording,
    traced: Traced,
    /// Of the modules, by place and name; `None` while it is computed.
    known: FxHashMap<(Home, Rc<str>), Option<Value>>,
    /// A frame for the expressions of each module.
    modules: FxHashMap<Home, FrameId>,
    /// Of functions in other blocks.
    numbers: FxHashMap<*const Ast, u32>,
    /// Launches of each primitive function that was followed.
    prims: Vec<Vec<Launch>>,
    options: Options,
    /// The node of the kernel's block that leads to the text that is followed, where that is another.
    outer_call: Option<ExprId>,
    /// The name of the kernel's function.
    root: Option<ExprId>,
    depth: u32,
    nesting: u32,
    /// Depth of branches that are followed though nobody knows whether they are taken.
    uncertain: u32,
    /// Parameters that have no value and were asked for.
    asked: BTreeMap<String, Example>,
    /// Extents that the shapes of arguments give to `T.const`: before, and as far as they are known now.
    sizes: BTreeMap<String, i64>,
    learnt: BTreeMap<String, i64>,
    /// Names of those that have no value, by the keys of theirs.
    declared: FxHashMap<u64, String>,
    /// All names that each text binds.
    bound: FxHashMap<*const Ast, FxHashSet<String>>,
    /// Loops around, innermost last: whether each is the kernel's.
    loops: Vec<bool>,
    /// The variable of the innermost pipelined loop around, and how often that goes round.
    pipelined: Option<(u64, Option<u64>)>,
    /// Stores so far: what is loaded before one may differ from what is loaded after it.
    stores: u64,
    /// What conditions and loops say of numbers where the next statement stands.
    facts: conditions::Facts,
}

impl Tracer<'_> {
    fn origin(&self, code: &Code, node: Node) -> Origin {
        match (code.number, node, self.outer_call) {
            (0, Node::Expr(expr), _) => Origin::Expr(expr),
            (0, Node::Stmt(stmt), _) => Origin::Stmt(stmt),
            (function, node, Some(call)) => Origin::Inlined { call, function, node },
            // Nothing in the kernel's text leads there.
            (function, node, None) => match self.root {
                Some(call) => Origin::Inlined { call, function, node },
                None => node_of_nothing(node),
            },
        }
    }

    fn at(&self, frame: FrameId, expr: ExprId) -> Origin {
        self.origin(&self.frames[frame.0 as usize].code, Node::Expr(expr))
    }

    fn at_stmt(&self, frame: FrameId, stmt: StmtId) -> Origin {
        self.origin(&self.frames[frame.0 as usize].code, Node::Stmt(stmt))
    }

    /// Something that the compiler refuses. What nobody knows to be followed is not said to be wrong, nor is what stands in other files twice.
    fn mistake(&mut self, at: Origin, what: What) {
        // What the compiler for NPUs refuses is not modelled, but for what is Python's.
        let is_modelled = !self.is_for_npus || matches!(what, What::Name { .. } | What::NotReturned { .. });
        let mistake = Mistake { at, what };
        if is_modelled && self.uncertain == 0 && !self.traced.mistakes.contains(&mistake) {
            self.traced.mistakes.push(mistake);
        }
    }

    /// What is recorded of the launch that is open may not be what the compiler sees.
    fn note(&mut self, reason: Reason) {
        self.needs(&reason);
        let notes = self.out.notes_mut();
        if !notes.contains(&reason) {
            notes.push(reason);
        }
    }

    /// A parameter without a value decides something.
    fn needs(&mut self, reason: &Reason) {
        if let Some(Remedy::Value { param, example, .. }) = reason.remedy() {
            self.traced.needed.entry(param.clone()).or_insert(*example);
        }
    }

    /// The same of one that is more than a number, and the reason with what is written for it.
    fn needs_as(&mut self, reason: Reason, example: Example) -> Reason {
        let Some(Remedy::Value { param, .. }) = reason.remedy().cloned() else { return reason };
        self.traced.needed.insert(param.clone(), example);
        reason.with_remedy(Some(Remedy::Value { param, example, is_number: false }))
    }

    /// One step of work.
    fn step(&self) {
        work::spend(1);
    }
}
