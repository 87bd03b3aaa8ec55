//! Venue reports in the model: each report adds a fact, or nothing where the rules do not allow it.

use domain::order::{BaseState, OrderTerms};
use domain::report::{ReportKind, SessionState, VenueFill, VenueOrder, VenueOrderState, VenueSnapshot};
use domain::{Decimal, OrderId, Price, Quantity, RiskScope, Side, TradingState, TransactionKind};

use crate::books::Booking;
use crate::model::{Execution, Model, ModelRequest, ModelSession, Order, Sent};

impl Model {
    pub(crate) fn on_report(&mut self, adapter: usize, said: &ReportKind) {
        self.take_in(adapter, said);
        self.forget_killed();
        self.release_cleared();
    }

    fn take_in(&mut self, adapter: usize, said: &ReportKind) {
        match said {
            ReportKind::Attached(_) => self.links[adapter] = ModelSession::Down,
            ReportKind::Session(SessionState::Disconnected) => self.links[adapter] = ModelSession::Down,
            ReportKind::Session(SessionState::Connected) => self.links[adapter] = ModelSession::Comparing,
            ReportKind::Session(_) => self.links[adapter] = ModelSession::Open,
            ReportKind::Snapshot(picture) => self.compare(adapter, picture),
            ReportKind::Accepted { order, .. } => self.accept(*order),
            ReportKind::Rejected { order, .. } | ReportKind::NotSent { order, .. } => self.reject(*order),
            ReportKind::Filled(fill) => self.fill(adapter, fill),
            ReportKind::Canceled { order, .. } | ReportKind::Expired { order, .. } => self.end(*order),
            ReportKind::Replaced { order, terms, .. } => self.replace(*order, *terms),
            ReportKind::CancelRejected { order, .. } => self.answer(*order, ModelRequest::without_cancel),
            ReportKind::ReplaceRejected { order, .. } => self.answer(*order, ModelRequest::without_replace),
            ReportKind::Busted { order, exec_id, .. } => {
                let exec_id = self.newest(*order, exec_id, None);
                self.bust(adapter, *order, &exec_id);
            }
            ReportKind::Corrected { exec_id, by } => self.correct(adapter, exec_id, by),
            // What lists show is compared in stories of its own.
            ReportKind::TakenBack { .. } => {}
            // Doubt changes no status.
            ReportKind::DeliveryUnknown { .. } => {}
            // A question changes nothing; answers are stories of their own.
            ReportKind::Gap
            | ReportKind::ReportsLost
            | ReportKind::UnclearReport { .. }
            | ReportKind::FilledInAll { .. }
            | ReportKind::Line { .. }
            | ReportKind::Inquiry(_)
            | ReportKind::Statement(_)
            | ReportKind::Entry(_)
            | ReportKind::External(_) => {}
            ReportKind::OpenOrders(_)
            | ReportKind::Fills(_)
            | ReportKind::ListingFailed { .. }
            | ReportKind::Listed { .. }
            | ReportKind::CancelReplaced(_)
            | ReportKind::Leg(_) => {}
        }
    }

    fn place_of(&self, id: OrderId) -> Option<usize> {
        self.orders.iter().position(|order| order.id == id && !order.is_forgotten)
    }

    fn with(&mut self, id: OrderId, change: impl FnOnce(&mut Order)) {
        let Some(place) = self.place_of(id) else { return };
        let before = self.orders[place].clone();
        change(&mut self.orders[place]);
        if self.orders[place] != before {
            self.orders[place].touched_at = self.now;
        }
    }

    fn accept(&mut self, id: OrderId) {
        self.with(id, |order| {
            if order.end.is_none() {
                order.is_at_venue = true;
                order.is_named_there = true;
            }
        });
    }

    fn reject(&mut self, id: OrderId) {
        let Some(place) = self.place_of(id) else { return };
        let order = &mut self.orders[place];
        if !order.is_working() || !order.filled().is_zero() {
            return;
        }
        order.end = Some(BaseState::Rejected);
        order.asked = ModelRequest::Nothing;
        order.proposed = None;
        order.touched_at = self.now;
        self.count_reject(place);
    }

    fn count_reject(&mut self, place: usize) {
        for scope in scopes(&self.orders[place]) {
            let Some(breaker) = self.limits.get(&scope).and_then(|limits| limits.reject_breaker) else { continue };
            self.rejects.push((scope, self.now));
            let recent = |(other, at): &&(RiskScope, domain::Timestamp)| {
                *other == scope && at.plus_millis(breaker.millis.into()) > self.now
            };
            if self.rejects.iter().filter(recent).count() >= breaker.count as usize {
                self.states.insert(scope, TradingState::Halted);
            }
        }
    }

