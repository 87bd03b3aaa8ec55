//! Inbox of the engine. Requests are refused when their lane is full, or wait for a permit; venue reports wait and are
//! never dropped; of prices only the newest per security is kept.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_channel::{Receiver, Sender, bounded};
use domain::command::{Envelope, MarketData};
use domain::{Command, Query, Report, SecurityId};

use crate::blocking::block_on;
use crate::lanes::{self, Bell, Class, Depth, Place, Requests, Room};
use crate::quotas::{Allowance, Quotas, Unanswered};
use crate::tally::Tally;
use crate::ticket::{Promise, Ticket, ticket};

pub use crate::lanes::REQUESTS_MAX;

/// Reports that may wait for the engine; an adapter with one more waits.
pub const REPORTS_MAX: usize = 8_192;
/// Trades of one security that may wait for the engine; beyond that the oldest are counted and dropped.
pub const TRADES_PER_SECURITY_MAX: usize = 64;

/// A request to the engine with its reply channel.
#[derive(Debug)]
pub struct Request {
    pub wanted: Wanted,
    pub promise: Promise,
}

#[derive(Debug)]
pub enum Wanted {
    Command(Box<Envelope>),
    Query(Box<Query>),
    /// A ledger record: journalled, not applied.
    Remember(Vec<u8>),
    /// A record of a strategy's delivery log: journalled, not applied, not answered.
    Diary(Vec<u8>),
}

/// Why a request was not accepted: it had no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closed {
    /// Too many requests wait.
    Busy,
    /// The engine has stopped.
    Stopped,
}

/// Sending side, for edges and adapters.
#[derive(Clone)]
pub struct Inbox {
    lanes: Arc<lanes::Lanes>,
    bell: Bell,
    quotas: Arc<Quotas>,
    reports: Sender<Report>,
    prices: Arc<Prices>,
    tally: Arc<Tally>,
}

/// Receiving side, for the engine loop.
pub struct Lanes {
    pub requests: Requests,
    pub reports: Receiver<Report>,
    /// Signals that prices wait.
    pub wake: Receiver<()>,
    prices: Arc<Prices>,
}

pub fn inbox() -> (Inbox, Lanes) {
    inbox_with(Room::default(), Unanswered::default())
}

pub fn inbox_with(room: Room, unanswered: Unanswered) -> (Inbox, Lanes) {
    let (ring, rings) = bounded(1);
    let (report_sender, reports) = bounded(REPORTS_MAX);
    let (wake_sender, wake) = bounded(1);
    let prices = Arc::new(Prices { waiting: Mutex::default(), wake: wake_sender });
    let lanes = Arc::new(lanes::Lanes::new(room));
    let inbox = Inbox {
        lanes: lanes.clone(),
        bell: Bell(ring),
        quotas: Arc::new(Quotas::new(unanswered)),
        reports: report_sender,
        prices: prices.clone(),
        tally: Arc::default(),
    };
    (inbox, Lanes { requests: Requests::new(lanes, rings), reports, wake, prices })
}

impl Inbox {
    pub fn command(&self, envelope: Envelope) -> Result<Ticket, Closed> {
        self.command_within(envelope, Allowance::default())
    }

    /// The permit counts as used until the command is answered.
    pub fn command_within(&self, envelope: Envelope, allowance: Allowance) -> Result<Ticket, Closed> {
        let place = self.try_reserve(&envelope.command)?;
        self.hand_over(place, envelope, allowance)
    }

    /// Waits for a free slot; only a stopped engine refuses.
    pub async fn command_when_free(&self, envelope: Envelope, allowance: Allowance) -> Result<Ticket, Closed> {
        let place = self.reserve(&envelope.command).await?;
        self.hand_over(place, envelope, allowance)
    }

    pub fn query(&self, query: Query) -> Result<Ticket, Closed> {
        self.query_within(query, Allowance::default())
    }

    /// The allowance counts as used until the question is answered.
    pub fn query_within(&self, query: Query, allowance: Allowance) -> Result<Ticket, Closed> {
        let (promise, ticket) = ticket();
        let promise = promise.within(allowance);
        self.request(Request { wanted: Wanted::Query(Box::new(query)), promise }, None).map(|()| ticket)
    }

