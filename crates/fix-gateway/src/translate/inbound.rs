//! Inbound orders: New Order Single (D), Order Cancel/Replace Request (G), Order Cancel Request (F), Order Mass Cancel
//! Request (q).

use domain::command::{
    CancelOrder, Command, MassCancelRequest, ModifyOrder, PlaceOrder, RejectedRequest, RestatedFields,
};
use domain::{
    Calendar, IntId, OrderKind, OrderProperties, OrderType, PassThrough, PassedField, Price, PriceField, Quantity,
    ReferenceData, Security, Side, Text, TimeInForce,
};
use fix::tag::Tag;
use fix::{FixMessage, GatewaySettings};

use super::field::{
    CL_ORD_ID, EXCHANGE_ORDER, EXEC_INST, EXPIRE_DATE, EXPIRE_TIME, MAX_FLOOR, MIN_QTY, ORD_TYPE, ORDER_ID, ORDER_QTY,
    ORIG_CL_ORD_ID, POST_ONLY, PRICE, REDUCE_ONLY, SIDE, STOP_PX, SYMBOL, TIME_IN_FORCE, TRANSACT_TIME, ord_type,
    ord_types,
};
use super::field_reader::{MessageReject, date, decimal, flag, required, text_field, time};
use super::messages::{CommandClass, RefusalForm};
use super::reject_codes::{UNKNOWN_ORDER, UNSUPPORTED};
use super::request_echo::RequestEcho;
use super::resolve;
use super::scope::RequestScope;
use super::terms;

/// The session of a message, as far as its commands depend on it.
pub(crate) struct SessionTerms<'a> {
    pub(crate) reference: &'a ReferenceData,
    pub(crate) rules: &'a GatewaySettings,
    /// The strategy that the client is bound to.
    pub(crate) strategy: Option<&'a Text>,
}

/// The command that a message means.
pub(crate) fn command(
    class: CommandClass,
    message: &FixMessage<'_>,
    session: &SessionTerms<'_>,
) -> Result<Command, MessageReject> {
    let SessionTerms { reference, rules, strategy } = *session;
    match class {
        CommandClass::Place => order(message, reference, rules, strategy).map(Command::Place),
        CommandClass::Modify => replace(message, reference, rules).map(Command::Modify),
        CommandClass::Cancel => cancel(message, reference).map(Command::Cancel),
        CommandClass::MassCancel => mass_cancel(message, reference).map(Command::MassCancel),
    }
}

/// A new order; the engine applies the defaults, the same for every interface.
fn order(
    message: &FixMessage<'_>,
    reference: &ReferenceData,
    rules: &GatewaySettings,
    bound_to: Option<&Text>,
) -> Result<PlaceOrder, MessageReject> {
    let cl_ord_id = cl_ord_id(message)?;
    let side = side(message)?;
    let quantity = quantity(message)?;
    let kind = order_kind(message, rules)?;
    required(message, TRANSACT_TIME)?;
    time(message, TRANSACT_TIME)?;
    let security = resolve::security(message, reference)?.ok_or_else(|| MessageReject::missing(SYMBOL))?;
    terms::check(message, Some(security), rules)?;
    Ok(PlaceOrder {
        int_id: None,
        cl_ord_id: Some(cl_ord_id),
        security: security.id,
        account: resolve::account(message, reference)?,
        strategy: resolve::strategy(message, reference, bound_to)?,
        exchange: resolve::destination(message, reference)?,
        side,
        quantity,
        kind,
        tif: time_in_force(message, reference, Some(security))?.unwrap_or(TimeInForce::Day),
        exchange_order: flag(message, EXCHANGE_ORDER)?,
        reference: None,
        properties: properties(message)?,
        pass_through: pass_through(message, rules),
    })
}

