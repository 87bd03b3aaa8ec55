//! Model of the risk gate, without running totals: every figure is summed from all orders and bookings.

use domain::order::{OrderKind, OrderTerms, Side};
use domain::refusal::RiskControl;
use domain::risk::SelfTradePrevention;
use domain::{
    AccountId, Currency, Decimal, ExchangeId, MarketPhase, Quantity, Refusal, RiskLimits, RiskScope, SecurityId,
    StrategyId, TimeInForce, TradingState,
};

use crate::engine_fixture::adapter_name;
use crate::model::{Model, ModelSession, Order, Units};

/// A requested order, or new terms for one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) account: AccountId,
    pub(crate) strategy: StrategyId,
    pub(crate) security: SecurityId,
    pub(crate) side: Side,
    pub(crate) terms: OrderTerms,
    pub(crate) replaces: Option<usize>,
    pub(crate) reduce_only: bool,
    /// What orders of its side will give up before it leaves.
    pub(crate) freed: Decimal,
    /// It waited for others: the rates have counted it.
    pub(crate) is_released: bool,
}

impl Model {
    /// What a unit of it would hold back, or why it is refused.
    pub(crate) fn decide(&self, ask: &Candidate) -> Result<Units, Refusal> {
        self.fits_security(ask)?;
        self.fits_hours(ask)?;
        self.has_link(ask)?;
        let opening = self.opening(ask)?;
        self.fits_state(ask, opening)?;
        self.is_unrestricted(ask)?;
        if !ask.is_released {
            self.check_order_rate(ask)?;
            self.check_message_rate(ask)?;
        }
        if ask.replaces.is_none() {
            self.check_duplicates(ask)?;
        }
        self.meets_no_own_order(ask)?;
        if opening > Decimal::ZERO {
            self.fits_age(ask)?;
        }
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
    pub(crate) fn phase(&self, exchange: ExchangeId) -> MarketPhase {
        let minute = self.now.0.rem_euclid(86_400_000_000_000) / 60_000_000_000;
        match minute {
            _ if exchange.0 == 1 => MarketPhase::Continuous,
            470..480 => MarketPhase::OpeningCall,
            480..1_190 => MarketPhase::Continuous,
            1_190..1_200 => MarketPhase::ClosingCall,
            _ => MarketPhase::Closed,
        }
    }

    fn fits_hours(&self, ask: &Candidate) -> Result<(), Refusal> {
        let exchange = self.security(ask.security).exchange;
        let phase = self.phase(exchange);
        let (is_continuous, is_closed) = (phase == MarketPhase::Continuous, phase == MarketPhase::Closed);
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
            ModelSession::Open => Ok(()),
            ModelSession::Comparing => Err(Refusal::AdapterReconciling(adapter_name(adapter))),
            ModelSession::Down => Err(Refusal::AdapterDown(adapter_name(adapter))),
        }
    }

    fn opening(&self, ask: &Candidate) -> Result<Decimal, Refusal> {
        let closable = self.closable(ask);
        if ask.reduce_only && self.still(ask) > closable {
            return Err(Refusal::WouldFlip { open: Quantity(closable) });
        }
        Ok((self.still(ask) - closable).max(Decimal::ZERO))
    }

    /// What the order could close beside others.
    pub(crate) fn closable(&self, ask: &Candidate) -> Decimal {
        let held = self.held_against(ask);
        let elsewhere: Decimal = self.others(ask).filter(|order| order.side == ask.side).map(Order::may_trade).sum();
        if held.is_zero() { held } else { (held - elsewhere + ask.freed).max(Decimal::ZERO) }
    }

    /// How much is held that an order of this side lowers.
    pub(crate) fn held_against(&self, ask: &Candidate) -> Decimal {
        let books = self.books();
        let held =
            books.positions.get(&(ask.strategy, ask.account, ask.security)).map_or(Decimal::ZERO, |lot| lot.quantity);
        let lowered = match ask.side {
            Side::Buy => -held,
            Side::Sell => held,
        };
        lowered.max(Decimal::ZERO)
    }

