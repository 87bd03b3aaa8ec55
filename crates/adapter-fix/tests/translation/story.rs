//! A session in a few words: what we send and what the venue answers, without header and trailer.

use adapter_fix::{
    Dialect, FixTranslator, InboundMeaning, OrderContext, RequestRefusal, SentRequest, cancel, new_order, replace,
};
use domain::order::OrderTerms;
use domain::report::{FilledTotal, InquiryResult, ReportKind, VenueFill};
use domain::{Order, OrderKind, TimeInForce, Timestamp, WireId};
use fix::{FixDecoder, OutgoingMessage};

pub(crate) const INSTANCE: u64 = 7;
pub(crate) const NOW: &str = "2026-11-16T12:00:00Z";

pub(crate) fn context() -> OrderContext<'static> {
    let at = NOW.parse().unwrap();
    OrderContext {
        symbol: "MSFT",
        account: Some("DESK"),
        currency: "USD",
        exchange: Some("XNAS"),
        isin: Some("US5949181045"),
        at,
    }
}

/// Buys 100 at 10.5, good till cancelled.
pub(crate) fn order(id: u64) -> Order {
    Order { terms: terms(100, "10.5"), ..samples::order(id) }
}

pub(crate) fn terms(quantity: i64, limit: &str) -> OrderTerms {
    let kind = OrderKind::Limit { limit: limit.parse().unwrap() };
    OrderTerms { quantity: quantity.into(), kind, tif: TimeInForce::Gtc }
}

pub(crate) fn shown(message: &Result<OutgoingMessage, RequestRefusal>) -> String {
    match message {
        Ok(message) => {
            let fields = message.fields_in_order().into_iter();
            let fields: Vec<_> =
                fields.map(|(tag, value)| format!("{tag}={}", String::from_utf8_lossy(value))).collect();
            let fields = fields.join("|").replace('\u{1}', "|");
            format!("35={}|{fields}", String::from_utf8_lossy(message.msg_type()))
        }
        Err(refusal) => refusal.to_string(),
    }
}

/// Plays messages and writes down everything that was made of them.
pub(crate) struct Story {
    pub(crate) translator: FixTranslator,
    pub(crate) told: String,
}

impl Story {
    pub(crate) fn new(dialect: &str) -> Self {
        Self::of(Dialect::shipped(dialect).unwrap())
    }

    pub(crate) fn of(dialect: Dialect) -> Self {
        Self { translator: FixTranslator::new(dialect, INSTANCE), told: String::new() }
    }

    fn tell(&mut self, line: &str) {
        self.told.push_str(line);
        self.told.push('\n');
    }

    pub(crate) fn submit(&mut self, order: &Order) {
        let message = new_order(self.translator.dialect(), self.translator.ids(), order, &context());
        self.translator.chains.on_new_order(order);
        self.tell(&format!("> {}", shown(&message)));
    }

    pub(crate) fn cancel(&mut self, order: &Order) {
        let known = self.translator.chains.known_id(INSTANCE, order);
        let message = cancel(self.translator.dialect(), self.translator.ids(), order, known, &context());
        self.translator.chains.on_cancel(order);
        self.tell(&format!("> {}", shown(&message)));
    }

    pub(crate) fn replace(&mut self, order: &Order, terms: OrderTerms) {
        let known = self.translator.chains.known_id(INSTANCE, order);
        let message = replace(self.translator.dialect(), self.translator.ids(), (order, known), terms, &context());
        self.translator.chains.on_replace(order, terms);
        self.tell(&format!("> {}", shown(&message)));
    }

    pub(crate) fn sent(&mut self, number: u64, order: u64, request: u32, kind: adapter_fix::RequestKind) {
        let id = WireId { instance: INSTANCE, order: domain::OrderId(order), request };
        self.translator.chains.on_sent(number, SentRequest { id, kind });
    }

    /// A message of the venue, such as `8 11=R7-1-0|39=0|…`.
    pub(crate) fn venue(&mut self, message: &str) {
        let (msg_type, fields) = message.split_once(' ').unwrap();
        let frame = frame(self.translator.dialect().version.begin_string(), msg_type, fields);
        let mut decoder = FixDecoder::new();
        let (_, meanings) = self.translator.translate(&decoder.decode(&frame).unwrap());
        let meanings: Vec<String> = meanings.iter().map(meaning).collect();
        let meanings = if meanings.is_empty() { "nothing".to_owned() } else { meanings.join("; ") };
        self.tell(&format!("< 35={msg_type}|{fields}\n    {meanings}"));
    }
}

