//! What a kernel of TLX says of its memory, written down while it is followed: specs, buffers, groups, and where buffers are indexed.

use rustc_hash::FxHashMap;
use tilefit_python::diagnostics::Code;
use tilefit_python::eval::Constant;
use tilefit_python::finding::{Example, Finding, Note, Origin, Reason};
use tilefit_syntax::ast::{Arg, Expr, ExprId, FloatBits};

use super::super::super::language::Dtype;
use super::super::super::program::{Type, ValueId};
use super::super::super::tlx::kernel::{BufferId, GroupId, Kernel, Known, Local, SpecId};
use super::super::super::tlx::language::Storage;
use super::super::super::tlx::storage_alias::SpecMemory;
use super::super::calls::Args;
use super::super::value::{Opaque, Value};
use super::super::{Dialect, Frame, Tracer};

/// Buffers that one name may be bound to, by conditions that are not known.
const MOST_ALTERNATIVES: usize = 8;

#[derive(Debug)]
pub(in crate::trace) struct Facts {
    pub(in crate::trace) kernel: Kernel,
    /// The memory of each spec in the program.
    pub(in crate::trace) specs: Vec<SpecMemory>,
    /// What values are in the kernel's words.
    of: FxHashMap<ValueId, Fact>,
    /// Why numbers are not known while the kernel is compiled that a branch chooses.
    why: FxHashMap<ValueId, Reason>,
    /// Branches around that the kernel may not take, as far as is known while it is compiled.
    pub(in crate::trace) branches: u32,
    /// Allocations of the assignment that is followed.
    allocations: usize,
}

impl Facts {
    pub(in crate::trace) fn new(kernel: Kernel) -> Facts {
        Facts {
            kernel,
            specs: Vec::new(),
            of: FxHashMap::default(),
            why: FxHashMap::default(),
            branches: 0,
            allocations: 0,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(in crate::trace) enum Fact {
    Spec(SpecId),
    Group(GroupId),
    /// A buffer or a view of one; of several it is one of them, by a condition that is not known.
    Buffers(Vec<View>),
}

impl Fact {
    /// The extents of a view, where it is one for certain and they are known.
    pub(super) fn extents(&self) -> Option<Vec<u64>> {
        match self {
            Fact::Buffers(views) if views.len() == 1 => views[0].extents(),
            _ => None,
        }
    }
}

/// A buffer, or a view of it.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::trace) struct View {
    pub(super) buffer: BufferId,
    /// `None` for all of it.
    pub(super) form: Option<Form>,
}

impl View {
    /// Extents of the memory descriptor, where they are known and it is no whole buffer.
    pub(super) fn extents(&self) -> Option<Vec<u64>> {
        self.form.as_ref()?.extents.clone().ok()
    }
}

/// What a view looks like.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::trace) struct Form {
    /// Extents of the memory descriptor, with the number of buffers in front where none was chosen.
    pub(super) extents: Known<Vec<u64>>,
    pub(super) dtype: Known<Dtype>,
    /// The first extent counts the buffers of the allocation, each as large as it was allocated.
    pub(super) counts_buffers: bool,
    /// A part of its buffer.
    pub(super) is_slice: bool,
}

impl Form {
    /// Dimensions of one buffer.
    pub(super) fn rank(&self) -> Option<usize> {
        Some(self.extents.as_ref().ok()?.len() - usize::from(self.counts_buffers))
    }

    pub(super) fn bits(&self) -> Option<u64> {
        let (extents, dtype) = (self.extents.as_ref().ok()?, self.dtype.as_ref().ok()?);
        extents.iter().try_fold(u64::from(dtype.bits), |bits, extent| bits.checked_mul(*extent))
    }
}

impl Tracer<'_> {
    /// Whether facts are written down.
    pub(in crate::trace) fn is_tlx(&self) -> bool {
        self.launch.dialect == Dialect::Tlx
    }

    pub(super) fn fact(&self, value: &Value) -> Option<&Fact> {
        let id = match value {
            Value::Shared(shared) => shared.id,
            Value::TensorMemory(memory) => memory.id,
            Value::Opaque(opaque) => opaque.id,
            _ => return None,
        };
        self.facts.of.get(&id)
    }

