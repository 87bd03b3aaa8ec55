//! Requests to the venue: New Order (D), Cancel (F), Replace (G), Order Status (H), Mass Status (AF); the ids that all requests carry.
//! What the dialect does not offer is refused here, before anything is sent.

use std::fmt;

use domain::order::OrderTerms;
use domain::{Decimal, Order, OrderProperties, OrderProperty, TimeInForce, Timestamp, WireId};
use fix::tag::Tag;
use fix::{OutgoingMessage, UtcTimestamp};

use crate::dialect::{
    Dialect, FieldValue, FixVersion, IdFormat, IdRules, OrderNaming, OrderQuery, PropertyFields, uuid_ids,
};

/// What a request is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestKind {
    New,
    Cancel,
    Replace,
    Status,
    MassStatus,
    TradeCapture,
    Positions,
    MarketData,
}

impl RequestKind {
    const ALL: [Self; 8] = [
        Self::New,
        Self::Cancel,
        Self::Replace,
        Self::Status,
        Self::MassStatus,
        Self::TradeCapture,
        Self::Positions,
        Self::MarketData,
    ];

    /// By its MsgType (35).
    pub(crate) fn of(msg_type: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.msg_type() == msg_type)
    }

    /// Whether it changes an order that the venue has.
    pub(crate) fn changes_order(self) -> bool {
        matches!(self, Self::Cancel | Self::Replace)
    }

    pub fn msg_type(self) -> &'static str {
        match self {
            Self::New => "D",
            Self::Cancel => "F",
            Self::Replace => "G",
            Self::Status => "H",
            Self::MassStatus => "AF",
            Self::TradeCapture => "AD",
            Self::Positions => "AN",
            Self::MarketData => "V",
        }
    }
}

/// What a message needs besides the order.
#[derive(Debug, Clone, Copy)]
pub struct OrderContext<'a> {
    pub symbol: &'a str,
    /// The account's name at the venue.
    pub account: Option<&'a str>,
    pub currency: &'a str,
    pub exchange: Option<&'a str>,
    pub isin: Option<&'a str>,
    pub at: Timestamp,
}

pub fn new_order(
    dialect: &Dialect,
    ids: &ClientIds,
    order: &Order,
    context: &OrderContext<'_>,
) -> Result<OutgoingMessage, RequestRefusal> {
    let mut message = OutgoingMessage::new(RequestKind::New.msg_type());
    message.field(11, ids.write(WireId::newest(ids.instance(), order))?);
    write_instrument(dialect, RequestKind::New, order, context, &mut message);
    write_terms(dialect, order.terms, &mut message)?;
    write_properties(&dialect.orders.properties, order.properties, &mut message)?;
    write_fields(dialect, RequestKind::New, order, context, &mut message)?;
    write_passed(dialect, order, &mut message)?;
    Ok(message)
}

/// `known` is the id by which the venue knows the order now.
pub fn cancel(
    dialect: &Dialect,
    ids: &ClientIds,
    order: &Order,
    known: WireId,
    context: &OrderContext<'_>,
) -> Result<OutgoingMessage, RequestRefusal> {
    if !dialect.orders.cancel {
        return Err(RequestRefusal::new("venue-no-cancel", "the venue takes no cancels"));
    }
    let mut message = OutgoingMessage::new(RequestKind::Cancel.msg_type());
    write_chain(ids, order, known, &mut message)?;
    write_instrument(dialect, RequestKind::Cancel, order, context, &mut message);
    if !dialect.omits(RequestKind::Cancel.msg_type(), 38) {
        message.field(38, digits(order.terms.quantity.0));
    }
    write_fields(dialect, RequestKind::Cancel, order, context, &mut message)?;
    Ok(message)
}

