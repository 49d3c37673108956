//! Synchronisation: flags between pipes and barriers within one, so that no instruction overtakes another one whose
//! bytes it touches (`reference/codegen.md` §5).
//!
//! The stage executes the kernel abstractly. A state says, for every pipe, which instructions it knows to have finished
//! in all their instances so far. An instruction that conflicts with one that its pipe does not know about gets a pair
//! of flags, or a barrier; what a flag delivers includes what the setting pipe knew, so that most conflicts need no
//! flag of their own. Pairs never cross the border of a loop or branch:
//!
//! * between statements of one list: the flag is set behind the statement that contains the first instruction, and waited
//!   for in front of the one that contains the second;
//! * from one iteration to the next: set as before, waited for at the end of the body.
//!
//! A loop is executed twice: the second time its head knows only what holds after any number of iterations, which exposes
//! what is carried from one iteration to the next.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagnostics::Code;
use crate::ir::{Origin, VarId};
use crate::memory::Finding;

use super::sequence::{Access, EVENTS, Head, Instr, Loop, Pipe, Program, Step, Sync, TileId};

/// Inserts flags and barriers into a program that has none but the author's.
pub(super) fn synchronise(program: &mut Program) -> Vec<Finding> {
    let mut order = Ordering::new(program);
    order.run();
    let mut findings = order.findings();
    let Ordering { mut pairs, barriers, blocks, author, .. } = order;
    findings.extend(assign_events(&mut pairs, &blocks, &author));
    insert(&mut program.body, &mut Placed::new(&pairs, &barriers));
    findings
}

const PIPES: usize = Pipe::ALL.len();

/// A set of instructions, by number.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(len: usize, full: bool) -> Bits {
        Bits(vec![if full { u64::MAX } else { 0 }; len.div_ceil(64).max(1)])
    }

    fn set(&mut self, bit: u32) {
        self.0[bit as usize / 64] |= 1 << (bit % 64);
    }

    fn clear(&mut self, bit: u32) {
        self.0[bit as usize / 64] &= !(1 << (bit % 64));
    }

    fn has(&self, bit: u32) -> bool {
        self.0[bit as usize / 64] & (1 << (bit % 64)) != 0
    }

    fn or(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    fn and(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a &= b);
    }

    fn without(&self, other: &Bits) -> Bits {
        Bits(self.0.iter().zip(&other.0).map(|(a, b)| a & !b).collect())
    }

    fn common(&self, other: &Bits) -> u32 {
        self.0.iter().zip(&other.0).map(|(a, b)| (a & b).count_ones()).sum()
    }

    fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().enumerate().flat_map(|(word, bits)| {
            let mut rest = *bits;
            std::iter::from_fn(move || {
                (rest != 0).then(|| {
                    let bit = rest.trailing_zeros();
                    rest &= rest - 1;
                    word as u32 * 64 + bit
                })
            })
        })
    }
}

/// What each pipe knows to have finished: an instruction is known while every instance of it so far is.
#[derive(Debug, Clone, PartialEq, Eq)]
struct State([Bits; PIPES]);

impl State {
    fn meet(&mut self, other: &State) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| a.and(b));
    }
}

type BlockId = usize;

/// A statement list.
struct Block {
    items: Vec<Item>,
    repeats: Option<Repeats>,
}

/// The loop that a list is the body of.
struct Repeats {
    var: Option<VarId>,
    step: Option<i64>,
    trips: Option<u64>,
}

enum Item {
    Instr(u32),
    Loop(BlockId),
    If(Vec<BlockId>, bool),
    Author(Sync, Option<Origin>),
    Other,
}

struct Node<'a> {
    instr: &'a Instr,
    /// From the outermost list to its own.
    path: Vec<(BlockId, usize)>,
}

