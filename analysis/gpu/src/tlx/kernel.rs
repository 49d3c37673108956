//! A TLX kernel as its memory sees it: specs, buffers, reuse groups, and where buffers are indexed. No positions.

use tilefit_syntax::ast::{Ast, ExprId, Stmt};

use tilefit_python::eval::Constant;
use tilefit_python::finding::Finding;
use tilefit_python::finding::{Note, Origin, Reason};

use super::language::{Dtype, Storage};
use crate::device::Arch;

/// Something that is known, or the reason why it is not.
pub type Known<T> = Result<T, Reason>;

/// Index of a spec in [`Kernel::specs`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SpecId(pub u32);

/// Index of a buffer in [`Kernel::buffers`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufferId(pub u32);

/// Index of a group in [`Kernel::groups`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupId(pub u32);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    pub name: String,
    pub origin: Origin,
    pub name_origin: Origin,
    pub specs: Vec<Spec>,
    /// In program order.
    pub buffers: Vec<Buffer>,
    pub groups: Vec<Group>,
    pub overlaps: Vec<Overlap>,
    pub indices: Vec<Index>,
    /// Everything above in the order in which the compiler meets it.
    pub ops: Vec<Op>,
    pub params: Vec<Param>,
    /// Constants that the body binds, in order.
    pub locals: Vec<Local>,
    /// Named by a scenario; else the architecture is the configured one.
    pub arch: Option<Arch>,
    /// Buffers go where they are not followed, so that any may hold the scales of a product.
    pub hides_scales: bool,
    /// What the front end of the compiler refuses.
    pub findings: Vec<Finding>,
    pub notes: Vec<Note>,
}

/// `tlx.storage_alias_spec(…)`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    pub name: String,
    /// The call.
    pub at: Origin,
    /// The name that it is bound to.
    pub name_at: Origin,
    pub storage: Known<Storage>,
    /// `buffer_size_bytes`, where it is given.
    pub explicit: Option<Known<u64>>,
    /// `buffer_size_bytes`, where it is a number that was assigned to a plain name.
    pub tensor_size: Option<Origin>,
    /// False under a condition that is not known.
    pub certain: bool,
}

/// `tlx.local_alloc(…)`, or the memory of barriers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buffer {
    pub name: String,
    pub at: Origin,
    pub name_at: Origin,
    pub storage: Known<Storage>,
    /// Without the count of buffers.
    pub shape: Known<Vec<u64>>,
    pub dtype: Known<Dtype>,
    pub num: Known<u64>,
    pub backing: Backing,
    pub kind: BufferKind,
    /// How a product over two CTAs lays it out.
    pub pair: Pair,
    pub layout: Layout,
    pub certain: bool,
    /// Something reads its name.
    pub used: bool,
    /// It holds the scales of a product.
    pub scales: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Backing {
    /// Memory of its own.
    Own,
    Spec(SpecId),
    /// `reuse=<buffer>`, the older form: the same address as another buffer.
    Alias(BufferId),
    Unknown(Reason),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BufferKind {
    Data,
    /// Barriers, and how many arrivals each waits for where that is known.
    Barrier {
        arrivals: Option<u64>,
    },
    /// Responses of a CLC context, 16 bytes each.
    Response,
}

/// What `layout=` gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Layout {
    /// Nothing: the front end decides.
    #[default]
    Default,
    /// Another order of the same bytes.
    Reordered,
    /// One that may pad rows, or that is not known.
    Unread,
}

/// Tensor-memory layouts that only a product with `two_ctas=True` gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Pair {
    #[default]
    None,
    /// The 64-row operand in tensor memory.
    Lhs,
    /// The 64-row accumulator.
    Rhs,
}

/// `tlx.reuse_group(…)`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    pub at: Origin,
    pub kind: Known<GroupKind>,
    /// Where `group_type` is left out, in the kernel's own text.
    pub untyped: Option<Origin>,
    pub size: Known<u64>,
    pub elements: Vec<Element>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GroupKind {
    Shared,
    Distinct,
}

impl GroupKind {
    pub fn name(self) -> &'static str {
        match self {
            GroupKind::Shared => "shared",
            GroupKind::Distinct => "distinct",
        }
    }

    pub fn from_constant(value: &Constant) -> Option<GroupKind> {
        let Constant::Member(name) = value else { return None };
        match name.strip_prefix("tlx.reuse_group_type.")? {
            "shared" => Some(GroupKind::Shared),
            "distinct" => Some(GroupKind::Distinct),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Element {
    Leaf {
        buffer: BufferId,
        /// The argument.
        at: Origin,
        /// A view of the buffer, and not the buffer.
        view: bool,
    },
    Group(GroupId),
    Unknown(Reason),
}

/// `spec.set_buffer_overlap(group)`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlap {
    pub at: Origin,
    pub spec: SpecId,
    pub group: Known<GroupId>,
    pub certain: bool,
}

/// `view = buffer[3]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    /// What the view is bound to, where that is one name.
    pub name: Option<String>,
    pub at: Origin,
    pub buffer: BufferId,
    pub index: IndexValue,
    pub certain: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexValue {
    Constant(i64),
    /// Known at run time only; its expression, where that stands in the kernel's own text.
    Runtime(Option<ExprId>),
}

/// One operation on memory, by its index in the list of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Spec(SpecId),
    Buffer(BufferId),
    Group(GroupId),
    Overlap(usize),
    Index(usize),
}

/// `WIDTH: tl.constexpr = 2 * BLOCK`, with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Local {
    pub name: String,
    pub at: Origin,
    pub value: Constant,
}

/// A parameter, its value under the scenario, and where the value is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    pub name: String,
    pub at: Origin,
    pub value: Constant,
    pub from: Option<String>,
    /// Annotated with `tl.constexpr`.
    pub is_constexpr: bool,
}

impl Kernel {
    /// The kernel that a function block is, with nothing in it.
    pub fn empty(ast: &Ast) -> Option<Kernel> {
        let (stmt, function) = ast.body.iter().find_map(|&stmt| match ast.stmt(stmt) {
            Stmt::Function(function) => Some((stmt, function)),
            _ => None,
        })?;
        Some(Kernel {
            name: ast.name(function.name)?.to_owned(),
            origin: Origin::Stmt(stmt),
            name_origin: Origin::Expr(function.name),
            specs: Vec::new(),
            buffers: Vec::new(),
            groups: Vec::new(),
            overlaps: Vec::new(),
            indices: Vec::new(),
            ops: Vec::new(),
            params: Vec::new(),
            locals: Vec::new(),
            arch: None,
            hides_scales: false,
            findings: Vec::new(),
            notes: Vec::new(),
        })
    }

    pub fn spec(&self, id: SpecId) -> &Spec {
        &self.specs[id.0 as usize]
    }

    pub fn buffer(&self, id: BufferId) -> &Buffer {
        &self.buffers[id.0 as usize]
    }

    pub fn group(&self, id: GroupId) -> &Group {
        &self.groups[id.0 as usize]
    }

    pub fn buffer_ids(&self) -> impl Iterator<Item = BufferId> + use<> {
        (0..self.buffers.len() as u32).map(BufferId)
    }

    pub fn spec_ids(&self) -> impl Iterator<Item = SpecId> + use<> {
        (0..self.specs.len() as u32).map(SpecId)
    }

    /// The allocations of a spec, in program order.
    pub fn users(&self, spec: SpecId) -> impl Iterator<Item = BufferId> + '_ {
        self.buffer_ids().filter(move |&id| self.buffer(id).backing == Backing::Spec(spec))
    }
}
