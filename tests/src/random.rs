//! Numbers that are the same on every machine for a seed.

/// SplitMix64.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The numbers of one kernel, or one input, of a run: neighbouring indices share nothing.
    pub fn new(seed: u64, index: u64) -> Random {
        let mut random = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        random.number();
        random
    }

    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is at least 1.
    pub fn below(&mut self, end: usize) -> usize {
        (self.number() % end.max(1) as u64) as usize
    }

    /// A number of `from..=to`.
    pub fn within(&mut self, from: u64, to: u64) -> u64 {
        from + self.number() % (to - from + 1)
    }

    pub fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// True in so many of 100 cases.
    pub fn percent(&mut self, chance: u64) -> bool {
        self.number() % 100 < chance
    }

    /// An index of `weights`, by weight.
    pub fn weighted(&mut self, weights: &[u32]) -> usize {
        let total: u32 = weights.iter().sum();
        let mut left = self.number() % u64::from(total.max(1));
        for (at, &weight) in weights.iter().enumerate() {
            if left < u64::from(weight) {
                return at;
            }
            left -= u64::from(weight);
        }
        0
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.number() as u8).collect()
    }
}
