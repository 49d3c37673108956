//! Views: other shapes of bytes that are there already.

use crate::ir::{self, Call, VarId};

use super::{Selected, Selector};

impl Selector<'_> {
    /// Another view of planned bytes: the declaration is all there is.
    pub(super) fn view(&mut self, result: Option<VarId>) -> Selected<()> {
        match result {
            Some(var) if self.kernel.tile(var).is_some() => self.tile(var).map(drop),
            _ => Ok(()),
        }
    }

    /// A reshape that the compiler put around an instruction: both tiles are declared at one address already.
    pub(super) fn is_renaming(&self, result: VarId, call: &Call) -> bool {
        let Some(source) = call.args.first().and_then(ir::Operand::var) else { return false };
        let inserted = self.kernel.var(result).inserted || self.kernel.var(source).inserted;
        let fixed = self.tiles.get(&source).is_some_and(|tile| !self.moving.contains(tile));
        let address = |var| self.places.get(&var).and_then(|place| place.0);
        inserted && fixed && address(result).is_some() && address(result) == address(source)
    }
}
