//! An engine without a disk, and the host of strategies before it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bus::history::{
    ChangePage, Found, HistoryError, OrderSearch, PageRequest, SortOrder, StoredEvent, StoredSample, Stretch,
    TradedSearch, TransactionSearch, ValueSearch,
};
use bus::inbox::{InboxReceiver, inbox};
use bus::{Bus, Catalogue, EventFeed, History, Reply, RequestPayload};
use crossbeam_channel::select;
use domain::command::{MarketData, RecordTransaction, ReferenceChange};
use domain::*;
use engine::{Engine, Outbox};
use runtime::strategies::protocol::ServerMessage;
use runtime::strategies::{HostSettings, OnFailure, StrategyHost};

pub(crate) const NAME: &str = "ONE";
pub(crate) const STRATEGY: StrategyId = StrategyId(2);
pub(crate) const OTHER: StrategyId = StrategyId(3);
pub(crate) const STOCK: SecurityId = SecurityId(1);

pub(crate) struct BusHarness {
    pub(crate) bus: Bus,
    pub(crate) host: StrategyHost,
    pub(crate) clock: runtime::EngineClock,
    /// Leaves of diaries that were written down.
    pub(crate) delivery_records: Arc<AtomicUsize>,
    past: Arc<RecordedHistory>,
}

impl BusHarness {
    pub(crate) fn open() -> Self {
        let ((inbox, lanes), feed, catalogue) = (inbox(), EventFeed::default(), Catalogue::default());
        let past = Arc::new(RecordedHistory::default());
        let leaves = Arc::new(AtomicUsize::new(0));
        let engine = TestEngine {
            leaves: leaves.clone(),
            engine: Engine::default(),
            sequence: 0,
            feed: feed.clone(),
            past: past.clone(),
            catalogue: catalogue.clone(),
        };
        std::thread::spawn(move || engine.run(&lanes));
        let journal = Arc::new(samples::NullHistory::with_durable(|| u64::MAX));
        let bus = Bus { inbox, feed, catalogue, history: past.clone(), journal };
        let clock: runtime::EngineClock = Arc::new(wall_clock);
        let settings = HostSettings {
            instances: vec![],
            hang_after: Duration::from_secs(600),
            reconnect_timeout: Duration::ZERO,
            on_failure: OnFailure::Cancel,
            orders_per_second: 100,
            logs_deliveries: true,
            // Nothing is stored in a folder that does not exist.
            bars: Arc::new(storage::BarFiles::open("/nonexistent".into(), 0)),
        };
        let server = Self {
            host: StrategyHost::open(bus.clone(), clock.clone(), strategy::StrategyRegistry::default(), settings)
                .unwrap(),
            bus,
            clock,
            delivery_records: leaves,
            past,
        };
        server.command(Command::Reference(reference()));
        server
    }

    pub(crate) fn command(&self, command: Command) -> Reply {
        let envelope = CommandEnvelope { caller: Caller::platform(), command };
        self.bus.inbox.command(envelope).unwrap().recv_blocking().unwrap()
    }

    /// Cash for a strategy: the sequence at which its events happened.
    pub(crate) fn credit(&self, strategy: StrategyId, dollars: i64) -> u64 {
        let credit = RecordTransaction { strategy: Some(strategy), ..samples::credit(1, dollars) };
        let reply = self.command(Command::Record(credit));
        assert!(reply.outcome.is_ok(), "{reply:?}");
        reply.sequence
    }

    pub(crate) fn change_reference(&self, change: ReferenceChange) {
        let reply = self.command(Command::Reference(vec![change]));
        assert!(reply.outcome.is_ok(), "{reply:?}");
    }

    /// Nothing is read from history until it is dropped: a replay waits.
    pub(crate) fn hold_history(&self) -> MutexGuard<'_, ()> {
        self.past.reading.lock().unwrap()
    }

    pub(crate) fn quote(&self, bid: i64) {
        let tick = Tick { bid: Some(bid.into()), ask: Some((bid + 1).into()), ..samples::tick(STOCK.0) };
        self.bus.inbox.send_price(MarketData::Tick(tick));
    }
}

fn wall_clock() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    Timestamp(i64::try_from(since.as_nanos()).unwrap())
}

