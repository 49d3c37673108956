//! Parts of tensors: in global memory a window is loaded and stored, on chip it is a view.

use tilefit_python::finding::Reason;

use super::{Conversion, Site};
use crate::ir::{Attr, AttrName, Call, Operand, Scalar, Type, VarId, Why};
use crate::ops::OpId;
use crate::target::Space;

impl Conversion<'_> {
    pub(super) fn slice(&mut self, site: Site, call: Call) {
        if self.tile(call.args.first()).is_some() {
            let attrs = call.attrs.into_iter().filter(|(name, _)| *name == AttrName::PadValue).collect();
            return self.finish(site, OpId::SLICE, call.args, attrs);
        }
        let Some((tensor, _)) = self.tensor(call.args.first()) else {
            return self.not_modelled(site, "a window of an unknown operand".to_owned());
        };
        let (Some(Operand::List(shape)), Some(Operand::List(offsets))) = (call.args.get(1), call.args.get(2)) else {
            return self.not_modelled(site, "a window with unknown extents".to_owned());
        };
        let (shape, offsets) = (shape.clone(), offsets.clone());
        let valid = match call.args.get(3) {
            Some(Operand::List(valid)) if !valid.is_empty() => valid.clone(),
            _ => shape.clone(),
        };
        let space = site.result.and_then(|var| self.demands.get(&var)).copied().unwrap_or(Space::Vec);
        let kept = kept_axes(&shape, call.args.get(4));
        let (op, args, mut attrs) = self.load(tensor, offsets, Operand::List(shape), Operand::List(valid), space);
        if call.flag(AttrName::Clamp) {
            attrs.push((AttrName::Clamp, Attr::Bool(true)));
        }
        let Some(kept) = kept else { return self.finish(site, op, args, attrs) };
        let name = match (space, site.result) {
            (Space::Vec, _) | (_, None) => "slice_load".to_owned(),
            (_, Some(var)) => format!("{}__tile_full_rank", self.kernel.var(var).name),
        };
        let loaded = self.insert(site.inserting(Why::Window), &name, op, args, attrs);
        self.finish(site, OpId::RESHAPE, vec![Operand::Var(loaded), Operand::List(kept)], Vec::new());
    }

    pub(super) fn assemble(&mut self, site: Site, call: Call) {
        let [target, source, offset] = match <[Operand; 3]>::try_from(call.args.clone()) {
            Ok(operands) => operands,
            Err(_) => return self.not_modelled(site, "`pl.assemble` with these operands".to_owned()),
        };
        let on_chip = (self.tile(Some(&target)).is_some(), self.tile(Some(&source)).is_some());
        let in_memory = (self.tensor(Some(&target)).is_some(), self.tensor(Some(&source)));
        match (on_chip, in_memory) {
            ((false, true), (true, _)) => {
                let atomic = call.attr(AttrName::Atomic).filter(|attr| **attr != Attr::Int(0)).cloned();
                let attrs = atomic.into_iter().map(|atomic| (AttrName::Atomic, atomic)).collect();
                self.written.extend(site.result);
                self.finish(site, OpId::STORE, vec![source, offset, target], attrs);
            }
            ((true, true), _) => self.write_part(site, target, source, offset),
            ((true, false), (_, Some((tensor, _)))) => {
                let Some(loaded) =
                    self.load_whole(site.inserting(Why::AssembledSource), "assemble_src", tensor, Space::Vec)
                else {
                    return;
                };
                self.write_part(site, target, Operand::Var(loaded), offset);
            }
            ((false, false), (true, Some(_))) => {
                self.not_modelled(site, "a copy from one tensor in global memory to another".to_owned());
            }
            _ => {
                let unknown =
                    [&source, &target].into_iter().find_map(|operand| match &self.kernel.var(operand.var()?).ty {
                        Type::Unknown(reason) => Some(reason.clone()),
                        _ => None,
                    });
                self.not_modelled(site, unknown.unwrap_or_else(|| Reason::new("a write of an unknown value")));
            }
        }
    }

    /// A parameter that is a tile from the start stays that tile: the author writes into it and names nothing new.
    fn write_part(&mut self, site: Site, target: Operand, source: Operand, offset: Operand) {
        if let (Some(var), Some(target)) = (site.result, target.var()) {
            let target = self.kernel.var(target);
            let inserted = target.inserted.filter(|_| target.name == self.kernel.var(var).name);
            let result = self.kernel.var_mut(var);
            result.inserted = result.inserted.or(inserted);
        }
        self.finish(site, OpId::ASSEMBLE, vec![target, source, offset], Vec::new());
    }

    /// A scalar out of global memory stays an access to the tensor.
    pub(super) fn element(&mut self, site: Site, call: Call) {
        if self.tile(call.args.first()).is_none() {
            return self.keep(site, call);
        }
        let op = if call.op == OpId::TENSOR_READ { OpId::READ } else { OpId::WRITE };
        match site.result {
            // The author's scalar keeps its type.
            Some(_) if op == OpId::READ => self.keep(site, Call { op, ..call }),
            _ => self.finish(site, op, call.args, call.attrs),
        }
    }

    /// The space that the compiler chooses for a window before it knows more.
    pub(super) fn is_in_mat(&self, var: VarId) -> bool {
        self.kernel.tile(var).is_some_and(|tile| tile.space == Some(Space::Mat))
    }
}

/// The extents without the axes that a scalar index dropped; `None` where none is.
fn kept_axes(shape: &[Scalar], dropped: Option<&Operand>) -> Option<Vec<Scalar>> {
    let Some(Operand::List(dropped)) = dropped else { return None };
    let is_dropped = |axis: usize| dropped.iter().any(|other| other.as_int() == i64::try_from(axis).ok());
    let kept: Vec<Scalar> =
        shape.iter().enumerate().filter(|(axis, _)| !is_dropped(*axis)).map(|(_, extent)| extent.clone()).collect();
    (kept.len() < shape.len()).then_some(kept)
}
