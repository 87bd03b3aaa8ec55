//! Expiration: at the day roll, futures and options past their last day are settled as their family defines, their
//! orders are cancelled, and a warning is raised for those that expire next. Everything follows from journalled inputs,
//! so a replay settles the same with the same ids.

use std::sync::Arc;

use domain::amount::divide;
use domain::command::SettlementPrice;
use domain::query::{Answer, EngineResult};
use domain::reference::{OptionRight, Settlement};
use domain::{
    AdapterName, Amount, Caller, Date, Decimal, Order, Overflow, Position, Price, Quantity, Refusal, Security,
    SecurityId, SecurityKind, Text, Timestamp, Transaction, TransactionKind,
};

use crate::orders::transitions::{RequestKind, may_request};
use crate::outbox::{Moment, Outbox};
use crate::trading::{Trading, valuer};

/// A warning is raised this many days before a security expires, and on the day itself, while a position is open.
const EXPIRY_WARNING_DAYS: i64 = 2;

/// How one unit of a security is settled.
struct SettlementTerms {
    /// The price of the EXPIRATION.
    price: Price,
    delivery: Option<PhysicalDelivery>,
    description: Text,
}

struct PhysicalDelivery {
    underlying: Arc<Security>,
    price: Price,
    /// Units that a long position of one receives; below zero it delivers.
    units: Decimal,
}

/// Why a security cannot be settled.
enum NotSettled {
    NoPrice(SecurityId),
    NoUnderlying,
    /// A security cannot be delivered at a price in another currency, and an index cannot be delivered at all.
    NotDeliverable(SecurityId),
    Refused(Refusal),
}

impl Trading {
    /// Called at the day roll, after the new day has begun.
    pub(crate) fn settle_expired(&mut self, moment: Moment, out: &mut Outbox) {
        self.cancel_expired(moment, None, out);
        let expired = self.held_derivatives(|security| self.has_expired(security, moment.at));
        for security in &expired {
            self.settle(moment, security, out);
        }
        if !expired.is_empty() {
            self.portfolio.publish(&valuer(&self.marks, &self.reference, &self.settings, moment.at), out);
        }
        self.warn_upcoming_expirations(moment, out);
        // Only now: a server that was down for weeks needs the price of the day on which it settles.
        self.expirations.prune(self.platform_date(moment.at));
        let (waiting, portfolio) = (&mut self.expirations.unsettled, &self.portfolio);
        waiting.retain(|security| portfolio.holds(*security));
    }

    /// A missing price may settle the positions that wait for it.
    pub(crate) fn set_settlement_price(
        &mut self,
        moment: Moment,
        ask: &SettlementPrice,
        out: &mut Outbox,
    ) -> EngineResult {
        let security = self.reference.security(ask.security)?;
        let today = Date(self.reference.calendar(security.exchange)?.local_date(moment.at));
        self.expirations.prices.insert((ask.security, ask.date.unwrap_or(today)), ask.price);
        let waiting: Vec<_> = self.expirations.unsettled.iter().copied().collect();
        for security in waiting.iter().filter_map(|id| self.reference.security(*id).ok().cloned()).collect::<Vec<_>>() {
            if self.settlement_terms(&security).is_ok() {
                self.settle(moment, &security, out);
            }
        }
        Ok(Answer::Done)
    }

    /// Whether the next roll settles something, so that the newest prices must be applied before.
    pub(crate) fn settles_at(&self, at: Timestamp) -> bool {
        self.day_ends.is_some_and(|end| at >= end)
            && !self.held_derivatives(|security| self.has_expired(security, at)).is_empty()
    }

    fn held_derivatives(&self, is_meant: impl Fn(&Security) -> bool) -> Vec<Arc<Security>> {
        let derivatives = self.reference.data().securities.values().filter(|security| is_derivative(security));
        derivatives.filter(|security| self.portfolio.holds(security.id) && is_meant(security)).cloned().collect()
    }

    /// Whether its last day is over at its exchange.
    pub(crate) fn has_expired(&self, security: &Security, at: Timestamp) -> bool {
        let calendar = self.reference.calendar(security.exchange);
        let last_day = security.expiration();
        last_day.zip(calendar.ok()).is_some_and(|(last_day, calendar)| calendar.has_ended(last_day, at))
    }

    /// Orders in expired securities cannot trade any more; those of one adapter, or of all.
    pub(crate) fn cancel_expired(&mut self, moment: Moment, adapter: Option<&AdapterName>, out: &mut Outbox) {
        let can_be = |order: &&Arc<Order>| order.state.is_working() && may_request(&order.pending, RequestKind::Cancel);
        let is_meant = |order: &&Arc<Order>| adapter.is_none_or(|adapter| order.adapter == *adapter);
        let is_over = |order: &&Arc<Order>| {
            let security = self.reference.security(order.security);
            security.is_ok_and(|security| is_derivative(security) && self.has_expired(security, moment.at))
        };
        let orders = self.orders.open().filter(is_meant).filter(can_be).filter(is_over).cloned();
        let (orders, kept): (Vec<_>, Vec<_>) = orders.partition(|order| self.can_cancel(order));
        for order in &orders {
            self.request_cancel(moment, &expiration_caller(), order, None, out);
        }
        // Once a day, not whenever a venue is back.
        if adapter.is_none() {
            self.alarm_uncancelled(&kept, "their security has expired", out);
        }
    }

