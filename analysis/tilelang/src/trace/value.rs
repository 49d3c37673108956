//! What a name is while a kernel is followed.

use std::rc::Rc;
use std::sync::Arc;

use tilefit_python::finding::Reason;
use tilefit_syntax::ast::{Ast, ExprId, Lambda, StmtId};

use super::Home;
use super::symbolic::Sum;
use crate::program::{BufferId, Dtype, Extent, Op, Scope, WarpPolicy, WrittenPipeline};

/// Lists in lists deeper than these are not followed.
pub(super) const DEEPEST: u32 = 40;

#[derive(Debug, Clone)]
pub(super) enum Value {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Rc<str>),
    Dtype(Dtype),
    List(Sequence),
    Tuple(Sequence),
    Dict(Pairs),
    Range(i64, i64, i64),
    /// A statement that is one where it stands as one.
    Operation(Rc<Op>),
    /// A number that the kernel computes.
    Expr(Expr),
    Buffer(View),
    /// Of a buffer, by slices.
    Region(Rc<Part>),
    /// Of a buffer, by indices.
    Element(Rc<Part>),
    Function(Rc<Function>),
    Lambda(Rc<Anonymous>),
    Partial(Rc<(Value, Args)>),
    /// A name that a library has, by its whole path: `tilelang.language.copy`.
    Library(Rc<str>),
    /// A module of the workspace, by the name that it has at a place.
    Module(Home, Rc<str>),
    /// `object.method`
    Method(Rc<(Value, Rc<str>)>),
    /// A primitive function that was followed: its number.
    PrimFunc(usize),
    /// What `for` goes through in a kernel.
    Loop(Rc<LoopSpec>),
    /// `T.Kernel(…)`
    Launch(Rc<LaunchSpec>),
    /// `with T.ws(…)`: a condition on threads, with how many it lets in.
    Guard(Option<u64>),
    /// `T.Tensor(…)`: what a parameter is, or what `T.empty` makes.
    Tensor(Rc<TensorSpec>),
    Policy(WarpPolicy),
    /// An object of a library that matters to nobody here, with what it was made of.
    Object(Rc<str>, Rc<[Touch]>),
    Unknown(Unknown),
}

/// Each value that is not known differs from each other one.
#[derive(Debug, Clone)]
pub(super) struct Unknown {
    pub reason: Reason,
    pub id: u64,
}

#[derive(Debug, Clone)]
pub(super) struct Sequence {
    pub items: Rc<[Value]>,
    depth: u32,
}

#[derive(Debug, Clone)]
pub(super) struct Pairs {
    pub items: Rc<[(Value, Value)]>,
    depth: u32,
}

impl Value {
    pub(super) fn str(text: &str) -> Value {
        Value::Str(text.into())
    }

    pub(super) fn list(items: Vec<Value>) -> Value {
        Sequence::new(items).map_or_else(too_deep, Value::List)
    }

    pub(super) fn tuple(items: Vec<Value>) -> Value {
        Sequence::new(items).map_or_else(too_deep, Value::Tuple)
    }

    pub(super) fn dict(items: Vec<(Value, Value)>) -> Value {
        let depth = items.iter().map(|(_, value)| value.depth()).max().map_or(0, |depth| depth + 1);
        match depth > DEEPEST {
            true => too_deep(),
            false => Value::Dict(Pairs { items: items.into(), depth }),
        }
    }

    fn depth(&self) -> u32 {
        match self {
            Value::List(sequence) | Value::Tuple(sequence) => sequence.depth,
            Value::Dict(pairs) => pairs.depth,
            Value::Partial(partial) => 1 + partial.1.depth().max(partial.0.depth()),
            Value::Method(method) => 1 + method.0.depth(),
            Value::Loop(spec) => spec.depth,
            Value::Function(function) => function.defaults.iter().flatten().map(Value::depth).max().unwrap_or(0) + 1,
            _ => 0,
        }
    }

