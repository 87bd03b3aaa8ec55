//! An adapter that is logged on over a connection of the test's own.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use adapter_kit::venue_clock::ClockSample;
use adapters::venue_type::{COMMON_SETTINGS, VenueContext, VenueSettings, VenueType};
use bus::Catalogue;
use domain::{Account, AdapterName, Order, ReferenceData, Timestamp};
use tokio::sync::mpsc::{Receiver, channel};

use super::api_connection::ApiLine;
use super::prices::price_connection::PriceLine;
use super::state::{BinanceAdapter, BinanceSession};
use super::waiting::DueTimes;
use crate::BinanceSpotType;
use crate::network::{EventSender, TaggedRequest, WAITING_REQUESTS_MAX};
use crate::venue_type::open_adapter;

pub(super) const AT: Timestamp = Timestamp(1_000_000_000_000_000_000);

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
pub(super) fn adapter(folder: &Path) -> BinanceAdapter {
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
pub(super) fn log_on(adapter: &mut BinanceAdapter) -> Receiver<TaggedRequest> {
    let (events, inbound) = channel(1);
    let out = EventSender { events, wake: adapter.wake.0.clone() };
    let (api, requests) = channel(WAITING_REQUESTS_MAX);
    let prices = PriceLine::open(channel(1).0, AT);
    let due = DueTimes::from(AT);
    adapter.gate.on_time(&ClockSample { sent: AT, received: AT, venue: AT });
    adapter.session = Some(BinanceSession { api: ApiLine::open(api), prices, events: inbound, out, begun: AT, due });
    requests
}

pub(super) fn order(number: u64) -> Order {
    Order { security: samples::stock(7, "BTCUSDT").id, ..samples::order(number) }
}