    fn settle(&mut self, moment: Moment, security: &Arc<Security>, out: &mut Outbox) {
        match self.settlement_terms(security) {
            Ok(terms) => {
                for position in self.portfolio.open_in(security.id) {
                    self.settle_position(moment, security, &terms, &position, out);
                }
            }
            Err(reason) => self.report_unsettled(security, &reason, out),
        }
        if !self.portfolio.holds(security.id) {
            self.expirations.unsettled.remove(&security.id);
        }
    }

    /// Both bookings are planned before either is made.
    fn settle_position(
        &mut self,
        moment: Moment,
        security: &Security,
        terms: &SettlementTerms,
        held: &Position,
        out: &mut Outbox,
    ) {
        let expiry = self.expiry_of_position(moment, security, terms, held);
        let delivered = terms.delivery.as_ref().map(|delivery| delivery.quantity(held.quantity)).transpose();
        let planned = delivered.map_err(Refusal::from).and_then(|delivered| {
            self.portfolio.plan(expiry.clone(), Some(security))?;
            if let Some((delivery, quantity)) = terms.delivery.as_ref().zip(delivered) {
                let delivery_of = delivery.transaction(&expiry, quantity, security);
                self.portfolio.plan(delivery_of, Some(&delivery.underlying))?;
            }
            Ok(delivered)
        });
        let booked = planned.and_then(|delivered| {
            self.book(moment, expiry.clone(), Some(security), out)?;
            let Some((delivery, quantity)) = terms.delivery.as_ref().zip(delivered) else { return Ok(()) };
            let (id, uuid) = self.ids.next_booking(self.settings.instance);
            let transaction = Transaction { id, uuid, ..delivery.transaction(&expiry, quantity, security) };
            self.book(moment, transaction, Some(&delivery.underlying), out).map(drop)
        });
        if let Err(refusal) = booked {
            self.report_unsettled(security, &NotSettled::Refused(refusal), out);
        }
    }

    fn expiry_of_position(
        &self,
        moment: Moment,
        security: &Security,
        terms: &SettlementTerms,
        held: &Position,
    ) -> Transaction {
        let (id, uuid) = self.ids.next_booking(self.settings.instance);
        Transaction {
            id,
            uuid,
            at: moment.at,
            settlement_date: security.expiration(),
            ext_id: None,
            int_order_id: None,
            ext_order_id: None,
            kind: TransactionKind::Expiration,
            quantity: held.quantity.negated(),
            price: terms.price,
            execution_commission: Amount::ZERO,
            clearing_commission: Amount::ZERO,
            fee: Amount::ZERO,
            currency: security.currency,
            account: held.account,
            security: Some(security.id),
            strategy: held.strategy,
            description: Some(terms.description.clone()),
            charges: vec![],
            venue_kind: None,
            liquidity: None,
        }
    }

    fn settlement_terms(&self, security: &Arc<Security>) -> Result<SettlementTerms, NotSettled> {
        match security.kind {
            SecurityKind::Option { strike, right, .. } => self.option_terms(security, strike, right),
            _ => self.future_terms(security),
        }
    }

    /// At the price of the future itself; a delivery is paid at the same price.
    fn future_terms(&self, security: &Arc<Security>) -> Result<SettlementTerms, NotSettled> {
        let data = self.reference.data();
        let (price, source) = self.price_at_expiration(security, security)?;
        let delivery = match data.settlement_of(security) {
            Settlement::Cash => None,
            Settlement::Physical => {
                let underlying = data.underlying_of(security).ok_or(NotSettled::NoUnderlying)?;
                Some(PhysicalDelivery::new(security, underlying, price, Decimal::ONE)?)
            }
        };
        Ok(SettlementTerms { price, delivery, description: format!("settled at the {source}").into() })
    }

    /// By the price of the underlying: what is in the money is paid, or delivered at the strike.
    fn option_terms(
        &self,
        security: &Arc<Security>,
        strike: Price,
        right: OptionRight,
    ) -> Result<SettlementTerms, NotSettled> {
        let data = self.reference.data();
        let underlying = data.underlying_of(security).ok_or(NotSettled::NoUnderlying)?;
        let (price, source) = self.price_at_expiration(security, underlying)?;
        let intrinsic = intrinsic_value(right, price, strike).map_err(refused)?;
        let seen = format!("{} at {price}, the {source}", underlying.symbol);
        if intrinsic.is_zero() {
            let description = format!("expired worthless: {seen}").into();
            return Ok(SettlementTerms { price: intrinsic, delivery: None, description });
        }
        let description = format!("exercised: {seen}").into();
        if data.settlement_of(security) == Settlement::Cash {
            return Ok(SettlementTerms { price: intrinsic, delivery: None, description });
        }
        let sign = if right == OptionRight::Call { Decimal::ONE } else { Decimal::NEGATIVE_ONE };
        let delivery = Some(PhysicalDelivery::new(security, underlying, strike, sign)?);
        Ok(SettlementTerms { price: Price::ZERO, delivery, description })
    }