/// Set behind item `item`, waited for in front of item `gap` of one list (or at its end).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pair {
    src: Pipe,
    dst: Pipe,
    block: BlockId,
    item: usize,
    gap: usize,
    event: u8,
    /// What waits.
    origin: Origin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Barrier {
    pipe: Pipe,
    block: BlockId,
    gap: usize,
}

#[derive(Clone, Copy)]
enum Arrival {
    Flag(usize),
    Barrier(Pipe),
}

/// Where an order between two instructions is established.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    block: BlockId,
    item: usize,
    gap: usize,
}

/// The state behind an item, and how many instructions had been issued by then.
#[derive(Clone)]
struct Saved {
    state: State,
    issued: usize,
}

/// The author's flags: the state when they were set, while nothing has waited for them.
type AuthorFlags = FxHashMap<(Pipe, Pipe, u8), Option<(Saved, Option<Origin>)>>;

struct Ordering<'a> {
    program: &'a Program,
    nodes: Vec<Node<'a>>,
    blocks: Vec<Block>,
    /// Instructions of each pipe.
    of_pipe: [Bits; PIPES],
    /// The tiles whose bytes each tile can stand for.
    stands_for: Vec<Vec<TileId>>,
    /// For each instruction those whose bytes it may touch, if one of them writes.
    conflicts: Vec<Bits>,
    pairs: Vec<Pair>,
    barriers: Vec<Barrier>,
    arrivals: Vec<Vec<Vec<Arrival>>>,
    saved: Vec<Vec<Option<Saved>>>,
    /// For a body that is executed again, [`Self::saved`] of the iteration before.
    previous: Vec<Vec<Option<Saved>>>,
    issued: Vec<u32>,
    /// Bodies that are being executed for the second time.
    second: Vec<bool>,
    additions: usize,
    author: AuthorFlags,
    unpaired: FxHashSet<(Option<Origin>, String)>,
}

