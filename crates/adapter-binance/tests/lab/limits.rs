//! Rate limits over sockets: within the venue's own limits divided by twenty nothing is refused, and while the venue has told us to wait
//! nothing is sent, after a restart neither.

use std::collections::BTreeSet;
use std::env;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use adapter_binance::BinanceAdapter;
use adapter_binance::protocol::requests::BinanceRequest;
use adapter_kit::recording::{RecordedEvent, RecordedMessage};
use adapters::{MarketFeed, OrderSession, ReportSink, SendOutcome};
use domain::command::MarketData;
use domain::report::{InquiryAnswer, InquiryResult, ReportKind};
use domain::{AccountId, Order, OrderId, SecurityId, Timestamp};
use tempfile::TempDir;

use crate::harness::{LabPair, WAIT_MAX, adapter_for, terms};
use crate::lab::{Lab, now, run_value};

/// A twentieth of two hundred symbols, at a twentieth of the venue's limits.
const SYMBOLS: u64 = 10;
const LIMITS: [&str; 4] = [
    "limits.requestWeightPerMinute=300",
    "limits.rawRequestsPer5Minutes=3050",
    "limits.ordersPer10Seconds=5",
    "limits.ordersPerDay=10000",
];
/// `make venue-limits` runs for three minutes.
const SECONDS_USUAL: u64 = 12;

struct Nothing;

impl ReportSink for Nothing {
    fn on_report(&mut self, _: Option<Timestamp>, _: ReportKind) {}
    fn on_market_data(&mut self, _: MarketData) {}
}

/// A lab with narrow limits, and the adapter with a recording.
struct NarrowVenue {
    lab: Lab,
    adapter: BinanceAdapter,
    folder: TempDir,
    orders: u64,
}

impl NarrowVenue {
    fn start(limits: &[&str]) -> Self {
        let (folder, symbols) = (tempfile::tempdir().unwrap(), symbols());
        let lab = Lab::start_with(&[&["activity=calm", symbols.as_str()][..], limits].concat());
        lab.write_credentials(&folder.path().join("key.toml"), "ALPHA", "ED25519");
        let adapter = adapter_of(&lab, &folder);
        Self { lab, adapter, folder, orders: 0 }
    }

    fn log_on(&mut self) {
        self.adapter.connect(now()).unwrap();
        self.adapter.snapshot(now()).unwrap();
    }

    fn subscribe(&mut self) {
        for number in 1..=SYMBOLS {
            assert_eq!(self.adapter.subscribe(now(), SecurityId(number)), SendOutcome::Sent);
        }
    }

    fn deliver(&mut self) {
        self.adapter.deliver(now(), &mut Nothing).unwrap();
    }

    /// What the venue was asked and what it has answered, over REST and the WebSocket API.
    fn recorded(&self) -> Vec<RecordedEvent> {
        let files = fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let files: Vec<PathBuf> =
            files.filter(|path| path.display().to_string().ends_with(".messages.jsonl")).collect();
        let lines = files.iter().flat_map(|path| {
            let text = fs::read_to_string(path).unwrap();
            text.lines().map(ToOwned::to_owned).collect::<Vec<_>>()
        });
        lines.filter_map(|line| serde_json::from_str::<RecordedMessage>(&line).ok()).map(|said| said.event).collect()
    }

    fn sent(&self) -> usize {
        let is_sent =
            |event: &&RecordedEvent| matches!(event, RecordedEvent::Request { .. } | RecordedEvent::Sent { .. });
        self.recorded().iter().filter(is_sent).count()
    }

    fn refusals(&self) -> usize {
        let is_refusal = |event: &&RecordedEvent| match event {
            RecordedEvent::Response { status, .. } => [418, 429].contains(status),
            RecordedEvent::Received { text } => text.contains("\"status\":429") || text.contains("\"status\":418"),
            _ => false,
        };
        self.recorded().iter().filter(is_refusal).count()
    }

