//! The adapter on a data folder of its own, and a line to the venue that can be cut.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use adapter_fix::{FixAdapter, FixVenueType, open_adapter};
use adapters::Adapter;
use adapters::conformance::{DurableView, Harness, OrderIntent};
use adapters::venue_type::{COMMON_SETTINGS, VenueContext, VenueSettings, VenueType};
use bus::Catalogue;
use domain::order::OrderTerms;
use domain::{Account, AdapterName, Order, OrderKind, ReferenceData, SecurityId, TimeInForce, Timestamp};
use scenarios::proxy::CuttableProxy;
use tempfile::TempDir;

use crate::venue::RialtoVenue;

/// A wait that takes longer than this has failed, on any machine.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// Between two looks at the venue; what it has sent is here by the second.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Each harness is another installation: its ids are its own at the venue.
const INSTANCE: u64 = 7;

pub(crate) struct RialtoHarness<'a> {
    venue: &'a RialtoVenue,
    session: String,
    line: CuttableProxy,
    adapter: FixAdapter,
    folder: TempDir,
    orders: u64,
    is_down: bool,
}

impl<'a> RialtoHarness<'a> {
    pub(crate) fn new(venue: &'a RialtoVenue) -> Self {
        let (session, folder) = (venue.next_session(), tempfile::tempdir().unwrap());
        let line = CuttableProxy::to(venue.address());
        let adapter = adapter(&session, &line, folder.path());
        Self { venue, session, line, adapter, folder, orders: 0, is_down: false }
    }

    /// The number of the adapter's next message, which is on disk before a message leaves.
    fn next_out(&self) -> u64 {
        let file = context(self.folder.path()).file("numbers");
        let text = fs::read_to_string(file).unwrap_or_default();
        text.lines().last().and_then(|line| line.split(' ').nth(1)?.parse().ok()).unwrap_or(1)
    }

    /// Until the venue has every request, every order has its answer, and nothing more is sent.
    fn settle(&self) {
        let begun = Instant::now();
        let mut sent = None;
        loop {
            let (next_in, next_out) = self.venue.numbers(&self.session);
            let has_all = next_in.is_none_or(|next_in| next_in >= self.next_out());
            let is_quiet = has_all && !self.venue.is_busy(&self.session);
            if is_quiet && sent.replace(next_out) == Some(next_out) {
                return;
            }
            assert!(begun.elapsed() < WAIT_MAX, "the venue did not answer: {} of {next_in:?}", self.next_out());
            thread::sleep(LOOK_EVERY);
        }
    }
}

impl Harness for RialtoHarness<'_> {
    fn adapter(&mut self) -> &mut dyn Adapter {
        &mut self.adapter
    }

    fn now(&self) -> Timestamp {
        now()
    }

    /// On a line that was cut, both ends have noticed it.
    fn advance(&mut self) {
        if !self.is_down {
            return self.settle();
        }
        let begun = Instant::now();
        while self.venue.numbers(&self.session).0.is_some() {
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
        self.settle();
        self.is_down = true;
        self.line.cut();
    }

    fn reconnect(&mut self) {
        self.is_down = false;
        self.line.restore();
    }

    /// What the session layer loses it asks for again.
    fn lose_reports(&mut self, _: bool) -> bool {
        false
    }

    /// An order of another session is not told on this one.
    fn place_elsewhere(&mut self, _: OrderIntent) -> bool {
        false
    }

    /// The venue is another process: only the adapter starts again.
    fn restart(&mut self) {
        let fresh = tempfile::tempdir().unwrap();
        // The numbers are used by one adapter at a time.
        self.adapter = adapter("NOBODY", &self.line, fresh.path());
        self.adapter = adapter(&self.session, &self.line, self.folder.path());
    }

    /// Its disk is its own.
    fn durable_view(&self) -> Option<DurableView> {
        None
    }
}

fn terms(quantity: i64, kind: OrderKind) -> OrderTerms {
    OrderTerms { quantity: quantity.into(), kind, tif: TimeInForce::Gtc }
}

fn now() -> Timestamp {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Timestamp(i64::try_from(since_1970.as_nanos()).unwrap())
}

fn adapter(session: &str, line: &CuttableProxy, folder: &Path) -> FixAdapter {
    let port = line.address().port().to_string();
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
