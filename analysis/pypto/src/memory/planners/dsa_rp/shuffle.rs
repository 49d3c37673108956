//! The orders that the compiler's solver tries are shuffled by the C++ standard library (`std::shuffle` of libstdc++ with
//! `std::mt19937_64`); the same numbers give the same orders.

/// The 64-bit Mersenne Twister, with the constants of the C++ standard.
pub(super) struct MersenneTwister {
    state: [u64; Self::LENGTH],
    next: usize,
}

impl MersenneTwister {
    const LENGTH: usize = 312;
    const MIDDLE: usize = 156;
    const MATRIX: u64 = 0xB502_6F5A_A966_19E9;
    const UPPER: u64 = 0xFFFF_FFFF_8000_0000;

    pub(super) fn new(seed: u64) -> MersenneTwister {
        let mut state = [seed; Self::LENGTH];
        for i in 1..Self::LENGTH {
            let previous = state[i - 1];
            state[i] = (previous ^ (previous >> 62)).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(i as u64);
        }
        MersenneTwister { state, next: Self::LENGTH }
    }

    pub(super) fn number(&mut self) -> u64 {
        if self.next == Self::LENGTH {
            self.twist();
            self.next = 0;
        }
        let mut number = self.state[self.next];
        self.next += 1;
        number ^= (number >> 29) & 0x5555_5555_5555_5555;
        number ^= (number << 17) & 0x71D6_7FFF_EDA6_0000;
        number ^= (number << 37) & 0xFFF7_EEE0_0000_0000;
        number ^ (number >> 43)
    }

    fn twist(&mut self) {
        for i in 0..Self::LENGTH {
            let (here, following) = (self.state[i], self.state[(i + 1) % Self::LENGTH]);
            let mixed = (here & Self::UPPER) | (following & !Self::UPPER);
            let odd = if mixed & 1 == 1 { Self::MATRIX } else { 0 };
            self.state[i] = self.state[(i + Self::MIDDLE) % Self::LENGTH] ^ (mixed >> 1) ^ odd;
        }
    }

    /// A number below `bound`, by multiplication (Lemire); `bound` is at least one.
    fn below(&mut self, bound: u64) -> u64 {
        let mut product = u128::from(self.number()) * u128::from(bound);
        if (product as u64) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u64) < threshold {
                product = u128::from(self.number()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }

    /// Two swaps for every number that is drawn. `items` are fewer than 2^32.
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        let mut at = 1;
        if !items.is_empty() && items.len().is_multiple_of(2) {
            items.swap(at, self.below(2) as usize);
            at += 1;
        }
        while at + 1 < items.len() {
            let range = at as u64 + 1;
            let both = self.below(range * (range + 1));
            items.swap(at, (both / (range + 1)) as usize);
            items.swap(at + 1, (both % (range + 1)) as usize);
            at += 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ten_thousandth_number_is_that_of_the_standard() {
        let mut random = MersenneTwister::new(5489);
        let last = (0..10_000).map(|_| random.number()).last();
        assert_eq!(last, Some(9_981_545_732_273_789_042));
    }

    #[test]
    fn shuffling_keeps_every_item() {
        for length in 0..20 {
            let mut items: Vec<u32> = (0..length).collect();
            MersenneTwister::new(0).shuffle(&mut items);
            items.sort_unstable();
            assert_eq!(items, (0..length).collect::<Vec<_>>());
        }
    }
}
