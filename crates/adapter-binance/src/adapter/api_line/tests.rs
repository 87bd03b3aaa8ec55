//! A session whose connections are the test's own.

use adapter_kit::RequestLane;
use adapter_kit::connection::RequestFailure;
use adapters::SendOutcome;

use crate::adapter::state::BinanceAdapter;
use crate::adapter::tests::{AT, adapter, log_on, order};
use crate::adapter::waiting::{RequestPurpose, UnansweredRequest};
use crate::protocol::requests::{BinanceRequest, OrderReference};

#[test]
fn inquiries_that_wait_behind_those_of_a_line_that_ended_are_not_sent_by_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut adapter = adapter(folder.path());
    // The line is open until the task that read it is gone, a moment after its end is told.
    let mut sent = log_on(&mut adapter);
    assert_eq!(adapter.send_inquiry(AT, &order(1)), SendOutcome::Sent);
    assert!(sent.try_recv().is_ok());
    // As where as many as may be are under way.
    adapter.queued_inquiries.push(AT, order(2));

    adapter.on_api_ended(AT, 0, "cut");
    assert!(adapter.queued_inquiries.is_empty(), "it is asked");
    assert!(sent.try_recv().is_err(), "nothing is sent by that line any more");
    assert!(adapter.requests.values().all(|request| request.connection.is_none()));
}

/// What inquiries may use of the rate limit is used up, but for what one of them costs.
fn leave_one_inquiry(adapter: &mut BinanceAdapter) {
    let inquiry = BinanceRequest::order_status("BTCUSDT", &OrderReference::Venue(1));
    let mut admit = |request: &BinanceRequest| adapter.gate.admit(AT, RequestLane::Inquiry, request).ok();
    let (last, _) = std::iter::from_fn(|| admit(&inquiry)).last().expect("some are admitted");
    assert!(std::iter::from_fn(|| admit(&BinanceRequest::time())).count() < 100, "less than an inquiry was left");
    adapter.gate.on_failure(AT, last, &RequestFailure::NotSent("given back".to_owned()));
}

#[test]
fn whether_rest_works_is_asked_before_the_inquiries_that_waited_use_the_rate_limit() {
    let folder = tempfile::tempdir().unwrap();
    let mut adapter = adapter(folder.path());
    let _sent = log_on(&mut adapter);
    assert_eq!(adapter.send_inquiry(AT, &order(1)), SendOutcome::Sent);
    adapter.queued_inquiries.push(AT, order(2));
    leave_one_inquiry(&mut adapter);

    adapter.on_api_ended(AT, 0, "cut");
    assert_eq!(adapter.outbox.lost, None, "the session goes on over REST");
    let is_probe = |request: &UnansweredRequest| matches!(request.purpose, RequestPurpose::RestProbe(_));
    assert!(adapter.requests.values().any(is_probe));
    assert_eq!(adapter.queued_inquiries.len(), 1, "the inquiry waits for its share");
}
