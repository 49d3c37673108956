//! What an author who passes tiles between the cores by hand has to write beside the transfers (`mixed_kernel_expanded_verifier.cpp`):
//! a queue, the buffer that its tiles arrive in, and for each tile taken out that its place is given back. Of kernels that the
//! compiler divides it writes all that itself.

use tilefit_python::diagnostics::Code;
use tilefit_python::finding::Origin;
use tilefit_syntax::ast::last_name;

use crate::ir::{AttrName, Call, Kernel, KernelKind, Operand, Rejection, Scalar, Stmt, Value, VarId, visit};
use crate::ops::OpId;
use crate::target::Space;

pub(super) fn check(kernel: &mut Kernel) {
    let Some(side) = Side::of(kernel.kind) else { return };
    // What is not known may be what seems to lack.
    if !kernel.notes.is_empty() {
        return;
    }
    let mut findings = Findings::default();
    let calls = calls(&kernel.body);
    calls.iter().filter(|call| is_queue(call)).for_each(|call| findings.check_queue(call, side));
    if findings.0.is_empty() {
        findings.check_setup(&kernel.body, side);
    }
    if findings.0.is_empty() {
        findings.check_buffers(&calls, side);
    }
    findings.check_spaces(kernel, side);
    findings.check_returned(kernel, &kernel.body, side);
    kernel.rejections.extend(findings.0);
}

/// The words of a kernel for one core.
#[derive(Clone, Copy)]
struct Side {
    open: OpId,
    take: OpId,
    give_back: OpId,
    /// Where the tiles of the other core arrive.
    space: Space,
    /// The direction in which they come.
    inward: Direction,
}

impl Side {
    fn of(kind: KernelKind) -> Option<Side> {
        match kind {
            KernelKind::InCore => None,
            KernelKind::Aic => Some(Side {
                open: OpId::AIC_INITIALIZE_PIPE,
                take: OpId::TPOP_FROM_AIV,
                give_back: OpId::TFREE_TO_AIV,
                space: Space::Mat,
                inward: Direction::ToCube,
            }),
            KernelKind::Aiv => Some(Side {
                open: OpId::AIV_INITIALIZE_PIPE,
                take: OpId::TPOP_FROM_AIC,
                give_back: OpId::TFREE_TO_AIC,
                space: Space::Vec,
                inward: Direction::ToVector,
            }),
        }
    }

    /// The buffer of a direction: tiles that come arrive in one of this kernel, those that go in one of the other kernel.
    fn buffer(self, direction: Direction) -> OpId {
        if direction == self.inward { OpId::RESERVE_BUFFER } else { OpId::IMPORT_PEER_BUFFER }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    ToVector,
    ToCube,
}

impl Direction {
    const ALL: [Direction; 2] = [Direction::ToVector, Direction::ToCube];

    /// The bit in `dir_mask`, the argument of `pl.aic_initialize_pipe` and its name.
    fn named(self) -> (i64, usize, &'static str) {
        match self {
            Direction::ToVector => (1, 0, "c2v_consumer_buf"),
            Direction::ToCube => (2, 1, "v2c_consumer_buf"),
        }
    }

    fn is_in(self, call: &Call) -> bool {
        call.int(AttrName::DirMask).is_some_and(|mask| mask & self.named().0 != 0)
    }

    fn of_transfer(stmt: &Stmt) -> Option<Direction> {
        match (visit::call_of(stmt)?.op, stmt) {
            (OpId::TPUSH_TO_AIV, _) | (OpId::TPOP_FROM_AIC, Stmt::Let { .. }) => Some(Direction::ToVector),
            (OpId::TPUSH_TO_AIC, _) | (OpId::TPOP_FROM_AIV, Stmt::Let { .. }) => Some(Direction::ToCube),
            _ => None,
        }
    }
}

/// Slots of a queue whose author gives no number, by `dir_mask` (`GetPtoasImplicitSlotNum`).
fn usual_slots(mask: i64) -> i64 {
    if mask == 3 { 4 } else { 8 }
}

#[derive(Default)]
struct Findings(Vec<Rejection>);

impl Findings {
    fn add(&mut self, at: Origin, message: String) {
        self.0.push(Rejection::new(at, Code::Rejected, message));
    }

