//! Reads a `@triton.jit` function under one scenario: follows its constants and branches, and records what it allocates.
//!
//! Nothing is run. A branch whose condition is not known is followed on both sides, and what it allocates is not certain.

mod allocations;
mod calls;
mod expressions;
mod groups;
mod params;
mod relevance;
mod statements;
mod views;

use std::collections::BTreeMap;

use tilefit_python::eval::Imports;
use tilefit_python::work;
use tilefit_syntax::ast::{Arg, Ast, Expr, ExprId};

use tilefit_python::diagnostics::Code;
use tilefit_python::eval::{self, Constant, Parts, Scope, Weighed};
use tilefit_python::finding::Finding;
use tilefit_python::finding::{Note, Origin, Reason};

use super::kernel::{BufferId, GroupId, Kernel, SpecId};
use super::language;
use crate::scenario::{self, Scenario};
use views::Form;

/// What it costs to follow a statement, in steps of work.
const STEPS_A_STATEMENT: u64 = 8;
/// Helpers that call helpers deeper than this are not followed.
const DEEPEST_CALL: u32 = 8;
/// Buffers that one name may stand for, by conditions that are not known.
const MOST_ALTERNATIVES: usize = 8;
/// Elements of a list comprehension that allocates.
const MOST_ELEMENTS: usize = 256;

/// The value of a name.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Constant(Constant),
    /// An allocation, or a view of it.
    Buffer {
        id: BufferId,
        view: Option<Form>,
    },
    Spec(SpecId),
    Group(GroupId),
    Sequence(Parts<Value>),
    /// One of these, which hold memory, by a condition that is not known.
    Either {
        values: Vec<Value>,
        reason: Reason,
    },
}

/// Values within one, each counted as often as it is in it.
const MOST_PARTS: usize = 4096;
/// Parts that are gone through in the time of a step.
const PARTS_A_STEP: u64 = 4;

/// Why nothing is known of buffers in such a value.
const TOO_MANY_PARTS: &str = "holds more values than tilefit looks at";

impl Weighed for Value {
    fn weight(&self) -> usize {
        match self {
            Value::Constant(constant) => constant.weight(),
            Value::Sequence(values) => values.weight(),
            Value::Either { values, .. } => values.iter().fold(1, |sum, value| sum.saturating_add(value.weight())),
            Value::Buffer { .. } | Value::Spec(_) | Value::Group(_) => 1,
        }
    }

    fn depth(&self) -> u32 {
        match self {
            Value::Constant(constant) => constant.depth(),
            Value::Sequence(values) => values.depth(),
            Value::Either { values, .. } => values.iter().map(|value| value.depth() + 1).max().unwrap_or(0),
            Value::Buffer { .. } | Value::Spec(_) | Value::Group(_) => 0,
        }
    }
}

impl Value {
    fn unknown(reason: impl Into<Reason>) -> Value {
        Value::Constant(Constant::Unknown(reason.into()))
    }

    /// What is made of other values, unless that is more than anything can go through.
    fn sequence(values: impl IntoIterator<Item = Value>) -> Value {
        let values: Parts<Value> = values.into_iter().collect();
        work::spend(values.len() as u64);
        if values.is_bearable() && values.weight() <= MOST_PARTS {
            Value::Sequence(values)
        } else {
            Value::unknown(TOO_MANY_PARTS)
        }
    }

    fn holds_memory(&self) -> bool {
        match self {
            Value::Constant(_) => false,
            Value::Sequence(values) => {
                work::spend(values.weight() as u64 / PARTS_A_STEP);
                values.iter().any(Value::holds_memory)
            }
            Value::Buffer { .. } | Value::Spec(_) | Value::Group(_) | Value::Either { .. } => true,
        }
    }

    /// This or another, by a condition that is not known.
    fn or(self, other: Value, reason: &Reason) -> Value {
        if self == other {
            return self;
        }
        if !self.holds_memory() || !other.holds_memory() {
            return Value::Constant(Constant::Unknown(reason.clone()));
        }
        let mut values = Vec::new();
        for value in [self, other] {
            let alternatives = match value {
                Value::Either { values, .. } => values,
                value => vec![value],
            };
            for alternative in alternatives {
                if !values.contains(&alternative) {
                    values.push(alternative);
                }
            }
        }
        if values.len() > MOST_ALTERNATIVES {
            return Value::Constant(Constant::Unknown(reason.clone()));
        }
        Value::Either { values, reason: reason.clone() }
    }

