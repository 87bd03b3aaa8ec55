//! What the adapter is made of, and what it remembers while it is logged on.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::Arc;

use adapter_kit::connection::{VenueHttp, VenueHttpLimits};
use adapter_kit::credentials::{FirstDayLimit, VenueCredentials};
use adapter_kit::recording::RecorderClock;
use adapter_kit::{KeptText, NetworkVenue, ReconnectPolicy, ReconnectRule};
use adapters::SendLease;
use bus::Catalogue;
use crossbeam_channel::{Receiver, Sender, bounded};
use domain::command::MarketData;
use domain::report::ReportKind;
use domain::{AdapterName, ExchangeId, OrderId, SecurityId, Text, Timestamp};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use super::api_connection::ApiLine;
use super::prices::price_connection::PriceLine;
use super::waiting::{DueTimes, UnansweredRequest};
use crate::addresses::BinanceAddresses;
use crate::connection::RestClient;
use crate::first_log_on::FirstLogOn;
use crate::network::{EventSender, NetworkEvent};
use crate::order_tracker::{DatedReport, OrderTracker};
use crate::orders::external_orders::ExternalOrders;
use crate::orders::fills_question::FillsQuestion;
use crate::orders::inquiry::{Inquiry, InquiryStep};
use crate::orders::leg_owners::LegOwners;
use crate::orders::order_lists::OrderLists;
use crate::orders::waiting_inquiries::WaitingInquiries;
use crate::prices::price_feed::PriceFeed;
use crate::protocol::requests::signing::RequestSigner;
use crate::protocol::venue_enums::BinanceStpMode;
use crate::request_gate::RequestGate;
use crate::symbols::symbol_table::SymbolTable;
use crate::symbols::traded_symbols::TradedSymbols;
use crate::transcript::{BinanceRecording, REST_LINE};

/// The extension of the file with the symbols that orders were sent for; the first order makes it.
pub const TRADED_SYMBOLS: &str = "symbols";
/// The extension of the file with the instant of the first log-on.
const FIRST_LOG_ON: &str = "since";
/// Beyond the receive window: for clocks that are not quite right.
const LIFE_MARGIN_MILLIS: u32 = 1_000;
/// Log-ons in five minutes; the venue allows 300 connections, and each log-on opens two.
const LOG_ONS_MAX: usize = 100;
const LOG_ONS_SECONDS: i64 = 300;

/// What an adapter is made of.
pub struct BinanceSetup {
    pub adapter: AdapterName,
    /// The name of the venue.
    pub venue: Text,
    pub instance: u64,
    pub exchange: ExchangeId,
    pub addresses: BinanceAddresses,
    pub receive_window_millis: u32,
    /// What the venue does with an order that would trade with another of the account; absent: the default of its symbol.
    pub self_trade: Option<BinanceStpMode>,
    pub clock: RecorderClock,
    pub catalogue: Catalogue,
    pub network: NetworkVenue,
}

pub struct BinanceAdapter {
    pub(super) setup: BinanceSetup,
    /// The credentials of the signer.
    pub(super) signs_with: Option<Arc<VenueCredentials>>,
    /// Whether it was told that the rights of the key are not known.
    pub(super) is_unknown_told: bool,
    /// Absent where only prices are wanted: then no request is signed, and no order leaves.
    pub(super) signer: Option<Arc<RequestSigner>>,
    pub(super) rest: Arc<RestClient>,
    /// Absent where no other process could trade.
    pub(super) lease: Option<SendLease>,
    pub(super) gate: RequestGate,
    pub(super) symbols: SymbolTable,
    pub(super) traded: TradedSymbols,
    pub(super) tracker: OrderTracker,
    pub(super) inquiries: BTreeMap<OrderId, Inquiry>,
    /// Steps of those under way that could not be sent yet, first in, first out.
    pub(super) refused_steps: VecDeque<(OrderId, InquiryStep)>,
    /// Those that wait for their turn.
    pub(super) queued_inquiries: WaitingInquiries,
    /// For all of them.
    pub(super) order_lists: OrderLists,
    pub(super) owners: LegOwners,
    pub(super) external: ExternalOrders,
    pub(super) first_log_on: FirstLogOn,
    /// Lists of fills under way, with the instants of their questions.
    pub(super) fills_questions: BTreeMap<SecurityId, (Timestamp, FillsQuestion)>,
    pub(super) feed: PriceFeed,
    pub(super) first_day: Option<FirstDayLimit>,
    pub(super) reconnect: ReconnectPolicy,
    pub(super) requests: BTreeMap<u64, UnansweredRequest>,
    pub(super) next_tag: u64,
    pub(super) session: Option<BinanceSession>,
    pub(super) outbox: Outbox,
    pub(super) wake: (Sender<()>, Receiver<()>),
    pub(super) runtime: Runtime,
}

/// What is open while logged on.
pub(super) struct BinanceSession {
    pub(super) api: ApiLine,
    pub(super) prices: PriceLine,
    pub(super) events: mpsc::Receiver<NetworkEvent>,
    /// For answers over REST.
    pub(super) out: EventSender,
    pub(super) begun: Timestamp,
    pub(super) due: DueTimes,
}

