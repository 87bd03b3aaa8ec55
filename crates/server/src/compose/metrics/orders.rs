//! Changes of orders, and strategies that were stopped, counted as they happen.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use bus::{EventFeed, EventReceiver};
use domain::{Event, EventClass};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

use super::encoding::{EncodeResult, encode_counter, encode_counters};

/// Changes that may wait to be counted; of more some are missed, and that is counted.
const ORDER_CHANGES_MAX: usize = 65_536;
/// How often they are counted. Looking now and then costs the engine nothing, being woken would.
const COUNT_EVERY: Duration = Duration::from_millis(100);

type Labels = [(&'static str, &'static str); 2];

/// Shared by the thread that counts and whoever asks.
#[derive(Debug, Default, Clone)]
pub(super) struct OrderChangeCollector(Arc<OrderChangeCounts>);

#[derive(Debug, Default)]
struct OrderChangeCounts {
    /// By the status they led to, and the interface the order came through.
    counts: Mutex<BTreeMap<Labels, u64>>,
    /// Of strategies, by what they did.
    stops: Mutex<BTreeMap<[(&'static str, &'static str); 1], u64>>,
    missed: AtomicU64,
}

impl OrderChangeCollector {
    /// Until nobody holds the numbers any more.
    pub(super) fn start(feed: EventFeed) -> std::io::Result<Self> {
        let changes = Self::default();
        let counted = Arc::downgrade(&changes.0);
        thread::Builder::new().name("metrics".into()).spawn(move || follow_feed(&counted, &feed))?;
        Ok(changes)
    }
}

impl OrderChangeCounts {
    fn count_events(&self, listener: &mut EventReceiver) {
        while let Some(published) = listener.try_recv() {
            match published.event {
                Event::Order(order) => {
                    let labels = [("status", order.status().name()), ("door", wire::order::source_name(&order.source))];
                    *lock(&self.counts).entry(labels).or_default() += 1;
                }
                Event::LifeCycle(step) => {
                    let failure = step.failure.as_ref().map(|failure| [("failure", failure.kind.name())]);
                    failure.into_iter().for_each(|labels| *lock(&self.stops).entry(labels).or_default() += 1);
                }
                _ => {}
            }
        }
    }
}

fn lock<T>(counts: &Mutex<T>) -> MutexGuard<'_, T> {
    // A map is whole between any two statements that hold the lock.
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}

fn follow_feed(counted: &Weak<OrderChangeCounts>, feed: &EventFeed) {
    let join = || feed.subscribe(&[EventClass::Order, EventClass::LifeCycle], ORDER_CHANGES_MAX);
    let mut listener = join();
    while let Some(counted) = counted.upgrade() {
        counted.count_events(&mut listener);
        if listener.is_terminated() {
            counted.missed.fetch_add(1, Ordering::Relaxed);
            listener = join();
        }
        drop(counted);
        thread::sleep(COUNT_EVERY);
    }
}

impl Collector for OrderChangeCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> EncodeResult {
        let (counts, missed) = (lock(&self.0.counts).clone(), self.0.missed.load(Ordering::Relaxed));
        let stops = lock(&self.0.stops).clone();
        encode_counters(&mut encoder, "strategies_stopped", "Strategies that were stopped, by what they did", stops)?;
        encode_counters(&mut encoder, "order_changes", "Changes of orders, by the status they led to", counts)?;
        let help = "Times that counting changes of orders fell behind";
        encode_counter(&mut encoder, "order_changes_missed", help, missed)
    }
}
