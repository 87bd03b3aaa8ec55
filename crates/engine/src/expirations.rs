//! Settlement prices, and securities that have expired without one.

use std::collections::{BTreeMap, BTreeSet};

use domain::{Date, Price, SecurityId};
use minicbor::{Decode, Encode};

/// A settlement price is kept for this many days after its day.
const SETTLEMENT_PRICE_RETENTION_DAYS: i64 = 31;

#[derive(Debug, Clone, Default, Encode, Decode)]
pub(crate) struct Expirations {
    /// Settlement prices that were set, each for one day.
    #[n(0)]
    pub(crate) prices: BTreeMap<(SecurityId, Date), Price>,
    /// Expired without a known price. A later quote is not the settlement value, so only a settlement price counts.
    #[n(1)]
    pub(crate) unsettled: BTreeSet<SecurityId>,
}

impl Expirations {
    pub(crate) fn prune(&mut self, today: Date) {
        let is_kept = |day: &Date| {
            day.0.until(today.0).is_ok_and(|age| i64::from(age.get_days()) <= SETTLEMENT_PRICE_RETENTION_DAYS)
        };
        self.prices.retain(|(_, day), _| is_kept(day));
    }
}
