//! Subscriptions that begin in the past, over a past that cannot always be read.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use broker::{BrokerLimits, REPLAY_PAGE_BYTES, REPLAY_PAGE_EVENTS};
use bus::History;
use bus::history::{
    ChangePage, Found, HistoryError, OrderSearch, PageRequest, SortOrder, StoredEvent, StoredSample, Stretch,
    TradedSearch, TransactionSearch, ValueSearch,
};
use domain::command::GenericEvent;
use domain::{Event, EventClass, Order, OrderStatus, StrategyId, Timestamp, Transaction, TransactionId};
use samples::NullHistory;

use crate::harness::BrokerHarness;
use crate::test_client::TestStompClient;

/// Events of which each has a sequence of its own.
#[derive(Default)]
struct Past {
    events: Vec<StoredEvent>,
    /// So many questions more find it busy.
    busy: AtomicUsize,
    asked: Mutex<Vec<Stretch>>,
    /// While a test holds it, nobody finds anything.
    gate: Mutex<()>,
}

impl Past {
    fn of(bodies: &[String]) -> Self {
        let past = |(sequence, body): (u64, &String)| {
            let (at, class) = (Timestamp(1_000_000), EventClass::Generic as u8);
            StoredEvent { sequence, at, class, payload: minicbor::to_vec(event(body)).unwrap() }
        };
        Self { events: (1..).zip(bodies).map(past).collect(), ..Self::default() }
    }
}

fn event(body: &str) -> GenericEvent {
    GenericEvent { strategy: StrategyId(2), name: "said".into(), body: body.into() }
}

impl History for Past {
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

    fn events(&self, _: u64, _: PageRequest) -> Result<Vec<StoredEvent>, HistoryError> {
        Ok(vec![])
    }

    fn events_behind(&self, as_of: u64, stretch: Stretch) -> Result<Found, HistoryError> {
        if self.busy.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok() {
            return Err(HistoryError::Busy);
        }
        drop(self.gate.lock().unwrap());
        self.asked.lock().unwrap().push(stretch);
        let known = self.events.iter().filter(|event| event.sequence <= as_of && (event.sequence, 0) > stretch.after);
        let mut found = Found::default();
        let mut octets = 0;
        for event in known {
            if found.events.len() >= stretch.limit || octets >= stretch.octets {
                found.is_cut = true;
                break;
            }
            octets += event.payload.len();
            found.events.push((0, event.clone()));
        }
        Ok(found)
    }
}

/// A broker on which all of the past was published too.
fn broker_with_history(past: &Arc<Past>, bodies: &[String], limits: BrokerLimits) -> BrokerHarness {
    let durable = bodies.len() as u64;
    let program = Arc::new(NullHistory::with_durable(move || durable));
    let broker = BrokerHarness::open_after((past.clone(), program), limits, &[], None);
    for (sequence, body) in (1..).zip(bodies) {
        broker.publish(sequence, Event::Generic(Arc::new(event(body))));
    }
    broker
}

/// The ids of the next events, and whether they are of the past.
fn hear(client: &mut TestStompClient<std::net::TcpStream>, count: usize) -> Vec<(String, bool)> {
    let mut heard = || {
        let frame = client.frame();
        let id = frame.lines().find_map(|line| line.strip_prefix("event-id:")).unwrap_or_else(|| panic!("{frame}"));
        (id.to_owned(), frame.contains("\nreplayed:true\n"))
    };
    (0..count).map(|_| heard()).collect()
}

fn bodies(count: usize, octets: usize) -> Vec<String> {
    (0..count).map(|number| format!("\"{number}{}\"", "x".repeat(octets))).collect()
}

#[test]
fn a_replay_waits_while_too_many_ask_about_the_past() {
    let bodies = bodies(3, 0);
    let past = Arc::new(Past { busy: 2.into(), ..Past::of(&bodies) });
    let broker = broker_with_history(&past, &bodies, BrokerLimits::default());
    let mut client = TestStompClient::open_connected(broker.tcp);
    client.subscribe(1, "/topic/generic-event.>", "from-sequence:0\n");
    let missed = ["1-0", "2-0", "3-0"].map(|id| (id.to_owned(), true));
    assert_eq!(hear(&mut client, 3), missed);
    broker.publish(4, Event::Generic(Arc::new(event("4"))));
    assert_eq!(hear(&mut client, 1)[0].0, "4-0");
    assert_eq!(past.busy.load(Ordering::Relaxed), 0);
}

