//! Step 2 of the compiler: where each buffer of a tree starts, and how far its buffers are apart.

use super::align_up;
use super::kernel::{BufferId, GroupKind};
use super::tree::{Node, Tree};

/// PlacedBuffer of a leaf, in bytes or columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    pub buffer: BufferId,
    pub offset: u64,
    /// From one buffer to the next.
    pub stride: u64,
    /// Product of the sizes of the groups around it.
    pub group_size: u64,
}

/// A distinct group that needs more than one buffer of the spec has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotEnoughSpace {
    pub need: u64,
    pub have: u64,
}

/// Places the leaves of a tree whose buffers start `stride` apart.
pub fn place(tree: &Tree, stride: u64) -> Result<Vec<Placement>, NotEnoughSpace> {
    let mut placements = Vec::new();
    place_node(tree, &tree.root, 0, stride, 1, &mut placements)?;
    Ok(placements)
}

/// Distance between the buffers of a tree under the compiler's rules.
pub fn stride(tree: &Tree) -> u64 {
    align_up(tree.size(), tree.align())
}

fn place_node(
    tree: &Tree,
    node: &Node,
    offset: u64,
    stride: u64,
    group_size: u64,
    placements: &mut Vec<Placement>,
) -> Result<(), NotEnoughSpace> {
    match node {
        Node::Leaf { buffer, .. } => {
            placements.push(Placement { buffer: *buffer, offset, stride, group_size });
            Ok(())
        }
        Node::Group { kind: GroupKind::Shared, size, children } => {
            let (stride, group_size) = (stride / size.max(&1), group_size.saturating_mul(*size));
            children.iter().try_for_each(|child| place_node(tree, child, offset, stride, group_size, placements))
        }
        Node::Group { kind: GroupKind::Distinct, children, .. } => {
            let mut end = offset;
            for child in children {
                end = align_up(end, tree.child_align(child));
                place_node(tree, child, end, stride, group_size, placements)?;
                end = end.saturating_add(tree.node_size(child));
            }
            let need = end - offset;
            if need > stride { Err(NotEnoughSpace { need, have: stride }) } else { Ok(()) }
        }
    }
}
