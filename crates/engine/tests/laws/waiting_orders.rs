//! Model of waiting orders: after every input each of them is checked again.

use std::cmp::Reverse;

use domain::order::{BaseState, OrderKind, OrderTerms, Side};
use domain::{Decimal, MarketPhase, OrderId, Price, Quantity, Refusal, TimeInForce, Timestamp};

use crate::gate::Candidate;
use crate::model::{Model, ModelRequest, ModelSession, Order, Sent};

/// What an order waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModelWait {
    due: Timestamp,
    displaced: Vec<Displaced>,
}

/// An order that must be over, or have no more than that quantity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Displaced {
    order: OrderId,
    leaves: Option<Decimal>,
    /// It is being replaced, and asked when that is over.
    is_later: bool,
}

impl Displaced {
    pub(crate) fn cancelled(order: OrderId) -> Self {
        Self { order, leaves: None, is_later: false }
    }
}

impl Model {
    /// Requests the cancels and replaces that must come first.
    pub(crate) fn displace(&mut self, displaced: &[Displaced]) {
        for Displaced { order, leaves, is_later } in displaced {
            if *is_later {
                continue;
            }
            let place = self.orders.iter().position(|known| known.id == *order).unwrap();
            match leaves {
                Some(quantity) => {
                    let known = &mut self.orders[place];
                    let terms = OrderTerms { quantity: Quantity(*quantity), ..known.terms };
                    known.asked = ModelRequest::Replace(terms);
                    known.touched_at = self.now;
                    self.sent.push((known.adapter(), Sent::Replace(known.id, terms)));
                }
                None if self.orders[place].asked.is_cancel() => {}
                None => self.ask_cancel(place),
            }
        }
    }

    pub(crate) fn add_waiting(&mut self, place: usize, displaced: Vec<Displaced>) {
        self.displace(&displaced);
        self.orders[place].waits = Some(ModelWait { due: self.now.plus_seconds(5), displaced });
    }

    /// Sends the orders that nothing blocks, oldest first.
    pub(crate) fn release_cleared(&mut self) {
        for place in 0..self.orders.len() {
            let count = self.orders[place].waits.as_ref().map_or(0, |waits| waits.displaced.len());
            (0..count).for_each(|first| self.ask_later(place, first));
        }
        while let Some(place) = (0..self.orders.len()).find(|place| self.is_cleared(*place)) {
            self.orders[place].waits = None;
            if self.orders[place].is_unsent() {
                self.leave(place);
            }
        }
    }

    fn ask_later(&mut self, place: usize, first: usize) {
        let Some(displaced) = self.orders[place].waits.as_ref().map(|waits| waits.displaced[first].clone()) else {
            return;
        };
        let other = self.orders.iter().find(|other| other.id == displaced.order).unwrap();
        if !displaced.is_later || !other.is_working() || other.asked.terms().is_some() {
            return;
        }
        let (filled, total) = (other.terms.quantity.0 - other.remaining(), other.terms.quantity.0);
        let is_ending = other.asked.is_cancel();
        let leaves = displaced.leaves.filter(|leaves| *leaves > filled);
        self.orders[place].waits.as_mut().unwrap().displaced[first].is_later = false;
        if !is_ending && leaves.is_none_or(|leaves| total > leaves) {
            self.displace(&[Displaced { order: displaced.order, leaves, is_later: false }]);
        }
    }

    fn is_cleared(&self, place: usize) -> bool {
        let order = &self.orders[place];
        let Some(waits) = &order.waits else { return false };
        let is_gone = |displaced: &Displaced| {
            let other = self.orders.iter().find(|other| other.id == displaced.order).unwrap();
            let is_small = |quantity| other.asked == ModelRequest::Nothing && other.terms.quantity.0 <= quantity;
            !other.is_working() || displaced.leaves.is_some_and(is_small)
        };
        !order.is_unsent() || (self.links[order.adapter()] == ModelSession::Open && waits.displaced.iter().all(is_gone))
    }

    fn leave(&mut self, place: usize) {
        let order = &self.orders[place];
        let mut ask = Candidate { replaces: Some(place), is_released: true, ..Candidate::like(order) };
        if order.reduce_only {
            ask.terms.quantity = ask.terms.quantity.min(Quantity(self.closable(&ask)));
        }
        let end = match self.decide(&ask) {
            _ if order.reduce_only && self.held_against(&ask).is_zero() => Some(BaseState::Canceled),
            _ if order.reduce_only && ask.terms.quantity.is_zero() => Some(BaseState::Rejected),
            Err(_) => Some(BaseState::Rejected),
            Ok(_) => None,
        };
        let order = &mut self.orders[place];
        order.touched_at = self.now;
        match end {
            Some(_) => order.end = end,
            None => {
                order.terms = ask.terms;
                self.sent.push((order.adapter(), Sent::Submit(order.id)));
            }
        }
    }

    pub(crate) fn reject_timed_out(&mut self) {
        let now = self.now;
        for order in self.orders.iter_mut().filter(|order| order.waits.as_ref().is_some_and(|waits| waits.due <= now)) {
            order.waits = None;
            order.end = Some(BaseState::Rejected);
            order.touched_at = now;
        }
    }

