//! Orders, their status, fills.

use std::borrow::Cow;

use domain::{Fill, Order, OrderStatus, Side, Source, TimeInForce};
use serde::Serialize;

use crate::json::{ExactDecimal, Millis, exact};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderVO<'a> {
    object_type: &'static str,
    id: u64,
    int_id: &'a str,
    ext_id: Option<&'a str>,
    cl_ord_id: Option<&'a str>,
    date_time: Millis,
    side: &'static str,
    quantity: ExactDecimal,
    tif: &'static str,
    tif_date_time: Option<Millis>,
    exchange_order: bool,
    exchange_id: u64,
    security_id: u64,
    account_id: u64,
    strategy_id: u64,
    status: &'static str,
    filled_quantity: ExactDecimal,
    remaining_quantity: ExactDecimal,
    avg_price: Option<ExactDecimal>,
    reason: Option<&'a str>,
    in_doubt: bool,
    reference: Option<&'a str>,
    source: Cow<'static, str>,
    submitted_by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<ExactDecimal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop: Option<ExactDecimal>,
    /// Properties are present where they are set.
    #[serde(skip_serializing_if = "is_false")]
    post_only: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    display_quantity: Option<ExactDecimal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_quantity: Option<ExactDecimal>,
    #[serde(skip_serializing_if = "is_false")]
    reduce_only: bool,
}

impl<'a> OrderVO<'a> {
    pub fn from_domain(order: &'a Order) -> Self {
        Self {
            object_type: order.terms.kind.name(),
            id: order.id.0,
            int_id: order.int_id.as_str(),
            ext_id: order.ext_id.as_deref(),
            cl_ord_id: order.cl_ord_id.as_deref(),
            date_time: order.at.into(),
            side: side(order.side),
            quantity: order.terms.quantity.into(),
            tif: order.terms.tif.name(),
            tif_date_time: good_till(order.terms.tif),
            exchange_order: order.exchange_order,
            exchange_id: order.exchange.0,
            security_id: order.security.0,
            account_id: order.account.0,
            strategy_id: order.strategy.0,
            status: order.status().name(),
            filled_quantity: order.filled.into(),
            remaining_quantity: order.remaining().into(),
            avg_price: exact(order.avg_price()),
            reason: order.reason.as_deref(),
            in_doubt: order.in_doubt,
            reference: order.reference.as_deref(),
            source: source(&order.source),
            submitted_by: order.submitted_by.as_deref(),
            limit: exact(order.terms.kind.limit()),
            stop: exact(order.terms.kind.stop()),
            post_only: order.properties.post_only,
            display_quantity: exact(order.properties.display_quantity),
            min_quantity: exact(order.properties.min_quantity),
            reduce_only: order.properties.reduce_only,
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderStatusVO<'a> {
    int_id: &'a str,
    ext_id: Option<&'a str>,
    order_id: u64,
    strategy_id: u64,
    date_time: Millis,
    ext_date_time: Option<Millis>,
    sequence_number: u64,
    status: &'static str,
    filled_quantity: ExactDecimal,
    remaining_quantity: ExactDecimal,
    last_quantity: Option<ExactDecimal>,
    last_price: Option<ExactDecimal>,
    avg_price: Option<ExactDecimal>,
    reason: Option<&'a str>,
}

impl<'a> OrderStatusVO<'a> {
    pub fn from_domain(status: &'a OrderStatus) -> Self {
        Self {
            int_id: status.int_id.as_str(),
            ext_id: status.ext_id.as_deref(),
            order_id: status.order.0,
            strategy_id: status.strategy.0,
            date_time: status.at.into(),
            ext_date_time: status.ext_at.map(Into::into),
            sequence_number: status.sequence,
            status: status.status.name(),
            filled_quantity: status.filled.into(),
            remaining_quantity: status.remaining.into(),
            last_quantity: exact(status.last_quantity),
            last_price: exact(status.last_price),
            avg_price: exact(status.avg_price),
            reason: status.reason.as_deref(),
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FillVO<'a> {
    order_int_id: &'a str,
    ext_id: &'a str,
    date_time: Millis,
    ext_date_time: Option<Millis>,
    sequence_number: u64,
    side: &'static str,
    quantity: ExactDecimal,
    price: ExactDecimal,
}

impl<'a> FillVO<'a> {
    pub fn from_domain(fill: &'a Fill) -> Self {
        Self {
            order_int_id: fill.int_id.as_str(),
            ext_id: &fill.ext_id,
            date_time: fill.at.into(),
            ext_date_time: fill.ext_at.map(Into::into),
            sequence_number: fill.sequence,
            side: side(fill.side),
            quantity: fill.quantity.into(),
            price: fill.price.into(),
        }
    }
}

pub(crate) fn side(side: Side) -> &'static str {
    match side {
        Side::Buy => "BUY",
        Side::Sell => "SELL",
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(flag: &bool) -> bool {
    !flag
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