    /// Writes down what a value is. One that has no place in the program gets one where only its fact is.
    pub(in crate::trace) fn with_fact(&mut self, value: Value, fact: Option<Fact>) -> Value {
        let Some(fact) = fact.filter(|_| self.is_tlx()) else { return value };
        let (id, value) = match value {
            Value::Shared(ref shared) => (shared.id, value),
            Value::TensorMemory(ref memory) => (memory.id, value),
            Value::Unknown(reason) => {
                let id = self.new_value(Type::Tensor);
                (id, Value::Opaque(Opaque { id, reason: Some(reason) }))
            }
            _ => {
                let id = self.new_value(Type::Tensor);
                (id, Value::Opaque(Opaque { id, reason: None }))
            }
        };
        self.facts.of.insert(id, fact);
        value
    }

    /// The only buffer that a value is, or is a view of.
    pub(super) fn buffer_of(&self, value: Option<&Value>) -> Option<BufferId> {
        match self.fact(value?) {
            Some(Fact::Buffers(views)) if views.len() == 1 => Some(views[0].buffer),
            _ => None,
        }
    }

    /// A value that is one of two, as a branch decides.
    pub(in crate::trace) fn is_either(&mut self, value: ValueId, one: ValueId, two: ValueId) {
        let fact = match (self.facts.of.get(&one), self.facts.of.get(&two)) {
            (Some(one), Some(two)) if one == two => one.clone(),
            (Some(Fact::Buffers(one)), Some(Fact::Buffers(two))) => {
                let mut views = one.clone();
                views.extend(two.iter().filter(|view| !one.contains(view)).cloned());
                if views.len() > MOST_ALTERNATIVES {
                    return;
                }
                Fact::Buffers(views)
            }
            _ => return,
        };
        self.facts.of.insert(value, fact);
    }

    /// The same of memory that is not one value of the program. `reason`: why it is not known which of them it is.
    pub(in crate::trace) fn either(&mut self, one: &Value, two: &Value, reason: Reason) -> Value {
        let (&[one], &[two]) = (one.handles().as_slice(), two.handles().as_slice()) else {
            return Value::Unknown(reason);
        };
        let id = self.new_value(Type::Tensor);
        self.is_either(id, one, two);
        match self.facts.of.contains_key(&id) {
            true => Value::Opaque(Opaque { id, reason: Some(reason) }),
            false => Value::Unknown(reason),
        }
    }

    /// Numbers that are known in each branch, and differ, are so by a condition.
    pub(in crate::trace) fn depends_on(&mut self, name: &str, numbers: &[ValueId], condition: &Value) {
        if !self.is_tlx() {
            return;
        }
        let of_argument = match condition {
            Value::Scalar(scalar) => self.of_untyped.get(&scalar.id),
            _ => None,
        };
        let reason = match of_argument {
            Some(argument) => super::super::arguments::has_no_value(argument, Example::Truth),
            None => Reason::new("a condition is known at run time only"),
        };
        let reason = reason.of(&format!("`{name}` depends on a condition"));
        self.facts.why.extend(numbers.iter().map(|&number| (number, reason.clone())));
    }

    /// Why a value is not known while the kernel is compiled.
    pub(super) fn reason_of(&self, value: &Value) -> Option<Reason> {
        match value {
            Value::Unknown(reason) | Value::Opaque(Opaque { reason: Some(reason), .. }) => Some(reason.clone()),
            Value::Scalar(scalar) if self.facts.why.contains_key(&scalar.id) => self.facts.why.get(&scalar.id).cloned(),
            Value::Scalar(_) | Value::Tensor(_) => Some(Reason::new("it is computed by the kernel")),
            _ => None,
        }
    }

    /// A helper names something that is not there.
    pub(in crate::trace) fn misses(&mut self, frame: &Frame, at: ExprId, name: &str) {
        if frame.call.is_none() || !self.is_tlx() || frame.is_host {
            return;
        }
        let helper = super::super::function(&frame.ast).and_then(|function| frame.ast.name(function.name));
        let reason = match helper {
            Some(helper) => Reason::new(format!("`{name}` is not defined here in `{helper}`")),
            None => Reason::new(format!("`{name}` is not defined here")),
        };
        self.note_memory(frame, at, reason);
    }