    /// The settlement price of the last day, else the last price, else the middle of the quotes.
    fn price_at_expiration(&self, expiring: &Security, priced: &Security) -> Result<(Price, &'static str), NotSettled> {
        let given = expiring.expiration().and_then(|day| self.expirations.prices.get(&(priced.id, day)));
        if let Some(price) = given {
            return Ok((*price, "settlement price"));
        }
        let is_late = self.expirations.unsettled.contains(&expiring.id);
        let mark = self.marks.get(priced.id).filter(|_| !is_late);
        let last = mark.and_then(|mark| mark.last).map(|price| (price, "last price"));
        let middle = || mark.and_then(domain::Mark::mid).map(|price| (price, "middle of the quotes"));
        last.or_else(middle).ok_or(NotSettled::NoPrice(priced.id))
    }

    fn report_unsettled(&mut self, security: &Security, reason: &NotSettled, out: &mut Outbox) {
        self.expirations.unsettled.insert(security.id);
        let day = security.expiration().map(|day| day.to_string()).unwrap_or_default();
        let price = if let NotSettled::NoPrice(id) = reason {
            format!("give the settlement price of security {id} for that day, or ")
        } else {
            String::new()
        };
        let text = format!(
            "security {} ({}) expired on {day} and its positions stay open: {reason}; {price}record an EXPIRATION for each",
            security.id, security.symbol
        );
        out.error("expiration-not-settled", text);
    }

    fn warn_upcoming_expirations(&self, moment: Moment, out: &mut Outbox) {
        let is_near = |security: &Security| {
            self.days_left(security, moment.at).is_some_and(|days| (0..=EXPIRY_WARNING_DAYS).contains(&days))
                && !self.has_expired(security, moment.at)
        };
        for security in self.held_derivatives(is_near) {
            let when = match self.days_left(&security, moment.at) {
                Some(0) => "today".to_owned(),
                Some(1) => "tomorrow".to_owned(),
                days => format!("in {} days", days.unwrap_or_default()),
            };
            let how = match self.reference.data().settlement_of(&security) {
                Settlement::Cash => "in cash",
                Settlement::Physical => "by delivery of the underlying",
            };
            let count = self.portfolio.open_in(security.id).len();
            let positions = if count == 1 { "1 open position".to_owned() } else { format!("{count} open positions") };
            let (id, symbol) = (security.id, &security.symbol);
            let text = format!("security {id} ({symbol}) expires {when}: {positions} will be settled {how}");
            out.warn("expires-soon", text);
        }
    }

    fn days_left(&self, security: &Security, at: Timestamp) -> Option<i64> {
        let calendar = self.reference.calendar(security.exchange).ok()?;
        security.expiration().map(|last_day| calendar.days_until(last_day, at))
    }
}

impl PhysicalDelivery {
    fn new(security: &Security, underlying: &Arc<Security>, price: Price, sign: Decimal) -> Result<Self, NotSettled> {
        if underlying.kind == SecurityKind::Index || underlying.currency != security.currency {
            return Err(NotSettled::NotDeliverable(underlying.id));
        }
        let units = divide(security.contract_size, underlying.contract_size).map_err(refused)?;
        Ok(Self { underlying: underlying.clone(), price, units: units * sign })
    }

    fn quantity(&self, held: Quantity) -> Result<Quantity, Overflow> {
        held.times(self.units)
    }

    fn transaction(&self, expiry: &Transaction, quantity: Quantity, expired: &Security) -> Transaction {
        let kind = if quantity.is_negative() { TransactionKind::Sell } else { TransactionKind::Buy };
        Transaction {
            kind,
            quantity,
            price: self.price,
            security: Some(self.underlying.id),
            description: Some(format!("delivery of {}", expired.symbol).into()),
            ..expiry.clone()
        }
    }
}

impl std::fmt::Display for NotSettled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoPrice(id) => write!(f, "no price of security {id} was known"),
            Self::NoUnderlying => write!(f, "its underlying is not known"),
            Self::NotDeliverable(id) => write!(f, "security {id} cannot be delivered"),
            Self::Refused(refusal) => write!(f, "{refusal}"),
        }
    }
}

pub(crate) fn is_derivative(security: &Security) -> bool {
    matches!(security.kind, SecurityKind::Future { .. } | SecurityKind::Option { .. })
}

fn intrinsic_value(right: OptionRight, price: Price, strike: Price) -> Result<Price, Overflow> {
    let value = match right {
        OptionRight::Call => price.minus(strike)?,
        OptionRight::Put => strike.minus(price)?,
    };
    Ok(value.max(Price::ZERO))
}

fn refused(overflow: Overflow) -> NotSettled {
    NotSettled::Refused(overflow.into())
}

/// The caller of cancels of orders in expired securities.
fn expiration_caller() -> Caller {
    Caller { user: Some("expiration of the security".into()), ..Caller::platform() }
}
