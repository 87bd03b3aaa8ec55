//! An hour of 200 symbols on virtual time, at a venue that counts as the documentation says: the adapter's own requests, by its own
//! lanes and its own schedule of books and looks, and the lists that the engine asks for. The venue never has to refuse.

use std::collections::BTreeMap;
use std::fmt::Write;

use adapter_binance::order_mapping::ticket_of;
use adapter_binance::price_feed::{PriceFeed, SNAPSHOT_LEVELS};
use adapter_binance::protocol::answers::{WireRateLimit, decode_rest};
use adapter_binance::protocol::market_answers::DepthSnapshot;
use adapter_binance::protocol::requests::{BinanceRequest, OrderReference, TradesFrom};
use adapter_binance::request_gate::RequestGate;
use adapter_kit::connection::VenueResponse;
use adapter_kit::{ClockSample, RequestLane};
use domain::order::OrderTerms;
use domain::{OrderKind, OrderProperties, SecurityId, Side, TimeInForce, Timestamp};
use expect_test::expect;
use serde_json::json;
use tempfile::TempDir;

const SYMBOLS: u64 = 200;
const HOUR_SECONDS: i64 = 3_600;
/// Then the market streams are cut, and every book begins again.
const CUT_AT: i64 = 1_800;
/// The venue's windows do not begin with ours.
const START: &str = "2026-11-16T05:00:17Z";

fn at(second: i64) -> Timestamp {
    START.parse::<Timestamp>().unwrap().plus_seconds(second)
}

/// Name, header, span in seconds, limit, and what is used in the current window.
struct VenueWindow {
    header: Option<&'static str>,
    span: i64,
    limit: u64,
    window: i64,
    used: u64,
}

/// The venue's windows begin with the clock. Orders count in full, although successful ones weigh nothing.
struct CountingVenue {
    windows: Vec<VenueWindow>,
    refused: u64,
}

impl CountingVenue {
    fn new() -> Self {
        let window = |header, span, limit| VenueWindow { header, span, limit, window: 0, used: 0 };
        let windows = vec![
            window(Some("x-mbx-used-weight-1m"), 60, 6_000),
            window(None, 300, 61_000),
            window(Some("x-mbx-order-count-10s"), 10, 100),
            window(Some("x-mbx-order-count-1d"), 86_400, 200_000),
        ];
        Self { windows, refused: 0 }
    }

    fn limits() -> Vec<WireRateLimit> {
        let limits = json!([
            {"rateLimitType": "REQUEST_WEIGHT", "interval": "MINUTE", "intervalNum": 1, "limit": 6000},
            {"rateLimitType": "RAW_REQUESTS", "interval": "MINUTE", "intervalNum": 5, "limit": 61000},
            {"rateLimitType": "ORDERS", "interval": "SECOND", "intervalNum": 10, "limit": 100},
            {"rateLimitType": "ORDERS", "interval": "DAY", "intervalNum": 1, "limit": 200000},
        ]);
        serde_json::from_value(limits).unwrap()
    }

    fn answer(&mut self, now: Timestamp, request: &BinanceRequest) -> VenueResponse {
        let orders = u64::from(request.call.orders());
        let mut is_refused = false;
        let mut headers = Vec::new();
        for (window, cost) in self.windows.iter_mut().zip([u64::from(request.weight), 1, orders, orders]) {
            let current = now.millis().div_euclid(1_000).div_euclid(window.span);
            if current != window.window {
                (window.window, window.used) = (current, 0);
            }
            window.used += cost;
            is_refused |= cost > 0 && window.used > window.limit;
            headers.extend(window.header.map(|name| (name.to_owned(), window.used.to_string())));
        }
        self.refused += u64::from(is_refused);
        VenueResponse { status: if is_refused { 429 } else { 200 }, headers, body: b"{}".to_vec() }
    }
}

struct TradingHour {
    gate: RequestGate,
    venue: CountingVenue,
    feed: PriceFeed,
    streams: Vec<String>,
    outcomes: BTreeMap<(&'static str, &'static str), usize>,
    whole_after: Vec<i64>,
    _folder: TempDir,
}