    /// Other open orders of the same strategy, account and security.
    pub(crate) fn others<'a>(&'a self, ask: &'a Candidate) -> impl Iterator<Item = &'a Order> {
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

    fn is_unrestricted(&self, ask: &Candidate) -> Result<(), Refusal> {
        let security = ask.security;
        let mut lists = self.bound(ask, |limits| limits.restricted_securities.clone());
        match lists.find(|(_, list)| list.contains(&security)) {
            Some((scope, _)) => Err(Refusal::Restricted { scope, security }),
            None => Ok(()),
        }
    }

    /// The account's policy comes before the platform's. New terms cannot wait.
    fn meets_no_own_order(&self, ask: &Candidate) -> Result<(), Refusal> {
        let waits = matches!(
            self.policy(ask.account),
            Some(SelfTradePrevention::CancelResting | SelfTradePrevention::CancelBoth)
        );
        match self.policy(ask.account) {
            None | Some(SelfTradePrevention::Allow) => Ok(()),
            _ if waits && ask.replaces.is_none() => Ok(()),
            _ => self.self_trades(ask).first().map_or(Ok(()), |own| Err(Refusal::SelfTrade(own.int_id.clone()))),
        }
    }

    pub(crate) fn policy(&self, account: AccountId) -> Option<SelfTradePrevention> {
        let said = |scope| self.limits.get(&scope).and_then(|limits| limits.self_trade);
        said(RiskScope::Account(account)).or_else(|| said(RiskScope::Platform))
    }

    /// Only what opens a position needs a young price, and only in continuous trading.
    fn fits_age(&self, ask: &Candidate) -> Result<(), Refusal> {
        let security = ask.security;
        if self.phase(self.security(security).exchange) != MarketPhase::Continuous {
            return Ok(());
        }
        let mark = self.marks[&security];
        for (_, limit_seconds) in self.bound(ask, |limits| limits.stale_after_seconds) {
            let age_seconds = (self.now.0 - mark.at.0) / 1_000_000_000;
            if age_seconds > i64::from(limit_seconds) {
                return Err(Refusal::StalePrice { security, age_seconds, limit_seconds });
            }
        }
        Ok(())
    }

    fn fits_prices(&self, ask: &Candidate) -> Result<(), Refusal> {
        let mark = self.marks[&ask.security];
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
            within(RiskControl::MaxOrderQuantity, scope, quantity, limit.0)?;
        }
        for (scope, limit) in self.bound(ask, |limits| limits.max_order_notional) {
            within(RiskControl::MaxOrderNotional, scope, quantity * notional, limit.0)?;
        }
        Ok(())
    }

    fn fits_position(&self, ask: &Candidate) -> Result<(), Refusal> {
        let limit = |limits: &RiskLimits| if ask.side == Side::Buy { limits.max_long } else { limits.max_short };
        for (scope, limit) in self.bound(ask, limit) {
            within(RiskControl::MaxPosition, scope, self.worst_position(ask, scope), limit.0)?;
        }
        Ok(())
    }

    fn fits_open(&self, ask: &Candidate, units: Units) -> Result<(), Refusal> {
        for (scope, limit) in self.bound(ask, |limits| limits.max_open_orders) {
            let count = self.open_in(ask, scope).count() + 1;
            within(RiskControl::MaxOpenOrders, scope, count.into(), limit.into())?;
        }
        let added = units.notional * self.still(ask);
        for (scope, limit) in self.bound(ask, |limits| limits.max_open_notional) {
            within(RiskControl::MaxOpenNotional, scope, self.open_notional(ask, scope, ask.side) + added, limit.0)?;
        }
        for (scope, limit) in self.bound(ask, |limits| limits.max_gross_exposure) {
            let both = [Side::Buy, Side::Sell].map(|side| self.open_notional(ask, scope, side));
            within(RiskControl::MaxGrossExposure, scope, both[0] + both[1] + added, limit.0)?;
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

    /// The settings of account, strategy and security come before the platform's, the stricter one first.
    fn needs_cash(&self, ask: &Candidate) -> bool {
        let said: Vec<_> = self.bound(ask, |limits| limits.cash_check).collect();
        let own = |wanted: bool| said.iter().any(|(scope, word)| *scope != RiskScope::Platform && *word == wanted);
        own(true) || (!own(false) && said.iter().all(|(_, word)| *word))
    }

    /// The limits that bind an order, scope by scope.
    pub(crate) fn bound<'a, T: 'a>(
        &'a self,
        ask: &Candidate,
        limit: impl Fn(&RiskLimits) -> Option<T> + 'a,
    ) -> impl Iterator<Item = (RiskScope, T)> + 'a {
        ask.scopes().into_iter().filter_map(move |scope| Some((scope, limit(self.limits.get(&scope)?)?)))
    }
}

impl Candidate {
    pub(crate) fn scopes(&self) -> [RiskScope; 4] {
        [
            RiskScope::Platform,
            RiskScope::Account(self.account),
            RiskScope::Strategy(self.strategy),
            RiskScope::Security(self.security),
        ]
    }
}

fn within(control: RiskControl, scope: RiskScope, value: Decimal, limit: Decimal) -> Result<(), Refusal> {
    if value > limit { Err(Refusal::Limit { control, scope, value, limit }) } else { Ok(()) }
}
