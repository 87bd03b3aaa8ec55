//! Commands: the match over all of them, and those that belong to no other part.

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::command::{CancelOrder, Command, MessageOrigin, ModifyOrder, ReferenceChange, RejectedRequest};
use domain::event::{LifeCycle, RefusedCommand, SessionChange};
use domain::query::{Answer, EngineResult};
use domain::risk::EngineSettings;
use domain::{Caller, Event, Order, ReferenceUpdate, Refusal, RiskLimits, RiskScope, SecurityId};

use crate::outbox::{Moment, Outbox};
use crate::trading::{Trading, valuer};

impl Trading {
    /// Carries out or refuses a command. A session gets the refusal as an event too, which survives a crash.
    pub(crate) fn on_command(
        &mut self,
        moment: Moment,
        envelope: &domain::CommandEnvelope,
        out: &mut Outbox,
    ) -> EngineResult {
        let reply = self.dispatch(moment, envelope, out);
        if let (Err(refusal), Some(origin)) = (&reply, &envelope.caller.origin) {
            out.publish(Event::Refused(Arc::new(self.refused_command(origin, envelope, refusal))));
        }
        envelope.caller.request.iter().for_each(|request| self.process_runs.on_settled(**request, &reply));
        reply
    }

    fn refused_command(
        &self,
        origin: &MessageOrigin,
        envelope: &domain::CommandEnvelope,
        refusal: &Refusal,
    ) -> RefusedCommand {
        let known = match refusal {
            Refusal::DuplicateOrder(known) => known.order.as_ref(),
            _ => None,
        };
        let (order, request) = match &envelope.command {
            Command::Modify(ModifyOrder { int_id, cl_ord_id, .. })
            | Command::Cancel(CancelOrder { int_id, cl_ord_id, .. }) => {
                (self.find_client_order(&envelope.caller, int_id.as_str()), cl_ord_id.as_deref())
            }
            _ => (known, None),
        };
        let same = known.zip(order).filter(|(known, order)| origin.poss_resend && known.id == order.id);
        let refused = same.zip(request).and_then(|((order, _), request)| self.orders.reject_reason(request, order.id));
        let (source, code, text) = (envelope.caller.source.clone(), refusal.code().into(), refusal.to_string().into());
        RefusedCommand {
            origin: origin.clone(),
            source,
            code,
            text,
            order: order.map(|order| Box::new(Order::clone(order))),
            is_repeated: same.is_some(),
            refused_before: refused.cloned(),
        }
    }

    /// Only answers, with the state of the order.
    fn reject_request(&self, caller: &Caller, ask: &RejectedRequest, out: &mut Outbox) -> EngineResult {
        if let Some(origin) = &caller.origin {
            let order = ask.order.as_ref().and_then(|name| self.find_client_order(caller, name));
            out.publish(Event::Refused(Arc::new(RefusedCommand {
                origin: MessageOrigin::clone(origin),
                source: caller.source.clone(),
                code: ask.code.clone(),
                text: ask.text.clone(),
                order: order.map(|order| Box::new(Order::clone(order))),
                is_repeated: false,
                refused_before: None,
            })));
        }
        Ok(Answer::Done)
    }

