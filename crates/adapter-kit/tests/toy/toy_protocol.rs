//! Translation between our words and the toy venue's. Pure, so that a recording can be replayed into it.

use std::collections::BTreeMap;

use adapter_kit::connection::{RequestFailure, VenueRequest, VenueResponse};
use adapter_kit::recording::{RecordedEvent, RecordedMessage, ReplayTarget};
use adapter_kit::{HoldSignal, RequestLane, VenueAnswer};
use domain::command::MarketData;
use domain::order::OrderTerms;
use domain::report::{
    FillsPage, InquiryAnswer, InquiryResult, ListingScope, OpenOrdersPage, ReportKind, VenueFill, VenueOrder,
    VenueOrderState, VenueSnapshot,
};
use domain::{Order, OrderId, OrderKind, Quantity, SecurityId, Text, Tick, TimeInForce, Timestamp};
use serde_json::{Value, json};

/// What a request was for; it decides what its answer means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToyCall {
    Submit(OrderId),
    Replace(OrderId),
    Cancel(OrderId),
    /// With the instant of the question.
    Inquire(OrderId, Timestamp),
    /// With the instant of the question.
    ListOpenOrders(Timestamp),
    /// With the instant of the question, and how many fills are known.
    ListFills(Timestamp, usize),
}

impl ToyCall {
    pub(crate) fn trades(self) -> bool {
        matches!(self, Self::Submit(_) | Self::Replace(_) | Self::Cancel(_))
    }
}

/// What a message of the stream means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ToyEvent {
    Ready,
    /// A subscription took effect.
    Done,
    Report(ReportKind),
    Price(MarketData),
}

impl ToyCall {
    pub(crate) fn lane(self) -> RequestLane {
        match self {
            Self::Submit(_) => RequestLane::Submit,
            Self::Replace(_) => RequestLane::Replace,
            Self::Cancel(_) => RequestLane::Cancel,
            Self::Inquire(..) | Self::ListOpenOrders(_) | Self::ListFills(..) => RequestLane::Inquiry,
        }
    }

    pub(crate) fn order(self) -> Option<OrderId> {
        match self {
            Self::Submit(order) | Self::Replace(order) | Self::Cancel(order) | Self::Inquire(order, _) => Some(order),
            Self::ListOpenOrders(_) | Self::ListFills(..) => None,
        }
    }

    /// What only asks; an answer that cannot be used is none.
    fn scope(self) -> Option<ListingScope> {
        match self {
            Self::ListOpenOrders(_) => Some(ListingScope::OpenOrders),
            Self::ListFills(..) => Some(ListingScope::Fills(None)),
            _ => None,
        }
    }

    /// The call of a recorded request.
    fn of_request(method: &str, path: &str, body: &str) -> Option<Self> {
        let named = || path.rsplit('/').next()?.parse().ok().map(OrderId);
        let body: Value = serde_json::from_str(body).unwrap_or_default();
        match method {
            "POST" => Some(Self::Submit(OrderId(body["clientId"].as_str()?.parse().ok()?))),
            "PUT" => named().map(Self::Replace),
            "DELETE" => named().map(Self::Cancel),
            _ => None,
        }
    }

    /// The venue did not receive it.
    pub(crate) fn not_sent(self, reason: Text) -> Option<ReportKind> {
        Some(match self {
            // It is asked again.
            Self::Inquire(..) => return None,
            Self::ListOpenOrders(_) => ReportKind::ListingFailed { scope: ListingScope::OpenOrders, reason },
            Self::ListFills(..) => ReportKind::ListingFailed { scope: ListingScope::Fills(None), reason },
            Self::Submit(order) => ReportKind::NotSent { order, reason },
            Self::Replace(order) => ReportKind::ReplaceRejected { order, reason },
            Self::Cancel(order) => ReportKind::CancelRejected { order, reason },
        })
    }

    fn rejected(self, reason: Text) -> Option<ReportKind> {
        match self {
            Self::Submit(order) => Some(ReportKind::Rejected { order, reason }),
            _ => self.not_sent(reason),
        }
    }
}

pub(crate) fn submit(order: &Order) -> VenueRequest {
    let (quantity, limit) = terms_json(order.terms);
    let symbol = order.security.0.to_string();
    request(
        "POST",
        "/orders",
        &json!({ "clientId": order.id.0.to_string(), "symbol": symbol, "quantity": quantity, "limit": limit }),
    )
}

