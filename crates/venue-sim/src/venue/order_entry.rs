//! Order entry of the venue: checks, acceptance, matching.

use domain::order::OrderTerms;
use domain::report::{ReportKind, VenueOrderState};
use domain::{
    AccountId, Activation, MarketPhase, Order, OrderId, OrderProperties, OrderProperty, Quantity, SecurityId,
    TimeInForce, Timestamp, WorkingPrice,
};

use super::trading::MatchResult;
use super::{VenueOutput, VenueSimulator};
use crate::book::{self, Iceberg, MatchPolicy};
use crate::client_orders::client_order::{ClientOrder, OrderStage};
use crate::config::ICEBERG_PARTS_MAX;
use crate::market::{SecurityMarket, participants, to_book};
use crate::record::{SubmittedOrder, VenueRecord};
use crate::reject::Reject;
use crate::task_queue::VenueTask;

impl VenueSimulator {
    pub(super) fn receive(&mut self, order: &Order, out: &mut Vec<VenueOutput>) {
        if self.orders.contains(order.id) {
            return self.repeat_last_report(order.id, out);
        }
        let submission = SubmittedOrder {
            at: self.now,
            order: order.id,
            account: order.account,
            exchange: order.exchange,
            security: order.security,
            side: order.side,
            terms: order.terms,
            properties: order.properties,
            leg_of: None,
        };
        self.record(VenueRecord::Submitted(submission), out);
        if self.reports.rejects_next() {
            self.reject(order.id, Reject::Fault, out);
        } else if !self.send(VenueTask::Submit(order.id)) {
            self.reject(order.id, Reject::Busy, out);
        }
        if self.reports.copies_next() {
            self.place_stranger(order, out);
        }
    }

    /// The last report on a known order.
    fn repeat_last_report(&mut self, order: OrderId, out: &mut Vec<VenueOutput>) {
        let Some(held) = self.orders.get(self.orders.working_leg(order)) else {
            return;
        };
        let reason = held.final_state().1.cloned();
        let said = match (held.stage, held.final_state().0) {
            (OrderStage::InFlight, _) => return,
            (_, VenueOrderState::Live) => ReportKind::Accepted { order, ext_id: held.ext_id.clone() },
            (_, VenueOrderState::Canceled) => ReportKind::Canceled { order, reason },
            (_, VenueOrderState::Expired) => ReportKind::Expired { order, reason },
            (_, VenueOrderState::Rejected) => {
                ReportKind::Rejected { order, reason: reason.unwrap_or_else(|| "rejected".into()) }
            }
        };
        self.send_told(said, out);
    }

    /// An order reaches the book.
    pub(super) fn enter_book(&mut self, order: OrderId, out: &mut Vec<VenueOutput>) {
        let held = self.orders.open(order);
        let checked = self.check_order(held).and_then(|()| self.check_phase(&held.terms));
        match checked.and_then(|()| self.accept_order(order, out)) {
            Ok(()) => self.trigger_stops(self.security_of(order), out),
            Err(why) => self.reject(order, why, out),
        }
    }

    fn check_order(&self, held: &ClientOrder) -> Result<(), Reject> {
        let submission = &held.submission;
        if participants::client_order(submission.order.0).is_none() {
            return Err(Reject::IdTooLarge);
        }
        if submission.exchange != self.config.exchange.id {
            return Err(Reject::WrongExchange);
        }
        let market = self.markets.get(&submission.security).ok_or(Reject::NotListed)?;
        if !market.is_tradeable() {
            return Err(Reject::NotTradeable);
        }
        self.check_terms(market, &held.terms)?;
        check_properties(market, &held.terms, &submission.properties)
    }

    /// Checks for new and for changed orders alike.
    pub(super) fn check_terms(&self, market: &SecurityMarket, terms: &OrderTerms) -> Result<(), Reject> {
        if market.ends.is_some_and(|end| end <= self.now) {
            return Err(Reject::InstrumentExpired);
        }
        if market.halted {
            return Err(Reject::Halted);
        }
        if market.grid.lots(terms.quantity).is_none_or(|lots| lots == 0) {
            return Err(Reject::Quantity);
        }
        if let Some((field, _)) = terms.kind.prices().find(|(_, price)| market.grid.ticks(*price).is_none()) {
            return Err(Reject::Price(field));
        }
        self.check_tif(terms)
    }

