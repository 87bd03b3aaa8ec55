//! Inbox of the engine. Requests are refused when their lane is full, or wait for a permit; venue reports wait and are
//! never dropped; of prices only the newest per security is kept.

mod blocking;
pub mod lanes;
pub mod outbound_gate;
pub mod quotas;
pub(crate) mod inbox_metrics;
pub mod reply;
mod report_progress;
mod request;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_channel::{Receiver, Sender, bounded};
use domain::command::{CommandEnvelope, MarketData};
use domain::{Command, Query, Report, SecurityId};

use self::blocking::block_on;
use self::inbox_metrics::{InboxMetrics, PriceDrop};
use self::lanes::{EngineWaker, LaneDepth, LaneLimits, LanePermit, RequestClass, RequestReceiver};
use self::outbound_gate::OutboundGate;
use self::quotas::{InFlightLimits, InFlightPermit, Quotas};
use self::reply::{ReplyReceiver, ReplySender, reply_channel};

pub use self::lanes::{EngineRequest, REQUESTS_MAX};
pub use self::report_progress::ReportProgress;
pub use self::request::{InboxError, RequestPayload};

/// Reports that may wait for the engine; an adapter with one more waits.
pub const REPORTS_MAX: usize = 8_192;
/// Trades of one security that may wait for the engine; beyond that the oldest are counted and dropped.
pub const TRADES_PER_SECURITY_MAX: usize = 64;

/// Sending side, for edges and adapters.
#[derive(Clone)]
pub struct Inbox {
    lanes: Arc<lanes::RequestLanes>,
    waker: EngineWaker,
    quotas: Arc<Quotas>,
    reports: Sender<Report>,
    prices: Arc<PriceQueue>,
    metrics: Arc<InboxMetrics>,
    report_progress: Arc<ReportProgress>,
    outbound_gate: OutboundGate,
}

/// Receiving side, for the engine loop.
pub struct InboxReceiver {
    /// Commands, queries and records.
    pub requests: RequestReceiver,
    /// Reports of venues.
    pub reports: Receiver<Report>,
    /// Signals that prices wait.
    pub wake: Receiver<()>,
    /// Scopes of kills that wait for the disk.
    pub outbound_gate: OutboundGate,
    prices: Arc<PriceQueue>,
    metrics: Arc<InboxMetrics>,
    report_progress: Arc<ReportProgress>,
}

/// An inbox with the default limits.
pub fn inbox() -> (Inbox, InboxReceiver) {
    inbox_with(LaneLimits::default(), InFlightLimits::default())
}

/// An inbox with these limits.
pub fn inbox_with(room: LaneLimits, unanswered: InFlightLimits) -> (Inbox, InboxReceiver) {
    let (ring, rings) = bounded(1);
    let (report_sender, reports) = bounded(REPORTS_MAX);
    let (wake_sender, wake) = bounded(1);
    let prices = Arc::new(PriceQueue { pending: Mutex::default(), wake: wake_sender });
    let lanes = Arc::new(lanes::RequestLanes::new(room));
    let inbox = Inbox {
        lanes: lanes.clone(),
        waker: EngineWaker(ring),
        quotas: Arc::new(Quotas::new(unanswered)),
        reports: report_sender,
        prices: prices.clone(),
        metrics: Arc::default(),
        report_progress: Arc::default(),
        outbound_gate: OutboundGate::default(),
    };
    let (outbound_gate, metrics) = (inbox.outbound_gate.clone(), inbox.metrics.clone());
    let report_progress = inbox.report_progress.clone();
    let requests = RequestReceiver::new(lanes, rings);
    (inbox, InboxReceiver { requests, reports, wake, outbound_gate, prices, metrics, report_progress })
}

impl Inbox {
    /// Sends a command; refused where its lane is full.
    pub fn command(&self, envelope: CommandEnvelope) -> Result<ReplyReceiver, InboxError> {
        self.command_within(envelope, InFlightPermit::default())
    }

