//! Calls: which room selects an operation, and the operations that are one instruction.

use std::borrow::Cow;

use tilefit_python::diagnostics::Code;
use tilefit_python::finding::Origin;

use crate::ir::{self, Attr, AttrName, BLayout, Call, Scalar, VarId};
use crate::ops::selection::{Alike, Broadcast, Columns, Index, Instruction, Printed, Template, Unit};
use crate::ops::{BarrierMode, CoreType, OpId, Selection, Shape};

use super::tiles::{no_tile, size};
use super::{Refusal, Selected, Selector, list};
use crate::codegen::expr;
use crate::codegen::modes;
use crate::codegen::sequence::{
    self, By, Elements, Instr, Missing, Operand, Pipe, Step, Sync, Tile, TileId, pipe_of, pipe_of_move,
};
use crate::codegen::types::{self, TileForm};
use crate::target::Target;

/// Of the sixteen flags between the cores, the last that is not the runtime's.
const LAST_FLAG_OF_CORES: i64 = 13;

impl Selector<'_> {
    pub(super) fn call_or_report(&mut self, result: Option<VarId>, call: &Call, origin: Origin) {
        if let Err(refusal) = self.call(result, call, origin) {
            self.missing(Missing::Operation(call.op.op().name), origin, refusal);
        }
    }

    pub(super) fn call(&mut self, result: Option<VarId>, call: &Call, origin: Origin) -> Selected<()> {
        match &call.op.op().selection {
            Selection::None => Err(no_instruction(call).into()),
            Selection::One(instruction) => self.instruction(instruction, result, call, origin),
            Selection::Declaration => Ok(()),
            Selection::SameTensor => self.same_tensor(result, call),
            Selection::Load => self.load(result, call, origin),
            Selection::Store => self.store(result, call, origin),
            Selection::View => self.view(result, call, origin),
            Selection::Slice(copy) => self.slice(copy, result, call, origin),
            Selection::Reshape(instruction) => self.reshape(instruction, result, call, origin),
            Selection::Gather(instruction) => self.gather(instruction, result, call, origin),
            Selection::GatherCompare => self.gather_compare(result, call, origin),
            Selection::GatherRow => self.gather_row(result, call, origin),
            Selection::GatherFromTensor => self.mgather(result, call, origin),
            Selection::ScatterToTensor => self.mscatter(result, call, origin),
            Selection::MergeSorted => self.merge_sorted(result, call, origin),
            Selection::Random => self.random(result, call, origin),
            Selection::Accumulation(_) if call.args.len() > 3 => self.matmul_from_first_step(result, call, origin),
            Selection::Accumulation(instruction) => self.instruction(instruction, result, call, origin),
            Selection::ScaledProduct(instruction, scaled) => {
                self.scaled_product(instruction, *scaled, result, call, origin)
            }
            Selection::ReadElement => self.read_element(result, call, origin),
            Selection::WriteElement => self.write_element(result, call, origin),
            Selection::ReadTensor => self.read_tensor(result, call, origin),
            Selection::WriteTensor => self.write_tensor(result, call, origin),
            Selection::MakeArray => self.make_array(result, origin),
            Selection::ReadArray => self.read_array(result, call, origin),
            Selection::WriteArray => self.write_array(result, call, origin),
            Selection::Index(index) => self.index(*index, result, call, origin),
            Selection::CommContext => self.comm_context(result, call),
            Selection::Rank => self.comm_number("comm_rank", result, call, origin),
            Selection::RankCount => self.comm_number("comm_nranks", result, call, origin),
            Selection::Notify => self.notify(call, origin),
            Selection::WaitFor => self.wait_for(call, origin),
            Selection::RemoteLoad => self.remote_load(result, call, origin),
            Selection::RemoteStore => self.remote_store(call, origin),
            Selection::Staged => self.staged(call, origin),
            Selection::PushTile => self.push_tile(call, origin),
            Selection::PopTile => self.pop_tile(result, call, origin),
            Selection::FreeTile => self.free_tile(call, origin),
            Selection::SetFlag => self.author_sync(call, origin, |src, dst, event| Sync::Set { src, dst, event }),
            Selection::WaitFlag => self.author_sync(call, origin, |src, dst, event| Sync::Wait { src, dst, event }),
            Selection::FlagBetweenCores => Err(between_cores(call, call.args.first())),
            Selection::FlagsBetweenCores => Err(between_cores(call, None)),
            Selection::VectorBarrier => self.sync(Sync::Barrier(Some(Pipe::V)), origin),
            Selection::CubeBarrier => self.sync(Sync::Barrier(Some(Pipe::M)), origin),
            Selection::BarrierOfAll => self.sync(Sync::Barrier(None), origin),
            Selection::SyncAll => self.sync_all(call, origin),
        }
    }

    fn sync(&mut self, sync: Sync, origin: Origin) -> Selected<()> {
        self.steps.push(Step::Sync(sync, By::Author(origin)));
        Ok(())
    }

    fn author_sync(&mut self, call: &Call, origin: Origin, make: fn(Pipe, Pipe, u8) -> Sync) -> Selected<()> {
        let pipe = |name: AttrName| match call.attr(name) {
            Some(Attr::Pipe(pipe)) => Ok(*pipe),
            Some(Attr::Str(other)) => Err(Refusal {
                code: Code::WrongPipe,
                message: format!("`{name}` is one pipe of the core, not `{other}`"),
            }),
            _ => Err(format!("`{name}` is unknown").into()),
        };
        let Some(event) = call.int(AttrName::EventId) else {
            return Err("`event_id` is unknown".to_string().into());
        };
        let Some(event) = u8::try_from(event).ok().filter(|event| *event < sequence::EVENTS) else {
            let message = format!("`event_id` is 0 to 7, not {event}: two pipes have eight events between them");
            return Err(Refusal { code: Code::InvalidOperand, message });
        };
        self.sync(make(pipe(AttrName::SetPipe)?, pipe(AttrName::WaitPipe)?, event), origin)
    }

    /// `SYNCALL<SyncCoreType::Mix>()`: every core waits until all have come so far, each with all of its pipes.
    fn sync_all(&mut self, call: &Call, origin: Origin) -> Selected<()> {
        let cores = match call.core_type() {
            Some(CoreType::AivOnly) => "AIVOnly",
            Some(CoreType::AicOnly) => "AICOnly",
            Some(CoreType::Mix) => "Mix",
            _ => return Err("`core_type` is aiv_only, aic_only or mix".to_string().into()),
        };
        let mut template = vec![format!("SyncCoreType::{cores}")];
        let (mut operands, mut access) = (Vec::new(), None);
        match call.attr(AttrName::Mode) {
            Some(Attr::BarrierMode(BarrierMode::Hard)) => {}
            Some(Attr::BarrierMode(BarrierMode::Soft)) => {
                template.insert(0, "SyncAllMode::Soft".to_string());
                let counters = self.whole(call.args.first(), true)?;
                operands.push(Operand::Wrapper(counters.wrapper));
                if let Some(used) = call.args.get(1) {
                    operands.push(self.operand(used)?);
                }
                access = Some(counters);
            }
            _ => return Err("`mode` is hard or soft".to_string().into()),
        }
        self.steps.push(Step::Sync(Sync::Barrier(None), By::Stage(origin)));
        self.push(Instr { template, access, ..Instr::new("SYNCALL", operands, Pipe::S, origin) });
        Ok(())
    }

    pub(super) fn index(&mut self, index: Index, result: Option<VarId>, call: &Call, origin: Origin) -> Selected<()> {
        let Some(var) = result else { return Ok(()) };
        let value = expr::text(&Scalar::Call(Box::new(call.clone())), self.kernel, &self.context)?;
        let name = self.context.register_scalar(var, &self.kernel.var(var).name);
        self.context.mark_natural(var);
        if index == Index::VectorUnit {
            // The same number wherever it is used, so that offsets count with it.
            self.loop_variables.insert(var);
            self.program.units.push(var);
        }
        self.steps.push(Step::Local { name, ty: "auto".to_string(), value, origin });
        Ok(())
    }

    /// One instruction on the operands of the call, as its row prints them.
    pub(super) fn instruction(
        &mut self,
        instruction: &'static Instruction,
        result: Option<VarId>,
        call: &Call,
        origin: Origin,
    ) -> Selected<()> {
        let Some(result) = result else {
            return Err(format!("the result of `{}` is not bound to a name", call.op.op().name).into());
        };
        let (row, call) = self.of_equal_shapes(instruction, call, result)?;
        let call = &*call;
        let mut operands = Vec::with_capacity(row.operands.len() + 1);
        let (mut reads, mut writes, mut sources) = (Vec::new(), Vec::new(), Vec::new());
        for printed in row.operands {
            let operand = self.printed(*printed, call, result, origin)?;
            if let Operand::Tile(tile) = operand {
                sources.push(self.program.tile(tile).form.space);
                reads.push(tile);
                if matches!(printed, Printed::Tmp(_)) {
                    writes.push(tile);
                }
            }
            operands.push(operand);
        }
        let destination = self.tile(result)?;
        if row.operands.contains(&Printed::Compare) {
            self.count_bits(destination, reads[0]);
        }
        let changed = match (call.op, reads.first()) {
            (OpId::ASSEMBLE, Some(source)) => self.inserted_part(destination, *source, list(call.args.get(2))),
            _ => destination,
        };
        writes.insert(0, changed);
        operands.insert(0, Operand::Tile(destination));
        if row.alike != Alike::Nothing {
            self.make_alike(row.alike, &mut operands, &mut reads, origin)?;
        }
        self.lay_out(row, &mut operands, origin)?;
        let template = row.template.iter().map(|of| self.template(*of, call, destination)).collect::<Selected<_>>()?;
        let pipe = match row.unit {
            Unit::OfSpaces => pipe_of(self.program.tile(destination).form.space, &sources),
            Unit::OfMove => pipe_of_move(self.program.tile(destination).form.space, &sources),
            Unit::Scalar => Pipe::S,
            Unit::Nothing if self.is_same_place(destination, &reads) => {
                self.point(row.name, operands, origin);
                return Ok(());
            }
            Unit::ScalarBehindBlocks if self.ends_within_a_block(&reads) => Pipe::S,
            Unit::Nothing | Unit::ScalarBehindBlocks => Pipe::V,
        };
        let inserted = self.kernel.var(result).inserted.is_some();
        let instr = Instr { template, reads, writes, inserted, ..Instr::new(row.name, operands, pipe, origin) };
        if row.unit == Unit::ScalarBehindBlocks && pipe == Pipe::S {
            self.on_two_units(instr);
        } else {
            self.push(instr);
        }
        Ok(())
    }

    /// An instruction of the vector and the scalar unit at once: nothing is in flight when it begins, nor when it has ended.
    pub(super) fn on_two_units(&mut self, instr: Instr) {
        let barrier = Step::Sync(Sync::Barrier(None), By::Stage(instr.origin));
        self.steps.push(barrier.clone());
        self.push(instr);
        self.steps.push(barrier);
    }

    /// Whether a tile certainly lies where its source does.
    fn is_same_place(&self, tile: TileId, sources: &[TileId]) -> bool {
        let of = |tile: TileId| self.program.tile(tile).address.filter(|_| !self.moving.contains(&tile));
        of(tile).is_some() && sources.iter().all(|source| of(*source) == of(tile))
    }

    /// Whether the valid rows of the first operand may end within a block of 32 bytes, on a machine where that matters.
    fn ends_within_a_block(&self, operands: &[TileId]) -> bool {
        let whole_blocks = |tile: &TileId| {
            let Tile { form, valid, .. } = self.program.tile(*tile);
            let bits = form.dtype.storage_bits();
            matches!(valid.1, Elements::Known(cols) if cols.saturating_mul(bits).is_multiple_of(256))
        };
        self.target == Target::Ascend910b && !operands.first().is_some_and(whole_blocks)
    }

    /// Columns are passed as rows, or refused.
    fn lay_out(&mut self, row: &Instruction, operands: &mut [Operand], origin: Origin) -> Selected<()> {
        match row.columns {
            Columns::Taken => Ok(()),
            Columns::AsRows => {
                for operand in operands {
                    if self.is_column(operand)
                        && let Operand::Tile(tile) = operand
                    {
                        *tile = self.as_row(*tile, origin);
                    }
                }
                Ok(())
            }
            Columns::Refused { row_major, column } => {
                let instruction = row.name;
                let one = row_major.iter().filter_map(|at| operands.get(*at)).find(|it| self.is_column(it));
                if let Some(Operand::Tile(one)) = one {
                    let Tile { name, form, .. } = self.program.tile(*one);
                    let (rows, takes) = (form.rows, "takes tiles that are stored row by row");
                    return Err(format!("`{name}` is one column of {rows} rows, and {instruction} {takes}").into());
                }
                match column.and_then(|at| operands.get(at)) {
                    Some(Operand::Tile(values)) if self.is_column_of_rows(*values) => {
                        let Tile { name, form, .. } = self.program.tile(*values);
                        let apart = format!("`{name}` has one value a row, {} elements apart", form.cols);
                        Err(format!("{apart}, and {instruction} takes those of a tile of one column").into())
                    }
                    _ => Ok(()),
                }
            }
        }
    }

    /// Whether a tile that lies row by row has data in its first column only: of such a row the library takes a block of 32 bytes.
    fn is_column_of_rows(&self, tile: TileId) -> bool {
        let Tile { form, valid, .. } = self.program.tile(tile);
        form.blayout == BLayout::RowMajor && form.cols > 1 && valid.1 == Elements::Known(1)
    }

    /// Instructions on two tiles do not broadcast: one row or one column for all of the other tile has instructions of its own.
    fn of_equal_shapes<'c>(
        &self,
        row: &'static Instruction,
        call: &'c Call,
        result: VarId,
    ) -> Selected<(&'static Instruction, Cow<'c, Call>)> {
        let op = call.op.op();
        let (Shape::Broadcast(operands), Some(whole)) = (op.shape, self.kernel.tile(result)) else {
            return Ok((row, Cow::Borrowed(call)));
        };
        let shape_of = |arg: &ir::Operand| arg.var().and_then(|var| self.kernel.tile(var)).map(|tile| &tile.shape);
        let is_smaller = |arg: &usize| {
            call.args.get(*arg).and_then(shape_of).is_some_and(|shape| shape.as_slice() != whole.shape.as_slice())
        };
        let takes_parts = row.broadcast == Broadcast::Parts;
        let Some(smaller) = operands.iter().map(|arg| *arg as usize).find(is_smaller).filter(|_| !takes_parts) else {
            return Ok((row, Cow::Borrowed(call)));
        };
        let refused = || {
            let shape = shape_of(&call.args[smaller]).map(Vec::as_slice).unwrap_or_default();
            let whole = &whole.shape;
            Refusal::from(format!(
                "no instruction for `{}` of tiles of {shape:?} and {whole:?} in generated code",
                op.name
            ))
        };
        let (Some([rows, cols]), [all_rows, all_cols]) =
            (shape_of(&call.args[smaller]).map(Vec::as_slice), whole.shape.as_slice())
        else {
            return Err(refused());
        };
        let one_row = *rows == 1 && cols == all_cols;
        let one_column = *cols == 1 && rows == all_rows;
        let row = match row.broadcast {
            Broadcast::Expanded(expansion) if call.args.len() == 2 && (smaller == 1 || expansion.commutes) => {
                match (one_row, one_column) {
                    (true, _) => &expansion.of_row,
                    (false, true) => &expansion.of_column,
                    (false, false) => return Err(refused()),
                }
            }
            _ => return Err(refused()),
        };
        let mut call = call.clone();
        if smaller == 0 {
            call.args.swap(0, 1);
        }
        if shape_of(&call.args[0]) != Some(&whole.shape) {
            return Err(refused());
        }
        Ok((row, Cow::Owned(call)))
    }

    /// Gives operands the C++ type of the result: another name where only the padding differs, else a copy.
    fn make_alike(
        &mut self,
        alike: Alike,
        operands: &mut [Operand],
        reads: &mut Vec<TileId>,
        origin: Origin,
    ) -> Selected<()> {
        let Some((Operand::Tile(result), operands)) = operands.split_first_mut() else { return Ok(()) };
        let Tile { form, valid, .. } = self.program.tile(*result).clone();
        let mut renamed: Vec<(TileId, TileId)> = Vec::new();
        for operand in operands {
            let Operand::Tile(tile) = *operand else { continue };
            if let Some((_, alias)) = renamed.iter().find(|(of, _)| *of == tile) {
                *operand = Operand::Tile(*alias);
                continue;
            }
            let source = self.program.tile(tile).clone();
            let same_elements = source.form.dtype == form.dtype && source.form.space == form.space;
            let (form, is_of_result) = match alike {
                Alike::SimulatedColumns => (TileForm { cols: form.cols, ..source.form }, true),
                _ => (form, source.valid == valid),
            };
            if source.form == form || !same_elements || !is_of_result {
                continue;
            }
            if (TileForm { pad: form.pad, ..source.form }) == form && !self.moving.contains(&tile) {
                let name = format!("{}_plain", source.name);
                let alias = self.own_tile(&name, form, source.address, origin);
                self.program.tiles[alias.0 as usize].valid = source.valid;
                *operand = Operand::Tile(alias);
                renamed.push((tile, alias));
                continue;
            }
            let address = match self.scratch_address(form) {
                Ok(address) => address,
                // The hardware takes it as it is.
                Err(_) if alike != Alike::Type => continue,
                Err(refusal) => {
                    let shape = format!("rows of {} elements and the result rows of {}", source.form.cols, form.cols);
                    let name = &source.name;
                    return Err(format!(
                        "`{name}` has {shape}, which the instruction does not take; {}",
                        refusal.message
                    )
                    .into());
                }
            };
            let copy = self.copy_tile(tile, form, Some(address), origin);
            reads.push(copy);
            *operand = Operand::Tile(copy);
            renamed.push((tile, copy));
        }
        Ok(())
    }

    /// Room after everything that is planned.
    pub(super) fn scratch_address(&mut self, form: TileForm) -> Selected<u64> {
        let address = self.vec_end.next_multiple_of(32);
        let end = address.saturating_add(size(form));
        if self.vec_capacity.is_some_and(|capacity| end > capacity) {
            return Err(format!("no room for {} bytes of scratch after the planned tiles", size(form)).into());
        }
        self.vec_end = end;
        Ok(address)
    }

    /// A mask has one bit for each element that was compared: its valid columns are their bytes.
    fn count_bits(&mut self, mask: TileId, compared: TileId) {
        if let (Elements::Known(rows), Elements::Known(cols)) = self.program.tile(compared).valid {
            self.program.tiles[mask.0 as usize].valid = (Elements::Known(rows), Elements::Known(cols.div_ceil(8)));
        }
    }

    fn template(&mut self, of: Template, call: &Call, result: TileId) -> Selected<String> {
        Ok(match of {
            Template::Result => self.program.tile(result).type_name(),
            Template::Element => {
                let dtype = self.program.tile(result).form.dtype;
                types::dtype(dtype).ok_or_else(|| format!("{dtype} has no C++ type"))?.to_string()
            }
            Template::Type(arg) => {
                let tile = self.tile_operand(call, arg)?;
                self.program.tile(tile).type_name()
            }
            Template::Flag(name) => match call.attr(name) {
                Some(Attr::Bool(set)) => u8::from(*set).to_string(),
                None => "0".to_string(),
                Some(_) => return Err(format!("`{name}` is unknown").into()),
            },
            Template::Pattern => match call.int(AttrName::MaskPattern).and_then(modes::mask_pattern) {
                Some(pattern) => format!("MaskPattern::{pattern}"),
                None => return Err("the mask pattern is unknown".to_string().into()),
            },
        })
    }

    /// An operand that must be a tile.
    pub(super) fn tile_operand(&mut self, call: &Call, arg: u8) -> Selected<TileId> {
        match call.args.get(arg as usize).and_then(ir::Operand::var) {
            Some(var) if self.kernel.tile(var).is_some() => self.tile(var),
            Some(var) if matches!(self.kernel.var(var).ty, ir::Type::Unknown(_)) => {
                Err(no_tile(self.kernel.var(var)).into())
            }
            _ => Err(format!("operand {arg} of `{}` is not a tile", call.op.op().name).into()),
        }
    }

    pub(super) fn push(&mut self, mut instr: Instr) -> u32 {
        instr.id = self.next_id;
        self.next_id += 1;
        let id = instr.id;
        self.steps.push(Step::Instr(instr));
        id
    }

    fn is_column(&self, operand: &Operand) -> bool {
        matches!(operand, Operand::Tile(tile) if self.program.tile(*tile).form.is_column())
    }

    fn printed(&mut self, printed: Printed, call: &Call, result: VarId, origin: Origin) -> Selected<Operand> {
        let name = call.op.op().name;
        let argument = |index: u8| {
            call.args.get(index as usize).ok_or_else(|| Refusal::from(format!("`{name}` has no operand {index}")))
        };
        match printed {
            Printed::Arg(index) => self.operand(argument(index)?),
            Printed::Item(index, item) => match argument(index)? {
                ir::Operand::List(items) => match items.get(item as usize) {
                    Some(scalar) => Ok(Operand::Text(expr::text(scalar, self.kernel, &self.context)?)),
                    None => Err(format!("`{name}` needs an offset of two dimensions").into()),
                },
                _ => Err(format!("the offset of `{name}` is not a list").into()),
            },
            Printed::Tmp(index) => match call.args.get(index as usize) {
                Some(argument) => self.operand(argument),
                None => {
                    let source = self.operand(argument(0)?)?;
                    Ok(Operand::Tile(self.scratch(source, result, origin)?))
                }
            },
            Printed::Round => match call.int(AttrName::Mode).and_then(modes::round_mode) {
                Some(mode) => Ok(Operand::Text(mode.to_string())),
                None => Err("the rounding mode is unknown".to_string().into()),
            },
            Printed::Compare => match call.int(AttrName::CmpType).and_then(modes::compare_mode) {
                Some(mode) => Ok(Operand::Text(mode.to_string())),
                None => Err("the kind of comparison is unknown".to_string().into()),
            },
        }
    }

    pub(super) fn operand(&mut self, operand: &ir::Operand) -> Selected<Operand> {
        match operand {
            ir::Operand::Var(var) if self.kernel.tile(*var).is_some() => Ok(Operand::Tile(self.tile(*var)?)),
            ir::Operand::Var(var) => Ok(Operand::Text(expr::text(&Scalar::Var(*var), self.kernel, &self.context)?)),
            ir::Operand::Scalar(scalar) => Ok(Operand::Text(expr::text(scalar, self.kernel, &self.context)?)),
            ir::Operand::List(_) => Err("a list is not an operand of an instruction".to_string().into()),
            ir::Operand::Unknown(reason) => Err(reason.to_string().into()),
        }
    }

    /// Scratch after everything that is planned, for a call that has none.
    fn scratch(&mut self, source: Operand, result: VarId, origin: Origin) -> Selected<TileId> {
        let Operand::Tile(source) = source else {
            return Err("scratch for an operand that is not a tile".to_string().into());
        };
        let form = self.program.tile(source).form;
        let address = self.scratch_address(form)?;
        let name = format!("{}_tmp", self.kernel.var(result).name);
        Ok(self.own_tile(&name, form, Some(address), origin))
    }
}

/// Flags between the cores: the instruction library raises them for its queues and barriers, and has no instruction for them alone.
fn between_cores(call: &Call, event: Option<&ir::Operand>) -> Refusal {
    let name = call.op.op().name;
    let event = event.and_then(|event| match event {
        ir::Operand::Scalar(event) => event.as_int(),
        _ => None,
    });
    match event.filter(|event| !(0..=LAST_FLAG_OF_CORES).contains(event)) {
        Some(event) => Refusal {
            code: Code::InvalidOperand,
            message: format!(
                "{name} event_id must be in the user-available range [0, {LAST_FLAG_OF_CORES}], got {event}"
            ),
        },
        None => Refusal::from(format!(
            "{}; pass tiles through a queue (`pl.tpush_to_aic`, `pl.tpush_to_aiv`), or use `pl.system.syncall()`",
            no_instruction(call)
        )),
    }
}

fn no_instruction(call: &Call) -> String {
    format!("no instruction for `{}` in generated code", call.op.op().name)
}
