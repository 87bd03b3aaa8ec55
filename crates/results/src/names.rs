//! Names of securities and strategies, as a report shows them.

use domain::{ReferenceData, SecurityId, StrategyId, Text};

pub(crate) fn symbol(reference: &ReferenceData, id: SecurityId) -> Text {
    reference.securities.get(&id).map_or_else(|| id.to_string().into(), |security| security.symbol.clone())
}

pub(crate) fn strategy_name(reference: &ReferenceData, id: StrategyId) -> Text {
    reference.strategies.get(&id).map_or_else(|| id.to_string().into(), |strategy| strategy.name.clone())
}
