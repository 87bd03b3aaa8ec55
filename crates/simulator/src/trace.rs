//! What happens in a run, in the words of the trade: hashed, kept for a failure, printed on request.

use std::collections::VecDeque;
use std::fmt;

use crate::schedule::Step;

const NANOS_PER_SECOND: i64 = 1_000_000_000;
const NANOS_PER_MICRO: i64 = 1_000;
/// Lines that are kept for the report of a failure.
const LINES_KEPT: usize = 40;

pub(crate) struct Trace {
    hash: blake3::Hasher,
    last: VecDeque<String>,
    /// How many lines there were.
    lines: u64,
    /// What each step of the schedule did.
    actions: Vec<String>,
    is_printed: bool,
    /// Simulated time since the beginning of the run.
    now: i64,
}

impl Trace {
    pub(crate) fn new(is_printed: bool) -> Self {
        Self { hash: blake3::Hasher::new(), last: VecDeque::new(), lines: 0, actions: vec![], is_printed, now: 0 }
    }

    pub(crate) fn set_time(&mut self, now: i64) {
        self.now = now;
    }

    pub(crate) fn line(&mut self, what: impl fmt::Display) {
        let (seconds, micros) = (self.now / NANOS_PER_SECOND, self.now % NANOS_PER_SECOND / NANOS_PER_MICRO);
        let line = format!("{seconds:>6}.{micros:06} {what}");
        self.hash.update(line.as_bytes()).update(b"\n");
        if self.is_printed {
            println!("{line}");
        }
        if self.last.len() == LINES_KEPT {
            self.last.pop_front();
        }
        self.last.push_back(line);
        self.lines += 1;
    }

    /// How many lines there are so far.
    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }

    /// A step of the schedule is over. It did what the first line says that was written behind so many; what the schedule says of it,
    /// where there is none.
    pub(crate) fn end_step(&mut self, lines_before: u64, step: &Step) {
        let written = usize::try_from(self.lines - lines_before).unwrap_or(0);
        let first = self.last.len().checked_sub(written).filter(|_| written > 0).and_then(|place| self.last.get(place));
        let told = first.and_then(|line| line.trim_start().split_once(' ')).map(|(_, what)| what);
        let what = told.map_or_else(|| step.what.to_string(), str::to_owned);
        self.actions.push(format!("{} {what}", step.time()));
    }

    pub(crate) fn actions(&self) -> Vec<String> {
        self.actions.clone()
    }

    /// Equal runs have equal hashes.
    pub(crate) fn hash(&self) -> String {
        self.hash.finalize().to_hex()[..16].to_owned()
    }

    pub(crate) fn last_lines(&self) -> Vec<String> {
        self.last.iter().cloned().collect()
    }
}
