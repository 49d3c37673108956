//! The execution of traces: what each pipe knows, what the flags and queues between them say, and what conflicts without an order.

use rustc_hash::FxHashMap;
use tilefit_python::work;

use super::trace::{Bytes, Event, Instance};
use super::{Kernel, PIPES, Problem, Suspects};
use crate::codegen::sequence::{Access, Action, EVENTS, Pipe, Sync, Transfer};
use crate::ir::TensorLayout;

/// The cube core and two vector units.
const KERNELS: usize = 3;

/// How many instructions of each pipe are finished; pipes of all kernels, one after the other.
type Clock = [u32; KERNELS * PIPES];

/// An instruction that was issued.
struct Issued<'a> {
    kernel: usize,
    /// Number on its pipe, from 1.
    number: u32,
    instance: Instance<'a>,
    /// The slot that it touches, and whether it writes it.
    slots: Vec<(Slot, bool)>,
}

/// One direction of a queue: its id, and whether it goes to the cube core.
type RingId = (u8, bool);

/// Ring, the vector unit whose part it is, place in the ring.
type Slot = (RingId, usize, u64);

/// A slot that is used in place, or was the last time.
struct Lent {
    kernel: usize,
    bytes: Bytes,
    slot: Slot,
    freed: bool,
}

/// What was said about one direction of a queue, by kernel.
#[derive(Default)]
struct Ring {
    full: [Vec<Clock>; KERNELS],
    free: [Vec<Clock>; KERNELS],
    pushed: [u32; KERNELS],
    popped: [u32; KERNELS],
    freed: [u32; KERNELS],
    /// Signals of free slots that were waited for.
    awaited: [u32; KERNELS],
}

pub(super) fn run(kernels: &[Kernel], traces: &[Vec<Event>], suspects: &Suspects) -> Vec<Problem> {
    let mut run = Run {
        kernels,
        suspects,
        issued: [0; KERNELS * PIPES],
        known: [[0; KERNELS * PIPES]; KERNELS * PIPES],
        flags: FxHashMap::default(),
        rings: FxHashMap::default(),
        lent: Vec::new(),
        history: Vec::new(),
        of_instr: FxHashMap::default(),
        problems: Vec::new(),
    };
    let mut at = vec![0; traces.len()];
    loop {
        let before = at.clone();
        for (kernel, trace) in traces.iter().enumerate() {
            while trace.get(at[kernel]).is_some_and(|event| run.step(kernel, event)) {
                at[kernel] += 1;
            }
        }
        if at == before {
            break;
        }
    }
    let mut is_stuck = false;
    for (kernel, trace) in traces.iter().enumerate() {
        if let Some(Event::Issue(instance)) = trace.get(at[kernel]) {
            run.problems.push(Problem::Stuck { kernel, instr: instance.instr.id });
            is_stuck = true;
        }
    }
    if !is_stuck {
        run.end();
    }
    run.problems
}

struct Run<'a> {
    kernels: &'a [Kernel<'a>],
    suspects: &'a Suspects<'a>,
    issued: Clock,
    /// What each pipe knows.
    known: [Clock; KERNELS * PIPES],
    flags: FxHashMap<(usize, Pipe, Pipe, u8), Clock>,
    rings: FxHashMap<RingId, Ring>,
    /// Slots that are used in place.
    lent: Vec<Lent>,
    history: Vec<Issued<'a>>,
    /// The instances of each instruction.
    of_instr: FxHashMap<(usize, u32), Vec<usize>>,
    problems: Vec<Problem>,
}

fn place(kernel: usize, pipe: Pipe) -> usize {
    kernel * PIPES + pipe as usize
}

fn learn(known: &mut Clock, of: &Clock) {
    known.iter_mut().zip(of).for_each(|(known, of)| *known = (*known).max(*of));
}

impl<'a> Run<'a> {
    /// One event of a kernel; false if it has to wait for another kernel.
    fn step(&mut self, kernel: usize, event: &'a Event<'a>) -> bool {
        match event {
            Event::Pass(pipe) => self.issued[place(kernel, *pipe)] += 1,
            Event::Sync(sync) => self.sync(kernel, *sync),
            Event::Issue(instance) => match instance.instr.transfer {
                Some(transfer) if self.kernels.len() > 1 => return self.pass(kernel, instance, transfer),
                _ => self.issue(kernel, instance, Vec::new()),
            },
        }
        true
    }