/// New terms for an order; all of them are stated anew, except for a time in force that stays.
fn replace(
    message: &FixMessage<'_>,
    reference: &ReferenceData,
    rules: &GatewaySettings,
) -> Result<ModifyOrder, MessageReject> {
    let cl_ord_id = cl_ord_id(message)?;
    let int_id = target_order(message)?;
    let kind = order_kind(message, rules)?;
    let security = resolve::security(message, reference)?;
    terms::check(message, security.map(|security| &**security), rules)?;
    time(message, TRANSACT_TIME)?;
    let (properties, is_instructed) = (properties(message)?, text_field(message, EXEC_INST).is_some());
    let restated = RestatedFields {
        side: Some(side(message)?),
        security: security.map(|security| security.id),
        account: resolve::account(message, reference)?,
        kind: Some(kind),
        strategy: resolve::strategy(message, reference, None)?,
        exchange: resolve::destination(message, reference)?,
        order: order_id_beside(message),
        post_only: is_instructed.then_some(properties.post_only),
        display_quantity: properties.display_quantity,
        min_quantity: properties.min_quantity,
        reduce_only: is_instructed.then_some(properties.reduce_only),
        pass_through: pass_through(message, rules),
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
fn cancel(message: &FixMessage<'_>, reference: &ReferenceData) -> Result<CancelOrder, MessageReject> {
    let cl_ord_id = cl_ord_id(message)?;
    let int_id = target_order(message)?;
    let restated = RestatedFields {
        side: message.get(SIDE).map(|_| side(message)).transpose()?,
        security: resolve::security_if_given(message, reference)?,
        order: order_id_beside(message),
        ..RestatedFields::default()
    };
    time(message, TRANSACT_TIME)?;
    Ok(CancelOrder { int_id, cl_ord_id: Some(cl_ord_id), restated })
}

/// An unreadable request is answered by the engine, which knows the state of the order; also one whose id was used
/// before.
pub(crate) fn decline(echo: &RequestEcho, reject: MessageReject) -> Result<Command, MessageReject> {
    let order = match echo.refused_with() {
        RefusalForm::CancelReject(_) => echo.target_order().map(Text::from),
        RefusalForm::RejectedOrder => echo.get(CL_ORD_ID).map(Text::from),
        RefusalForm::MassCancelReport | RefusalForm::BusinessReject => return Err(reject),
    };
    Ok(Command::RejectRequest(RejectedRequest { order, code: reject.code.into(), text: reject.text.into() }))
}

/// The scope of a mass cancel.
fn mass_cancel(message: &FixMessage<'_>, reference: &ReferenceData) -> Result<MassCancelRequest, MessageReject> {
    let cl_ord_id = text_field(message, CL_ORD_ID).map(Text::from);
    RequestScope::from_message(message, reference)
        .map(|scope| MassCancelRequest { security: scope.security(), cl_ord_id })
}

/// A ClOrdID can become the platform's id of the order, and so obeys the same rule.
fn cl_ord_id(message: &FixMessage<'_>) -> Result<Text, MessageReject> {
    let value = required(message, CL_ORD_ID)?;
    let id = std::str::from_utf8(value).ok().and_then(|text| text.parse::<IntId>().ok());
    let id =
        id.ok_or_else(|| MessageReject::invalid(CL_ORD_ID, value, "1 to 64 printable characters without a blank"))?;
    Ok(id.as_str().into())
}

/// The order of a request, by any ClOrdID of its chain, or by its OrderID (37).
fn target_order(message: &FixMessage<'_>) -> Result<IntId, MessageReject> {
    let named = text_field(message, ORIG_CL_ORD_ID).or_else(|| text_field(message, ORDER_ID));
    let name = named.ok_or_else(|| MessageReject::missing(ORIG_CL_ORD_ID))?;
    name.parse().map_err(|_| MessageReject::new(UNKNOWN_ORDER, "unknown-order", &format!("order {name} is not known")))
}

/// OrderID (37) beside OrigClOrdID (41): the engine checks that both identify the same order.
fn order_id_beside(message: &FixMessage<'_>) -> Option<Text> {
    text_field(message, ORIG_CL_ORD_ID).and_then(|_| text_field(message, ORDER_ID)).map(Text::from)
}

/// ExecInst (18) is a list; the terms were checked to be known.
fn properties(message: &FixMessage<'_>) -> Result<OrderProperties, MessageReject> {
    let instructions = text_field(message, EXEC_INST).unwrap_or_default();
    let has = |wanted: &str| instructions.split(' ').any(|value| value == wanted);
    Ok(OrderProperties {
        post_only: has(POST_ONLY),
        display_quantity: decimal(message, MAX_FLOOR)?.map(Quantity),
        min_quantity: decimal(message, MIN_QTY)?.map(Quantity).filter(|least| !least.is_zero()),
        reduce_only: has(REDUCE_ONLY),
    })
}

/// Fields that the session lets go on to the venue; their values were checked with the terms.
fn pass_through(message: &FixMessage<'_>, rules: &GatewaySettings) -> Option<Box<PassThrough>> {
    let field = |tag: &Tag| {
        let value = text_field(message, *tag).filter(|value| !value.is_empty())?;
        Some(PassedField { tag: u32::try_from(*tag).ok()?, value: value.into() })
    };
    PassThrough::new(rules.pass_through.iter().filter_map(field).collect())
}

fn side(message: &FixMessage<'_>) -> Result<Side, MessageReject> {
    match required(message, SIDE)? {
        b"1" => Ok(Side::Buy),
        b"2" => Ok(Side::Sell),
        other => Err(MessageReject::invalid(SIDE, other, "1 (buy) or 2 (sell)")),
    }
}

fn quantity(message: &FixMessage<'_>) -> Result<Quantity, MessageReject> {
    decimal(message, ORDER_QTY)?.map(Quantity).ok_or_else(|| MessageReject::missing(ORDER_QTY))
}

fn order_kind(message: &FixMessage<'_>, rules: &GatewaySettings) -> Result<OrderKind, MessageReject> {
    let value = required(message, ORD_TYPE)?;
    let known = OrderType::ALL.into_iter().find(|order_type| ord_type(*order_type).0.as_bytes() == value);
    let order_type = known.ok_or_else(|| MessageReject::invalid(ORD_TYPE, value, &ord_types()))?;
    let (code, _) = ord_type(order_type);
    if !rules.valid_order_types.iter().any(|offered| code.starts_with(*offered)) {
        let text = format!("OrdType (40) {code} is not offered on this session");
        return Err(MessageReject::new(UNSUPPORTED, "order-type-not-offered", &text));
    }
    let (limit, stop) = prices(message, order_type)?;
    order_type.with_prices(limit, stop).map_err(|missing| MessageReject::missing(price_tag(missing)))
}

fn price_tag(field: PriceField) -> Tag {
    match field {
        PriceField::Limit => PRICE,
        PriceField::Stop => STOP_PX,
    }
}

/// Limit and stop, as far as the type has them; another price is rejected: it would have no effect.
fn prices(message: &FixMessage<'_>, order_type: OrderType) -> Result<(Option<Price>, Option<Price>), MessageReject> {
    for field in [PriceField::Limit, PriceField::Stop] {
        if !order_type.has(field) {
            check_absent(message, price_tag(field))?;
        }
    }
    let price = |field| match order_type.has(field) {
        true => decimal(message, price_tag(field))?
            .map(Price)
            .ok_or_else(|| MessageReject::missing(price_tag(field)))
            .map(Some),
        false => Ok(None),
    };
    Ok((price(PriceField::Limit)?, price(PriceField::Stop)?))
}

fn check_absent(message: &FixMessage<'_>, tag: Tag) -> Result<(), MessageReject> {
    message.get(tag).map_or(Ok(()), |_| Err(MessageReject::unexpected(tag)))
}

fn time_in_force(
    message: &FixMessage<'_>,
    reference: &ReferenceData,
    security: Option<&Security>,
) -> Result<Option<TimeInForce>, MessageReject> {
    let Some(value) = message.get(TIME_IN_FORCE).filter(|value| !value.is_empty()) else { return Ok(None) };
    Ok(Some(match value {
        b"0" => TimeInForce::Day,
        b"1" => TimeInForce::Gtc,
        b"2" => TimeInForce::Ato,
        b"3" => TimeInForce::Ioc,
        b"4" => TimeInForce::Fok,
        b"6" => good_till(message, reference, security)?,
        b"7" => TimeInForce::Atc,
        other => return Err(MessageReject::invalid(TIME_IN_FORCE, other, "0, 1, 2, 3, 4, 6 or 7")),
    }))
}

/// Good till an instant (126), or till the close of the exchange on a day (432).
fn good_till(
    message: &FixMessage<'_>,
    reference: &ReferenceData,
    security: Option<&Security>,
) -> Result<TimeInForce, MessageReject> {
    if let Some(until) = time(message, EXPIRE_TIME)? {
        return Ok(TimeInForce::Gtd { until });
    }
    let day = date(message, EXPIRE_DATE)?.ok_or_else(|| MessageReject::missing(EXPIRE_TIME))?;
    let exchange = security.and_then(|security| reference.exchanges.get(&security.exchange));
    let calendar = exchange.and_then(|exchange| Calendar::new(exchange.clone()).ok());
    let close = calendar.and_then(|calendar| calendar.close_of(day));
    let shown = message.get(EXPIRE_DATE).unwrap_or_default();
    close
        .map(|until| TimeInForce::Gtd { until })
        .ok_or_else(|| MessageReject::invalid(EXPIRE_DATE, shown, "a trading day"))
}
