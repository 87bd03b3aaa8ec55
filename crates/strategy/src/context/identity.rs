//! Identity of a strategy run.

use domain::{StrategyId, Text};

/// Characters of the strategy's name in its order ids.
const NAME_IN_ORDERS_MAX: usize = 24;

/// Identity of a strategy run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrategyIdentity {
    /// The id in reference data.
    pub id: StrategyId,
    /// The name under which it trades.
    pub name: Text,
    /// A number that no earlier run had: it keeps the order ids of runs apart.
    pub run: u64,
}

impl StrategyIdentity {
    /// Prefix of its order ids, before their number: short and printable.
    pub(crate) fn order_prefix(&self) -> String {
        let printable = self.name.chars().filter(char::is_ascii_graphic).take(NAME_IN_ORDERS_MAX);
        let name: String = printable.collect();
        format!("{name}-{}-", self.run)
    }
}
