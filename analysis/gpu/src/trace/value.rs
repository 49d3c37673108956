//! The values of names while a kernel is followed: those that Python computes before the kernel is compiled, and those that the kernel computes.

use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tilefit_python::eval::{DEEPEST_PARTS, Parts, Weighed};
use tilefit_python::finding::Reason;
use tilefit_python::work;
use tilefit_syntax::BlockKey;
use tilefit_syntax::ast::{Ast, StmtId};

use super::super::language::Dtype;
use super::super::layouts::Layout;
use super::super::program::{Type, ValueId};
use super::super::shared_layout::{SharedLayout, TensorMemoryLayout};
use super::Home;

#[derive(Debug, Clone)]
pub enum Value {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Rc<str>),
    Dtype(Dtype),
    Tuple(Parts<Value>),
    List(Parts<Value>),
    Dict(Parts<(Value, Value)>),
    /// A layout of registers; `None` for `AutoLayout()`.
    Registers(Registers),
    SharedLayout(Rc<SharedLayout>),
    TensorLayout(Rc<TensorMemoryLayout>),
    Scalar(Scalar),
    Tensor(Tensor),
    /// A view of shared memory, or all of a buffer.
    Shared(Shared),
    TensorMemory(TensorMemory),
    Descriptor(Descriptor),
    BlockPointer(Rc<BlockPointer>),
    Opaque(Opaque),
    Function(Rc<Function>),
    Class(Rc<Class>),
    /// An object of an aggregate.
    Record(Rc<Record>),
    /// `object.method`
    Method(Rc<(Value, Rc<str>)>),
    /// A name of the language by its path in it: `allocate_shared_memory`, `mbarrier.init`.
    Language(Rc<str>),
    /// A function of Python's own, or what it makes of a sequence.
    Python(&'static str),
    /// `value.type`
    TypeOf(Rc<Value>),
    /// A module of the workspace.
    Module(Rc<str>),
    Unknown(Reason),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scalar {
    pub id: ValueId,
    pub dtype: Dtype,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    pub id: ValueId,
    pub dtype: Dtype,
    pub shape: Rc<Vec<u64>>,
    pub layout: Registers,
}

/// Where the elements of a tensor are.
#[derive(Debug, Clone, PartialEq)]
pub enum Registers {
    Known(Arc<Layout>),
    /// One that follows from how the tensor is used, by its number.
    Auto(u32),
    /// One that the compiler makes as it is needed: nothing is anchored to it.
    Flexible,
    /// That of a load from global memory, by what decides it.
    Loaded(u64),
    /// Another one that the compiler chooses, by what decides it.
    Chosen(u64),
    /// One that the compiler chooses, or that is not modelled.
    Unknown(Reason),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Shared {
    pub id: ValueId,
    pub dtype: Dtype,
    pub shape: Rc<Vec<u64>>,
    /// `None` where that is not known.
    pub layout: Option<Rc<SharedLayout>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TensorMemory {
    pub id: ValueId,
    pub dtype: Dtype,
    pub shape: Rc<Vec<u64>>,
    pub layout: Option<Rc<TensorMemoryLayout>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Descriptor {
    pub id: ValueId,
    pub dtype: Dtype,
    pub block: Rc<Vec<u64>>,
    pub layout: Option<Rc<SharedLayout>>,
    /// False where nothing gives the layout, which is then the usual one.
    pub is_layout_told: bool,
}

/// What `tl.make_block_ptr` makes. A block of a tensor in global memory, by where it starts.
#[derive(Debug, Clone)]
pub struct BlockPointer {
    pub base: Scalar,
    pub shape: Vec<Value>,
    pub strides: Vec<Value>,
    /// All that loops and branches carry of it.
    pub offsets: Vec<Value>,
    pub block: Rc<[u64]>,
}

/// Something of TLX that has no place in the program: a reuse group, or memory whose size is not known, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Opaque {
    pub id: ValueId,
    pub reason: Option<Reason>,
}

/// A function of the author's.
#[derive(Debug)]
pub struct Function {
    pub name: Rc<str>,
    pub ast: Arc<Ast>,
    /// Its block, where that is another than the one that is being followed.
    pub key: Option<BlockKey>,
    /// The statement, where it stands inside of a block.
    pub inner: Option<StmtId>,
    /// What it sees of the function that it stands in.
    pub names: Option<Rc<FxHashMap<Rc<str>, Value>>>,
    pub home: Home,
}

#[derive(Debug)]
pub struct Class {
    pub name: Rc<str>,
    pub header: Arc<Ast>,
    pub methods: Vec<(Arc<Ast>, Option<BlockKey>)>,
    pub home: Home,
}

#[derive(Debug, Clone)]
pub struct Record {
    pub class: Rc<Class>,
    pub fields: Parts<(Rc<str>, Value)>,
}

impl BlockPointer {
    /// Whether two differ in nothing but where their blocks start.
    pub fn is_into_same(&self, other: &BlockPointer) -> bool {
        let is_same = |(one, two): (&Value, &Value)| match (one, two) {
            (Value::Scalar(one), Value::Scalar(two)) => one == two,
            (one, two) => one.int().is_some() && one.int() == two.int(),
        };
        let parts = self.shape.iter().chain(&self.strides).zip(other.shape.iter().chain(&other.strides));
        self.base == other.base && self.block == other.block && parts.into_iter().all(is_same)
    }
}

pub fn unknown(reason: impl Into<String>) -> Value {
    Value::Unknown(Reason::new(reason))
}

impl Value {
    pub fn tuple(values: impl IntoIterator<Item = Value>) -> Value {
        of_parts(values, Value::Tuple)
    }

    pub fn list(values: impl IntoIterator<Item = Value>) -> Value {
        of_parts(values, Value::List)
    }

    pub fn dict(pairs: impl IntoIterator<Item = (Value, Value)>) -> Value {
        of_parts(pairs, Value::Dict)
    }

    pub fn record(class: Rc<Class>, fields: impl IntoIterator<Item = (Rc<str>, Value)>) -> Value {
        of_parts(fields, |fields| Value::Record(Rc::new(Record { class, fields })))
    }

    /// `value.type`
    pub fn type_of(value: &Value) -> Value {
        if value.depth() < DEEPEST_PARTS { Value::TypeOf(Rc::new(value.clone())) } else { too_much() }
    }

    /// `value.name`
    pub fn method(value: &Value, name: &str) -> Value {
        if value.depth() < DEEPEST_PARTS { Value::Method(Rc::new((value.clone(), name.into()))) } else { too_much() }
    }

    pub fn ints(values: &[u64]) -> Value {
        Value::list(values.iter().map(|&value| Value::Int(value as i64)))
    }

    pub fn str(text: &str) -> Value {
        Value::Str(text.into())
    }

    pub fn elements(&self) -> Option<&[Value]> {
        match self {
            Value::Tuple(values) | Value::List(values) => Some(values),
            _ => None,
        }
    }

    /// An integer that is known while the kernel is compiled.
    pub fn int(&self) -> Option<i64> {
        match self {
            Value::Int(value) => Some(*value),
            Value::Bool(value) => Some(i64::from(*value)),
            _ => None,
        }
    }

    /// Integers that none are negative.
    pub fn extents(&self) -> Option<Vec<u64>> {
        self.elements()?.iter().map(|value| u64::try_from(value.int()?).ok()).collect()
    }

    /// Python's truth value, where it is known.
    pub fn truth(&self) -> Option<bool> {
        match self {
            Value::None => Some(false),
            Value::Bool(value) => Some(*value),
            Value::Int(value) => Some(*value != 0),
            Value::Float(value) => Some(*value != 0.0),
            Value::Str(value) => Some(!value.is_empty()),
            Value::Tuple(values) | Value::List(values) => Some(!values.is_empty()),
            Value::Dict(pairs) => Some(!pairs.is_empty()),
            Value::Scalar(_) | Value::Tensor(_) | Value::Unknown(_) => None,
            _ => Some(true),
        }
    }

    /// Whether two values that are known while the kernel is compiled are equal.
    pub fn equals(&self, other: &Value) -> Option<bool> {
        Some(match (self, other) {
            (Value::Unknown(_) | Value::Scalar(_) | Value::Tensor(_), _) => return None,
            (_, Value::Unknown(_) | Value::Scalar(_) | Value::Tensor(_)) => return None,
            (Value::Float(one), other) => {
                *one == other.int().map_or(f64::NAN, |int| int as f64)
                    || matches!(other, Value::Float(two) if one == two)
            }
            (one, Value::Float(two)) => one.int().is_some_and(|one| one as f64 == *two),
            (Value::Str(one), Value::Str(two)) => one == two,
            (Value::None, Value::None) => true,
            (Value::Dtype(one), Value::Dtype(two)) if *one == Dtype::ANY || *two == Dtype::ANY => return None,
            (Value::Dtype(one), Value::Dtype(two)) => one == two,
            (Value::Registers(one), Value::Registers(two)) => one == two,
            (Value::SharedLayout(one), Value::SharedLayout(two)) => one == two,
            (Value::TensorLayout(one), Value::TensorLayout(two)) => one == two,
            (Value::Language(one), Value::Language(two)) => one == two,
            (Value::Class(one), Value::Class(two)) => one.name == two.name,
            // A shape is a tuple in some versions and a list in others.
            (Value::Tuple(one) | Value::List(one), Value::Tuple(two) | Value::List(two)) => {
                if one.len() != two.len() {
                    return Some(false);
                }
                let mut all = true;
                for (one, two) in one.iter().zip(two.iter()) {
                    all &= one.equals(two)?;
                }
                all
            }
            (one, two) => match (one.int(), two.int()) {
                (Some(one), Some(two)) => one == two,
                _ => false,
            },
        })
    }

    /// Steps of going through all of it.
    fn spend(&self) {
        work::spend(self.weight() as u64 / PARTS_A_STEP);
    }

    /// Whether [`equals`](Value::equals) knows all that Python compares of it.
    pub fn is_plain(&self) -> bool {
        match self {
            Value::Tuple(values) | Value::List(values) => values.iter().all(Value::is_plain),
            Value::Registers(Registers::Known(_)) => true,
            Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Str(_) | Value::Dtype(_) => true,
            Value::SharedLayout(_) | Value::TensorLayout(_) | Value::Language(_) | Value::Class(_) => true,
            // Of these it is known that they are not `None`.
            Value::Scalar(_) | Value::Tensor(_) | Value::Shared(_) | Value::TensorMemory(_) => true,
            Value::Descriptor(_) | Value::BlockPointer(_) | Value::Function(_) => true,
            _ => false,
        }
    }

    /// What of it is computed by the kernel, with the type under which a task captures it.
    pub fn leaves(&self, found: &mut Vec<(ValueId, Type)>) {
        match self {
            Value::Scalar(scalar) => found.push((scalar.id, scalar.dtype.scalar_type())),
            Value::Tensor(tensor) => found.push((tensor.id, Type::Tensor)),
            Value::Shared(shared) => found.push((shared.id, Type::Shared { rank: shared.shape.len() as u32 })),
            Value::TensorMemory(memory) => found.push((memory.id, Type::TensorMemory)),
            Value::Descriptor(descriptor) => found.push((descriptor.id, Type::Descriptor)),
            Value::Tuple(values) | Value::List(values) => {
                self.spend();
                values.iter().for_each(|value| value.leaves(found));
            }
            Value::Dict(pairs) => {
                self.spend();
                pairs.iter().for_each(|(_, value)| value.leaves(found));
            }
            Value::Record(record) => record.fields.iter().for_each(|(_, value)| value.leaves(found)),
            Value::BlockPointer(pointer) => pointer.offsets.iter().for_each(|offset| offset.leaves(found)),
            Value::Method(method) => method.0.leaves(found),
            Value::TypeOf(_) => {}
            _ => {}
        }
    }

    /// What of it is memory, or speaks of memory.
    pub fn handles(&self) -> Vec<ValueId> {
        fn visit(value: &Value, found: &mut Vec<ValueId>) {
            match value {
                Value::Shared(shared) => found.push(shared.id),
                Value::TensorMemory(memory) => found.push(memory.id),
                Value::Opaque(opaque) => found.push(opaque.id),
                Value::Tuple(values) | Value::List(values) => values.iter().for_each(|value| visit(value, found)),
                Value::Dict(pairs) => pairs.iter().for_each(|(_, value)| visit(value, found)),
                Value::Record(record) => record.fields.iter().for_each(|(_, value)| visit(value, found)),
                Value::Method(method) => visit(&method.0, found),
                _ => {}
            }
        }
        let mut found = Vec::new();
        if self.weight() <= MOST_HANDLES {
            self.spend();
            visit(self, &mut found);
        }
        found
    }

    /// The same value with other results of the kernel in it, in the order of [`leaves`](Value::leaves).
    pub fn with_leaves(&self, ids: &mut dyn Iterator<Item = ValueId>) -> Value {
        let mut next = |id: ValueId| ids.next().unwrap_or(id);
        match self {
            Value::Scalar(scalar) => Value::Scalar(Scalar { id: next(scalar.id), ..*scalar }),
            Value::Tensor(tensor) => Value::Tensor(Tensor { id: next(tensor.id), ..tensor.clone() }),
            Value::Shared(shared) => Value::Shared(Shared { id: next(shared.id), ..shared.clone() }),
            Value::TensorMemory(memory) => Value::TensorMemory(TensorMemory { id: next(memory.id), ..memory.clone() }),
            Value::Descriptor(one) => Value::Descriptor(Descriptor { id: next(one.id), ..one.clone() }),
            Value::Tuple(values) => Value::tuple(values.iter().map(|value| value.with_leaves(ids)).collect::<Vec<_>>()),
            Value::List(values) => Value::list(values.iter().map(|value| value.with_leaves(ids)).collect::<Vec<_>>()),
            Value::Dict(pairs) => {
                let pairs = pairs.iter().map(|(key, value)| (key.clone(), value.with_leaves(ids)));
                Value::dict(pairs.collect::<Vec<_>>())
            }
            Value::Record(record) => {
                let fields = record.fields.iter().map(|(name, value)| (name.clone(), value.with_leaves(ids)));
                Value::record(record.class.clone(), fields.collect::<Vec<_>>())
            }
            Value::BlockPointer(pointer) => {
                let offsets = pointer.offsets.iter().map(|offset| offset.with_leaves(ids)).collect();
                Value::BlockPointer(Rc::new(BlockPointer { offsets, ..(**pointer).clone() }))
            }
            Value::Method(method) => Value::Method(Rc::new((method.0.with_leaves(ids), method.1.clone()))),
            _ => self.clone(),
        }
    }
}

/// Larger values are not searched for memory.
const MOST_HANDLES: usize = 4096;
/// Parts that are gone through, or made, in the time of a step.
const PARTS_A_STEP: u64 = 4;

/// What is made of other values, unless that is more than anything can go through.
fn of_parts<T: Weighed>(parts: impl IntoIterator<Item = T>, whole: impl FnOnce(Parts<T>) -> Value) -> Value {
    let parts: Parts<T> = parts.into_iter().collect();
    work::spend(parts.len() as u64 / PARTS_A_STEP);
    if parts.is_bearable() { whole(parts) } else { too_much() }
}

fn too_much() -> Value {
    unknown("holds more values than tilefit looks at")
}

impl Weighed for Value {
    fn weight(&self) -> usize {
        match self {
            Value::Tuple(parts) | Value::List(parts) => parts.weight(),
            Value::Dict(pairs) => pairs.weight(),
            Value::Record(record) => record.fields.weight(),
            Value::Method(method) => 1 + method.0.weight(),
            Value::BlockPointer(pointer) => 1 + 3 * pointer.block.len(),
            Value::TypeOf(of) => 1 + of.weight(),
            Value::Str(text) => 1 + text.len(),
            _ => 1,
        }
    }

    fn depth(&self) -> u32 {
        match self {
            Value::Tuple(parts) | Value::List(parts) => parts.depth(),
            Value::Dict(pairs) => pairs.depth(),
            Value::Record(record) => record.fields.depth(),
            Value::Method(method) => 1 + method.0.depth(),
            Value::TypeOf(of) => 1 + of.depth(),
            _ => 0,
        }
    }
}

impl Dtype {
    /// As a task captures a number of it.
    pub fn scalar_type(self) -> Type {
        if self.is_pointer() { Type::Pointer } else { Type::Scalar { bits: self.bits } }
    }

    pub fn is_pointer(self) -> bool {
        self.name.starts_with("pointer_type")
    }

    /// What a pointer points to.
    pub fn element(self) -> Dtype {
        if self == Dtype::POINTER_TO_ANY {
            return Dtype::ANY;
        }
        let inner = self.name.strip_prefix("pointer_type(tl.").and_then(|name| name.strip_suffix(')'));
        inner.and_then(Dtype::from_name).unwrap_or(self)
    }

    pub fn is_floating(self) -> bool {
        self.name.starts_with("float") || self.name.starts_with("bfloat")
    }

    pub fn named(name: &str) -> Dtype {
        Dtype::from_name(name).expect("a row of the table of element types")
    }
}