    fn order(&mut self) -> Order {
        self.orders += 1;
        Order {
            terms: terms("0.01", Some("20000")),
            security: SecurityId(1),
            exchange_order: true,
            ..samples::order(self.orders)
        }
    }

    /// Asks for something of every kind; what did not leave is given back with its reason.
    fn ask_for_everything(&mut self, at: Timestamp) -> Vec<String> {
        let order = self.order();
        let mut outcomes = vec![
            self.adapter.submit(at, &order),
            self.adapter.list_open_orders(at),
            self.adapter.ask_statement(at, AccountId(1)),
        ];
        outcomes.extend((1..=SYMBOLS).map(|number| self.adapter.list_fills(at, Some(SecurityId(number)), None)));
        let reason = |outcome: SendOutcome| match outcome {
            SendOutcome::NotSent(reason) => Some(reason.to_string()),
            _ => None,
        };
        outcomes.into_iter().filter_map(reason).collect()
    }
}

fn adapter_of(lab: &Lab, folder: &TempDir) -> BinanceAdapter {
    let addresses = ["binanceRest", "binanceWsApi", "binanceStreams"].map(|face| lab.socket_address(face));
    let pairs: Vec<LabPair> = (1..=SYMBOLS).map(|number| LabPair { id: number, base: format!("C{number}") }).collect();
    adapter_for(addresses, folder.path(), &[("recording", "true")], &pairs)
}

fn symbols() -> String {
    let mut text = "symbols=[".to_owned();
    for number in 1..=SYMBOLS {
        write!(
            text,
            r#"{{symbol="C{number}USDT",base="C{number}",quote="USDT",tickSize="0.01",stepSize="0.00001",mid="60000",spreadTicks=2,size="0.5"}},"#
        )
        .unwrap();
    }
    // The demo's accounts hold it.
    text.push_str(
        r#"{symbol="BNBUSDT",base="BNB",quote="USDT",tickSize="0.01",stepSize="0.001",mid="600",spreadTicks=2,size="10"}]"#,
    );
    text
}

#[test]
fn within_a_twentieth_of_the_limits_the_venue_refuses_nothing() {
    let seconds = env::var("LIMIT_SECONDS").map_or(SECONDS_USUAL, |text| text.parse().unwrap());
    let mut venue = NarrowVenue::start(&LIMITS);
    venue.log_on();
    venue.subscribe();
    let (begun, mut second, mut held_back) = (Instant::now(), 0, Vec::new());
    while second < seconds {
        venue.deliver();
        if begun.elapsed() >= Duration::from_secs(second) {
            second += 1;
            // Far more than the limits allow.
            held_back.extend(venue.ask_for_everything(now()));
        }
        thread::sleep(Duration::from_millis(10));
    }
    assert!(held_back.iter().any(|reason| reason.starts_with("venue-rate:")), "the limits are wide: {held_back:?}");
    assert!(venue.sent() > 10, "hardly anything was asked");
    assert_eq!(venue.refusals(), 0, "the venue had to refuse");
}

/// Each costs the venue a status, and all of them one list. With a list each the limits would end after 200 of them.
#[test]
fn a_thousand_orders_that_never_arrived_are_asked_about_within_a_minute_s_limits() {
    const ORDERS: usize = 1_000;
    let mut venue = NarrowVenue::start(&[]);
    venue.log_on();
    let (at, mut answers) = (now(), NotFound(BTreeSet::new()));
    let unlisted = Order { security: SecurityId(99), ..venue.order() };
    for _ in 0..ORDERS {
        let order = venue.order();
        assert_eq!(venue.adapter.inquire(at, &order), SendOutcome::Sent);
    }
    // Of all that wait it would be the first.
    let refused = SendOutcome::NotSent("venue-unlisted: the venue does not list the security".into());
    assert_eq!(venue.adapter.inquire(at, &unlisted), refused);
    let begun = Instant::now();
    while answers.0.len() < ORDERS {
        assert!(begun.elapsed() < WAIT_MAX, "{} of {ORDERS} are answered", answers.0.len());
        venue.adapter.deliver(now(), &mut answers).unwrap();
        thread::sleep(Duration::from_millis(1));
    }
    let is_list = |event: &&RecordedEvent| matches!(event, RecordedEvent::Sent { text } if text.contains("allOrders"));
    assert_eq!((venue.recorded().iter().filter(is_list).count(), venue.refusals()), (1, 0));
}

