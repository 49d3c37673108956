//! What a kernel is made of, as far as a comparison with the compiler can be told to have covered it.

use std::fmt;
use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use crate::ir::{Call, For, If, Kernel, KernelKind, LoopKind, Operand, Scalar, Stmt, Type, Value, VarId};
use crate::ops::OpId;

/// One thing that a kernel is written with, or that happens to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mark {
    Op(OpId, Level),
    Form(Form),
    /// Both changed the kernel; a pass alone is paired with itself.
    Passes(Pass, Pass),
}

/// What the operands of an operation are before any pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    Tiles,
    Tensors,
}

macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$variant_doc])* $variant),* }

        impl $name {
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// As documents and the table write it.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text),* }
            }
        }
    };
}

named! {
    /// How a kernel is written: statements and scopes.
    Form {
        InCoreFunction "function InCore",
        AicFunction "function AIC",
        AivFunction "function AIV",
        Scope "scope of host code",
        InlinedScope "scope of an inlined function",
        Range "for pl.range",
        Parallel "for pl.parallel",
        Unroll "for pl.unroll",
        Pipeline "for pl.pipeline",
        Spmd "for pl.spmd",
        SplitAiv "for pl.split_aiv",
        While "while",
        Break "break",
        Continue "continue",
        Branch "if",
        BranchElse "if with else",
        RunTimeBounds "loop with bounds of run time",
        CarriedTile "tile carried by a loop",
        CarriedTensor "tensor carried by a loop",
        CarriedScalar "scalar carried by a loop",
        ExplicitCarry "init_values",
        ChosenTile "tile chosen by a branch",
        ChosenTensor "tensor chosen by a branch",
        ChosenScalar "scalar chosen by a branch",
        LoopInLoop "loop in a loop",
        BranchInLoop "if in a loop",
        LoopInBranch "loop in an if",
        BranchInBranch "if in an if",
        Alias "y = x",
        TupleElement "a, b = call",
        RunTimeOffset "offset of run time",
        PartlyValid "tile that is valid in part",
        Declared "pl.MemRef",
    }
}

named! {
    /// A pass of the compiler, as tilefit divides them.
    Pass {
        Unroll "unroll",
        Simplify "simplify",
        TensorToTile "tensors to tiles",
        DeclareSpaces "declared spaces",
        Composite "composite operations",
        Flatten "flatten to 2-D",
        Cast "legal casts",
        MatmulL0 "matmul in L0",
        TileSlice "tile slices",
        InferSpaces "spaces and moves",
        ResidentOperands "resident operands",
        BackendLayouts "layout repair",
        Mixed "mixed kernels",
        Skew "skew",
        Pipeline "pipeline copies",
        IoOrder "I/O order",
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mark::Op(op, Level::Tiles) => write!(f, "{} on tiles", op.op().name),
            Mark::Op(op, Level::Tensors) => write!(f, "{} on tensors", op.op().name),
            Mark::Form(form) => f.write_str(form.name()),
            Mark::Passes(one, other) if one == other => write!(f, "pass {}", one.name()),
            Mark::Passes(one, other) => write!(f, "passes {} + {}", one.name(), other.name()),
        }
    }
}

/// The marks of a kernel as its author wrote it, and of the passes that changed it; sorted, each once.
pub fn of(kernel: &Kernel, fired: &[Pass]) -> Vec<Mark> {
    let mut marks = Marks { kernel, found: Vec::new() };
    marks.scope();
    marks.body(&kernel.body, None);
    marks.found.extend(pairs(fired));
    marks.found.sort_unstable();
    marks.found.dedup();
    marks.found
}

fn pairs(fired: &[Pass]) -> impl Iterator<Item = Mark> {
    let from = |(at, &one): (usize, &Pass)| fired[at..].iter().map(move |&other| (one.min(other), one.max(other)));
    let pairs: Vec<_> = fired.iter().enumerate().flat_map(from).collect();
    pairs.into_iter().map(|(one, other)| Mark::Passes(one, other))
}

/// What a statement stands in.
#[derive(Clone, Copy)]
enum Around {
    Loop,
    Branch,
}

struct Marks<'k> {
    kernel: &'k Kernel,
    found: Vec<Mark>,
}