    fn check_tif(&self, terms: &OrderTerms) -> Result<(), Reject> {
        let tif = terms.tif;
        match tif {
            TimeInForce::Gtd { until } if until <= self.now => return Err(Reject::DateInThePast),
            TimeInForce::Day if !self.sessions.has_next_session() => return Err(Reject::NoSessionAhead),
            TimeInForce::Day | TimeInForce::Gtc | TimeInForce::Gtd { .. } => return Ok(()),
            TimeInForce::Ato | TimeInForce::Atc | TimeInForce::Ioc | TimeInForce::Fok => {}
        }
        match terms.kind.activation() {
            Activation::AtStop(_) => Err(Reject::UnsupportedTif(tif.name())),
            Activation::AtOnce if !self.sessions.has_auction(tif) => Err(Reject::NoAuction(tif.name())),
            Activation::AtOnce => Ok(()),
        }
    }

    /// The rows of the venue's table that are `rejected`.
    fn check_phase(&self, terms: &OrderTerms) -> Result<(), Reject> {
        use MarketPhase::{Closed, ClosingCall, Continuous};
        match (terms.tif, self.phase) {
            (TimeInForce::Ioc | TimeInForce::Fok, phase) if phase != Continuous => {
                Err(Reject::MarketClosed(terms.tif.name()))
            }
            (TimeInForce::Ato, Continuous | ClosingCall) => Err(Reject::OpeningOver),
            (TimeInForce::Day | TimeInForce::Gtc | TimeInForce::Gtd { .. }, Closed) if terms.kind.never_rests() => {
                Err(Reject::MarketClosed("a market order"))
            }
            _ => Ok(()),
        }
    }

    /// Accepts an order that passed all checks; only the book can still refuse it.
    pub(super) fn accept_order(&mut self, order: OrderId, out: &mut Vec<VenueOutput>) -> Result<(), Reject> {
        let held = self.orders.open(order);
        let waits = match held.terms.kind.activation() {
            Activation::AtStop(_) => true,
            Activation::AtOnce => held.terms.tif == TimeInForce::Atc,
        };
        if waits {
            self.accept(order, out);
            self.hold_outside_book(order, out);
            return Ok(());
        }
        let met = self.match_order(order)?;
        self.accept(order, out);
        self.apply_match(met, out);
        Ok(())
    }

    fn hold_outside_book(&mut self, order: OrderId, out: &mut Vec<VenueOutput>) {
        match self.orders.open(order).stage {
            OrderStage::StopPending => self.add_stop(order),
            _ if self.phase == MarketPhase::ClosingCall => self.activate(order, out),
            _ => {}
        }
    }

    /// Adds a stop to the untriggered ones.
    pub(super) fn add_stop(&mut self, order: OrderId) {
        let held = self.orders.open(order);
        let market = self.markets.get_mut(&held.security()).expect("accepted orders are for listed securities");
        let stop = held.terms.kind.stop().and_then(|stop| market.grid.ticks(stop));
        market.stops.insert(held.submission.side, stop.expect("checked to be on a tick"), held.priority, order);
    }

    /// A stop is triggered, or an order joins the closing auction.
    pub(super) fn activate(&mut self, order: OrderId, out: &mut Vec<VenueOutput>) {
        self.record(VenueRecord::Activated { at: self.now, order }, out);
        match self.match_order(order) {
            Ok(met) => self.apply_match(met, out),
            Err(refusal) => self.cancel_with_reason(order, Some(Reject::from(refusal).text()), out),
        }
    }

    /// Enters the book: matches in continuous trading, else queues.
    fn match_order(&mut self, order: OrderId) -> Result<MatchResult, book::BookReject> {
        let entry = self.book_order(order);
        let held = self.orders.open(order);
        let (security, side) = (held.security(), held.submission.side);
        let market = self.markets.get_mut(&security).expect("checked to be listed");
        let how = match_policy(market, held);
        let mut met = MatchResult::new(security, Some(side));
        if self.phase == MarketPhase::Continuous {
            let outcome = market.book.place(&entry, how, &mut |event| met.events.push(event))?;
            met.outcome = Some((order, outcome));
        } else {
            market.book.queue(&entry)?;
        }
        Ok(met)
    }

