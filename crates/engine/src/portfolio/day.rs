//! Start and peak value of each scope on the platform day, for the loss limits.

use std::collections::BTreeMap;

use domain::{Amount, RiskScope, Timestamp};
use minicbor::{Decode, Encode};

use super::books::CashKey;

#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub(super) struct PortfolioDay {
    #[n(0)]
    pub(super) began_at: Timestamp,
    /// Paid in or out since, which is no result.
    #[n(1)]
    pub(super) flows: BTreeMap<CashKey, Amount>,
    #[n(2)]
    ranges: BTreeMap<RiskScope, DayRange>,
}

/// Value of a scope during the day, without flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
struct DayRange {
    #[n(0)]
    start: Amount,
    #[n(1)]
    peak: Amount,
}

impl PortfolioDay {
    pub(super) fn begin(at: Timestamp) -> Self {
        Self { began_at: at, ..Self::default() }
    }

    /// Records the current value of a scope. The first known value is its start, normally at the roll: a price that is
    /// missing at midnight must not switch a loss limit off for the whole day.
    pub(super) fn sample(&mut self, scope: RiskScope, worth: Amount) {
        let course = self.ranges.entry(scope).or_insert(DayRange { start: worth, peak: worth });
        course.peak = course.peak.max(worth);
    }

    /// The same values in another base currency. A scope whose values cannot be converted starts with its next known one.
    pub(super) fn convert(&mut self, in_base: impl Fn(Amount) -> Option<Amount>) {
        let converted = |(scope, range): (&RiskScope, &DayRange)| {
            Some((*scope, DayRange { start: in_base(range.start)?, peak: in_base(range.peak)? }))
        };
        self.ranges = self.ranges.iter().filter_map(converted).collect();
    }

    /// The gain since the start of the day; a loss is negative.
    pub(super) fn result(&self, scope: RiskScope, worth: Amount) -> Option<Amount> {
        worth.minus(self.ranges.get(&scope)?.start).ok()
    }

    /// How far it is below its highest value of the day.
    pub(super) fn drawdown(&self, scope: RiskScope, worth: Amount) -> Option<Amount> {
        let peak = self.ranges.get(&scope)?.peak.max(worth);
        peak.minus(worth).ok()
    }
}
