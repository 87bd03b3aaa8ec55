//! Our order book beside public Rust ones: the same commands, in turns, in one run.
//!
//! `cargo run --release [COMMANDS [ROUNDS]]`; what is measured, and why so, stands in README.md.

/// One face for all books.
mod engines;
/// How our book grows.
mod growth;
/// Time, cores, load.
mod measure;
/// The commands, and what must come out of them.
mod stream;

use engines::{Engine, Lobster, Matchcore, Ours};
use measure::Timing;
use stream::{Stream, Tally};

const COMMANDS: usize = 1_000_000;
const ROUNDS: usize = 5;
/// The peer that the ratios refer to.
const YARDSTICK: &str = "matchcore 0.4.0";

type Start = fn() -> Box<dyn Engine>;

const ENGINES: [(&str, Start); 3] = [
    ("rialto venue-sim", || Box::new(Ours::new())),
    (YARDSTICK, || Box::new(Matchcore::new())),
    ("lobster 0.7.0", || Box::new(Lobster::new())),
];

fn main() {
    let commands = argument(1).unwrap_or(COMMANDS);
    let rounds = argument(2).unwrap_or(ROUNDS).max(1);
    let stream = Stream::make(commands);
    println!("{}", measure::machine());
    println!("{}\n", stream.describe());
    print_table(&race(&stream, rounds));
    println!("\nA reading of the clock costs {} ns and is part of p50, p99, p99.9.\n", measure::clock_ns());
    growth::print_table();
}

fn argument(at: usize) -> Option<usize> {
    let word = std::env::args().nth(at)?;
    Some(word.parse().unwrap_or_else(|_| panic!("{word}: must be a number")))
}

/// The engines take turns, so that a neighbour's load falls on all of them.
fn race(stream: &Stream, rounds: usize) -> Vec<(&'static str, Timing)> {
    let mut timings = ENGINES.map(|(name, _)| (name, Timing::default()));
    for _ in 0..rounds {
        for ((name, start), (_, timing)) in ENGINES.iter().zip(&mut timings) {
            timing.whole(&stream.ops, start(), |end| check(name, end, &stream.tally));
            timing.each(&stream.ops, start(), |end| check(name, end, &stream.tally));
        }
    }
    timings.into()
}

/// Speed counts only for the right result.
fn check(name: &str, end: Tally, expected: &Tally) {
    assert_eq!(end, *expected, "{name} does not agree with the reference book");
}

fn print_table(timings: &[(&str, Timing)]) {
    let yardstick = timings.iter().find(|(name, _)| *name == YARDSTICK);
    let yardstick = yardstick.map_or(f64::NAN, |(_, timing)| timing.million_per_second());
    println!("| engine | M commands/s, best | median | p50 ns | p99 ns | p99.9 ns | to {YARDSTICK} |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for (name, timing) in timings {
        let speed = timing.million_per_second();
        let [p50, p99, p999] = timing.quantiles_ns();
        let median = timing.median_million_per_second();
        println!("| {name} | {speed:.2} | {median:.2} | {p50} | {p99} | {p999} | {:.2} |", speed / yardstick);
    }
}