impl<'a> Ordering<'a> {
    fn new(program: &'a Program) -> Ordering<'a> {
        let mut nodes = Vec::new();
        let mut blocks = Vec::new();
        flatten(&program.body, None, &mut Vec::new(), &mut blocks, &mut nodes);
        let count = nodes.len();
        let mut of_pipe = std::array::from_fn(|_| Bits::new(count, false));
        for node in &nodes {
            let pipe: &mut Bits = &mut of_pipe[node.instr.pipe as usize];
            pipe.set(node.instr.id);
        }
        let stands_for = stands_for(program);
        let conflicts = conflicts(program, &stands_for, &nodes, &of_pipe);
        let arrivals = blocks.iter().map(|block| vec![Vec::new(); block.items.len() + 1]).collect();
        let saved: Vec<Vec<Option<Saved>>> = blocks.iter().map(|block| vec![None; block.items.len()]).collect();
        let second = vec![false; blocks.len()];
        Ordering {
            program,
            nodes,
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
            author: FxHashMap::default(),
            unpaired: FxHashSet::default(),
        }
    }

    fn run(&mut self) {
        let nothing_issued = State(std::array::from_fn(|_| Bits::new(self.nodes.len(), true)));
        self.block(0, nothing_issued);
    }

    fn findings(&mut self) -> Vec<Finding> {
        for ((src, dst, event), pending) in &self.author {
            if let Some((_, origin)) = pending {
                let message = format!(
                    "the flag {} to {}, EVENT_ID{event}, is set here and never waited for; add `system.sync_dst`",
                    src.name(),
                    dst.name()
                );
                self.unpaired.insert((*origin, message));
            }
        }
        let mut findings: Vec<Finding> = std::mem::take(&mut self.unpaired)
            .into_iter()
            .filter_map(|(at, message)| Some(finding(Code::UnpairedFlag, at?, message)))
            .collect();
        findings.sort_by(|a, b| (a.at, &a.message).cmp(&(b.at, &b.message)));
        findings
    }

    // ---- execution

    fn block(&mut self, block: BlockId, mut state: State) -> State {
        let count = self.blocks[block].items.len();
        for item in 0..count {
            self.arrive(block, item, 0, &mut state);
            match self.blocks[block].items[item] {
                Item::Instr(id) => {
                    self.require(id, &mut state);
                    self.issue(id, &mut state);
                }
                Item::Author(sync, origin) => self.author(sync, origin, &mut state),
                Item::Other => {}
                Item::Loop(_) | Item::If(..) => state = self.compound(block, item, state),
            }
            self.saved[block][item] = Some(Saved { state: state.clone(), issued: self.issued.len() });
        }
        self.arrive(block, count, 0, &mut state);
        state
    }

    /// A loop or branch, until no more flag is needed in front of it.
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
            if self.arrivals[block][item].len() == known {
                return after;
            }
            self.arrive(block, item, known, &mut state);
        }
    }

    fn branches(&mut self, branches: &[BlockId], exhaustive: bool, state: &State) -> State {
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
            let mut head = entry.clone();
            head.meet(&first);
            let mut exit = first;
            self.second[body] = true;
            loop {
                self.previous[body].clone_from(&self.saved[body]);
                let end = self.block(body, head.clone());
                exit.meet(&end);
                let mut next = head.clone();
                next.meet(&end);
                if next == head {
                    break;
                }
                head = next;
            }
            self.second[body] = false;
            if self.additions == additions {
                if trips.unwrap_or(0) == 0 {
                    exit.meet(&entry);
                }
                return exit;
            }
        }
    }

    fn issue(&mut self, id: u32, state: &mut State) {
        state.0.iter_mut().for_each(|known| known.clear(id));
        self.issued.push(id);
    }

    /// The flags and barriers in front of an item, from number `from` on.
    fn arrive(&self, block: BlockId, gap: usize, from: usize, state: &mut State) {
        for arrival in &self.arrivals[block][gap][from..] {
            match arrival {
                Arrival::Barrier(pipe) => state.0[*pipe as usize].or(&self.of_pipe[*pipe as usize]),
                Arrival::Flag(pair) => {
                    let Pair { src, dst, block, item, .. } = self.pairs[*pair];
                    if let Some(saved) = &self.saved[block][item] {
                        state.0[dst as usize].or(&self.snapshot(src, saved));
                    }
                }
            }
        }
    }

    /// What a flag of pipe `src` between the two ends of a place says. One that is waited for at the end of a body was set in
    /// the iteration before.
    fn delivered(&self, src: Pipe, place: Place) -> Option<Bits> {
        let Place { block, item, gap } = place;
        let carried = gap == self.blocks[block].items.len();
        let saved = if carried { &self.previous[block][item] } else { &self.saved[block][item] };
        saved.as_ref().map(|saved| self.snapshot(src, saved))
    }

    /// All that the pipe had begun then and all that it knew, unless it has been issued again since.
    fn snapshot(&self, src: Pipe, saved: &Saved) -> Bits {
        let mut bits = saved.state.0[src as usize].clone();
        bits.or(&self.of_pipe[src as usize]);
        for &id in self.issued.get(saved.issued..).unwrap_or_default() {
            bits.clear(id);
        }
        bits
    }

    fn author(&mut self, sync: Sync, origin: Option<Origin>, state: &mut State) {
        match sync {
            Sync::Barrier(Some(pipe)) => state.0[pipe as usize].or(&self.of_pipe[pipe as usize]),
            Sync::Barrier(None) => *state = State(std::array::from_fn(|_| Bits::new(self.nodes.len(), true))),
            Sync::Set { src, dst, event } => {
                let saved = Saved { state: state.clone(), issued: self.issued.len() };
                let before = self.author.insert((src, dst, event), Some((saved, origin)));
                if matches!(before, Some(Some(_))) {
                    let message = format!(
                        "the flag {} to {}, EVENT_ID{event}, is set again before anything waits for it",
                        src.name(),
                        dst.name()
                    );
                    self.unpaired.insert((origin, message));
                }
            }
            Sync::Wait { src, dst, event } => match self.author.insert((src, dst, event), None).flatten() {
                Some((saved, _)) => {
                    let delivered = self.snapshot(src, &saved);
                    state.0[dst as usize].or(&delivered);
                }
                None => {
                    let message = format!(
                        "waits for the flag {} to {}, EVENT_ID{event}, which nothing sets: the kernel would hang; \
                         add `system.sync_src`",
                        src.name(),
                        dst.name()
                    );
                    self.unpaired.insert((origin, message));
                }
            },
        }
    }

    // ---- what an instruction needs

    /// Orders an instruction behind everything that it conflicts with.
    fn require(&mut self, id: u32, state: &mut State) {
        let pipe = self.nodes[id as usize].instr.pipe;
        let mut unknown = self.conflicts[id as usize].without(&state.0[pipe as usize]);
        loop {
            let mut candidates: Vec<(Pipe, Place)> = Vec::new();
            let suspects: Vec<u32> = unknown.iter().collect();
            for other in suspects {
                let Some(place) = self.place(other, id) else {
                    unknown.clear(other);
                    continue;
                };
                let src = self.nodes[other as usize].instr.pipe;
                match candidates
                    .iter_mut()
                    .find(|(pipe, at)| *pipe == src && at.block == place.block && at.gap == place.gap)
                {
                    Some((_, at)) => at.item = at.item.max(place.item),
                    None => candidates.push((src, place)),
                }
            }
            // A flag may make a barrier superfluous, never the other way round.
            let gain = |(src, place): &(Pipe, Place)| {
                let bits = self.delivered(*src, *place);
                (*src != pipe, bits.map_or(0, |bits| bits.common(&unknown)))
            };
            let Some((src, place)) = candidates.iter().max_by_key(|candidate| gain(candidate)).copied() else { return };
            self.order(src, id, place, state);
            for other in unknown.clone().iter() {
                let settled = self.nodes[other as usize].instr.pipe == src
                    && self.place(other, id).is_some_and(|at| (at.block, at.gap) == (place.block, place.gap));
                if settled || state.0[pipe as usize].has(other) {
                    unknown.clear(other);
                }
            }
        }
    }

    /// Adds a pair or barrier unless it is there, and what it says to the state.
    fn order(&mut self, src: Pipe, id: u32, place: Place, state: &mut State) {
        let Instr { pipe: dst, origin, .. } = *self.nodes[id as usize].instr;
        let Place { block, item, gap } = place;
        if src == dst {
            let barrier = Barrier { pipe: dst, block, gap };
            if !self.barriers.contains(&barrier) {
                self.barriers.push(barrier);
                self.arrivals[block][gap].push(Arrival::Barrier(dst));
                self.additions += 1;
            }
            state.0[dst as usize].or(&self.of_pipe[dst as usize]);
            return;
        }
        let same = |pair: &Pair| (pair.src, pair.dst, pair.block, pair.gap) == (src, dst, block, gap);
        match self.arrivals[block][gap].iter().find_map(|arrival| match arrival {
            Arrival::Flag(pair) if same(&self.pairs[*pair]) => Some(*pair),
            _ => None,
        }) {
            // Waiting at the same spot for an earlier instruction of the pipe: the later one stands for both.
            Some(pair) if self.pairs[pair].item < item => {
                self.pairs[pair].item = item;
                self.additions += 1;
            }
            Some(_) => {}
            None => {
                self.pairs.push(Pair { src, dst, block, item, gap, event: 0, origin });
                self.arrivals[block][gap].push(Arrival::Flag(self.pairs.len() - 1));
                self.additions += 1;
            }
        }
        if let Some(delivered) = self.delivered(src, place) {
            state.0[dst as usize].or(&delivered);
        }
    }

    /// Where `later` can be ordered behind `earlier`, if they conflict in the iterations that are being executed.
    fn place(&self, earlier: u32, later: u32) -> Option<Place> {
        let (a, b) = (&self.nodes[earlier as usize], &self.nodes[later as usize]);
        let common = a.path.iter().zip(&b.path).take_while(|(a, b)| a.0 == b.0).count();
        for level in (0..common).rev() {
            let (block, item) = a.path[level];
            if self.second[block] && self.conflict(a, b, Some(level)) {
                return Some(Place { block, item, gap: self.blocks[block].items.len() });
            }
        }
        let level = common.checked_sub(1)?;
        let ((block, item), (_, gap)) = (a.path[level], b.path[level]);
        (item < gap && self.conflict(a, b, None)).then_some(Place { block, item, gap })
    }

    /// Whether two instructions touch the same bytes: in one iteration of all loops around both, or in different
    /// iterations of the loop at `carried` in their paths.
    fn conflict(&self, a: &Node, b: &Node, carried: Option<usize>) -> bool {
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

fn flatten<'a>(
    steps: &'a [Step],
    repeats: Option<Repeats>,
    path: &mut Vec<(BlockId, usize)>,
    blocks: &mut Vec<Block>,
    nodes: &mut Vec<Node<'a>>,
) -> BlockId {
    let block = blocks.len();
    blocks.push(Block { items: Vec::new(), repeats });
    for (index, step) in steps.iter().enumerate() {
        path.push((block, index));
        let item = match step {
            Step::Instr(instr) => {
                nodes.push(Node { instr, path: path.clone() });
                Item::Instr(instr.id)
            }
            Step::Loop(node) => {
                let repeats = Some(repeats_of(node));
                Item::Loop(flatten(&node.body, repeats, path, blocks, nodes))
            }
            Step::If(node) => {
                let bodies = std::iter::once(&node.then).chain(&node.otherwise);
                let branches = bodies.map(|body| flatten(body, None, path, blocks, nodes)).collect();
                Item::If(branches, node.otherwise.is_some())
            }
            Step::Sync(sync, origin) => Item::Author(*sync, *origin),
            Step::Local { .. } | Step::Declare(_) | Step::Missing { .. } => Item::Other,
        };
        path.pop();
        blocks[block].items.push(item);
    }
    block
}