impl Marks<'_> {
    fn form(&mut self, form: Form) {
        self.found.push(Mark::Form(form));
    }

    fn scope(&mut self) {
        let kernel = self.kernel;
        self.form(match (kernel.is_scope, kernel.kind) {
            (true, _) if kernel.inlined_from.is_some() => Form::InlinedScope,
            (true, _) => Form::Scope,
            (false, KernelKind::InCore) => Form::InCoreFunction,
            (false, KernelKind::Aic) => Form::AicFunction,
            (false, KernelKind::Aiv) => Form::AivFunction,
        });
        if !kernel.allocations.is_empty() {
            self.form(Form::Declared);
        }
        let is_partly_valid = |ty: &Type| match ty {
            Type::Tile(tile) => tile.view.valid_shape.is_some(),
            _ => false,
        };
        if kernel.vars.iter().any(|var| is_partly_valid(&var.ty)) {
            self.form(Form::PartlyValid);
        }
    }

    fn body(&mut self, body: &[Stmt], around: Option<Around>) {
        for stmt in body {
            self.statement(stmt, around);
        }
    }

    fn statement(&mut self, stmt: &Stmt, around: Option<Around>) {
        match stmt {
            Stmt::Let { value: Value::Call(call), .. } | Stmt::Eval { call, .. } => self.call(call),
            Stmt::Let { value: Value::Scalar(Scalar::Call(call)), .. } => self.call(call),
            Stmt::Let { var, value: Value::Copy(_), .. } if !self.is_scalar(*var) => self.form(Form::Alias),
            Stmt::Let { value: Value::Element { .. }, .. } => self.form(Form::TupleElement),
            Stmt::For(inner) => {
                self.nested(around, Form::LoopInLoop, Form::LoopInBranch);
                self.counted(inner);
                self.body(&inner.body, Some(Around::Loop));
            }
            Stmt::While(inner) => {
                self.nested(around, Form::LoopInLoop, Form::LoopInBranch);
                self.form(Form::While);
                inner.carries.iter().for_each(|carry| self.carried(carry.iter));
                self.body(&inner.body, Some(Around::Loop));
            }
            Stmt::If(inner) => {
                self.nested(around, Form::BranchInLoop, Form::BranchInBranch);
                self.branch(inner);
                self.body(&inner.then, Some(Around::Branch));
                self.body(&inner.otherwise, Some(Around::Branch));
            }
            Stmt::Break(_) => self.form(Form::Break),
            Stmt::Continue(_) => self.form(Form::Continue),
            Stmt::Let { .. } | Stmt::Yield { .. } | Stmt::Return { .. } => {}
        }
    }

    fn nested(&mut self, around: Option<Around>, in_loop: Form, in_branch: Form) {
        match around {
            Some(Around::Loop) => self.form(in_loop),
            Some(Around::Branch) => self.form(in_branch),
            None => {}
        }
    }

    fn counted(&mut self, inner: &For) {
        self.form(match inner.kind {
            LoopKind::Range => Form::Range,
            LoopKind::Parallel => Form::Parallel,
            LoopKind::Unroll => Form::Unroll,
            LoopKind::Pipeline { .. } => Form::Pipeline,
            LoopKind::Spmd => Form::Spmd,
            LoopKind::SplitAiv => Form::SplitAiv,
        });
        if [&inner.start, &inner.stop, &inner.step].iter().any(|bound| bound.as_int().is_none()) {
            self.form(Form::RunTimeBounds);
        }
        inner.carries.iter().for_each(|carry| self.carried(carry.iter));
        if inner.carries.iter().any(|carry| carry.explicit) {
            self.form(Form::ExplicitCarry);
        }
    }

    fn carried(&mut self, var: VarId) {
        self.by_type(var, Form::CarriedTile, Form::CarriedTensor, Form::CarriedScalar);
    }

    fn branch(&mut self, inner: &If) {
        self.form(if inner.has_else { Form::BranchElse } else { Form::Branch });
        for result in &inner.results {
            self.by_type(*result, Form::ChosenTile, Form::ChosenTensor, Form::ChosenScalar);
        }
    }

    fn by_type(&mut self, var: VarId, tile: Form, tensor: Form, scalar: Form) {
        self.form(match self.kernel.var(var).ty {
            Type::Tile(_) => tile,
            Type::Tensor(_) => tensor,
            _ => scalar,
        });
    }

    fn is_scalar(&self, var: VarId) -> bool {
        !matches!(self.kernel.var(var).ty, Type::Tile(_) | Type::Tensor(_))
    }

    fn call(&mut self, call: &Call) {
        let on_tile = call.args.iter().filter_map(Operand::var).any(|var| self.kernel.tile(var).is_some());
        let on_tensor = call.args.iter().filter_map(Operand::var).any(|var| self.kernel.tensor(var).is_some());
        // A load or a store has both, and is written on tiles.
        let is_transfer = call.op == OpId::LOAD || call.op == OpId::STORE;
        let level = if on_tensor && !on_tile && !is_transfer { Level::Tensors } else { Level::Tiles };
        self.found.push(Mark::Op(call.op, level));
        let is_run_time = |operand: &Operand| match operand {
            Operand::List(scalars) => scalars.iter().any(|scalar| !matches!(scalar, Scalar::Int(_))),
            _ => false,
        };
        if call.args.iter().any(is_run_time) {
            self.form(Form::RunTimeOffset);
        }
    }
}

impl Mark {
    /// The mark that [`Mark`] displays as `text`; `None` where there is no such thing any more.
    pub fn parse(text: &str) -> Option<Mark> {
        let pass = |name: &str| Pass::ALL.iter().copied().find(|pass| pass.name() == name);
        if let Some(name) = text.strip_prefix("pass ") {
            return Some(Mark::Passes(pass(name)?, pass(name)?));
        }
        if let Some(both) = text.strip_prefix("passes ") {
            let (one, other) = both.split_once(" + ")?;
            return Some(Mark::Passes(pass(one)?, pass(other)?));
        }
        let levels = [(" on tiles", Level::Tiles), (" on tensors", Level::Tensors)];
        let op = levels.iter().find_map(|(suffix, level)| Some((text.strip_suffix(suffix)?, *level)));
        match op {
            Some((name, level)) => Some(Mark::Op(OpId::from_name(name)?, level)),
            None => Form::ALL.iter().copied().find(|form| form.name() == text).map(Mark::Form),
        }
    }
}

/// Says which passes change a kernel.
#[derive(Clone)]
pub struct Watch {
    seen: u64,
    pub(crate) fired: Vec<Pass>,
}

impl Watch {
    pub fn of(kernel: &Kernel) -> Watch {
        Watch { seen: fingerprint(kernel), fired: Vec::new() }
    }

    /// Takes note of a pass that ran, if it left another kernel than there was before.
    pub(crate) fn ran(&mut self, pass: Pass, kernel: &Kernel) {
        let now = fingerprint(kernel);
        if now != self.seen {
            self.fired.push(pass);
            self.seen = now;
        }
    }
}

fn fingerprint(kernel: &Kernel) -> u64 {
    let mut hasher = FxHasher::default();
    kernel.body.hash(&mut hasher);
    kernel.vars.iter().for_each(|var| var.ty.hash(&mut hasher));
    hasher.finish()
}
