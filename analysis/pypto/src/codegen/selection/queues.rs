//! Queues between the cube and the vector core: their declarations, pushes, pops, and giving slots back.

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::finding::Origin;

use crate::ir::{Attr, AttrName, Call, KernelKind, Operand as Argument, Stmt, Type, Value, VarId, visit};
use crate::memory::reservations;
use crate::ops::OpId;
use crate::target::{Space, Target};

use super::tiles::size;
use super::{Refusal, Selected, Selector};
use crate::codegen::sequence::{
    Action, Addressing, Declared, Direction, Elements, Instr, Operand, Pipe, Queue, TileId, Transfer, pipe_of_store,
};
use crate::codegen::types::TileForm;

/// Slots of a queue whose author gives no number: less where both directions share it (`slotNum` of PTOAS).
const SLOTS: u64 = 8;
const SLOTS_OF_BOTH: u64 = 4;

/// Queues have sixteen flags in all, of which each takes four.
const QUEUES: i64 = 4;

/// `dir_mask=`
const TO_VECTOR: i64 = 1;
const TO_CUBE: i64 = 2;

impl Selector<'_> {
    /// Declares the queues that the kernel pushes to and pops from.
    pub(super) fn queues(&mut self) {
        let mut written = Vec::new();
        let mut transfers = Vec::new();
        let mut gives_back = false;
        visit::statements(&self.kernel.body, &mut |stmt| {
            let Some(call) = visit::call_of(stmt) else { return };
            match call.op {
                OpId::AIC_INITIALIZE_PIPE | OpId::AIV_INITIALIZE_PIPE => written.push(call),
                OpId::TFREE_TO_AIC | OpId::TFREE_TO_AIV => gives_back = true,
                OpId::TPUSH_TO_AIC | OpId::TPUSH_TO_AIV | OpId::TPOP_FROM_AIC | OpId::TPOP_FROM_AIV => {
                    let result = if let Stmt::Let { var, .. } = stmt { Some(*var) } else { None };
                    transfers.push((result, call));
                }
                _ => {}
            }
        });
        if transfers.is_empty() {
            return;
        }
        self.frees_slots = !gives_back;
        let reserved = reservations(self.kernel);
        let mut queues = if written.is_empty() {
            vec![self.queue_of_split(&transfers)]
        } else {
            let mut queues = Vec::new();
            for call in written {
                match self.written_queue(call) {
                    Ok(queue) => queues.push(queue),
                    Err(refusal) => self.report(call.origin, refusal),
                }
            }
            queues
        };
        queues.sort_by_key(|queue| queue.id);
        // Both kernels lay the queues out in the order of their numbers.
        let buffer = self.queue_buffer();
        let mut bytes = 0;
        for queue in &mut queues {
            queue.name = self.context.fresh_wrapper("pipe");
            queue.buffer = match &buffer {
                Some(buffer) if bytes == 0 => buffer.clone(),
                Some(buffer) => format!("{buffer} + {}", bytes / 4),
                None => "nullptr".to_string(),
            };
            let directions = if queue.direction == Direction::Both { 2 } else { 1 };
            bytes = queue.slot_bytes.saturating_mul(directions).saturating_mul(queue.slots).saturating_add(bytes);
        }
        let end = reserved.iter().map(|reservation| reservation.base + reservation.size).max().unwrap_or(0);
        if self.kernel.kind != KernelKind::Aic {
            self.vec_end = self.vec_end.max(end);
        }
        self.program.queues = queues;
    }

    /// The queue of a kernel that the compiler split: as large as the largest tile that goes through it.
    fn queue_of_split(&self, transfers: &[(Option<VarId>, &Call)]) -> Queue {
        let slots = self.kernel.cross_core.slots.max(1);
        let (mut to_vector, mut to_cube, mut largest) = (false, false, 0);
        for (result, call) in transfers {
            match call.op {
                OpId::TPUSH_TO_AIV | OpId::TPOP_FROM_AIC => to_vector = true,
                _ => to_cube = true,
            }
            let var = result.or_else(|| call.args.first().and_then(Argument::var));
            let Some(tile) = var.and_then(|var| self.kernel.tile(var)) else { continue };
            let elements = tile.shape.iter().fold(1, |all: u64, &extent| all.saturating_mul(extent));
            // What the vector units share is one tile in the queue.
            let shared = tile.space == Some(Space::Vec) && call.int(AttrName::Split).unwrap_or(0) != 0;
            let bytes = elements.saturating_mul(tile.dtype.logical_bits()).div_ceil(8) * if shared { 2 } else { 1 };
            largest = largest.max(bytes);
        }
        let reserved = reservations(self.kernel).first().map(|ring| ring.size / slots);
        Queue {
            name: String::new(),
            id: 0,
            direction: match (to_vector, to_cube) {
                (true, true) => Direction::Both,
                (true, false) => Direction::ToVector,
                _ => Direction::ToCube,
            },
            slot_bytes: reserved.unwrap_or(largest),
            slots,
            local_slots: slots,
            buffer: String::new(),
            arrival: [0, 0],
            origin: self.kernel.name_origin,
        }
    }

    /// `pl.aiv_initialize_pipe(c2v, v2c, dir_mask=…, slot_size=…)`
    fn written_queue(&self, call: &Call) -> Selected<Queue> {
        let number = |name: AttrName| -> Selected<Option<u64>> {
            match call.attr(name) {
                Some(Attr::Int(value)) if *value > 0 => Ok(Some(value.unsigned_abs())),
                None => Ok(None),
                Some(_) => Err(format!("`{name}` is unknown").into()),
            }
        };
        let direction = match call.int(AttrName::DirMask) {
            Some(TO_VECTOR) => Direction::ToVector,
            Some(TO_CUBE) => Direction::ToCube,
            Some(mask) if mask == TO_VECTOR | TO_CUBE => Direction::Both,
            Some(mask) => return Err(format!("a queue has no direction {mask}").into()),
            None => return Err("`dir_mask` is unknown".to_string().into()),
        };
        let id = call.int(AttrName::Id).unwrap_or(0);
        if !(0..QUEUES).contains(&id) {
            return Err(format!("`id` is 0 to 3, not {id}: a core has sixteen flags, and a queue takes four").into());
        }
        let slot_bytes = number(AttrName::SlotSize)?.ok_or_else(|| "`slot_size` is unknown".to_string())?;
        let usual = if direction == Direction::Both { SLOTS_OF_BOTH } else { SLOTS };
        let slots = number(AttrName::SlotNum)?.unwrap_or(usual);
        let local_slots = number(AttrName::LocalSlotNum)?.unwrap_or(slots);
        let arrival = [self.arrival(call, 0)?, self.arrival(call, 1)?];
        let (name, buffer) = (String::new(), String::new());
        let origin = call.origin;
        Ok(Queue { name, id: id as u8, direction, slot_bytes, slots, local_slots, buffer, arrival, origin })
    }

    /// Where the tiles of one direction arrive. That of the other core is in the other kernel; only on 950, where tiles do
    /// not go through global memory, it is asked for.
    fn arrival(&self, call: &Call, arg: usize) -> Selected<u64> {
        let Some(argument) = call.args.get(arg) else { return Ok(0) };
        let Some(var) = argument.var() else {
            return match argument {
                Argument::Scalar(scalar) => Ok(scalar.as_int().and_then(|at| u64::try_from(at).ok()).unwrap_or(0)),
                _ => Ok(0),
            };
        };
        let reserved = reservations(self.kernel).into_iter().find(|reservation| reservation.var == Some(var));
        match reserved {
            Some(reservation) => Ok(reservation.base),
            None if self.target == Target::Ascend950 => {
                let name = &self.kernel.var(var).name;
                Err(format!("the address of `{name}` is reserved in the kernel of the other core").into())
            }
            None => Ok(0),
        }
    }

    /// The parameter that queues go through, where they go through global memory.
    fn queue_buffer(&self) -> Option<String> {
        let is_buffer = |var: &&VarId| {
            let var = self.kernel.var(**var);
            var.inserted.is_some() && matches!(&var.ty, Type::Tensor(tensor) if !tensor.rank_known)
        };
        let param = self.kernel.params.iter().find(is_buffer)?;
        self.context.name(*param).map(str::to_string)
    }

    fn queue(&self, call: &Call) -> Selected<usize> {
        let id = call.int(AttrName::Id).unwrap_or(0);
        let at = self.program.queues.iter().position(|queue| i64::from(queue.id) == id);
        at.ok_or_else(|| format!("no queue {id} is initialized in this kernel").into())
    }

    pub(super) fn push_tile(&mut self, call: &Call, origin: Origin) -> Selected<()> {
        let queue = self.queue(call)?;
        let split = split(call)?;
        let tile = self.tile_operand(call, 0)?;
        let space = self.program.tile(tile).form.space;
        if !matches!(space, Space::Acc | Space::Vec) {
            return Err(format!("a tile is pushed from Acc or Vec, not from {space}").into());
        }
        let whole = self.whole_box(tile, origin);
        if self.program.tile(whole).place == Addressing::View && whole != tile {
            self.point("TRESHAPE", vec![Operand::Tile(whole), Operand::Tile(tile)], origin);
        }
        self.fits(queue, whole, call)?;
        let pipe = pipe_of_store(space);
        let template = vec![self.queue_type(queue), self.program.tile(whole).type_name(), split];
        let operands = vec![Operand::Text(self.program.queues[queue].name.clone()), Operand::Tile(whole)];
        let transfer = Some(Transfer { queue, action: Action::Push });
        self.push(Instr { template, transfer, reads: vec![whole], ..Instr::new("TPUSH", operands, pipe, origin) });
        Ok(())
    }

    pub(super) fn pop_tile(&mut self, result: Option<VarId>, call: &Call, origin: Origin) -> Selected<()> {
        let var = result.ok_or_else(|| "a popped tile without a name".to_string())?;
        let queue = self.queue(call)?;
        let split = split(call)?;
        let form = self.form(var)?;
        let Queue { arrival: [to_vector, to_cube], slot_bytes, local_slots, .. } = self.program.queues[queue];
        let (arrival, on_950) = match form.space {
            Space::Vec => (to_vector, Pipe::V),
            Space::Mat => (to_cube, Pipe::Mte1),
            other => return Err(format!("a tile is popped into Vec or Mat, not into {other}").into()),
        };
        // Each pop is in the next slot; which one it is, only the queue knows.
        let range = (Some(arrival), local_slots * slot_bytes);
        let tile = self.declare_as(var, form, range, Addressing::View, Declared::Prologue)?;
        let whole = self.whole_box(tile, origin);
        self.fits(queue, whole, call)?;
        let pipe = if self.target == Target::Ascend950 { on_950 } else { Pipe::Mte2 };
        let template = vec![self.queue_type(queue), self.program.tile(whole).type_name(), split.clone()];
        let operands = vec![Operand::Text(self.program.queues[queue].name.clone()), Operand::Tile(whole)];
        let transfer = Some(Transfer { queue, action: Action::Pop });
        self.push(Instr { template, transfer, writes: vec![whole], ..Instr::new("TPOP", operands, pipe, origin) });
        if whole != tile {
            self.point("TRESHAPE", vec![Operand::Tile(tile), Operand::Tile(whole)], origin);
        }
        self.popped.insert(var, Popped { tile, queue, pipe, split });
        Ok(())
    }

    /// `pl.tfree_to_aic(tile)`
    pub(super) fn free_tile(&mut self, call: &Call, origin: Origin) -> Selected<()> {
        let var =
            call.args.first().and_then(Argument::var).ok_or_else(|| "the freed value is not a tile".to_string())?;
        if !self.popped.contains_key(&var) {
            return Err(format!("`{}` was not popped in this kernel", self.kernel.var(var).name).into());
        }
        self.give_back(var, origin);
        Ok(())
    }

    pub(super) fn give_back(&mut self, var: VarId, origin: Origin) {
        let Some(Popped { tile, queue, pipe, split }) = self.popped.get(&var).cloned() else { return };
        let template = vec![self.queue_type(queue), split];
        let operands = vec![Operand::Text(self.program.queues[queue].name.clone())];
        let transfer = Some(Transfer { queue, action: Action::Free });
        let inserted = self.frees_slots;
        self.push(Instr {
            template,
            transfer,
            inserted,
            reads: vec![tile],
            ..Instr::new("TFREE", operands, pipe, origin)
        });
    }

    /// The statements of a list after which popped tiles are given back, where the author does not say it: after the last
    /// one that reads the tile or a view of it, and in the order in which they were popped.
    pub(super) fn given_back(&self, stmts: &[Stmt]) -> FxHashMap<usize, Vec<VarId>> {
        let mut behind: FxHashMap<usize, Vec<VarId>> = FxHashMap::default();
        if !self.frees_slots {
            return behind;
        }
        let mut earliest = 0;
        for (at, stmt) in stmts.iter().enumerate() {
            let Stmt::Let { var, value: Value::Call(call), .. } = stmt else { continue };
            if matches!(call.op, OpId::TPOP_FROM_AIC | OpId::TPOP_FROM_AIV) {
                earliest = earliest.max(self.last_use(*var, stmts, at));
                behind.entry(earliest).or_default().push(*var);
            }
        }
        behind
    }

    fn last_use(&self, var: VarId, stmts: &[Stmt], from: usize) -> usize {
        let mut views = FxHashSet::from_iter([var]);
        let mut last = from;
        for (at, stmt) in stmts.iter().enumerate().skip(from + 1) {
            let mut reads = false;
            visit::uses(stmt, &mut |used| reads |= views.contains(&used));
            if !reads || matches!(stmt, Stmt::Yield { .. }) {
                continue;
            }
            last = at;
            if let Stmt::Let { var, .. } = stmt
                && self.kernel.tile(*var).is_some()
                && self.places.get(var).is_none_or(|place| place.address.is_none())
            {
                views.insert(*var);
            }
        }
        last
    }

    /// The same bytes with all rows and columns valid: a tile goes through a queue whole, so that both sides agree where
    /// its rows are. A window of another tile has rows and columns of its own, at the distances of that tile, and the rows
    /// of what goes through a queue are as long as the valid ones. An empty one, of a vector unit that only keeps step, stays
    /// empty.
    fn whole_box(&mut self, tile: TileId, origin: Origin) -> TileId {
        let part = self.program.tile(tile).clone();
        let all = self.own_extents(tile).map(Elements::Known).into();
        let is_empty = part.valid.0 == Elements::Known(0) || part.valid.1 == Elements::Known(0);
        if is_empty || part.valid == all {
            return tile;
        }
        let whole = self.own_tile(&format!("{}_whole", part.name), part.form, part.address, origin);
        if let Some(own) = self.windows.get(&tile) {
            self.windows.insert(whole, *own);
        }
        let own = &mut self.program.tiles[whole.0 as usize];
        own.valid = all;
        own.bytes = part.bytes;
        if self.moving.contains(&tile) {
            own.place = Addressing::View;
        }
        whole
    }

    /// Rows and columns of a tile, or of the part of one that it is.
    fn own_extents(&self, tile: TileId) -> [u64; 2] {
        let form = self.program.tile(tile).form;
        self.windows.get(&tile).copied().unwrap_or([form.rows, form.cols])
    }

    /// Whether a tile fits into a slot.
    fn fits(&self, queue: usize, tile: TileId, call: &Call) -> Selected<()> {
        let [rows, cols] = self.own_extents(tile);
        let tile = self.program.tile(tile);
        let shared = tile.form.space == Space::Vec && call.int(AttrName::Split).unwrap_or(0) != 0;
        let bytes = size(TileForm { rows, cols, ..tile.form });
        let (name, slot) = (&tile.name, self.program.queues[queue].slot_bytes);
        match shared {
            true if 2 * bytes > slot => Err(format!(
                "each vector unit has {bytes} bytes of `{name}` in one slot of {slot} bytes: the tile is not divided between them"
            )
            .into()),
            false if bytes > slot => Err(format!("`{name}` takes {bytes} bytes, and a slot of its queue has {slot}").into()),
            _ => Ok(()),
        }
    }

    fn queue_type(&self, queue: usize) -> String {
        format!("{}Type", self.program.queues[queue].name)
    }
}

/// A tile that was taken out of a queue.
#[derive(Clone)]
pub(super) struct Popped {
    tile: TileId,
    queue: usize,
    pipe: Pipe,
    split: String,
}

/// How the two vector units share a tile.
fn split(call: &Call) -> Selected<String> {
    if call.attr(AttrName::LaneStride).is_some() {
        return Err(Refusal::from("no instruction for a stride between the vector units".to_string()));
    }
    let axis = match call.int(AttrName::Split) {
        Some(0) => "TILE_NO_SPLIT",
        Some(1) => "TILE_UP_DOWN",
        Some(2) => "TILE_LEFT_RIGHT",
        Some(3 | 4) => {
            let what = "no instruction for an odd number of rows or columns that the vector units share";
            return Err(Refusal::from(what.to_string()));
        }
        Some(other) => return Err(format!("tiles are divided along axis 1 or 2, not {other}").into()),
        None => return Err("it is unknown how the vector units share the tile".to_string().into()),
    };
    Ok(format!("TileSplitAxis::{axis}"))
}
