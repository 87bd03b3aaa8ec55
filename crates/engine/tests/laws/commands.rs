//! Client commands of a test run: engine and model decide alike, on the reason and on its numbers.

use domain::command::{
    CancelOrder, Command, ModifyOrder, PlaceOrder, RecordTransaction, ReducePosition, RestatedFields,
};
use domain::order::{BaseState, OrderKind, OrderTerms, Side};
use domain::query::{Answer, EngineResult};
use domain::risk::SelfTradePrevention;
use domain::{Amount, Decimal, PositionId, Price, Quantity, Query, Refusal, TimeInForce, Timestamp, TransactionKind};
use engine::Outbox;
use proptest::sample::Index;

use crate::books::Booking;
use crate::engine_fixture::{blank_record, price_of, trader};
use crate::gate::Candidate;
use crate::model::{Model, ModelRequest, Order, Sent, Units};
use crate::steps::{RandomOrder, RandomTransaction};
use crate::trial::Trial;
use crate::waiting_orders::Displaced;

impl Trial {
    pub(crate) fn place(&mut self, ticket: &RandomOrder) -> Outbox {
        let ask = place_order(ticket, self.desk.now);
        let verdict = self.desk.engine.answer(self.desk.now, 0, &Query::CheckOrder(ask.clone(), trader()));
        let candidate = Candidate::of(ticket, self.desk.now);
        let decision = self.model.decide(&candidate);
        let (reply, out) = self.command(Command::Place(ask));
        let Ok(Answer::PreTradeCheck(verdict)) = verdict else { panic!("a check is answered by a verdict") };
        assert_eq!(verdict.refusal, reply.as_ref().err().cloned(), "the dry run decided otherwise");
        self.settle(&candidate, reply, decision, vec![]);
        out
    }

    /// Both decided alike; an accepted order is added to the model.
    fn settle(
        &mut self,
        candidate: &Candidate,
        reply: EngineResult,
        decision: Result<Units, Refusal>,
        protective: Vec<Displaced>,
    ) {
        match (reply, decision) {
            (Ok(Answer::Order(order)), Ok(units)) => self.let_through(candidate, &order, units, protective),
            (Err(refusal), Err(expected)) => assert_eq!(refusal, expected),
            (reply, decision) => panic!("{candidate:?}: the engine says {reply:?}, the model {decision:?}"),
        }
    }

    fn let_through(&mut self, candidate: &Candidate, order: &domain::Order, units: Units, protective: Vec<Displaced>) {
        let (displaced, ends_both) = self.displaced_by(candidate, protective);
        self.told.new_order(order);
        self.model.record_accepted(candidate);
        self.model.orders.push(Order::taken(candidate, order, units, self.desk.now));
        let place = self.model.orders.len() - 1;
        self.model.watch(place);
        if displaced.is_empty() {
            let order = &self.model.orders[place];
            self.model.sent.push((order.adapter(), Sent::Submit(order.id)));
        } else if ends_both {
            self.model.displace(&displaced);
            self.model.orders[place].end = Some(BaseState::Canceled);
        } else {
            self.model.add_waiting(place, displaced);
        }
        self.model.release_cleared();
    }

    /// Orders that must end before this one is sent, and whether it ends with them.
    fn displaced_by(&self, candidate: &Candidate, protective: Vec<Displaced>) -> (Vec<Displaced>, bool) {
        let cancels = |order: &&Order| Displaced::cancelled(order.id);
        let met = |model: &Model| model.self_trades(candidate).iter().map(cancels).collect::<Vec<_>>();
        match self.model.policy(candidate.account) {
            Some(SelfTradePrevention::CancelBoth) if !met(&self.model).is_empty() => (met(&self.model), true),
            Some(SelfTradePrevention::CancelResting) => ([met(&self.model), protective].concat(), false),
            _ => (protective, false),
        }
    }

