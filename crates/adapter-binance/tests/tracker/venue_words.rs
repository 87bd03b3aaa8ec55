//! Answers and events as the venue writes them, and reports as one line each.

use adapter_binance::order_tracker::{DatedReport, OrderRequestKind, OrderTracker};
use adapter_binance::protocol::answers::{CallAnswer, SocketFrame, decode_frame};
use adapter_binance::protocol::user_events::{ExecutionEvent, UserEvent, decode_user_event};
use domain::order::OrderTerms;
use domain::report::ReportKind;
use domain::{Currency, OrderId, OrderKind, TimeInForce, Timestamp};
use serde_json::{Value, json};

pub(crate) const INSTANCE: u64 = 1;
pub(crate) const NOW: Timestamp = Timestamp(1_794_830_400_000_000_000);
pub(crate) const ORDER: OrderId = OrderId(5);
/// Of the submit of order 5.
pub(crate) const FIRST: &str = "R1-5-0";

/// A tracker that has just sent order 5.
pub(crate) fn tracker() -> OrderTracker {
    let mut tracker = OrderTracker::new(INSTANCE);
    tracker.on_submit(ORDER, FIRST.to_owned(), false);
    tracker
}

pub(crate) fn terms(quantity: &str, limit: &str) -> OrderTerms {
    let kind = OrderKind::Limit { limit: limit.parse().unwrap() };
    OrderTerms { quantity: quantity.parse().unwrap(), kind, tif: TimeInForce::Gtc }
}

pub(crate) fn success(result: &Value) -> CallAnswer {
    answer(&json!({ "id": 1, "status": 200, "result": result }))
}

pub(crate) fn failure(status: u16, code: i64, message: &str) -> CallAnswer {
    answer(&json!({ "id": 1, "status": status, "error": { "code": code, "msg": message } }))
}

pub(crate) fn answer(frame: &Value) -> CallAnswer {
    let SocketFrame::Answer(_, answer) = decode_frame(&frame.to_string(), NOW) else { panic!("no answer: {frame}") };
    answer
}

pub(crate) fn taken(order_id: i64, client_id: &str) -> CallAnswer {
    success(&json!({ "symbol": "BTCUSDT", "orderId": order_id, "clientOrderId": client_id }))
}

/// An event of the order with this client id; `more` replaces fields.
pub(crate) fn event(execution: &str, status: &str, order_id: i64, client_id: &str, more: &Value) -> ExecutionEvent {
    let mut event = json!({
        "e": "executionReport", "E": 1_794_830_400_001_i64, "s": "BTCUSDT", "c": client_id, "C": "", "S": "BUY",
        "o": "LIMIT", "f": "GTC", "q": "2", "p": "100", "P": "0", "F": "0", "x": execution, "X": status, "r": "NONE",
        "i": order_id, "l": "0", "z": "0", "L": "0", "n": "0", "N": null, "T": 1_794_830_400_000_i64, "t": -1,
    });
    for (name, value) in more.as_object().unwrap() {
        event[name] = value.clone();
    }
    match decode_user_event(&event).unwrap() {
        UserEvent::Execution(event) => *event,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn new(order_id: i64, client_id: &str) -> ExecutionEvent {
    event("NEW", "NEW", order_id, client_id, &json!({}))
}

pub(crate) fn trade(order_id: i64, client_id: &str, trade_id: i64, quantity: &str) -> ExecutionEvent {
    let more = json!({ "l": quantity, "L": "100", "t": trade_id, "n": "0.01", "N": "BNB" });
    event("TRADE", "PARTIALLY_FILLED", order_id, client_id, &more)
}

/// A cancel has an id of its own and names the order's.
pub(crate) fn canceled(order_id: i64, client_id: &str) -> ExecutionEvent {
    event("CANCELED", "CANCELED", order_id, "R1-5-1", &json!({ "C": client_id }))
}

/// What a story told, one line each.
#[derive(Default)]
pub(crate) struct Told(Vec<DatedReport>);

impl Told {
    pub(crate) fn answer(
        &mut self,
        tracker: &mut OrderTracker,
        kind: OrderRequestKind,
        answer: &CallAnswer,
    ) -> &mut Self {
        tracker.on_answer((ORDER, kind), answer, (NOW, NOW.plus_millis(6_000)), &mut self.0);
        self
    }

    pub(crate) fn event(&mut self, tracker: &mut OrderTracker, event: &ExecutionEvent) -> &mut Self {
        tracker.on_execution(event, Currency::USDT, &mut self.0);
        self
    }

    pub(crate) fn lines(&self) -> String {
        self.0.iter().map(|(_, said)| line(said) + "\n").collect()
    }
}

fn line(said: &ReportKind) -> String {
    let optional = |text: &Option<domain::Text>| text.as_deref().unwrap_or("-").to_owned();
    match said {
        ReportKind::Accepted { order, ext_id } => format!("{order} accepted as {}", optional(ext_id)),
        ReportKind::Rejected { order, reason } => format!("{order} rejected: {reason}"),
        ReportKind::Filled(fill) => {
            let charges: Vec<_> = fill.charges.iter().map(|c| format!("{} {}", c.amount, c.currency)).collect();
            let leg = optional(&fill.ext_order);
            format!(
                "{} filled {} at {}, {} of {leg}, {}",
                fill.order,
                fill.quantity,
                fill.price,
                fill.exec_id,
                charges.join(", ")
            )
        }
        ReportKind::Canceled { order, reason } => format!("{order} canceled: {}", optional(reason)),
        ReportKind::Expired { order, reason } => format!("{order} expired: {}", optional(reason)),
        ReportKind::Replaced { order, terms, ext_id } => {
            format!("{order} replaced by {} at {:?} as {}", terms.quantity, terms.kind.limit(), optional(ext_id))
        }
        ReportKind::CancelRejected { order, reason } => format!("{order} cancel rejected: {reason}"),
        ReportKind::ReplaceRejected { order, reason } => format!("{order} replace rejected: {reason}"),
        ReportKind::DeliveryUnknown { order, reason, dead_after } => {
            let after = dead_after.map(|at| at.nanos_since(NOW) / 1_000_000);
            format!("{order} unknown: {reason}, dead after {after:?} ms")
        }
        ReportKind::CancelReplaced(told) => {
            let (old, new, reason) = (optional(&told.old_leg), optional(&told.new_leg), optional(&told.reason));
            format!(
                "{} leg {old} canceled {:?}, leg {new} placed {:?}: {reason}",
                told.order, told.canceled, told.placed
            )
        }
        ReportKind::Leg(seen) => format!("{} leg {} is {:?}", seen.order, optional(&seen.ext_id), seen.state),
        other => format!("{other:?}"),
    }
}
