//! Matrix products: operands are brought to Mat, transposed by a view, and multiplied.

use super::{Conversion, Site};
use crate::ir::{Attr, AttrName, Call, Operand, VarId, Why};
use crate::ops::OpId;
use crate::target::Space;

impl Conversion<'_> {
    pub(super) fn product(&mut self, site: Site, call: Call) {
        let adds = call.op == OpId::TENSOR_MATMUL_ACC;
        let first = usize::from(adds);
        let mut args = call.args.clone();
        for (index, flag) in [(first, AttrName::ATrans), (first + 1, AttrName::BTrans)] {
            let transposed = call.flag(flag);
            let Some(operand) = args.get(index).and_then(Operand::var) else {
                return self.not_modelled(site, "a product of an unknown operand".to_owned());
            };
            let Some(placed) = self.product_operand(site, operand, transposed) else { return };
            args[index] = Operand::Var(placed);
        }
        let of_many_axes = args
            .iter()
            .filter_map(Operand::var)
            .any(|var| self.kernel.tile(var).is_some_and(|tile| tile.shape.len() > 2));
        let op = match (adds, of_many_axes) {
            (false, false) => OpId::MATMUL,
            (false, true) => OpId::BATCH_MATMUL,
            (true, false) => OpId::MATMUL_ACC,
            (true, true) => OpId::BATCH_MATMUL_ACC,
        };
        self.finish(site, op, args, Vec::new());
    }

    /// An operand where the cube can take it from. A tensor is loaded, once for each product.
    fn product_operand(&mut self, site: Site, operand: VarId, transposed: bool) -> Option<VarId> {
        let name = self.kernel.var(operand).name.clone();
        let site = site.inserting(Why::MatOperand);
        let in_memory = self.kernel.tensor(operand).is_some();
        let placed = match in_memory {
            true => self.load_whole(site, &format!("{name}_mat"), operand, Space::Mat)?,
            false => operand,
        };
        if self.kernel.tile(placed).is_none() {
            self.not_modelled(site, format!("a product of the unknown `{name}`"));
            return None;
        }
        if !transposed {
            return Some(placed);
        }
        // The view is of boxes as they lie in Mat.
        let placed = if self.is_in_mat(placed) {
            placed
        } else {
            let attrs = vec![(AttrName::TargetMemory, Attr::Space(Space::Mat))];
            self.insert(site, &format!("{name}_mat"), OpId::MOVE, vec![Operand::Var(placed)], attrs)
        };
        let name = format!("{}_t", self.kernel.var(placed).name);
        Some(self.insert(
            site.inserting(Why::TransposedView),
            &name,
            OpId::TRANSPOSE_VIEW,
            vec![Operand::Var(placed)],
            Vec::new(),
        ))
    }
}