    fn dispatch(&mut self, moment: Moment, envelope: &domain::CommandEnvelope, out: &mut Outbox) -> EngineResult {
        let caller = &envelope.caller;
        match &envelope.command {
            Command::Place(ask) => self.place(moment, caller, ask, out),
            Command::Modify(ask) => self.modify(moment, caller, ask, out),
            Command::Cancel(ask) => self.cancel(moment, caller, ask, out),
            Command::Claim(ask) => self.claim(moment, caller, ask, out),
            Command::MassCancel(ask) => self.mass_cancel(moment, caller, ask, out),
            Command::RejectRequest(ask) => self.reject_request(caller, ask, out),
            Command::Reduce(ask) => self.reduce(moment, caller, ask, out),
            Command::Record(ask) => self.record(moment, ask, out),
            Command::SetSettlementPrice(ask) => self.set_settlement_price(moment, ask, out),
            Command::ResetPositions => self.reset_positions(moment, out),
            Command::ResetCash => self.reset_cash(moment, out),
            Command::NextOrderId(account) => self.next_order_id(*account),
            Command::Subscribe(wish) => self.subscribe(*wish, out),
            Command::Unsubscribe(wish) => self.unsubscribe(*wish, out),
            Command::SetTradingState { scope, state, reason } => {
                self.set_state(moment, caller, *scope, *state, reason.clone(), out);
                Ok(Answer::Done)
            }
            Command::Kill { scope, reason } => self.kill(moment, caller, *scope, reason.clone(), out),
            Command::ArmDeadMan { scope, seconds } => self.arm_dead_man(moment, caller, *scope, *seconds),
            Command::DisarmDeadMan { scope } => self.disarm_dead_man(*scope),
            Command::SetLimits { scope, limits } => {
                self.set_limits(*scope, limits, out);
                Ok(Answer::Done)
            }
            Command::ChangeLimits { scope, change } => {
                let limits = self.risk.limits_of(*scope).changed_by(change);
                self.set_limits(*scope, &limits, out);
                Ok(Answer::Done)
            }
            Command::SettleBreak(ask) => self.settle_break(moment, caller, ask, out),
            Command::Reference(changes) => self.change_reference(moment, changes, out),
            Command::EnterPhase { strategy, mode, phase, failure } => {
                let step = LifeCycle { strategy: *strategy, mode: *mode, phase: *phase, failure: failure.clone() };
                self.enter_phase(step, out)
            }
            Command::Configure(settings) => self.configure(moment, settings, out),
            Command::Publish(event) => {
                out.publish(Event::Generic(Arc::new(event.clone())));
                Ok(Answer::Done)
            }
            Command::AcceptLoss(loss) => {
                self.ids.skip(loss);
                let text = format!("records of the journal after {} are lost and were given up", loss.end);
                out.error("journal-loss-accepted", text);
                Ok(Answer::Done)
            }
            Command::AnnounceSession { adapter, state } => {
                let change = SessionChange { adapter: adapter.clone(), state: *state, lines: vec![] };
                out.publish(Event::Session(Arc::new(change)));
                Ok(Answer::Done)
            }
        }
    }

    fn next_order_id(&mut self, account: domain::AccountId) -> EngineResult {
        self.reference.account(account)?;
        Ok(Answer::OrderId(self.mint_int_id(account)))
    }

    fn set_limits(&mut self, scope: RiskScope, limits: &RiskLimits, out: &mut Outbox) {
        self.risk.set_limits(scope, limits.clone());
        out.publish(Event::Limits(scope, Arc::new(limits.clone())));
    }

    fn change_reference(&mut self, moment: Moment, changes: &[ReferenceChange], out: &mut Outbox) -> EngineResult {
        self.reference.check(changes)?;
        let retired = changes.iter().filter_map(|change| match change {
            ReferenceChange::RetireSecurity(id) => Some(*id),
            _ => None,
        });
        let used: BTreeSet<SecurityId> = retired.filter(|id| self.is_used(*id)).collect();
        self.apply_reference_changes(moment, changes, |id| used.contains(&id), out);
        Ok(Answer::Done)
    }

    pub(crate) fn apply_reference_changes(
        &mut self,
        moment: Moment,
        changes: &[ReferenceChange],
        is_used: impl Fn(SecurityId) -> bool,
        out: &mut Outbox,
    ) {
        let changes = self.reference.apply_changes(moment.sequence, changes, is_used);
        self.reference.advance(moment.at);
        self.reindex(moment.at);
        let data = self.reference.data().clone();
        out.publish(Event::Reference(Arc::new(ReferenceUpdate { changes, data })));
        let securities = self.reference.securities_changed_at(moment.sequence);
        securities.for_each(|change| out.publish(Event::Security(Arc::new(change))));
    }

    fn is_used(&self, security: SecurityId) -> bool {
        self.orders.is_used(security) || self.portfolio.is_used(security)
    }

    fn configure(&mut self, moment: Moment, settings: &EngineSettings, out: &mut Outbox) -> EngineResult {
        domain::calendar::date_in(&settings.trading_zone, moment.at)
            .map_err(|unknown| Refusal::UnknownZone(unknown.0.into()))?;
        if self.settings.platform_limits != settings.platform_limits {
            self.set_limits(RiskScope::Platform, &settings.platform_limits, out);
        }
        self.configure_dead_man(moment, settings);
        let base_before = std::mem::replace(&mut self.settings, settings.clone()).base_currency;
        self.portfolio.configure_sampling(settings.sample_seconds, moment.at);
        self.set_day_end(moment.at);
        self.reindex(moment.at);
        if base_before != self.settings.base_currency {
            let valuer = valuer(&self.marks, &self.reference, &self.settings, moment.at);
            self.portfolio.change_base(base_before, &valuer);
        }
        Ok(Answer::Done)
    }
}