fn repeats_of(node: &Loop) -> Repeats {
    match &node.head {
        Head::For { var, step, .. } => Repeats { var: Some(*var), step: step.value, trips: node.trips() },
        Head::While { .. } => Repeats { var: None, step: None, trips: None },
    }
}

// ---- bytes

/// A tile stands for itself, a handle for everything that it is pointed to.
fn stands_for(program: &Program) -> Vec<Vec<TileId>> {
    let mut found: Vec<Vec<TileId>> = (0..program.tiles.len()).map(|tile| vec![TileId(tile as u32)]).collect();
    let mut moves = Vec::new();
    handle_moves(&program.body, &mut moves);
    loop {
        let mut changed = false;
        for &(handle, value) in &moves {
            for tile in found[value.0 as usize].clone() {
                let of_handle = &mut found[handle.0 as usize];
                if !of_handle.contains(&tile) {
                    of_handle.push(tile);
                    changed = true;
                }
            }
        }
        if !changed {
            return found;
        }
    }
}

fn handle_moves(steps: &[Step], moves: &mut Vec<(TileId, TileId)>) {
    for step in steps {
        match step {
            Step::Loop(node) => {
                for tile in node.carries.iter().filter_map(|carry| carry.tile) {
                    moves.push((tile.iter, tile.init));
                    moves.push((tile.iter, tile.next));
                }
                handle_moves(&node.body, moves);
            }
            Step::If(node) => {
                for (result, then, otherwise) in node.results.iter().filter_map(|result| result.tiles) {
                    moves.push((result, then));
                    moves.push((result, otherwise));
                }
                handle_moves(&node.then, moves);
                handle_moves(node.otherwise.as_deref().unwrap_or_default(), moves);
            }
            _ => {}
        }
    }
}

