//! Checks of the terms of an order against the rules of its security.

use domain::order::{OrderTerms, Side};
use domain::{Price, Quantity, Refusal, Security};

/// The rules of the security itself.
pub(crate) fn check_terms(security: &Security, terms: &OrderTerms) -> Result<(), Refusal> {
    if !security.tradeable || matches!(security.kind, domain::SecurityKind::Index) {
        return Err(Refusal::NotTradeable(security.id));
    }
    check_quantity(security, terms.quantity)?;
    for (field, price) in [("limit", terms.kind.limit()), ("stop", terms.kind.stop())] {
        price.map_or(Ok(()), |price| check_price(security, field, price))?;
    }
    check_notional(security, terms)
}

fn check_quantity(security: &Security, quantity: Quantity) -> Result<(), Refusal> {
    let (field, value) = ("quantity", quantity.0);
    if !quantity.is_positive() {
        return Err(Refusal::NotPositive { field, value });
    }
    if !quantity.is_multiple_of(security.qty_incr) {
        return Err(Refusal::NotAMultiple { field, value, step: security.qty_incr });
    }
    match (security.min_qty, security.max_qty) {
        (Some(min), _) if quantity < min => Err(Refusal::TooSmall { field, value, limit: min.0 }),
        (_, Some(max)) if quantity > max => Err(Refusal::TooLarge { field, value, limit: max.0 }),
        _ => Ok(()),
    }
}

fn check_price(security: &Security, field: &'static str, price: Price) -> Result<(), Refusal> {
    let value = price.0;
    if !price.is_positive() {
        return Err(Refusal::NotPositive { field, value });
    }
    if !price.is_multiple_of(security.price_incr) {
        return Err(Refusal::NotAMultiple { field, value, step: security.price_incr });
    }
    match (security.min_price, security.max_price) {
        (Some(min), _) if price < min => Err(Refusal::TooSmall { field, value, limit: min.0 }),
        (_, Some(max)) if price > max => Err(Refusal::TooLarge { field, value, limit: max.0 }),
        _ => Ok(()),
    }
}

fn check_notional(security: &Security, terms: &OrderTerms) -> Result<(), Refusal> {
    let price = terms.kind.limit().or(terms.kind.stop());
    let (Some(min), Some(price)) = (security.min_notional, price) else { return Ok(()) };
    let notional = terms.quantity.value_at(price, security.contract_size)?;
    if notional < min {
        return Err(Refusal::TooSmall { field: "notional", value: notional.0, limit: min.0 });
    }
    Ok(())
}

/// The side of a position that an order of this side would lower.
pub(crate) fn is_closing_side(side: Side, position: Quantity) -> bool {
    match side {
        Side::Buy => position.is_negative(),
        Side::Sell => position.is_positive(),
    }
}
