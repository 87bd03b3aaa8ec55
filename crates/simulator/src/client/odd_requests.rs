//! What clients of some runs ask for besides: orders of which one field is wrong, orders with the content of another, new prices of
//! orders, and limits of an account that are tight for a while. Nearly all of it must be refused, each with a code of its own.

use domain::command::{ModifyOrder, PlaceOrder};
use domain::order::{OrderKind, TimeInForce};
use domain::risk::{BurstLimit, RiskLimits, RiskScope};
use domain::{AccountId, Amount, Command, Decimal, ExchangeId, Price, Quantity, SecurityId, SeededRng, StrategyId};

use crate::market::{INACTIVE_ACCOUNT, Market, UNTRADED_SECURITY, cents};
use crate::request_log::Intent;

/// A number that nothing has.
const UNKNOWN: u64 = 9_999;
/// How far a new price may lie from the one before, in cents.
const PRICE_CHANGE_CENTS: i64 = 20;
const DUPLICATES: BurstLimit = BurstLimit { count: 1, millis: 60_000 };

/// Makes one thing of an order wrong.
pub(super) fn spoil(order: &mut PlaceOrder, market: &Market, rng: &mut SeededRng) {
    let opening = market.stocks.iter().find(|stock| stock.security.id == order.security);
    let limit = order.kind.limit().unwrap_or_else(|| cents(opening.map_or(1_000, |stock| stock.opening)));
    match rng.below(11) {
        0 => order.quantity = Quantity(Decimal::new(105, 1)),
        1 => order.kind = OrderKind::Limit { limit: Price(limit.0 + Decimal::new(1, 3)) },
        2 => order.security = SecurityId(UNKNOWN),
        3 => order.account = Some(AccountId(UNKNOWN)),
        // Both can trade it.
        4 => order.account = None,
        5 => order.strategy = Some(StrategyId(UNKNOWN)),
        6 => order.exchange = Some(ExchangeId(UNKNOWN)),
        7 => (order.kind, order.tif) = (OrderKind::Limit { limit }, TimeInForce::Ato),
        8 => {
            (order.kind, order.tif) = (OrderKind::Market, TimeInForce::Day);
            order.properties.post_only = true;
        }
        9 => order.account = Some(INACTIVE_ACCOUNT),
        _ => order.security = UNTRADED_SECURITY,
    }
}

/// A change of an order with a limit changes its price, too.
pub(super) fn change_price(change: &mut ModifyOrder, placed: &PlaceOrder, rng: &mut SeededRng) {
    let away = cents(rng.between(-PRICE_CHANGE_CENTS, PRICE_CHANGE_CENTS));
    change.limit = placed.kind.limit().map(|limit| Price(limit.0 + away.0));
}

/// One limit of an account is tight, until the next such command; or none is any more.
pub(super) fn set_limits(market: &Market, rng: &mut SeededRng) -> (Intent, Command) {
    let (accounts, none) = (&market.accounts, RiskLimits::default());
    let scope = RiskScope::Account(*rng.pick(accounts).unwrap_or(&accounts[0]));
    let security = market.draw_stock(rng).security.id;
    let (what, limits) = match rng.below(8) {
        0 => ("one order a second", RiskLimits { orders_per_second: Some(1), ..none }),
        1 => {
            let most = Some(Quantity::from(10));
            ("small positions", RiskLimits { max_long: most, max_short: most, ..none })
        }
        2 => ("small orders", RiskLimits { max_order_notional: Some(Amount::from(500)), ..none }),
        3 => ("little open", RiskLimits { max_open_notional: Some(Amount::from(1_000)), ..none }),
        4 => ("little exposure", RiskLimits { max_gross_exposure: Some(Amount::from(1_000)), ..none }),
        5 => ("no order twice", RiskLimits { duplicate_guard: Some(DUPLICATES), ..none }),
        6 => ("a restricted security", RiskLimits { restricted_securities: Some([security].into()), ..none }),
        _ => ("no limits", none),
    };
    Intent::operate(format!("{what} for {scope}"), Command::SetLimits { scope, limits })
}
