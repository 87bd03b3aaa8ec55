//! Risk checks of one order, cheapest first. All on `&self`: a refusal changes nothing.

use domain::amount::divide;
use domain::breaks::BreakKind;
use domain::order::{Order, OrderKind, OrderTerms, Side};
use domain::refusal::RiskControl;
use domain::risk::{RiskScope, TradingState};
use domain::{
    Activation, Amount, Decimal, Mark, MarketPhase, Overflow, Price, Quantity, Refusal, Security, SecurityId,
    WorkingPrice,
};

use super::candidate::{Candidate, RiskApproval};
use super::exposure::{self, Reservation};
use super::scopes::ApplicableLimits;
use crate::orders::terms_check::is_closing_side;
use crate::outbox::Moment;
use crate::trading::Trading;

/// Factor of a percentage.
const HUNDREDTH: Decimal = Decimal::from_parts(1, 0, 0, false, 2);

/// Expected value of an order, per unit of quantity.
struct OrderValue {
    unit_notional: Amount,
    unit_fee: Amount,
}

impl Trading {
    /// What the order reserves and which orders must be cancelled before it, or why it is refused.
    pub(crate) fn check_risk(&self, moment: Moment, candidate: &Candidate<'_>) -> Result<RiskApproval, Refusal> {
        let binding = ApplicableLimits::of(candidate.scopes(), &self.risk.limits);
        let opening = self.opening_quantity(candidate)?;
        self.check_state(candidate, opening)?;
        self.check_lines(candidate, opening)?;
        check_restricted(candidate, &binding)?;
        if opening.is_positive() {
            self.check_breaks(candidate, &binding)?;
        }
        if !candidate.is_released {
            if candidate.replaces.is_none() || self.settings.counts_modifications {
                self.risk.rates.check_rate(moment.at, &binding)?;
            }
            self.risk.rates.check_messages(moment.at, candidate.caller, &binding)?;
        }
        if candidate.replaces.is_none() {
            self.risk.rates.check_repetition(moment.at, candidate, &binding)?;
        }
        let met = self.check_self_trade(moment, candidate, &binding)?;
        if opening.is_positive() {
            self.check_stale(moment, candidate, &binding)?;
        }
        self.check_prices(candidate, &binding)?;
        let worth = self.worth(&candidate.route.security, candidate.side, candidate.terms.kind)?;
        check_size(candidate, &worth, &binding)?;
        let reservation = self.reservation(candidate, opening, &worth)?;
        if opening.is_positive() {
            self.check_position(candidate, &binding)?;
            self.check_open(moment, candidate, &reservation, &binding)?;
        }
        self.check_cash(moment, candidate, &reservation, &binding)?;
        Ok(RiskApproval { reservation, self_trades: met })
    }

    /// The part of the order that would open or increase a position; the rest closes.
    fn opening_quantity(&self, candidate: &Candidate<'_>) -> Result<Quantity, Refusal> {
        let still = candidate.leaves_quantity()?;
        let closable = self.closable(candidate)?;
        if candidate.reduce_only && still > closable {
            return Err(Refusal::WouldFlip { open: closable });
        }
        Ok(still.minus(closable)?.max(Quantity::ZERO))
    }

    /// How much of the position the order could close, besides other closing orders.
    pub(crate) fn closable(&self, candidate: &Candidate<'_>) -> Result<Quantity, Refusal> {
        let route = candidate.route;
        let position = self.portfolio.deliverable(route.strategy, route.account, &route.security);
        if !is_closing_side(candidate.side, position) {
            return Ok(Quantity::ZERO);
        }
        Ok(position.abs().minus(self.closing_elsewhere(candidate)?)?.max(Quantity::ZERO))
    }

    /// How much open orders of the same side, strategy and account would close already.
    fn closing_elsewhere(&self, candidate: &Candidate<'_>) -> Result<Quantity, Refusal> {
        let route = candidate.route;
        let open = self.risk.exposure.open_for_strategy(route.account, route.strategy, route.security.id);
        Ok(open.side(candidate.side)?.minus(self.replaced_part(candidate).quantity()?)?.minus(candidate.freed)?)
    }

    /// The reservation of the order that would be replaced.
    fn replaced_part(&self, candidate: &Candidate<'_>) -> exposure::OrderExposure {
        candidate.replaces.map(|order| self.risk.exposure.order_exposure(order.id)).unwrap_or_default()
    }

    fn check_state(&self, candidate: &Candidate<'_>, opening: Quantity) -> Result<(), Refusal> {
        for scope in candidate.scopes() {
            match self.risk.state(scope) {
                TradingState::Active => {}
                TradingState::Reducing if opening.is_zero() => {}
                state => return Err(Refusal::TradingState { scope, state }),
            }
        }
        Ok(())
    }

