//! An adapter on a data folder, and everything that it reports.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use adapter_fix::{FixAdapter, FixVenueType, open_adapter};
use adapters::venue_type::{COMMON_SETTINGS, VenueContext, VenueSettings, VenueType};
use adapters::{MarketFeed, OrderSession, ReportSink, SendLease, SendOutcome};
use bus::Catalogue;
use domain::command::MarketData;
use domain::order::OrderTerms;
use domain::report::{FilledTotal, FillsPage, InquiryResult, ReportKind, VenueFill};
use domain::{AdapterName, Order, OrderBook, OrderKind, Security, SecurityId, Side, TimeInForce, Timestamp};
use tempfile::TempDir;

const INSTANCE: u64 = 7;

/// A wait that takes longer than this has failed, on any machine.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// Where the venue is, and the CompIDs of both sides.
pub(crate) struct VenueAddress {
    pub(crate) port: u16,
    pub(crate) sender: &'static str,
    pub(crate) target: &'static str,
}

pub(crate) struct TestAdapter {
    adapter: FixAdapter,
    reports: Reports,
    numbers: PathBuf,
    /// How far its clock is ahead.
    ahead_seconds: i64,
}

/// What was reported and not looked at, the newest book, how many reports there were, how many are durable, and how many books there were.
#[derive(Default)]
struct Reports(Vec<String>, Option<OrderBook>, u64, u64, u64);

impl ReportSink for Reports {
    fn on_report(&mut self, _: Option<Timestamp>, report: ReportKind) {
        self.2 += 1;
        self.0.push(match report {
            ReportKind::Accepted { order, .. } => format!("{order} accepted"),
            ReportKind::Filled(fill) => {
                format!("{} filled {} @ {} ({})", fill.order, fill.quantity, fill.price, fill.exec_id)
            }
            ReportKind::Canceled { order, .. } => format!("{order} cancelled"),
            ReportKind::NotSent { order, reason } => format!("{order} not sent: {reason}"),
            ReportKind::Rejected { order, reason } => format!("{order} rejected: {reason}"),
            ReportKind::Replaced { order, terms, .. } => {
                format!("{order} replaced: {} {:?}", terms.quantity, terms.kind)
            }
            ReportKind::DeliveryUnknown { order, reason, .. } => format!("{order} in doubt: {reason}"),
            ReportKind::CancelRejected { order, reason } => format!("{order} cancel refused: {reason}"),
            ReportKind::ReplaceRejected { order, reason } => format!("{order} replace refused: {reason}"),
            ReportKind::UnclearReport { order, reason } => format!("{order} unclear: {reason}"),
            ReportKind::Inquiry(answer) => match answer.result {
                InquiryResult::Found(seen, _) => {
                    let of =
                        |total: &FilledTotal| format!(", {} filled @ {} in all", total.quantity, total.average_price);
                    let filled = answer.filled.as_deref().map(of).unwrap_or_default();
                    format!("{} found: {:?} {}{filled}", answer.order, seen.state, seen.terms.quantity)
                }
                InquiryResult::NotFound => format!("{} not found", answer.order),
            },
            ReportKind::Fills(page) => fills_listed(&page),
            ReportKind::TakenBack { order, exec_id, by, .. } => {
                let by =
                    by.map_or_else(String::new, |by| format!(" for {} @ {} ({})", by.quantity, by.price, by.exec_id));
                format!("{order} takes back {exec_id}{by}")
            }
            ReportKind::ListingFailed { scope, reason } => format!("no list of {scope:?}: {reason}"),
            ReportKind::Line { line, up, .. } => format!("{} {}", line.name(), if up { "up" } else { "down" }),
            other => format!("{other:?}"),
        });
    }

    fn on_market_data(&mut self, data: MarketData) {
        match data {
            MarketData::Book(book) => {
                self.1 = Some(book);
                self.4 += 1;
            }
            MarketData::Gap(gap) => {
                self.0.push(format!("{} prices lost: {}, {}", gap.security, gap.cause.name(), gap.feed));
            }
            MarketData::Tick(_) | MarketData::Trade(_) => {}
        }
    }

    fn reports_passed(&self) -> u64 {
        self.2
    }

    fn reports_durable(&self) -> u64 {
        self.3
    }
}

fn fills_listed(page: &FillsPage) -> String {
    let fill = |fill: &VenueFill| format!("{} {} @ {} ({})", fill.order, fill.quantity, fill.price, fill.exec_id);
    let fills: Vec<_> = page.fills.iter().map(fill).collect();
    let from = page.from.as_deref().unwrap_or("the beginning");
    let (end, next) = (if page.last { "last" } else { "more" }, page.next_cursor.as_deref().unwrap_or("none"));
    format!("fills from {from}: {}; {end}, next {next}", fills.join(", "))
}

pub(crate) fn now() -> Timestamp {
    let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    Timestamp(i64::try_from(since_1970.as_nanos()).unwrap())
}

