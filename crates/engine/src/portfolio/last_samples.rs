//! Last samples of the value history: with them a sample that changed nothing is known.

use std::collections::BTreeMap;

use domain::{RiskScope, Timestamp, ValueSample};
use minicbor::{Decode, Encode};

#[derive(Debug, Clone, Default, Encode, Decode)]
pub(super) struct LastSamples {
    /// When the last round was, or when sampling began.
    #[n(0)]
    pub(super) sampled_at: Timestamp,
    /// The last sample of each scope.
    #[n(1)]
    pub(super) last: BTreeMap<RiskScope, ValueSample>,
}

impl LastSamples {
    /// A scope without a change is left out. A day that has samples has one of its close.
    pub(super) fn is_due(&self, sample: &ValueSample) -> bool {
        let is_known =
            |last: &ValueSample| sample.has_values_of(last) && !(sample.is_close && last.date == sample.date);
        !self.last.get(&sample.scope).is_some_and(is_known)
    }
}