    /// Waits for a free slot; only a stopped engine refuses.
    pub async fn query_when_free(&self, query: Query, allowance: Allowance) -> Result<Ticket, Closed> {
        let (promise, ticket) = ticket();
        let request = Request { wanted: Wanted::Query(Box::new(query)), promise: promise.within(allowance) };
        self.request_when_free(request, None).await.map(|()| ticket)
    }

    /// It keeps its order among the commands of its session.
    pub fn remember(&self, record: Vec<u8>, session: Option<&str>) -> Result<Ticket, Closed> {
        let (promise, ticket) = ticket();
        self.request(Request { wanted: Wanted::Remember(record), promise }, session).map(|()| ticket)
    }

    /// Waits while the lane is full: a delivery log with a gap cannot be replayed. Commands of its strategy do not
    /// overtake it.
    pub fn write_diary(&self, leaf: Vec<u8>, strategy: &str) -> Result<(), Closed> {
        let (promise, _) = ticket();
        block_on(self.request_when_free(Request { wanted: Wanted::Diary(leaf), promise }, Some(strategy)))
    }

    fn promise(&self, allowance: Allowance) -> (Promise, Ticket) {
        let (promise, ticket) = ticket();
        (promise.counted_in(self.tally.clone()).within(allowance), ticket)
    }

    /// A slot for a command that is sent in a moment.
    pub fn try_reserve(&self, command: &Command) -> Result<Place, Closed> {
        self.lanes.try_reserve(Class::of(command))
    }

    /// Waits for a free slot; only a stopped engine refuses.
    pub async fn reserve(&self, command: &Command) -> Result<Place, Closed> {
        self.lanes.reserve(Class::of(command)).await
    }

    pub fn hand_over(&self, place: Place, envelope: Envelope, allowance: Allowance) -> Result<Ticket, Closed> {
        let (promise, ticket) = self.promise(allowance);
        let request = Request { wanted: Wanted::Command(Box::new(envelope)), promise };
        self.put(place, request, None).map(|()| ticket)
    }

    fn request(&self, request: Request, session: Option<&str>) -> Result<(), Closed> {
        let place = self.lanes.try_reserve(Class::of_wanted(&request.wanted))?;
        self.put(place, request, session)
    }

    async fn request_when_free(&self, request: Request, session: Option<&str>) -> Result<(), Closed> {
        let place = self.lanes.reserve(Class::of_wanted(&request.wanted)).await?;
        self.put(place, request, session)
    }

    fn put(&self, place: Place, request: Request, session: Option<&str>) -> Result<(), Closed> {
        place.put(request, session)?;
        self.bell.ring();
        Ok(())
    }

    /// In-flight limits, and what counts against them.
    pub fn quotas(&self) -> &Quotas {
        &self.quotas
    }

    /// How many requests wait for the engine.
    pub fn depth(&self) -> Depth {
        self.lanes.depth()
    }

    /// Waits while the lane is full: a venue report is never dropped.
    pub fn report(&self, report: Report) -> Result<(), Closed> {
        self.tally.reported(&report.adapter);
        self.reports.send(report).map_err(|_| Closed::Stopped)
    }

    /// Never waits: a newer price replaces one that the engine has not seen yet.
    pub fn price(&self, data: MarketData) {
        self.tally.priced(data.feed());
        self.prices.put(data);
    }

    /// Metrics of the inbox.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }
}

impl Lanes {
    /// All prices that wait, by security.
    pub fn take_prices(&self) -> Vec<MarketData> {
        let waiting = std::mem::take(&mut *self.prices.lock());
        waiting.by_security.into_values().flat_map(Waiting::into_data).collect()
    }

    /// How many prices were replaced by newer ones before the engine saw them.
    pub fn take_skipped(&self) -> u64 {
        std::mem::take(&mut self.prices.lock().skipped)
    }
}

struct Prices {
    waiting: Mutex<Board>,
    wake: Sender<()>,
}

#[derive(Default)]
struct Board {
    by_security: BTreeMap<SecurityId, Waiting>,
    skipped: u64,
}

/// Waiting market data of one security: a quote replaces the one before; trades add up to volume and are kept.
#[derive(Default)]
struct Waiting {
    tick: Option<domain::Tick>,
    book: Option<domain::OrderBook>,
    trades: std::collections::VecDeque<domain::Trade>,
}

