//! The counterparty of the client's orders: the quantity decides what becomes of one. No order is traded with another one.

use std::collections::{BTreeMap, BTreeSet};

use domain::Decimal;
use fix::tag::Tag;
use fix::{BusinessRejectReason, FixMessage, OutgoingMessage, UtcTimestamp};

/// Requests of one run; a further one is rejected.
pub(super) const CERTIFY_REQUESTS_MAX: usize = 10_000;

/// An order for so many is filled in two executions.
const FILLED_QUANTITY: Decimal = Decimal::from_parts(200, 0, 0, false, 0);
/// An order for so many is rejected; any other one rests.
const REJECTED_QUANTITY: Decimal = Decimal::from_parts(300, 0, 0, false, 0);
/// The price of a fill without a limit.
const MARKET_PRICE: &str = "100";
/// Fields that name the security, as the client sent them.
const INSTRUMENT: [Tag; 3] = [22, 48, 55];

/// What a request was, for the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ClientDeed {
    /// An order rests.
    Placed,
    Filled,
    Rejected,
    Replaced,
    Canceled,
    RepeatedId(String),
    Other,
}

#[derive(Debug, Default)]
pub(super) struct Counterparty {
    orders: Vec<CertifyOrder>,
    /// By every ClOrdID of an order that was accepted.
    by_id: BTreeMap<String, usize>,
    used_ids: BTreeSet<String>,
    executions: u64,
}

#[derive(Debug, Clone)]
struct CertifyOrder {
    order_id: String,
    cl_ord_id: String,
    /// The request that it answers last.
    orig_id: Option<String>,
    instrument: Vec<(Tag, String)>,
    side: String,
    quantity: Decimal,
    filled: Decimal,
    price: String,
    status: &'static str,
}

const NEW: &str = "0";
const PARTIALLY_FILLED: &str = "1";
const FILLED: &str = "2";
const CANCELED: &str = "4";
const REJECTED: &str = "8";

impl CertifyOrder {
    fn is_open(&self) -> bool {
        matches!(self.status, NEW | PARTIALLY_FILLED)
    }

    fn leaves(&self) -> Decimal {
        if self.is_open() { self.quantity - self.filled } else { Decimal::ZERO }
    }
}

impl Counterparty {
    /// What we answer, and what the client did.
    pub(super) fn on_request(
        &mut self,
        message: &FixMessage<'_>,
        now: UtcTimestamp,
    ) -> (Vec<OutgoingMessage>, ClientDeed) {
        match message.msg_type() {
            b"D" | b"F" | b"G" => self.on_order_request(message, now),
            b"H" => (self.status(message, now), ClientDeed::Other),
            _ => {
                let mut answer = OutgoingMessage::new("j");
                BusinessRejectReason::UnsupportedMessageType.reject(message, None, &mut answer);
                (vec![answer], ClientDeed::Other)
            }
        }
    }

    fn on_order_request(&mut self, message: &FixMessage<'_>, now: UtcTimestamp) -> (Vec<OutgoingMessage>, ClientDeed) {
        let id = message.text(11).unwrap_or_default().to_owned();
        if self.used_ids.contains(&id) {
            return match message.flag(fix::tag::POSS_RESEND) {
                true => (self.status(message, now), ClientDeed::Other),
                false => {
                    (vec![self.refuse(message, "6", "the ClOrdID was used before", now)], ClientDeed::RepeatedId(id))
                }
            };
        }
        if self.used_ids.len() >= CERTIFY_REQUESTS_MAX {
            return (
                vec![self.refuse(message, "99", "too many requests for one certification", now)],
                ClientDeed::Other,
            );
        }
        self.used_ids.insert(id);
        match message.msg_type() {
            b"D" => self.place(message, now),
            _ => self.change(message, now),
        }
    }

    fn place(&mut self, message: &FixMessage<'_>, now: UtcTimestamp) -> (Vec<OutgoingMessage>, ClientDeed) {
        let Some(order) = self.order_of(message) else {
            return (vec![self.refuse(message, "13", "OrderQty (38) is missing", now)], ClientDeed::Other);
        };
        if order.quantity == REJECTED_QUANTITY {
            return (vec![self.refuse(message, "99", "the plan rejects this quantity", now)], ClientDeed::Rejected);
        }
        let (at, is_filled) = (self.orders.len(), order.quantity == FILLED_QUANTITY);
        self.by_id.insert(order.cl_ord_id.clone(), at);
        self.orders.push(order);
        let mut answers = vec![self.report(at, "0", &[], now)];
        if !is_filled {
            return (answers, ClientDeed::Placed);
        }
        answers.extend([PARTIALLY_FILLED, FILLED].map(|status| self.fill_half(at, status, now)));
        (answers, ClientDeed::Filled)
    }

    fn fill_half(&mut self, at: usize, status: &'static str, now: UtcTimestamp) -> OutgoingMessage {
        let half = self.orders[at].quantity / Decimal::TWO;
        self.orders[at].filled += half;
        self.orders[at].status = status;
        let price = self.orders[at].price.clone();
        self.report(at, "F", &[(31, price), (32, half.normalize().to_string())], now)
    }

