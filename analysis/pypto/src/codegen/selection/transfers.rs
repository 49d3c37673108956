//! Loads and stores: windows of tensors, and their wrappers.

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::finding::Origin;

use crate::ir::{self, Attr, AttrName, BLayout, Call, SLayout, Scalar, TensorLayout, Type, VarId};
use crate::target::Space;

use super::{Selected, Selector, TensorRef, constant_extent, list};
use crate::codegen::expr;
use crate::codegen::sequence::{
    Access, Arg, ArgKind, Elements, Instr, Offset, Operand, Pipe, Step, TileId, Wrapper, pipe_of_store,
};
use crate::codegen::types;
use crate::codegen::windows;

/// A load or store, for deciding which ones must move their wrapper.
pub(super) struct AccessSite {
    id: u32,
    wrapper: usize,
    outermost: Option<u32>,
    at_start: bool,
}

/// What is done with a part of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Load,
    /// With rows and columns exchanged.
    LoadTransposed,
    Store,
    /// Single elements, through the pointer.
    Read,
    Write,
}

impl Use {
    pub(super) fn of_load(call: &Call) -> Use {
        if call.flag(AttrName::Transpose) { Use::LoadTransposed } else { Use::Load }
    }

    fn stores(self) -> bool {
        matches!(self, Use::Store | Use::Write)
    }

    fn is_of_elements(self) -> bool {
        matches!(self, Use::Read | Use::Write)
    }
}