    /// The permit counts as used until the command is answered.
    pub fn command_within(
        &self,
        envelope: CommandEnvelope,
        allowance: InFlightPermit,
    ) -> Result<ReplyReceiver, InboxError> {
        let place = self.try_reserve(&envelope.command)?;
        self.send_reserved(place, envelope, allowance)
    }

    /// Waits for a free slot; only a stopped engine refuses.
    pub async fn command_when_free(
        &self,
        envelope: CommandEnvelope,
        allowance: InFlightPermit,
    ) -> Result<ReplyReceiver, InboxError> {
        let place = self.reserve(&envelope.command).await?;
        self.send_reserved(place, envelope, allowance)
    }

    /// Sends a query; refused where the lane is full.
    pub fn query(&self, query: Query) -> Result<ReplyReceiver, InboxError> {
        self.query_within(query, InFlightPermit::default())
    }

    /// The allowance counts as used until the question is answered.
    pub fn query_within(&self, query: Query, allowance: InFlightPermit) -> Result<ReplyReceiver, InboxError> {
        let (promise, ticket) = reply_channel();
        let promise = promise.with_permit(allowance);
        self.send_request(EngineRequest { payload: RequestPayload::Query(Box::new(query)), reply_to: promise }, None)
            .map(|()| ticket)
    }

    /// Waits for a free slot; only a stopped engine refuses.
    pub async fn query_when_free(&self, query: Query, allowance: InFlightPermit) -> Result<ReplyReceiver, InboxError> {
        let (promise, ticket) = reply_channel();
        let request =
            EngineRequest { payload: RequestPayload::Query(Box::new(query)), reply_to: promise.with_permit(allowance) };
        self.send_request_when_free(request, None).await.map(|()| ticket)
    }

    /// It keeps its order among the commands of its session.
    pub fn append_ledger_record(&self, record: Vec<u8>, session: Option<&str>) -> Result<ReplyReceiver, InboxError> {
        let (promise, ticket) = reply_channel();
        self.send_request(EngineRequest { payload: RequestPayload::LedgerRecord(record), reply_to: promise }, session)
            .map(|()| ticket)
    }

    /// Waits while the lane is full: a delivery log with a gap cannot be replayed. Commands of its strategy do not
    /// overtake it.
    pub fn append_delivery_log(&self, leaf: Vec<u8>, strategy: &str) -> Result<(), InboxError> {
        let (promise, _) = reply_channel();
        block_on(self.send_request_when_free(
            EngineRequest { payload: RequestPayload::DeliveryLog(leaf), reply_to: promise },
            Some(strategy),
        ))
    }

    fn reply_channel(&self, allowance: InFlightPermit) -> (ReplySender, ReplyReceiver) {
        let (promise, ticket) = reply_channel();
        (promise.with_metrics(self.metrics.clone()).with_permit(allowance), ticket)
    }

    /// A slot for a command that is sent in a moment.
    pub fn try_reserve(&self, command: &Command) -> Result<LanePermit, InboxError> {
        self.lanes.try_reserve(RequestClass::from_command(command))
    }

    /// Waits for a free slot; only a stopped engine refuses.
    pub async fn reserve(&self, command: &Command) -> Result<LanePermit, InboxError> {
        self.lanes.reserve(RequestClass::from_command(command)).await
    }

    /// Sends a command in a slot that was reserved for it.
    pub fn send_reserved(
        &self,
        place: LanePermit,
        envelope: CommandEnvelope,
        allowance: InFlightPermit,
    ) -> Result<ReplyReceiver, InboxError> {
        let (promise, ticket) = self.reply_channel(allowance);
        let request = EngineRequest { payload: RequestPayload::Command(Box::new(envelope)), reply_to: promise };
        self.enqueue(place, request, None).map(|()| ticket)
    }

