//! Inbound orders: New Order Single (D), Order Cancel/Replace Request (G), Order Cancel Request (F), Order Mass Cancel
//! Request (q).

use domain::command::{CancelOrder, CancelOwn, Command, DeclineRequest, ModifyOrder, PlaceOrder, Restated};
use domain::{Calendar, IntId, OrderKind, Price, Quantity, ReferenceData, Security, Side, Text, TimeInForce};
use fix::tag::Tag;
use fix::{GatewaySettings, Message};

use super::field::{
    CL_ORD_ID, EXCHANGE_ORDER, EXPIRE_DATE, EXPIRE_TIME, ORD_TYPE, ORDER_ID, ORDER_QTY, ORIG_CL_ORD_ID, PRICE, SIDE,
    STOP_PX, SYMBOL, TIME_IN_FORCE, TRANSACT_TIME,
};
use super::memo::Memo;
use super::naming;
use super::reading::{Complaint, date, decimal, flag, required, text_of, time};
use super::reasons::{UNKNOWN_ORDER, UNSUPPORTED};
use super::scope::Scope;
use super::terms;

/// A new order; the engine applies the defaults, the same for every interface.
pub(crate) fn order(
    message: &Message<'_>,
    reference: &ReferenceData,
    rules: &GatewaySettings,
    bound_to: Option<&Text>,
) -> Result<PlaceOrder, Complaint> {
    let cl_ord_id = cl_ord_id(message)?;
    let side = side(message)?;
    let quantity = quantity(message)?;
    let kind = kind(message, rules)?;
    required(message, TRANSACT_TIME)?;
    time(message, TRANSACT_TIME)?;
    let security = naming::security(message, reference)?.ok_or_else(|| Complaint::missing(SYMBOL))?;
    terms::check(message, Some(security), rules)?;
    Ok(PlaceOrder {
        int_id: None,
        cl_ord_id: Some(cl_ord_id),
        security: security.id,
        account: naming::account(message, reference)?,
        strategy: naming::strategy(message, reference, bound_to)?,
        exchange: naming::destination(message, reference)?,
        side,
        quantity,
        kind,
        tif: time_in_force(message, reference, Some(security))?.unwrap_or(TimeInForce::Day),
        exchange_order: flag(message, EXCHANGE_ORDER)?,
        reference: None,
    })
}

/// New terms for an order; all of them are stated anew, except for a time in force that stays.
pub(crate) fn replace(
    message: &Message<'_>,
    reference: &ReferenceData,
    rules: &GatewaySettings,
) -> Result<ModifyOrder, Complaint> {
    let cl_ord_id = cl_ord_id(message)?;
    let int_id = meant(message)?;
    let kind = kind(message, rules)?;
    let security = naming::security(message, reference)?;
    terms::check(message, security.map(|security| &**security), rules)?;
    time(message, TRANSACT_TIME)?;
    let restated = Restated {
        side: Some(side(message)?),
        security: security.map(|security| security.id),
        account: naming::account(message, reference)?,
        kind: Some(kind),
        strategy: naming::strategy(message, reference, None)?,
        exchange: naming::destination(message, reference)?,
        order: second_name(message),
    };
    Ok(ModifyOrder {
        int_id,
        cl_ord_id: Some(cl_ord_id),
        quantity: Some(quantity(message)?),
        limit: kind.limit(),
        stop: kind.stop(),
        tif: time_in_force(message, reference, security.map(|security| &**security))?,
        restated,
        reference: None,
    })
}

/// A cancel needs only two ids; other fields must be readable, and must match the order.
pub(crate) fn cancel(message: &Message<'_>, reference: &ReferenceData) -> Result<CancelOrder, Complaint> {
    let cl_ord_id = cl_ord_id(message)?;
    let int_id = meant(message)?;
    let restated = Restated {
        side: message.get(SIDE).map(|_| side(message)).transpose()?,
        security: naming::security_if_told(message, reference)?,
        order: second_name(message),
        ..Restated::default()
    };
    time(message, TRANSACT_TIME)?;
    Ok(CancelOrder { int_id, cl_ord_id: Some(cl_ord_id), restated })
}

/// An unreadable request is answered by the engine, which knows the state of the order; also one whose id was used
/// before.
pub(crate) fn declined(memo: &Memo, complaint: Complaint) -> Result<Command, Complaint> {
    let order = match memo {
        memo if memo.is_request() => memo.order_meant().map(Text::from),
        memo if memo.is_new_order() => memo.get(CL_ORD_ID).map(Text::from),
        _ => return Err(complaint),
    };
    Ok(Command::Decline(DeclineRequest { order, code: complaint.code.into(), text: complaint.text.into() }))
}

/// The scope of a mass cancel.
pub(crate) fn mass_cancel(message: &Message<'_>, reference: &ReferenceData) -> Result<CancelOwn, Complaint> {
    let cl_ord_id = text_of(message, CL_ORD_ID).map(Text::from);
    Scope::of(message, reference).map(|scope| CancelOwn { security: scope.security(), cl_ord_id })
}