    fn end(&mut self) {
        let pending = self.flags.keys().map(|&(_, src, dst, event)| Problem::NeverAwaited { src, dst, event });
        self.problems.extend(pending);
        for (&id, ring) in &self.rings {
            let counts = |counts: &[u32; KERNELS], side| -> Vec<u32> {
                self.ends(id, side).into_iter().map(|kernel| counts[kernel]).collect()
            };
            let pushed = counts(&ring.pushed, Side::Producer);
            let popped = counts(&ring.popped, Side::Consumer);
            let freed = counts(&ring.freed, Side::Consumer);
            if pushed.iter().any(|pushed| popped.iter().any(|popped| pushed != popped)) || popped != freed {
                self.problems.push(Problem::LeftInQueue { id: id.0 });
            }
        }
    }

    fn sync(&mut self, kernel: usize, sync: Sync) {
        match sync {
            Sync::Barrier(Some(pipe)) => {
                let pipe = place(kernel, pipe);
                self.known[pipe][pipe] = self.issued[pipe];
            }
            Sync::Barrier(None) => {
                let pipes = place(kernel, Pipe::ALL[0])..place(kernel + 1, Pipe::ALL[0]);
                let mut all = self.known[pipes.start];
                self.known[pipes.clone()].iter().for_each(|known| learn(&mut all, known));
                all[pipes.clone()].copy_from_slice(&self.issued[pipes.clone()]);
                self.known[pipes].fill(all);
            }
            Sync::Set { src, dst, event } => {
                if event >= EVENTS {
                    self.problems.push(Problem::NoSuchEvent { event });
                }
                let delivered = self.delivered(place(kernel, src));
                if self.flags.insert((kernel, src, dst, event), delivered).is_some() {
                    self.problems.push(Problem::SetTwice { src, dst, event });
                }
            }
            Sync::Wait { src, dst, event } => match self.flags.remove(&(kernel, src, dst, event)) {
                Some(delivered) => learn(&mut self.known[place(kernel, dst)], &delivered),
                None => self.problems.push(Problem::NeverSet { src, dst, event }),
            },
        }
    }

    /// What a signal of a pipe says: all that it has begun, and all that it knows.
    fn delivered(&self, pipe: usize) -> Clock {
        let mut delivered = self.known[pipe];
        delivered[pipe] = self.issued[pipe];
        delivered
    }

    // ---- queues

    /// An instruction that passes a tile to another kernel; false if it cannot go on yet.
    fn pass(&mut self, kernel: usize, instance: &'a Instance<'a>, transfer: Transfer) -> bool {
        let instr = instance.instr;
        let queue = &self.kernels[kernel].program.queues[transfer.queue];
        let (slots, period) = (queue.slots.max(1), period(queue.slots));
        let is_producer = transfer.action == Action::Push;
        let id = (queue.id, self.is_cube(kernel) != is_producer);
        let pipe = place(kernel, instr.pipe);
        let (producers, consumers) = (self.ends(id, Side::Producer), self.ends(id, Side::Consumer));
        let ring = self.rings.entry(id).or_default();
        match transfer.action {
            Action::Push => {
                let number = u64::from(ring.pushed[kernel]);
                if number >= slots && number.is_multiple_of(period) {
                    let Some(said) = of_all(&ring.free, &consumers, ring.awaited[kernel]) else { return false };
                    ring.awaited[kernel] += 1;
                    learn(&mut self.known[pipe], &said);
                }
                ring.pushed[kernel] += 1;
                let parts = self.parts(kernel, id, number % slots);
                self.issue(kernel, instance, parts.into_iter().map(|slot| (slot, true)).collect());
                let said = self.delivered(pipe);
                self.rings.entry(id).or_default().full[kernel].push(said);
            }
            Action::Pop => {
                let number = ring.popped[kernel];
                let Some(said) = of_all(&ring.full, &producers, number) else { return false };
                ring.popped[kernel] += 1;
                learn(&mut self.known[pipe], &said);
                let parts = self.parts(kernel, id, u64::from(number) % slots);
                if instr.only_signals() {
                    self.issued[pipe] += 1;
                    self.lent.retain(|lent| lent.kernel != kernel || !parts.contains(&lent.slot));
                    for bytes in &instance.writes {
                        let lent = parts.iter().map(|slot| Lent { kernel, bytes: *bytes, slot: *slot, freed: false });
                        self.lent.extend(lent);
                    }
                } else {
                    self.issue(kernel, instance, parts.into_iter().map(|slot| (slot, false)).collect());
                    self.free(kernel, pipe, id, period);
                }
            }
            Action::Free => {
                self.issued[pipe] += 1;
                if instr.only_signals() {
                    let parts = self.parts(kernel, id, u64::from(self.freed(kernel, id)) % slots);
                    let given_back =
                        self.lent.iter_mut().filter(|lent| lent.kernel == kernel && parts.contains(&lent.slot));
                    given_back.for_each(|lent| lent.freed = true);
                    self.free(kernel, pipe, id, period);
                }
            }
        }
        true
    }