pub(crate) fn replace(order: &Order, terms: OrderTerms) -> VenueRequest {
    let (quantity, limit) = terms_json(terms);
    request("PUT", &format!("/orders/{}", order.id.0), &json!({ "quantity": quantity, "limit": limit }))
}

pub(crate) fn cancel(order: &Order) -> VenueRequest {
    request("DELETE", &format!("/orders/{}", order.id.0), &Value::Null)
}

pub(crate) fn list() -> VenueRequest {
    request("GET", "/orders", &Value::Null)
}

fn request(method: &'static str, path: &str, body: &Value) -> VenueRequest {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    VenueRequest { method, path: path.to_owned(), headers: Vec::new(), body }
}

fn terms_json(terms: OrderTerms) -> (String, String) {
    let OrderKind::Limit { limit } = terms.kind else { panic!("the toy venue has limit orders only") };
    (terms.quantity.to_string(), limit.to_string())
}

/// What an answer means. What the venue did with the order comes by the stream; an answer only tells what it refused.
pub(crate) fn report_of_answer(call: ToyCall, outcome: &Result<VenueResponse, RequestFailure>) -> Option<ReportKind> {
    if call.scope().is_some() {
        return list_of(call, outcome);
    }
    match outcome {
        Ok(response) if response.status == 200 && matches!(call, ToyCall::Inquire(..)) => answer_of(call, response),
        _ if matches!(call, ToyCall::Inquire(..)) => None,
        Err(RequestFailure::NotSent(reason)) => call.not_sent(reason.as_str().into()),
        Err(RequestFailure::Unknown(reason)) => unknown(call, reason),
        Ok(response) if response.status >= 500 => unknown(call, &response.text()),
        // A duplicate says that the first one lives.
        Ok(response) if response.status < 400 || response.status == 409 => None,
        Ok(response) => call.rejected(response.text().as_str().into()),
    }
}

fn unknown(call: ToyCall, reason: &str) -> Option<ReportKind> {
    call.order().map(|order| ReportKind::DeliveryUnknown { order, reason: reason.into(), dead_after: None })
}

/// A list that is not understood has failed; it is never an empty one.
fn list_of(call: ToyCall, outcome: &Result<VenueResponse, RequestFailure>) -> Option<ReportKind> {
    let listed = match outcome {
        Ok(response) if response.status == 200 => snapshot_of(&response.text()),
        _ => None,
    };
    let Some(VenueSnapshot { mut orders, fills, .. }) = listed else {
        return call.not_sent("the list cannot be used".into());
    };
    let filled =
        |order: &VenueOrder| fills.iter().filter(|fill| fill.order == order.order).map(|fill| fill.quantity.0).sum();
    orders.retain(|order| order.state == VenueOrderState::Live && Quantity(filled(order)) < order.terms.quantity);
    Some(match call {
        ToyCall::ListFills(as_of, known) => ReportKind::Fills(FillsPage {
            security: None,
            from: (known > 0).then(|| known.to_string().into()),
            next_cursor: Some(fills.len().to_string().into()),
            fills: fills.into_iter().skip(known).collect(),
            last: true,
            as_of,
        }),
        ToyCall::ListOpenOrders(as_of) => {
            ReportKind::OpenOrders(OpenOrdersPage { as_of, dead_after: None, page: 0, last: true, orders })
        }
        _ => return None,
    })
}

/// What the list says of one order; a list that is not understood says nothing.
fn answer_of(call: ToyCall, response: &VenueResponse) -> Option<ReportKind> {
    let ToyCall::Inquire(order, as_of) = call else { return None };
    let VenueSnapshot { orders, fills, .. } = snapshot_of(&response.text())?;
    let fills = fills.into_iter().filter(|fill| fill.order == order).collect();
    let result = match orders.into_iter().find(|seen| seen.order == order) {
        Some(seen) => InquiryResult::Found(seen, fills),
        None => InquiryResult::NotFound,
    };
    Some(ReportKind::Inquiry(InquiryAnswer { order, as_of, dead_after: None, result, other_legs: None, filled: None }))
}

