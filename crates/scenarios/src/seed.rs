//! Seeds of random series.

use std::hash::{DefaultHasher, Hash, Hasher};

/// One number for all tries of a test in a run of nextest, so that a further try repeats the first; another one in each run, and in each process
/// without nextest.
pub fn fresh_seed() -> u64 {
    let Ok(run) = std::env::var("NEXTEST_RUN_ID") else { return u64::from(std::process::id()) };
    let mut hasher = DefaultHasher::new();
    run.hash(&mut hasher);
    // Short enough to be typed again.
    hasher.finish() >> 40
}
