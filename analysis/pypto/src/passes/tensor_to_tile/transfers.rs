//! Transfers between devices: global memory is read and written through staging tiles, as large as what is transferred unless the
//! author cuts it into chunks (`op_conversion_registry.cpp`, `MakeTputStageShape`).

use super::{Conversion, Site};
use crate::ir::{AttrName, Call, Operand, Scalar};
use crate::ops::OpId;

impl Conversion<'_> {
    pub(super) fn transfer(&mut self, site: Site, call: Call) {
        let (op, name) = match call.op {
            OpId::TENSOR_PUT => (OpId::TILE_PUT, "tput_stage"),
            _ => (OpId::TILE_GET, "tget_stage"),
        };
        let in_memory = [0, 2].into_iter().all(|index| self.tensor(call.args.get(index)).is_some());
        let (Some((_, target)), true, None) = (self.tensor(call.args.first()), in_memory, site.result) else {
            return self.not_modelled(site, format!("`{}` of a value on chip, or as a value", call.op.op().name));
        };
        let chunk = |name| call.int(name).filter(|extent| *extent > 0).and_then(|extent| u64::try_from(extent).ok());
        let window = match call.args.get(5) {
            Some(Operand::List(shape)) if !shape.is_empty() => shape.clone(),
            _ => target.shape.clone(),
        };
        let (Some(stage), Some(dtype)) =
            (stage(&window, chunk(AttrName::ChunkRows), chunk(AttrName::ChunkCols)), target.dtype)
        else {
            return self.not_modelled(site, format!("`{}` of extents that are not constant", call.op.op().name));
        };
        let stages = if call.flag(AttrName::Pipeline) {
            [format!("{name}_ping"), format!("{name}_pong")]
                .map(|name| self.create(site, &name, &stage, dtype))
                .to_vec()
        } else {
            vec![self.create(site, name, &stage, dtype)]
        };
        let mut args: Vec<Operand> = call.args.iter().take(3).cloned().collect();
        let mut stages = stages.into_iter().map(Operand::Var);
        let none = || Operand::List(Vec::new());
        args.extend([stages.next().unwrap_or_else(none), stages.next().unwrap_or_else(none)]);
        args.extend(call.args.into_iter().skip(3));
        let attrs = call.attrs.into_iter().filter(|(name, _)| *name == AttrName::Atomic).collect();
        self.finish(site, op, args, attrs);
    }

    /// What is stored on another device is on chip.
    pub(super) fn remote_store(&mut self, site: Site, mut call: Call) {
        if let Some(Operand::Var(source)) = call.args.first() {
            let Some(source) = self.on_vector(site, *source) else { return };
            call.args[0] = Operand::Var(source);
        }
        self.keep(site, call);
    }
}

/// Rows and columns of a staging tile.
fn stage(window: &[Scalar], chunk_rows: Option<u64>, chunk_cols: Option<u64>) -> Option<[u64; 2]> {
    let extent = |extent: &Scalar| u64::try_from(extent.as_int()?).ok();
    let (last, leading) = window.split_last()?;
    let rows: Option<u64> = leading.iter().map(extent).try_fold(1_u64, |product, extent| product.checked_mul(extent?));
    let capped = |whole: Option<u64>, chunk: Option<u64>| match (whole, chunk) {
        (Some(whole), Some(chunk)) => Some(whole.min(chunk)),
        (whole, chunk) => whole.or(chunk),
    };
    Some([capped(rows, chunk_rows)?, capped(extent(last), chunk_cols)?])
}