impl Prices {
    fn lock(&self) -> std::sync::MutexGuard<'_, Board> {
        // The state is consistent between any two statements that hold the lock.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, data: MarketData) {
        let mut board = self.lock();
        let skipped = board.by_security.entry(data.security()).or_default().put(data);
        board.skipped += u64::from(skipped);
        drop(board);
        // A full wake channel means that the engine is woken already.
        let _ = self.wake.try_send(());
    }
}

impl Waiting {
    /// Returns whether something older was dropped for it.
    fn put(&mut self, data: MarketData) -> bool {
        match data {
            MarketData::Tick(tick) => self.tick.replace(tick).is_some(),
            MarketData::Book(book) => self.book.replace(book).is_some(),
            MarketData::Trade(trade) => {
                self.trades.push_back(trade);
                self.trades.len() > TRADES_PER_SECURITY_MAX && self.trades.pop_front().is_some()
            }
        }
    }

    fn into_data(self) -> impl Iterator<Item = MarketData> {
        let trades = self.trades.into_iter().map(MarketData::Trade);
        let tick = self.tick.into_iter().map(MarketData::Tick);
        trades.chain(tick).chain(self.book.into_iter().map(MarketData::Book))
    }
}

#[cfg(test)]
mod tests {
    use domain::report::{Said, SessionState};
    use domain::{AdapterName, Caller, Command, Timestamp};

    use super::*;
    use crate::Reply;

    fn command() -> Envelope {
        Envelope { caller: Caller::platform(), command: Command::ResetCash }
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
        })
    }

    #[test]
    fn one_request_too_many_is_refused() {
        let (inbox, lanes) = inbox();
        let tickets: Vec<_> = (0..REQUESTS_MAX).map(|_| inbox.command(command()).unwrap()).collect();
        assert_eq!(inbox.command(command()).unwrap_err(), Closed::Busy);
        drop((tickets, lanes));
        assert_eq!(inbox.command(command()).unwrap_err(), Closed::Stopped);
    }

    #[test]
    fn a_delivery_log_record_waits_where_a_command_is_refused() {
        let (inbox, lanes) = inbox();
        let tickets: Vec<_> = (0..REQUESTS_MAX).map(|_| inbox.command(command()).unwrap()).collect();
        let writer = std::thread::spawn(move || inbox.write_diary(vec![7], "TREND"));
        let last = lanes.requests.iter().nth(REQUESTS_MAX).map(|request| request.wanted);
        assert!(matches!(last, Some(Wanted::Diary(leaf)) if leaf == [7]));
        assert_eq!(writer.join().unwrap(), Ok(()));
        drop(tickets);
    }

    #[test]
    fn a_waiting_request_fails_at_once_when_the_engine_stops() {
        let (inbox, lanes) = inbox();
        let ticket = inbox.command(command()).unwrap();
        drop(lanes);
        assert_eq!(ticket.reply_blocking().unwrap_err(), crate::ticket::Unanswered);
    }

    #[test]
    fn the_metrics_have_refusals_and_the_last_reports() {
        let (inbox, lanes) = inbox();
        let refuse = |request: Request| {
            request.promise.keep(Reply { sequence: 1, outcome: Err(domain::Refusal::AmountTooLarge) });
        };
        drop((inbox.command(command()).unwrap(), inbox.query(Query::State).unwrap()));
        lanes.requests.try_iter().for_each(refuse);
        inbox.price(tick(1, 10));
        let said = Said::Session(SessionState::Connected);
        inbox.report(Report { adapter: AdapterName::new("SIM", None), ext_at: None, said }).unwrap();
        let tally = inbox.tally();
        assert_eq!(tally.refusals(), [("amount-too-large", 1)].into(), "a question that is refused asks for nothing");
        assert_eq!(tally.since_reports().into_keys().collect::<Vec<_>>(), [AdapterName::new("SIM", None)]);
        assert_eq!(tally.since_prices().into_keys().collect::<Vec<_>>(), ["test".into()]);
    }

    #[test]
    fn only_the_newest_price_of_a_security_waits() {
        let (inbox, lanes) = inbox();
        for (security, bid) in [(1, 10), (2, 20), (1, 11)] {
            inbox.price(tick(security, bid));
        }
        assert!(lanes.wake.try_recv().is_ok());
        assert_eq!(lanes.take_skipped(), 1);
        assert_eq!(lanes.take_prices(), vec![tick(1, 11), tick(2, 20)]);
    }
}
