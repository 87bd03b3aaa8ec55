//! Prices and market data subscriptions.

use std::sync::Arc;

use domain::command::{MarketDataSubscription, SettlementPrice};
use domain::query::{AdapterStatus, Filter};
use domain::report::{OpenFor, SessionState};
use domain::{
    AdapterName, Answer, Bar, BarSize, BookLevel, Command, OrderBook, Price, Quantity, Query, Refusal, SecurityId,
    StrategyId, Tick, Timestamp,
};
use expect_test::expect;

use crate::test_server::{FakeOperations, TestServer, code, status};

const WISH: &str = r#"{"strategyName": "MOMENTUM", "securityId": 1, "subscribe": true}"#;
const SUBSCRIBE: &str = "/rest/subscription/marketdata/subscribe";
const UNSUBSCRIBE: &str = "/rest/subscription/marketdata/unsubscribe";

#[test]
fn the_feeds_are_those_of_the_adapters_that_are_connected() {
    let name = |qualifier| AdapterName::new("SIMULATED", Some(qualifier));
    let adapter = |qualifier, session| AdapterStatus {
        adapter: name(qualifier),
        session,
        simulated: true,
        exchanges: vec![],
        order_properties: vec![],
        replace: domain::report::ReplaceKind::InPlace,
        cancel: domain::report::CancelKind::WhileOpen,
        open_for: OpenFor::Orders,
        lines: vec![],
    };
    let adapters = vec![adapter("ALPHA", SessionState::Subscribed), adapter("BETA", SessionState::Disconnected)];
    let server = TestServer::open(move |_| Ok(Answer::Adapters(adapters.clone())));
    let answer = server.get("/rest/subscription/marketdata/supported-feed");
    assert!(answer.contains("\n[\"SIMULATED-ALPHA\"]\n"), "{answer}");
}