/// A day order for 100 at 10.5.
pub(crate) fn order(id: u64, side: Side) -> Order {
    let kind = OrderKind::Limit { limit: "10.5".parse().unwrap() };
    Order { side, terms: OrderTerms { quantity: 100.into(), kind, tif: TimeInForce::Day }, ..samples::order(id) }
}

fn catalogue() -> Catalogue {
    let mut reference = domain::ReferenceData::default();
    reference.exchanges.insert(samples::EXCHANGE, Arc::new(samples::exchange()));
    let microsoft = Security { isin: Some("US5949181045".into()), ..samples::stock(1, "MSFT") };
    for stock in [microsoft, samples::stock(2, "BTCUSDT")] {
        reference.securities.insert(stock.id, Arc::new(stock));
    }
    let account = samples::account(1, "DESK");
    reference.accounts.insert(account.id, Arc::new(account));
    let catalogue = Catalogue::default();
    catalogue.replace(Arc::new(reference));
    catalogue
}

impl TestAdapter {
    pub(crate) fn open(folder: &TempDir, dialect: &'static str, address: &VenueAddress) -> Self {
        Self::open_with(folder, dialect, address, &[])
    }

    /// With further settings.
    pub(crate) fn open_with(
        folder: &TempDir,
        dialect: &'static str,
        address: &VenueAddress,
        further: &[(&str, &str)],
    ) -> Self {
        let context = context(folder.path());
        let settings = settings(dialect, address, further);
        assert_eq!(FixVenueType.check(&settings), []);
        let (adapter, numbers) = (open_adapter(&settings, &context).unwrap(), context.file("numbers"));
        Self { adapter, reports: Reports::default(), numbers, ahead_seconds: 0 }
    }

    /// Why a venue with these settings is not opened.
    pub(crate) fn refusal(
        folder: &TempDir,
        dialect: &'static str,
        address: &VenueAddress,
        further: &[(&str, &str)],
    ) -> String {
        let opened = open_adapter(&settings(dialect, address, further), &context(folder.path()));
        opened.err().map(|error| error.to_string()).unwrap_or_default()
    }

    pub(crate) fn connect(&mut self) {
        self.connect_while(|| ());
    }

    /// So many seconds later on its clock, which then stands still until the log-on, while the venue does its part.
    pub(crate) fn connect_after(&mut self, seconds: i64, venue: impl FnOnce() + Send) {
        self.ahead_seconds += seconds;
        let (at, begun) = (self.at(), Instant::now());
        std::thread::scope(|scope| {
            scope.spawn(venue);
            while let Err(lost) = self.adapter.connect(at) {
                assert!(begun.elapsed() < WAIT_MAX, "no log-on: {lost}");
            }
        });
    }

    /// Whether the first log-on fails.
    pub(crate) fn is_refused(&mut self) -> bool {
        self.adapter.connect(now()).is_err()
    }