impl TradingHour {
    fn begin() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut gate = RequestGate::open(folder.path().join("limits.json"), at(0), 5_000).unwrap();
        gate.on_limits(at(0), &CountingVenue::limits());
        let mut feed = PriceFeed::new("VENUE".into());
        let streams = (1..=SYMBOLS).flat_map(|number| feed.subscribe(&symbol(number), SecurityId(number))).collect();
        let (venue, outcomes, whole_after) = (CountingVenue::new(), BTreeMap::new(), Vec::new());
        Self { gate, venue, feed, streams, outcomes, whole_after, _folder: folder }
    }

    /// Whether it left.
    fn ask(&mut self, now: Timestamp, lane: RequestLane, request: &BinanceRequest) -> bool {
        let admitted = self.gate.admit(now, lane, request);
        let is_sent = admitted.is_ok();
        if let Ok((grant, _)) = admitted {
            let answer = decode_rest(&self.venue.answer(now, request), now);
            self.gate.on_answer(now, grant, &answer);
        }
        *self.outcomes.entry((lane.name(), if is_sent { "sent" } else { "waits" })).or_default() += 1;
        is_sent
    }

    fn books(&mut self, second: i64) {
        let now = at(second);
        for symbol in self.feed.wanted_snapshots(now) {
            if self.ask(now, RequestLane::Depth, &BinanceRequest::depth(&symbol, SNAPSHOT_LEVELS)) {
                self.feed.on_snapshot_asked(&symbol);
                let book = json!({ "lastUpdateId": second + 1, "bids": [["9", "1"]], "asks": [["11", "1"]] });
                let snapshot: DepthSnapshot = serde_json::from_value(book).unwrap();
                self.feed.on_snapshot(&symbol, &snapshot, now);
            } else {
                self.feed.on_snapshot_failed(&symbol, now);
            }
        }
        for symbols in self.feed.wanted_looks(now) {
            self.ask(now, RequestLane::Depth, &BinanceRequest::tickers(&symbols));
        }
    }

    /// As the engine asks by default: open orders every 30 seconds, statements and the fills of each security every 60.
    fn lists(&mut self, second: i64) {
        let now = at(second);
        if second % 30 == 0 {
            self.ask(now, RequestLane::Fills, &BinanceRequest::open_orders(None));
        }
        if second % 60 == 0 {
            self.gate.on_time(&ClockSample { sent: now, received: now, venue: now });
            self.ask(now, RequestLane::Inquiry, &BinanceRequest::time());
            self.ask(now, RequestLane::Statement, &BinanceRequest::account());
        }
        if second % 300 == 0 {
            self.ask(now, RequestLane::Listing, &BinanceRequest::exchange_info());
        }
        for number in (1..=SYMBOLS).filter(|number| number % 60 == second.unsigned_abs() % 60) {
            self.ask(now, RequestLane::Fills, &BinanceRequest::my_trades(&symbol(number), TradesFrom::Id(7)));
        }
    }

    fn orders(&mut self, second: i64) {
        let terms = OrderTerms { quantity: 1.into(), kind: OrderKind::Market, tif: TimeInForce::Ioc };
        let ticket = ticket_of("S1USDT", Side::Buy, terms, OrderProperties::default(), "R1-1-0".to_owned()).unwrap();
        let cancel = BinanceRequest::cancel("S1USDT", &OrderReference::Client("R1-1-0".to_owned()), "R1-1-1");
        for _ in 0..12 {
            self.ask(at(second), RequestLane::Submit, &BinanceRequest::place(&ticket));
        }
        for _ in 0..6 {
            assert!(self.ask(at(second), RequestLane::Cancel, &cancel), "a cancel waits at {second}");
        }
    }

    fn second(&mut self, second: i64) {
        if second == 0 || second == CUT_AT {
            self.feed.on_line_down();
            self.feed.on_confirmed(&self.streams, at(second));
        }
        let was_whole = self.feed.is_whole();
        self.lists(second);
        self.orders(second);
        self.books(second);
        if !was_whole && self.feed.is_whole() {
            self.whole_after.push(second % CUT_AT);
        }
    }

    fn told(&self) -> String {
        let mut text = String::new();
        for ((lane, outcome), count) in &self.outcomes {
            writeln!(text, "{lane} {outcome}: {count}").unwrap();
        }
        writeln!(text, "books were whole after {:?} seconds", self.whole_after).unwrap();
        text
    }
}