    /// Something that is not known of what the kernel says of its memory.
    pub(super) fn note_memory(&mut self, frame: &Frame, at: ExprId, reason: Reason) {
        let note = Note { at: self.shown_at(frame, at), reason };
        if !self.facts.kernel.notes.iter().any(|known| known.reason == note.reason) {
            self.facts.kernel.notes.push(note.clone());
        }
        self.note(frame, at, note.reason);
    }

    /// Something reads these buffers.
    pub(in crate::trace) fn is_used(&mut self, value: &Value) {
        if !self.is_tlx() {
            return;
        }
        for id in value.handles() {
            if let Some(Fact::Buffers(views)) = self.facts.of.get(&id) {
                for view in views {
                    self.facts.kernel.buffers[view.buffer.0 as usize].used = true;
                }
            }
        }
    }

    /// Whether a value is memory, or holds some.
    pub(super) fn holds_memory(&self, value: &Value) -> bool {
        value.handles().iter().any(|id| self.facts.of.contains_key(id))
    }

    /// Buffers go where they are not followed.
    pub(in crate::trace) fn hides_memory(&mut self, values: &[Value]) {
        if self.is_tlx() && values.iter().any(|value| self.holds_memory(value)) {
            self.facts.kernel.hides_scales = true;
        }
    }

    /// An assignment starts.
    pub(in crate::trace) fn names_allocations(&mut self) -> usize {
        std::mem::take(&mut self.facts.allocations)
    }

    /// An assignment ends, and the one around it goes on.
    pub(in crate::trace) fn go_on_naming(&mut self, allocations: usize) {
        self.facts.allocations = allocations;
    }

    /// The name of an allocation, and where it stands.
    pub(super) fn name_of_allocation(&mut self, frame: &Frame, expr: ExprId) -> (String, Origin) {
        match self.named.clone() {
            Some((name, at)) => {
                self.facts.allocations += 1;
                let name = match self.facts.allocations {
                    1 => name.to_string(),
                    count => format!("{name}[{}]", count - 1),
                };
                (name, at.unwrap_or_else(|| self.shown_at(frame, expr)))
            }
            None => ("(unnamed)".to_owned(), self.shown_at(frame, expr)),
        }
    }

    /// Where something in this frame is shown: in a helper, at the call of it.
    pub(super) fn shown_at(&self, frame: &Frame, expr: ExprId) -> Origin {
        frame.call.unwrap_or(Origin::Expr(expr))
    }

    /// It is there whatever the kernel is given when it runs.
    pub(super) fn is_certain(&self) -> bool {
        self.facts.branches == 0
    }

    /// Says what the front end of the compiler refuses. Helpers speak for themselves.
    pub(super) fn refuse_memory(&mut self, frame: &Frame, at: ExprId, code: Code, message: String) {
        if frame.call.is_none() {
            self.refuse_view(frame, at, code, message);
        }
    }

    /// Says what is wrong with a view. Of what a helper is given only its caller knows enough, so it is said at the call.
    pub(super) fn refuse_view(&mut self, frame: &Frame, at: ExprId, code: Code, message: String) {
        let finding = Finding::new(code, self.shown_at(frame, at), message);
        if self.is_certain() && self.is_tlx() && !self.facts.kernel.findings.contains(&finding) {
            self.facts.kernel.findings.push(finding);
        }
    }

    /// Constants that an assignment in the body of the kernel binds.
    pub(in crate::trace) fn binds(&mut self, frame: &Frame, target: ExprId, value: &Value, is_constexpr: bool) {
        if !self.is_tlx() || frame.call.is_some() || frame.is_host {
            return;
        }
        if let (Some(targets), Some(values)) = (frame.ast.elements(target), value.elements()) {
            for (&target, value) in targets.iter().zip(values) {
                self.binds(frame, target, value, is_constexpr);
            }
        }
        let is_number = matches!(value, Value::Int(_) | Value::Bool(_) | Value::Float(_));
        if !(is_constexpr || is_number) {
            return;
        }
        if let (Some(name), Some(value)) = (frame.ast.name(target), constant(value)) {
            let local = Local { name: name.to_owned(), at: Origin::Expr(target), value };
            if !self.facts.kernel.locals.contains(&local) {
                self.facts.kernel.locals.push(local);
            }
        }
    }