/// Orders that the venue does not have.
struct NotFound(BTreeSet<OrderId>);

impl ReportSink for NotFound {
    fn on_report(&mut self, _: Option<Timestamp>, said: ReportKind) {
        if let ReportKind::Inquiry(InquiryAnswer { order, result: InquiryResult::NotFound, .. }) = said {
            assert!(self.0.insert(order), "{order} is answered twice");
        }
    }

    fn on_market_data(&mut self, _: MarketData) {}
}

/// A new leader of a cluster has no file of the limits, and the one before it has used more than is assumed of a venue that has stated none.
#[test]
fn a_first_log_on_does_not_wait_because_another_program_of_the_address_has_asked_a_lot() {
    let mut venue = NarrowVenue::start(&[]);
    let rest = venue.lab.rest("HMAC");
    for _ in 0..14 {
        assert_eq!(run_value(rest.call(&BinanceRequest::open_orders(None))).status, 200);
    }
    venue.log_on();
    assert_eq!(venue.refusals(), 0);
}

#[test]
fn after_429_nothing_is_sent_before_its_time_and_a_ban_survives_a_restart() {
    let mut venue = NarrowVenue::start(&LIMITS);
    venue.log_on();
    run_value(venue.lab.arm("rate-limited"));
    let begun = Instant::now();
    while venue.refusals() == 0 {
        assert!(begun.elapsed() < WAIT_MAX, "the fault did not strike");
        let _ = venue.adapter.list_open_orders(now());
        venue.deliver();
        thread::sleep(Duration::from_millis(20));
    }
    // What was on its way when the refusal came is answered.
    while !venue.adapter.is_settled() {
        venue.deliver();
    }
    let (sent, at) = (venue.sent(), now());
    let refused = venue.ask_for_everything(at);
    assert!(refused.iter().all(|reason| reason.starts_with("venue-retry-after:")), "{refused:?}");
    assert_eq!((refused.len(), venue.sent()), (3 + 10, sent), "nothing was sent");

    // Another program of the same address goes on in spite of refusals, until the venue bans the address.
    let rest = venue.lab.rest("HMAC");
    let status = || run_value(rest.call(&BinanceRequest::open_orders(None))).status;
    while status() != 418 {
        assert!(begun.elapsed() < WAIT_MAX, "the venue bans nobody");
    }
    // The adapter is told the time: the hold is over, and so is the window of its limits.
    let after = now().plus_seconds(70);
    let begun = Instant::now();
    while venue.sent() == sent || !venue.adapter.is_settled() {
        assert!(begun.elapsed() < WAIT_MAX, "the hold did not end");
        let _ = venue.adapter.list_open_orders(after);
        venue.adapter.deliver(after, &mut Nothing).unwrap();
    }
    let sent = venue.sent();
    let refused = venue.ask_for_everything(after.plus_seconds(20));
    assert!(refused.len() == 13 && refused.iter().all(|reason| reason.starts_with("venue-ban:")), "{refused:?}");
    venue.adapter.disconnect(now());
    venue.adapter = adapter_of(&venue.lab, &venue.folder);
    let refused = venue.adapter.connect(now()).unwrap_err().to_string();
    assert!(refused.contains("venue-ban:"), "{refused}");
    assert_eq!(venue.sent(), sent, "nothing was sent");
}