    /// While the venue does its part.
    pub(crate) fn connect_while(&mut self, venue: impl FnOnce() + Send) {
        let begun = Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(venue);
            while let Err(lost) = self.adapter.connect(now()) {
                assert!(begun.elapsed() < WAIT_MAX, "no log-on: {lost}");
            }
        });
        let snapshot = self.adapter.snapshot(now()).unwrap();
        assert_eq!((snapshot.complete, snapshot.orders.len()), (false, 0));
    }

    pub(crate) fn set_lease(&mut self, lease: SendLease) {
        self.adapter.set_lease(lease);
    }

    pub(crate) fn submit(&mut self, order: &Order) {
        assert_eq!(self.place(order), SendOutcome::Sent);
    }

    pub(crate) fn place(&mut self, order: &Order) -> SendOutcome {
        self.adapter.submit(now(), order)
    }

    pub(crate) fn cancel(&mut self, order: &Order) -> SendOutcome {
        self.adapter.cancel(now(), order)
    }

    pub(crate) fn replace(&mut self, order: &Order, terms: OrderTerms) -> SendOutcome {
        self.adapter.modify(now(), order, terms)
    }

    pub(crate) fn inquire(&mut self, order: &Order) -> SendOutcome {
        self.adapter.inquire(now(), order)
    }

    pub(crate) fn list_fills(&mut self, cursor: Option<&str>) -> SendOutcome {
        self.adapter.list_fills(now(), None, cursor.map(Into::into).as_ref())
    }

    pub(crate) fn deliver(&mut self) {
        self.adapter.deliver(self.at(), &mut self.reports).unwrap();
    }

    fn at(&self) -> Timestamp {
        now().plus_seconds(self.ahead_seconds)
    }

    /// Time passes on its clock.
    pub(crate) fn advance(&mut self, seconds: i64) {
        self.ahead_seconds += seconds;
        self.deliver();
    }

    /// The journal has everything that was reported so far.
    pub(crate) fn make_durable(&mut self) {
        self.reports.3 = self.reports.2;
    }

    pub(crate) fn numbers_file(&self) -> PathBuf {
        self.numbers.clone()
    }

    /// The first message of the venue that it would ask for after a crash now.
    pub(crate) fn confirmed(&self) -> u64 {
        let text = std::fs::read_to_string(&self.numbers).unwrap();
        text.lines().last().unwrap().rsplit(' ').next().unwrap().parse().unwrap()
    }

    /// Everything that is reported, when there are so many reports.
    pub(crate) fn reports(&mut self, count: usize) -> Vec<String> {
        let begun = Instant::now();
        while self.reports.0.len() < count {
            assert!(begun.elapsed() < WAIT_MAX, "only {:?}", self.reports.0);
            self.adapter.deliver(self.at(), &mut self.reports).unwrap();
            let _ = self.adapter.waker().recv_timeout(Duration::from_millis(20));
        }
        std::mem::take(&mut self.reports.0)
    }

    pub(crate) fn subscribe(&mut self, security: SecurityId) {
        assert_eq!(self.adapter.subscribe(now(), security), SendOutcome::Sent);
    }

    /// How many books were told.
    pub(crate) fn books(&self) -> u64 {
        self.reports.4
    }

    /// Delivers until the newest book is as wanted.
    pub(crate) fn book_until(&mut self, is_wanted: impl FnMut(&OrderBook) -> bool) -> OrderBook {
        self.book_after(0, is_wanted)
    }

    /// The same, when there were so many books.
    pub(crate) fn book_after(&mut self, least: u64, mut is_wanted: impl FnMut(&OrderBook) -> bool) -> OrderBook {
        let mut begun = Instant::now();
        let mut last = self.books();
        loop {
            self.adapter.deliver(self.at(), &mut self.reports).unwrap();
            if let Some(book) = self.reports.1.as_ref().filter(|book| self.reports.4 >= least && is_wanted(book)) {
                return book.clone();
            }
            if std::mem::replace(&mut last, self.books()) != self.books() {
                begun = Instant::now();
            }
            assert!(begun.elapsed() < WAIT_MAX, "the last book is {:?}", self.reports.1);
            let _ = self.adapter.waker().recv_timeout(Duration::from_millis(20));
        }
    }

    /// Until something happens on the line that the adapter has not looked at.
    pub(crate) fn wait_for_news(&mut self, cause: impl FnOnce()) {
        let waker = self.adapter.waker();
        let _ = waker.try_recv();
        cause();
        waker.recv_timeout(WAIT_MAX).unwrap();
    }

    /// As the host does it, whatever waits to be delivered.
    pub(crate) fn disconnect(&mut self) {
        self.adapter.disconnect(now());
    }

    /// Until the session is lost; the adapter is disconnected then, as the host does it.
    pub(crate) fn lose(&mut self) {
        let begun = Instant::now();
        while self.adapter.deliver(self.at(), &mut self.reports).is_ok() {
            assert!(begun.elapsed() < WAIT_MAX, "the session was not lost");
            let _ = self.adapter.waker().recv_timeout(Duration::from_millis(20));
        }
        self.disconnect();
        assert_eq!(self.adapter.submit(now(), &order(99, Side::Buy)), SendOutcome::NotSent("not logged on".into()));
    }
}

/// Asks something of a venue that is not opened.
pub(crate) fn question<T>(
    folder: &TempDir,
    dialect: &'static str,
    address: &VenueAddress,
    further: &[(&str, &str)],
    ask: impl FnOnce(&VenueSettings, &VenueContext<'_>) -> T,
) -> T {
    ask(&settings(dialect, address, further), &context(folder.path()))
}

fn settings(dialect: &'static str, address: &VenueAddress, further: &[(&str, &str)]) -> VenueSettings {
    let port = address.port.to_string();
    let mut written: BTreeMap<&str, &str> = [
        ("name", "MAIN"),
        ("type", "fix"),
        ("dialect", dialect),
        ("environment", "live"),
        ("host", "127.0.0.1"),
        ("port", &port),
        ("tls", "false"),
        ("senderCompId", address.sender),
        ("targetCompId", address.target),
    ]
    .into();
    written.extend(further.iter().copied());
    let tables: Vec<_> = [COMMON_SETTINGS].iter().chain(FixVenueType.settings()).copied().collect();
    VenueSettings::read("MAIN", &tables, &written).unwrap()
}

fn context(folder: &Path) -> VenueContext<'_> {
    static NONE: BTreeMap<SecurityId, venue_sim::OpeningQuotes> = BTreeMap::new();
    static NO_PRICES: BTreeMap<SecurityId, domain::Price> = BTreeMap::new();
    VenueContext {
        instance: INSTANCE,
        records: None,
        adapter: AdapterName::new("FIX", Some("MAIN")),
        folder,
        clock: Arc::new(now),
        catalogue: catalogue(),
        opening_quotes: &NONE,
        last_prices: &NO_PRICES,
        opening_cash: None,
    }
}