    fn end(&mut self, id: OrderId) {
        self.with(id, |order| {
            if order.is_working() {
                order.end = Some(BaseState::Canceled);
            }
            order.asked = ModelRequest::Nothing;
            order.proposed = None;
        });
    }

    fn answer(&mut self, id: OrderId, answered: impl Fn(ModelRequest) -> ModelRequest) {
        self.with(id, |order| {
            order.asked = answered(order.asked);
            order.proposed = order.proposed.filter(|_| order.asked.terms().is_some());
        });
    }

    fn replace(&mut self, id: OrderId, terms: OrderTerms) {
        let Some(place) = self.place_of(id).filter(|place| self.orders[*place].end.is_none()) else { return };
        let order = &mut self.orders[place];
        let was_over = !order.is_open();
        order.terms = OrderTerms { quantity: terms.quantity.max(Quantity(order.filled())), ..terms };
        order.is_at_venue = true;
        order.units = order.proposed.take().map_or(order.units, |(_, units)| units);
        order.asked = order.asked.without_replace();
        order.touched_at = self.now;
        self.reopen(place, was_over);
        self.watch(place);
    }

    /// An order that works again holds back again, at the prices of now.
    fn reopen(&mut self, place: usize, was_over: bool) {
        if was_over && self.orders[place].is_open() {
            self.orders[place].units = self.units_of_all(&self.orders[place]);
        }
    }

    fn fill(&mut self, adapter: usize, fill: &VenueFill) {
        let Some(place) = self.place_of(fill.order) else { return };
        let known = (adapter, fill.order, fill.exec_id.to_string());
        if self.executions.contains(&known) {
            return;
        }
        self.executions.push(known);
        self.fills_told += 1;
        self.book(place, fill.quantity.0, fill.price.0, false);
        let order = &mut self.orders[place];
        order.is_at_venue = true;
        order.touched_at = self.now;
        order.executions.push(Execution {
            exec_id: fill.exec_id.to_string(),
            quantity: fill.quantity.0,
            price: fill.price.0,
            is_undone: false,
        });
    }

    fn correct(&mut self, adapter: usize, exec_id: &str, by: &VenueFill) {
        let exec_id = self.newest(by.order, exec_id, Some(&by.exec_id));
        self.bust(adapter, by.order, &exec_id);
        self.fill(adapter, by);
        let by_itself = |id: &str| (by.order, id.to_owned());
        if self.place_of(by.order).is_some() && !self.corrections.contains_key(&by_itself(&by.exec_id)) {
            self.corrections.insert(by_itself(&exec_id), by.exec_id.to_string());
        }
    }

    /// What counts in place of an execution that was corrected, unless the same is told again.
    fn newest(&self, order: OrderId, exec_id: &str, by: Option<&str>) -> String {
        let mut newest = exec_id.to_owned();
        while let Some(next) = self.corrections.get(&(order, newest.clone())) {
            if by == Some(next) {
                return exec_id.to_owned();
            }
            newest.clone_from(next);
        }
        newest
    }

    fn bust(&mut self, adapter: usize, id: OrderId, exec_id: &str) {
        let Some(place) = self.place_of(id) else { return };
        let was_over = !self.orders[place].is_open();
        let of_order = self.orders[place].executions.iter();
        let Some(which) = of_order.clone().position(|execution| execution.exec_id == exec_id && !execution.is_undone)
        else {
            // What is undone before it was seen will never count.
            let known = (adapter, id, exec_id.to_string());
            if !self.executions.contains(&known) {
                self.executions.push(known);
            }
            return;
        };
        let Execution { quantity, price, .. } = self.orders[place].executions[which];
        self.book(place, quantity, price, true);
        self.orders[place].executions[which].is_undone = true;
        self.orders[place].touched_at = self.now;
        self.reopen(place, was_over);
    }

    /// A fill, or the opposite record that undoes it, costs included.
    fn book(&mut self, place: usize, quantity: Decimal, price: Decimal, undoes: bool) {
        let order = &self.orders[place];
        let costs = self.costs(order.security, quantity);
        let side = if undoes { order.side.opposite() } else { order.side };
        self.bookings.push(Booking {
            kind: if side == Side::Buy { TransactionKind::Buy } else { TransactionKind::Sell },
            strategy: order.strategy,
            account: order.account,
            security: Some(order.security),
            quantity: if side == Side::Buy { quantity } else { -quantity },
            price,
            costs: if undoes { -costs } else { costs },
            currency: self.security(order.security).currency,
        });
    }