    /// Cancel or replace.
    fn change(&mut self, message: &FixMessage<'_>, now: UtcTimestamp) -> (Vec<OutgoingMessage>, ClientDeed) {
        let known = message.text(41).and_then(|id| self.by_id.get(id).copied());
        let Some(at) = known.filter(|at| self.orders[*at].is_open()) else {
            return (vec![self.refuse(message, "1", "no such order is open", now)], ClientDeed::Other);
        };
        let id = message.text(11).unwrap_or_default().to_owned();
        self.by_id.insert(id.clone(), at);
        let order = &mut self.orders[at];
        order.orig_id = Some(std::mem::replace(&mut order.cl_ord_id, id));
        if message.msg_type() == b"F" {
            order.status = CANCELED;
            return (vec![self.report(at, "4", &[], now)], ClientDeed::Canceled);
        }
        order.quantity = quantity_of(message).unwrap_or(order.quantity);
        order.price = message.text(44).map_or_else(|| order.price.clone(), str::to_owned);
        (vec![self.report(at, "5", &[], now)], ClientDeed::Replaced)
    }

    fn status(&mut self, message: &FixMessage<'_>, now: UtcTimestamp) -> Vec<OutgoingMessage> {
        let known = message.text(11).and_then(|id| self.by_id.get(id).copied());
        match known {
            Some(at) => vec![self.report(at, "I", &[], now)],
            None => vec![self.refuse(message, "5", "there is no such order", now)],
        }
    }

    fn order_of(&self, message: &FixMessage<'_>) -> Option<CertifyOrder> {
        Some(CertifyOrder {
            order_id: format!("C{}", self.orders.len() + 1),
            cl_ord_id: message.text(11)?.to_owned(),
            orig_id: None,
            instrument: instrument_of(message),
            side: message.text(54)?.to_owned(),
            quantity: quantity_of(message)?,
            filled: Decimal::ZERO,
            price: message.text(44).unwrap_or(MARKET_PRICE).to_owned(),
            status: NEW,
        })
    }

    fn report(&mut self, at: usize, exec_type: &str, more: &[(Tag, String)], now: UtcTimestamp) -> OutgoingMessage {
        self.executions += 1;
        let order = &self.orders[at];
        let average = if order.filled.is_zero() { "0" } else { &order.price };
        let mut report = OutgoingMessage::new("8");
        report.field(37, &order.order_id).field(11, &order.cl_ord_id).number(17, self.executions);
        if let Some(orig_id) = &order.orig_id {
            report.field(41, orig_id);
        }
        for (tag, value) in order.instrument.iter().chain(more) {
            report.field(*tag, value);
        }
        report.field(150, exec_type).field(39, order.status).field(54, &order.side).field(6, average);
        let quantities = [(38, order.quantity), (14, order.filled), (151, order.leaves())];
        for (tag, value) in quantities {
            report.display(tag, value.normalize());
        }
        report.time(60, now, 3);
        report
    }

    /// An Execution Report for a new order, an Order Cancel Reject for a cancel or a replace.
    fn refuse(&mut self, message: &FixMessage<'_>, reason: &str, text: &str, now: UtcTimestamp) -> OutgoingMessage {
        self.executions += 1;
        let id = message.text(11).unwrap_or_default();
        if let Some(response_to) = response_to(message.msg_type()) {
            let mut reject = OutgoingMessage::new("9");
            reject.field(37, "NONE").field(11, id).field(41, message.text(41).unwrap_or_default());
            reject.field(39, REJECTED).field(434, response_to).field(102, reason).field(58, text);
            return reject;
        }
        let mut reject = OutgoingMessage::new("8");
        reject.field(37, "NONE").field(11, id).number(17, self.executions).field(150, REJECTED).field(39, REJECTED);
        for (tag, value) in instrument_of(message) {
            reject.field(tag, value);
        }
        reject.field(54, message.text(54).unwrap_or("1")).field(14, "0").field(151, "0").field(6, "0");
        reject.field(103, reason).field(58, text).time(60, now, 3);
        reject
    }
}

/// CxlRejResponseTo (434).
fn response_to(msg_type: &[u8]) -> Option<&'static str> {
    match msg_type {
        b"F" => Some("1"),
        b"G" => Some("2"),
        _ => None,
    }
}

fn quantity_of(message: &FixMessage<'_>) -> Option<Decimal> {
    message
        .text(38)?
        .parse::<Decimal>()
        .ok()
        .filter(|quantity| *quantity > Decimal::ZERO)
        .map(|quantity| quantity.normalize())
}

/// A report has a Symbol (55), also where the order names its security otherwise.
fn instrument_of(message: &FixMessage<'_>) -> Vec<(Tag, String)> {
    let sent = INSTRUMENT.into_iter().filter_map(|tag| Some((tag, message.text(tag)?.to_owned())));
    let mut fields: Vec<(Tag, String)> = sent.collect();
    if !fields.iter().any(|(tag, _)| *tag == 55) {
        fields.push((55, "[N/A]".to_owned()));
    }
    fields
}