/// What an answer says about rate limits.
pub(crate) fn usage_of(now: Timestamp, response: &VenueResponse) -> VenueAnswer {
    let used = response.header("x-used-weight").and_then(|text| text.parse().ok());
    let hold = HoldSignal::of_http(response.status, response.header("retry-after"), now);
    VenueAnswer { used: used.map(|used| ("weight/1m".to_owned(), used)).into_iter().collect(), hold }
}

/// `None` where the message is not understood.
pub(crate) fn event_of(at: Timestamp, text: &str) -> Option<ToyEvent> {
    let event: Value = serde_json::from_str(text).ok()?;
    let order = || order_of(&event["order"]);
    let report = match event["event"].as_str()? {
        "ready" => return Some(ToyEvent::Ready),
        "done" => return Some(ToyEvent::Done),
        "price" => {
            let security = SecurityId(event["symbol"].as_str()?.parse().ok()?);
            let last = event["last"].as_str()?.parse().ok();
            let tick = Tick { feed: "toy".into(), at, last, ..Tick::empty(security) };
            return Some(ToyEvent::Price(MarketData::Tick(tick)));
        }
        "filled" => ReportKind::Filled(fill_of(&event["fill"])?),
        "accepted" => order().map(|order| ReportKind::Accepted { order: order.order, ext_id: order.ext_id })?,
        "canceled" => order().map(|order| ReportKind::Canceled { order: order.order, reason: None })?,
        "replaced" => order().map(|order| ReportKind::Replaced {
            order: order.order,
            terms: order.terms,
            ext_id: order.ext_id,
        })?,
        _ => return None,
    };
    Some(ToyEvent::Report(report))
}

/// `None` where any part is not understood: a partial list is never taken for a whole one.
pub(crate) fn snapshot_of(text: &str) -> Option<VenueSnapshot> {
    let listed: Value = serde_json::from_str(text).ok()?;
    let orders = listed["orders"].as_array()?.iter().map(order_of).collect::<Option<_>>()?;
    let fills = listed["fills"].as_array()?.iter().map(fill_of).collect::<Option<_>>()?;
    Some(VenueSnapshot { orders, fills, complete: true, ..VenueSnapshot::default() })
}

fn order_of(order: &Value) -> Option<VenueOrder> {
    let kind = OrderKind::Limit { limit: order["limit"].as_str()?.parse().ok()? };
    let terms = OrderTerms { quantity: order["quantity"].as_str()?.parse().ok()?, kind, tif: TimeInForce::Gtc };
    let state = if order["state"] == "live" { VenueOrderState::Live } else { VenueOrderState::Canceled };
    let id = OrderId(order["clientId"].as_str()?.parse().ok()?);
    Some(VenueOrder { order: id, ext_id: order["orderId"].as_str().map(Into::into), terms, state, reason: None })
}

fn fill_of(fill: &Value) -> Option<VenueFill> {
    Some(VenueFill {
        order: OrderId(fill["clientId"].as_str()?.parse().ok()?),
        exec_id: fill["execId"].as_str()?.into(),
        quantity: fill["quantity"].as_str()?.parse().ok()?,
        price: fill["price"].as_str()?.parse().ok()?,
        at: None,
        fee: None,
        charges: Vec::new(),
        ext_order: None,
        liquidity: None,
    })
}

/// Decodes a recording: the reports that the adapter made of it.
#[derive(Debug, Default)]
pub(crate) struct ToyReplay {
    pub(crate) reports: Vec<ReportKind>,
    calls: BTreeMap<u64, ToyCall>,
}

impl ReplayTarget for ToyReplay {
    fn on_recorded(&mut self, at: Timestamp, message: &RecordedMessage) {
        match &message.event {
            RecordedEvent::Request { number, method, path, body, .. } => {
                self.calls.extend(ToyCall::of_request(method, path, body).map(|call| (*number, call)));
            }
            RecordedEvent::Response { number, status, headers, body } => {
                let response =
                    VenueResponse { status: *status, headers: headers.clone(), body: body.clone().into_bytes() };
                let call = self.calls.remove(number);
                self.reports.extend(call.and_then(|call| report_of_answer(call, &Ok(response))));
            }
            RecordedEvent::Received { text } => match event_of(at, text) {
                Some(ToyEvent::Report(report)) => self.reports.push(report),
                Some(ToyEvent::Ready | ToyEvent::Done | ToyEvent::Price(_)) | None => {}
            },
            _ => {}
        }
    }
}
