//! A session whose connections are the test's own.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use adapter_kit::RequestLane;
use adapter_kit::connection::RequestFailure;
use adapter_kit::venue_clock::ClockSample;
use adapters::SendOutcome;
use adapters::venue_type::{COMMON_SETTINGS, VenueContext, VenueSettings, VenueType};
use bus::Catalogue;
use domain::{Account, AdapterName, Order, ReferenceData, Timestamp};
use tokio::sync::mpsc::{Receiver, channel};

use crate::BinanceSpotType;
use crate::adapter::api_connection::ApiLine;
use crate::adapter::prices::price_connection::PriceLine;
use crate::adapter::state::{BinanceAdapter, BinanceSession};
use crate::adapter::waiting::{DueTimes, RequestPurpose, UnansweredRequest};
use crate::network::{EventSender, TaggedRequest, WAITING_REQUESTS_MAX};
use crate::protocol::requests::{BinanceRequest, OrderReference};
use crate::venue_type::open_adapter;

const AT: Timestamp = Timestamp(1_000_000_000_000_000_000);

fn reference() -> ReferenceData {
    let mut reference = ReferenceData::default();
    reference.exchanges.insert(samples::EXCHANGE, Arc::new(samples::exchange()));
    let security = samples::stock(7, "BTCUSDT");
    reference.securities.insert(security.id, Arc::new(security));
    let account = Account {
        adapter_type: "BINANCE-SPOT".into(),
        session_qualifier: Some("LAB".into()),
        ..samples::account(1, "Lab")
    };
    reference.accounts.insert(account.id, Arc::new(account));
    reference
}

/// An adapter of a venue that cannot be reached.
fn adapter(folder: &Path) -> BinanceAdapter {
    let (key, roots) = (folder.join("key.toml"), folder.join("roots.pem"));
    fs::write(&key, "apiKey = \"key\"\nsecret = \"secret\"\n").unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&roots, rcgen::generate_simple_self_signed(Vec::new()).unwrap().cert.pem()).unwrap();
    let written = [
        ("environment", "testnet".to_owned()),
        ("credentials", key.display().to_string()),
        ("trustedCertificates", roots.display().to_string()),
        ("rest", "http://127.0.0.1:9".to_owned()),
        ("wsApi", "ws://127.0.0.1:9/ws-api/v3".to_owned()),
        ("streams", "ws://127.0.0.1:9".to_owned()),
        ("name", "LAB".to_owned()),
        ("type", "binance-spot".to_owned()),
    ];
    let written: BTreeMap<_, _> = written.iter().map(|(key, text)| (*key, text.as_str())).collect();
    let tables: Vec<_> = [COMMON_SETTINGS].iter().chain(BinanceSpotType.settings()).copied().collect();
    let settings = VenueSettings::read("LAB", &tables, &written).unwrap();
    let catalogue = Catalogue::default();
    catalogue.replace(Arc::new(reference()));
    let context = VenueContext {
        instance: 7,
        records: None,
        adapter: AdapterName::new("BINANCE-SPOT", Some("LAB")),
        folder,
        clock: Arc::new(|| AT),
        catalogue,
        opening_quotes: &BTreeMap::new(),
        last_prices: &BTreeMap::new(),
        opening_cash: None,
    };
    open_adapter(&settings, &context).unwrap()
}

/// Logged on; what is sent by the WebSocket API comes here.
fn log_on(adapter: &mut BinanceAdapter) -> Receiver<TaggedRequest> {
    let (events, inbound) = channel(1);
    let out = EventSender { events, wake: adapter.wake.0.clone() };
    let (api, requests) = channel(WAITING_REQUESTS_MAX);
    let prices = PriceLine::open(channel(1).0, AT);
    let due = DueTimes::from(AT);
    adapter.gate.on_time(&ClockSample { sent: AT, received: AT, venue: AT });
    adapter.session = Some(BinanceSession { api: ApiLine::open(api), prices, events: inbound, out, begun: AT, due });
    requests
}

#[test]
fn inquiries_that_wait_behind_those_of_a_line_that_ended_are_not_sent_by_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut adapter = adapter(folder.path());
    // The line is open until the task that read it is gone, a moment after its end is told.
    let mut sent = log_on(&mut adapter);
    let order = |number| Order { security: samples::stock(7, "BTCUSDT").id, ..samples::order(number) };
    assert_eq!(adapter.send_inquiry(AT, &order(1)), SendOutcome::Sent);
    assert!(sent.try_recv().is_ok());
    // As where as many as may be are under way.
    let waiting = order(2);
    adapter.queued_inquiries.insert(waiting.id, (AT, waiting));

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
    let order = |number| Order { security: samples::stock(7, "BTCUSDT").id, ..samples::order(number) };
    assert_eq!(adapter.send_inquiry(AT, &order(1)), SendOutcome::Sent);
    let waiting = order(2);
    adapter.queued_inquiries.insert(waiting.id, (AT, waiting));
    leave_one_inquiry(&mut adapter);

    adapter.on_api_ended(AT, 0, "cut");
    assert_eq!(adapter.outbox.lost, None, "the session goes on over REST");
    let is_probe = |request: &UnansweredRequest| matches!(request.purpose, RequestPurpose::RestProbe(_));
    assert!(adapter.requests.values().any(is_probe));
    assert_eq!(adapter.queued_inquiries.len(), 1, "the inquiry waits for its share");
}