impl Selector<'_> {
    pub(super) fn load(&mut self, result: Option<VarId>, call: &Call, origin: Origin) -> Selected<()> {
        let Some(var) = result else { return Err("a load whose result has no name".to_string().into()) };
        let tile = self.tile(var)?;
        let tensor = self.tensor_operand(call.args.first())?;
        let offsets = list(call.args.get(1)).ok_or_else(|| "the offsets are not a list".to_string())?;
        let window = match (list(call.args.get(3)), list(call.args.get(2))) {
            (Some(valid), _) if !valid.is_empty() => valid,
            (_, Some(shape)) => shape,
            _ => return Err("the shape is not a list".to_string().into()),
        };
        self.check_layouts(&tensor, tile, Use::of_load(call))?;
        let limits = self.tile_extents(var, offsets.len());
        let access = self.access(&tensor, offsets, window, &limits, Use::of_load(call))?;
        self.fill_boxes(tile, access.wrapper)?;
        let at_start = is_start(offsets) && tensor.args.len() == 1;
        let inserted = self.kernel.var(var).inserted.is_some();
        self.load_window(tile, access, at_start, inserted, origin);
        Ok(())
    }

    pub(super) fn load_window(&mut self, tile: TileId, access: Access, at_start: bool, inserted: bool, origin: Origin) {
        let wrapper = access.wrapper;
        let operands = vec![Operand::Tile(tile), Operand::Wrapper(wrapper)];
        let (writes, access) = (vec![tile], Some(access));
        let id = self.push(Instr { writes, access, inserted, ..Instr::new("TLOAD", operands, Pipe::Mte2, origin) });
        self.site(id, wrapper, at_start);
    }

    /// Notes where a wrapper is used, and whether it is to stand at the start of its tensor there.
    pub(super) fn site(&mut self, id: u32, wrapper: usize, at_start: bool) {
        self.accesses.push(AccessSite { id, wrapper, outermost: self.outermost, at_start });
    }

    pub(super) fn store(&mut self, result: Option<VarId>, call: &Call, origin: Origin) -> Selected<()> {
        let Some(source) = call.args.first().and_then(ir::Operand::var) else {
            return Err("the stored value is not a tile".to_string().into());
        };
        let tensor = self.tensor_operand(call.args.get(2))?;
        if let Some(var) = result {
            self.tensors.insert(var, tensor.clone());
        }
        let adds = adds(call)?;
        let tile = self.tile(source)?;
        let offsets = list(call.args.get(1)).ok_or_else(|| "the offsets are not a list".to_string())?;
        let shape = match list(call.args.get(3)) {
            Some(shape) if !shape.is_empty() => shape.to_vec(),
            _ => self.stored_window(source, tile, offsets.len()),
        };
        self.check_layouts(&tensor, tile, Use::Store)?;
        let limits = self.tile_extents(source, offsets.len());
        let access = self.access(&tensor, offsets, &shape, &limits, Use::Store)?;
        let wrapper = access.wrapper;
        let at_start = is_start(offsets) && tensor.args.len() == 1;
        let space = self.program.tile(tile).form.space;
        let template = if adds { self.atomic(tile, wrapper) } else { Vec::new() };
        let id = self.push(Instr {
            template,
            reads: vec![tile],
            access: Some(access),
            ..Instr::new("TSTORE", vec![Operand::Wrapper(wrapper), Operand::Tile(tile)], pipe_of_store(space), origin)
        });
        self.site(id, wrapper, at_start);
        Ok(())
    }

    /// `TSTORE<tType, outGlobalType, AtomicType::AtomicAdd>`
    pub(super) fn atomic(&self, tile: TileId, wrapper: usize) -> Vec<String> {
        let tile = self.program.tile(tile).type_name();
        let wrapper = format!("decltype({})", self.program.wrappers[wrapper].name);
        vec![tile, wrapper, "AtomicType::AtomicAdd".to_string()]
    }

    /// The valid part of a tile as a window of a tensor of that rank.
    pub(super) fn stored_window(&self, var: VarId, tile: TileId, rank: usize) -> Vec<Scalar> {
        let Some(ty) = self.kernel.tile(var) else { return Vec::new() };
        if let ((Elements::Known(rows), Elements::Known(cols)), 2..) = (&self.program.tile(tile).valid, rank) {
            return of_rank(rank, &[rows, cols].map(|extent| Scalar::Int(*extent as i64)), Scalar::Int(1));
        }
        match &ty.view.valid_shape {
            Some(valid) if !valid.is_empty() => of_rank(rank, valid, Scalar::Int(1)),
            _ => {
                let extents = self.tile_extents(var, rank);
                extents.iter().map(|extent| Scalar::Int(*extent as i64)).collect()
            }
        }
    }

    /// The shape of a tile in a tensor of that rank.
    pub(super) fn tile_extents(&self, tile: VarId, rank: usize) -> Vec<u64> {
        self.kernel.tile(tile).map(|ty| of_rank(rank, &ty.shape, 1)).unwrap_or_default()
    }

    pub(super) fn tensor_operand(&mut self, operand: Option<&ir::Operand>) -> Selected<TensorRef> {
        let var = operand.and_then(ir::Operand::var).ok_or_else(|| "the tensor is not a variable".to_string())?;
        match self.tensors.get(&var) {
            Some(tensor) => Ok(tensor.clone()),
            None => Err(format!("`{}` is not a tensor parameter", self.kernel.var(var).name).into()),
        }
    }

    pub(super) fn access(
        &mut self,
        tensor: &TensorRef,
        offsets: &[Scalar],
        window: &[Scalar],
        limits: &[u64],
        purpose: Use,
    ) -> Selected<Access> {
        let transposed = purpose == Use::LoadTransposed;
        let arg = tensor.args[0];
        let Arg { kind: ArgKind::Tensor(extents), name, .. } = &self.program.args[arg] else {
            return Err("not a tensor".to_string().into());
        };
        let (extents, name) = (extents.clone(), name.clone());
        let rank = extents.len();
        let declared = self.kernel.params.get(arg).and_then(|param| self.kernel.tensor(*param));
        if declared.is_some_and(|tensor| !tensor.rank_known) {
            return Err(format!("the shape of `{name}` is unknown").into());
        }
        if rank == 0 || rank > 5 {
            return Err(format!("`{name}` has {rank} dimensions; a GlobalTensor has one to five").into());
        }
        if offsets.len() != rank || window.len() != rank {
            return Err(format!(
                "`{name}` has {rank} dimensions, the access {} offsets and {} extents",
                offsets.len(),
                window.len()
            )
            .into());
        }
        let var = self.kernel.params.get(arg).map(|param| &self.kernel.var(*param).ty);
        let lies = match var {
            Some(Type::Tensor(ty)) => ty.layout,
            _ => TensorLayout::Nd,
        };
        let stored_swapped = lies == TensorLayout::Dn;
        // No stride depends on the first extent of a row-major tensor.
        let unused = |axis: usize| (axis == 0 && lies == TensorLayout::Nd).then_some(Elements::Known(1));
        let needed = extents.into_iter().enumerate().map(|(axis, extent)| extent.or_else(|| unused(axis)));
        let Some(extents) = needed.collect::<Option<Vec<Elements>>>() else {
            return Err(format!(
                "cannot compute the strides of `{name}`: its run-time extents are not passed to the kernel"
            )
            .into());
        };
        let mut strides = match self.strides_in_boxes(arg, lies, (&extents, offsets, window), transposed)? {
            Some(strides) => strides,
            None => windows::row_major_strides(&extents),
        };
        if stored_swapped && rank >= 2 {
            // [.., R, C] lies in memory as [.., C, R].
            strides[rank - 1] = extents[rank - 2].clone();
            strides[rank - 2] = Elements::Known(1);
        }
        if transposed && rank >= 2 {
            strides.swap(rank - 1, rank - 2);
        }
        let mut extents = Vec::with_capacity(rank);
        let mut run_time = Vec::new();
        for (axis, (extent, limit)) in window.iter().zip(limits).enumerate() {
            match constant_extent(extent) {
                Some(extent) => extents.push(extent),
                None => {
                    run_time.push((axis, expr::text(extent, self.kernel, &self.context)?));
                    extents.push(*limit);
                }
            }
        }
        let offsets = offsets.iter().map(|offset| self.offset(offset)).collect::<Selected<Vec<Offset>>>()?;
        let layout = match lies {
            _ if rank < 2 => TensorLayout::Nd,
            TensorLayout::Nd if transposed => TensorLayout::Dn,
            lies => lies,
        };
        let wrapper = self.wrapper(arg, (extents, run_time), strides, layout, purpose.is_of_elements());
        Ok(Access {
            wrapper,
            tensors: tensor.args.clone(),
            pointer: tensor.pointer.clone(),
            offsets,
            store: purpose.stores(),
            assign: tensor.args.len() > 1,
        })
    }

    /// Of a tensor in boxes: its strides at the borders of boxes, where every access must begin and end. `None` for others.
    fn strides_in_boxes(
        &self,
        arg: usize,
        layout: TensorLayout,
        (extents, offsets, window): (&[Elements], &[Scalar], &[Scalar]),
        transposed: bool,
    ) -> Selected<Option<Vec<Elements>>> {
        let Arg { name, dtype, .. } = &self.program.args[arg];
        let unit = match types::boxes(layout, *dtype) {
            Some(unit) => unit,
            None if matches!(layout, TensorLayout::Nd | TensorLayout::Dn) => return Ok(None),
            None => return Err(types::without_form(*dtype).into()),
        };
        let lies = format!("`{name}` is stored in boxes of {} x {} ({})", unit[0], unit[1], layout.name());
        let &[Elements::Known(rows), Elements::Known(cols)] = extents else {
            return Err(format!("{lies}, which C++ supports only for constant rows and columns").into());
        };
        let is_whole = |extent: &Scalar, unit: u64| {
            let affine = expr::affine(extent, &|var| self.loop_variables.contains(&var));
            affine.is_some_and(|affine| {
                let mut parts = affine.terms.iter().map(|(_, factor)| *factor).chain([affine.constant]);
                parts.all(|part| part.rem_euclid(unit as i64) == 0)
            })
        };
        let of_boxes = |extents: &[Scalar]| extents.iter().zip(unit).all(|(extent, unit)| is_whole(extent, unit));
        let constant = window.iter().all(|extent| constant_extent(extent).is_some());
        if transposed || !constant || !of_boxes(window) || !of_boxes(offsets) {
            return Err(format!("{lies}, but the window does not start and end at box boundaries").into());
        }
        let strides = types::strides_of_boxes(layout, [rows, cols], unit);
        Ok(Some(strides.map(Elements::Known).to_vec()))
    }

    /// The instruction library has transfers between layouts that match only (ND to ND, DN to DN, NZ to NZ, and into Mat ND to NZ
    /// and DN to ZN); a store of one row or column from Vec matches any.
    fn check_layouts(&self, tensor: &TensorRef, tile: TileId, purpose: Use) -> Selected<()> {
        let arg = tensor.args[0];
        let layout = match self.kernel.params.get(arg).map(|param| &self.kernel.var(*param).ty) {
            Some(Type::Tensor(ty)) if purpose == Use::LoadTransposed && ty.layout == TensorLayout::Nd => {
                TensorLayout::Dn
            }
            Some(Type::Tensor(ty)) => ty.layout,
            _ => return Ok(()),
        };
        let form = self.program.tile(tile).form;
        let lies = (form.blayout, form.slayout);
        let is_line = form.space == Space::Vec && (form.rows == 1 || form.cols == 1);
        let fits = match layout {
            _ if purpose == Use::Store && is_line => true,
            TensorLayout::Nd => true,
            TensorLayout::Dn => form.space == Space::Mat || lies == (BLayout::ColMajor, SLayout::NoneBox),
            TensorLayout::Nz => lies == (BLayout::ColMajor, SLayout::RowMajor),
            TensorLayout::MxAZz | TensorLayout::MxBNn => {
                let of = layout.of_scales().map(|of| (of.blayout, of.slayout, of.fractal));
                form.space == Space::Mat && of == Some((lies.0, lies.1, form.fractal))
            }
        };
        if fits {
            return Ok(());
        }
        let (tensor, tile) = (&self.program.args[arg].name, &self.program.tile(tile).name);
        let how = match layout {
            TensorLayout::Dn => "column by column",
            _ => "in boxes",
        };
        let message = format!("`{tensor}` is stored {how} ({}), but `{tile}` in {} is not", layout.name(), form.space);
        Err(message.into())
    }

    /// A tile in boxes is filled from two dimensions. Leading ones are counted with the rows where these go on without a gap.
    fn fill_boxes(&mut self, tile: TileId, wrapper: usize) -> Selected<()> {
        let tile = self.program.tile(tile);
        let of = &self.program.wrappers[wrapper];
        let boxed = tile.form.slayout != SLayout::NoneBox && matches!(of.layout, TensorLayout::Nd | TensorLayout::Dn);
        let Some(rows) = of.window.len().checked_sub(2).filter(|_| boxed) else { return Ok(()) };
        let mut window = of.window.clone();
        for axis in (0..rows).rev() {
            if window[axis] == 1 {
                continue;
            }
            let fixed = |axis: usize| of.run_time.iter().all(|(of, _)| *of != axis);
            let without_gap = match (&of.strides[axis], &of.strides[rows]) {
                (Elements::Known(outer), Elements::Known(row)) => Some(*outer) == row.checked_mul(window[rows]),
                _ => false,
            };
            if of.layout != TensorLayout::Nd || !fixed(axis) || !fixed(rows) || !without_gap {
                let (tensor, tile) = (&self.program.args[of.arg].name, &tile.name);
                let rank = window.len() - axis;
                let message = format!(
                    "`{tile}` is stored in boxes, which the instruction library fills from two dimensions, but the window of `{tensor}` has {rank}, with gaps between its pages; load the pages one by one"
                );
                return Err(message.into());
            }
            window[rows] = window[rows].saturating_mul(window[axis]);
            window[axis] = 1;
        }
        self.program.wrappers[wrapper].window = window;
        Ok(())
    }

    fn offset(&self, scalar: &Scalar) -> Selected<Offset> {
        Ok(Offset {
            text: expr::text(scalar, self.kernel, &self.context)?,
            affine: expr::affine(scalar, &|var| self.loop_variables.contains(&var)),
        })
    }

    /// The wrapper of a window; each distinct window of a tensor has its own.
    fn wrapper(
        &mut self,
        arg: usize,
        (window, run_time): (Vec<u64>, Vec<(usize, String)>),
        strides: Vec<Elements>,
        layout: TensorLayout,
        element: bool,
    ) -> usize {
        let of_tensor = |wrapper: &Wrapper| wrapper.arg == arg && wrapper.element == element;
        let of_tensor = self.program.wrappers.iter().enumerate().filter(|(_, wrapper)| of_tensor(wrapper));
        let mut number = 0;
        for (index, wrapper) in of_tensor {
            let same = wrapper.window == window && wrapper.layout == layout;
            if same && wrapper.run_time.is_empty() && run_time.is_empty() {
                return index;
            }
            number += 1;
        }
        let base = format!("{}Global", self.program.args[arg].name);
        let is_first = number == 0 || element;
        let name = if is_first { base } else { self.context.fresh_wrapper(&format!("{base}_{number}")) };
        self.program.wrappers.push(Wrapper { arg, name, number, window, run_time, strides, layout, element });
        self.program.wrappers.len() - 1
    }

    /// Another wrapper of the same window, for an instruction that needs it at two places.
    pub(super) fn second_wrapper(&mut self, wrapper: usize) -> usize {
        let first = self.program.wrappers[wrapper].clone();
        let of_tensor = |other: &&Wrapper| other.arg == first.arg && !other.element;
        let number = self.program.wrappers.iter().filter(of_tensor).count() as u32;
        let name = self.context.fresh_wrapper(&format!("{}Global_{number}", self.program.args[first.arg].name));
        self.program.wrappers.push(Wrapper { name, number, ..first });
        self.program.wrappers.len() - 1
    }
}

