//! What the pipes know of each other, in bit sets over the instructions of a kernel.

use smallvec::{SmallVec, smallvec};

use crate::codegen::sequence::Pipe;

pub(super) const PIPES: usize = Pipe::ALL.len();

/// A flag of the hardware: from, to, event.
pub(super) type Flag = (Pipe, Pipe, u8);

/// A set of instructions, by number. Those of most kernels lie on the stack: there is a copy of several for each statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bits(SmallVec<[u64; 6]>);

impl Bits {
    pub(super) fn new(len: usize, full: bool) -> Bits {
        Bits(smallvec![if full { u64::MAX } else { 0 }; len.div_ceil(64).max(1)])
    }

    pub(super) fn fill(&mut self) {
        self.0.fill(u64::MAX);
    }

    pub(super) fn set(&mut self, bit: u32) {
        self.0[bit as usize / 64] |= 1 << (bit % 64);
    }

    pub(super) fn clear(&mut self, bit: u32) {
        self.0[bit as usize / 64] &= !(1 << (bit % 64));
    }

    pub(super) fn has(&self, bit: u32) -> bool {
        self.0[bit as usize / 64] & (1 << (bit % 64)) != 0
    }

    pub(super) fn or(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    pub(super) fn and(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a &= b);
    }

    pub(super) fn without(&self, other: &Bits) -> Bits {
        Bits(self.0.iter().zip(&other.0).map(|(a, b)| a & !b).collect())
    }

    pub(super) fn common(&self, other: &Bits) -> u32 {
        self.0.iter().zip(&other.0).map(|(a, b)| (a & b).count_ones()).sum()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
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

/// What holds at one place of the kernel however it was reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State {
    /// For each pipe the instructions that it knows to have finished: all instances of them so far.
    pub(super) known: [Bits; PIPES],
    /// The author's flags that are certainly set, ascending, and what a wait for them makes known.
    written: Vec<(Flag, Bits)>,
}

impl State {
    /// Nothing was issued, so that all that was is known to have finished.
    pub(super) fn at_the_start(instructions: usize) -> State {
        State { known: std::array::from_fn(|_| Bits::new(instructions, true)), written: Vec::new() }
    }

    /// What is certain on both of two paths.
    pub(super) fn meet(&mut self, other: &State) {
        self.known.iter_mut().zip(&other.known).for_each(|(a, b)| a.and(b));
        self.written.retain_mut(|(flag, delivers)| {
            let there = other.written.binary_search_by_key(flag, |(flag, _)| *flag);
            if let Ok(there) = there {
                delivers.and(&other.written[there].1);
            }
            there.is_ok()
        });
    }

    /// A new instance runs: nothing that was known of the instruction holds for it.
    pub(super) fn issue(&mut self, id: u32) {
        let written = self.written.iter_mut().map(|(_, delivers)| delivers);
        self.known.iter_mut().chain(written).for_each(|known| known.clear(id));
    }

    pub(super) fn barrier(&mut self, pipe: Pipe, of_pipe: &[Bits; PIPES]) {
        self.known[pipe as usize].or(&of_pipe[pipe as usize]);
    }

    pub(super) fn barrier_of_all(&mut self) {
        self.known.iter_mut().for_each(Bits::fill);
    }

    /// What a flag that is set here says: all that its pipe has begun, and all that is known there.
    pub(super) fn set_written(&mut self, flag: Flag, of_pipe: &[Bits; PIPES]) {
        let src = flag.0 as usize;
        let mut delivers = self.known[src].clone();
        delivers.or(&of_pipe[src]);
        match self.written.binary_search_by_key(&flag, |(flag, _)| *flag) {
            Ok(at) => self.written[at].1 = delivers,
            Err(at) => self.written.insert(at, (flag, delivers)),
        }
    }

    pub(super) fn wait_written(&mut self, flag: Flag) {
        if let Ok(at) = self.written.binary_search_by_key(&flag, |(flag, _)| *flag) {
            let (_, delivers) = self.written.remove(at);
            self.known[flag.1 as usize].or(&delivers);
        }
    }
}
