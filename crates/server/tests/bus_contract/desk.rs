//! An engine without a disk, and the host of strategies before it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bus::history::{Found, HistoryError, OrderSearch, Page, PastEvent, Sort, Stretch};
use bus::inbox::{Lanes, inbox};
use bus::{Bus, Catalogue, Feed, History, Reply, Wanted};
use crossbeam_channel::select;
use domain::command::{MarketData, RecordTransaction, ReferenceChange};
use domain::query::Filter;
use domain::*;
use engine::{Engine, Outbox};
use runtime::strategies::protocol::Message;
use runtime::strategies::{Host, HostSettings, OnFailure};

pub(crate) const NAME: &str = "ONE";
pub(crate) const STRATEGY: StrategyId = StrategyId(2);
pub(crate) const OTHER: StrategyId = StrategyId(3);
pub(crate) const STOCK: SecurityId = SecurityId(1);

pub(crate) struct Desk {
    pub(crate) bus: Bus,
    pub(crate) host: Host,
    pub(crate) clock: runtime::Clock,
    /// Leaves of diaries that were written down.
    pub(crate) leaves: Arc<AtomicUsize>,
}

impl Desk {
    pub(crate) fn open() -> Self {
        let ((inbox, lanes), feed, catalogue) = (inbox(), Feed::default(), Catalogue::default());
        let past = Arc::new(Past::default());
        let leaves = Arc::new(AtomicUsize::new(0));
        let engine = Running {
            leaves: leaves.clone(),
            engine: Engine::default(),
            sequence: 0,
            feed: feed.clone(),
            past: past.clone(),
            catalogue: catalogue.clone(),
        };
        std::thread::spawn(move || engine.run(&lanes));
        let operations = Arc::new(samples::Bystander::durable_up_to(|| u64::MAX));
        let bus = Bus { inbox, feed, catalogue, history: past, operations };
        let clock: runtime::Clock = Arc::new(wall_clock);
        let settings = HostSettings {
            instances: vec![],
            hang_after: Duration::from_secs(600),
            return_within: Duration::ZERO,
            on_failure: OnFailure::Cancel,
            orders_per_second: 100,
            keeps_diaries: true,
            // Nothing is stored in a folder that does not exist.
            bars: Arc::new(storage::BarFiles::open("/nonexistent".into(), 0)),
        };
        let desk = Self {
            host: Host::open(bus.clone(), clock.clone(), strategy::Registry::default(), settings).unwrap(),
            bus,
            clock,
            leaves,
        };
        desk.tell(Command::Reference(reference()));
        desk
    }

    pub(crate) fn tell(&self, command: Command) -> Reply {
        let envelope = Envelope { caller: Caller::platform(), command };
        self.bus.inbox.command(envelope).unwrap().reply_blocking().unwrap()
    }

    /// Cash for a strategy: the sequence at which its events happened.
    pub(crate) fn credit(&self, strategy: StrategyId, dollars: i64) -> u64 {
        let credit = RecordTransaction { strategy: Some(strategy), ..samples::credit(1, dollars) };
        let reply = self.tell(Command::Record(credit));
        assert!(reply.outcome.is_ok(), "{reply:?}");
        reply.sequence
    }

    pub(crate) fn quote(&self, bid: i64) {
        let tick = Tick { bid: Some(bid.into()), ask: Some((bid + 1).into()), ..samples::tick(STOCK.0) };
        self.bus.inbox.price(MarketData::Tick(tick));
    }
}

fn wall_clock() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    Timestamp(i64::try_from(since.as_nanos()).unwrap())
}

fn reference() -> Vec<ReferenceChange> {
    let strategy = |id: StrategyId, name: &str| {
        ReferenceChange::Strategy(Strategy { id, name: name.into(), auto_activate: false })
    };
    vec![
        ReferenceChange::Exchange(samples::exchange()),
        ReferenceChange::Security(samples::stock(STOCK.0, "STOCK")),
        ReferenceChange::Account(samples::account(1, "A")),
        strategy(STRATEGY, NAME),
        strategy(OTHER, "OTHER"),
    ]
}

struct Running {
    leaves: Arc<AtomicUsize>,
    engine: Engine,
    sequence: u64,
    feed: Feed,
    past: Arc<Past>,
    catalogue: Catalogue,
}

impl Running {
    fn run(mut self, lanes: &Lanes) {
        loop {
            select! {
                recv(lanes.requests.wake()) -> rung => {
                    lanes.requests.try_iter().for_each(|request| self.answer(request));
                    if rung.is_err() {
                        return;
                    }
                }
                recv(lanes.wake) -> _ => {
                    for price in lanes.take_prices() {
                        self.apply(Input::Market(price)).unwrap();
                    }
                }
            }
        }
    }

    fn answer(&mut self, request: bus::Request) {
        let outcome = match request.wanted {
            Wanted::Command(envelope) => self.apply(Input::Command(envelope)),
            Wanted::Query(query) => self.engine.answer(wall_clock(), self.sequence, &query),
            Wanted::Remember(_) => Ok(Answer::Done),
            Wanted::Diary(_) => {
                self.leaves.fetch_add(1, Ordering::SeqCst);
                return;
            }
        };
        request.promise.keep(Reply { sequence: self.sequence, outcome });
    }

    fn apply(&mut self, what: Input) -> Result<Answer, Refusal> {
        self.sequence += 1;
        let (sequence, at) = (self.sequence, wall_clock());
        let mut out = Outbox::default();
        let outcome = self.engine.apply(&Stamped { sequence, at, what }, &mut out);
        for event in out.events.drain(..) {
            if let Event::Reference(data) = &event {
                self.catalogue.replace(data.clone());
            }
            let published = Published { sequence, at, event };
            self.past.keep(&published);
            self.feed.publish(&published);
        }
        outcome
    }
}

/// Everything that happened, in memory.
#[derive(Default)]
struct Past(Mutex<Vec<PastEvent>>);

impl Past {
    fn keep(&self, published: &Published) {
        let kept = matches!(published.event, Event::OrderStatus(_) | Event::Fill(_) | Event::Transaction(_));
        if kept && let Some(Message::Event { sequence, at, class, payload }) = Message::of_event(published) {
            self.0.lock().unwrap().push(PastEvent { sequence, at, class, payload });
        }
    }
}

impl History for Past {
    fn orders(&self, _: u64, _: &OrderSearch, _: Sort, _: Page) -> Result<Vec<Arc<Order>>, HistoryError> {
        Ok(vec![])
    }

    fn order_events(&self, _: u64, _: &str) -> Result<Vec<OrderStatus>, HistoryError> {
        Ok(vec![])
    }

    fn transactions(&self, _: u64, _: Filter, _: Sort, _: Page) -> Result<Vec<Arc<Transaction>>, HistoryError> {
        Ok(vec![])
    }

    fn transaction(&self, _: u64, _: TransactionId) -> Result<Option<Arc<Transaction>>, HistoryError> {
        Ok(None)
    }

    fn events(&self, _: u64, page: Page) -> Result<Vec<PastEvent>, HistoryError> {
        let events = self.0.lock().unwrap();
        Ok(events.iter().filter(|event| event.sequence > page.after).take(page.limit).cloned().collect())
    }

    fn events_behind(&self, _: u64, _: Stretch) -> Result<Found, HistoryError> {
        Ok(Found::default())
    }
}
