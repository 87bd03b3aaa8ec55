//! The order of a first contact: a buy of the smallest size that the venue takes, so far below the market that it does not
//! trade.

use domain::order::OrderTerms;
use domain::{Amount, Decimal, OrderKind, Price, Quantity, Security, TimeInForce};

use crate::venue::VenueOrderRules;

/// The lowest limit as a part of the market price, where the venue names none.
const LOWEST_PART: Decimal = Decimal::ZERO;
const TWO: Decimal = Decimal::TWO;

/// Terms of the order. `limit` is one that somebody chose; otherwise it lies halfway between the market and the lowest
/// price that the venue takes.
pub fn far_terms(
    security: &Security,
    rules: &VenueOrderRules,
    market: Option<Price>,
    limit: Option<Price>,
    tif: TimeInForce,
) -> Result<OrderTerms, String> {
    let limit = match (limit, market) {
        (Some(limit), _) => limit,
        (None, Some(market)) => far_limit(security, rules, market)?,
        (None, None) => return Err("no price is known; name a limit far from the market with --limit".to_owned()),
    };
    if !limit.is_positive() {
        return Err(format!("{limit} is no limit of an order"));
    }
    let quantity = smallest_quantity(security, rules, limit)?;
    Ok(OrderTerms { quantity, kind: OrderKind::Limit { limit }, tif })
}

fn far_limit(security: &Security, rules: &VenueOrderRules, market: Price) -> Result<Price, String> {
    let lowest = rules.lowest_buy.unwrap_or(LOWEST_PART);
    let far = || {
        let part = Decimal::ONE.checked_add(lowest)?.checked_div(TWO)?;
        let tick = rules.tick.unwrap_or(security.price_incr);
        down_to(market.0.checked_mul(part)?, tick)
    };
    let far = far().map(Price).ok_or_else(|| format!("the price {market} is out of range"))?;
    let lowest = rules.price_min.into_iter().chain(security.min_price).fold(far, Price::max);
    if lowest < market { Ok(lowest) } else { Err(format!("no price below the market, {market}, is allowed")) }
}

fn smallest_quantity(security: &Security, rules: &VenueOrderRules, limit: Price) -> Result<Quantity, String> {
    let lot = rules.lot.unwrap_or(security.qty_incr);
    let smallest = || {
        let worth = limit.0.checked_mul(security.contract_size)?;
        let by_value = |value: Amount| value.0.checked_div(worth);
        let values: Option<Vec<Decimal>> =
            rules.notional_min.into_iter().chain(security.min_notional).map(by_value).collect();
        let bounds = rules.quantity_min.into_iter().chain(security.min_qty).map(|quantity| quantity.0);
        let smallest = bounds.chain(values?).fold(lot, Decimal::max);
        up_to(smallest, lot)
    };
    let smallest = smallest().ok_or_else(|| format!("the smallest quantity at {limit} is out of range"))?;
    Ok(Quantity(if smallest.is_zero() { Decimal::ONE } else { smallest }))
}

/// The next multiple of the step below; a step of zero restricts nothing.
fn down_to(amount: Decimal, step: Decimal) -> Option<Decimal> {
    if step.is_zero() { Some(amount) } else { amount.checked_div(step)?.floor().checked_mul(step) }
}

fn up_to(amount: Decimal, step: Decimal) -> Option<Decimal> {
    if step.is_zero() { Some(amount) } else { amount.checked_div(step)?.ceil().checked_mul(step) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    /// Quantity and limit, or the reason.
    fn far(security: &Security, rules: &VenueOrderRules, market: Option<&str>, limit: Option<&str>) -> String {
        let price = |text: Option<&str>| text.map(|text| text.parse().unwrap());
        match far_terms(security, rules, price(market), price(limit), TimeInForce::Day) {
            Ok(terms) => format!("{} at {}", terms.quantity, terms.kind.limit().unwrap()),
            Err(reason) => reason,
        }
    }

    fn bitcoin() -> Security {
        Security { qty_incr: decimal("0.00001"), price_incr: decimal("0.01"), ..samples::stock(1, "BTC") }
    }

    #[test]
    fn the_venue_s_rules_count_before_those_of_the_reference_data() {
        let rules = VenueOrderRules {
            tick: Some(decimal("0.1")),
            lot: Some(decimal("0.001")),
            quantity_min: Some(Quantity(decimal("0.001"))),
            notional_min: Some(Amount(decimal("5"))),
            price_min: None,
            lowest_buy: Some(decimal("0.2")),
        };
        // 60 % of the market, and 5 / 36,000.06 in whole lots.
        assert_eq!(far(&bitcoin(), &rules, Some("60000.11"), None), "0.001 at 36000");
        let finer = VenueOrderRules { lot: Some(decimal("0.00001")), quantity_min: None, ..rules };
        assert_eq!(far(&bitcoin(), &finer, Some("60000.11"), None), "0.00014 at 36000");
        let narrow = VenueOrderRules { lowest_buy: Some(decimal("0.9")), ..finer };
        assert_eq!(far(&bitcoin(), &narrow, Some("1"), None), "5.55556 at 0.9");
    }

    #[test]
    fn without_rules_of_the_venue_the_reference_data_says_what_is_small() {
        let none = VenueOrderRules::default();
        assert_eq!(far(&bitcoin(), &none, Some("60000.03"), None), "0.00001 at 30000.01");
        let stock = samples::stock(1, "TEST");
        assert_eq!(far(&stock, &none, Some("10"), None), "1 at 5");
        let sized = Security { min_qty: Some(Quantity(decimal("100"))), ..stock.clone() };
        assert_eq!(far(&sized, &none, Some("10"), None), "100 at 5");
        let bounded = Security { min_price: Some("7".parse().unwrap()), ..stock };
        assert_eq!(far(&bounded, &none, Some("10"), None), "1 at 7");
    }

    #[test]
    fn a_chosen_limit_counts_and_without_any_price_there_is_no_order() {
        let (stock, none) = (samples::stock(1, "TEST"), VenueOrderRules::default());
        assert_eq!(far(&stock, &none, None, Some("3")), "1 at 3");
        assert_eq!(far(&stock, &none, Some("10"), Some("3")), "1 at 3");
        assert_eq!(far(&stock, &none, None, Some("0")), "0 is no limit of an order");
        let unpriced = "no price is known; name a limit far from the market with --limit";
        assert_eq!(far(&stock, &none, None, None), unpriced);
        let bounded = Security { min_price: Some("12".parse().unwrap()), ..stock };
        assert_eq!(far(&bounded, &none, Some("10"), None), "no price below the market, 10, is allowed");
    }
}