    fn freed(&self, kernel: usize, id: RingId) -> u32 {
        self.rings.get(&id).map_or(0, |ring| ring.freed[kernel])
    }

    /// The slots of tiles out of a queue that is used in place. A view of such a tile may be in any of those that are not given
    /// back; if all are, in what it was before.
    fn slots_at(&self, kernel: usize, bytes: &Bytes) -> Vec<Slot> {
        let there = || self.lent.iter().filter(|lent| lent.kernel == kernel && overlap(&lent.bytes, bytes));
        let own = there().filter(|lent| lent.bytes.tile == bytes.tile).map(|lent| lent.slot).next_back();
        if let Some((ring, _, at)) = own {
            let is_own = |lent: &&Lent| (lent.slot.0, lent.slot.2) == (ring, at);
            return there().filter(is_own).map(|lent| lent.slot).collect();
        }
        let all_freed = there().all(|lent| lent.freed);
        there().filter(|lent| !lent.freed || all_freed).map(|lent| lent.slot).collect()
    }

    /// Slots that become free are told in groups.
    fn free(&mut self, kernel: usize, pipe: usize, id: RingId, period: u64) {
        let said = self.delivered(pipe);
        let ring = self.rings.entry(id).or_default();
        ring.freed[kernel] += 1;
        if u64::from(ring.freed[kernel]).is_multiple_of(period) {
            ring.free[kernel].push(said);
        }
    }

    fn is_cube(&self, kernel: usize) -> bool {
        self.kernels[kernel].unit.is_none()
    }

    /// The kernels at one end of a ring.
    fn ends(&self, (_, to_cube): RingId, side: Side) -> Vec<usize> {
        let of_cube = to_cube == (side == Side::Consumer);
        (0..self.kernels.len()).filter(|kernel| self.is_cube(*kernel) == of_cube).collect()
    }

    /// The slot, or the parts of it, that a kernel uses: each vector unit has its own, the cube core all of them.
    fn parts(&self, kernel: usize, id: RingId, at: u64) -> Vec<Slot> {
        let units = (0..self.kernels.len()).filter(|unit| !self.is_cube(*unit));
        units.filter(|unit| self.is_cube(kernel) || *unit == kernel).map(|unit| (id, unit, at)).collect()
    }

    // ---- conflicts

    fn issue(&mut self, kernel: usize, instance: &'a Instance<'a>, mut slots: Vec<(Slot, bool)>) {
        let pipe = instance.instr.pipe;
        for (bytes, is_written) in
            instance.reads.iter().map(|it| (it, false)).chain(instance.writes.iter().map(|it| (it, true)))
        {
            slots.extend(self.slots_at(kernel, bytes).into_iter().map(|slot| (slot, is_written)));
        }
        let number = self.issued[place(kernel, pipe)] + 1;
        let issued = Issued { kernel, number, instance: instance.clone(), slots };
        match self.suspects {
            Suspects::All => (0..self.history.len()).for_each(|earlier| self.check(earlier, &issued)),
            Suspects::Among(pairs) => {
                for earlier in pairs.get(&instance.instr.id).into_iter().flatten() {
                    for index in 0..self.of_instr.get(&(kernel, *earlier)).map_or(0, Vec::len) {
                        self.check(self.of_instr[&(kernel, *earlier)][index], &issued);
                    }
                }
            }
        }
        self.issued[place(kernel, pipe)] = number;
        // What knows of the later one of two equal instances knows of both.
        let of_instr = self.of_instr.entry((kernel, instance.instr.id)).or_default();
        match of_instr.iter().copied().find(|at| is_same(&self.history[*at], &issued)) {
            Some(at) => self.history[at].number = number,
            None => {
                of_instr.push(self.history.len());
                self.history.push(issued);
            }
        }
    }