    /// Nobody opens a position where its orders could not be followed.
    fn check_lines(&self, candidate: &Candidate<'_>, opening: Quantity) -> Result<(), Refusal> {
        let adapter = &candidate.route.adapter;
        match self.adapters.line_down(adapter).filter(|_| opening.is_positive()) {
            Some(line) => Err(Refusal::LineDown { adapter: adapter.clone(), line }),
            None => Ok(()),
        }
    }

    /// Nobody adds to a position that may not be what it seems. A balance whose value is not known is above every limit.
    fn check_breaks(&self, candidate: &Candidate<'_>, binding: &ApplicableLimits<'_>) -> Result<(), Refusal> {
        let route = candidate.route;
        for (scope, limit) in binding.each(|limits| limits.break_limit) {
            let found = self.breaks.open().find(|found| {
                let difference = &found.difference;
                let is_balance = matches!(difference.kind, BreakKind::Cash | BreakKind::Position);
                difference.adapter == route.adapter
                    && difference.account.is_none_or(|account| account == route.account)
                    && difference.security.is_none_or(|security| security == route.security.id)
                    && difference.value.map_or(is_balance, |value| value > limit)
            });
            if let Some(found) = found {
                return Err(Refusal::BreakOpen { id: found.id, scope, limit });
            }
        }
        Ok(())
    }

    /// A position is not opened on an old price, nor on one that its feed has lost. Outside of continuous trading no prices are expected.
    fn check_stale(
        &self,
        moment: Moment,
        candidate: &Candidate<'_>,
        binding: &ApplicableLimits<'_>,
    ) -> Result<(), Refusal> {
        if self.reference.phase(candidate.route.exchange, moment.at) != MarketPhase::Continuous {
            return Ok(());
        }
        let security = candidate.route.security.id;
        if let Some(cause) = self.marks.get(security).and_then(|mark| mark.stale).filter(|cause| cause.stops_orders()) {
            return Err(Refusal::PriceGap { security, cause });
        }
        for (_, limit_seconds) in binding.each(|limits| limits.stale_after_seconds) {
            let mark = self.marks.get(security).ok_or(Refusal::NoReferencePrice(security))?;
            let age_seconds = moment.at.seconds_since(mark.at);
            if age_seconds > i64::from(limit_seconds) {
                return Err(Refusal::StalePrice { security, age_seconds, limit_seconds });
            }
        }
        Ok(())
    }

    fn check_prices(&self, candidate: &Candidate<'_>, binding: &ApplicableLimits<'_>) -> Result<(), Refusal> {
        let mark = self.marks.get(candidate.route.security.id);
        let Some(reference) = mark.and_then(Mark::reference) else { return Ok(()) };
        for (_, percent) in binding.each(|limits| limits.price_collar_percent) {
            check_collar(candidate, reference, percent.0)?;
        }
        Ok(())
    }

    /// The position if this and every open order of its side were filled.
    fn check_position(&self, candidate: &Candidate<'_>, binding: &ApplicableLimits<'_>) -> Result<(), Refusal> {
        let security = candidate.route.security.id;
        let side = candidate.side;
        let limits = binding.each(|limits| match side {
            Side::Buy => limits.max_long,
            Side::Sell => limits.max_short,
        });
        for (scope, limit) in limits {
            let open = self.risk.exposure.open_quantities(scope, security).side(side)?;
            let held = side.signed(self.portfolio.net_quantity(scope, security));
            let own = self.replaced_part(candidate).quantity()?;
            let worst = held.plus(open)?.minus(own)?.plus(candidate.leaves_quantity()?)?;
            check_limit(RiskControl::MaxPosition, scope, worst.0, limit.0)?;
        }
        Ok(())
    }

    fn check_open(
        &self,
        moment: Moment,
        candidate: &Candidate<'_>,
        reservation: &Reservation,
        binding: &ApplicableLimits<'_>,
    ) -> Result<(), Refusal> {
        for (scope, limit) in binding.each(|limits| limits.max_open_orders) {
            let orders = self.risk.exposure.totals(scope).orders + i64::from(candidate.replaces.is_none());
            check_limit(RiskControl::MaxOpenOrders, scope, orders.into(), limit.into())?;
        }
        for (scope, limit) in binding.each(|limits| limits.max_open_notional) {
            let totals = self.risk.exposure.totals(scope);
            let held = self.exposure(moment, scope)?;
            let worst = match candidate.side {
                Side::Buy => held.long.plus(totals.buys()?)?,
                Side::Sell => held.short.plus(totals.sells()?)?,
            };
            let worst = worst.plus(self.added_notional(candidate, reservation)?)?;
            check_limit(RiskControl::MaxOpenNotional, scope, worst.0, limit.0)?;
        }
        for (scope, limit) in binding.each(|limits| limits.max_gross_exposure) {
            let totals = self.risk.exposure.totals(scope);
            let held = self.exposure(moment, scope)?;
            let open = totals.buys()?.plus(totals.sells()?)?.plus(self.added_notional(candidate, reservation)?)?;
            let gross = held.long.plus(held.short)?.plus(open)?;
            check_limit(RiskControl::MaxGrossExposure, scope, gross.0, limit.0)?;
        }
        Ok(())
    }

