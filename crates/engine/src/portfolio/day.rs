//! The platform day: where each scope began and how high it has been, for the loss limits.

use std::collections::BTreeMap;

use domain::{Amount, Scope, Timestamp};
use minicbor::{Decode, Encode};

use super::books::CashKey;

#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub(super) struct Day {
    #[n(0)]
    pub(super) began_at: Timestamp,
    /// What was brought in or taken out since, which is no result.
    #[n(1)]
    pub(super) flows: BTreeMap<CashKey, Amount>,
    #[n(2)]
    courses: BTreeMap<Scope, Course>,
}

/// The course of a scope's value through the day, flows left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
struct Course {
    #[n(0)]
    start: Amount,
    #[n(1)]
    peak: Amount,
}

impl Day {
    pub(super) fn begin(at: Timestamp) -> Self {
        Self { began_at: at, ..Self::default() }
    }

    /// Takes the present value of a scope. The first one known is its start, at best that of the roll: a price that
    /// is missing at midnight must not switch a loss limit off for the whole day.
    pub(super) fn sample(&mut self, scope: Scope, worth: Amount) {
        let course = self.courses.entry(scope).or_insert(Course { start: worth, peak: worth });
        course.peak = course.peak.max(worth);
    }

    /// The gain since the start of the day; a loss is negative.
    pub(super) fn result(&self, scope: Scope, worth: Amount) -> Option<Amount> {
        worth.minus(self.courses.get(&scope)?.start).ok()
    }

    /// How far below its highest value of the day.
    pub(super) fn drawdown(&self, scope: Scope, worth: Amount) -> Option<Amount> {
        let peak = self.courses.get(&scope)?.peak.max(worth);
        peak.minus(worth).ok()
    }
}
