//! Changes of orders, and strategies that were stopped, counted as they happen.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use bus::{Feed, Listener};
use domain::{Event, EventClass};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

use super::{Written, put_counter, put_counters};

/// Changes that may wait to be counted; of more some are missed, and that is counted.
const ORDER_CHANGES_MAX: usize = 65_536;
/// How often they are counted. Looking now and then costs the engine nothing, being woken would.
const COUNT_EVERY: Duration = Duration::from_millis(100);

type Labels = [(&'static str, &'static str); 2];

/// Shared by the thread that counts and whoever asks.
#[derive(Debug, Default, Clone)]
pub(super) struct OrderChanges(Arc<Counted>);

#[derive(Debug, Default)]
struct Counted {
    /// By the status they led to, and the door the order came through.
    counts: Mutex<BTreeMap<Labels, u64>>,
    /// Of strategies, by what they did.
    stops: Mutex<BTreeMap<[(&'static str, &'static str); 1], u64>>,
    missed: AtomicU64,
}

impl OrderChanges {
    /// Until nobody holds the numbers any more.
    pub(super) fn count(&self, feed: Feed) -> std::io::Result<()> {
        let counted = Arc::downgrade(&self.0);
        thread::Builder::new().name("metrics".into()).spawn(move || listen(&counted, &feed))?;
        Ok(())
    }
}

impl Counted {
    fn take(&self, listener: &mut Listener) {
        while let Some(published) = listener.poll() {
            match published.event {
                Event::Order(order) => {
                    let labels = [("status", order.status().name()), ("door", wire::order::door(&order.source))];
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

fn listen(counted: &Weak<Counted>, feed: &Feed) {
    let join = || feed.listen(&[EventClass::Order, EventClass::LifeCycle], ORDER_CHANGES_MAX);
    let mut listener = join();
    while let Some(counted) = counted.upgrade() {
        counted.take(&mut listener);
        if listener.is_over() {
            counted.missed.fetch_add(1, Ordering::Relaxed);
            listener = join();
        }
        drop(counted);
        thread::sleep(COUNT_EVERY);
    }
}

impl Collector for OrderChanges {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Written {
        let (counts, missed) = (lock(&self.0.counts).clone(), self.0.missed.load(Ordering::Relaxed));
        let stops = lock(&self.0.stops).clone();
        put_counters(&mut encoder, "strategies_stopped", "Strategies that were stopped, by what they did", stops)?;
        put_counters(&mut encoder, "order_changes", "Changes of orders, by the status they led to", counts)?;
        let help = "Times that counting changes of orders fell behind";
        put_counter(&mut encoder, "order_changes_missed", help, missed)
    }
}
