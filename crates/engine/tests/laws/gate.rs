//! The risk gate restated from its rules, with no running totals: every figure is added up from all orders and bookings.

use domain::order::{OrderKind, Side, Terms};
use domain::refusal::Control;
use domain::risk::SelfTrade;
use domain::{
    AccountId, Currency, Decimal, Limits, Quantity, Refusal, Scope, SecurityId, StrategyId, TimeInForce, TradingState,
};

use crate::desk::adapter_name;
use crate::model::{Link, Model, Order, Units};

/// An order that is asked for, or new terms for one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) account: AccountId,
    pub(crate) strategy: StrategyId,
    pub(crate) security: SecurityId,
    pub(crate) side: Side,
    pub(crate) terms: Terms,
    pub(crate) replaces: Option<usize>,
    pub(crate) reduce_only: bool,
}

impl Model {
    /// What a unit of it would hold back, or why it is refused.
    pub(crate) fn decide(&self, ask: &Candidate) -> Result<Units, Refusal> {
        self.fits_security(ask)?;
        self.fits_hours(ask)?;
        self.has_link(ask)?;
        let opening = self.opening(ask)?;
        self.fits_state(ask, opening)?;
        if ask.replaces.is_none() {
            self.fits_pace(ask)?;
        }
        self.meets_no_own_order(ask)?;
        self.fits_prices(ask)?;
        let (notional, fee) = self.worth(ask.security, ask.side, ask.terms.kind)?;
        self.fits_size(ask, notional)?;
        let units = Units { notional, cash: self.unit_cash(ask, opening, notional, fee) };
        if opening > Decimal::ZERO {
            self.fits_position(ask)?;
            self.fits_open(ask, units)?;
        }
        self.fits_cash(ask, units)?;
        Ok(units)
    }

    fn fits_security(&self, ask: &Candidate) -> Result<(), Refusal> {
        let (field, value) = ("quantity", ask.terms.quantity.0);
        let max = self.security(ask.security).max_qty.unwrap().0;
        if value <= Decimal::ZERO {
            return Err(Refusal::NotPositive { field, value });
        }
        if value > max { Err(Refusal::TooLarge { field, value, limit: max }) } else { Ok(()) }
    }

