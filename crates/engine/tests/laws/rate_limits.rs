//! Model of the rate limits, from the list of all accepted orders.

use domain::refusal::RiskControl;
use domain::{Decimal, Refusal, RiskScope, Timestamp};

use crate::gate::Candidate;
use crate::model::{AcceptedAt, Model};

impl Model {
    pub(crate) fn check_order_rate(&self, ask: &Candidate) -> Result<(), Refusal> {
        for (scope, per_second) in self.bound(ask, |limits| limits.orders_per_second) {
            let spent = self.paced.iter().filter(|paced| paced.scope == scope);
            let spent = spent.filter_map(|paced| Some((paced.at, paced.per_second?)));
            self.has_token(RiskControl::OrderRate, scope, per_second, spent)?;
        }
        Ok(())
    }

    pub(crate) fn check_message_rate(&self, ask: &Candidate) -> Result<(), Refusal> {
        for (scope, per_second) in self.bound(ask, |limits| limits.messages_per_second) {
            let spent = self.messages.iter().filter(|sent| sent.0 == scope).map(|sent| (sent.1, sent.2));
            self.has_token(RiskControl::MessageRate, scope, per_second, spent)?;
        }
        Ok(())
    }

    pub(crate) fn check_duplicates(&self, ask: &Candidate) -> Result<(), Refusal> {
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

    /// A bucket of one second's worth: filled by time, one token out for each message.
    fn has_token(
        &self,
        control: RiskControl,
        scope: RiskScope,
        per_second: u32,
        spent: impl Iterator<Item = (Timestamp, u32)>,
    ) -> Result<(), Refusal> {
        let mut level: Option<(Decimal, Timestamp)> = None;
        for (at, rate) in spent {
            // A cancel passes, and counts, also where no token is left.
            level = Some(((refilled(level, at, rate) - Decimal::ONE).max(Decimal::ZERO), at));
        }
        if refilled(level, self.now, per_second) >= Decimal::ONE {
            return Ok(());
        }
        let (value, limit) = (Decimal::from(per_second) + Decimal::ONE, per_second.into());
        Err(Refusal::Limit { control, scope, value, limit })
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
        self.record_message(ask);
    }

    /// New terms were accepted.
    pub(crate) fn record_modified(&mut self, ask: &Candidate) {
        for scope in ask.scopes() {
            let per_second = self.limits.get(&scope).and_then(|limits| limits.orders_per_second);
            self.paced.push(AcceptedAt { scope, at: self.now, per_second, looks: None });
        }
        self.record_message(ask);
    }

    pub(crate) fn record_message(&mut self, ask: &Candidate) {
        for scope in ask.scopes() {
            let limit = self.limits.get(&scope).and_then(|limits| limits.messages_per_second);
            self.messages.extend(limit.map(|per_second| (scope, self.now, per_second)));
        }
    }
}

fn refilled(level: Option<(Decimal, Timestamp)>, at: Timestamp, per_second: u32) -> Decimal {
    let full = Decimal::from(per_second);
    let Some((tokens, since)) = level else { return full };
    (tokens + Decimal::new(at.nanos_since(since), 9) * full).min(full)
}
