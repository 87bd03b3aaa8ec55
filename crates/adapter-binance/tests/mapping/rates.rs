//! Rate limits: the venue's own list becomes the budget, and its counters are followed over both ways.

use adapter_binance::protocol::answers::{SocketFrame, WireRateLimit, decode_frame, decode_rest};
use adapter_binance::protocol::requests::{BinanceRequest, OrderReference};
use adapter_binance::rate_rules::{RateRules, follow_limits, usage_of};
use adapter_binance::request_gate::RequestGate;
use adapter_kit::connection::VenueResponse;
use adapter_kit::{BudgetFile, RequestBudget, RequestLane};
use domain::Timestamp;
use expect_test::expect;
use serde_json::json;

const START: &str = "2026-11-16T05:00:00Z";

fn at(seconds: i64) -> Timestamp {
    START.parse::<Timestamp>().unwrap().plus_seconds(seconds)
}

fn limits() -> Vec<WireRateLimit> {
    let limits = json!([
        {"rateLimitType": "REQUEST_WEIGHT", "interval": "MINUTE", "intervalNum": 1, "limit": 200},
        {"rateLimitType": "ORDERS", "interval": "SECOND", "intervalNum": 10, "limit": 3},
        {"rateLimitType": "ORDERS", "interval": "DAY", "intervalNum": 1, "limit": 200000},
        {"rateLimitType": "RAW_REQUESTS", "interval": "MINUTE", "intervalNum": 5, "limit": 61000},
        {"rateLimitType": "OF_TOMORROW", "interval": "MINUTE", "intervalNum": 1, "limit": 1},
        {"rateLimitType": "ORDERS", "interval": "FORTNIGHT", "intervalNum": 1, "limit": 1},
    ]);
    serde_json::from_value(limits).unwrap()
}

fn cancel() -> BinanceRequest {
    BinanceRequest::cancel("BTCUSDT", &OrderReference::Client("R1-1Z-0".to_owned()), "R1-1Z-1")
}

fn place() -> BinanceRequest {
    use adapter_binance::order_mapping::ticket_of;
    use domain::{OrderKind, OrderProperties, Side, TimeInForce};
    let terms = domain::order::OrderTerms { quantity: 1.into(), kind: OrderKind::Market, tif: TimeInForce::Ioc };
    let ticket = ticket_of("BTCUSDT", Side::Buy, terms, OrderProperties::default(), "R1-1Z-0".to_owned());
    BinanceRequest::place(&ticket.unwrap())
}

fn used(budget: &mut RequestBudget, now: Timestamp) -> String {
    let usage = budget.usage(now).into_iter().map(|usage| format!("{} {}/{}", usage.name, usage.used, usage.limit));
    usage.collect::<Vec<_>>().join(", ")
}

#[test]
fn the_venues_list_becomes_the_budget() {
    let (rules, unknown) = RateRules::of(&limits());
    assert_eq!(unknown, ["OF_TOMORROW/1M", "ORDERS/1F"]);
    let mut budget = rules.budget().unwrap();
    let costs = [
        rules.cost(&place()),
        rules.cost(&cancel()),
        rules.cost(&BinanceRequest::open_orders(None)),
        rules.cost(&BinanceRequest::account()),
    ];
    assert_eq!(costs.map(|cost| cost.0[..4].to_vec()), [[1, 1, 1, 1], [1, 0, 0, 1], [80, 0, 0, 1], [20, 0, 0, 1]]);
    assert_eq!(
        used(&mut budget, at(0)),
        "REQUEST_WEIGHT/1M 0/200, ORDERS/10S 0/3, ORDERS/1D 0/200000, RAW_REQUESTS/5M 0/61000"
    );
}

#[test]
fn before_the_list_is_known_small_limits_hold() {
    let mut budget = RateRules::default().budget().unwrap();
    assert_eq!(
        used(&mut budget, at(0)),
        "REQUEST_WEIGHT/1M 0/1200, RAW_REQUESTS/5M 0/6000, ORDERS/10S 0/50, ORDERS/1D 0/160000"
    );
}

#[test]
fn orders_wait_where_their_count_is_used_up_and_cancels_leave() {
    let (rules, _) = RateRules::of(&limits());
    let mut budget = rules.budget().unwrap();
    for _ in 0..3 {
        let grant = budget.request(at(0), RequestLane::Submit, rules.cost(&place())).unwrap();
        budget.on_no_answer(at(0), grant);
    }
    let refused = budget.request(at(0), RequestLane::Submit, rules.cost(&place())).unwrap_err();
    assert!(refused.to_string().starts_with("venue-rate: "), "{refused}");
    let grant = budget.request(at(0), RequestLane::Cancel, rules.cost(&cancel()));
    budget.on_not_sent(grant.unwrap());
}

