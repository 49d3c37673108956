//! Which copy of a loop's body a variable belongs to, where the compiler copies bodies: the stages of a pipeline, the iterations of an
//! unrolled loop; also which of the vector units runs it. Plans do not depend on it; it is how copies of one line are told apart for people.

use rustc_hash::FxHashMap;
use tilefit_python::finding::Origin;

use super::VarId;

/// One copy of a loop's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BodyCopy {
    /// The loop, or the kernel.
    pub of: Origin,
    pub part: Part,
    /// From 0.
    pub nth: u32,
    /// How many there are in the same part.
    pub count: u32,
}

/// Where a copy stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// One after the other, without a loop.
    Unrolled,
    /// A stage in the loop of a pipeline, or of one with fewer iterations than stages, which has no loop.
    Stage,
    /// Started before that loop, which then works an iteration ahead.
    Ahead,
    /// Left over after that loop.
    Rest,
    /// What one of the vector units runs, of a kernel that goes through both.
    Unit,
}

/// The copies that variables belong to, in the order of the variables. Most are made as they are noted, so that the list grows at its end.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Copies {
    of: Vec<(VarId, Chain)>,
    links: Vec<(BodyCopy, Option<Chain>)>,
}

/// Index of a copy in [`Copies::links`], which may be a copy of a copy.
type Chain = u32;

impl Copies {
    /// Notes that each second variable is what the first became in this copy.
    pub(crate) fn add(&mut self, copy: BodyCopy, mut pairs: Vec<(VarId, VarId)>) {
        pairs.sort_unstable_by_key(|&(_, new)| new);
        let mut chains: FxHashMap<Option<Chain>, Chain> = FxHashMap::default();
        for (old, new) in pairs {
            let before = self.chain(old);
            let chain = *chains.entry(before).or_insert_with(|| {
                self.links.push((copy, before));
                self.links.len() as Chain - 1
            });
            match self.of.binary_search_by_key(&new, |&(var, _)| var) {
                Ok(at) => self.of[at].1 = chain,
                Err(at) => self.of.insert(at, (new, chain)),
            }
        }
    }

    /// The copies that a variable belongs to, the one that was made last first; none where it is of no copied body.
    pub fn of(&self, var: VarId) -> impl Iterator<Item = BodyCopy> + '_ {
        let link = |chain: Chain| self.links[chain as usize];
        std::iter::successors(self.chain(var).map(link), move |(_, before)| before.map(link)).map(|(copy, _)| copy)
    }

    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    fn chain(&self, var: VarId) -> Option<Chain> {
        let at = self.of.binary_search_by_key(&var, |&(var, _)| var).ok()?;
        Some(self.of[at].1)
    }
}
