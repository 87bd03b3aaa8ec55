//! The whole adapter and the lab, with lines between them that can be cut, for the conformance kit and for stories.

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use adapter_binance::protocol::requests::{BinanceRequest, OrderTicket};
use adapter_binance::venue_type::open_adapter;
use adapter_binance::{BinanceAdapter, BinanceSpotType};
use adapters::Adapter;
use adapters::conformance::{DurableView, FailedHalf, Harness, OrderIntent};
use adapters::thread::AdapterClock;
use adapters::venue_type::{COMMON_SETTINGS, PastBars, VenueContext, VenueSettings, VenueType};
use bus::Catalogue;
use domain::order::OrderTerms;
use domain::report::LineKind;
use domain::{
    Account, AdapterName, Decimal, Order, OrderKind, ReferenceData, Security, SecurityId, SecurityKind, Side,
    TimeInForce, Timestamp,
};
use scenarios::proxy::CuttableProxy;
use tempfile::TempDir;

use crate::lab::{Lab, now, run_value};
use crate::orders::ticket;

/// A wait for the lab that takes longer than this has failed, on any machine.
pub(crate) const WAIT_MAX: Duration = Duration::from_secs(60);
pub(crate) const INSTANCE: u64 = 7;
pub(crate) const BITCOIN: SecurityId = SecurityId(7);

pub(crate) struct LabHarness {
    pub(crate) lab: Lab,
    lines: LabLines,
    pub(crate) adapter: BinanceAdapter,
    folder: TempDir,
    kind: &'static str,
    orders: u64,
    elsewhere: u64,
    is_down: bool,
    are_prices_down: bool,
    is_private_down: bool,
}

struct LabLines {
    rest: CuttableProxy,
    api: CuttableProxy,
    streams: CuttableProxy,
}

impl LabLines {
    fn to(lab: &Lab) -> Self {
        let line = |name: &str| CuttableProxy::to(lab.socket_address(name));
        Self { rest: line("binanceRest"), api: line("binanceWsApi"), streams: line("binanceStreams") }
    }

    fn all(&self) -> [&CuttableProxy; 3] {
        [&self.rest, &self.api, &self.streams]
    }
}

impl LabHarness {
    pub(crate) fn start(kind: &'static str) -> Self {
        Self::start_with(kind, &[])
    }

    /// With further settings of the venue.
    pub(crate) fn start_with(kind: &'static str, further: &[(&'static str, &str)]) -> Self {
        let (lab, folder) = (Lab::start(), tempfile::tempdir().unwrap());
        let lines = LabLines::to(&lab);
        lab.write_credentials(&folder.path().join("key.toml"), "ALPHA", kind);
        let adapter = adapter_at(lines.all().map(CuttableProxy::address), folder.path(), further);
        Self {
            lab,
            lines,
            adapter,
            folder,
            kind,
            orders: 0,
            elsewhere: 0,
            is_down: false,
            are_prices_down: false,
            is_private_down: false,
        }
    }

    /// The file of the adapter's key.
    pub(crate) fn credentials(&self) -> PathBuf {
        self.folder.path().join("key.toml")
    }

    pub(crate) fn cut_lines(&mut self) {
        self.is_down = true;
        self.lines.all().into_iter().for_each(CuttableProxy::cut);
    }

    /// Only what goes over REST fails from now on.
    pub(crate) fn cut_rest(&self) {
        self.lines.rest.cut();
    }

    /// Until the lab has answered everything and its reports are here, or the cut is noticed.
    pub(crate) fn settle(&mut self) {
        assert!(self.settles_within(WAIT_MAX), "the lab did not answer");
    }

    pub(crate) fn settles_within(&mut self, limit: Duration) -> bool {
        let begun = Instant::now();
        let mut is_probed = false;
        while !self.is_settled(&mut is_probed) {
            if begun.elapsed() >= limit {
                return false;
            }
            thread::sleep(Duration::from_millis(1));
        }
        true
    }

    /// The answer to a last question comes behind all events.
    fn is_settled(&mut self, is_probed: &mut bool) -> bool {
        self.adapter.pump(now());
        if !self.adapter.is_logged_on() || self.adapter.is_lost() {
            return true;
        }
        let is_as_switched = self.are_prices_down != self.adapter.are_prices_up()
            && self.is_private_down != self.adapter.is_private_up();
        if self.is_down || !is_as_switched || !self.adapter.is_settled() {
            return false;
        }
        if !*is_probed {
            *is_probed = true;
            self.adapter.ask_for_time(now());
            return false;
        }
        true
    }

    /// An order as from the venue's own screen; gives its client id.
    pub(crate) fn place_as_other(&mut self, aim: OrderIntent) -> String {
        self.try_place_as_other(aim).unwrap()
    }

    /// Where the lab takes it.
    pub(crate) fn try_place_as_other(&mut self, aim: OrderIntent) -> Result<String, String> {
        let limit = (aim == OrderIntent::Rest).then_some("20000");
        self.elsewhere += 1;
        let client_id = format!("web_{}", self.elsewhere);
        let order = ticket("BTCUSDT", Side::Buy, "0.002", limit, "R9-1-0");
        let placed = BinanceRequest::place(&OrderTicket { client_id: client_id.clone(), ..order });
        let answer = run_value(self.lab.rest("HMAC").try_call(&placed)).map_err(|failure| format!("{failure:?}"))?;
        answer.outcome.map(|_| client_id).map_err(|error| format!("{error:?}"))
    }

    /// The lab makes its steps coarser before it looks at the next order, which does not fit any more.
    pub(crate) fn try_change_listing(&mut self) -> bool {
        let odd = BinanceRequest::place(&ticket("BTCUSDT", Side::Buy, "0.01", Some("20000.01"), "R9-1-0"));
        run_value(self.lab.arm("filters-change"));
        let Ok(answer) = run_value(self.lab.rest("HMAC").try_call(&odd)) else { return false };
        if self.adapter.is_logged_on() {
            self.adapter.ask_for_listings(now());
        }
        answer.outcome.is_err_and(|error| error.message.starts_with("Filter failure"))
    }

    /// Until the event of an order of somebody else is here, or the session is over.
    pub(crate) fn hears_of(&mut self, id: &str, aim: OrderIntent, limit: Duration) -> bool {
        let begun = Instant::now();
        while self.adapter.is_logged_on() && !self.adapter.has_external(id, aim == OrderIntent::Trade) {
            if begun.elapsed() >= limit {
                return false;
            }
            self.adapter.pump(now());
            thread::sleep(Duration::from_millis(1));
        }
        true
    }

    pub(crate) fn next_order(&mut self, terms: OrderTerms) -> Order {
        self.orders += 1;
        Order { terms, security: BITCOIN, exchange_order: true, ..samples::order(self.orders) }
    }
}