fn overlap(program: &Program, a: TileId, b: TileId) -> bool {
    let (a, b) = (program.tile(a), program.tile(b));
    let (Some(start_a), Some(start_b)) = (a.address, b.address) else { return false };
    a.form.space == b.form.space && start_a < start_b + b.bytes && start_b < start_a + a.bytes
}

/// Whether a tile that one of them writes can share bytes with a tile of the other.
fn on_chip_conflict(program: &Program, stands_for: &[Vec<TileId>], a: &Instr, b: &Instr) -> bool {
    let touches = |left: &[TileId], right: &[TileId]| {
        let all =
            |tiles: &[TileId]| tiles.iter().flat_map(|tile| stands_for[tile.0 as usize].clone()).collect::<Vec<_>>();
        let right = all(right);
        all(left).iter().any(|a| right.iter().any(|b| overlap(program, *a, *b)))
    };
    touches(&a.writes, &b.writes) || touches(&a.writes, &b.reads) || touches(&a.reads, &b.writes)
}

fn conflicts(program: &Program, stands_for: &[Vec<TileId>], nodes: &[Node], of_pipe: &[Bits; PIPES]) -> Vec<Bits> {
    let count = nodes.len();
    let tiles = program.tiles.len();
    // Accesses by the tile whose bytes they touch.
    let mut writers = vec![Bits::new(count, false); tiles];
    let mut users = vec![Bits::new(count, false); tiles];
    for node in nodes {
        let id = node.instr.id;
        for tile in node.instr.writes.iter().flat_map(|tile| &stands_for[tile.0 as usize]) {
            writers[tile.0 as usize].set(id);
            users[tile.0 as usize].set(id);
        }
        for tile in node.instr.reads.iter().flat_map(|tile| &stands_for[tile.0 as usize]) {
            users[tile.0 as usize].set(id);
        }
    }
    // The same for everything that overlaps the tile.
    let mut near_writers = writers.clone();
    let mut near_users = users.clone();
    let mut by_address: Vec<TileId> = (0..tiles as u32).map(TileId).collect();
    by_address.retain(|tile| program.tile(*tile).address.is_some());
    by_address.sort_by_key(|tile| (program.tile(*tile).form.space, program.tile(*tile).address));
    for (index, &a) in by_address.iter().enumerate() {
        let tile = program.tile(a);
        let end = tile.address.unwrap_or(0) + tile.bytes;
        for &b in &by_address[index + 1..] {
            let other = program.tile(b);
            if other.form.space != tile.form.space || other.address.unwrap_or(0) >= end {
                break;
            }
            let (a, b) = (a.0 as usize, b.0 as usize);
            near_writers[a].or(&writers[b]);
            near_writers[b].or(&writers[a]);
            near_users[a].or(&users[b]);
            near_users[b].or(&users[a]);
        }
    }
    let (mut stores, mut accesses) = (FxHashMap::default(), FxHashMap::default());
    for node in nodes {
        for tensor in node.instr.access.iter().flat_map(|access| &access.tensors) {
            let id = node.instr.id;
            accesses.entry(*tensor).or_insert_with(|| Bits::new(count, false)).set(id);
            if node.instr.access.as_ref().is_some_and(|access| access.store) {
                stores.entry(*tensor).or_insert_with(|| Bits::new(count, false)).set(id);
            }
        }
    }
    nodes
        .iter()
        .map(|node| {
            let mut conflicts = Bits::new(count, false);
            for tile in node.instr.writes.iter().flat_map(|tile| &stands_for[tile.0 as usize]) {
                conflicts.or(&near_users[tile.0 as usize]);
            }
            for tile in node.instr.reads.iter().flat_map(|tile| &stands_for[tile.0 as usize]) {
                conflicts.or(&near_writers[tile.0 as usize]);
            }
            if let Some(access) = &node.instr.access {
                let of_tensor = if access.store { &accesses } else { &stores };
                for bits in access.tensors.iter().filter_map(|tensor| of_tensor.get(tensor)) {
                    conflicts.or(bits);
                }
            }
            if node.instr.pipe.in_order() {
                conflicts = conflicts.without(&of_pipe[node.instr.pipe as usize]);
            }
            conflicts
        })
        .collect()
}