fn symbol(number: u64) -> String {
    format!("S{number}USDT")
}

#[test]
fn an_hour_of_two_hundred_symbols_meets_no_refusal() {
    let mut hour = TradingHour::begin();
    (0..HOUR_SECONDS).for_each(|second| hour.second(second));
    assert_eq!(hour.venue.refused, 0, "{}", hour.told());
    expect![[r#"
        cancel sent: 21600
        depth sent: 965
        depth waits: 13749
        fills sent: 9430
        fills waits: 2690
        inquiry sent: 60
        listing sent: 12
        statement sent: 60
        submit sent: 36020
        submit waits: 7180
        books were whole after [103, 103] seconds
    "#]]
    .assert_eq(&hour.told());
}

/// Lists of fills that are asked for again at once, of all symbols: books still come, and so do fills.
#[test]
fn fills_of_two_hundred_symbols_do_not_keep_books_waiting_without_an_end() {
    const MINUTES: i64 = 10;
    let mut hour = TradingHour::begin();
    let mut fills_of = 0;
    for second in 0..60 * MINUTES {
        if second == 60 {
            hour.feed.on_line_down();
            hour.feed.on_confirmed(&hour.streams, at(second));
        }
        hour.gate.on_time(&ClockSample { sent: at(second), received: at(second), venue: at(second) });
        while hour.ask(
            at(second),
            RequestLane::Fills,
            &BinanceRequest::my_trades(&symbol(fills_of % 200 + 1), TradesFrom::Id(7)),
        ) {
            fills_of += 1;
        }
        hour.books(second);
        if second > 60 && hour.feed.is_whole() && hour.whole_after.is_empty() {
            hour.whole_after.push(second - 60);
        }
    }
    assert_eq!(hour.venue.refused, 0);
    let told = format!("books after {:?} seconds, {fills_of} lists of fills in {MINUTES} minutes\n", hour.whole_after);
    expect![[r#"
        books after [123] seconds, 1844 lists of fills in 10 minutes
    "#]]
    .assert_eq(&told);
}

/// A gap of reports: every open order is asked about until it is answered, and so are the fills of the symbols that are traded. Then the books
/// are discarded. None of them keeps another waiting without an end.
#[test]
fn questions_about_five_thousand_orders_do_not_keep_lists_and_books_waiting_until_all_are_answered() {
    const ORDERS: u64 = 5_000;
    const TRADED: u64 = 20;
    const BOOKS_LOST_AT: i64 = 30;
    let (mut hour, mut asked, mut listed, mut done) = (TradingHour::begin(), 0, 0, BTreeMap::new());
    for second in 0..600 {
        let now = at(second);
        hour.gate.on_time(&ClockSample { sent: now, received: now, venue: now });
        // As many as the engine asks about in a second, and those that were refused.
        let due = ORDERS.min((second.unsigned_abs() + 1) * 100);
        let status = BinanceRequest::order_status("S1USDT", &OrderReference::Client("R1-1-0".to_owned()));
        while asked < due && hour.ask(now, RequestLane::Inquiry, &status) {
            asked += 1;
        }
        // A list that failed is asked for again after ten seconds.
        while second >= BOOKS_LOST_AT && second % 10 == 0 && listed < TRADED {
            listed += 1;
            let fills = BinanceRequest::my_trades(&symbol(listed), TradesFrom::Id(7));
            if !hour.ask(now, RequestLane::Fills, &fills) {
                listed -= 1;
                break;
            }
        }
        if second == BOOKS_LOST_AT {
            hour.feed.on_line_down();
            hour.feed.on_confirmed(&hour.streams, now);
        }
        hour.books(second);
        let are_done = [
            ("questions", asked == ORDERS),
            ("fills", listed == TRADED),
            ("books", second > BOOKS_LOST_AT && hour.feed.is_whole()),
        ];
        for (what, _) in are_done.into_iter().filter(|(_, is_done)| *is_done) {
            done.entry(what).or_insert(second);
        }
    }
    assert_eq!(hour.venue.refused, 0);
    expect![[r#"
        {"books": 184, "fills": 70, "questions": 331}
    "#]]
    .assert_eq(&format!("{done:?}\n"));
}
