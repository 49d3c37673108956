//! Layouts of the tensors that a `while` carries, where the compiler chooses layouts.
//!
//! Every tensor starts in the layout that its shape alone decides; loads, products and their like give others to what is computed of them
//! (`LayoutPropagation` in `lib/Dialect/TritonGPU/Transforms/RemoveLayoutConversions.cpp`), through loops of both kinds. Where something wants a tensor in another
//! layout, it is computed in that one from the start; but what a `while` carries it is not, as it is through a `for` (`getConvertBackwardSlice` in
//! `lib/Dialect/TritonGPU/Transforms/Utility.cpp`): pointers that a `while` moves on are converted for each access.

use std::rc::Rc;
use std::sync::Arc;

use tilefit_python::finding::Reason;
use tilefit_syntax::ast::ExprId;

use super::super::layouts::{self, Layout};
use super::super::program::bytes_of;
use super::registers::{Asked, narrow};
use super::value::{Registers, Tensor, Value};
use super::{Frame, Tracer, Whiles};

impl Tracer<'_> {
    /// What a `while` carries has a layout of its own.
    pub(super) fn start_of_while(&mut self, frame: &Frame, at: ExprId, value: Value) -> Value {
        let Value::Tensor(tensor) = &value else { return value };
        let own = self.resolved(&tensor.layout);
        if !self.launch.dialect.leaves_layouts() || matches!(own, Registers::Unknown(_) | Registers::Known(_)) {
            return value;
        }
        let layout = self.new_auto();
        let Registers::Auto(auto) = layout else { return value };
        let is_free =
            own == Registers::Flexible || matches!(own, Registers::Auto(of) if !self.whiles.contains_key(&of));
        let start = if is_free { None } else { Some(own) };
        self.whiles.insert(auto, Whiles { shape: Rc::clone(&tensor.shape), start });
        match is_free {
            true => Value::Tensor(Tensor { layout, ..tensor.clone() }),
            false => Value::Tensor(self.between(frame, at, tensor, &layout)),
        }
    }

    /// The number of a layout that is decided by nothing but the rounds of a `while`.
    pub(super) fn carried_by_while(&self, layout: &Registers) -> Option<u32> {
        match self.resolved(layout) {
            Registers::Auto(auto) => self.whiles.contains_key(&auto).then_some(auto),
            _ => None,
        }
    }

    /// What a round makes of a tensor that a `while` carries, as the next round takes it.
    pub(super) fn end_of_while(
        &mut self,
        frame: &Frame,
        at: ExprId,
        end: &Tensor,
        layout: &Registers,
        auto: u32,
    ) -> Tensor {
        let own = self.resolved(&end.layout);
        match own {
            Registers::Flexible => return end.clone(),
            Registers::Auto(own) if own == auto => return end.clone(),
            _ => {}
        }
        let is_decided = !matches!(own, Registers::Auto(_));
        let start = self.whiles[&auto].start.as_ref().map(|start| self.resolved(start));
        let starts_otherwise = start.is_some_and(|start| !matches!(start, Registers::Auto(_)) && start != own);
        if is_decided {
            let settled = match starts_otherwise || matches!(own, Registers::Unknown(_)) {
                true => self.new_choice(),
                false => own,
            };
            self.autos[auto as usize] = Some(settled);
        }
        self.between(frame, at, end, layout)
    }

    /// After its rounds, none of which changed it: it is as it was before them.
    pub(super) fn leave_while(&mut self, auto: u32) {
        if let Some(start) = self.whiles[&auto].start.clone()
            && self.autos[auto as usize].is_none()
        {
            self.autos[auto as usize] = Some(start);
        }
    }

    /// A tensor in another layout. What that takes is found when all is followed, when it is known whether it is another one.
    pub(super) fn between(&mut self, frame: &Frame, at: ExprId, tensor: &Tensor, to: &Registers) -> Tensor {
        let (shape, bits) = ((*tensor.shape).clone(), tensor.dtype.bits);
        let asked = match self.is_amd() {
            true => Asked::UpTo(
                bytes_of(&shape, bits),
                Reason::new("how AMD's compiler goes through pointers is not modelled"),
            ),
            false => Asked::Conversion { shape, bits, from: tensor.layout.clone(), to: to.clone() },
        };
        let kind = self.asks(asked);
        let id = self.converted_by(frame, at, tensor, format!("{to:?}"), kind);
        Tensor { id, layout: to.clone(), ..tensor.clone() }
    }

    /// Of what no round gives a layout, the shape decides it.
    pub(super) fn settle_whiles(&mut self) {
        let open: Vec<(u32, Option<Layout>)> =
            self.whiles.iter().map(|(&auto, carried)| (auto, self.of_shape(&carried.shape))).collect();
        for (auto, layout) in open {
            if self.autos[auto as usize].is_none() {
                self.autos[auto as usize] = layout.map(|layout| Registers::Known(Arc::new(layout)));
            }
        }
    }

    /// The layout in which every tensor starts (`lib/Conversion/TritonToTritonGPU/TritonToTritonGPUPass.cpp`): an element for each thread, the last dimension first.
    fn of_shape(&self, shape: &[u64]) -> Option<Layout> {
        let shape = narrow(shape).ok()?;
        let order: Vec<u32> = (0..shape.len() as u32).rev().collect();
        layouts::access_layout(&shape, 8, 1, &order, self.warps as u32, &self.launch.hardware)
    }
}