    pub(crate) fn modify(
        &mut self,
        place: usize,
        quantity: Option<i64>,
        ticks: Option<i64>,
        tif: Option<TimeInForce>,
    ) -> Outbox {
        let order = self.model.orders[place].clone();
        let (limit, stop) = new_prices(&order, ticks);
        let quantity = quantity.map(Quantity::from);
        let terms = new_terms(&order, quantity, limit, stop, tif);
        let decision = self.decide_terms(place, terms);
        let (int_id, restated) = (order.int_id.clone(), RestatedFields::default());
        let ask = ModifyOrder { int_id, cl_ord_id: None, quantity, limit, stop, tif, restated, reference: None };
        let verdict = self.desk.engine.answer(self.desk.now, 0, &Query::CheckModify(ask.clone(), trader()));
        let (reply, out) = self.command(Command::Modify(ask));
        let Ok(Answer::PreTradeCheck(verdict)) = verdict else { panic!("a check is answered by a verdict") };
        assert_eq!(verdict.refusal, reply.as_ref().err().cloned(), "the dry run decided otherwise");
        match (reply, decision) {
            (Ok(Answer::Order(_)), Ok(units)) => self.propose(place, terms, units),
            (Err(refusal), Err(expected)) => assert_eq!(refusal, expected),
            (reply, decision) => panic!("{terms:?}: the engine says {reply:?}, the model {decision:?}"),
        }
        out
    }

    fn decide_terms(&self, place: usize, terms: OrderTerms) -> Result<Units, Refusal> {
        let order = &self.model.orders[place];
        self.askable(order, true)?;
        if order.waits.is_some() {
            return Err(Refusal::OrderWaiting(order.int_id.clone()));
        }
        may_become(order.terms.tif, terms.tif)?;
        self.model.decide(&Candidate { terms, replaces: Some(place), ..Candidate::like(order) })
    }

    /// The model's decision on another quantity and price.
    pub(crate) fn decide_modify(&self, place: usize, quantity: i64, ticks: i64) -> Result<Units, Refusal> {
        let order = &self.model.orders[place];
        let (limit, stop) = new_prices(order, Some(ticks));
        self.decide_terms(place, new_terms(order, Some(quantity.into()), limit, stop, None))
    }

    fn propose(&mut self, place: usize, terms: OrderTerms, units: Units) {
        let order = &mut self.model.orders[place];
        order.asked = ModelRequest::Replace(terms);
        order.proposed = Some((terms.quantity.0, units));
        order.touched_at = self.desk.now;
        self.model.sent.push((order.adapter(), Sent::Replace(order.id, terms)));
        let counted = Candidate::like(&self.model.orders[place]);
        self.model.record_modified(&counted);
    }

    fn askable(&self, order: &Order, is_replace: bool) -> Result<(), Refusal> {
        let id = order.int_id.clone();
        match order.asked {
            _ if order.is_forgotten => Err(Refusal::UnknownOrder(id.as_str().into())),
            ModelRequest::Cancel(_) => Err(Refusal::CancelPending(id)),
            ModelRequest::Replace(_) if is_replace => Err(Refusal::ReplacePending(id)),
            _ if !order.is_working() => Err(Refusal::OrderClosed(id)),
            _ => Ok(()),
        }
    }

    pub(crate) fn cancel(&mut self, place: usize) -> Outbox {
        let order = self.model.orders[place].clone();
        let has_link = || if order.waits.is_some() { Ok(()) } else { self.model.has_link(&Candidate::like(&order)) };
        let decision = self.askable(&order, false).and_then(|()| has_link());
        let (reply, out) = self.command(Command::Cancel(CancelOrder::new(order.int_id)));
        assert_eq!(reply.err(), decision.clone().err());
        if decision.is_ok() {
            self.model.record_message(&Candidate::like(&self.model.orders[place]));
            self.model.ask_cancel(place);
            self.model.release_cleared();
        }
        out
    }

