//! The figures of the risk gate, summed from all orders and bookings each time.

use domain::amount::divide;
use domain::order::{OrderKind, Side};
use domain::{AccountId, Currency, Decimal, Mark, Quantity, Refusal, RiskScope, SecurityId};

use crate::engine_fixture::FOREX;
use crate::gate::Candidate;
use crate::model::{Model, Order, Units};
use crate::model_reports::scopes;

/// Margined securities need this part of their notional.
const MARGIN_RATE: Decimal = Decimal::from_parts(1, 0, 0, false, 1);
/// Short sales need this part of theirs.
const SHORT_MARGIN_RATE: Decimal = Decimal::from_parts(5, 0, 0, false, 1);
const ONE_PERCENT: Decimal = Decimal::from_parts(1, 0, 0, false, 2);

impl Model {
    /// Notional and costs of one unit in base currency. A limit is the worst price, all else may slip.
    pub(crate) fn worth(
        &self,
        security: SecurityId,
        side: Side,
        kind: OrderKind,
    ) -> Result<(Decimal, Decimal), Refusal> {
        let mark = self.marks.get(&security).ok_or(Refusal::NoReferencePrice(security))?;
        let touch = if side == Side::Buy { mark.ask } else { mark.bid };
        let price = match (kind.limit(), kind.stop().or(touch).unwrap().0, side) {
            (Some(limit), ..) => limit.0,
            (None, price, Side::Buy) => price + price * ONE_PERCENT,
            (None, price, Side::Sell) => price,
        };
        let security = self.security(security);
        let notional = self.in_base(price * security.contract_size, security.currency);
        Ok((notional, self.in_base(self.costs(security.id, Decimal::ONE), security.currency)))
    }

    /// What every unit holds back when an order works again.
    pub(crate) fn units_of_all(&self, order: &Order) -> Units {
        let (notional, fee) = self.worth(order.security, order.side, order.terms.kind).unwrap();
        let cash = match order.side {
            _ if self.security(order.security).is_margined() => notional * MARGIN_RATE + fee,
            Side::Buy => notional + fee,
            Side::Sell => notional * SHORT_MARGIN_RATE,
        };
        Units { notional, cash }
    }

    pub(crate) fn unit_cash(&self, ask: &Candidate, opening: Decimal, notional: Decimal, fee: Decimal) -> Decimal {
        match ask.side {
            _ if self.security(ask.security).is_margined() && opening.is_zero() => Decimal::ZERO,
            _ if self.security(ask.security).is_margined() => {
                let share = divide(opening, self.still(ask)).unwrap();
                ((notional * MARGIN_RATE + fee) * share).round_dp(12)
            }
            Side::Buy => notional + fee,
            Side::Sell if opening.is_zero() => Decimal::ZERO,
            Side::Sell => {
                let share = divide(opening, self.still(ask)).unwrap();
                (notional * SHORT_MARGIN_RATE * share).round_dp(12)
            }
        }
    }

    /// The position if this and every open order of its side were filled.
    pub(crate) fn worst_position(&self, ask: &Candidate, scope: RiskScope) -> Decimal {
        let sign = if ask.side == Side::Buy { Decimal::ONE } else { Decimal::NEGATIVE_ONE };
        let held: Decimal = self.lots_in(scope).filter(|(security, _)| *security == ask.security).map(|(_, q)| q).sum();
        let open = self.open_in(ask, scope).filter(|order| (order.security, order.side) == (ask.security, ask.side));
        held * sign + open.map(Order::may_trade).sum::<Decimal>() + self.still(ask)
    }

    /// Positions of one direction at their exit price, and open orders of that side.
    pub(crate) fn open_notional(&self, ask: &Candidate, scope: RiskScope, side: Side) -> Decimal {
        let held = [Currency::USD, "EUR".parse().unwrap()].map(|currency| {
            let of_side = |(security, quantity): &(SecurityId, Decimal)| {
                self.security(*security).currency == currency && (*quantity < Decimal::ZERO) == (side == Side::Sell)
            };
            let value = |(security, quantity): (SecurityId, Decimal)| {
                let price = self.marks[&security].exit_price(Quantity(quantity)).unwrap();
                (quantity * price.0 * self.security(security).contract_size).abs()
            };
            self.in_base(self.lots_in(scope).filter(of_side).map(value).sum(), currency)
        });
        let open = self.open_in(ask, scope).filter(|order| order.side == side);
        held.into_iter().sum::<Decimal>() + open.map(|order| order.held_back().0).sum::<Decimal>()
    }

    /// Cash of an account in base currency, less what its open orders hold back.
    pub(crate) fn available(&self, account: AccountId) -> Decimal {
        let cash = [Currency::USD, "EUR".parse().unwrap()].map(|currency| {
            let books = self.books();
            let of_account = books.cash.iter().filter(|((_, holder, of), _)| (*holder, *of) == (account, currency));
            self.in_base(of_account.map(|(_, amount)| *amount).sum(), currency)
        });
        let open = self.orders.iter().filter(|order| order.is_open() && order.account == account);
        cash.into_iter().sum::<Decimal>() - open.map(|order| order.held_back().1).sum::<Decimal>()
    }

    /// Only the euro needs a rate here: the middle of its pair.
    pub(crate) fn in_base(&self, amount: Decimal, currency: Currency) -> Decimal {
        if currency == Currency::USD {
            return amount;
        }
        let mid = self.marks.get(&FOREX).and_then(Mark::mid).unwrap();
        (amount * mid.0).round_dp(12)
    }

    pub(crate) fn lots_in(&self, scope: RiskScope) -> impl Iterator<Item = (SecurityId, Decimal)> {
        self.books().positions.into_iter().filter_map(move |((strategy, account, security), lot)| {
            let is_inside = [
                RiskScope::Platform,
                RiskScope::Account(account),
                RiskScope::Strategy(strategy),
                RiskScope::Security(security),
            ]
            .contains(&scope);
            is_inside.then_some((security, lot.quantity))
        })
    }

    /// Open orders of a scope, but not the one that would be replaced.
    pub(crate) fn open_in<'a>(&'a self, ask: &'a Candidate, scope: RiskScope) -> impl Iterator<Item = &'a Order> {
        self.orders.iter().enumerate().filter_map(move |(place, order)| {
            (order.is_open() && ask.replaces != Some(place) && scopes(order).contains(&scope)).then_some(order)
        })
    }

    /// What would be left to trade.
    pub(crate) fn still(&self, ask: &Candidate) -> Decimal {
        ask.terms.quantity.0 - ask.replaces.map_or(Decimal::ZERO, |place| self.orders[place].filled())
    }
}
