//! Market data subscriptions: which strategy subscribes to which security.

use std::collections::BTreeSet;

use domain::command::MarketDataSubscription;
use domain::{SecurityId, StrategyId};
use minicbor::{Decode, Encode};

#[derive(Debug, Clone, Default, Encode, Decode)]
pub(crate) struct MarketDataSubscriptions {
    /// Ordered by security, so that all subscriptions of one security are adjacent.
    #[n(0)]
    pub(crate) by_security: BTreeSet<(SecurityId, StrategyId)>,
}

impl MarketDataSubscriptions {
    pub(crate) fn list(&self) -> Vec<MarketDataSubscription> {
        self.by_security
            .iter()
            .map(|(security, strategy)| MarketDataSubscription { strategy: *strategy, security: *security })
            .collect()
    }

    pub(crate) fn securities(&self) -> impl Iterator<Item = SecurityId> {
        let securities: BTreeSet<_> = self.by_security.iter().map(|(security, _)| *security).collect();
        securities.into_iter()
    }

    pub(crate) fn has_subscribers(&self, security: SecurityId) -> bool {
        self.by_security.range((security, StrategyId(0))..=(security, StrategyId(u64::MAX))).next().is_some()
    }
}