pub fn replace(
    dialect: &Dialect,
    ids: &ClientIds,
    (order, known): (&Order, WireId),
    terms: OrderTerms,
    context: &OrderContext<'_>,
) -> Result<OutgoingMessage, RequestRefusal> {
    if !dialect.orders.replace {
        return Err(RequestRefusal::new("venue-no-replace", "the venue takes no replaces"));
    }
    let mut message = OutgoingMessage::new(RequestKind::Replace.msg_type());
    write_chain(ids, order, known, &mut message)?;
    write_instrument(dialect, RequestKind::Replace, order, context, &mut message);
    write_terms(dialect, terms, &mut message)?;
    write_properties(&dialect.orders.properties, order.properties, &mut message)?;
    write_fields(dialect, RequestKind::Replace, order, context, &mut message)?;
    write_passed(dialect, order, &mut message)?;
    Ok(message)
}

pub fn order_status(
    dialect: &Dialect,
    ids: &ClientIds,
    order: &Order,
    known: WireId,
    context: &OrderContext<'_>,
) -> Result<OutgoingMessage, RequestRefusal> {
    if dialect.recovery.orders != OrderQuery::Status {
        return Err(RequestRefusal::new("venue-no-status", "the venue answers no questions about an order"));
    }
    let mut message = OutgoingMessage::new(RequestKind::Status.msg_type());
    message.field(11, ids.write(known)?);
    write_order_id(order, &mut message);
    message.field(54, dialect.orders.sides.code(order.side)).field(55, context.symbol);
    write_fields(dialect, RequestKind::Status, order, context, &mut message)?;
    Ok(message)
}

/// First letter of MassStatusReqID (584).
pub(crate) const MASS_STATUS_PREFIX: char = 'M';

/// The id of a question: when its adapter was opened, so that it is another one after a restart, and a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuestionId {
    pub begun_millis: u64,
    pub number: u64,
}

impl QuestionId {
    /// Whether an answer to this one answers that one too: it was asked before, or is the same.
    pub fn covers(self, asked: Self) -> bool {
        self.begun_millis == asked.begun_millis && asked.number <= self.number
    }

    /// As the venue sees it; the first letter says what is asked for.
    pub fn text(self, prefix: char) -> String {
        format!("{prefix}{:x}-{}", self.begun_millis, self.number)
    }

    /// `None` for an id that is not ours.
    pub fn read(prefix: char, text: &str) -> Option<Self> {
        let (begun, number) = text.strip_prefix(prefix)?.split_once('-')?;
        Some(Self { begun_millis: u64::from_str_radix(begun, 16).ok()?, number: number.parse().ok()? })
    }
}

/// Asks for all open orders, and for those that have ended where the venue can be asked for them.
pub fn mass_status(dialect: &Dialect, id: QuestionId, with_ended: bool) -> Result<OutgoingMessage, RequestRefusal> {
    if dialect.version == FixVersion::Fix42 {
        return Err(RequestRefusal::new("venue-no-status", "FIX 4.2 has no mass status"));
    }
    let mut message = OutgoingMessage::new(RequestKind::MassStatus.msg_type());
    message.field(584, id.text(MASS_STATUS_PREFIX)).field(585, "7");
    if let Some(tag) = dialect.recovery.ended_orders_tag.filter(|_| with_ended) {
        message.field(tag, "Y");
    }
    write_constants(dialect, RequestKind::MassStatus, &mut message)?;
    Ok(message)
}

fn write_chain(
    ids: &ClientIds,
    order: &Order,
    known: WireId,
    message: &mut OutgoingMessage,
) -> Result<(), RequestRefusal> {
    let newest = WireId::newest(ids.instance(), order);
    if ids.rules.naming == OrderNaming::Venue {
        message.field(11, ids.write(WireId { request: 0, ..newest })?);
        if let Some(ext_id) = order.ext_id.as_deref().filter(|id| is_sendable(id)) {
            message.field(41, ext_id);
        }
        return Ok(());
    }
    message.field(11, ids.write(newest)?).field(41, ids.write(known)?);
    write_order_id(order, message);
    Ok(())
}