    fn send_request(&self, request: EngineRequest, session: Option<&str>) -> Result<(), InboxError> {
        let place = self.lanes.try_reserve(RequestClass::from_payload(&request.payload))?;
        self.enqueue(place, request, session)
    }

    async fn send_request_when_free(&self, request: EngineRequest, session: Option<&str>) -> Result<(), InboxError> {
        let place = self.lanes.reserve(RequestClass::from_payload(&request.payload)).await?;
        self.enqueue(place, request, session)
    }

    fn enqueue(&self, place: LanePermit, request: EngineRequest, session: Option<&str>) -> Result<(), InboxError> {
        place.send(request, session)?;
        self.waker.wake();
        Ok(())
    }

    /// Shut by a kill that the disk keeps waiting.
    pub fn outbound_gate(&self) -> &OutboundGate {
        &self.outbound_gate
    }

    /// In-flight limits, and what counts against them.
    pub fn quotas(&self) -> &Quotas {
        &self.quotas
    }

    /// How many requests wait for the engine.
    pub fn depth(&self) -> LaneDepth {
        self.lanes.depth()
    }

    /// Waits while the lane is full: a venue report is never dropped.
    pub fn send_report(&self, report: Report) -> Result<(), InboxError> {
        self.metrics.record_report(&report.adapter);
        self.report_progress.count_sent();
        self.reports.send(report).map_err(|_| InboxError::Stopped)
    }

    /// How many reports were sent, and how many of them are durable.
    pub fn report_progress(&self) -> &ReportProgress {
        &self.report_progress
    }

    /// Never waits: a newer price replaces one that the engine has not seen yet.
    pub fn send_price(&self, data: MarketData) {
        // A gap is no sign of life.
        if !matches!(data, MarketData::Gap(_)) {
            self.metrics.record_price(data.feed());
        }
        if let Some(dropped) = self.prices.push(data) {
            self.metrics.count_dropped_prices(dropped, 1);
        }
    }

    /// Metrics of the inbox.
    pub fn metrics(&self) -> &InboxMetrics {
        &self.metrics
    }
}

impl InboxReceiver {
    /// All prices that wait, by security.
    pub fn drain_prices(&self) -> Vec<MarketData> {
        let waiting = std::mem::take(&mut *self.prices.lock());
        waiting.into_values().flat_map(SecurityPrices::into_data).collect()
    }

    /// Where the loop tells how many reports are durable.
    pub fn report_progress(&self) -> &ReportProgress {
        &self.report_progress
    }

    /// Metrics of the inbox.
    pub fn metrics(&self) -> &InboxMetrics {
        &self.metrics
    }
}

struct PriceQueue {
    pending: Mutex<PendingPrices>,
    wake: Sender<()>,
}

type PendingPrices = BTreeMap<SecurityId, SecurityPrices>;

/// Waiting market data of one security: a quote replaces the one before; trades add up to volume and are kept. A gap
/// replaces quote and book of its feed: behind it they are no longer true. Those of another feed are.
#[derive(Default)]
struct SecurityPrices {
    /// The newest of each feed.
    gaps: Vec<domain::PriceGap>,
    tick: Option<domain::Tick>,
    book: Option<domain::OrderBook>,
    trades: std::collections::VecDeque<domain::Trade>,
}

impl PriceQueue {
    fn lock(&self) -> std::sync::MutexGuard<'_, PendingPrices> {
        // The state is consistent between any two statements that hold the lock.
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why something older was dropped for it, if it was.
    fn push(&self, data: MarketData) -> Option<PriceDrop> {
        let dropped = self.lock().entry(data.security()).or_default().push(data);
        // A full wake channel means that the engine is woken already.
        let _ = self.wake.try_send(());
        dropped
    }
}