    /// The first exchange never closes; the second trades from eight to eight, with ten minutes of auction at both ends.
    fn fits_hours(&self, ask: &Candidate) -> Result<(), Refusal> {
        let exchange = self.security(ask.security).exchange;
        let minute = self.now.0.rem_euclid(86_400_000_000_000) / 60_000_000_000;
        let is_continuous = exchange.0 == 1 || (8 * 60..20 * 60 - 10).contains(&minute);
        let is_closed = exchange.0 == 2 && !(8 * 60 - 10..20 * 60).contains(&minute);
        match ask.terms.tif {
            TimeInForce::Gtd { until } if until <= self.now => Err(Refusal::DateInThePast),
            TimeInForce::Ato if exchange.0 == 1 => Err(Refusal::NoAuction { tif: "ATO" }),
            TimeInForce::Atc if exchange.0 == 1 => Err(Refusal::NoAuction { tif: "ATC" }),
            TimeInForce::Ioc | TimeInForce::Fok if !is_continuous => Err(Refusal::MarketClosed(exchange)),
            TimeInForce::Day | TimeInForce::Gtc | TimeInForce::Gtd { .. }
                if ask.terms.kind == OrderKind::Market && is_closed =>
            {
                Err(Refusal::MarketClosed(exchange))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn has_link(&self, ask: &Candidate) -> Result<(), Refusal> {
        let adapter = usize::try_from(ask.account.0).unwrap() - 1;
        match self.links[adapter] {
            Link::Open => Ok(()),
            Link::Comparing => Err(Refusal::AdapterReconciling(adapter_name(adapter))),
            Link::Down => Err(Refusal::AdapterDown(adapter_name(adapter))),
        }
    }

    fn opening(&self, ask: &Candidate) -> Result<Decimal, Refusal> {
        let books = self.books();
        let held =
            books.positions.get(&(ask.strategy, ask.account, ask.security)).map_or(Decimal::ZERO, |lot| lot.quantity);
        let lowers = match ask.side {
            Side::Buy => held < Decimal::ZERO,
            Side::Sell => held > Decimal::ZERO,
        };
        let elsewhere: Decimal = self.others(ask).filter(|order| order.side == ask.side).map(Order::may_trade).sum();
        let closable = if lowers { (held.abs() - elsewhere).max(Decimal::ZERO) } else { Decimal::ZERO };
        if ask.reduce_only && self.still(ask) > closable {
            return Err(Refusal::WouldFlip { open: Quantity(closable) });
        }
        Ok((self.still(ask) - closable).max(Decimal::ZERO))
    }

    /// Other open orders of the same strategy, account and security.
    fn others<'a>(&'a self, ask: &'a Candidate) -> impl Iterator<Item = &'a Order> {
        self.orders.iter().enumerate().filter_map(move |(place, order)| {
            let same = (order.strategy, order.account, order.security) == (ask.strategy, ask.account, ask.security);
            (same && order.is_open() && ask.replaces != Some(place)).then_some(order)
        })
    }

    fn fits_state(&self, ask: &Candidate, opening: Decimal) -> Result<(), Refusal> {
        for scope in ask.scopes() {
            match self.state(scope) {
                TradingState::Active => {}
                TradingState::Reducing if opening.is_zero() => {}
                state => return Err(Refusal::TradingState { scope, state }),
            }
        }
        Ok(())
    }

    fn meets_no_own_order(&self, ask: &Candidate) -> Result<(), Refusal> {
        if !self.bound(ask, |limits| limits.self_trade).any(|(_, policy)| policy == SelfTrade::RefuseNewest) {
            return Ok(());
        }
        let rests = |order: &&Order| {
            (order.account, order.security) == (ask.account, ask.security)
                && order.side != ask.side
                && order.is_open()
                && order.is_working()
        };
        let mark = self.marks[&ask.security];
        // A market order takes the best price only.
        let is_best = |order: &Order| match (order.side, order.terms.kind.limit(), mark.bid, mark.ask) {
            (Side::Buy, Some(limit), Some(bid), _) => limit >= bid,
            (Side::Sell, Some(limit), _, Some(best)) => limit <= best,
            _ => true,
        };
        let reaches = |order: &&Order| ask.terms.kind != OrderKind::Market || is_best(order);
        let met = self.orders.iter().filter(rests).filter(|order| ask.crosses(order.terms.kind)).filter(reaches);
        // The most eager of them is named.
        match met.max_by_key(|order| (eagerness(order), order.id)) {
            Some(own) => Err(Refusal::SelfTrade(own.int_id.clone())),
            None => Ok(()),
        }
    }

    fn fits_prices(&self, ask: &Candidate) -> Result<(), Refusal> {
        let security = ask.security;
        let mark = self.marks[&security];
        for (_, limit_seconds) in self.bound(ask, |limits| limits.stale_after_seconds) {
            let age_seconds = (self.now.0 - mark.at.0) / 1_000_000_000;
            if age_seconds > i64::from(limit_seconds) {
                return Err(Refusal::StalePrice { security, age_seconds, limit_seconds });
            }
        }
        let Some(price) = ask.terms.kind.limit() else { return Ok(()) };
        let reference = ask.terms.kind.stop().or(mark.reference()).unwrap();
        for (_, percent) in self.bound(ask, |limits| limits.price_collar_percent) {
            let band = reference.0 * percent.0 / Decimal::ONE_HUNDRED;
            let is_through = match ask.side {
                Side::Buy => price.0 > reference.0 + band,
                Side::Sell => price.0 < reference.0 - band,
            };
            if is_through {
                return Err(Refusal::PriceCollar { price, reference, percent: percent.0 });
            }
        }
        Ok(())
    }

    fn fits_size(&self, ask: &Candidate, notional: Decimal) -> Result<(), Refusal> {
        let quantity = ask.terms.quantity.0;
        for (scope, limit) in self.bound(ask, |limits| limits.max_order_quantity) {
            within(Control::MaxOrderQuantity, scope, quantity, limit.0)?;
        }
        for (scope, limit) in self.bound(ask, |limits| limits.max_order_notional) {
            within(Control::MaxOrderNotional, scope, quantity * notional, limit.0)?;
        }
        Ok(())
    }

    fn fits_position(&self, ask: &Candidate) -> Result<(), Refusal> {
        let limit = |limits: &Limits| if ask.side == Side::Buy { limits.max_long } else { limits.max_short };
        for (scope, limit) in self.bound(ask, limit) {
            within(Control::MaxPosition, scope, self.worst_position(ask, scope), limit.0)?;
        }
        Ok(())
    }

    fn fits_open(&self, ask: &Candidate, units: Units) -> Result<(), Refusal> {
        for (scope, limit) in self.bound(ask, |limits| limits.max_open_orders) {
            let count = self.open_in(ask, scope).count() + 1;
            within(Control::MaxOpenOrders, scope, count.into(), limit.into())?;
        }
        let added = units.notional * self.still(ask);
        for (scope, limit) in self.bound(ask, |limits| limits.max_open_notional) {
            within(Control::MaxOpenNotional, scope, self.open_notional(ask, scope, ask.side) + added, limit.0)?;
        }
        for (scope, limit) in self.bound(ask, |limits| limits.max_gross_exposure) {
            let both = [Side::Buy, Side::Sell].map(|side| self.open_notional(ask, scope, side));
            within(Control::MaxGrossExposure, scope, both[0] + both[1] + added, limit.0)?;
        }
        Ok(())
    }

    fn fits_cash(&self, ask: &Candidate, units: Units) -> Result<(), Refusal> {
        let own = ask.replaces.map_or(Decimal::ZERO, |place| self.orders[place].held_back().1);
        let needed = units.cash * self.still(ask) - own;
        if !self.needs_cash(ask) || needed <= Decimal::ZERO {
            return Ok(());
        }
        let available = self.available(ask.account);
        if needed > available {
            return Err(Refusal::InsufficientCash { needed, available, currency: Currency::USD });
        }
        Ok(())
    }

    /// The word of account, strategy and security counts before the platform's, the stricter one first.
    fn needs_cash(&self, ask: &Candidate) -> bool {
        let said: Vec<_> = self.bound(ask, |limits| limits.cash_check).collect();
        let own = |wanted: bool| said.iter().any(|(scope, word)| *scope != Scope::Platform && *word == wanted);
        own(true) || (!own(false) && said.iter().all(|(_, word)| *word))
    }

    /// The limits that bind an order, scope by scope.
    pub(crate) fn bound<'a, T: 'a>(
        &'a self,
        ask: &Candidate,
        limit: impl Fn(&Limits) -> Option<T> + 'a,
    ) -> impl Iterator<Item = (Scope, T)> + 'a {
        ask.scopes().into_iter().filter_map(move |scope| Some((scope, limit(self.limits.get(&scope)?)?)))
    }
}

impl Candidate {
    pub(crate) fn scopes(&self) -> [Scope; 4] {
        [Scope::Platform, Scope::Account(self.account), Scope::Strategy(self.strategy), Scope::Security(self.security)]
    }

    /// A stop does not rest in the book.
    fn crosses(&self, resting: OrderKind) -> bool {
        match (self.terms.kind, resting) {
            (OrderKind::Limit { limit: buy }, OrderKind::Limit { limit: sell }) if self.side == Side::Buy => {
                buy >= sell
            }
            (OrderKind::Limit { limit: sell }, OrderKind::Limit { limit: buy }) => sell <= buy,
            (OrderKind::Market | OrderKind::Limit { .. }, OrderKind::Market | OrderKind::Limit { .. }) => true,
            _ => false,
        }
    }
}

/// A market order takes any price; a buy is the more eager the higher its limit, a sell the lower.
fn eagerness(order: &Order) -> Decimal {
    match (order.side, order.terms.kind.limit()) {
        (_, None) => Decimal::MAX,
        (Side::Buy, Some(limit)) => limit.0,
        (Side::Sell, Some(limit)) => -limit.0,
    }
}

fn within(control: Control, scope: Scope, value: Decimal, limit: Decimal) -> Result<(), Refusal> {
    if value > limit { Err(Refusal::Limit { control, scope, value, limit }) } else { Ok(()) }
}