/// Whether a store adds to what is there.
pub(super) fn adds(call: &Call) -> Selected<bool> {
    match call.attr(AttrName::Atomic) {
        None | Some(Attr::Int(0) | Attr::Unknown(_)) => Ok(false),
        Some(Attr::Int(1)) => Ok(true),
        Some(_) => Err("no instruction for this kind of atomic store".to_string().into()),
    }
}

/// Without surplus leading extents, or with leading ones.
fn of_rank<T: Clone>(rank: usize, extents: &[T], one: T) -> Vec<T> {
    let missing = rank.saturating_sub(extents.len());
    let surplus = extents.len().saturating_sub(rank);
    std::iter::repeat_n(one, missing).chain(extents[surplus..].iter().cloned()).collect()
}

fn is_start(offsets: &[Scalar]) -> bool {
    offsets.iter().all(|offset| offset.as_int() == Some(0))
}

/// The accesses that must move their wrapper: all that are not at the start of the tensor, and those at the start that
/// may find the wrapper moved by an earlier access or by a later one of the same loop.
pub(super) fn assigned(accesses: &[AccessSite]) -> FxHashSet<u32> {
    let mut moved: FxHashMap<usize, Vec<&AccessSite>> = FxHashMap::default();
    for site in accesses.iter().filter(|site| !site.at_start) {
        moved.entry(site.wrapper).or_default().push(site);
    }
    accesses
        .iter()
        .filter(|site| {
            let Some(moved) = moved.get(&site.wrapper) else { return false };
            let same_loop = |other: &&AccessSite| site.outermost.is_some() && other.outermost == site.outermost;
            !site.at_start || moved.iter().any(|other| other.id < site.id || same_loop(other))
        })
        .map(|site| site.id)
        .collect()
}

pub(super) fn assign(steps: &mut [Step], assigned: &FxHashSet<u32>) {
    for step in steps {
        match step {
            Step::Instr(instr) => {
                if let Some(access) = &mut instr.access {
                    access.assign |= assigned.contains(&instr.id);
                }
            }
            Step::Loop(node) => assign(&mut node.body, assigned),
            Step::If(node) => {
                assign(&mut node.then, assigned);
                if let Some(otherwise) = &mut node.otherwise {
                    assign(otherwise, assigned);
                }
            }
            Step::Local { .. } | Step::Declare(_) | Step::Sync(..) | Step::Missing { .. } => {}
        }
    }
}
