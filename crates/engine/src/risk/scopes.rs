//! Scopes of an order, and the limits that apply in them.

use std::collections::BTreeMap;

use domain::risk::{RiskLimits, RiskScope};
use domain::{AccountId, SecurityId, StrategyId};

/// The scopes of an order.
pub(crate) fn scopes(account: AccountId, strategy: StrategyId, security: SecurityId) -> [RiskScope; 4] {
    [RiskScope::Platform, RiskScope::Account(account), RiskScope::Strategy(strategy), RiskScope::Security(security)]
}

pub(crate) fn touches(scope: RiskScope, account: AccountId, strategy: StrategyId, security: SecurityId) -> bool {
    scopes(account, strategy, security).contains(&scope)
}

/// The limits of all scopes of an order, looked up once.
pub(super) struct ApplicableLimits<'a> {
    limits: [Option<(RiskScope, &'a RiskLimits)>; 4],
    /// How many of them exist, from the front: a dozen checks iterate over them.
    count: usize,
}

impl<'a> ApplicableLimits<'a> {
    pub(super) fn of(scopes: [RiskScope; 4], limits: &'a BTreeMap<RiskScope, RiskLimits>) -> Self {
        let mut binding = Self { limits: [None; 4], count: 0 };
        for scope in scopes {
            if let Some(limits) = limits.get(&scope) {
                binding.limits[binding.count] = Some((scope, limits));
                binding.count += 1;
            }
        }
        binding
    }

    /// The scopes where one limit is set, and its value.
    pub(super) fn each<T>(&self, limit: impl Fn(&'a RiskLimits) -> Option<T>) -> impl Iterator<Item = (RiskScope, T)> {
        self.limits[..self.count].iter().flatten().filter_map(move |(scope, limits)| Some((*scope, limit(limits)?)))
    }
}