/// Whether two windows of a tensor can have an element in common. `moving` is the loop variable that is larger by at
/// least one step for the second access; the variables in `free` are unrelated in both, all others are equal.
fn windows_overlap(
    program: &Program,
    first: &Access,
    second: &Access,
    moving: Option<(VarId, Option<i64>)>,
    free: &[VarId],
) -> bool {
    if !first.store && !second.store || !first.tensors.iter().any(|tensor| second.tensors.contains(tensor)) {
        return false;
    }
    let (a, b) = (&program.wrappers[first.wrapper], &program.wrappers[second.wrapper]);
    if a.transposed || b.transposed || first.tensors != second.tensors {
        return true;
    }
    let dimensions = first.offsets.iter().zip(&a.window).zip(second.offsets.iter().zip(&b.window));
    for ((offset_a, extent_a), (offset_b, extent_b)) in dimensions {
        let (Some(offset_a), Some(offset_b)) = (&offset_a.affine, &offset_b.affine) else { continue };
        let is_free = |affine: &super::sequence::Affine| free.iter().any(|var| affine.factor(*var) != 0);
        let Some(difference) = offset_b.add(offset_a, -1) else { continue };
        if !difference.terms.is_empty() || is_free(offset_a) || is_free(offset_b) {
            continue;
        }
        let factor = moving.map_or(0, |(var, _)| offset_b.factor(var));
        let advance = match moving {
            Some((_, Some(step))) if factor != 0 => factor.saturating_mul(step),
            Some((_, None)) if factor != 0 => continue,
            _ => 0,
        };
        let (extent_a, extent_b) = (*extent_a as i64, *extent_b as i64);
        let distance = difference.constant.saturating_add(advance);
        let beyond = advance >= 0 && distance >= extent_a;
        let before = advance <= 0 && distance <= -extent_b;
        if beyond || before {
            return false;
        }
    }
    true
}