    fn check(&mut self, earlier: usize, later: &Issued) {
        work::spend(1);
        let earlier = &self.history[earlier];
        let (of, by) = (earlier.instance.instr, later.instance.instr);
        let known = self.known[place(later.kernel, by.pipe)][place(earlier.kernel, of.pipe)];
        let is_one_pipe = earlier.kernel == later.kernel && of.pipe == by.pipe;
        let in_order = by.pipe.in_order() || of.only_signals() || by.only_signals();
        if is_one_pipe && in_order || known >= earlier.number || !self.conflict(earlier, later) {
            return;
        }
        self.problems.push(if earlier.kernel == later.kernel {
            Problem::Unordered { earlier: of.id, later: by.id }
        } else {
            let (one, other) = ((earlier.kernel, of.id), (later.kernel, by.id));
            Problem::BetweenCores { one: one.min(other), other: one.max(other) }
        });
    }

    fn conflict(&self, a: &Issued, b: &Issued) -> bool {
        let touch = |left: &[Bytes], right: &[Bytes]| left.iter().any(|a| right.iter().any(|b| overlap(a, b)));
        let (x, y) = (&a.instance, &b.instance);
        let on_chip = a.kernel == b.kernel
            && (touch(&x.writes, &y.writes) || touch(&x.writes, &y.reads) || touch(&x.reads, &y.writes));
        on_chip
            || a.slots.iter().any(|(slot, writes)| b.slots.iter().any(|(of, also)| slot == of && (*writes || *also)))
            || matches!((&x.instr.access, &y.instr.access), (Some(p), Some(q)) if self.windows_touch((p, a), (q, b)))
    }

    fn windows_touch(&self, (x, a): (&Access, &Issued), (y, b): (&Access, &Issued)) -> bool {
        let (of_x, of_y) = (self.kernels[a.kernel].program, self.kernels[b.kernel].program);
        let same = |x: usize, y: usize| match a.kernel == b.kernel {
            true => x == y,
            false => of_x.args[x].name == of_y.args[y].name,
        };
        if !x.store && !y.store || !x.tensors.iter().any(|x| y.tensors.iter().any(|y| same(*x, *y))) {
            return false;
        }
        let (first, second) = (&of_x.wrappers[x.wrapper], &of_y.wrappers[y.wrapper]);
        if first.layout == TensorLayout::Dn || second.layout == TensorLayout::Dn {
            return true;
        }
        let (a, b) = (&a.instance.offsets, &b.instance.offsets);
        a.iter().zip(&first.window).zip(b.iter().zip(&second.window)).all(|((a, rows), (b, others))| match (a, b) {
            (Some(a), Some(b)) => *a < b + *others as i64 && *b < a + *rows as i64,
            _ => true,
        })
    }
}

/// Whether they touch the same.
fn is_same(a: &Issued, b: &Issued) -> bool {
    let (x, y) = (&a.instance, &b.instance);
    x.reads == y.reads && x.writes == y.writes && x.offsets == y.offsets && a.slots == b.slots
}

fn overlap(a: &Bytes, b: &Bytes) -> bool {
    let near = a.space == b.space && a.from < b.to && b.from < a.to;
    near && (a.lines.is_none() && b.lines.is_none() || lines_meet(a, b))
}

/// Whether one of the lines of `a` and one of those of `b` have a byte in common, by following both from their starts.
fn lines_meet(a: &Bytes, b: &Bytes) -> bool {
    let line = |bytes: &Bytes, number: u64| match bytes.lines {
        Some(lines) if number < lines.count => {
            let from = bytes.from + number * lines.distance;
            Some((from, from + lines.length))
        }
        None if number == 0 => Some((bytes.from, bytes.to)),
        _ => None,
    };
    let (mut of_a, mut of_b) = (0, 0);
    while let (Some((from_a, to_a)), Some((from_b, to_b))) = (line(a, of_a), line(b, of_b)) {
        if from_a < to_b && from_b < to_a {
            return true;
        }
        if to_a <= from_b {
            of_a += 1;
        } else {
            of_b += 1;
        }
    }
    false
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Producer,
    Consumer,
}

/// After how many slots a consumer tells that they are free, and a producer waits for that (`TPipe::SyncPeriod` of pto-isa).
fn period(slots: u64) -> u64 {
    if slots <= 2 { slots.max(1) } else { slots / 2 }
}

/// What all of the kernels said with the signal of that number.
fn of_all(said: &[Vec<Clock>; KERNELS], kernels: &[usize], number: u32) -> Option<Clock> {
    let mut all = [0; KERNELS * PIPES];
    for kernel in kernels {
        learn(&mut all, said[*kernel].get(number as usize)?);
    }
    (!kernels.is_empty()).then_some(all)
}
