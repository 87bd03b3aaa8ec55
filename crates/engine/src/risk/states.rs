//! Trading states per scope, kill switch, loss limits.

use std::sync::Arc;

use domain::order::Order;
use domain::query::{Answer, EngineResult};
use domain::risk::{RiskScope, TradingState, TradingStateChange};
use domain::{AdapterName, Amount, Caller, Event, OrderId, Text};

use super::Risk;
use super::scopes::scopes;
use crate::outbox::{Moment, Outbox};
use crate::trading::Trading;

impl Risk {
    pub(crate) fn state(&self, scope: RiskScope) -> TradingState {
        self.states.get(&scope).map_or(TradingState::Active, |change| change.state)
    }

    pub(crate) fn states(&self) -> Vec<TradingStateChange> {
        self.states.values().cloned().collect()
    }
}

impl Trading {
    pub(crate) fn set_state(
        &mut self,
        moment: Moment,
        caller: &Caller,
        scope: RiskScope,
        state: TradingState,
        reason: Option<Text>,
        out: &mut Outbox,
    ) {
        let change = TradingStateChange { scope, state, at: moment.at, reason, changed_by: caller.user.clone() };
        self.risk.states.insert(scope, change.clone());
        out.publish(Event::TradingState(Arc::new(change)));
    }

    pub(crate) fn kill(
        &mut self,
        moment: Moment,
        caller: &Caller,
        scope: RiskScope,
        reason: Option<Text>,
        out: &mut Outbox,
    ) -> EngineResult {
        let switch = Caller { user: Some(kill_user(caller, reason.as_deref())), ..caller.clone() };
        self.set_state(moment, caller, scope, TradingState::Halted, reason, out);
        let cancels = self.cancel_all(moment, &switch, scope, out);
        self.remember_killed(&switch, scope);
        Ok(Answer::Killed { cancels })
    }

    /// The venue rejected an order; too many rejects halt the scope.
    pub(crate) fn count_reject(&mut self, moment: Moment, order: &Order, out: &mut Outbox) {
        for scope in scopes(order.account, order.strategy, order.security) {
            let Some(breaker) = self.risk.limits.get(&scope).and_then(|limits| limits.reject_breaker) else { continue };
            if self.risk.rates.record_reject(moment.at, scope, breaker) {
                let reason = format!("{} rejects within {} ms", breaker.count, breaker.millis);
                self.restrict(moment, scope, TradingState::Halted, reason, out);
            }
        }
    }

    /// An order was executed; too many of them halt the scope until a person resumes it.
    pub(crate) fn count_execution(&mut self, moment: Moment, order: &Order, out: &mut Outbox) {
        for scope in scopes(order.account, order.strategy, order.security) {
            let limits = self.risk.limits.get(&scope);
            let Some(breaker) = limits.and_then(|limits| limits.execution_breaker) else { continue };
            if self.risk.rates.record_execution(moment.at, scope, breaker) {
                let reason = format!("{} executed orders within {} ms", breaker.count, breaker.millis);
                self.restrict(moment, scope, TradingState::Halted, reason, out);
            }
        }
    }

    /// Checks every scope with a loss limit against its result of the day.
    pub(crate) fn check_losses(&mut self, moment: Moment, out: &mut Outbox) {
        let limited: Vec<_> = self
            .risk
            .limits
            .iter()
            .filter(|(_, limits)| limits.max_day_loss.is_some() || limits.max_drawdown.is_some())
            .map(|(scope, limits)| (*scope, limits.max_day_loss, limits.max_drawdown))
            .collect();
        for (scope, max_loss, max_drawdown) in limited {
            self.check_day_loss(moment, scope, max_loss, out);
            self.check_drawdown(moment, scope, max_drawdown, out);
        }
    }

    fn check_day_loss(&mut self, moment: Moment, scope: RiskScope, limit: Option<Amount>, out: &mut Outbox) {
        if let Some(limit) = limit
            && let Some(result) = self.portfolio.day_result(scope, &self.valuer(moment.at))
            && result <= limit.negated()
        {
            let reason = format!("day loss of {} reached the limit of {limit}", result.negated());
            self.restrict(moment, scope, TradingState::Reducing, reason, out);
        }
    }

    fn check_drawdown(&mut self, moment: Moment, scope: RiskScope, limit: Option<Amount>, out: &mut Outbox) {
        if let Some(limit) = limit
            && let Some(fall) = self.portfolio.drawdown(scope, &self.valuer(moment.at))
            && fall >= limit
        {
            let reason = format!("fall of {fall} from the day's high reached the limit of {limit}");
            self.restrict(moment, scope, TradingState::Halted, reason, out);
        }
    }

    /// A venue has an order of ours that is not known here, so nobody knows what the account holds: somebody must look. Once
    /// for each order, so that whoever has looked can go on.
    pub(crate) fn halt_for_unknown(
        &mut self,
        moment: Moment,
        adapter: &AdapterName,
        orders: impl IntoIterator<Item = OrderId>,
        out: &mut Outbox,
    ) {
        for order in orders {
            let is_known = self.orders.get(order).is_some() || self.orders.is_retired(order);
            if is_known || !self.unknown_orders.insert(order) {
                continue;
            }
            let reason = format!("{adapter} has order number {order}, which is not known here");
            out.error("unknown-order-at-venue", reason.clone());
            self.note_unknown_order(adapter, order);
            for account in self.reference.accounts_at(adapter) {
                self.restrict(moment, RiskScope::Account(account), TradingState::Halted, reason.clone(), out);
            }
        }
    }

    /// The platform itself restricts a scope; it never relaxes one.
    fn restrict(&mut self, moment: Moment, scope: RiskScope, state: TradingState, reason: String, out: &mut Outbox) {
        if self.risk.state(scope) >= state {
            return;
        }
        out.error("trading-restricted", format!("{scope} is {}: {reason}", state.name()));
        self.set_state(moment, &Caller::platform(), scope, state, Some(reason.into()), out);
    }
}

/// The caller of the cancels of the kill switch.
fn kill_user(caller: &Caller, reason: Option<&str>) -> Text {
    let user = caller.user.as_ref().map(|user| format!(", {user}")).unwrap_or_default();
    let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("kill switch{user}{reason}").into()
}