// ---- events

/// Position in the text of what is behind an item, or in front of one.
struct Positions {
    /// For each list and item.
    behind: Vec<Vec<u32>>,
    /// For each list and gap.
    front: Vec<Vec<u32>>,
}

fn positions(blocks: &[Block]) -> Positions {
    fn number(blocks: &[Block], block: BlockId, next: &mut u32, positions: &mut Positions) {
        let mut take = || {
            *next += 1;
            *next
        };
        positions.front[block].push(take());
        for item in 0..blocks[block].items.len() {
            match &blocks[block].items[item] {
                Item::Loop(body) => number(blocks, *body, next, positions),
                Item::If(branches, _) => {
                    branches.iter().for_each(|branch| number(blocks, *branch, next, positions));
                }
                _ => {}
            }
            *next += 1;
            positions.behind[block].push(*next);
            *next += 1;
            positions.front[block].push(*next);
        }
    }
    let mut positions = Positions { behind: vec![Vec::new(); blocks.len()], front: vec![Vec::new(); blocks.len()] };
    number(blocks, 0, &mut 0, &mut positions);
    positions
}

/// Gives each pair the lowest event that is free from its set to its wait. Where all are taken, two pairs of one statement
/// list become one: set at the later of the two places, waited for at the earlier.
fn assign_events(pairs: &mut Vec<Pair>, blocks: &[Block], author: &AuthorFlags) -> Vec<Finding> {
    let positions = positions(blocks);
    let set = |pair: &Pair| positions.behind[pair.block][pair.item];
    let wait = |pair: &Pair| positions.front[pair.block][pair.gap];
    pairs.sort_by_key(|pair| (pair.src, pair.dst, set(pair), wait(pair)));
    let mut findings = Vec::new();
    let mut kept: Vec<Pair> = Vec::new();
    let mut live: Vec<usize> = Vec::new();
    let mut exhausted = false;
    for mut pair in pairs.drain(..) {
        let is_same = |other: &Pair| (other.src, other.dst) == (pair.src, pair.dst);
        if !kept.last().is_some_and(is_same) {
            live.clear();
            exhausted = false;
        }
        live.retain(|index| wait(&kept[*index]) > set(&pair));
        let is_free = |event: &u8| {
            !author.contains_key(&(pair.src, pair.dst, *event)) && live.iter().all(|index| kept[*index].event != *event)
        };
        if let Some(event) = (0..EVENTS).find(is_free) {
            pair.event = event;
            live.push(kept.len());
            kept.push(pair);
            continue;
        }
        let partner = live.iter().copied().filter(|index| kept[*index].block == pair.block);
        if let Some(partner) = partner.max_by_key(|index| set(&kept[*index])) {
            let merged = &mut kept[partner];
            merged.item = pair.item;
            merged.gap = merged.gap.min(pair.gap);
            continue;
        }
        if !std::mem::replace(&mut exhausted, true) {
            let message = format!(
                "more than {EVENTS} flags from {} to {} are pending at once, and none can be joined with another; use \
                 results nearer to where they are produced",
                pair.src.name(),
                pair.dst.name()
            );
            findings.push(finding(Code::EventsExhausted, pair.origin, message));
        }
    }
    *pairs = kept;
    findings
}

