//! What happened at the lab.

use std::fmt;

use serde_json::Value;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LabCounts {
    pub(crate) runs: u64,
    pub(crate) connections: u64,
    pub(crate) orders: u64,
    pub(crate) trades: u64,
    /// Faults of its catalogue that met a request or a report.
    pub(crate) struck: u64,
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
        self.struck += other.struck;
    }
}

impl fmt::Display for LabCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:>9}  runs with it", self.runs)?;
        writeln!(f, "{:>9}  connections", self.connections)?;
        writeln!(f, "{:>9}  orders", self.orders)?;
        writeln!(f, "{:>9}  trades", self.trades)?;
        writeln!(f, "{:>9}  faults of its catalogue that met a request or a report", self.struck)
    }
}