    /// As Python names it in an error.
    fn type_name(&self) -> &'static str {
        match self {
            Value::Buffer { .. } | Value::Either { .. } => "buffered_tensor",
            Value::Spec(_) => "storage_alias_spec",
            Value::Group(_) => "reuse_group",
            Value::Sequence(_) => "tuple",
            Value::Constant(constant) => match constant {
                Constant::Int(_) => "int",
                Constant::Float(_) => "float",
                Constant::Bool(_) => "bool",
                Constant::Str(_) => "str",
                Constant::None => "NoneType",
                Constant::List(_) => "list",
                Constant::Tuple(_) => "tuple",
                Constant::Dict(_) => "dict",
                Constant::Member(name) if name.starts_with("tl.") => "dtype",
                Constant::Member(name) if name.starts_with("tlx.storage_kind") => "storage_kind",
                Constant::Member(name) if name.starts_with("tlx.reuse_group_type") => "reuse_group_type",
                _ => "object",
            },
        }
    }

    /// The reason, if it is not known what this is.
    fn reason(&self) -> Option<&Reason> {
        match self {
            Value::Constant(Constant::Unknown(reason)) | Value::Either { reason, .. } => Some(reason),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
struct Bound {
    value: Value,
    /// Assigned without `tl.constexpr`: if it is a number, known or not, it is a tensor from then on.
    plain: bool,
}

type Names = BTreeMap<String, Bound>;

/// A function that is being followed.
struct Frame<'a> {
    ast: &'a Ast,
    /// What the file of the function sees.
    scope: &'a dyn Scope,
    imports: &'a Imports,
    names: Names,
    /// The call in the kernel's own text through which a helper is followed.
    call_site: Option<Origin>,
    returned: Option<Value>,
    /// A `return` was reached.
    done: bool,
}

/// What the name of an allocation is, from the assignment around it.
struct Naming {
    name: String,
    at: Origin,
    count: usize,
}

struct Front {
    kernel: Kernel,
    /// Under conditions that are not known.
    uncertain: Option<Reason>,
    naming: Option<Naming>,
    depth: u32,
}

/// The kernel of a function block, if it allocates at all. `launch` holds what launches of it agree on.
pub fn read(
    ast: &Ast,
    scope: &dyn Scope,
    imports: &Imports,
    scenario: &Scenario,
    launch: &BTreeMap<String, (Constant, String)>,
) -> Option<Kernel> {
    let function = scenario::function(ast)?;
    let params = params::params(ast, function, scope, imports, scenario, launch);
    let kernel = Kernel { params, arch: scenario.arch, notes: scope.notes(None), ..Kernel::empty(ast)? };
    let names = kernel.params.iter().map(|param| {
        let value = Value::Constant(param.value.clone());
        (param.name.clone(), Bound { value, plain: false })
    });
    let mut frame = Frame { ast, scope, imports, names: names.collect(), call_site: None, returned: None, done: false };
    let mut front = Front { kernel, uncertain: None, naming: None, depth: 0 };
    front.body(&mut frame, &function.body);
    let kernel = front.kernel;
    (!kernel.buffers.is_empty() || !kernel.specs.is_empty() || !kernel.findings.is_empty()).then_some(kernel)
}

pub use relevance::relevant_params;

/// True for a function whose text names anything of TLX.
pub fn mentions_tlx(ast: &Ast, imports: &Imports) -> bool {
    names(ast, imports).any(|name| name.starts_with("tlx"))
}

/// Functions of TLX that take memory.
const ALLOCATING: [&str; 5] = [
    "tlx.storage_alias_spec",
    "tlx.local_alloc",
    "tlx.alloc_barriers",
    "tlx.alloc_warp_barrier",
    "tlx.clc_create_context",
];

/// True for a function whose text names one that takes memory.
pub fn mentions_allocation(ast: &Ast, imports: &Imports) -> bool {
    names(ast, imports).any(|name| ALLOCATING.contains(&name.as_str()))
}

/// The names of a function's parameters.
fn params_of(ast: &Ast) -> Vec<String> {
    let params = scenario::function(ast).map_or(&[][..], |function| &function.params);
    params.iter().filter_map(|param| ast.name(param.name)).map(str::to_owned).collect()
}

/// The names of Triton in a block.
fn names<'a>(ast: &'a Ast, imports: &'a Imports) -> impl Iterator<Item = String> + 'a {
    let names = ast.exprs().filter(|(_, expr)| matches!(expr, Expr::Attribute { .. } | Expr::Name(_)));
    names.filter_map(|(id, _)| language::canonical(imports, &ast.dotted(id)?))
}

/// Constants of a frame, over those of the module.
struct FrameScope<'a> {
    names: &'a Names,
    outer: &'a dyn Scope,
    imports: &'a Imports,
}

