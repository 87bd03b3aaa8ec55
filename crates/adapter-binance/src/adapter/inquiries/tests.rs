//! Questions that wait their turn, for those under way and for the rate limit.

use adapter_kit::RequestLane;
use adapter_kit::venue_clock::ClockSample;
use adapters::SendOutcome;
use domain::{Order, OrderId, Timestamp};
use serde_json::json;
use tokio::sync::mpsc::Receiver;

use super::INQUIRIES_MAX;
use crate::adapter::state::BinanceAdapter;
use crate::adapter::tests::{AT, adapter, log_on, order};
use crate::network::TaggedRequest;
use crate::protocol::answers::CallAnswer;
use crate::protocol::requests::BinanceRequest;

/// What was sent since, without the symbol.
fn sent(requests: &mut Receiver<TaggedRequest>) -> Vec<String> {
    let shown = |request: &BinanceRequest| format!("{} {}", request.call.socket(), request.parameters.encoded());
    let sent = std::iter::from_fn(|| requests.try_recv().ok());
    sent.map(|sent| shown(&sent.request).replace("symbol=BTCUSDT&", "")).collect()
}

/// Nothing is left of the rate limit for so long as its span.
fn use_up_the_limit(adapter: &mut BinanceAdapter) {
    while let Ok((grant, _)) = adapter.gate.admit(AT, RequestLane::Cancel, &BinanceRequest::time()) {
        adapter.gate.on_no_answer(AT, grant);
    }
}

/// The rate limit is free again.
fn a_minute_later(adapter: &mut BinanceAdapter) -> Timestamp {
    let later = AT.plus_seconds(62);
    adapter.gate.on_time(&ClockSample { sent: later, received: later, venue: later });
    later
}

#[test]
fn questions_wait_in_the_order_in_which_they_came_and_one_that_is_repeated_has_its_newest_instant_at_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let mut adapter = adapter(folder.path());
    let mut requests = log_on(&mut adapter);
    for number in 1..=INQUIRIES_MAX as u64 {
        assert_eq!(adapter.send_inquiry(AT, &order(number)), SendOutcome::Sent);
    }
    assert_eq!(sent(&mut requests).len(), INQUIRIES_MAX);
    for number in [900, 700, 800] {
        assert_eq!(adapter.send_inquiry(AT, &order(number)), SendOutcome::Sent);
    }
    let later = AT.plus_seconds(8);
    let replaced = Order { request: 1, ..order(700) };
    assert_eq!(adapter.send_inquiry(later, &replaced), SendOutcome::Sent);
    assert_eq!(sent(&mut requests), Vec::<String>::new());

    for number in 1..=3 {
        adapter.on_inquiry_unanswered(later, OrderId(number));
    }
    // 900, 700 and 800.
    let asked = ["R7-P0-0_D", "R7-JG-1_D", "R7-M8-0_D"].map(|id| format!("order.status origClientOrderId={id}"));
    assert_eq!(sent(&mut requests), asked);
    let as_of = [900, 700, 800].map(|number| adapter.inquiries[&OrderId(number)].as_of());
    assert_eq!(as_of, [AT, later, AT], "an answer as of the first question would prove less");
}

#[test]
fn questions_that_the_rate_limit_refuses_wait_too_and_none_overtakes_them() {
    let folder = tempfile::tempdir().unwrap();
    let mut adapter = adapter(folder.path());
    let mut requests = log_on(&mut adapter);
    use_up_the_limit(&mut adapter);
    for number in [3, 2, 1] {
        assert_eq!(adapter.send_inquiry(AT, &order(number)), SendOutcome::Sent);
    }
    assert_eq!(sent(&mut requests), Vec::<String>::new());

    let later = a_minute_later(&mut adapter);
    assert_eq!(adapter.send_inquiry(later, &order(4)), SendOutcome::Sent);
    let asked = [3, 2, 1, 4].map(|number| format!("order.status origClientOrderId=R7-{number}-0_D"));
    assert_eq!(sent(&mut requests), asked);
}

/// Without it new questions would use up what is free, and their next steps would be refused in their turn.
#[test]
fn a_question_whose_next_step_the_rate_limit_refuses_goes_on_before_new_ones_begin() {
    let folder = tempfile::tempdir().unwrap();
    let mut adapter = adapter(folder.path());
    let mut requests = log_on(&mut adapter);
    assert_eq!(adapter.send_inquiry(AT, &order(1)), SendOutcome::Sent);
    assert_eq!(sent(&mut requests), ["order.status origClientOrderId=R7-1-0_D"]);
    use_up_the_limit(&mut adapter);
    let found = json!({
        "symbol": "BTCUSDT", "orderId": 70, "clientOrderId": "R7-1-0_D", "price": "100", "origQty": "2", "executedQty": "1",
        "status": "PARTIALLY_FILLED", "timeInForce": "GTC", "type": "LIMIT", "side": "BUY", "time": 1, "updateTime": 1,
    });
    let found = CallAnswer { status: 200, outcome: Ok(found), counters: Vec::new(), hold: None };
    adapter.on_inquiry_answer(AT, OrderId(1), &found);
    assert_eq!(adapter.send_inquiry(AT, &order(2)), SendOutcome::Sent);
    assert_eq!(sent(&mut requests), Vec::<String>::new());

    let later = a_minute_later(&mut adapter);
    adapter.start_queued_inquiries(later);
    let asked = ["myTrades orderId=70&limit=1000", "order.status origClientOrderId=R7-2-0_D"];
    assert_eq!(sent(&mut requests), asked);
}
