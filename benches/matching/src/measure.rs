//! Time, cores, load.

use std::fs;
use std::thread;
use std::time::Instant;

use crate::engines::Engine;
use crate::stream::{Op, Tally};

/// The rounds of one engine.
#[derive(Default)]
pub struct Timing {
    million_per_second: Vec<f64>,
    quantiles_ns: Vec<[u64; 3]>,
}

impl Timing {
    /// Throughput: the clock is read twice.
    pub fn whole(&mut self, ops: &[Op], mut engine: Box<dyn Engine>, check: impl Fn(Tally)) {
        let start = Instant::now();
        for op in ops {
            engine.apply(op);
        }
        self.million_per_second.push(ops.len() as f64 / start.elapsed().as_secs_f64() / 1e6);
        check(engine.tally());
    }

    /// Latency: the clock is read around every command.
    pub fn each(&mut self, ops: &[Op], mut engine: Box<dyn Engine>, check: impl Fn(Tally)) {
        let mut taken: Vec<u64> = Vec::with_capacity(ops.len());
        for op in ops {
            let start = Instant::now();
            engine.apply(op);
            taken.push(start.elapsed().as_nanos() as u64);
        }
        taken.sort_unstable();
        let at = |part: usize| taken[(taken.len() - 1) * part / 1000];
        self.quantiles_ns.push([at(500), at(990), at(999)]);
        check(engine.tally());
    }

    /// Of the best round: what the machine does when it is left alone.
    pub fn million_per_second(&self) -> f64 {
        self.million_per_second.iter().copied().fold(0.0, f64::max)
    }

    pub fn median_million_per_second(&self) -> f64 {
        let mut sorted = self.million_per_second.clone();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    }

    /// Of the middle round, by p99.
    pub fn quantiles_ns(&self) -> [u64; 3] {
        let mut sorted = self.quantiles_ns.clone();
        sorted.sort_by_key(|quantiles| quantiles[1]);
        sorted[sorted.len() / 2]
    }
}

/// The median cost of reading the clock twice.
pub fn clock_ns() -> u64 {
    let mut taken: Vec<u64> = (0..10_001)
        .map(|_| {
            let start = Instant::now();
            start.elapsed().as_nanos() as u64
        })
        .collect();
    taken.sort_unstable();
    taken[taken.len() / 2]
}

pub fn machine() -> String {
    let cores = thread::available_parallelism().map_or(0, usize::from);
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("");
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Vec<&str> = load.split_whitespace().take(3).collect();
    format!("{} | {cores} cores | load {}", model.trim_matches([' ', '\t', ':']), load.join(" "))
}

/// Memory of this process that is really there, from the kernel.
pub fn resident_bytes() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok());
    kib.unwrap_or(0) * 1024
}
