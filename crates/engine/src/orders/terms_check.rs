//! Checks of the terms of an order against the rules of its security.

use domain::order::{OrderTerms, Side};
use domain::{OrderProperties, OrderProperty, OrderType, Price, Quantity, Refusal, Security, TimeInForce};

/// The rules of the security itself.
pub(crate) fn check_terms(security: &Security, terms: &OrderTerms) -> Result<(), Refusal> {
    if !security.tradeable || matches!(security.kind, domain::SecurityKind::Index) {
        return Err(Refusal::NotTradeable(security.id));
    }
    check_quantity(security, terms.quantity)?;
    terms.kind.prices().try_for_each(|(field, price)| check_price(security, field, price))?;
    check_notional(security, terms)
}

/// Which properties go with which terms.
pub(crate) fn check_properties(
    security: &Security,
    terms: &OrderTerms,
    properties: &OrderProperties,
) -> Result<(), Refusal> {
    if properties.post_only {
        check_type(OrderProperty::PostOnly, terms.kind.order_type())?;
        check_rests("postOnly", terms.tif)?;
    }
    if let Some(shown) = properties.display_quantity {
        check_type(OrderProperty::DisplayQuantity, terms.kind.order_type())?;
        check_rests("displayQuantity", terms.tif)?;
        check_part(security, "displayQuantity", shown, terms.quantity)?;
    }
    if let Some(least) = properties.min_quantity {
        check_type(OrderProperty::MinQuantity, terms.kind.order_type())?;
        check_tif("minQuantity", terms.tif, terms.tif == TimeInForce::Ioc)?;
        check_part(security, "minQuantity", least, terms.quantity)?;
    }
    Ok(())
}

fn check_type(property: OrderProperty, order_type: OrderType) -> Result<(), Refusal> {
    match order_type.allows(property) {
        true => Ok(()),
        false => Err(Refusal::PropertyNotAllowed { property: property.name(), with: order_type.name() }),
    }
}

/// Only an order that rests in the book can be shown in part, or be the one that others trade with.
fn check_rests(property: &'static str, tif: TimeInForce) -> Result<(), Refusal> {
    check_tif(property, tif, matches!(tif, TimeInForce::Day | TimeInForce::Gtc | TimeInForce::Gtd { .. }))
}

fn check_tif(property: &'static str, tif: TimeInForce, is_allowed: bool) -> Result<(), Refusal> {
    if is_allowed { Ok(()) } else { Err(Refusal::PropertyNotAllowed { property, with: tif.name() }) }
}

/// A part of the order's quantity.
fn check_part(security: &Security, field: &'static str, part: Quantity, whole: Quantity) -> Result<(), Refusal> {
    check_step(security, field, part)?;
    if part > whole { Err(Refusal::TooLarge { field, value: part.0, limit: whole.0 }) } else { Ok(()) }
}

fn check_step(security: &Security, field: &'static str, quantity: Quantity) -> Result<(), Refusal> {
    let value = quantity.0;
    if !quantity.is_positive() {
        return Err(Refusal::NotPositive { field, value });
    }
    if !quantity.is_multiple_of(security.qty_incr) {
        return Err(Refusal::NotAMultiple { field, value, step: security.qty_incr });
    }
    Ok(())
}

fn check_quantity(security: &Security, quantity: Quantity) -> Result<(), Refusal> {
    let (field, value) = ("quantity", quantity.0);
    check_step(security, field, quantity)?;
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
    let (Some(min), Some(price)) = (security.min_notional, terms.kind.own_price()) else { return Ok(()) };
    let notional = terms.quantity.value_at(price, security.contract_size)?;
    if notional < min {
        return Err(Refusal::TooSmall { field: "notional", value: notional.0, limit: min.0 });
    }
    Ok(())
}

/// Whether an order with these terms can stay at the venue for a while: it neither trades nor ends at once.
pub(crate) fn may_rest(terms: &OrderTerms) -> bool {
    match (terms.tif, terms.kind) {
        (TimeInForce::Ioc | TimeInForce::Fok, _) => false,
        (TimeInForce::Ato | TimeInForce::Atc, _) => true,
        (_, kind) => !kind.never_rests(),
    }
}

/// The side of a position that an order of this side would lower.
pub(crate) fn is_closing_side(side: Side, position: Quantity) -> bool {
    match side {
        Side::Buy => position.is_negative(),
        Side::Sell => position.is_positive(),
    }
}
