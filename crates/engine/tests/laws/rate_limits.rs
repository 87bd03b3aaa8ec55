//! Model of the rate limits, from the list of all accepted orders.

use domain::refusal::RiskControl;
use domain::{Decimal, Refusal, RiskScope, Timestamp};

use crate::gate::Candidate;
use crate::model::{AcceptedAt, Model};

impl Model {
    pub(crate) fn check_rate(&self, ask: &Candidate) -> Result<(), Refusal> {
        for (scope, per_second) in self.bound(ask, |limits| limits.orders_per_second) {
            if self.tokens(scope, per_second) < Decimal::ONE {
                let (value, limit) = (Decimal::from(per_second) + Decimal::ONE, per_second.into());
                return Err(Refusal::Limit { control: RiskControl::OrderRate, scope, value, limit });
            }
        }
        for (scope, guard) in self.bound(ask, |limits| limits.duplicate_guard) {
            let looks = Some((ask.side, ask.security, ask.terms.quantity, ask.terms.kind));
            let alike = self.paced.iter().filter(|paced| {
                paced.scope == scope && paced.looks == looks && paced.at.plus_millis(guard.millis.into()) > self.now
            });
            let count = alike.count();
            if count >= guard.count as usize {
                let (value, limit) = ((count + 1).into(), guard.count.into());
                return Err(Refusal::Limit { control: RiskControl::DuplicateContent, scope, value, limit });
            }
        }
        Ok(())
    }

    /// A bucket of one second's worth: filled by time, one token out for each order.
    fn tokens(&self, scope: RiskScope, per_second: u32) -> Decimal {
        let spent =
            self.paced.iter().filter_map(|paced| Some((paced.at, paced.per_second.filter(|_| paced.scope == scope)?)));
        let mut level: Option<(Decimal, Timestamp)> = None;
        for (at, rate) in spent {
            level = Some((refilled(level, at, rate) - Decimal::ONE, at));
        }
        refilled(level, self.now, per_second)
    }

    /// An order was accepted.
    pub(crate) fn record_accepted(&mut self, ask: &Candidate) {
        for scope in ask.scopes() {
            let limits = self.limits.get(&scope);
            let per_second = limits.and_then(|limits| limits.orders_per_second);
            let looks = limits.and_then(|limits| limits.duplicate_guard);
            let looks = looks.map(|_| (ask.side, ask.security, ask.terms.quantity, ask.terms.kind));
            self.paced.push(AcceptedAt { scope, at: self.now, per_second, looks });
        }
    }
}

fn refilled(level: Option<(Decimal, Timestamp)>, at: Timestamp, per_second: u32) -> Decimal {
    let full = Decimal::from(per_second);
    let Some((tokens, since)) = level else { return full };
    (tokens + Decimal::new(at.nanos_since(since), 9) * full).min(full)
}