impl SecurityPrices {
    /// Why something older was dropped for it, if it was.
    fn push(&mut self, data: MarketData) -> Option<PriceDrop> {
        match data {
            MarketData::Tick(tick) => self.tick.replace(tick).map(|_| PriceDrop::Replaced),
            MarketData::Book(book) => self.book.replace(book).map(|_| PriceDrop::Replaced),
            MarketData::Gap(gap) => {
                let tick = self.tick.take_if(|tick| tick.feed == gap.feed);
                let book = self.book.take_if(|book| book.feed == gap.feed);
                self.gaps.retain(|before| before.feed != gap.feed);
                self.gaps.push(gap);
                (tick.is_some() || book.is_some()).then_some(PriceDrop::Replaced)
            }
            MarketData::Trade(trade) => {
                self.trades.push_back(trade);
                let is_full = self.trades.len() > TRADES_PER_SECURITY_MAX;
                is_full.then(|| self.trades.pop_front()).flatten().map(|_| PriceDrop::TooManyTrades)
            }
        }
    }

    fn into_data(self) -> impl Iterator<Item = MarketData> {
        let trades = self.trades.into_iter().map(MarketData::Trade).chain(self.gaps.into_iter().map(MarketData::Gap));
        let tick = self.tick.into_iter().map(MarketData::Tick);
        trades.chain(tick).chain(self.book.into_iter().map(MarketData::Book))
    }
}

#[cfg(test)]
mod tests {
    use domain::report::{ReportKind, SessionState};
    use domain::{AdapterName, Caller, Command, Timestamp};

    use super::*;
    use crate::Reply;

    fn command() -> CommandEnvelope {
        CommandEnvelope { caller: Caller::platform(), command: Command::ResetCash }
    }

    fn tick(security: u64, bid: i64) -> MarketData {
        MarketData::Tick(domain::Tick {
            security: SecurityId(security),
            feed: "test".into(),
            at: Timestamp(0),
            last: None,
            last_at: None,
            vol_last: None,
            bid: Some(bid.into()),
            ask: None,
            vol_bid: None,
            vol_ask: None,
            vol: None,
            stale: None,
        })
    }

    #[test]
    fn one_request_too_many_is_refused() {
        let (inbox, lanes) = inbox();
        let tickets: Vec<_> = (0..REQUESTS_MAX).map(|_| inbox.command(command()).unwrap()).collect();
        assert_eq!(inbox.command(command()).unwrap_err(), InboxError::Busy);
        drop((tickets, lanes));
        assert_eq!(inbox.command(command()).unwrap_err(), InboxError::Stopped);
    }

    #[test]
    fn a_delivery_log_record_waits_where_a_command_is_refused() {
        let (inbox, lanes) = inbox();
        let tickets: Vec<_> = (0..REQUESTS_MAX).map(|_| inbox.command(command()).unwrap()).collect();
        let writer = std::thread::spawn(move || inbox.append_delivery_log(vec![7], "TREND"));
        let last = lanes.requests.iter().nth(REQUESTS_MAX).map(|request| request.payload);
        assert!(matches!(last, Some(RequestPayload::DeliveryLog(leaf)) if leaf == [7]));
        assert_eq!(writer.join().unwrap(), Ok(()));
        drop(tickets);
    }

    #[test]
    fn a_waiting_request_fails_at_once_when_the_engine_stops() {
        let (inbox, lanes) = inbox();
        let ticket = inbox.command(command()).unwrap();
        drop(lanes);
        assert_eq!(ticket.recv_blocking().unwrap_err(), reply::NoReply);
    }

    #[test]
    fn the_metrics_have_refusals_and_the_last_reports() {
        let (inbox, lanes) = inbox();
        let refuse = |request: EngineRequest| {
            request.reply_to.send(Reply { sequence: 1, outcome: Err(domain::Refusal::AmountTooLarge) });
        };
        drop((inbox.command(command()).unwrap(), inbox.query(Query::State).unwrap()));
        lanes.requests.try_iter().for_each(refuse);
        inbox.send_price(tick(1, 10));
        let said = ReportKind::Session(SessionState::Connected);
        inbox.send_report(Report { adapter: AdapterName::new("SIM", None), ext_at: None, kind: said }).unwrap();
        let tally = inbox.metrics();
        assert_eq!(tally.refusals(), [("amount-too-large", 1)].into(), "a question that is refused asks for nothing");
        assert_eq!(tally.since_reports().into_keys().collect::<Vec<_>>(), [AdapterName::new("SIM", None)]);
        assert_eq!(tally.since_prices().into_keys().collect::<Vec<_>>(), ["test".into()]);
    }