pub(crate) fn frame(begin_string: &str, msg_type: &str, fields: &str) -> Vec<u8> {
    let body = format!("35={msg_type}|34=2|49=V|52=20261116-12:00:00|56=US|{fields}|").replace('|', "\x01");
    let mut frame = format!("8={begin_string}\x019={}\x01{body}", body.len()).into_bytes();
    let sum = frame.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
    frame.extend(format!("10={sum:03}\x01").bytes());
    frame
}

fn meaning(meaning: &InboundMeaning) -> String {
    match meaning {
        InboundMeaning::Report(report) => told(report),
        InboundMeaning::Unclear { order, reason } => {
            let order = order.map_or_else(|| "no order".to_owned(), |order| format!("order {order}"));
            format!("ALARM {order}: {reason}")
        }
        InboundMeaning::Foreign { id } => format!("not ours: {id}"),
        InboundMeaning::AskAgain { order } => format!("{order} is asked about again"),
    }
}

fn told(report: &ReportKind) -> String {
    let terms = |terms: &OrderTerms| {
        let price = |price: Option<domain::Price>| price.map_or_else(String::new, |price| format!(" @ {price}"));
        let kind = &terms.kind;
        let stop = kind.stop().map_or_else(String::new, |stop| format!(" stop {stop}"));
        format!("{}{}{stop} {}", terms.quantity, price(kind.limit()), terms.tif.name())
    };
    match report {
        ReportKind::Accepted { order, ext_id } => format!("{order} accepted as {ext_id:?}"),
        ReportKind::Rejected { order, reason } => format!("{order} rejected: {reason}"),
        ReportKind::Filled(fill) => {
            let costs = match (&fill.fee, fill.charges.first()) {
                (Some(fee), _) => format!(", fee {fee}"),
                (None, Some(charge)) => format!(", charge {} {}", charge.amount, charge.currency),
                (None, None) => String::new(),
            };
            let role = fill.liquidity.map_or(String::new(), |role| format!(", {}", role.name()));
            format!("{} filled {} @ {} ({}){costs}{role}", fill.order, fill.quantity, fill.price, fill.exec_id)
        }
        ReportKind::Canceled { order, reason } => format!("{order} cancelled {reason:?}"),
        ReportKind::Expired { order, reason } => format!("{order} expired {reason:?}"),
        ReportKind::Replaced { order, terms: new, .. } => format!("{order} replaced: {}", terms(new)),
        ReportKind::CancelRejected { order, reason } => format!("{order} cancel refused: {reason}"),
        ReportKind::ReplaceRejected { order, reason } => format!("{order} replace refused: {reason}"),
        ReportKind::Busted { order, exec_id, .. } => format!("{order} busted {exec_id}"),
        ReportKind::Corrected { exec_id, by } => {
            format!("{} corrected {exec_id}: {} @ {} ({})", by.order, by.quantity, by.price, by.exec_id)
        }
        ReportKind::TakenBack { order, exec_id, by, at } => {
            let by = by.as_ref().map(|by| format!(" for {} @ {} ({})", by.quantity, by.price, by.exec_id));
            let at = at.map_or_else(String::new, |at| format!(" at {at}"));
            format!("{order} takes back {exec_id}{}{at}", by.unwrap_or_default())
        }
        ReportKind::DeliveryUnknown { order, reason, .. } => format!("{order} in doubt: {reason}"),
        ReportKind::Inquiry(answer) => {
            let as_of: Timestamp = answer.as_of;
            match &answer.result {
                InquiryResult::Found(seen, fills) => {
                    let fill = |fill: &VenueFill| format!(", {} @ {} ({})", fill.quantity, fill.price, fill.exec_id);
                    let fills: String = fills.iter().map(fill).collect();
                    let total = |total: &FilledTotal| {
                        let by = total.at.map_or_else(String::new, |at| format!(" by {at}"));
                        format!(", {} filled @ {} in all{by}", total.quantity, total.average_price)
                    };
                    let filled = answer.filled.as_deref().map(total).unwrap_or_default();
                    format!(
                        "{} found as of {as_of}: {:?}, {}{fills}{filled}",
                        answer.order,
                        seen.state,
                        terms(&seen.terms)
                    )
                }
                InquiryResult::NotFound => format!("{} not found as of {as_of}", answer.order),
            }
        }
        other => format!("{other:?}"),
    }
}
