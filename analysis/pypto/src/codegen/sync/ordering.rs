//! Which flags and barriers a program needs, by abstract execution.
//!
//! A state says, for every pipe, which instructions it knows to have finished in all their instances so far. An instruction that
//! conflicts with one that its pipe does not know about gets a pair of flags, or a barrier; what a flag delivers includes
//! what the setting pipe knew, so that most conflicts need no flag of their own. What the author wrote counts.
//!
//! A loop is executed twice: the second time its head knows only what holds after any number of iterations, which exposes
//! what is carried from one iteration to the next.

use std::rc::Rc;

use tilefit_python::work;

use super::blocks::{Block, BlockId, Item, Node, flatten};
use super::conflicts::{conflicts, on_chip_conflict, stands_for, windows_overlap};
use super::state::{Bits, PIPES, State};
use crate::codegen::sequence::{Pipe, Program, Sync, TileId};
use crate::ir::VarId;

/// Set after item `item`, waited for before item `gap` of one list (or at its end).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) src: Pipe,
    pub(super) dst: Pipe,
    pub(super) block: BlockId,
    pub(super) item: usize,
    pub(super) gap: usize,
    pub(super) event: u8,
    /// The instructions that it was made for.
    pub(super) earlier: u32,
    pub(super) later: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Barrier {
    pub(super) pipe: Pipe,
    pub(super) block: BlockId,
    pub(super) gap: usize,
    pub(super) earlier: u32,
    pub(super) later: u32,
}

#[derive(Clone, Copy)]
enum Arrival {
    Flag(usize),
    Barrier(Pipe),
}

/// Where an order between two instructions is established, and the earlier of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OrderPoint {
    block: BlockId,
    item: usize,
    gap: usize,
    earlier: u32,
}

/// The state after an item, and how many instructions had been issued by then.
#[derive(Clone)]
struct Saved {
    state: State,
    issued: usize,
}

pub(super) struct Ordering<'a> {
    program: &'a Program,
    nodes: Vec<Node<'a>>,
    /// What it takes to copy a [`State`] of so many instructions, in steps.
    cost_of_state: u64,
    pub(super) blocks: Vec<Block>,
    /// Instructions of each pipe.
    of_pipe: [Bits; PIPES],
    /// The tiles whose bytes each tile can stand for.
    stands_for: Vec<Vec<TileId>>,
    /// For each instruction those whose bytes it may touch, if one of them writes.
    conflicts: Vec<Bits>,
    pub(super) pairs: Vec<Pair>,
    pub(super) barriers: Vec<Barrier>,
    /// What is waited for, by list and gap, in the order in which it was added: [`Ordering::compound`] counts on it.
    arrivals: Vec<Vec<Vec<Arrival>>>,
    /// By list and item, the state after it in the latest execution: what a flag that is set there delivers.
    saved: Vec<Vec<Option<Rc<Saved>>>>,
    /// For a body that is executed again, [`Self::saved`] of the iteration before.
    previous: Vec<Vec<Option<Rc<Saved>>>>,
    issued: Vec<u32>,
    /// Bodies that are being executed for the second time.
    second: Vec<bool>,
    /// Only ever grows. A loop is executed again until a round adds nothing.
    additions: usize,
    demand: Demand,
}

/// What becomes of an order that nothing establishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Demand {
    /// It gets a pair or barrier.
    Add,
    /// There should be none.
    Check,
    /// There was one.
    Unmet,
}

/// Instructions whose bits are copied in one step, for all pipes.
const INSTRUCTIONS_A_STEP: usize = 64;

