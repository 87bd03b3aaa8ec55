//! Seeded random numbers (SplitMix64): the same seed gives the same numbers on every machine and in every release. For
//! markets, simulations, synthetic prices and pauses that must differ; never for secrets.

/// A sequence of random numbers: one addition and a few mixes per number; every seed is good.
#[derive(Debug, Clone)]
pub struct SeededRng(u64);

impl SeededRng {
    /// A sequence of its own for each `stream` of a seed.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        Self(mix(seed ^ mix(stream)))
    }

    /// The only sequence of a seed.
    #[must_use]
    pub fn from_seed(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number, with every bit random.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// From 0 up to and without `bound`; the modulo bias is far below what a market shows. A bound of 0 gives 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next_u64() % bound.max(1)
    }

    /// From one number up to and with the other.
    ///
    /// # Panics
    /// Where the width of the range does not fit an `i64`.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let width = high.abs_diff(low) + 1;
        low + i64::try_from(self.below(width)).expect("a range that is narrower than all of i64")
    }

    /// True once in `n` on average: never with 0, always with 1. With 0 no number is drawn.
    pub fn one_in(&mut self, n: u32) -> bool {
        n > 0 && self.below(n.into()) == 0
    }

    /// Any of the items; none where there are none.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        let index = usize::try_from(self.below(from.len() as u64)).unwrap_or(0);
        from.get(index)
    }

    /// Approximately normal, mean 0 and standard deviation 1000: twelve uniform numbers have that variance.
    pub fn normal_thousandths(&mut self) -> i64 {
        let sum: u64 = (0..12).map(|_| self.below(1_001)).sum();
        i64::try_from(sum).expect("at most 12,000") - 6_000
    }
}

fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_a_seed_are_those_of_splitmix64() {
        let mut rng = SeededRng::from_seed(1_234_567);
        let numbers = [rng.next_u64(), rng.next_u64(), rng.next_u64()];
        assert_eq!(numbers, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn a_seed_and_a_stream_give_the_same_draws_again_and_another_stream_gives_others() {
        let draws = |seed, stream| {
            let mut rng = SeededRng::new(seed, stream);
            [rng.below(1_000), rng.below(1_000), rng.below(1_000)]
        };
        assert_eq!(draws(7, 1), draws(7, 1));
        assert_ne!(draws(7, 1), draws(7, 2));
        assert_ne!(draws(7, 1), draws(8, 1));
    }

    #[test]
    fn normal_draws_have_the_documented_deviation() {
        let mut rng = SeededRng::new(1, 1);
        let draws: Vec<i64> = (0..10_000).map(|_| rng.normal_thousandths()).collect();
        let mean = draws.iter().sum::<i64>() / 10_000;
        let variance = draws.iter().map(|draw| (draw - mean).pow(2)).sum::<i64>() / 10_000;
        assert!(mean.abs() < 40, "mean {mean}");
        assert!((950_000..1_050_000).contains(&variance), "variance {variance}");
    }

    #[test]
    fn one_in_nought_never_happens_and_one_in_one_always() {
        let mut rng = SeededRng::new(1, 1);
        assert!((0..100).all(|_| !rng.one_in(0) && rng.one_in(1)));
    }

    #[test]
    fn a_range_has_both_its_ends_and_nothing_is_picked_of_nothing() {
        let mut rng = SeededRng::new(1, 1);
        let drawn: std::collections::BTreeSet<i64> = (0..200).map(|_| rng.between(-1, 1)).collect();
        assert_eq!(drawn, [-1, 0, 1].into());
        assert_eq!((rng.pick::<u8>(&[]), rng.pick(&[7])), (None, Some(&7)));
    }
}