fn write_order_id(order: &Order, message: &mut OutgoingMessage) {
    if let Some(ext_id) = order.ext_id.as_deref().filter(|id| is_sendable(id)) {
        message.field(37, ext_id);
    }
}

fn write_instrument(
    dialect: &Dialect,
    kind: RequestKind,
    order: &Order,
    context: &OrderContext<'_>,
    message: &mut OutgoingMessage,
) {
    message.field(55, context.symbol);
    if !dialect.omits(kind.msg_type(), 54) {
        message.field(54, dialect.orders.sides.code(order.side));
    }
    if !dialect.omits(kind.msg_type(), 60) {
        message.time(60, utc(context.at), dialect.session.time_digits);
    }
    if let Some(account) = context.account.filter(|_| dialect.orders.account) {
        message.field(1, account);
    }
}

fn write_terms(dialect: &Dialect, terms: OrderTerms, message: &mut OutgoingMessage) -> Result<(), RequestRefusal> {
    let orders = &dialect.orders;
    let kind = orders.types.code(terms.kind.order_type()).ok_or_else(|| {
        RequestRefusal::new("venue-order-type", format!("the venue has no orders of type {}", terms.kind.name()))
    })?;
    message.field(38, digits(terms.quantity.0)).field(40, kind);
    if orders.has_tif(terms.kind.order_type()) {
        let tif = orders.times_in_force.code(terms.tif.kind()).ok_or_else(|| {
            RequestRefusal::new("venue-tif", format!("the venue has no orders with {}", terms.tif.name()))
        })?;
        message.field(59, tif);
    }
    if let Some(limit) = terms.kind.limit() {
        message.field(44, digits(limit.0));
    }
    if let Some(stop) = terms.kind.stop() {
        message.field(99, digits(stop.0));
    }
    if let TimeInForce::Gtd { until } = terms.tif {
        message.time(126, utc(until), dialect.session.time_digits);
    }
    Ok(())
}

fn write_properties(
    fields: &PropertyFields,
    properties: OrderProperties,
    message: &mut OutgoingMessage,
) -> Result<(), RequestRefusal> {
    let refused = |property: OrderProperty| {
        RequestRefusal::new("venue-property", format!("{}: the venue does not offer it", property.name()))
    };
    for property in properties.needs() {
        let (tag, value) = match property {
            OrderProperty::PostOnly => fields.post_only.clone(),
            OrderProperty::DisplayQuantity => quantity_field(fields.display_quantity, properties.display_quantity),
            OrderProperty::MinQuantity => quantity_field(fields.min_quantity, properties.min_quantity),
        }
        .ok_or_else(|| refused(property))?;
        message.field(tag, value);
    }
    Ok(())
}

fn quantity_field(tag: Option<Tag>, quantity: Option<domain::Quantity>) -> Option<(Tag, String)> {
    Some((tag?, digits(quantity?.0)))
}

fn write_fields(
    dialect: &Dialect,
    kind: RequestKind,
    order: &Order,
    context: &OrderContext<'_>,
    message: &mut OutgoingMessage,
) -> Result<(), RequestRefusal> {
    let value_of = |tag: Tag, wanted: &FieldValue| {
        let value = match wanted {
            FieldValue::Constant(text) => Some(text.clone()),
            FieldValue::Account => context.account.map(str::to_owned),
            FieldValue::Currency => Some(context.currency.to_owned()),
            FieldValue::Exchange => context.exchange.map(str::to_owned),
            FieldValue::Isin => context.isin.map(str::to_owned),
            FieldValue::OrderId => Some(order.int_id.to_string()),
            FieldValue::ClOrdId => Some(order.cl_ord_id.as_deref().unwrap_or(order.int_id.as_str()).to_owned()),
        };
        let reason = match wanted {
            FieldValue::Isin => "the security has no ISIN",
            _ => "there is no value for it",
        };
        let missing = || RequestRefusal::new("venue-field", format!("tag {tag}: {reason}"));
        value.filter(|text| is_sendable(text)).ok_or_else(missing)
    };
    for field in dialect.added().filter(|field| field.is_on(kind.msg_type())) {
        field.filled(value_of)?.write(message);
    }
    Ok(())
}