    pub(crate) fn reduce(&mut self, which: &Index, quantity: Option<i64>) -> Outbox {
        let Ok(Answer::Positions(held)) = self.query(&Query::Positions(Default::default())) else {
            panic!("positions are listed")
        };
        if held.is_empty() {
            return Outbox::default();
        }
        let held = &held[which.index(held.len())];
        let quantity = quantity.map(Quantity::from);
        let mut candidate = Candidate {
            account: held.account,
            strategy: held.strategy,
            security: held.security,
            side: if held.quantity.is_negative() { Side::Buy } else { Side::Sell },
            terms: OrderTerms { quantity: Quantity::ZERO, kind: OrderKind::Market, tif: TimeInForce::Day },
            replaces: None,
            reduce_only: true,
            freed: Decimal::ZERO,
            is_released: false,
        };
        let mut protective = vec![];
        let decision = match held.quantity.abs() {
            open if open.is_zero() => Err(Refusal::PositionClosed(held.id.0)),
            open if quantity.is_some_and(|ask| ask > open) => {
                Err(Refusal::TooLarge { field: "quantity", value: quantity.unwrap().0, limit: open.0 })
            }
            open => self.model.reduction(&candidate, open.0, quantity.map(|ask| ask.0)).and_then(|taken| {
                (candidate.terms.quantity, protective, candidate.freed) = (Quantity(taken.0), taken.1, taken.2);
                self.model.decide(&candidate)
            }),
        };
        let (reply, out) = self.command(Command::Reduce(ReducePosition { position: PositionId(held.id.0), quantity }));
        self.settle(&candidate, reply, decision, protective);
        out
    }

    /// An expiration must lower what is held.
    fn is_right(&self, entry: &RandomTransaction) -> bool {
        let books = self.model.books();
        let lot = books.positions.get(&(entry.strategy, entry.account, entry.security));
        let (held, change) = (lot.map_or(Decimal::ZERO, |lot| lot.quantity), Decimal::from(entry.quantity));
        let lowers = held * change < Decimal::ZERO && change.abs() <= held.abs();
        has_right_sign(entry) && (entry.kind != TransactionKind::Expiration || lowers)
    }

    pub(crate) fn record(&mut self, entry: &RandomTransaction) -> Outbox {
        let is_cash = entry.kind.cash_sign().is_some();
        let price = if is_cash { Price::from(entry.ticks.abs() + 1) } else { price_of(entry.security, entry.ticks) };
        let currency = self.model.security(entry.security).currency;
        let fee: Amount = "0.25".parse().unwrap();
        let (reply, out) = self.command(Command::Record(RecordTransaction {
            quantity: (!is_cash).then(|| entry.quantity.into()),
            fee: Some(fee),
            currency: is_cash.then_some(currency),
            account: Some(entry.account),
            security: (!is_cash).then_some(entry.security),
            strategy: Some(entry.strategy),
            ..blank_record(entry.kind, price)
        }));
        assert_eq!(reply.is_ok(), self.is_right(entry), "{reply:?}");
        if reply.is_ok() {
            self.model.bookings.push(Booking {
                kind: entry.kind,
                strategy: entry.strategy,
                account: entry.account,
                security: (!is_cash).then_some(entry.security),
                quantity: entry.kind.cash_sign().map_or(entry.quantity.into(), |sign| sign.0),
                price: price.0,
                costs: fee.0,
                currency,
            });
        }
        out
    }
}

impl Candidate {
    pub(crate) fn of(ticket: &RandomOrder, now: Timestamp) -> Self {
        let kind = ticket.shape.kind(ticket.security, ticket.ticks);
        Self {
            account: ticket.account,
            strategy: ticket.strategy,
            security: ticket.security,
            side: ticket.side,
            terms: OrderTerms { quantity: ticket.quantity.into(), kind, tif: ticket.tif.tif(now) },
            replaces: None,
            reduce_only: false,
            freed: Decimal::ZERO,
            is_released: false,
        }
    }