    /// A `pl.aic_initialize_pipe` or `pl.aiv_initialize_pipe` by itself.
    fn check_queue(&mut self, call: &Call, side: Side) {
        let name = word(call.op);
        let (Some(mask), Some(size)) = (call.int(AttrName::DirMask), call.int(AttrName::SlotSize)) else { return };
        let slots = call.int(AttrName::SlotNum).unwrap_or(usual_slots(mask));
        let local = call.int(AttrName::LocalSlotNum).unwrap_or(slots);
        if !(1..=3).contains(&mask) {
            self.add(call.origin, format!("`{name}` requires a `dir_mask` of 1 (cube to vector units), 2 (vector units to cube) or 3 (both), not {mask}"));
        }
        if size <= 0 {
            self.add(call.origin, format!("`{name}` requires a `slot_size` of more than 0 bytes, not {size}; use the bytes of the largest tile that passes through the queue"));
        }
        if slots <= 0 || local <= 0 {
            self.add(call.origin, format!("`{name}` requires at least one slot, not {}", slots.min(local)));
        } else if local > slots {
            self.add(
                call.origin,
                format!(
                    "`{name}` keeps {local} slots in local memory (`local_slot_num`), but the queue has {slots} only"
                ),
            );
        }
        if !(1..=3).contains(&mask) || size <= 0 {
            return;
        }
        for direction in Direction::ALL {
            let (bit, arg, operand) = direction.named();
            let is_given = call.args.get(arg).is_some_and(is_buffer);
            let buffer = word(side.buffer(direction));
            if direction.is_in(call) && !is_given {
                self.add(call.origin, format!("`{name}` with `dir_mask={mask}` requires `{operand}`, the buffer in which tiles arrive; get it from `{buffer}`"));
            } else if !direction.is_in(call) && is_given {
                self.add(
                    call.origin,
                    format!(
                        "`{name}` with `dir_mask={mask}` does not use `{operand}`; remove it, or write `dir_mask={}`",
                        mask | bit
                    ),
                );
            }
        }
    }

    /// What has to stand before the first transfer, and not in a loop or branch.
    fn check_setup(&mut self, body: &[Stmt], side: Side) {
        let mut transfers = Vec::new();
        visit::statements(body, &mut |stmt| {
            transfers.extend(Direction::of_transfer(stmt).zip(visit::call_of(stmt)));
        });
        let Some((_, first)) = transfers.first() else { return };
        let has_transfer = |stmt: &Stmt| {
            let mut found = false;
            visit::statements(std::slice::from_ref(stmt), &mut |stmt| found |= Direction::of_transfer(stmt).is_some());
            found
        };
        let before: Vec<OpId> =
            body.iter().take_while(|stmt| !has_transfer(stmt)).filter_map(call_in).map(|call| call.op).collect();
        if !before.contains(&side.open) {
            let (transfer, open) = (first.op.op().name, word(side.open));
            return self.add(first.origin, format!("`{transfer}` needs a queue; open it with `{open}(…)` at the top of the function, before the first transfer"));
        }
        for direction in Direction::ALL {
            let buffer = side.buffer(direction);
            if let Some((_, call)) = transfers.iter().find(|(found, _)| *found == direction)
                && !before.contains(&buffer)
            {
                let (transfer, buffer) = (call.op.op().name, word(buffer));
                self.add(call.origin, format!("`{transfer}` requires a buffer in which tiles arrive; call `{buffer}(…)` at the top of the function, and pass it to `{}`", word(side.open)));
            }
        }
    }