#[test]
fn counters_and_holds_of_both_ways_are_followed() {
    let folder = tempfile::tempdir().unwrap();
    let file = BudgetFile::new(folder.path().join("rate.json"));
    let (rules, _) = RateRules::of(&limits());
    let mut budget = rules.budget().unwrap();
    let mut told = String::new();

    let headers = vec![("x-mbx-used-weight-1m".to_owned(), "37".to_owned())];
    let answer = decode_rest(&VenueResponse { status: 200, headers, body: b"{}".to_vec() }, at(1));
    let grant = budget.request(at(0), RequestLane::Statement, rules.cost(&BinanceRequest::account())).unwrap();
    budget.on_answer(at(1), grant, &usage_of(&answer));
    told.push_str(&format!("{}\n", used(&mut budget, at(1))));

    let frame = r#"{"id":1,"status":429,"error":{"code":-1015,"msg":"Too many new orders; current limit is 3 orders per 10 SECOND.",
        "data":{"serverTime":1000,"retryAfter":5000}},"rateLimits":[
        {"rateLimitType":"ORDERS","interval":"SECOND","intervalNum":10,"limit":2,"count":3}]}"#;
    let SocketFrame::Answer(1, answer) = decode_frame(frame, at(2)) else { panic!("no answer") };
    let grant = budget.request(at(1), RequestLane::Submit, rules.cost(&place())).unwrap();
    budget.on_answer(at(2), grant, &usage_of(&answer));
    follow_limits(&mut budget, &answer);
    told.push_str(&format!("{}\n", used(&mut budget, at(2))));
    file.save_holds(&mut budget).unwrap();

    // Only new orders wait, for the four seconds that the venue named.
    let ask = |budget: &mut RequestBudget, seconds, lane, request: &BinanceRequest| match budget.request(
        at(seconds),
        lane,
        rules.cost(request),
    ) {
        Ok(grant) => {
            budget.on_not_sent(grant);
            "granted\n".to_owned()
        }
        Err(refusal) => format!("{refusal}\n"),
    };
    told.push_str(&ask(&mut budget, 3, RequestLane::Submit, &place()));
    told.push_str(&ask(&mut budget, 3, RequestLane::Cancel, &cancel()));
    told.push_str(&ask(&mut budget, 60, RequestLane::Submit, &place()));
    expect![[r#"
        REQUEST_WEIGHT/1M 37/200, ORDERS/10S 0/3, ORDERS/1D 0/200000, RAW_REQUESTS/5M 1/61000
        REQUEST_WEIGHT/1M 38/200, ORDERS/10S 3/2, ORDERS/1D 1/200000, RAW_REQUESTS/5M 2/61000
        venue-retry-after: Retry-After holds requests of the limit ORDERS/10S until 2026-11-16T05:00:06Z
        granted
        granted
    "#]]
    .assert_eq(&told);
}

/// A busy process that starts again: the venue has counted far more than what is assumed before it has stated its limits.
#[test]
fn a_restart_knows_the_limits_that_the_venue_has_stated() {
    let folder = tempfile::tempdir().unwrap();
    let open = || RequestGate::open(folder.path().join("limits.json"), at(0), 5_000).unwrap();
    let limit = json!([{"rateLimitType": "REQUEST_WEIGHT", "interval": "MINUTE", "intervalNum": 1, "limit": 6000}]);
    let is_free_after_a_count = |mut gate: RequestGate| {
        let headers = vec![("x-mbx-used-weight-1m".to_owned(), "2237".to_owned())];
        let counted = decode_rest(&VenueResponse { status: 200, headers, body: b"{}".to_vec() }, at(0));
        let (grant, _) = gate.admit(at(0), RequestLane::Inquiry, &BinanceRequest::time()).unwrap();
        gate.on_answer(at(0), grant, &counted);
        gate.admit(at(0), RequestLane::Inquiry, &BinanceRequest::exchange_info()).is_ok()
    };
    assert!(!is_free_after_a_count(open()), "nothing is known yet");
    open().on_limits(at(0), &serde_json::from_value::<Vec<WireRateLimit>>(limit).unwrap());
    assert!(is_free_after_a_count(open()));
}