#[test]
fn a_replay_that_finds_no_turn_for_long_ends_and_says_so() {
    let bodies = bodies(1, 0);
    let past = Arc::new(Past { busy: usize::MAX.into(), ..Past::of(&bodies) });
    let limits = BrokerLimits { replay_wait: Duration::from_millis(300), ..BrokerLimits::default() };
    let broker = broker_with_history(&past, &bodies, limits);
    let mut client = TestStompClient::open_connected(broker.tcp);
    client.subscribe(1, "/topic/generic-event.>", "from-sequence:0\n");
    let words = client.read_to_end();
    let why = "from-sequence\\c too many ask about the past at the same time; connect again in a moment";
    assert!(words.starts_with(&format!("ERROR\nmessage:{why}\n")), "{words}");
}

#[test]
fn a_replay_reads_large_events_a_few_at_a_time() {
    let bodies = bodies(9, REPLAY_PAGE_BYTES / 4);
    let past = Arc::new(Past::of(&bodies));
    let broker = broker_with_history(&past, &bodies, BrokerLimits::default());
    let mut client = TestStompClient::open_connected(broker.tcp);
    client.subscribe(1, "/topic/generic-event.>", "from-sequence:0\n");
    let missed: Vec<_> = (1..=9).map(|sequence| (format!("{sequence}-0"), true)).collect();
    assert_eq!(hear(&mut client, 9), missed);
    let asked = past.asked.lock().unwrap();
    let bounds = (REPLAY_PAGE_EVENTS, REPLAY_PAGE_BYTES);
    assert!(asked.iter().all(|stretch| (stretch.limit, stretch.octets) == bounds), "{asked:?}");
    let from: Vec<_> = asked.iter().take(3).map(|stretch| stretch.after).collect();
    assert_eq!(from, [(0, u32::MAX), (4, 0), (8, 0)]);
}

/// Where more than half of what may wait for all is held already, what a replay would read can wait.
#[test]
fn a_replay_reads_nothing_while_too_much_waits_for_others() {
    let bodies = bodies(2, 50_000);
    let past = Arc::new(Past::of(&bodies));
    let limits =
        BrokerLimits { waiting_bytes: 60_000, replay_wait: Duration::from_millis(300), ..BrokerLimits::default() };
    let broker = broker_with_history(&past, &bodies, limits);
    let mut witness = TestStompClient::open_connected(broker.tcp);
    witness.subscribe(1, "/topic/generic-event.>", "");
    broker.publish(3, Event::Generic(Arc::new(event(&bodies[0]))));
    // The newest events are held, in words since somebody has heard them.
    assert_eq!(hear(&mut witness, 1)[0].0, "3-0");
    let mut client = TestStompClient::open_connected(broker.tcp);
    client.subscribe(1, "/topic/generic-event.>", "from-sequence:0\n");
    let words = client.read_to_end();
    let why = "from-sequence\\c too much waits for other clients; connect again in a moment";
    assert!(words.starts_with(&format!("ERROR\nmessage:{why}\n")), "{words}");
    assert_eq!(*past.asked.lock().unwrap(), []);
}

/// They acknowledge nothing, so that what was read for them stays; all of them ask before anything is read.
#[test]
fn many_who_replay_at_once_are_read_for_as_far_as_there_is_room() {
    const PAGES: usize = 6;
    let bodies = bodies(9, REPLAY_PAGE_BYTES / 4);
    let past = Arc::new(Past::of(&bodies));
    // Half of it is for pages; what one takes is known only when it is read, so room for its largest size must be there.
    let waiting_bytes = 2 * PAGES * (REPLAY_PAGE_BYTES + REPLAY_PAGE_BYTES / 4);
    let limits = BrokerLimits { waiting_bytes, replay_wait: Duration::from_secs(2), ..BrokerLimits::default() };
    let broker = broker_with_history(&past, &bodies, limits);
    let gate = past.gate.lock().unwrap();
    let mut clients: Vec<_> = (0..20).map(|_| TestStompClient::open_connected(broker.tcp)).collect();
    for client in &mut clients {
        let wish = "ack:client\nactivemq.prefetchSize:1\nfrom-sequence:0\n";
        client.subscribe(1, "/topic/generic-event.>", wish);
    }
    drop(gate);
    // Who is read for gets its first event, and who is not is told so in the end.
    let served = clients.iter_mut().filter_map(|client| {
        let frame = client.frame();
        let why = "ERROR\nmessage:from-sequence\\c too much waits for other clients; connect again in a moment\n";
        assert!(frame.contains("\nreplayed:true\n") || frame.starts_with(why), "{frame}");
        frame.starts_with("MESSAGE\n").then_some(())
    });
    let served = served.count();
    assert!((1..=PAGES).contains(&served), "{served} of 20 were read for");
    assert_eq!(past.asked.lock().unwrap().len(), served, "for the others nothing was read");
}