impl<'a> Ordering<'a> {
    pub(super) fn new(program: &'a Program) -> Ordering<'a> {
        let mut nodes = Vec::new();
        let mut blocks = Vec::new();
        flatten(program, &program.body, None, &mut Vec::new(), &mut blocks, &mut nodes);
        let count = nodes.len();
        let mut of_pipe = std::array::from_fn(|_| Bits::new(count, false));
        for node in &nodes {
            let pipe: &mut Bits = &mut of_pipe[node.instr.pipe as usize];
            pipe.set(node.instr.id);
        }
        let stands_for = stands_for(program);
        let conflicts = conflicts(program, &stands_for, &nodes, &of_pipe);
        let arrivals = blocks.iter().map(|block| vec![Vec::new(); block.items.len() + 1]).collect();
        let saved: Vec<Vec<Option<Rc<Saved>>>> = blocks.iter().map(|block| vec![None; block.items.len()]).collect();
        let second = vec![false; blocks.len()];
        Ordering {
            program,
            nodes,
            cost_of_state: 4 + (count / INSTRUCTIONS_A_STEP) as u64,
            blocks,
            of_pipe,
            stands_for,
            conflicts,
            pairs: Vec::new(),
            barriers: Vec::new(),
            arrivals,
            previous: saved.clone(),
            saved,
            issued: Vec::new(),
            second,
            additions: 0,
            demand: Demand::Add,
        }
    }

    pub(super) fn run(&mut self) {
        self.execute();
        // A flag that a loop turned out to need may order what a barrier was made for before.
        let has_loops = self.blocks.iter().any(|block| block.repeats.is_some());
        if has_loops && !self.barriers.is_empty() && !self.pairs.is_empty() {
            self.barriers.clear();
            let arrivals = self.arrivals.iter_mut().flatten();
            arrivals.for_each(|arrivals| arrivals.retain(|arrival| matches!(arrival, Arrival::Flag(_))));
            self.execute();
        }
        self.prune();
    }

    fn execute(&mut self) {
        self.saved.iter_mut().flatten().for_each(|saved| *saved = None);
        self.previous.clone_from(&self.saved);
        self.issued.clear();
        self.block(0, State::at_the_start(self.nodes.len()));
    }

    /// Takes away what became superfluous by what was made after it.
    fn prune(&mut self) {
        let mut superfluous: Vec<usize> = Vec::new();
        for (block, gap) in self.suspects() {
            let mut number = 0;
            while number < self.arrivals[block][gap].len() {
                let arrival = self.arrivals[block][gap].remove(number);
                if !self.suffices() {
                    self.arrivals[block][gap].insert(number, arrival);
                    number += 1;
                    continue;
                }
                match arrival {
                    Arrival::Flag(pair) => superfluous.push(pair),
                    Arrival::Barrier(pipe) => {
                        self.barriers.retain(|other| (other.pipe, other.block, other.gap) != (pipe, block, gap));
                    }
                }
            }
        }
        let mut index = 0;
        self.pairs.retain(|_| {
            index += 1;
            !superfluous.contains(&(index - 1))
        });
    }

    /// The places of which that can be true. What stands together before a loop or branch was made for one statement within
    /// after the other; so was a flag that a later one within repeats. And after a barrier that the second iteration asked for, the
    /// next one was there before.
    fn suspects(&self) -> Vec<(BlockId, usize)> {
        let mut places = Vec::new();
        for (block, arrivals) in self.arrivals.iter().enumerate() {
            let items = self.blocks[block].items.iter();
            let compounds = items.enumerate().filter(|(_, item)| matches!(item, Item::Loop(_) | Item::If(..)));
            let compounds = compounds.map(|(gap, _)| (block, gap));
            places.extend(compounds.filter(|&place| arrivals[place.1].len() > 1 || self.is_repeated_within(place)));
        }
        for (index, late) in self.barriers.iter().enumerate() {
            let later = self
                .barriers
                .iter()
                .enumerate()
                .filter(|(_, other)| (other.pipe, other.block) == (late.pipe, late.block) && other.gap > late.gap);
            let next = later.min_by_key(|(_, other)| other.gap).filter(|(before, _)| *before < index);
            places.extend(next.map(|(_, next)| (next.block, next.gap)));
        }
        places
    }

    /// Whether a flag before a loop or branch has a later one between the same pipes in it.
    fn is_repeated_within(&self, place: (BlockId, usize)) -> bool {
        self.arrivals[place.0][place.1].iter().any(|arrival| {
            let Arrival::Flag(flag) = *arrival else { return false };
            let Pair { src, dst, .. } = self.pairs[flag];
            let mut later = self.pairs[flag + 1..].iter().filter(|pair| (pair.src, pair.dst) == (src, dst));
            later.any(|pair| self.nodes[pair.later as usize].path.contains(&place))
        })
    }

    /// Whether what there is orders everything.
    fn suffices(&mut self) -> bool {
        // Stops at the first order that nothing establishes, and adds nothing.
        self.demand = Demand::Check;
        self.execute();
        let demand = std::mem::replace(&mut self.demand, Demand::Add);
        self.second.fill(false);
        demand == Demand::Check
    }

    // ---- execution

    fn block(&mut self, block: BlockId, mut state: State) -> State {
        let count = self.blocks[block].items.len();
        for item in 0..count {
            if self.demand == Demand::Unmet {
                return state;
            }
            work::spend(self.cost_of_state);
            self.arrive(block, item, 0, &mut state);
            match self.blocks[block].items[item] {
                Item::Instr(id) => {
                    self.require(id, &mut state);
                    self.issue(id, &mut state);
                }
                Item::Written(sync) => self.written(sync, &mut state),
                Item::Other => {}
                Item::Loop(_) | Item::If(..) => state = self.compound(block, item, state),
            }
            self.saved[block][item] = Some(Rc::new(Saved { state: state.clone(), issued: self.issued.len() }));
        }
        self.arrive(block, count, 0, &mut state);
        state
    }

    /// A loop or branch, until no more flag is needed before it.
    fn compound(&mut self, block: BlockId, item: usize, mut state: State) -> State {
        loop {
            let known = self.arrivals[block][item].len();
            let after = match &self.blocks[block].items[item] {
                Item::Loop(body) => self.repeat(*body, state.clone()),
                Item::If(branches, exhaustive) => {
                    let (branches, exhaustive) = (branches.clone(), *exhaustive);
                    self.branches(&branches, exhaustive, &state)
                }
                _ => return state,
            };
            // An instruction inside may have asked for a flag before the whole: then all that was executed began with too little.
            if self.arrivals[block][item].len() == known {
                return after;
            }
            self.arrive(block, item, known, &mut state);
        }
    }

    fn branches(&mut self, branches: &[BlockId], exhaustive: bool, state: &State) -> State {
        // Without an `else` no branch may run, and then only what was known before is.
        let mut after: Option<State> = if exhaustive { None } else { Some(state.clone()) };
        for &branch in branches {
            let end = self.block(branch, state.clone());
            match &mut after {
                None => after = Some(end),
                Some(after) => after.meet(&end),
            }
        }
        after.unwrap_or_else(|| state.clone())
    }

    fn repeat(&mut self, body: BlockId, entry: State) -> State {
        let trips = self.blocks[body].repeats.as_ref().and_then(|repeats| repeats.trips);
        loop {
            let additions = self.additions;
            self.second[body] = false;
            let first = self.block(body, entry.clone());
            if trips == Some(1) {
                return first;
            }
            let mut head = first.clone();
            let ends_early = trips.is_none_or(|trips| trips < 2);
            let mut exit = ends_early.then_some(first);
            self.second[body] = true;
            loop {
                self.previous[body].clone_from(&self.saved[body]);
                let end = self.block(body, head.clone());
                // The head only forgets, so that this ends.
                let mut next = head.clone();
                next.meet(&end);
                let stays = next == head || self.demand == Demand::Unmet;
                match &mut exit {
                    Some(exit) => exit.meet(&end),
                    None => exit = Some(end),
                }
                if stays {
                    break;
                }
                head = next;
            }
            self.second[body] = false;
            if self.additions == additions {
                let mut exit = exit.unwrap_or(head);
                // The loop may not run at all.
                if trips.unwrap_or(0) == 0 {
                    exit.meet(&entry);
                }
                return exit;
            }
        }
    }

    fn issue(&mut self, id: u32, state: &mut State) {
        state.issue(id);
        self.issued.push(id);
    }

    /// The flags and barriers before an item, from number `from` on.
    fn arrive(&self, block: BlockId, gap: usize, from: usize, state: &mut State) {
        for arrival in &self.arrivals[block][gap][from..] {
            match arrival {
                Arrival::Barrier(pipe) => state.barrier(*pipe, &self.of_pipe),
                Arrival::Flag(pair) => {
                    let Pair { src, dst, block, item, .. } = self.pairs[*pair];
                    if let Some(saved) = &self.saved[block][item] {
                        state.known[dst as usize].or(&self.snapshot(src, saved));
                    }
                }
            }
        }
    }

    /// What a flag of pipe `src` between the two ends of a place says. One that is waited for at the end of a body was set in
    /// the iteration before.
    fn delivered(&self, src: Pipe, place: OrderPoint) -> Option<Bits> {
        let OrderPoint { block, item, gap, .. } = place;
        let carried = gap == self.blocks[block].items.len();
        let saved = if carried { &self.previous[block][item] } else { &self.saved[block][item] };
        saved.as_ref().map(|saved| self.snapshot(src, saved))
    }

    /// All that the pipe had begun then and all that it knew, unless it has been issued again since.
    fn snapshot(&self, src: Pipe, saved: &Saved) -> Bits {
        let mut bits = saved.state.known[src as usize].clone();
        bits.or(&self.of_pipe[src as usize]);
        let since = self.issued.get(saved.issued..).unwrap_or_default();
        work::spend((since.len() / INSTRUCTIONS_A_STEP) as u64);
        for &id in since {
            bits.clear(id);
        }
        bits
    }

    fn written(&self, sync: Sync, state: &mut State) {
        match sync {
            Sync::Barrier(Some(pipe)) => state.barrier(pipe, &self.of_pipe),
            Sync::Barrier(None) => state.barrier_of_all(),
            Sync::Set { src, dst, event } => state.set_written((src, dst, event), &self.of_pipe),
            Sync::Wait { src, dst, event } => state.wait_written((src, dst, event)),
        }
    }

    // ---- what an instruction needs

    /// Orders an instruction after everything that it conflicts with.
    fn require(&mut self, id: u32, state: &mut State) {
        let pipe = self.nodes[id as usize].instr.pipe;
        let mut unknown = self.conflicts[id as usize].without(&state.known[pipe as usize]);
        loop {
            // What has no place does not conflict in the iterations that are executed now.
            if self.demand != Demand::Add {
                if unknown.iter().any(|other| self.place(other, id).is_some()) {
                    self.demand = Demand::Unmet;
                }
                return;
            }
            work::spend(self.cost_of_state);
            let mut candidates: Vec<(Pipe, OrderPoint)> = Vec::new();
            let suspects: Vec<u32> = unknown.iter().collect();
            for other in suspects {
                work::spend(1);
                let Some(place) = self.place(other, id) else {
                    unknown.clear(other);
                    continue;
                };
                let src = self.nodes[other as usize].instr.pipe;
                match candidates
                    .iter_mut()
                    .find(|(pipe, at)| *pipe == src && at.block == place.block && at.gap == place.gap)
                {
                    // A pipe works in order: waiting for its last instruction is waiting for all of them.
                    Some((_, at)) if at.item < place.item => *at = place,
                    Some(_) => {}
                    None => candidates.push((src, place)),
                }
            }
            // A flag may make a barrier superfluous, never the other way round.
            let gain = |(src, place): &(Pipe, OrderPoint)| {
                let bits = self.delivered(*src, *place);
                (*src != pipe, bits.map_or(0, |bits| bits.common(&unknown)))
            };
            let Some((src, place)) = candidates.iter().max_by_key(|candidate| gain(candidate)).copied() else { return };
            self.order(src, id, place, state);
            for other in unknown.clone().iter() {
                let settled = self.nodes[other as usize].instr.pipe == src
                    && self.place(other, id).is_some_and(|at| (at.block, at.gap) == (place.block, place.gap));
                if settled || state.known[pipe as usize].has(other) {
                    unknown.clear(other);
                }
            }
        }
    }

    /// Adds a pair or barrier unless it is there, and what it says to the state.
    fn order(&mut self, src: Pipe, id: u32, place: OrderPoint, state: &mut State) {
        let dst = self.nodes[id as usize].instr.pipe;
        let OrderPoint { block, item, gap, earlier } = place;
        if src == dst {
            let barrier = Barrier { pipe: dst, block, gap, earlier, later: id };
            let is_there = |other: &Barrier| (other.pipe, other.block, other.gap) == (dst, block, gap);
            if !self.barriers.iter().any(is_there) {
                self.barriers.push(barrier);
                self.arrivals[block][gap].push(Arrival::Barrier(dst));
                self.additions += 1;
            }
            state.barrier(dst, &self.of_pipe);
            return;
        }
        let same = |pair: &Pair| (pair.src, pair.dst, pair.block, pair.gap) == (src, dst, block, gap);
        match self.arrivals[block][gap].iter().find_map(|arrival| match arrival {
            Arrival::Flag(pair) if same(&self.pairs[*pair]) => Some(*pair),
            _ => None,
        }) {
            // Waiting at the same spot for an earlier instruction of the pipe: the later wait does for both.
            Some(pair) if self.pairs[pair].item < item => {
                self.pairs[pair] = Pair { item, earlier, later: id, ..self.pairs[pair] };
                self.additions += 1;
            }
            Some(_) => {}
            None => {
                self.pairs.push(Pair { src, dst, block, item, gap, event: 0, earlier, later: id });
                self.arrivals[block][gap].push(Arrival::Flag(self.pairs.len() - 1));
                self.additions += 1;
            }
        }
        if let Some(delivered) = self.delivered(src, place) {
            state.known[dst as usize].or(&delivered);
        }
    }

    /// Where `later` can be ordered after `earlier`, if they conflict in the iterations that are being executed.
    fn place(&self, earlier: u32, later: u32) -> Option<OrderPoint> {
        let (a, b) = (&self.nodes[earlier as usize], &self.nodes[later as usize]);
        let common = a.path.iter().zip(&b.path).take_while(|(a, b)| a.0 == b.0).count();
        // From the inside out: the next iteration of the innermost loop comes first.
        for level in (0..common).rev() {
            let (block, item) = a.path[level];
            if self.second[block] && self.conflict(a, b, Some(level)) {
                return Some(OrderPoint { block, item, gap: self.blocks[block].items.len(), earlier });
            }
        }
        let level = common.checked_sub(1)?;
        let ((block, item), (_, gap)) = (a.path[level], b.path[level]);
        (item < gap && self.conflict(a, b, None)).then_some(OrderPoint { block, item, gap, earlier })
    }

    /// Whether two instructions touch the same bytes: in one iteration of all loops around both, or in different
    /// iterations of the loop at `carried` in their paths.
    fn conflict(&self, a: &Node, b: &Node, carried: Option<usize>) -> bool {
        // An instruction whose memory is not known conflicts with every other.
        let (Some(first), Some(second)) = (&a.instr.access, &b.instr.access) else { return true };
        if on_chip_conflict(self.program, &self.stands_for, a.instr, b.instr) {
            return true;
        }
        let common = a.path.iter().zip(&b.path).take_while(|(a, b)| a.0 == b.0).count();
        let loops = a.path[..common].iter().enumerate().filter_map(|(level, (block, _))| {
            let repeats = self.blocks[*block].repeats.as_ref()?;
            Some((level, repeats.var?, repeats.step))
        });
        let moving = loops.clone().find(|(level, ..)| Some(*level) == carried).map(|(_, var, step)| (var, step));
        // Without an index that moves, the next iteration touches the same window.
        if carried.is_some() && moving.is_none() {
            return true;
        }
        let free: Vec<VarId> = loops
            .filter(|(level, ..)| carried.is_some_and(|carried| *level > carried))
            .map(|(_, var, _)| var)
            .collect();
        windows_overlap(self.program, first, second, moving, &free)
    }
}
