//! Trading half of the engine: journalled, replayed, part of the digest.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::command::{
    CancelOrder, Command, DeclineRequest, Failure, Mode, ModifyOrder, Origin, Phase, ReferenceChange,
};
use domain::event::{LifeCycle, RefusedCommand, SessionChange};
use domain::query::{Answer, Reply};
use domain::risk::Settings;
use domain::{
    Caller, Event, Limits, Mark, Order, OrderId, Refusal, Scope, SecurityId, Strategy, StrategyId, Timestamp,
};
use minicbor::{Decode, Encode};

use crate::desks::Desks;
use crate::directory::Directory;
use crate::expiration::Expirations;
use crate::marks::Marks;
use crate::minted::Minted;
use crate::moment::Moment;
use crate::orders::Registry;
use crate::orders::awaited::Awaited;
use crate::orders::mass_cancels::MassCancels;
use crate::orders::waiting::Waiting;
use crate::outbox::Outbox;
use crate::portfolio::{Portfolio, Valuer};
use crate::risk::Risk;
use crate::subscriptions::Subscriptions;

#[derive(Debug, Clone, Encode, Decode)]
pub(crate) struct Trading {
    #[n(0)]
    pub(crate) settings: Settings,
    #[n(1)]
    pub(crate) directory: Directory,
    #[n(2)]
    pub(crate) desks: Desks,
    #[n(3)]
    pub(crate) orders: Registry,
    #[n(4)]
    pub(crate) portfolio: Portfolio,
    #[n(5)]
    pub(crate) marks: Marks,
    #[n(6)]
    pub(crate) risk: Risk,
    #[n(7)]
    pub(crate) subscriptions: Subscriptions,
    #[n(8)]
    pub(crate) phases: BTreeMap<StrategyId, (Mode, Phase)>,
    #[n(9)]
    pub(crate) minted: Minted,
    /// The end of the platform day; absent before the first input.
    #[n(10)]
    pub(crate) day_ends: Option<Timestamp>,
    /// When the engine itself must cancel an order whose venue has no expiry.
    #[n(11)]
    pub(crate) expiries: BTreeSet<(Timestamp, OrderId)>,
    #[n(12)]
    pub(crate) awaited: Awaited,
    /// Why strategies were stopped that have not begun again.
    #[n(13)]
    #[cbor(default)]
    pub(crate) failures: BTreeMap<StrategyId, Failure>,
    #[n(14)]
    #[cbor(default)]
    pub(crate) mass_cancels: MassCancels,
    #[n(15)]
    #[cbor(default)]
    pub(crate) expirations: Expirations,
    #[n(16)]
    #[cbor(default)]
    pub(crate) waiting: Waiting,
    /// Orders that venues spoke of and that are not known here: each halts its account once.
    #[n(17)]
    #[cbor(default)]
    pub(crate) unknown_orders: BTreeSet<OrderId>,
}

impl Default for Trading {
    /// Empty except for the strategy `SERVER`, the owner of everything without a strategy.
    fn default() -> Self {
        let server = Strategy { id: StrategyId::SERVER, name: "SERVER".into(), auto_activate: true };
        let mut directory = Directory::default();
        directory.change(&[ReferenceChange::Strategy(server)], |_| false);
        Self {
            settings: Settings::default(),
            directory,
            desks: Desks::default(),
            orders: Registry::default(),
            portfolio: Portfolio::default(),
            marks: Marks::default(),
            risk: Risk::default(),
            subscriptions: Subscriptions::default(),
            phases: BTreeMap::new(),
            minted: Minted::default(),
            day_ends: None,
            expiries: BTreeSet::new(),
            awaited: Awaited::default(),
            failures: BTreeMap::new(),
            mass_cancels: MassCancels::default(),
            expirations: Expirations::default(),
            waiting: Waiting::default(),
            unknown_orders: BTreeSet::new(),
        }
    }
}

impl Trading {
    /// Moves sessions and the platform day to the instant of an input, before the input is applied.
    pub(crate) fn at(&mut self, moment: Moment) -> &mut Self {
        self.directory.advance(moment.at);
        self.ensure_day(moment.at);
        self
    }

    /// Carries out or refuses a command. A session gets the refusal as an event too, which survives a crash.
    pub(crate) fn obey(&mut self, moment: Moment, envelope: &domain::Envelope, out: &mut Outbox) -> Reply {
        let reply = self.carry_out(moment, envelope, out);
        if let (Err(refusal), Some(origin)) = (&reply, &envelope.caller.origin) {
            out.publish(Event::Refused(Arc::new(self.refused_command(origin, envelope, refusal))));
        }
        reply
    }