    fn added_notional(&self, candidate: &Candidate<'_>, reservation: &Reservation) -> Result<Amount, Overflow> {
        let own = self.replaced_part(candidate).notional()?;
        reservation.unit_notional.times(candidate.leaves_quantity()?.0)?.minus(own)
    }

    fn check_cash(
        &self,
        moment: Moment,
        candidate: &Candidate<'_>,
        reservation: &Reservation,
        binding: &ApplicableLimits<'_>,
    ) -> Result<(), Refusal> {
        if !needs_cash(binding) {
            return Ok(());
        }
        let own = self.replaced_part(candidate).cash()?;
        let needed = reservation.unit_cash.times(candidate.leaves_quantity()?.0)?.minus(own)?;
        if !needed.is_positive() {
            return Ok(());
        }
        let account = candidate.route.account;
        let reserved = self.risk.exposure.totals(RiskScope::Account(account)).cash()?;
        let cash = self.portfolio.cash(RiskScope::Account(account), &self.valuer(moment.at));
        let available = cash.ok_or(Refusal::CashUnknown(account))?.minus(reserved)?;
        if needed > available {
            let currency = self.settings.base_currency;
            return Err(Refusal::InsufficientCash { needed: needed.0, available: available.0, currency });
        }
        Ok(())
    }

    /// Long and short value of a scope's positions, both positive.
    fn exposure(&self, moment: Moment, scope: RiskScope) -> Result<crate::portfolio::PositionExposure, Refusal> {
        self.portfolio.exposure(scope, &self.valuer(moment.at)).ok_or(Refusal::ExposureUnknown(scope))
    }

    /// A buy needs its notional and fees; a margined security and a short sale their margin, for the part that opens.
    fn reservation(
        &self,
        candidate: &Candidate<'_>,
        opening: Quantity,
        worth: &OrderValue,
    ) -> Result<Reservation, Refusal> {
        let security = &candidate.route.security;
        let is_margin = security.is_margined() || candidate.side == Side::Sell;
        let unit_cash = match self.unit_cash(security, candidate.side, worth)? {
            _ if is_margin && opening.is_zero() => Amount::ZERO,
            // Spread over the whole remaining quantity, since only a part of it may open.
            margin if is_margin => margin.scaled(divide(opening.0, candidate.leaves_quantity()?.0)?)?,
            price => price,
        };
        Ok(Reservation { quantity: candidate.terms.quantity, unit_notional: worth.unit_notional, unit_cash })
    }

    /// Cash that one opening unit needs.
    fn unit_cash(&self, security: &Security, side: Side, worth: &OrderValue) -> Result<Amount, Overflow> {
        match side {
            _ if security.is_margined() => worth.unit_notional.scaled(self.settings.margin_rate)?.plus(worth.unit_fee),
            Side::Buy => worth.unit_notional.plus(worth.unit_fee),
            Side::Sell => worth.unit_notional.scaled(self.settings.short_margin_rate),
        }
    }

    /// An ended order that works again reserves again, at current prices and as if all of it opened.
    pub(crate) fn reserve_again(&mut self, order: &Order) {
        if !order.is_open() || self.risk.exposure.contains(order.id) {
            return;
        }
        let (unit_notional, unit_cash) = self.units_of(order).unwrap_or_default();
        let reservation = Reservation { quantity: order.terms.quantity, unit_notional, unit_cash };
        self.risk.exposure.reserve(order, reservation);
    }

    /// Absent where the price or the rate from its check is gone.
    fn units_of(&self, order: &Order) -> Option<(Amount, Amount)> {
        let security = self.reference.security(order.security).ok()?;
        let worth = self.worth(security, order.side, order.terms.kind).ok()?;
        Some((worth.unit_notional, self.unit_cash(security, order.side, &worth).ok()?))
    }