    pub(crate) fn like(order: &Order) -> Self {
        Self {
            account: order.account,
            strategy: order.strategy,
            security: order.security,
            side: order.side,
            terms: order.terms,
            replaces: None,
            reduce_only: order.reduce_only,
            freed: Decimal::ZERO,
            is_released: false,
        }
    }
}

impl Order {
    fn taken(candidate: &Candidate, order: &domain::Order, units: Units, now: Timestamp) -> Self {
        Self {
            id: order.id,
            int_id: order.int_id.clone(),
            account: candidate.account,
            strategy: candidate.strategy,
            security: candidate.security,
            side: candidate.side,
            terms: candidate.terms,
            reduce_only: candidate.reduce_only,
            placed_at: now,
            touched_at: now,
            is_at_venue: false,
            is_named_there: false,
            end: None,
            asked: ModelRequest::Nothing,
            executions: vec![],
            units,
            proposed: None,
            deadline: None,
            is_forgotten: false,
            is_killed: false,
            waits: None,
        }
    }
}

pub(crate) fn place_order(ticket: &RandomOrder, now: Timestamp) -> PlaceOrder {
    PlaceOrder {
        int_id: None,
        cl_ord_id: None,
        security: ticket.security,
        account: Some(ticket.account),
        strategy: Some(ticket.strategy),
        exchange: None,
        side: ticket.side,
        quantity: ticket.quantity.into(),
        kind: ticket.shape.kind(ticket.security, ticket.ticks),
        tif: ticket.tif.tif(now),
        exchange_order: false,
        reference: None,
        properties: domain::OrderProperties::default(),
        pass_through: None,
    }
}

/// The prices that the order has, moved to so many ticks.
fn new_prices(order: &Order, ticks: Option<i64>) -> (Option<Price>, Option<Price>) {
    let Some(ticks) = ticks else { return (None, None) };
    let limit = order.terms.kind.limit().map(|_| price_of(order.security, ticks));
    (limit, order.terms.kind.stop().map(|_| price_of(order.security, ticks + 3)))
}

/// A total below what is filled becomes what is filled.
fn new_terms(
    order: &Order,
    quantity: Option<Quantity>,
    limit: Option<Price>,
    stop: Option<Price>,
    tif: Option<TimeInForce>,
) -> OrderTerms {
    let quantity = quantity.unwrap_or(order.terms.quantity);
    let kind = match order.terms.kind {
        OrderKind::Market => OrderKind::Market,
        OrderKind::Limit { limit: old } => OrderKind::Limit { limit: limit.unwrap_or(old) },
        OrderKind::Stop { stop: old } => OrderKind::Stop { stop: stop.unwrap_or(old) },
        OrderKind::StopLimit { limit: old_limit, stop: old_stop } => {
            OrderKind::StopLimit { limit: limit.unwrap_or(old_limit), stop: stop.unwrap_or(old_stop) }
        }
    };
    OrderTerms {
        quantity: if quantity.is_positive() { quantity.max(Quantity(order.filled())) } else { quantity },
        kind,
        tif: tif.unwrap_or(order.terms.tif),
    }
}

fn has_right_sign(entry: &RandomTransaction) -> bool {
    use domain::TransactionKind::{Buy, Expiration, Sell, Transfer};
    match entry.kind {
        Buy => entry.quantity > 0,
        Sell => entry.quantity < 0,
        Expiration | Transfer => entry.quantity != 0,
        _ => true,
    }
}

/// Only an order that rests can rest for another time.
fn may_become(now: TimeInForce, wanted: TimeInForce) -> Result<(), Refusal> {
    let rests = |tif| matches!(tif, TimeInForce::Day | TimeInForce::Gtc | TimeInForce::Gtd { .. });
    match now == wanted || rests(now) && rests(wanted) {
        true => Ok(()),
        false => Err(Refusal::TifFixed { now: now.name(), wanted: wanted.name() }),
    }
}
