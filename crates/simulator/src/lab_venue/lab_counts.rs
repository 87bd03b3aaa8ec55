//! What happened at the lab.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

/// How often each fault of its catalogue met a request or a report.
pub(crate) type StruckFaults = BTreeMap<String, u64>;

#[derive(Debug, Clone, Default)]
pub(crate) struct LabCounts {
    pub(crate) runs: u64,
    pub(crate) connections: u64,
    pub(crate) orders: u64,
    pub(crate) trades: u64,
    pub(crate) struck: StruckFaults,
    /// Fills that the platform inferred.
    pub(crate) inferred: u64,
}

impl LabCounts {
    pub(super) fn of_ledger(self, ledger: &Value) -> Self {
        let count = |key: &str| ledger[key].as_array().map_or(0, |rows| rows.len() as u64);
        Self { orders: count("orders"), trades: count("trades"), ..self }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        self.connections += other.connections;
        self.orders += other.orders;
        self.trades += other.trades;
        add_struck(&mut self.struck, &other.struck);
        self.inferred += other.inferred;
    }
}

/// Of a transcript, whose lines end with the name of a fault.
pub(super) fn struck_by(transcript: &str) -> StruckFaults {
    let mut struck = StruckFaults::new();
    for name in transcript.lines().filter_map(|line| line.rsplit(": ").next()) {
        *struck.entry(name.to_owned()).or_default() += 1;
    }
    struck
}

pub(super) fn add_struck(sum: &mut StruckFaults, other: &StruckFaults) {
    other.iter().for_each(|(name, count)| *sum.entry(name.clone()).or_default() += count);
}

impl fmt::Display for LabCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:>9}  runs with it", self.runs)?;
        writeln!(f, "{:>9}  connections", self.connections)?;
        writeln!(f, "{:>9}  orders", self.orders)?;
        writeln!(f, "{:>9}  trades", self.trades)?;
        writeln!(f, "{:>9}  fills that the platform inferred", self.inferred)?;
        writeln!(
            f,
            "{:>9}  faults of its catalogue that met a request or a report",
            self.struck.values().sum::<u64>()
        )?;
        self.struck.iter().try_for_each(|(name, count)| writeln!(f, "{count:>9}    {name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_a_transcript_are_counted_by_their_names() {
        let struck =
            struck_by("request 3 order 1: odd-fills\nrequest 4 order 1: strangers\nrequest 9 order 2: odd-fills\n");
        assert_eq!(struck, [("odd-fills".to_owned(), 2), ("strangers".to_owned(), 1)].into());
    }
}