    fn worth(&self, security: &Security, side: Side, kind: OrderKind) -> Result<OrderValue, Refusal> {
        let price = self.expected_price(security, side, kind).ok_or(Refusal::NoReferencePrice(security.id))?;
        let one = Quantity(Decimal::ONE);
        let base = self.settings.base_currency;
        let convert = |amount: Amount| {
            self.marks
                .convert(amount, security.currency, base)
                .ok_or(Refusal::NoRate { from: security.currency, to: base })
        };
        let unit_notional = convert(one.value_at(price, security.contract_size)?.abs())?;
        let unit_fee = convert(self.unit_costs(security).total()?)?;
        Ok(OrderValue { unit_notional, unit_fee })
    }

    /// A limit is the worst price; a stop and a market order may slip.
    fn expected_price(&self, security: &Security, side: Side, kind: OrderKind) -> Option<Price> {
        let price = match kind.work() {
            (_, WorkingPrice::Limit(limit)) => return Some(limit),
            (Activation::AtStop(stop), WorkingPrice::Any) => stop,
            (Activation::AtOnce, WorkingPrice::Any) => {
                let mark = self.marks.get(security.id)?;
                mark.opposite(side).or_else(|| mark.reference())?
            }
        };
        match side {
            Side::Buy => price.plus(price.scaled(self.settings.slippage_percent * HUNDREDTH).ok()?).ok(),
            Side::Sell => Some(price),
        }
    }

    /// Notional in base currency and costs in the security's, as far as they are known.
    pub(crate) fn estimate(
        &self,
        security: SecurityId,
        side: Side,
        terms: &OrderTerms,
    ) -> (Option<Amount>, Option<Amount>) {
        let Ok(security) = self.reference.security(security) else { return (None, None) };
        let worth = self.worth(security, side, terms.kind).ok();
        let notional = worth.and_then(|worth| worth.unit_notional.times(terms.quantity.0).ok());
        let costs = self.costs(security, terms.quantity).ok();
        (notional, costs.and_then(|costs| costs.total().ok()))
    }
}

/// A position in a restricted security cannot be closed either: whether that is allowed is for a person to decide.
fn check_restricted(candidate: &Candidate<'_>, binding: &ApplicableLimits<'_>) -> Result<(), Refusal> {
    let security = candidate.route.security.id;
    let mut lists = binding.each(|limits| limits.restricted_securities.as_ref());
    match lists.find(|(_, list)| list.contains(&security)) {
        Some((scope, _)) => Err(Refusal::Restricted { scope, security }),
        None => Ok(()),
    }
}

fn check_size(candidate: &Candidate<'_>, worth: &OrderValue, binding: &ApplicableLimits<'_>) -> Result<(), Refusal> {
    let quantity = candidate.terms.quantity;
    for (scope, limit) in binding.each(|limits| limits.max_order_quantity) {
        check_limit(RiskControl::MaxOrderQuantity, scope, quantity.0, limit.0)?;
    }
    let notional = worth.unit_notional.times(quantity.0)?;
    for (scope, limit) in binding.each(|limits| limits.max_order_notional) {
        check_limit(RiskControl::MaxOrderNotional, scope, notional.0, limit.0)?;
    }
    Ok(exposure::check_countable(quantity, notional)?)
}

/// The settings of account, strategy and security come before the platform's, and the stricter one wins.
fn needs_cash(binding: &ApplicableLimits<'_>) -> bool {
    let said = |by_platform: bool| {
        let words = binding.each(|limits| limits.cash_check);
        words.filter(move |(scope, _)| (*scope == RiskScope::Platform) == by_platform).map(|(_, wanted)| wanted).max()
    };
    said(false).or_else(|| said(true)).unwrap_or(true)
}

/// Only the aggressive side is checked: a buy far above the market, a sell far below it.
fn check_collar(candidate: &Candidate<'_>, market: Price, percent: Decimal) -> Result<(), Refusal> {
    let (price, reference) = match candidate.terms.kind.work() {
        (_, WorkingPrice::Any) => return Ok(()),
        (Activation::AtOnce, WorkingPrice::Limit(limit)) => (limit, market),
        // It is compared with the market as it will be when the stop is reached.
        (Activation::AtStop(stop), WorkingPrice::Limit(limit)) => (limit, stop),
    };
    let band = reference.scaled(percent * HUNDREDTH)?;
    let through = match candidate.side {
        Side::Buy => price > reference.plus(band)?,
        Side::Sell => price < reference.minus(band)?,
    };
    if through { Err(Refusal::PriceCollar { price, reference, percent }) } else { Ok(()) }
}

fn check_limit(control: RiskControl, scope: RiskScope, value: Decimal, limit: Decimal) -> Result<(), Refusal> {
    if value > limit { Err(Refusal::Limit { control, scope, value, limit }) } else { Ok(()) }
}