/// A ClOrdID can become the platform's id of the order, and so obeys the same rule.
fn cl_ord_id(message: &Message<'_>) -> Result<Text, Complaint> {
    let value = required(message, CL_ORD_ID)?;
    let id = std::str::from_utf8(value).ok().and_then(|text| text.parse::<IntId>().ok());
    let id = id.ok_or_else(|| Complaint::bad(CL_ORD_ID, value, "1 to 64 printable characters without a blank"))?;
    Ok(id.as_str().into())
}

/// The order of a request, by any ClOrdID of its chain, or by its OrderID (37).
fn meant(message: &Message<'_>) -> Result<IntId, Complaint> {
    let named = text_of(message, ORIG_CL_ORD_ID).or_else(|| text_of(message, ORDER_ID));
    let name = named.ok_or_else(|| Complaint::missing(ORIG_CL_ORD_ID))?;
    name.parse().map_err(|_| Complaint::new(UNKNOWN_ORDER, "unknown-order", &format!("order {name} is not known")))
}

/// OrderID (37) beside OrigClOrdID (41): the engine checks that both identify the same order.
fn second_name(message: &Message<'_>) -> Option<Text> {
    text_of(message, ORIG_CL_ORD_ID).and_then(|_| text_of(message, ORDER_ID)).map(Text::from)
}

fn side(message: &Message<'_>) -> Result<Side, Complaint> {
    match required(message, SIDE)? {
        b"1" => Ok(Side::Buy),
        b"2" => Ok(Side::Sell),
        other => Err(Complaint::bad(SIDE, other, "1 (buy) or 2 (sell)")),
    }
}

fn quantity(message: &Message<'_>) -> Result<Quantity, Complaint> {
    decimal(message, ORDER_QTY)?.map(Quantity).ok_or_else(|| Complaint::missing(ORDER_QTY))
}

fn kind(message: &Message<'_>, rules: &GatewaySettings) -> Result<OrderKind, Complaint> {
    let value = required(message, ORD_TYPE)?;
    let offered = |wanted: char| rules.valid_order_types.contains(&wanted);
    let limit = || price(message, PRICE);
    let stop = || price(message, STOP_PX);
    match value {
        [kind @ b'1'..=b'4'] if !offered(char::from(*kind)) => {
            let text = format!("OrdType (40) {} is not offered on this session", char::from(*kind));
            Err(Complaint::new(UNSUPPORTED, "order-type-not-offered", &text))
        }
        b"1" => absent(message, PRICE).and_then(|()| absent(message, STOP_PX)).map(|()| OrderKind::Market),
        b"2" => absent(message, STOP_PX).and_then(|()| Ok(OrderKind::Limit { limit: limit()? })),
        b"3" => absent(message, PRICE).and_then(|()| Ok(OrderKind::Stop { stop: stop()? })),
        b"4" => Ok(OrderKind::StopLimit { limit: limit()?, stop: stop()? }),
        other => Err(Complaint::bad(ORD_TYPE, other, "1 (market), 2 (limit), 3 (stop) or 4 (stop limit)")),
    }
}

fn price(message: &Message<'_>, tag: Tag) -> Result<Price, Complaint> {
    decimal(message, tag)?.map(Price).ok_or_else(|| Complaint::missing(tag))
}

fn absent(message: &Message<'_>, tag: Tag) -> Result<(), Complaint> {
    message.get(tag).map_or(Ok(()), |_| Err(Complaint::surplus(tag)))
}

fn time_in_force(
    message: &Message<'_>,
    reference: &ReferenceData,
    security: Option<&Security>,
) -> Result<Option<TimeInForce>, Complaint> {
    let Some(value) = message.get(TIME_IN_FORCE).filter(|value| !value.is_empty()) else { return Ok(None) };
    Ok(Some(match value {
        b"0" => TimeInForce::Day,
        b"1" => TimeInForce::Gtc,
        b"2" => TimeInForce::Ato,
        b"3" => TimeInForce::Ioc,
        b"4" => TimeInForce::Fok,
        b"6" => until(message, reference, security)?,
        b"7" => TimeInForce::Atc,
        other => return Err(Complaint::bad(TIME_IN_FORCE, other, "0, 1, 2, 3, 4, 6 or 7")),
    }))
}

/// Good till an instant (126), or till the close of the exchange on a day (432).
fn until(
    message: &Message<'_>,
    reference: &ReferenceData,
    security: Option<&Security>,
) -> Result<TimeInForce, Complaint> {
    if let Some(until) = time(message, EXPIRE_TIME)? {
        return Ok(TimeInForce::Gtd { until });
    }
    let day = date(message, EXPIRE_DATE)?.ok_or_else(|| Complaint::missing(EXPIRE_TIME))?;
    let exchange = security.and_then(|security| reference.exchanges.get(&security.exchange));
    let calendar = exchange.and_then(|exchange| Calendar::new(exchange.clone()).ok());
    let close = calendar.and_then(|calendar| calendar.close_of(day));
    let shown = message.get(EXPIRE_DATE).unwrap_or_default();
    close.map(|until| TimeInForce::Gtd { until }).ok_or_else(|| Complaint::bad(EXPIRE_DATE, shown, "a trading day"))
}