/// Fields of the dialect on a request that is about no order: texts.
pub(crate) fn write_constants(
    dialect: &Dialect,
    kind: RequestKind,
    message: &mut OutgoingMessage,
) -> Result<(), RequestRefusal> {
    let text = |tag: Tag, value: &FieldValue| match value {
        FieldValue::Constant(text) => Ok(text.clone()),
        _ => Err(RequestRefusal::new("venue-field", format!("tag {tag}: {} is about no order", kind.msg_type()))),
    };
    for field in dialect.added().filter(|field| field.is_on(kind.msg_type())) {
        field.filled(text)?.write(message);
    }
    Ok(())
}

/// Fields of the client that go on as they came. The engine refuses an order whose field the venue does not take; the dialect may have changed
/// since it was accepted.
fn write_passed(dialect: &Dialect, order: &Order, message: &mut OutgoingMessage) -> Result<(), RequestRefusal> {
    for field in order.pass_through.iter().flat_map(|passed| &passed.fields) {
        let tag = Tag::try_from(field.tag).ok().filter(|tag| dialect.orders.pass_through.contains(tag));
        let sendable = tag.filter(|_| is_sendable(&field.value));
        let tag = sendable.ok_or_else(|| {
            RequestRefusal::new("venue-field", format!("tag {}: the venue does not take it", field.tag))
        })?;
        message.field(tag, &*field.value);
    }
    Ok(())
}

/// A value may not hold the delimiter.
fn is_sendable(text: &str) -> bool {
    !text.is_empty() && !text.chars().any(char::is_control)
}

/// Without zeros at the end.
fn digits(number: Decimal) -> String {
    number.normalize().to_string()
}

pub(crate) fn utc(at: Timestamp) -> UtcTimestamp {
    UtcTimestamp::from_nanos(at.0)
}

/// Why a request is not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestRefusal {
    pub code: &'static str,
    pub reason: String,
}

impl RequestRefusal {
    pub(crate) fn new(code: &'static str, reason: impl Into<String>) -> Self {
        Self { code, reason: reason.into() }
    }
}

impl fmt::Display for RequestRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.reason)
    }
}

impl std::error::Error for RequestRefusal {}

/// Separator of a [`WireId`].
const WIRE_SEPARATOR: char = '-';

/// Writes and reads the ids of one installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientIds {
    instance: u64,
    rules: IdRules,
}

impl ClientIds {
    pub fn new(instance: u64, rules: IdRules) -> Self {
        Self { instance, rules }
    }

    pub fn instance(&self) -> u64 {
        self.instance
    }

    pub fn write(&self, id: WireId) -> Result<String, RequestRefusal> {
        if self.rules.format == IdFormat::Uuid {
            return uuid_ids::write(id).ok_or_else(|| {
                RequestRefusal::new("venue-id-length", "the number of the order or of its request does not fit a UUID")
            });
        }
        let text = match self.rules.separator {
            WIRE_SEPARATOR => id.to_string(),
            other => id.to_string().replace(WIRE_SEPARATOR, &other.to_string()),
        };
        if text.len() > self.rules.length_max {
            let reason = format!("{text} has more than the {} characters that the venue takes", self.rules.length_max);
            return Err(RequestRefusal::new("venue-id-length", reason));
        }
        Ok(text)
    }

    /// `None` for an id that is not ours.
    pub fn read(&self, text: &str) -> Option<WireId> {
        if self.rules.format == IdFormat::Uuid {
            return uuid_ids::read(text, self.instance);
        }
        let id: WireId = match self.rules.separator {
            WIRE_SEPARATOR => text.parse().ok()?,
            other => text.replace(other, &WIRE_SEPARATOR.to_string()).parse().ok()?,
        };
        (id.instance == self.instance).then_some(id)
    }
}
