//! Orders, their status, fills.

use std::borrow::Cow;

use domain::order::OrderLeg;
use domain::{Fill, Liquidity, Order, OrderStatus, Side, Source, TimeInForce};

use crate::json::{ExactDecimal, Millis, exact};
use crate::object_schema::{SchemaVariant, variant};
use crate::value_object::value_object;

value_object! {
    /// An order; `limit` and `stop` stand on the kinds that have them.
    pub struct OrderVO<'a> ("OrderVO", golden)
    from (order: &'a Order) {
        objectType: &'static str [OneOf(ORDER_TYPES)] = order.terms.kind.name(),
        id: u64 = order.id.0,
        intId: &'a str [IntId] = order.int_id.as_str(),
        extId: Option<&'a str> = order.ext_id.as_deref(),
        clOrdId: Option<&'a str> = order.cl_ord_id.as_deref(),
        dateTime: Millis = order.at.into(),
        side: &'static str [OneOf(SIDES)] = side(order.side),
        quantity: ExactDecimal = order.terms.quantity.into(),
        tif: &'static str [OneOf(TIFS)] = order.terms.tif.name(),
        tifDateTime: Option<Millis> = good_till(order.terms.tif),
        exchangeOrder: bool = order.exchange_order,
        exchangeId: u64 = order.exchange.0,
        securityId: u64 = order.security.0,
        accountId: u64 = order.account.0,
        strategyId: u64 = order.strategy.0,
        status: &'static str [OneOf(STATUSES)] = order.status().name(),
        filledQuantity: ExactDecimal = order.filled.into(),
        remainingQuantity: ExactDecimal = order.remaining().into(),
        avgPrice: Option<ExactDecimal> = exact(order.avg_price()),
        reason: Option<&'a str> = order.reason.as_deref(),
        inDoubt: bool = order.in_doubt,
        reference: Option<&'a str> = order.reference.as_deref(),
        source: Cow<'static, str> = source(&order.source),
        submittedBy: Option<&'a str> = order.submitted_by.as_deref(),
        ? limit: ExactDecimal = exact(order.terms.kind.limit()),
        ? stop: ExactDecimal = exact(order.terms.kind.stop()),
        // Properties are present where they are set.
        ? postOnly: bool = order.properties.post_only.then_some(true),
        ? displayQuantity: ExactDecimal = exact(order.properties.display_quantity),
        ? minQuantity: ExactDecimal = exact(order.properties.min_quantity),
        ? reduceOnly: bool = order.properties.reduce_only.then_some(true),
        ? legs: Vec<OrderLegVO<'a>> =
            order.legs.as_ref().map(|legs| legs.0.iter().map(OrderLegVO::from_domain).collect()),
    }
    .with_variants(TYPES)
}

value_object! {
    /// One of the orders at the venue of an order that had several.
    pub struct OrderLegVO<'a> ("OrderLegVO")
    from (leg: &'a OrderLeg) {
        extId: &'a str = &leg.ext_id,
        state: &'static str [OneOf(LEG_STATES)] = leg.state.name(),
        quantity: ExactDecimal = leg.terms.quantity.into(),
        filledQuantity: ExactDecimal = leg.filled.into(),
    }
}

const TYPES: &[SchemaVariant] = &[
    variant("PlacedMarketOrderVO", "An order at the market, as it stands.", &["MarketOrder"], &[]),
    variant("PlacedLimitOrderVO", "An order with a limit, as it stands.", &["LimitOrder"], &["limit"]),
    variant("PlacedStopOrderVO", "An order with a stop, as it stands.", &["StopOrder"], &["stop"]),
    variant(
        "PlacedStopLimitOrderVO",
        "An order with a limit and a stop, as it stands.",
        &["StopLimitOrder"],
        &["limit", "stop"],
    ),
];

value_object! {
    /// What happened to an order.
    pub struct OrderStatusVO<'a> ("OrderStatusVO", golden)
    from (status: &'a OrderStatus) {
        intId: &'a str [IntId] = status.int_id.as_str(),
        extId: Option<&'a str> = status.ext_id.as_deref(),
        orderId: u64 = status.order.0,
        strategyId: u64 = status.strategy.0,
        dateTime: Millis = status.at.into(),
        extDateTime: Option<Millis> = status.ext_at.map(Into::into),
        sequenceNumber: u64 [Whole] = status.sequence,
        status: &'static str [OneOf(STATUSES)] = status.status.name(),
        filledQuantity: ExactDecimal = status.filled.into(),
        remainingQuantity: ExactDecimal = status.remaining.into(),
        lastQuantity: Option<ExactDecimal> = exact(status.last_quantity),
        lastPrice: Option<ExactDecimal> = exact(status.last_price),
        avgPrice: Option<ExactDecimal> = exact(status.avg_price),
        reason: Option<&'a str> = status.reason.as_deref(),
    }
}

value_object! {
    /// A part of an order that was traded.
    pub struct FillVO<'a> ("FillVO", golden)
    from (fill: &'a Fill) {
        orderIntId: &'a str [IntId] = fill.int_id.as_str(),
        extId: &'a str = &fill.ext_id,
        dateTime: Millis = fill.at.into(),
        extDateTime: Option<Millis> = fill.ext_at.map(Into::into),
        sequenceNumber: u64 [Whole] = fill.sequence,
        side: &'static str [OneOf(SIDES)] = side(fill.side),
        quantity: ExactDecimal = fill.quantity.into(),
        price: ExactDecimal = fill.price.into(),
        liquidity: Option<&'static str> [Maybe(&OneOf(LIQUIDITIES))] = fill.liquidity.map(Liquidity::name),
    }
}

pub(crate) fn side(side: Side) -> &'static str {
    match side {
        Side::Buy => "BUY",
        Side::Sell => "SELL",
    }
}

fn good_till(tif: TimeInForce) -> Option<Millis> {
    match tif {
        TimeInForce::Gtd { until } => Some(until.into()),
        _ => None,
    }
}

/// The interface by which an order was received, without the names of clients.
pub fn source_name(source: &Source) -> &'static str {
    match source {
        Source::Rest => "REST",
        Source::Ui => "UI",
        Source::Strategy => "STRATEGY",
        Source::Fix(_) => "FIX",
        Source::Platform => "PLATFORM",
        Source::External => "EXTERNAL",
    }
}

fn source(source: &Source) -> Cow<'static, str> {
    match source {
        Source::Fix(comp_id) => format!("FIX:{comp_id}").into(),
        other => source_name(other).into(),
    }
}