    /// Says that what a spec was made with stays (`storage_alias_spec.__setattr__`).
    pub(in crate::trace) fn keeps_attribute(&mut self, frame: &Frame, target: ExprId, object: &Value, name: &str) {
        if matches!(self.fact(object), Some(Fact::Spec(_))) && matches!(name, "storage" | "buffer_size_bytes") {
            let message = format!(
                "AttributeError: `{name}` of a storage_alias_spec cannot be changed; give it to the constructor"
            );
            self.refuse_memory(frame, target, Code::Rejected, message);
        }
    }

    /// A value as Python names its type in an error.
    pub(super) fn type_name(&self, value: &Value) -> &'static str {
        match (self.fact(value), value) {
            (Some(Fact::Spec(_)), _) => "storage_alias_spec",
            (Some(Fact::Group(_)), _) => "reuse_group",
            (Some(Fact::Buffers(_)), _) | (_, Value::Shared(_) | Value::TensorMemory(_)) => "buffered_tensor",
            (_, Value::Int(_)) => "int",
            (_, Value::Float(_)) => "float",
            (_, Value::Bool(_)) => "bool",
            (_, Value::Str(_)) => "str",
            (_, Value::None) => "NoneType",
            (_, Value::List(_)) => "list",
            (_, Value::Tuple(_)) => "tuple",
            (_, Value::Dict(_)) => "dict",
            (_, Value::Dtype(_)) => "dtype",
            (_, Value::Scalar(_) | Value::Tensor(_)) => "tensor",
            (_, Value::Language(name)) => match &**name {
                "smem" | "tmem" | "smemCluster" => "storage_kind",
                "shared" | "distinct" => "reuse_group_type",
                _ => "object",
            },
            _ => "object",
        }
    }
}

impl Storage {
    pub(super) fn of_value(value: &Value) -> Option<Storage> {
        let Value::Language(name) = value else { return None };
        [Storage::Smem, Storage::Tmem, Storage::SmemCluster].into_iter().find(|storage| storage.name() == &**name)
    }
}

/// The arguments of the call that an expression is, by the names of its parameters.
pub(super) fn written<const N: usize>(frame: &Frame, call: ExprId, names: [&str; N]) -> [Option<ExprId>; N] {
    let mut bound = [None; N];
    let Expr::Call { args, .. } = frame.ast.expr(call) else { return bound };
    for (i, Arg { keyword, value }) in args.iter().enumerate() {
        let position = match keyword {
            Some(keyword) => names.iter().position(|name| name == keyword),
            None => (i < N).then_some(i),
        };
        if let Some(position) = position {
            bound[position] = Some(*value);
        }
    }
    bound
}

/// The values of those that are given.
pub(super) fn given<'a, const N: usize>(args: &'a Args, names: [&str; N]) -> [Option<&'a Value>; N] {
    let mut position = 0;
    names.map(|name| {
        position += 1;
        args.get(position - 1, name)
    })
}

fn constant(value: &Value) -> Option<Constant> {
    let all = |values: &[Value]| values.iter().map(constant).collect::<Option<Vec<_>>>();
    Some(match value {
        Value::Int(value) => Constant::Int(*value),
        Value::Bool(value) => Constant::Bool(*value),
        Value::Float(value) => Constant::Float(FloatBits::new(*value)),
        Value::Str(text) => Constant::Str(text.to_string()),
        Value::None => Constant::None,
        Value::Dtype(dtype) if *dtype != Dtype::ANY => dtype.constant(),
        Value::Tuple(values) => Constant::Tuple(all(values)?.into_iter().collect()),
        Value::List(values) => Constant::List(all(values)?.into_iter().collect()),
        Value::Unknown(reason) => Constant::Unknown(reason.clone()),
        _ => return None,
    })
}

/// The element type that an argument is.
pub(super) fn type_of(value: Option<&Value>) -> Known<Dtype> {
    match value {
        Some(Value::Dtype(dtype)) => Ok(*dtype),
        Some(Value::Language(name)) => Err(Reason::new(format!("`tl.{name}` is not a constant that tilefit knows"))),
        Some(Value::Unknown(reason)) => Err(reason.clone()),
        Some(_) => Err(Reason::new("the element type is not a `tl.dtype`")),
        None => Err(Reason::new("the element type is missing")),
    }
}