    /// Python's truth value, where the host knows it.
    pub(super) fn truth(&self) -> Option<bool> {
        Some(match self {
            Value::None => false,
            Value::Bool(value) => *value,
            Value::Int(value) => *value != 0,
            Value::Float(value) => *value != 0.0,
            Value::Str(text) => !text.is_empty(),
            Value::List(sequence) | Value::Tuple(sequence) => !sequence.items.is_empty(),
            Value::Dict(pairs) => !pairs.items.is_empty(),
            Value::Range(start, stop, step) => length_of_range(*start, *stop, *step) != 0,
            Value::Expr(_) | Value::Element(_) | Value::Region(_) | Value::Unknown(_) => return None,
            Value::Buffer(view) if view.scope == Scope::Local => return None,
            _ => true,
        })
    }

    pub(super) fn int(&self) -> Option<i64> {
        match self {
            Value::Int(value) => Some(*value),
            Value::Bool(value) => Some(i64::from(*value)),
            _ => None,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Value::Str(text) => Some(text),
            Value::Dtype(dtype) => Some(&dtype.name),
            _ => None,
        }
    }

    /// Elements of a list or a tuple.
    pub(super) fn items(&self) -> Option<&[Value]> {
        match self {
            Value::List(sequence) | Value::Tuple(sequence) => Some(&sequence.items),
            _ => None,
        }
    }
}

fn too_deep() -> Value {
    unknown("lists in lists, too many to be followed")
}

impl Sequence {
    fn new(items: Vec<Value>) -> Option<Sequence> {
        let depth = items.iter().map(Value::depth).max().map_or(0, |depth| depth + 1);
        (depth <= DEEPEST).then(|| Sequence { items: items.into(), depth })
    }
}

pub(super) fn unknown(reason: impl Into<String>) -> Value {
    not_known(Reason::new(reason))
}

pub(super) fn not_known(reason: Reason) -> Value {
    Value::Unknown(Unknown { reason, id: next_id() })
}

thread_local! {
    static NEXT: std::cell::Cell<u64> = const { std::cell::Cell::new(1) };
}

/// A number that nothing else has.
pub(super) fn next_id() -> u64 {
    let id = NEXT.get();
    NEXT.set(id.wrapping_add(1));
    id.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// That something reads a buffer or writes it, or may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Touch {
    pub buffer: BufferId,
    pub reads: bool,
    pub writes: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Expr {
    pub sum: Sum,
    pub text: Rc<str>,
    /// How loosely the text holds together.
    pub rank: Rank,
    pub touches: Rc<[Touch]>,
    /// It is what one element of this buffer holds, perhaps cast.
    pub loaded: Option<BufferId>,
    /// The operation of TIR that it is, where it is one that does something.
    pub call: Option<Rc<str>>,
    /// What a name that it is bound to stands for in tile operations.
    pub part: Option<Rc<Part>>,
    pub is_variable: bool,
}

/// Of texts, from those that stand for themselves in any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Plain,
    Product,
    Sum,
    Other,
}

/// A buffer, or another shape of its memory.
#[derive(Debug, Clone)]
pub(super) struct View {
    pub id: BufferId,
    pub scope: Scope,
    pub dtype: Dtype,
    pub shape: Rc<[Size]>,
    pub is_variable: bool,
    /// Another shape of a buffer: a name that it is given is not the buffer's.
    pub is_alias: bool,
}

/// Along one dimension.
#[derive(Debug, Clone)]
pub(super) struct Size {
    pub sum: Sum,
    pub text: Rc<str>,
}

impl PartialEq for Size {
    fn eq(&self, other: &Size) -> bool {
        self.sum == other.sum
    }
}

impl Size {
    pub(super) fn number(value: i64) -> Size {
        Size { sum: Sum::number(value), text: value.to_string().into() }
    }

    pub(super) fn known(&self) -> Option<i64> {
        self.sum.as_number()
    }

    pub(super) fn extent(&self) -> Extent {
        self.sum.extent(&self.text)
    }
}