    fn refused_command(&self, origin: &Origin, envelope: &domain::Envelope, refusal: &Refusal) -> RefusedCommand {
        let known = match refusal {
            Refusal::DuplicateOrder(known) => known.order.as_ref(),
            _ => None,
        };
        let (order, request) = match &envelope.command {
            Command::Modify(ModifyOrder { int_id, cl_ord_id, .. })
            | Command::Cancel(CancelOrder { int_id, cl_ord_id, .. }) => {
                (self.meant(&envelope.caller, int_id.as_str()), cl_ord_id.as_deref())
            }
            _ => (known, None),
        };
        let same = known.zip(order).filter(|(known, order)| origin.may_be_known && known.id == order.id);
        let refused = same.zip(request).and_then(|((order, _), request)| self.orders.why_refused(request, order.id));
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
    fn decline(&self, caller: &Caller, ask: &DeclineRequest, out: &mut Outbox) -> Reply {
        if let Some(origin) = &caller.origin {
            let order = ask.order.as_ref().and_then(|name| self.meant(caller, name));
            out.publish(Event::Refused(Arc::new(RefusedCommand {
                origin: Origin::clone(origin),
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

    fn carry_out(&mut self, moment: Moment, envelope: &domain::Envelope, out: &mut Outbox) -> Reply {
        let caller = &envelope.caller;
        match &envelope.command {
            Command::Place(ask) => self.place(moment, caller, ask, out),
            Command::Modify(ask) => self.modify(moment, caller, ask, out),
            Command::Cancel(ask) => self.cancel(moment, caller, ask, out),
            Command::CancelOwn(ask) => self.cancel_own(moment, caller, ask, out),
            Command::Decline(ask) => self.decline(caller, ask, out),
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
            Command::SetLimits { scope, limits } => {
                self.set_limits(*scope, limits, out);
                Ok(Answer::Done)
            }
            Command::ChangeLimits { scope, change } => {
                let limits = self.risk.limits_of(*scope).changed_by(change);
                self.set_limits(*scope, &limits, out);
                Ok(Answer::Done)
            }
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
                self.minted.skip(loss);
                let text = format!("records of the journal after {} are lost and were given up", loss.end);
                out.error("journal-loss-accepted", text);
                Ok(Answer::Done)
            }
            Command::AnnounceSession { adapter, state } => {
                let change = SessionChange { adapter: adapter.clone(), state: *state };
                out.publish(Event::Session(Arc::new(change)));
                Ok(Answer::Done)
            }
        }
    }

    fn next_order_id(&mut self, account: domain::AccountId) -> Reply {
        self.directory.account(account)?;
        Ok(Answer::OrderId(self.mint_int_id(account)))
    }

    fn set_limits(&mut self, scope: Scope, limits: &Limits, out: &mut Outbox) {
        self.risk.set_limits(scope, limits.clone());
        out.publish(Event::Limits(scope, Arc::new(limits.clone())));
    }

    fn change_reference(&mut self, moment: Moment, changes: &[ReferenceChange], out: &mut Outbox) -> Reply {
        self.directory.check(changes)?;
        let retired = changes.iter().filter_map(|change| match change {
            ReferenceChange::RetireSecurity(id) => Some(*id),
            _ => None,
        });
        let used: BTreeSet<SecurityId> = retired.filter(|id| self.is_used(*id)).collect();
        self.directory.change(changes, |id| used.contains(&id));
        self.directory.advance(moment.at);
        self.reindex(moment.at);
        out.publish(Event::Reference(self.directory.data().clone()));
        Ok(Answer::Done)
    }

    fn is_used(&self, security: SecurityId) -> bool {
        self.orders.is_used(security) || self.portfolio.is_used(security)
    }

    fn configure(&mut self, moment: Moment, settings: &Settings, out: &mut Outbox) -> Reply {
        domain::calendar::date_in(&settings.trading_zone, moment.at)
            .map_err(|unknown| Refusal::UnknownZone(unknown.0.into()))?;
        if self.settings.platform_limits != settings.platform_limits {
            self.set_limits(Scope::Platform, &settings.platform_limits, out);
        }
        self.settings = settings.clone();
        self.set_day_end(moment.at);
        self.reindex(moment.at);
        Ok(Answer::Done)
    }

    /// New prices: values positions and checks the loss limits.
    pub(crate) fn mark(&mut self, moment: Moment, marks: &[Mark], out: &mut Outbox) {
        self.marks.absorb(marks);
        let valuer = valuer(&self.marks, &self.directory, &self.settings, moment.at);
        self.portfolio.revalue(marks, &valuer, out);
        self.check_losses(moment, out);
    }

    pub(crate) fn valuer(&self, at: Timestamp) -> Valuer<'_> {
        valuer(&self.marks, &self.directory, &self.settings, at)
    }

    /// Rebuilds what is derived from reference data and settings.
    fn reindex(&mut self, at: Timestamp) {
        self.marks.index_pairs(self.directory.data());
        self.portfolio.refresh(&valuer(&self.marks, &self.directory, &self.settings, at));
    }

    /// Rebuilds the indexes that are not on disk, after a snapshot was read.
    pub(crate) fn derive(&mut self) {
        self.reindex(Timestamp::default());
        let open: Vec<_> = self.orders.open().cloned().collect();
        self.risk.rebuild(open.iter().map(Arc::as_ref));
    }
}

/// A free function beside [`Trading::valuer`], so that the portfolio can be changed while it is borrowed.
pub(crate) fn valuer<'a>(marks: &'a Marks, directory: &'a Directory, settings: &Settings, at: Timestamp) -> Valuer<'a> {
    Valuer { marks, reference: directory.data(), base: settings.base_currency, at }
}