    /// An order in the book's types, with its open quantity.
    pub(super) fn book_order(&mut self, order: OrderId) -> book::BookOrder {
        let held = self.orders.open(order);
        let market = self.markets.get(&held.security()).expect("checked to be listed");
        let lots = market.grid.lots(held.remaining()).expect("checked to be whole lots");
        let on_tick = |price| market.grid.ticks(price).expect("checked to be on a tick");
        let limit = held.terms.kind.limit().map(on_tick);
        let (side, account) = (to_book(held.submission.side), held.submission.account);
        let lots_of = |quantity| market.grid.lots(quantity).expect("checked to be whole lots");
        let peak = held.submission.properties.display_quantity.map(lots_of);
        let iceberg = peak.map(|peak| Iceberg { shown: held.shown.map_or(peak, lots_of), peak });
        book::BookOrder { key: order.0, side, limit, lots, owner: self.owner(account), iceberg }
    }

    fn owner(&mut self, account: AccountId) -> u32 {
        let next = u32::try_from(self.owners.len()).ok().and_then(|count| count.checked_add(1));
        *self.owners.entry(account).or_insert(next.expect("fewer accounts than 32 bits count"))
    }

    fn accept(&mut self, order: OrderId, out: &mut Vec<VenueOutput>) {
        let ext_id = self.ext_id(self.orders.acceptances() + 1);
        self.record(VenueRecord::Accepted { at: self.now, order, ext_id: ext_id.clone() }, out);
        self.schedule_end(order);
        self.send_report(ReportKind::Accepted { order, ext_id: Some(ext_id) }, out);
    }

    pub(super) fn reject(&mut self, order: OrderId, why: Reject, out: &mut Vec<VenueOutput>) {
        let reason = why.text();
        self.record(VenueRecord::Rejected { at: self.now, order, reason: reason.clone() }, out);
        self.send_report(ReportKind::Rejected { order, reason }, out);
    }

    /// When it expires: by its time in force, or with its security.
    pub(super) fn schedule_end(&mut self, order: OrderId) {
        let ends = self.expiry_of(self.orders.open(order));
        self.tasks.set_expiry(order, ends);
    }

    fn expiry_of(&self, held: &ClientOrder) -> Option<Timestamp> {
        let by_tif = self.sessions.expiry(held.terms.tif, held.terms_at);
        let by_security = self.markets.get(&held.security()).and_then(|market| market.ends);
        by_tif.into_iter().chain(by_security).min()
    }

    pub(super) fn security_of(&self, order: OrderId) -> SecurityId {
        self.orders.open(order).security()
    }
}

/// Which properties go with which orders here.
fn check_properties(market: &SecurityMarket, terms: &OrderTerms, properties: &OrderProperties) -> Result<(), Reject> {
    let rests = matches!(terms.tif, TimeInForce::Day | TimeInForce::Gtc | TimeInForce::Gtd { .. });
    let is_part = |part: Quantity| market.grid.lots(part).is_some_and(|lots| lots > 0) && part <= terms.quantity;
    let allows = |property| terms.kind.order_type().allows(property);
    if properties.post_only && !(rests && allows(OrderProperty::PostOnly)) {
        return Err(Reject::Property("postOnly"));
    }
    let can_show = rests && allows(OrderProperty::DisplayQuantity);
    if properties.display_quantity.is_some_and(|shown| !(can_show && is_part(shown))) {
        return Err(Reject::Property("displayQuantity"));
    }
    check_parts(terms, properties)?;
    if properties.min_quantity.is_some_and(|least| terms.tif != TimeInForce::Ioc || !is_part(least)) {
        return Err(Reject::Property("minQuantity"));
    }
    Ok(())
}

/// Of an iceberg, also where its quantity is to change.
pub(super) fn check_parts(terms: &OrderTerms, properties: &OrderProperties) -> Result<(), Reject> {
    let most = properties.display_quantity.map(|shown| shown.scaled(ICEBERG_PARTS_MAX.into()));
    match most {
        Some(Ok(most)) if terms.quantity > most => Err(Reject::TooManyParts),
        _ => Ok(()),
    }
}

fn match_policy(market: &SecurityMarket, held: &ClientOrder) -> MatchPolicy {
    let (terms, properties) = (&held.terms, &held.submission.properties);
    let least = properties.min_quantity.and_then(|least| market.grid.lots(least));
    match (terms.tif, terms.kind.working_price()) {
        _ if properties.post_only => MatchPolicy::PostOnly,
        (TimeInForce::Fok, _) => MatchPolicy::FillOrKill,
        (TimeInForce::Ioc, _) if least.is_some() => MatchPolicy::ImmediateAtLeast(least.unwrap_or_default()),
        (TimeInForce::Ioc, _) | (_, WorkingPrice::Any) => MatchPolicy::Immediate,
        (_, WorkingPrice::Limit(_)) => MatchPolicy::Rest,
    }
}
