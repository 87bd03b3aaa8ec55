//! Sampling of the value history: every scope whose values changed, at each close and at multiples of the pause between two
//! rounds. What is sampled follows from journalled inputs, so a replay gives the same samples.

use std::sync::Arc;

use domain::{Date, Event, PlantedBug, RiskScope, Timestamp, ValueSample};

use super::last_samples::LastSamples;
use super::queries::sum;
use super::{Portfolio, Valuer};
use crate::outbox::Outbox;

const NANOS_PER_SECOND: i64 = 1_000_000_000;

impl Portfolio {
    /// Begins or ends sampling.
    pub(crate) fn configure_sampling(&mut self, seconds: Option<u32>, at: Timestamp) {
        if seconds.is_none() {
            self.sampling = None;
        } else if self.sampling.is_none() {
            self.sampling = Some(LastSamples { sampled_at: at, ..LastSamples::default() });
        }
    }

    /// When the next round is due; never while nothing was booked.
    pub(crate) fn next_sample(&self, seconds: Option<u32>) -> Option<Timestamp> {
        let step = i64::from(seconds.filter(|seconds| *seconds > 0)?) * NANOS_PER_SECOND;
        let last = self.sampling.as_ref().filter(|_| self.totals.contains(RiskScope::Platform))?.sampled_at;
        Some(Timestamp(last.0.div_euclid(step).saturating_add(1).saturating_mul(step)))
    }

    /// One round: publishes the samples that are due.
    pub(crate) fn sample(&mut self, date: Date, is_close: bool, valuer: &Valuer<'_>, out: &mut Outbox) {
        let Some(mut sampling) = self.sampling.take() else { return };
        sampling.sampled_at = valuer.at;
        for scope in self.totals.scopes().filter(|scope| self.totals.contains(*scope)) {
            let sample = self.value_sample(scope, (date, is_close), valuer);
            if sampling.is_due(&sample) {
                sampling.last.insert(scope, sample.clone());
                out.publish(Event::ValueSample(Arc::new(sample)));
            }
        }
        self.sampling = Some(sampling);
    }

    fn value_sample(&self, scope: RiskScope, (date, is_close): (Date, bool), valuer: &Valuer<'_>) -> ValueSample {
        let (totals, exposure) = (&self.totals, self.totals.exposure(scope, valuer));
        // Cash does not belong to a security.
        let has_cash = !matches!(scope, RiskScope::Security(_));
        let market_value = totals.market_value(scope, valuer);
        let mut cash_balance = has_cash.then(|| totals.cash(scope, valuer)).flatten();
        if PlantedBug::SampleBeforeCosts.is_planted() {
            cash_balance = sum(sum(cash_balance, totals.commissions(scope, valuer)), totals.fees(scope, valuer));
        }
        ValueSample {
            scope,
            at: valuer.at,
            date,
            is_close,
            currency: valuer.base,
            net_liq_value: sum(cash_balance, market_value),
            market_value,
            cash_balance,
            long_exposure: exposure.map(|exposure| exposure.long),
            short_exposure: exposure.map(|exposure| exposure.short),
            realized_pl: totals.realized_pl(scope, valuer),
            unrealized_pl: totals.unrealized_pl(scope, valuer),
            commissions: totals.commissions(scope, valuer),
            fees: totals.fees(scope, valuer),
            day_result: self.day_result(scope, valuer),
            day_flow: has_cash.then(|| totals.flow(scope, valuer)).flatten(),
        }
    }
}