fn reference() -> Vec<ReferenceChange> {
    let strategy = |id: StrategyId, name: &str| {
        ReferenceChange::Strategy(StrategyRecord { id, name: name.into(), auto_activate: false })
    };
    vec![
        ReferenceChange::Exchange(samples::exchange()),
        ReferenceChange::Security(samples::stock(STOCK.0, "STOCK")),
        ReferenceChange::Account(samples::account(1, "A")),
        strategy(STRATEGY, NAME),
        strategy(OTHER, "OTHER"),
    ]
}

struct TestEngine {
    leaves: Arc<AtomicUsize>,
    engine: Engine,
    sequence: u64,
    feed: EventFeed,
    past: Arc<RecordedHistory>,
    catalogue: Catalogue,
}

impl TestEngine {
    fn run(mut self, lanes: &InboxReceiver) {
        loop {
            select! {
                recv(lanes.requests.wake()) -> rung => {
                    lanes.requests.try_iter().for_each(|request| self.answer(request));
                    if rung.is_err() {
                        return;
                    }
                }
                recv(lanes.wake) -> _ => {
                    for price in lanes.drain_prices() {
                        self.apply(Input::Market(price)).unwrap();
                    }
                }
            }
        }
    }

    fn answer(&mut self, request: bus::EngineRequest) {
        let outcome = match request.payload {
            RequestPayload::Command(envelope) => self.apply(Input::Command(envelope)),
            RequestPayload::Query(query) => self.engine.answer(wall_clock(), self.sequence, &query),
            RequestPayload::LedgerRecord(_) => Ok(Answer::Done),
            RequestPayload::DeliveryLog(_) => {
                self.leaves.fetch_add(1, Ordering::SeqCst);
                return;
            }
        };
        request.reply_to.send(Reply { sequence: self.sequence, outcome });
    }

    fn apply(&mut self, what: Input) -> Result<Answer, Refusal> {
        self.sequence += 1;
        let (sequence, at) = (self.sequence, wall_clock());
        let mut out = Outbox::default();
        let outcome = self.engine.apply(&Sequenced { sequence, at, payload: what }, &mut out);
        for event in out.events.drain(..) {
            if let Event::Reference(update) = &event {
                self.catalogue.replace(update.data.clone());
            }
            let published = PublishedEvent { sequence, at, event };
            self.past.keep(&published);
            self.feed.publish(&published);
        }
        outcome
    }
}

/// Everything that happened, in memory.
#[derive(Default)]
struct RecordedHistory {
    stored: Mutex<Vec<StoredEvent>>,
    reading: Mutex<()>,
}

impl RecordedHistory {
    fn keep(&self, published: &PublishedEvent) {
        let kept = matches!(published.event, Event::OrderStatus(_) | Event::Fill(_) | Event::Transaction(_));
        if kept
            && let Some(ServerMessage::Event { sequence, at, class, payload }) = ServerMessage::from_event(published)
        {
            self.stored.lock().unwrap().push(StoredEvent { sequence, at, class, payload });
        }
    }
}

impl History for RecordedHistory {
    fn orders(&self, _: u64, _: &OrderSearch, _: SortOrder, _: PageRequest) -> Result<Vec<Arc<Order>>, HistoryError> {
        Ok(vec![])
    }

    fn traded_orders(&self, _: u64, _: &TradedSearch, _: ChangePage) -> Result<Vec<Arc<Order>>, HistoryError> {
        Ok(vec![])
    }

    fn order_events(&self, _: u64, _: &str) -> Result<Vec<OrderStatus>, HistoryError> {
        Ok(vec![])
    }

    fn transactions(
        &self,
        _: u64,
        _: &TransactionSearch,
        _: SortOrder,
        _: PageRequest,
    ) -> Result<Vec<Arc<Transaction>>, HistoryError> {
        Ok(vec![])
    }

    fn transaction(&self, _: u64, _: TransactionId) -> Result<Option<Arc<Transaction>>, HistoryError> {
        Ok(None)
    }

    fn value_samples(&self, _: u64, _: &ValueSearch, _: PageRequest) -> Result<Vec<StoredSample>, HistoryError> {
        Ok(vec![])
    }

    fn events(&self, _: u64, page: PageRequest) -> Result<Vec<StoredEvent>, HistoryError> {
        let _reading = self.reading.lock().unwrap();
        let events = self.stored.lock().unwrap();
        Ok(events.iter().filter(|event| event.sequence > page.after).take(page.limit).cloned().collect())
    }

    fn events_behind(&self, _: u64, _: Stretch) -> Result<Found, HistoryError> {
        Ok(Found::default())
    }
}