/// Some of a buffer.
#[derive(Debug)]
pub(super) struct Part {
    pub view: View,
    pub sizes: Vec<Size>,
    /// What its indices touch.
    pub touches: Rc<[Touch]>,
    pub text: Rc<str>,
}

/// A function of Python as it is defined: with what it sees.
#[derive(Debug)]
pub(super) struct Function {
    pub name: Rc<str>,
    pub code: Code,
    pub stmt: StmtId,
    pub frame: Option<FrameId>,
    pub kind: FunctionKind,
    /// Of each parameter.
    pub defaults: Vec<Option<Value>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FunctionKind {
    Python,
    Macro,
    /// Decorated with `tilelang.jit`: what it gives is a kernel.
    Factory,
}

/// Text that is run.
#[derive(Debug, Clone)]
pub(super) struct Code {
    pub ast: Arc<Ast>,
    pub home: Home,
    /// 0: the kernel's own block; else one of [`super::Traced::functions`].
    pub number: u32,
}

#[derive(Debug)]
pub(super) struct Anonymous {
    pub lambda: Option<Arc<Lambda>>,
    /// Of a lambda without parameters, in the code's own text.
    pub body: ExprId,
    pub code: Code,
    pub frame: FrameId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct FrameId(pub u32);

/// Arguments of a call.
#[derive(Debug, Clone, Default)]
pub(super) struct Args {
    pub positional: Vec<(Value, Option<ExprId>)>,
    pub keywords: Vec<(Rc<str>, Value, Option<ExprId>)>,
    /// Some are not known: an unpacked list or dictionary.
    pub open: Option<Reason>,
}

impl Args {
    /// By its place, or by its name.
    pub(super) fn get(&self, index: usize, name: &str) -> Option<&Value> {
        self.keyword(name).or_else(|| self.positional.get(index).map(|(value, _)| value))
    }

    pub(super) fn keyword(&self, name: &str) -> Option<&Value> {
        self.keywords.iter().find(|(keyword, ..)| **keyword == *name).map(|(_, value, _)| value)
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &Value> {
        self.positional.iter().map(|(value, _)| value).chain(self.keywords.iter().map(|(_, value, _)| value))
    }

    fn depth(&self) -> u32 {
        self.values().map(Value::depth).max().unwrap_or(0)
    }
}

#[derive(Debug)]
pub(super) struct LoopSpec {
    pub kind: LoopKind,
    pub extents: Vec<Size>,
    /// Where the first dimension starts, and how far each step goes.
    pub start: Value,
    pub step: Value,
    pub touches: Vec<Touch>,
    /// `T.thread_binding`: its rounds are threads or blocks.
    pub is_binding: bool,
    pub depth: u32,
}

#[derive(Debug)]
pub(super) enum LoopKind {
    Serial,
    Unroll {
        is_explicit: bool,
    },
    /// One statement for all that is in it.
    Parallel,
    Pipelined {
        stages: Size,
        written: Option<WrittenPipeline>,
    },
    /// Waves of tiles: the condition that a tile is inside, and the one that the padded number is.
    Persistent {
        stages: Size,
        waves: Size,
        is_padded: bool,
    },
}

#[derive(Debug)]
pub(super) struct LaunchSpec {
    pub blocks: usize,
    pub threads: Result<Vec<u64>, Reason>,
    pub block_extents: Vec<Value>,
}

#[derive(Debug)]
pub(super) struct TensorSpec {
    pub shape: Vec<Size>,
    pub dtype: Option<Dtype>,
    pub scope: Scope,
    /// `T.empty`
    pub is_output: bool,
}

pub(super) fn length_of_range(start: i64, stop: i64, step: i64) -> u64 {
    let (distance, step) = match step {
        0 => return 0,
        step if step > 0 => (i128::from(stop) - i128::from(start), i128::from(step)),
        step => (i128::from(start) - i128::from(stop), -i128::from(step)),
    };
    u64::try_from((distance.max(0) + step - 1) / step).unwrap_or(u64::MAX)
}
