//! Order entry of the venue: checks, acceptance, matching.

use domain::order::Terms;
use domain::report::{Fate, Said};
use domain::{AccountId, MarketPhase, Order, OrderId, OrderKind, SecurityId, TimeInForce, Timestamp};

use super::trading::Met;
use super::{Output, Venue};
use crate::agenda::Task;
use crate::book::{self, How};
use crate::crowd;
use crate::market::{Market, to_book};
use crate::record::{Record, Submission};
use crate::registry::{Held, Stage};
use crate::reject::Reject;

impl Venue {
    pub(super) fn receive(&mut self, order: &Order, out: &mut Vec<Output>) {
        if self.registry.knows(order.id) {
            return self.repeat(order.id, out);
        }
        let submission = Submission {
            at: self.now,
            order: order.id,
            account: order.account,
            exchange: order.exchange,
            security: order.security,
            side: order.side,
            terms: order.terms,
        };
        self.record(Record::Submitted(submission), out);
        if self.line.rejects_next() {
            self.reject(order.id, Reject::Fault, out);
        } else if !self.send(Task::Submit(order.id)) {
            self.reject(order.id, Reject::Busy, out);
        }
    }

    /// The last report on a known order.
    fn repeat(&mut self, order: OrderId, out: &mut Vec<Output>) {
        let Some(held) = self.registry.get(order) else {
            return;
        };
        let reason = held.fate().1.cloned();
        let said = match (held.stage, held.fate().0) {
            (Stage::Underway, _) => return,
            (_, Fate::Live) => Said::Accepted { order, ext_id: held.ext_id.clone() },
            (_, Fate::Canceled) => Said::Canceled { order, reason },
            (_, Fate::Expired) => Said::Expired { order, reason },
            (_, Fate::Rejected) => Said::Rejected { order, reason: reason.unwrap_or_else(|| "rejected".into()) },
        };
        self.say(said, out);
    }

    /// An order reaches the book.
    pub(super) fn arrive(&mut self, order: OrderId, out: &mut Vec<Output>) {
        let held = self.registry.open(order);
        let checked = self.examine(held).and_then(|()| self.examine_phase(&held.terms));
        match checked.and_then(|()| self.enter(order, out)) {
            Ok(()) => self.after_trading(self.security_of(order), out),
            Err(why) => self.reject(order, why, out),
        }
    }

    fn examine(&self, held: &Held) -> Result<(), Reject> {
        let submission = &held.submission;
        if crowd::client(submission.order.0).is_none() {
            return Err(Reject::IdTooLarge);
        }
        if submission.exchange != self.config.exchange.id {
            return Err(Reject::WrongExchange);
        }
        let market = self.markets.get(&submission.security).ok_or(Reject::NotListed)?;
        if !market.is_tradeable() {
            return Err(Reject::NotTradeable);
        }
        self.examine_terms(market, &held.terms)
    }

    /// Checks for new and for changed orders alike.
    pub(super) fn examine_terms(&self, market: &Market, terms: &Terms) -> Result<(), Reject> {
        if market.ends.is_some_and(|end| end <= self.now) {
            return Err(Reject::InstrumentExpired);
        }
        if market.halted {
            return Err(Reject::Halted);
        }
        if market.grid.lots(terms.quantity).is_none_or(|lots| lots == 0) {
            return Err(Reject::Quantity);
        }
        for (field, price) in [("limit", terms.kind.limit()), ("stop", terms.kind.stop())] {
            if price.is_some_and(|price| market.grid.ticks(price).is_none()) {
                return Err(Reject::Price(field));
            }
        }
        self.examine_tif(terms)
    }

    fn examine_tif(&self, terms: &Terms) -> Result<(), Reject> {
        let tif = terms.tif;
        match tif {
            TimeInForce::Gtd { until } if until <= self.now => return Err(Reject::DateInThePast),
            TimeInForce::Day if !self.sessions.is_any_ahead() => return Err(Reject::NoSessionAhead),
            TimeInForce::Day | TimeInForce::Gtc | TimeInForce::Gtd { .. } => return Ok(()),
            TimeInForce::Ato | TimeInForce::Atc | TimeInForce::Ioc | TimeInForce::Fok => {}
        }
        if terms.kind.stop().is_some() {
            return Err(Reject::Unsuited(tif.name()));
        }
        match self.sessions.has_auction(tif) {
            true => Ok(()),
            false => Err(Reject::NoAuction(tif.name())),
        }
    }

    /// The rows of the venue's table that are `rejected`.
    fn examine_phase(&self, terms: &Terms) -> Result<(), Reject> {
        use MarketPhase::{Closed, ClosingCall, Continuous};
        match (terms.tif, self.phase) {
            (TimeInForce::Ioc | TimeInForce::Fok, phase) if phase != Continuous => {
                Err(Reject::MarketClosed(terms.tif.name()))
            }
            (TimeInForce::Ato, Continuous | ClosingCall) => Err(Reject::OpeningOver),
            (TimeInForce::Day | TimeInForce::Gtc | TimeInForce::Gtd { .. }, Closed)
                if terms.kind == OrderKind::Market =>
            {
                Err(Reject::MarketClosed("a market order"))
            }
            _ => Ok(()),
        }
    }

