//! The platform as it is: a fixed number of seeds of a fixed length keeps every promise, and a seed always gives the same run.

use simulator::{Plan, RunReport, run};

/// Simulated minutes in which things go wrong; more than two of rest follow.
const MINUTES: u32 = 3;
const SEEDS_PER_TEST: u64 = 50;

fn report(seed: u64, minutes: u32) -> RunReport {
    run(&Plan::of_seed(seed, minutes)).expect("a temporary folder can be written")
}

fn broken_promises(first: u64) -> Vec<String> {
    let seeds = first..first + SEEDS_PER_TEST;
    let broken = |seed: u64| report(seed, MINUTES).violation.map(|violation| format!("seed {seed}: {violation}"));
    seeds.filter_map(broken).collect()
}

#[test]
fn seeds_1_to_50_keep_every_promise() {
    assert_eq!(broken_promises(1), Vec::<String>::new());
}

#[test]
fn seeds_51_to_100_keep_every_promise() {
    assert_eq!(broken_promises(51), Vec::<String>::new());
}

#[test]
fn seeds_101_to_150_keep_every_promise() {
    assert_eq!(broken_promises(101), Vec::<String>::new());
}

#[test]
fn seeds_151_to_200_keep_every_promise() {
    assert_eq!(broken_promises(151), Vec::<String>::new());
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_seed_another() {
    let hashes = [7, 7, 8].map(|seed| report(seed, MINUTES).hash);
    assert_eq!(hashes[0], hashes[1]);
    assert_ne!(hashes[0], hashes[2]);
}