    #[test]
    fn only_the_newest_price_of_a_security_waits() {
        let (inbox, lanes) = inbox();
        for (security, bid) in [(1, 10), (2, 20), (1, 11)] {
            inbox.send_price(tick(security, bid));
        }
        assert!(lanes.wake.try_recv().is_ok());
        assert_eq!(lanes.drain_prices(), vec![tick(1, 11), tick(2, 20)]);
        inbox.send_price(tick(1, 12));
        assert_eq!(dropped(&inbox), [1, 0, 0, 0], "after the engine took them, nothing is replaced");
    }

    #[test]
    fn a_gap_drops_the_quote_before_it_and_comes_before_the_one_behind_it() {
        let (inbox, lanes) = inbox();
        let gap = MarketData::Gap(domain::PriceGap {
            security: SecurityId(1),
            feed: "test".into(),
            cause: domain::StaleCause::Disconnected,
        });
        for data in [tick(1, 10), trade(1), gap.clone()] {
            inbox.send_price(data);
        }
        assert_eq!(lanes.drain_prices(), vec![trade(1), gap.clone()]);
        for data in [tick(1, 11), gap.clone(), tick(1, 12), trade(2)] {
            inbox.send_price(data);
        }
        assert_eq!(lanes.drain_prices(), vec![trade(2), gap, tick(1, 12)]);
        assert_eq!(dropped(&inbox), [2, 0, 0, 0]);
    }

    #[test]
    fn a_gap_of_one_feed_leaves_the_prices_and_gaps_of_another() {
        let (inbox, lanes) = inbox();
        let gap =
            |feed: &str, cause| MarketData::Gap(domain::PriceGap { security: SecurityId(1), feed: feed.into(), cause });
        let refused = gap("broker", domain::StaleCause::Refused);
        let lost = gap("other", domain::StaleCause::Disconnected);
        for data in [tick(1, 10), refused.clone(), lost.clone(), refused.clone()] {
            inbox.send_price(data);
        }
        assert_eq!(lanes.drain_prices(), vec![lost, refused, tick(1, 10)]);
        assert_eq!(dropped(&inbox), [0, 0, 0, 0]);
    }

    #[test]
    fn a_gap_is_no_sign_of_life_of_its_feed() {
        let (inbox, _lanes) = inbox();
        let (security, cause) = (SecurityId(1), domain::StaleCause::Refused);
        inbox.send_price(MarketData::Gap(domain::PriceGap { security, feed: "test".into(), cause }));
        assert!(inbox.metrics().since_prices().is_empty());
    }

    #[test]
    fn of_too_many_trades_the_oldest_are_dropped_and_counted() {
        let (inbox, lanes) = inbox();
        let count = TRADES_PER_SECURITY_MAX as i64 + 2;
        let trades: Vec<_> = (0..count).map(trade).collect();
        trades.iter().cloned().for_each(|trade| inbox.send_price(trade));
        assert_eq!(lanes.drain_prices(), trades[2..]);
        assert_eq!(dropped(&inbox), [0, 2, 0, 0]);
    }

    fn trade(number: i64) -> MarketData {
        MarketData::Trade(domain::Trade {
            security: SecurityId(1),
            feed: "test".into(),
            at: Timestamp(number),
            price: 10.into(),
            quantity: 1.into(),
            aggressor: None,
            ext_id: None,
        })
    }

    fn dropped(inbox: &Inbox) -> [u64; 4] {
        inbox.metrics().dropped_prices().map(|(_, count)| count)
    }
}
