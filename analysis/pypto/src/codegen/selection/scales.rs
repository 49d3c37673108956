//! Products with scales: each tile of scales lies at a place that follows from that of the tile which it scales.

use rustc_hash::FxHashMap;
use tilefit_python::diagnostics::Code;
use tilefit_python::element::Dtype;
use tilefit_python::finding::Finding;
use tilefit_python::finding::Origin;

use super::{Placed, Refusal, Selected, Selector};
use crate::ir::{BLayout, Call, Kernel, Operand, SLayout, VarId, visit};
use crate::memory::{Plan, PlannedTile};
use crate::ops::Selection;
use crate::ops::selection::Instruction;
use crate::target::Space;

/// The scale of 16 bytes of a left or right operand is at a sixteenth of their address (`GetScaleAddr` of pto-isa).
const BYTES_TO_A_SCALE: u64 = 16;

/// Puts scales where the unit looks for them, which the plan does not know. Of those that come to lie on others that are still
/// needed, there is a finding.
pub(super) fn place(kernel: &Kernel, plan: &Plan, places: &mut FxHashMap<VarId, Placed>) -> Vec<Finding> {
    let mut bound: Vec<(VarId, u64)> = Vec::new();
    visit::statements(&kernel.body, &mut |stmt| {
        let Some(call) = visit::call_of(stmt) else { return };
        let Selection::ScaledProduct(_, scaled) = call.op.op().selection else { return };
        for (data, scale) in scaled {
            let [data, scale] = [data, scale].map(|arg| call.args.get(usize::from(arg)).and_then(Operand::var));
            let (Some(data), Some(scale)) = (data, scale) else { continue };
            let address = places.get(&data).and_then(|place| place.address);
            bound.extend(address.map(|address| (scale, address / BYTES_TO_A_SCALE)));
        }
    });
    let mut placed: Vec<(&PlannedTile, u64)> = Vec::new();
    for (scale, address) in bound {
        let Some(place) = places.get_mut(&scale) else { continue };
        place.address = Some(address);
        let tile = plan.tiles.iter().find(|tile| tile.var == scale);
        placed.extend(tile.filter(|_| placed.iter().all(|(of, _)| of.var != scale)).map(|tile| (tile, address)));
    }
    let overlap = |(one, at): &(&PlannedTile, u64), (other, other_at): &(&PlannedTile, u64)| {
        let apart = one.buffer != other.buffer && one.space == other.space;
        apart && *at < other_at.saturating_add(other.bytes) && *other_at < at.saturating_add(one.bytes)
    };
    let mut findings = Vec::new();
    for first in &placed {
        let overwrites = |later: &&(&PlannedTile, u64)| {
            overlap(first, later) && first.0.first < later.0.first && later.0.first < first.0.last
        };
        findings.extend(placed.iter().find(overwrites).map(|(later, _)| {
            let message = format!(
                "`{}` would overwrite `{}`, which is still needed, because the tiles that they scale have one address; move these scales later",
                later.name, first.0.name
            );
            Finding::new(Code::NoInstruction, later.origin, message)
        }));
    }
    findings
}

impl Selector<'_> {
    /// `TMATMUL_MX(c, a, a_scale, b, b_scale)`
    pub(super) fn scaled_product(
        &mut self,
        instruction: &'static Instruction,
        scaled: [(u8, u8); 2],
        result: Option<VarId>,
        call: &Call,
        origin: Origin,
    ) -> Selected<()> {
        for (data, scale) in scaled {
            let [data, scale] = [self.tile_operand(call, data)?, self.tile_operand(call, scale)?];
            let [data, scale] = [self.program.tile(data), self.program.tile(scale)];
            let inner = if data.form.space == Space::Left { data.form.cols } else { data.form.rows };
            let floats = matches!(data.form.dtype, Dtype::Fp8E4M3Fn | Dtype::Fp8E5M2);
            if !floats || scale.form.dtype != Dtype::Fp8E8M0 {
                let (of, by) = (data.form.dtype, scale.form.dtype);
                let message =
                    format!("a product with scales takes FP8E4M3FN or FP8E5M2 and FP8E8M0, not {of} and {by}");
                return Err(message.into());
            }
            if !inner.is_multiple_of(64) {
                let message =
                    format!("a product with scales takes K in multiples of 64, and `{}` has {inner}", data.name);
                return Err(message.into());
            }
            let lies = (data.form.blayout, data.form.slayout);
            if data.form.space == Space::Left && lies != (BLayout::ColMajor, SLayout::RowMajor) {
                let message = format!(
                    "`{}` is a part of a tile in Mat, with its boxes row by row; a product with scales takes them column by column. Load the part, then move it",
                    data.name
                );
                return Err(message.into());
            }
            let place = data.address.map(|address| address / BYTES_TO_A_SCALE);
            if place != scale.address {
                let message = format!(
                    "`{}` scales tiles at different addresses but has one address itself; move the scales again for `{}`",
                    scale.name, data.name
                );
                return Err(Refusal { code: Code::NoInstruction, message });
            }
        }
        self.instruction(instruction, result, call, origin)
    }
}