fn finding(code: Code, at: Origin, message: String) -> Finding {
    Finding { code, severity: code.severity(), at, message, related: Vec::new() }
}

// ---- the completed text

/// Flags and barriers by list and place.
struct Placed {
    behind: FxHashMap<(BlockId, usize), Vec<Sync>>,
    front: FxHashMap<(BlockId, usize), Vec<Sync>>,
    next_block: BlockId,
}

impl Placed {
    fn new(pairs: &[Pair], barriers: &[Barrier]) -> Placed {
        let mut placed = Placed { behind: FxHashMap::default(), front: FxHashMap::default(), next_block: 0 };
        for barrier in barriers {
            let place = placed.front.entry((barrier.block, barrier.gap)).or_default();
            place.push(Sync::Barrier(Some(barrier.pipe)));
        }
        for pair in pairs {
            let Pair { src, dst, event, .. } = *pair;
            placed.behind.entry((pair.block, pair.item)).or_default().push(Sync::Set { src, dst, event });
            placed.front.entry((pair.block, pair.gap)).or_default().push(Sync::Wait { src, dst, event });
        }
        placed
    }
}

/// Visits the lists in the order of [`flatten`].
fn insert(steps: &mut Vec<Step>, placed: &mut Placed) {
    let block = placed.next_block;
    placed.next_block += 1;
    let count = steps.len();
    let mut complete = Vec::with_capacity(count * 2);
    for (index, mut step) in std::mem::take(steps).into_iter().enumerate() {
        let front = placed.front.remove(&(block, index)).unwrap_or_default();
        complete.extend(front.into_iter().map(|sync| Step::Sync(sync, None)));
        match &mut step {
            Step::Loop(node) => insert(&mut node.body, placed),
            Step::If(node) => {
                insert(&mut node.then, placed);
                if let Some(otherwise) = &mut node.otherwise {
                    insert(otherwise, placed);
                }
            }
            _ => {}
        }
        complete.push(step);
        let behind = placed.behind.remove(&(block, index)).unwrap_or_default();
        complete.extend(behind.into_iter().map(|sync| Step::Sync(sync, None)));
    }
    let end = placed.front.remove(&(block, count)).unwrap_or_default();
    complete.extend(end.into_iter().map(|sync| Step::Sync(sync, None)));
    *steps = complete;
}