impl FrameScope<'_> {
    /// A member of a module of Triton that is no constant.
    fn of_triton(&self, path: &[&str]) -> Option<Constant> {
        let canonical = language::canonical(self.imports, path)?;
        let is_member = canonical.split('.').count() == 2;
        is_member.then(|| Constant::Unknown(Reason::new(format!("`{canonical}` is not a constant that tilefit knows"))))
    }
}

impl Scope for FrameScope<'_> {
    fn outer(&self) -> Option<&dyn Scope> {
        Some(self.outer)
    }

    fn constant(&self, name: &str) -> Option<Constant> {
        match self.names.get(name) {
            Some(Bound { value: Value::Constant(constant), .. }) => Some(constant.clone()),
            Some(_) => Some(Constant::Unknown(Reason::new(format!("`{name}` is a buffer, not a constant")))),
            None => self.outer.constant(name),
        }
    }

    fn language_name(&self, path: &[&str]) -> Option<Constant> {
        // `desc.dtype`, `ptr.dtype.element_ty`, `BLOCK.value`: a parameter has its element type or its number.
        if let [name, attributes @ ..] = path
            && let Some(Bound { value: Value::Constant(constant), .. }) = self.names.get(*name)
            && attributes.iter().all(|attribute| ["dtype", "element_ty", "type", "scalar", "value"].contains(attribute))
        {
            return Some(constant.clone());
        }
        self.outer.language_name(path).or_else(|| self.of_triton(path))
    }
}

impl Front {
    fn evaluate(&self, frame: &Frame<'_>, expr: ExprId) -> Constant {
        let scope = FrameScope { names: &frame.names, outer: frame.scope, imports: frame.imports };
        eval::evaluate(frame.ast, expr, &scope)
    }

    fn canonical(&self, frame: &Frame<'_>, expr: ExprId) -> Option<String> {
        language::canonical(frame.imports, &frame.ast.dotted(expr)?)
    }

    /// Where something in this frame is shown: in a helper, at the call of it.
    fn at(&self, frame: &Frame<'_>, expr: ExprId) -> Origin {
        frame.call_site.unwrap_or(Origin::Expr(expr))
    }

    /// Says what the front end of the compiler refuses. Helpers speak for themselves.
    fn refuse(&mut self, frame: &Frame<'_>, at: ExprId, code: Code, message: String) {
        if frame.call_site.is_none() && self.uncertain.is_none() {
            self.kernel.findings.push(Finding::new(code, Origin::Expr(at), message));
        }
    }

    fn note(&mut self, at: Origin, reason: Reason) {
        if !self.kernel.notes.iter().any(|note| note.reason == reason) {
            self.kernel.notes.push(Note { at, reason });
        }
    }
}

/// The arguments of a call by the names of its parameters.
fn arguments<const N: usize>(args: &[Arg], names: [&str; N]) -> [Option<ExprId>; N] {
    let mut bound = [None; N];
    for (i, arg) in args.iter().enumerate() {
        let position = match &arg.keyword {
            Some(keyword) => names.iter().position(|name| name == keyword),
            None => (i < N).then_some(i),
        };
        if let Some(position) = position {
            bound[position] = Some(arg.value);
        }
    }
    bound
}
