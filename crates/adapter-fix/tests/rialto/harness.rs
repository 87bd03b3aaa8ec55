//! The adapter on a data folder of its own, and a line to the venue that can be cut.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use adapter_fix::{FixAdapter, FixVenueType, open_adapter};
use adapters::Adapter;
use adapters::conformance::{DurableView, Harness, OrderIntent};
use adapters::venue_type::{COMMON_SETTINGS, VenueContext, VenueSettings, VenueType};
use bus::Catalogue;
use domain::order::OrderTerms;
use domain::report::LineKind;
use domain::{Account, AdapterName, Order, OrderKind, ReferenceData, SecurityId, TimeInForce, Timestamp};
use scenarios::proxy::CuttableProxy;
use tempfile::TempDir;

use crate::host::HostedAdapter;
use crate::venue::{RialtoVenue, price_session};
use crate::venue_watch::{LOOK_EVERY, VenueWatch, WAIT_MAX};

/// Each harness is another installation: its ids are its own at the venue.
const INSTANCE: u64 = 7;

pub(crate) struct RialtoHarness<'a> {
    venue: &'a RialtoVenue,
    session: String,
    line: CuttableProxy,
    price_line: CuttableProxy,
    hosted: HostedAdapter,
    folder: TempDir,
    orders: u64,
    is_down: bool,
}

impl<'a> RialtoHarness<'a> {
    pub(crate) fn new(venue: &'a RialtoVenue) -> Self {
        let (session, folder) = (venue.next_session(), tempfile::tempdir().unwrap());
        let [line, price_line] = [(); 2].map(|()| CuttableProxy::to(venue.address()));
        let watch = VenueWatch {
            address: venue.rest_address(),
            orders: session.clone(),
            prices: price_session(&session),
            numbers: context(folder.path()).file("numbers"),
        };
        let adapter = adapter(&session, [&line, &price_line], folder.path());
        let hosted = HostedAdapter { adapter, watch, is_without_prices: false };
        Self { venue, session, line, price_line, hosted, folder, orders: 0, is_down: false }
    }

    fn watch(&self) -> &VenueWatch {
        &self.hosted.watch
    }
}

impl Harness for RialtoHarness<'_> {
    fn adapter(&mut self) -> &mut dyn Adapter {
        &mut self.hosted
    }

    fn now(&self) -> Timestamp {
        now()
    }

    /// On a line that was cut, both ends have noticed it.
    fn advance(&mut self) {
        if !self.is_down {
            return self.watch().settle();
        }
        let begun = Instant::now();
        while self.watch().is_logged_on() || self.watch().has_price_session() {
            assert!(begun.elapsed() < WAIT_MAX, "the venue did not notice that the line is cut");
            thread::sleep(LOOK_EVERY);
        }
        thread::sleep(LOOK_EVERY);
    }

    /// The demo's Apple stands at 272.39 to 272.41.
    fn order(&mut self, aim: OrderIntent) -> Order {
        self.orders += 1;
        let terms = match aim {
            OrderIntent::Rest => terms(10, OrderKind::Limit { limit: "250".parse().unwrap() }),
            OrderIntent::Trade => terms(1, OrderKind::Limit { limit: "272.41".parse().unwrap() }),
        };
        Order { terms, security: SecurityId(1), exchange_order: true, ..samples::order(self.orders) }
    }

    fn other_terms(&self, _: &Order) -> OrderTerms {
        terms(20, OrderKind::Limit { limit: "251".parse().unwrap() })
    }

    fn disconnect(&mut self) {
        self.watch().settle();
        self.is_down = true;
        self.line.cut();
        self.price_line.cut();
    }

    fn reconnect(&mut self) {
        self.is_down = false;
        self.line.restore();
        self.price_line.restore();
    }

    /// The messages of the venue are lost on the line. The numbers of the session show it, and the venue is asked for them.
    fn lose_reports(&mut self, lost: bool) -> bool {
        self.line.lose_answers(lost);
        true
    }

    /// Prices have a line of their own.
    fn switch_line(&mut self, line: LineKind, up: bool) -> bool {
        if line != LineKind::Prices {
            return false;
        }
        self.hosted.is_without_prices = !up;
        if up {
            self.price_line.restore();
        } else {
            self.price_line.cut();
        }
        true
    }

    /// An order of another session is not told on this one.
    fn place_elsewhere(&mut self, _: OrderIntent) -> bool {
        false
    }

    /// The adapter has subscribed to the list.
    fn change_listing(&mut self) -> bool {
        self.venue.change_listing();
        true
    }

    /// The venue is another process: only the adapter starts again.
    fn restart(&mut self) {
        let fresh = tempfile::tempdir().unwrap();
        // The numbers are used by one adapter at a time.
        let lines = [&self.line, &self.price_line];
        self.hosted.adapter = adapter("NOBODY", lines, fresh.path());
        self.hosted.adapter = adapter(&self.session, lines, self.folder.path());
    }

    /// Its disk is its own.
    fn durable_view(&self) -> Option<DurableView> {
        None
    }
}

fn terms(quantity: i64, kind: OrderKind) -> OrderTerms {
    OrderTerms { quantity: quantity.into(), kind, tif: TimeInForce::Gtc }
}

pub(crate) fn now() -> Timestamp {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Timestamp(i64::try_from(since_1970.as_nanos()).unwrap())
}

fn adapter(session: &str, lines: [&CuttableProxy; 2], folder: &Path) -> FixAdapter {
    let ([port, price_port], prices) = (lines.map(|line| line.address().port().to_string()), price_session(session));
    let written: BTreeMap<&str, &str> = [
        ("name", "BACK"),
        ("type", "fix"),
        ("dialect", "rialto"),
        ("environment", "live"),
        ("host", "127.0.0.1"),
        ("port", &port),
        ("tls", "false"),
        ("senderCompId", session),
        ("targetCompId", "RIALTO"),
        ("marketDataPort", &price_port),
        ("marketDataSenderCompId", &prices),
    ]
    .into();
    let tables: Vec<_> = [COMMON_SETTINGS].iter().chain(FixVenueType.settings()).copied().collect();
    let settings = VenueSettings::read("BACK", &tables, &written).unwrap();
    assert_eq!(FixVenueType.check(&settings), []);
    open_adapter(&settings, &context(folder)).unwrap()
}

fn context(folder: &Path) -> VenueContext<'_> {
    static NO_QUOTES: BTreeMap<SecurityId, venue_sim::OpeningQuotes> = BTreeMap::new();
    static NO_PRICES: BTreeMap<SecurityId, domain::Price> = BTreeMap::new();
    VenueContext {
        instance: INSTANCE,
        records: None,
        adapter: AdapterName::new("FIX", Some("BACK")),
        folder,
        clock: Arc::new(now),
        catalogue: catalogue(),
        opening_quotes: &NO_QUOTES,
        last_prices: &NO_PRICES,
        opening_cash: None,
    }
}

fn catalogue() -> Catalogue {
    let mut reference = ReferenceData::default();
    reference.exchanges.insert(samples::EXCHANGE, Arc::new(samples::exchange()));
    let stock = samples::stock(1, "AAPL");
    reference.securities.insert(stock.id, Arc::new(stock));
    // The demo's, which trades Apple.
    let account = Account { ext_account: Some("Rialto Desk".into()), ..samples::account(1, "DESK") };
    reference.accounts.insert(account.id, Arc::new(account));
    let catalogue = Catalogue::default();
    catalogue.replace(Arc::new(reference));
    catalogue
}
