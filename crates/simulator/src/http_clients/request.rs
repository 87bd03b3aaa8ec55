//! What a trader asks over HTTP, and what it makes of the answer.

use domain::command::{ModifyOrder, PlaceOrder};
use domain::{Command, OrderKind, Side, TimeInForce};
use serde_json::{Map, Value, json};
use web::{PlainRequest, PlainResponse};

use crate::error_codes::{JOURNAL_STALLED, OUTCOME_UNKNOWN, UNLISTED_CODE, listed_codes};

const ORDERS: &str = "/rest/execution/order";
const CHANGES: &str = "/rest/execution/modify/order";

/// What an answer of a journal that stalls says where the request was not even tried.
const NO_EFFECT: &str = "had no effect";

/// An answer in the trader's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HttpAnswer {
    /// It is durable at this input.
    Done(u64),
    Refused(&'static str),
    /// The platform does not know, or not yet: with the code that it says so by.
    Unknown(&'static str),
}

/// The request of a command; absent where it has no place here. A change needs the kind of its order.
pub(crate) fn request_of(command: &Command, kind: Option<&OrderKind>) -> Option<PlainRequest> {
    let post = |path: String, body: Value| PlainRequest {
        method: "POST",
        path,
        body: body.to_string().into_bytes(),
        sender: None,
    };
    match command {
        Command::Place(order) => Some(post(format!("{ORDERS}/{}", order.kind.order_type().path()), order_body(order))),
        Command::Modify(change) => Some(post(format!("{CHANGES}/{}", kind?.order_type().path()), change_body(change))),
        Command::Cancel(cancel) => {
            let path = format!("{ORDERS}/{}", cancel.int_id.as_str());
            Some(PlainRequest { method: "DELETE", path, body: vec![], sender: None })
        }
        _ => None,
    }
}

fn order_body(order: &PlaceOrder) -> Value {
    let mut body = Map::new();
    let mut put = |name: &str, value: Value| drop(body.insert(name.to_owned(), value));
    order.int_id.iter().for_each(|int_id| put("intId", json!(int_id.as_str())));
    put("securityId", json!(order.security.0));
    order.account.iter().for_each(|account| put("accountId", json!(account.0)));
    order.strategy.iter().for_each(|strategy| put("strategyId", json!(strategy.0)));
    order.exchange.iter().for_each(|exchange| put("exchangeId", json!(exchange.0)));
    if order.properties.post_only {
        put("postOnly", json!(true));
    }
    put("side", json!(if order.side == Side::Buy { "BUY" } else { "SELL" }));
    put("quantity", json!(order.quantity.0.to_string()));
    order.kind.limit().iter().for_each(|limit| put("limit", json!(limit.0.to_string())));
    order.kind.stop().iter().for_each(|stop| put("stop", json!(stop.0.to_string())));
    put("tif", json!(order.tif.name()));
    if let TimeInForce::Gtd { until } = order.tif {
        put("tifDateTime", json!(until.millis()));
    }
    Value::Object(body)
}

fn change_body(change: &ModifyOrder) -> Value {
    let mut body = Map::new();
    body.insert("intId".to_owned(), json!(change.int_id.as_str()));
    if let Some(quantity) = change.quantity {
        body.insert("quantity".to_owned(), json!(quantity.0.to_string()));
    }
    if let Some(limit) = change.limit {
        body.insert("limit".to_owned(), json!(limit.0.to_string()));
    }
    if let Some(reference) = &change.reference {
        body.insert("reference".to_owned(), json!(&**reference));
    }
    Value::Object(body)
}

/// An acknowledgement names its input. One that does not is taken for the first, which no client has sent.
pub(crate) fn answer_of(response: &PlainResponse) -> HttpAnswer {
    if response.status == 200 {
        return HttpAnswer::Done(response.sequence.unwrap_or(0));
    }
    match code_of(response).as_str() {
        OUTCOME_UNKNOWN => HttpAnswer::Unknown(OUTCOME_UNKNOWN),
        JOURNAL_STALLED if !detail_of(response).contains(NO_EFFECT) => HttpAnswer::Unknown(JOURNAL_STALLED),
        code => HttpAnswer::Refused(listed_codes().get(code).copied().unwrap_or(UNLISTED_CODE)),
    }
}

/// The code of a refusal; empty where the answer has none.
pub(crate) fn code_of(response: &PlainResponse) -> String {
    text_of(response, "code")
}

fn detail_of(response: &PlainResponse) -> String {
    text_of(response, "detail")
}

fn text_of(response: &PlainResponse, name: &str) -> String {
    let problem: Value = serde_json::from_slice(&response.body).unwrap_or_default();
    problem[name].as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_at_a_journal_that_stalls_is_refused_or_its_outcome_is_unknown() {
        let answer = |detail: &str| {
            let body = json!({"code": "journal-stalled", "detail": detail}).to_string().into_bytes();
            answer_of(&PlainResponse { status: 503, body, ..PlainResponse::default() })
        };
        assert_eq!(answer("it does not answer; this request had no effect"), HttpAnswer::Refused(JOURNAL_STALLED));
        assert_eq!(answer("it is known when it answers again"), HttpAnswer::Unknown(JOURNAL_STALLED));
    }
}