    /// Each direction of each queue has one buffer.
    fn check_buffers(&mut self, calls: &[&Call], side: Side) {
        for direction in Direction::ALL {
            let buffer = side.buffer(direction);
            let queues: Vec<&&Call> = calls.iter().filter(|call| is_queue(call) && direction.is_in(call)).collect();
            let buffers: Vec<&&Call> = calls.iter().filter(|call| call.op == buffer).collect();
            let name = word(buffer);
            if let Some(extra) = buffers.get(queues.len()) {
                self.add(extra.origin, format!("this `{name}` has no queue: each direction in the `dir_mask` of a queue takes one; remove it, or open a queue for it"));
            } else if let Some(queue) = queues.get(buffers.len()) {
                self.add(
                    queue.origin,
                    format!(
                        "`{}` has no buffer of its own: each direction in the `dir_mask` of a queue needs one `{name}`",
                        word(queue.op)
                    ),
                );
            }
        }
    }

    fn check_spaces(&mut self, kernel: &Kernel, side: Side) {
        visit::statements(&kernel.body, &mut |stmt| {
            if let Stmt::Let { var, value: Value::Call(call), .. } = stmt
                && call.op == side.take
                && let Some(tile) = kernel.tile(*var)
                && tile.space != Some(side.space)
            {
                let (name, wanted) = (&kernel.var(*var).name, side.space);
                let got = tile
                    .space
                    .map_or("its annotation names no space".to_owned(), |space| format!("it is placed in {space}"));
                self.add(call.origin, format!("tiles from the queue arrive in {wanted}, but for `{name}` {got}; annotate it with `pl.Mem.{wanted}`"));
            }
        });
    }

    /// What is taken out of a queue is given back in the same block, once.
    fn check_returned(&mut self, kernel: &Kernel, block: &[Stmt], side: Side) {
        let mut taken: Vec<(VarId, Origin)> = Vec::new();
        for stmt in block {
            stmt.blocks().for_each(|block| self.check_returned(kernel, block, side));
            let Some(call) = visit::call_of(stmt) else { continue };
            match stmt {
                Stmt::Let { var, .. } if call.op == side.take => taken.push((*var, call.origin)),
                _ if matches!(call.op, OpId::TFREE_TO_AIC | OpId::TFREE_TO_AIV) => {
                    let Some(freed) = call.args.first().and_then(Operand::var) else { continue };
                    let name = &kernel.var(freed).name;
                    match taken.iter().position(|(var, _)| *var == freed) {
                        Some(at) => {
                            taken.remove(at);
                            if call.op != side.give_back {
                                self.add(call.origin, format!("`{name}` must be freed to the core that it comes from; write `{}({name})`", word(side.give_back)));
                            }
                        }
                        None => self.add(call.origin, format!("`{name}` is not held here: `{}` frees a tile that the same block popped under that name, once", word(call.op))),
                    }
                }
                _ => {}
            }
        }
        for (var, at) in taken {
            let name = &kernel.var(var).name;
            self.add(at, format!("`{name}` keeps its slot of the queue, so the queue fills up; add `{}({name})` after its last use, in the same block", word(side.give_back)));
        }
    }
}

fn is_queue(call: &Call) -> bool {
    matches!(call.op, OpId::AIC_INITIALIZE_PIPE | OpId::AIV_INITIALIZE_PIPE)
}

/// Whether an operand is one: zero means none, as the lack of it does.
fn is_buffer(operand: &Operand) -> bool {
    match operand {
        Operand::Scalar(scalar) => scalar.as_int() != Some(0),
        Operand::List(_) => false,
        Operand::Var(_) | Operand::Unknown(_) => true,
    }
}

/// What the author writes: `pl.reserve_buffer` for `system.reserve_buffer`.
fn word(op: OpId) -> String {
    format!("pl.{}", last_name(op.op().name))
}

fn calls(body: &[Stmt]) -> Vec<&Call> {
    let mut found = Vec::new();
    visit::statements(body, &mut |stmt| found.extend(call_in(stmt)));
    found
}

/// The call of a statement, which may make a number: a buffer is one.
fn call_in(stmt: &Stmt) -> Option<&Call> {
    match stmt {
        Stmt::Let { value: Value::Scalar(Scalar::Call(call)), .. } => Some(call),
        other => visit::call_of(other),
    }
}
