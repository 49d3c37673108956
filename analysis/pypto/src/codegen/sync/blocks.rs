//! The statement lists of a program, numbered, and the way to each instruction.

use tilefit_python::finding::Origin;

use crate::codegen::sequence::{Head, Instr, Loop, Program, Step, Sync};
use crate::ir::VarId;

pub(super) type BlockId = usize;

/// A statement list.
pub(super) struct Block {
    pub(super) items: Vec<Item>,
    /// Of each item.
    pub(super) origins: Vec<Origin>,
    pub(super) repeats: Option<Repeats>,
}

/// The loop that a list is the body of.
pub(super) struct Repeats {
    pub(super) var: Option<VarId>,
    pub(super) step: Option<i64>,
    pub(super) trips: Option<u64>,
}

pub(super) enum Item {
    Instr(u32),
    Loop(BlockId),
    If(Vec<BlockId>, bool),
    /// The author's flag or barrier.
    Written(Sync),
    Other,
}

pub(super) struct Node<'a> {
    pub(super) instr: &'a Instr,
    /// From the outermost list to its own.
    pub(super) path: Vec<(BlockId, usize)>,
}

pub(super) fn flatten<'a>(
    program: &Program,
    steps: &'a [Step],
    repeats: Option<Repeats>,
    path: &mut Vec<(BlockId, usize)>,
    blocks: &mut Vec<Block>,
    nodes: &mut Vec<Node<'a>>,
) -> BlockId {
    let block = blocks.len();
    blocks.push(Block { items: Vec::new(), origins: Vec::new(), repeats });
    for (index, step) in steps.iter().enumerate() {
        path.push((block, index));
        let item = match step {
            Step::Instr(instr) => {
                nodes.push(Node { instr, path: path.clone() });
                Item::Instr(instr.id)
            }
            Step::Loop(node) => {
                let repeats = Some(repeats_of(node));
                Item::Loop(flatten(program, &node.body, repeats, path, blocks, nodes))
            }
            Step::If(node) => {
                let bodies = std::iter::once(&node.then).chain(&node.otherwise);
                let branches = bodies.map(|body| flatten(program, body, None, path, blocks, nodes)).collect();
                Item::If(branches, node.otherwise.is_some())
            }
            Step::Sync(sync, _) => Item::Written(*sync),
            Step::Local { .. } | Step::Declare(_) | Step::Missing { .. } => Item::Other,
        };
        path.pop();
        blocks[block].items.push(item);
        blocks[block].origins.push(program.origin(step));
    }
    block
}

fn repeats_of(node: &Loop) -> Repeats {
    match &node.head {
        Head::For { var, step, .. } => Repeats { var: Some(*var), step: step.value, trips: node.trips() },
        Head::While { .. } => Repeats { var: None, step: None, trips: None },
    }
}