    /// The quantity of a reduction and the orders that it displaces, or why it is refused.
    pub(crate) fn reduction(
        &self,
        fixture: &Candidate,
        open: Decimal,
        wanted: Option<Decimal>,
    ) -> Result<(Decimal, Vec<Displaced>, Decimal), Refusal> {
        let (mut protective, on_their_way): (Vec<&Order>, Vec<&Order>) = self
            .others(fixture)
            .filter(|order| order.side == fixture.side && order.is_working())
            .partition(|order| !order.reduce_only && !order.is_on_its_way());
        protective.sort_by_key(|order| (!order.asked.is_cancel(), Reverse(order.id)));
        let sum = |orders: &[&Order]| orders.iter().map(|order| order.may_trade()).sum::<Decimal>();
        let closable = (open - sum(&on_their_way)).max(Decimal::ZERO);
        let quantity = wanted.unwrap_or(closable);
        if quantity > closable || closable.is_zero() {
            return Err(Refusal::WouldFlip { open: Quantity(closable) });
        }
        let (mut excess, mut freed, mut displaced) = (sum(&protective) + quantity - closable, Decimal::ZERO, vec![]);
        for order in protective {
            let part = order.may_trade();
            let is_reduced = part > excess && !order.asked.is_cancel() && order.waits.is_none();
            let given = if is_reduced { excess } else { part };
            if excess <= Decimal::ZERO {
                break;
            }
            let filled = order.terms.quantity.0 - order.remaining();
            let leaves = is_reduced.then(|| filled + part - excess);
            displaced.push(Displaced {
                order: order.id,
                leaves,
                is_later: is_reduced && order.asked.terms().is_some(),
            });
            freed += given;
            excess -= given;
        }
        Ok((quantity, displaced, freed))
    }

    /// Orders of the account that it could trade with, best priced first.
    pub(crate) fn self_trades(&self, ask: &Candidate) -> Vec<&Order> {
        let phase = self.phase(self.security(ask.security).exchange);
        let is_opposite = |order: &&Order| {
            (order.account, order.security) == (ask.account, ask.security)
                && order.side != ask.side
                && order.is_open()
                && order.is_working()
        };
        let meet = |order: &&Order| {
            let times = times(&ask.terms, phase);
            self.prices_meet(ask, order) && rests(&order.terms, phase).iter().any(|time| times.contains(time))
        };
        let mut met: Vec<_> = self.orders.iter().filter(is_opposite).filter(meet).collect();
        met.sort_by_key(|order| Reverse((is_plain_market(&order.terms), eagerness(order), order.id)));
        met
    }

    /// A stop trades with no own order; a market order takes only the best price.
    fn prices_meet(&self, ask: &Candidate, order: &Order) -> bool {
        if ask.terms.kind.stop().is_some() {
            return false;
        }
        let mark = self.marks[&ask.security];
        let is_best = |side: Side, limit| match (side, mark.bid, mark.ask) {
            (Side::Buy, Some(bid), _) => limit >= bid,
            (Side::Sell, _, Some(best)) => limit <= best,
            _ => true,
        };
        match (ask.terms.kind.limit(), best_limit(order)) {
            (Some(buy), Some(sell)) if ask.side == Side::Buy => buy >= sell,
            (Some(sell), Some(buy)) => sell <= buy,
            (Some(limit), None) => is_best(ask.side, limit),
            (None, Some(limit)) => is_best(order.side, limit),
            (None, None) => true,
        }
    }
}

impl Order {
    /// The venue does not have it.
    fn is_unsent(&self) -> bool {
        self.base() == BaseState::PendingNew && self.asked == ModelRequest::Nothing
    }

    /// Trades or ends at once.
    fn is_on_its_way(&self) -> bool {
        matches!(self.terms.tif, TimeInForce::Ioc | TimeInForce::Fok) || is_plain_market(&self.terms)
    }
}

fn is_plain_market(terms: &OrderTerms) -> bool {
    terms.kind == OrderKind::Market && !matches!(terms.tif, TimeInForce::Ato | TimeInForce::Atc)
}

/// When an order can trade that comes now.
fn times(terms: &OrderTerms, phase: MarketPhase) -> Vec<MarketPhase> {
    use MarketPhase::{ClosingCall, Continuous, OpeningCall};
    match terms.tif {
        TimeInForce::Ato => vec![OpeningCall],
        TimeInForce::Atc => vec![ClosingCall],
        TimeInForce::Ioc | TimeInForce::Fok => vec![Continuous],
        _ if terms.kind == OrderKind::Market => vec![phase],
        _ => vec![OpeningCall, Continuous, ClosingCall],
    }
}

/// When an order that is there already can trade: in continuous trading only limits rest.
fn rests(terms: &OrderTerms, phase: MarketPhase) -> Vec<MarketPhase> {
    use MarketPhase::{Closed, Continuous};
    match (terms.tif, terms.kind) {
        (_, OrderKind::Stop { .. } | OrderKind::StopLimit { .. }) => vec![],
        (TimeInForce::Ioc | TimeInForce::Fok, _) => vec![],
        (TimeInForce::Ato | TimeInForce::Atc, _) => times(terms, phase),
        (_, OrderKind::Market) if matches!(phase, Continuous | Closed) => vec![],
        _ => times(terms, phase),
    }
}

/// A market order takes any price; a buy ranks higher the higher its limit, a sell the lower.
fn eagerness(order: &Order) -> Decimal {
    match (order.side, best_limit(order)) {
        (_, None) => Decimal::MAX,
        (Side::Buy, Some(limit)) => limit.0,
        (Side::Sell, Some(limit)) => -limit.0,
    }
}

/// While new terms are asked for, the order may trade at either limit.
fn best_limit(order: &Order) -> Option<Price> {
    let limits = [Some(order.terms), order.asked.terms()].into_iter().flatten().filter_map(|terms| terms.kind.limit());
    match order.side {
        Side::Buy => limits.max(),
        Side::Sell => limits.min(),
    }
}
