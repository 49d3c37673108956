//! Reuse trees: their sizes and alignments (`tlx/dialect/include/IR/Dialect.h` of the compiler).

use super::kernel::{BufferId, Element, GroupId, GroupKind, Kernel, Known};
use super::language::Storage;
use super::sizes::Sized;
use super::{Rules, align_up};

/// A reuse group, or a buffer in one, with everything known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    Leaf {
        buffer: BufferId,
        /// Bytes or columns of one buffer.
        unit: u64,
        /// Bytes or columns.
        align: u64,
    },
    Group {
        kind: GroupKind,
        /// Consecutive buffers of the leaves below that make one buffer of this group.
        size: u64,
        children: Vec<Node>,
    },
}

/// The tree of a spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    pub root: Node,
    storage: Storage,
    rules: Rules,
}

/// Offsets in shared memory are multiples of this, in bytes.
const SMEM_ALIGNMENT: u64 = 128;

/// Deeper trees are not looked into.
const DEEPEST: u32 = 64;

impl Tree {
    pub fn of(
        kernel: &Kernel,
        root: GroupId,
        users: &[(BufferId, Sized)],
        storage: Storage,
        rules: Rules,
    ) -> Known<Tree> {
        let root = node(kernel, root, users, storage, rules, DEEPEST)?;
        Ok(Tree { root, storage, rules })
    }

    /// Bytes or columns of one buffer of the whole tree, without the padding up to the next.
    pub fn size(&self) -> u64 {
        self.node_size(&self.root)
    }

    pub fn align(&self) -> u64 {
        node_align(&self.root)
    }

    pub fn node_size(&self, node: &Node) -> u64 {
        match node {
            Node::Leaf { unit, .. } => *unit,
            Node::Group { kind: GroupKind::Shared, size, children } => {
                let largest = children.iter().map(|child| self.node_size(child)).max().unwrap_or(0);
                largest.saturating_mul(*size)
            }
            Node::Group { kind: GroupKind::Distinct, children, .. } => children
                .iter()
                .fold(0, |end, child| align_up(end, self.child_align(child)).saturating_add(self.node_size(child))),
        }
    }

    /// What the offset of a member of a distinct group is a multiple of.
    pub fn child_align(&self, child: &Node) -> u64 {
        match (self.rules, self.storage) {
            (Rules::Seed, _) => 1,
            (Rules::Compiler, Storage::Tmem) => node_align(child),
            (Rules::Compiler, _) => self.align(),
        }
    }

    pub fn leaves(&self) -> Vec<BufferId> {
        let mut leaves = Vec::new();
        collect(&self.root, &mut leaves);
        leaves
    }
}

fn collect(node: &Node, leaves: &mut Vec<BufferId>) {
    match node {
        Node::Leaf { buffer, .. } => leaves.push(*buffer),
        Node::Group { children, .. } => children.iter().for_each(|child| collect(child, leaves)),
    }
}

fn node_align(node: &Node) -> u64 {
    match node {
        Node::Leaf { align, .. } => *align,
        Node::Group { children, .. } => children.iter().map(node_align).max().unwrap_or(1),
    }
}

fn node(
    kernel: &Kernel,
    group: GroupId,
    users: &[(BufferId, Sized)],
    storage: Storage,
    rules: Rules,
    depth: u32,
) -> Known<Node> {
    let unknown = |reason: &str| tilefit_python::finding::Reason::new(reason);
    if depth == 0 {
        return Err(unknown("the reuse groups are nested too deeply"));
    }
    let group = kernel.group(group);
    let children = group.elements.iter().map(|element| match element {
        Element::Leaf { buffer, .. } => {
            let sized = users.iter().find(|(user, _)| user == buffer);
            let Some((_, sized)) = sized else {
                return Err(unknown("a buffer of the group does not belong to the spec"));
            };
            let align = match (rules, storage) {
                (Rules::Seed, _) => 1,
                (Rules::Compiler, Storage::Tmem) => sized.unit.max(1),
                (Rules::Compiler, _) => SMEM_ALIGNMENT.max(sized.dtype.bytes()),
            };
            Ok(Node::Leaf { buffer: *buffer, unit: sized.unit, align })
        }
        Element::Group(inner) => node(kernel, *inner, users, storage, rules, depth - 1),
        Element::Unknown(reason) => Err(reason.clone()),
    });
    let children = children.collect::<Known<Vec<_>>>()?;
    let size = match rules {
        Rules::Compiler => group.size.clone()?,
        Rules::Seed => 1,
    };
    Ok(Node::Group { kind: group.kind.clone()?, size, children })
}
