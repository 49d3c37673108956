//! How the tiles of a kernel are called for a reader, the same in findings, hovers and maps.

use crate::ir::{Kernel, VarId, Why};
use crate::memory::lifetimes::Lifetimes;

/// The author's name of a tile. For one that the compiler makes, `x:load`: the name that the statement assigns to, and what the tile is
/// there; the compiler's name where the statement assigns to none.
pub(super) fn label(kernel: &Kernel, lifetimes: &Lifetimes, var: VarId) -> String {
    let made = kernel.var(var);
    let live = lifetimes.live(var).or_else(|| lifetimes.seen(var));
    let statement = live.and_then(|live| lifetimes.statements.get(live.def.0 as usize));
    let target = statement.and_then(|&statement| kernel.target(statement));
    let (Some(why), Some(target)) = (made.inserted, target) else { return made.name.clone() };
    match part(why, lifetimes.call(var).map_or("", |call| call.op.op().name)) {
        "" => target.to_owned(),
        part => format!("{target}:{part}"),
    }
}

/// What a tile of the compiler's is within its statement, in a word.
fn part(why: Why, op: &'static str) -> &'static str {
    match why {
        Why::Scratch | Why::ReductionScratch | Why::TransposeScratch => "scratch",
        Why::LeftOperand | Why::StagedLeft | Why::LeftBlock => "left",
        Why::RightOperand | Why::RightBlock => "right",
        Why::Bias => "bias",
        Why::BlockAccumulator => "sum",
        Why::Received => "received",
        Why::CarriedCopy => "copy",
        _ => op.rsplit('.').next().unwrap_or(op),
    }
}