    /// The venue's snapshot: first the orders, then the fills, then how they ended, then what is missing.
    fn compare(&mut self, adapter: usize, picture: &VenueSnapshot) {
        for seen in &picture.orders {
            self.adopt(seen);
        }
        picture.fills.iter().for_each(|fill| self.fill(adapter, fill));
        for seen in &picture.orders {
            self.conclude(seen);
        }
        let unseen = |order: &Order| picture.orders.iter().all(|seen| seen.order != order.id);
        for place in 0..self.orders.len() {
            let order = &self.orders[place];
            if picture.complete
                && order.is_open()
                && order.waits.is_none()
                && order.adapter() == adapter
                && unseen(order)
            {
                self.settle_unseen(place);
            }
        }
        self.forget_killed();
        self.resume_kills(adapter);
    }

    /// What a kill could not cancel is cancelled after the log-on.
    fn resume_kills(&mut self, adapter: usize) {
        let is_left = |order: &Order| order.is_killed && order.adapter() == adapter && Self::can_be_cancelled(order);
        let orders = self.orders.iter().enumerate().filter(|(_, order)| is_left(order));
        let places: Vec<usize> = orders.map(|(place, _)| place).collect();
        places.into_iter().for_each(|place| self.ask_cancel(place));
    }

    pub(crate) fn remember_killed(&mut self, scope: RiskScope) {
        let in_scope = self.orders.iter_mut().filter(|order| scopes(order).contains(&scope) && order.is_open());
        in_scope.for_each(|order| order.is_killed = true);
    }

    fn forget_killed(&mut self) {
        self.orders.iter_mut().filter(|order| !order.is_open()).for_each(|order| order.is_killed = false);
    }

    fn adopt(&mut self, seen: &VenueOrder) {
        let Some(place) = self.place_of(seen.order) else { return };
        if seen.state != VenueOrderState::Rejected && self.orders[place].is_open() {
            self.accept(seen.order);
        }
        let order = &self.orders[place];
        let is_as_asked = order.asked.terms() == Some(seen.terms);
        if order.is_open() && order.terms != seen.terms && (seen.state == VenueOrderState::Live || is_as_asked) {
            self.replace(seen.order, seen.terms);
        }
    }

    fn conclude(&mut self, seen: &VenueOrder) {
        let Some(place) = self.place_of(seen.order).filter(|place| self.orders[*place].is_open()) else { return };
        match seen.state {
            VenueOrderState::Canceled | VenueOrderState::Expired if self.orders[place].is_working() => {
                self.end(seen.order);
            }
            VenueOrderState::Rejected if self.orders[place].is_working() => self.reject(seen.order),
            // A cancel that did not reach the venue is sent again.
            _ if self.orders[place].is_working() && self.orders[place].asked.is_cancel() => {
                self.answer(seen.order, ModelRequest::without_replace);
                let order = &self.orders[place];
                self.sent.push((order.adapter(), Sent::Cancel(order.id)));
            }
            _ => self.answer(seen.order, |_| ModelRequest::Nothing),
        }
    }

    fn settle_unseen(&mut self, place: usize) {
        let order = &self.orders[place];
        let is_fresh = self.now.seconds_since(order.placed_at) <= 30;
        if order.base() != BaseState::PendingNew {
            self.end(order.id);
        } else if order.asked == ModelRequest::Nothing && is_fresh && order.adapter() == 0 && !order.is_killed {
            self.sent.push((order.adapter(), Sent::Submit(order.id)));
        } else {
            self.reject(order.id);
        }
    }
}

/// The scopes that an order touches.
pub(crate) fn scopes(order: &Order) -> [RiskScope; 4] {
    [
        RiskScope::Platform,
        RiskScope::Account(order.account),
        RiskScope::Strategy(order.strategy),
        RiskScope::Security(order.security),
    ]
}

/// A fill as a venue reports it.
pub(crate) fn venue_fill(order: OrderId, exec_id: &str, quantity: i64, price: Price) -> VenueFill {
    VenueFill {
        order,
        exec_id: exec_id.into(),
        quantity: quantity.into(),
        price,
        at: None,
        fee: None,
        charges: vec![],
        ext_order: None,
        liquidity: None,
    }
}
