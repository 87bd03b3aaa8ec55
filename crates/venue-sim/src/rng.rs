//! Seeded random numbers (SplitMix64): the same seed gives the same market.

/// SplitMix64: one addition and a few mixes per number; every seed is good.
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    /// A stream of its own for each `stream` of a seed.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        Self(mix(seed ^ mix(stream)))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number from 0 up to and without `bound`; the modulo bias is far below what a market shows.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// True once in `n` on average: never with 0, always with 1.
    pub fn one_in(&mut self, n: u32) -> bool {
        n > 0 && self.below(n.into()) == 0
    }

    /// Approximately normal, mean 0 and standard deviation 1000: twelve uniform numbers have that variance.
    pub(crate) fn normal_thousandths(&mut self) -> i64 {
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
    fn a_seed_and_a_stream_give_the_same_draws_again_and_another_stream_gives_others() {
        let draws = |seed, stream| {
            let mut rng = Rng::new(seed, stream);
            [rng.below(1_000), rng.below(1_000), rng.below(1_000)]
        };
        assert_eq!(draws(7, 1), draws(7, 1));
        assert_ne!(draws(7, 1), draws(7, 2));
        assert_ne!(draws(7, 1), draws(8, 1));
    }

    #[test]
    fn normal_draws_have_the_documented_deviation() {
        let mut rng = Rng::new(1, 1);
        let draws: Vec<i64> = (0..10_000).map(|_| rng.normal_thousandths()).collect();
        let mean = draws.iter().sum::<i64>() / 10_000;
        let variance = draws.iter().map(|draw| (draw - mean).pow(2)).sum::<i64>() / 10_000;
        assert!(mean.abs() < 40, "mean {mean}");
        assert!((950_000..1_050_000).contains(&variance), "variance {variance}");
    }

    #[test]
    fn one_in_nought_never_happens_and_one_in_one_always() {
        let mut rng = Rng::new(1, 1);
        assert!((0..100).all(|_| !rng.one_in(0) && rng.one_in(1)));
    }
}