fn adapter_of(lines: &LabLines, folder: &Path) -> BinanceAdapter {
    adapter_at(lines.all().map(CuttableProxy::address), folder, &[])
}

/// The adapter of a venue with REST, WebSocket API and streams at these addresses, and a key in `key.toml`.
pub(crate) fn adapter_at(
    addresses: [SocketAddr; 3],
    folder: &Path,
    further: &[(&'static str, &str)],
) -> BinanceAdapter {
    adapter_for(addresses, folder, further, &[bitcoin()])
}

fn bitcoin() -> LabPair {
    LabPair { id: BITCOIN.0, base: "BTC".to_owned() }
}

/// A security of the lab, for dollars.
pub(crate) struct LabPair {
    pub(crate) id: u64,
    pub(crate) base: String,
}

pub(crate) fn adapter_for(
    addresses: [SocketAddr; 3],
    folder: &Path,
    further: &[(&'static str, &str)],
    pairs: &[LabPair],
) -> BinanceAdapter {
    in_context((addresses, folder, further, pairs), Arc::new(now), |settings, context| {
        open_adapter(settings, context).unwrap()
    })
}

/// Bars of the past of a lab, at a time of one's own.
pub(crate) fn past_bars(lab: &Lab, folder: &Path, clock: AdapterClock) -> Box<dyn PastBars> {
    lab.write_credentials(&folder.join("key.toml"), "ALPHA", "HMAC");
    let addresses = ["binanceRest", "binanceWsApi", "binanceStreams"].map(|face| lab.socket_address(face));
    in_context((addresses, folder, &[], &[bitcoin()]), clock, |settings, context| {
        BinanceSpotType.past_bars(settings, context).unwrap().unwrap()
    })
}

/// Addresses of REST, WebSocket API and streams, the folder of the venue's files, further settings, and securities.
type LabVenue<'a> = ([SocketAddr; 3], &'a Path, &'a [(&'static str, &'a str)], &'a [LabPair]);

fn in_context<T>(
    ([rest, api, streams], folder, further, pairs): LabVenue<'_>,
    clock: AdapterClock,
    make: impl FnOnce(&VenueSettings, &VenueContext<'_>) -> T,
) -> T {
    let roots = folder.join("roots.pem");
    fs::write(&roots, rcgen::generate_simple_self_signed(Vec::new()).unwrap().cert.pem()).unwrap();
    let written: BTreeMap<&str, String> = [
        ("environment", "testnet".to_owned()),
        ("credentials", folder.join("key.toml").display().to_string()),
        ("trustedCertificates", roots.display().to_string()),
        ("rest", format!("http://{rest}")),
        ("wsApi", format!("ws://{api}/ws-api/v3")),
        ("streams", format!("ws://{streams}")),
        ("name", "LAB".to_owned()),
        ("type", "binance-spot".to_owned()),
    ]
    .into();
    let tables: Vec<_> = [COMMON_SETTINGS].iter().chain(BinanceSpotType.settings()).copied().collect();
    let written = written.iter().map(|(key, text)| (*key, text.as_str())).chain(further.iter().copied()).collect();
    let settings = VenueSettings::read("LAB", &tables, &written).unwrap();
    let problems = BinanceSpotType.check(&settings);
    assert!(problems.is_empty(), "{problems:?}");
    let catalogue = Catalogue::default();
    catalogue.replace(Arc::new(reference(pairs)));
    let context = VenueContext {
        instance: INSTANCE,
        records: None,
        adapter: AdapterName::new("BINANCE-SPOT", Some("LAB")),
        folder,
        clock,
        catalogue,
        opening_quotes: &BTreeMap::new(),
        last_prices: &BTreeMap::new(),
        opening_cash: None,
    };
    make(&settings, &context)
}

/// Each under another symbol than the venue's.
fn security(LabPair { id, base }: &LabPair) -> Security {
    let transaction = "USDT".parse().unwrap();
    Security {
        kind: SecurityKind::Forex { base: base.parse().unwrap(), transaction },
        currency: transaction,
        qty_incr: Decimal::new(1, 5),
        adapter_ticker: Some(format!("{base}USDT").into()),
        ..samples::stock(*id, &format!("{base}/USDT"))
    }
}

fn reference(pairs: &[LabPair]) -> ReferenceData {
    let mut reference = ReferenceData::default();
    reference.exchanges.insert(samples::EXCHANGE, Arc::new(samples::exchange()));
    reference.securities.extend(pairs.iter().map(|pair| (SecurityId(pair.id), Arc::new(security(pair)))));
    let account = Account {
        adapter_type: "BINANCE-SPOT".into(),
        session_qualifier: Some("LAB".into()),
        ..samples::account(1, "Lab")
    };
    reference.accounts.insert(account.id, Arc::new(account));
    reference
}

/// A buy; prices of the demo are far above 20,000.
pub(crate) fn terms(quantity: &str, limit: Option<&str>) -> OrderTerms {
    let kind = limit.map_or(OrderKind::Market, |limit| OrderKind::Limit { limit: limit.parse().unwrap() });
    let tif = if limit.is_some() { TimeInForce::Day } else { TimeInForce::Ioc };
    OrderTerms { quantity: quantity.parse().unwrap(), kind, tif }
}

impl Harness for LabHarness {
    fn adapter(&mut self) -> &mut dyn Adapter {
        &mut self.adapter
    }

    fn now(&self) -> Timestamp {
        now()
    }

    fn advance(&mut self) {
        self.settle();
    }

    fn order(&mut self, aim: OrderIntent) -> Order {
        self.next_order(match aim {
            OrderIntent::Rest => terms("0.01", Some("20000")),
            OrderIntent::Trade => terms("0.002", None),
        })
    }

    fn other_terms(&self, order: &Order) -> OrderTerms {
        OrderTerms { quantity: "0.006".parse().unwrap(), ..order.terms }
    }

    /// A lower quantity alone would keep the leg.
    fn new_leg_terms(&self, _: &Order) -> OrderTerms {
        terms("0.01", Some("21000"))
    }

    fn disconnect(&mut self) {
        self.settle();
        self.cut_lines();
    }

    fn reconnect(&mut self) {
        self.is_down = false;
        self.lines.all().into_iter().for_each(CuttableProxy::restore);
    }

    /// Its stream has no numbers.
    fn lose_reports(&mut self, _: bool) -> bool {
        false
    }

    fn switch_line(&mut self, line: LineKind, up: bool) -> bool {
        let proxy = match line {
            LineKind::Trading => return false,
            LineKind::Private => &self.lines.api,
            LineKind::Prices => &self.lines.streams,
        };
        if up {
            proxy.restore();
        } else {
            proxy.cut();
        }
        match line {
            LineKind::Private => self.is_private_down = !up,
            LineKind::Trading | LineKind::Prices => self.are_prices_down = !up,
        }
        true
    }

    /// Until its event is here: an answer over REST may come before the events of its order.
    fn place_elsewhere(&mut self, aim: OrderIntent) -> bool {
        let id = self.place_as_other(aim);
        assert!(self.hears_of(&id, aim, WAIT_MAX), "the lab told nothing of {id}");
        true
    }

    fn change_listing(&mut self) -> bool {
        assert!(self.try_change_listing(), "the lab takes an order that does not fit");
        true
    }

    /// Each strikes once. The lab leaves the order and places the new one only with a cut connection, since the adapter tells the
    /// venue to stop after a cancel that failed.
    fn fail_half(&mut self, half: FailedHalf) -> bool {
        let fault = match half {
            FailedHalf::None => return true,
            FailedHalf::Cancel => "replace-cut",
            FailedHalf::Place => "replace-half",
            // Refused before either half.
            FailedHalf::Both => "signature-rule",
        };
        run_value(self.lab.arm(fault));
        true
    }

    /// The lab is another process: only the adapter starts again.
    fn restart(&mut self) {
        self.lab.write_credentials(&self.folder.path().join("key.toml"), "ALPHA", self.kind);
        self.adapter = adapter_of(&self.lines, self.folder.path());
    }

    fn durable_view(&self) -> Option<DurableView> {
        None
    }
}

/// For its owner alone.
pub(crate) fn write_private(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}