/// What waits for `deliver`.
#[derive(Default)]
pub(super) struct Outbox {
    pub(super) reports: Vec<DatedReport>,
    pub(super) prices: Vec<MarketData>,
    pub(super) lost: Option<Text>,
}

impl BinanceAdapter {
    /// Connects nothing yet. Files of this venue begin with `files`.
    pub fn open(setup: BinanceSetup, files: &Path) -> Result<Self, String> {
        let credentials = setup.network.credentials.as_ref().ok_or("credentials are missing")?;
        let signs_with = credentials.current();
        let signer = Arc::new(RequestSigner::new(&signs_with).map_err(|error| error.to_string())?);
        Self::open_with(setup, Some((signs_with, signer)), files)
    }

    /// For prices alone.
    pub(super) fn open_public(setup: BinanceSetup, files: &Path) -> Result<Self, String> {
        Self::open_with(setup, None, files)
    }

    fn open_with(
        setup: BinanceSetup,
        key: Option<(Arc<VenueCredentials>, Arc<RequestSigner>)>,
        files: &Path,
    ) -> Result<Self, String> {
        let (signs_with, signer) = key.unzip();
        let rest = Arc::new(rest_client(&setup, signer.as_ref()));
        let now = (setup.clock)();
        let gate = RequestGate::open(files.with_extension("limits.json"), now, setup.receive_window_millis)?;
        let kept = |name| KeptText::new(files.with_extension(name), setup.network.records.clone());
        let traded = TradedSymbols::open(kept(TRADED_SYMBOLS)).map_err(|error| error.to_string())?;
        let first_log_on = FirstLogOn::open(kept(FIRST_LOG_ON)).map_err(|error| error.to_string())?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name(setup.adapter.to_string())
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let rule = ReconnectRule {
            first_millis: 0,
            max_millis: 0,
            attempts_max: LOG_ONS_MAX,
            attempts_seconds: LOG_ONS_SECONDS,
            failures_max: None,
        };
        Ok(Self {
            symbols: SymbolTable::new(setup.venue.clone(), setup.exchange, setup.catalogue.clone()),
            tracker: OrderTracker::new(setup.instance),
            feed: PriceFeed::new(setup.adapter.0.clone()),
            reconnect: ReconnectPolicy::new(rule, setup.instance),
            inquiries: BTreeMap::new(),
            refused_steps: VecDeque::new(),
            queued_inquiries: WaitingInquiries::default(),
            order_lists: OrderLists::default(),
            owners: LegOwners::default(),
            external: ExternalOrders::default(),
            fills_questions: BTreeMap::new(),
            requests: BTreeMap::new(),
            outbox: Outbox::default(),
            wake: bounded(1),
            first_day: None,
            next_tag: 0,
            session: None,
            is_unknown_told: false,
            lease: None,
            signs_with,
            setup,
            signer,
            rest,
            gate,
            traded,
            first_log_on,
            runtime,
        })
    }

    /// Takes what the network has brought, so that `deliver` has it. For tests that wait for the venue.
    pub fn pump(&mut self, at: Timestamp) {
        let Some(session) = &mut self.session else { return };
        let events: Vec<NetworkEvent> = std::iter::from_fn(|| session.events.try_recv().ok()).collect();
        for event in events {
            self.on_network(at, event);
        }
        self.handle_due_work(at);
    }

    /// Whether nothing is under way: every request is answered, every announced event is here, every book is whole.
    pub fn is_settled(&self) -> bool {
        let are_inquiries_over = self.inquiries.len() == self.refused_steps.len();
        let is_answered = self.requests.is_empty() && are_inquiries_over && !self.tracker.awaits_events();
        is_answered && (!self.are_prices_up() || self.feed.is_whole())
    }

    /// Whether the session has ended by itself.
    pub fn is_lost(&self) -> bool {
        self.outbox.lost.is_some()
    }

    /// The key in use, masked; blank without one.
    pub fn key_in_use(&self) -> String {
        self.signs_with.as_ref().map(ToString::to_string).unwrap_or_default()
    }

    /// The recording of its messages, where one is made.
    pub fn recording(&self) -> Option<BinanceRecording> {
        self.setup.network.recorder.as_ref().map(|recorder| BinanceRecording(recorder.path().to_owned()))
    }

    pub fn is_logged_on(&self) -> bool {
        self.session.is_some()
    }

    /// The first reason counts.
    pub(super) fn lose(&mut self, reason: impl Into<Text>) {
        self.outbox.lost.get_or_insert(reason.into());
    }

    /// After it a request that leaves now can no longer take effect.
    pub(super) fn life_millis(&self) -> u32 {
        self.setup.receive_window_millis.saturating_add(LIFE_MARGIN_MILLIS)
    }
}

pub(super) fn rest_client(setup: &BinanceSetup, signer: Option<&Arc<RequestSigner>>) -> RestClient {
    let http = VenueHttp::new(setup.addresses.rest.clone(), setup.network.dialer.clone(), VenueHttpLimits::default());
    let http = match &setup.network.recorder {
        Some(recorder) => http.recorded(recorder.line(REST_LINE)),
        None => http,
    };
    match signer {
        Some(signer) => RestClient::new(http, Arc::clone(signer)),
        None => RestClient::public(http),
    }
}

impl Outbox {
    pub(super) fn report(&mut self, said: ReportKind) {
        self.reports.push((None, said));
    }
}