    /// Accepts an order that passed all checks; only the book can still refuse it.
    fn enter(&mut self, order: OrderId, out: &mut Vec<Output>) -> Result<(), Reject> {
        let held = self.registry.open(order);
        let waits = held.terms.kind.stop().is_some() || held.terms.tif == TimeInForce::Atc;
        if waits {
            self.accept(order, out);
            self.set_aside(order, out);
            return Ok(());
        }
        let met = self.meet(order)?;
        self.accept(order, out);
        self.settle(met, out);
        Ok(())
    }

    fn set_aside(&mut self, order: OrderId, out: &mut Vec<Output>) {
        match self.registry.open(order).stage {
            Stage::Waiting => self.await_price(order),
            _ if self.phase == MarketPhase::ClosingCall => self.activate(order, out),
            _ => {}
        }
    }

    /// Adds a stop to the untriggered ones.
    pub(super) fn await_price(&mut self, order: OrderId) {
        let held = self.registry.open(order);
        let market = self.markets.get_mut(&held.security()).expect("accepted orders are for listed securities");
        let stop = held.terms.kind.stop().and_then(|stop| market.grid.ticks(stop));
        market.stops.insert(held.submission.side, stop.expect("checked to be on a tick"), held.place, order);
    }

    /// A stop is triggered, or an order joins the closing auction.
    pub(super) fn activate(&mut self, order: OrderId, out: &mut Vec<Output>) {
        self.record(Record::Activated { at: self.now, order }, out);
        match self.meet(order) {
            Ok(met) => self.settle(met, out),
            Err(refusal) => self.cancel_for(order, Some(Reject::from(refusal).text()), out),
        }
    }

    /// Enters the book: matches in continuous trading, else queues.
    fn meet(&mut self, order: OrderId) -> Result<Met, book::Refusal> {
        let entry = self.book_order(order);
        let held = self.registry.open(order);
        let (security, side, how) = (held.security(), held.submission.side, how(&held.terms));
        let market = self.markets.get_mut(&security).expect("checked to be listed");
        let mut met = Met::new(security, Some(side));
        if self.phase == MarketPhase::Continuous {
            let outcome = market.book.place(&entry, how, &mut |event| met.events.push(event))?;
            met.outcome = Some((order, outcome));
        } else {
            market.book.queue(&entry)?;
        }
        Ok(met)
    }

    /// An order in the book's types, with its open quantity.
    pub(super) fn book_order(&mut self, order: OrderId) -> book::Order {
        let held = self.registry.open(order);
        let market = self.markets.get(&held.security()).expect("checked to be listed");
        let lots = market.grid.lots(held.remaining()).expect("checked to be whole lots");
        let on_tick = |price| market.grid.ticks(price).expect("checked to be on a tick");
        let limit = held.terms.kind.limit().map(on_tick);
        let (side, account) = (to_book(held.submission.side), held.submission.account);
        book::Order { key: order.0, side, limit, lots, owner: self.owner(account) }
    }

    fn owner(&mut self, account: AccountId) -> u32 {
        let next = u32::try_from(self.owners.len()).ok().and_then(|count| count.checked_add(1));
        *self.owners.entry(account).or_insert(next.expect("fewer accounts than 32 bits count"))
    }

    fn accept(&mut self, order: OrderId, out: &mut Vec<Output>) {
        let ext_id = self.ext_id(self.registry.acceptances() + 1);
        self.record(Record::Accepted { at: self.now, order, ext_id: ext_id.clone() }, out);
        self.schedule_end(order);
        self.say(Said::Accepted { order, ext_id: Some(ext_id) }, out);
    }

    fn reject(&mut self, order: OrderId, why: Reject, out: &mut Vec<Output>) {
        let reason = why.text();
        self.record(Record::Rejected { at: self.now, order, reason: reason.clone() }, out);
        self.say(Said::Rejected { order, reason }, out);
    }

    /// When it expires: by its time in force, or with its security.
    pub(super) fn schedule_end(&mut self, order: OrderId) {
        let ends = self.end_of(self.registry.open(order));
        self.agenda.set_expiry(order, ends);
    }

    fn end_of(&self, held: &Held) -> Option<Timestamp> {
        let by_tif = self.sessions.expiry(held.terms.tif, held.terms_at);
        let by_security = self.markets.get(&held.security()).and_then(|market| market.ends);
        by_tif.into_iter().chain(by_security).min()
    }

    pub(super) fn security_of(&self, order: OrderId) -> SecurityId {
        self.registry.open(order).security()
    }
}

fn how(terms: &Terms) -> How {
    match (terms.tif, terms.kind.limit()) {
        (TimeInForce::Fok, _) => How::FillOrKill,
        (TimeInForce::Ioc, _) | (_, None) => How::Immediate,
        (_, Some(_)) => How::Rest,
    }
}