#[test]
fn a_strategy_subscribes_and_unsubscribes() {
    let desk = TestServer::open(|_| Ok(Answer::Done));
    expect![[r#"
        HTTP/1.1 200 OK
        rialto-sequence: 4711
        x-content-type-options: nosniff
        cache-control: no-store
        x-request-id: story
        connection: close
        content-length: 0

    "#]]
    .assert_eq(&desk.put(SUBSCRIBE, WISH));
    desk.put(SUBSCRIBE, WISH);
    desk.put(UNSUBSCRIBE, WISH);
    desk.put(SUBSCRIBE, r#"{"strategyName": "SERVER", "securityId": 1}"#);
    let commands: Vec<_> = desk.commands().into_iter().map(|envelope| envelope.command).collect();
    let wish = MarketDataSubscription { strategy: StrategyId(2), security: SecurityId(1) };
    let server = MarketDataSubscription { strategy: StrategyId::SERVER, ..wish };
    let (on, off) = (Command::Subscribe(wish), Command::Unsubscribe(wish));
    assert_eq!(commands, [on.clone(), on, off, Command::Subscribe(server)]);
}

#[test]
fn a_settlement_price_is_given_for_a_day_or_for_the_present_one() {
    let server = TestServer::open(|_| Ok(Answer::Done));
    let path = "/rest/marketdata/settlement";
    for body in
        [r#"{"securityId": 24, "price": "6789.25", "date": "2027-03-19"}"#, r#"{"securityId": 26, "price": -37.63}"#]
    {
        assert!(server.put(path, body).starts_with("HTTP/1.1 200"), "{body}");
    }
    let commands: Vec<_> = server.commands().into_iter().map(|envelope| envelope.command).collect();
    let price = |security, price: &str, date: Option<&str>| {
        let (security, date) = (SecurityId(security), date.map(|day| day.parse().unwrap()));
        Command::SetSettlementPrice(SettlementPrice { security, price: price.parse().unwrap(), date })
    };
    assert_eq!(commands, [price(24, "6789.25", Some("2027-03-19")), price(26, "-37.63", None)]);
    for (body, problem) in [
        (r#"{"securityId": 24}"#, "422 missing"),
        (r#"{"price": 1}"#, "422 missing"),
        (r#"{"securityId": 24, "price": "dear"}"#, "400 malformed-field"),
        (r#"{"securityId": 24, "price": 1, "date": "soon"}"#, "400 malformed-field"),
    ] {
        assert_eq!(code(&server.put(path, body)), problem, "{body}");
    }
}

#[test]
fn a_wish_that_cannot_be_followed_is_told() {
    let server = TestServer::open(|_| Err(Refusal::UnknownSecurity(SecurityId(99))));
    let off = WISH.replace("true", "false");
    let cases = [
        (SUBSCRIBE, off.as_str(), "422 not-subscribing"),
        (SUBSCRIBE, r#"{"strategyName": "NOBODY", "securityId": 1}"#, "422 unknown-strategy"),
        (UNSUBSCRIBE, r#"{"strategyName": "NOBODY", "securityId": 1}"#, "422 unknown-strategy"),
        (SUBSCRIBE, r#"{"strategyName": "MOMENTUM", "securityId": 99}"#, "422 unknown-security"),
        (SUBSCRIBE, r#"{"strategyName": "MOMENTUM"}"#, "422 missing"),
        (SUBSCRIBE, r#"{"strategyName": "MOMENTUM", "securityId": "AAPL"}"#, "400 malformed-field"),
    ];
    for (path, body, expected) in cases {
        assert_eq!(code(&server.put(path, body)), expected, "{path} {body}");
    }
    assert_eq!(code(&server.post(SUBSCRIBE, WISH)), "405 method-not-allowed");
    let server = TestServer::open(|_| Ok(Answer::Done));
    assert_eq!(status(&server.put(UNSUBSCRIBE, &off)), "HTTP/1.1 200 OK", "there the flag is ignored");
}

fn at(minute: i64) -> Timestamp {
    Timestamp::from_millis(1_794_839_400_000 + minute * 60_000).unwrap()
}

fn tick() -> Tick {
    Tick {
        security: SecurityId(1),
        feed: "SIMULATED-ALPHA".into(),
        at: at(0),
        last: None,
        last_at: None,
        vol_last: None,
        bid: Some(Price::from(272)),
        ask: None,
        vol_bid: None,
        vol_ask: None,
        vol: None,
        stale: None,
    }
}

fn bar(minute: i64) -> Arc<Bar> {
    let price = Price::from(272);
    Arc::new(Bar {
        security: SecurityId(1),
        feed: "SIMULATED-ALPHA".into(),
        at: at(minute),
        size: BarSize::Min1,
        open: price,
        high: price,
        low: price,
        close: price,
        vol: Quantity::ZERO,
        vwap: None,
    })
}

fn market() -> TestServer {
    TestServer::open(|wanted| {
        let bus::RequestPayload::Query(query) = wanted else { return Ok(Answer::Done) };
        let level = BookLevel { price: Price::from(272), quantity: Quantity::from(100) };
        let feed = "SIMULATED-ALPHA".into();
        Ok(match **query {
            Query::Ticks(_) => Answer::Ticks(vec![Arc::new(tick())]),
            Query::Bars(..) => Answer::Bars((0..5).map(bar).collect()),
            Query::Book(security) if security == SecurityId(1) => {
                let (bids, asks) = (vec![level], vec![]);
                Answer::Book(Some(Arc::new(OrderBook { security, feed, at: at(0), bids, asks })))
            }
            _ => Answer::Book(None),
        })
    })
}

#[test]
fn the_newest_ticks_are_listed() {
    let server = market();
    let answer = server.get("/rest/marketdata/tick?security=AAPL");
    assert!(answer.contains("[{\"objectType\":\"Tick\",\"securityId\":1,"), "{answer}");
    assert!(answer.contains("\nrialto-sequence: 4711\n"));
    server.get("/rest/marketdata/tick");
    let one = Filter { security: Some(SecurityId(1)), ..Filter::default() };
    assert_eq!(server.queries(), [Query::Ticks(one), Query::Ticks(Filter::default())]);
}

#[test]
fn bars_are_the_newest_there_are_or_the_first_after_an_instant() {
    let server = market();
    let minutes = |answer: &str| -> Vec<i64> {
        let places = answer.match_indices("\"dateTime\":").map(|(place, key)| place + key.len());
        let millis = places.map(|place| answer[place..].split(',').next().unwrap().parse::<i64>().unwrap());
        millis.map(|millis| (millis - at(0).millis()) / 60_000).collect()
    };
    let bars = |more: &str| minutes(&server.get(&format!("/rest/marketdata/bar?security=1{more}")));
    assert_eq!(bars(""), [0, 1, 2, 3, 4]);
    assert_eq!(bars("&limit=2"), [3, 4]);
    assert_eq!(bars(&format!("&after={}&limit=2", at(0).millis())), [1, 2]);
    assert_eq!(bars(&format!("&after={}", at(4).millis())), [0; 0]);
    server.get("/rest/marketdata/bar?security=1&barSize=HOUR_1");
    assert_eq!(server.queries().last(), Some(&Query::Bars(SecurityId(1), BarSize::Hour1)));
}

#[test]
fn bars_of_before_the_start_come_first_and_each_is_there_once() {
    let stored = |minute: i64| Bar { vol: Quantity::from(7), ..Bar::clone(&bar(minute)) };
    let program = FakeOperations { bars: (-3..2).map(stored).collect(), ..FakeOperations::default() };
    let server = TestServer::with_program(program, |_| Ok(Answer::Bars((0..5).map(bar).collect())));
    let volumes = |more: &str| -> Vec<String> {
        let answer = server.get(&format!("/rest/marketdata/bar?security=1{more}"));
        answer.split("\"vol\":").skip(1).map(|rest| rest.split(',').next().unwrap().to_owned()).collect()
    };
    assert_eq!(volumes(""), ["7", "7", "7", "0", "0", "0", "0", "0"]);
    assert_eq!(volumes("&limit=6"), ["7", "0", "0", "0", "0", "0"]);
    assert_eq!(volumes(&format!("&after={}&limit=2", at(-2).millis())), ["7", "0"]);
}

#[test]
fn a_book_is_listed_where_there_is_one() {
    let server = market();
    let book = server.get("/rest/marketdata/book?security=1");
    assert!(book.contains("\"bids\":[{\"price\":272,\"quantity\":100}],\"asks\":[]}]"), "{book}");
    assert!(server.get("/rest/marketdata/book?security=2").contains("\n[]\n"));
}

#[test]
fn prices_of_many_securities_come_in_one_answer() {
    let tick_of = |id| Arc::new(Tick { security: SecurityId(id), ..tick() });
    let bars_of = |security| (0..3).map(|minute| Arc::new(Bar { security, ..Bar::clone(&bar(minute)) })).collect();
    let book_of = |security| {
        Arc::new(OrderBook { security, feed: "SIMULATED-ALPHA".into(), at: at(0), bids: vec![], asks: vec![] })
    };
    let server = TestServer::open(move |wanted| {
        let bus::RequestPayload::Query(query) = wanted else { return Ok(Answer::Done) };
        Ok(match **query {
            Query::Ticks(_) => Answer::Ticks(vec![tick_of(1), tick_of(2), tick_of(4)]),
            Query::Bars(security, _) => Answer::Bars(bars_of(security)),
            Query::Book(security) => Answer::Book((security != SecurityId(3)).then(|| book_of(security))),
            _ => Answer::Done,
        })
    });
    let securities = |path: &str| -> Vec<String> {
        let answer = server.get(&format!("/rest/marketdata/{path}"));
        answer.split("\"securityId\":").skip(1).map(|rest| rest.split(',').next().unwrap().to_owned()).collect()
    };
    assert_eq!(securities("tick?security=4,AAPL,3"), ["4", "1"], "in the order in which they are named");
    assert_eq!(securities("bar?security=2,1&limit=2"), ["2", "2", "1", "1"], "the limit counts for each");
    assert_eq!(securities("book?security=1,3,2"), ["1", "2"]);
    let many = vec!["1"; 201].join(",");
    let cases = [
        (format!("tick?security={many}"), "security must be at most 200 securities", "400 malformed-parameter"),
        (
            format!("bar?security={}&limit=101", &many[2..]),
            "limit must be at most 100 for 200",
            "400 malformed-parameter",
        ),
        ("book?security=1,99".into(), "security 99 is not known", "404 unknown-security"),
        ("book?security=1,".into(), "security  is not known", "404 unknown-security"),
    ];
    for (path, told, expected) in cases {
        let answer = server.get(&format!("/rest/marketdata/{path}"));
        assert_eq!(code(&answer), expected, "{answer}");
        assert!(answer.contains(told), "{answer}");
    }
}

#[test]
fn prices_of_nothing_are_refused() {
    let server = market();
    let cases = [
        ("/rest/marketdata/book", "400 missing-parameter"),
        ("/rest/marketdata/bar", "400 missing-parameter"),
        ("/rest/marketdata/bar?security=1&barSize=FORTNIGHT", "400 malformed-parameter"),
        ("/rest/marketdata/bar?security=1&limit=1001", "400 malformed-parameter"),
        ("/rest/marketdata/bar?security=1&after=yesterday", "400 malformed-parameter"),
        ("/rest/marketdata/book?security=99", "404 unknown-security"),
        ("/rest/marketdata/tick?security=99", "404 unknown-security"),
    ];
    for (path, expected) in cases {
        assert_eq!(code(&server.get(path)), expected, "{path}");
    }
}
