//! Memory budget for all outbound queues together. A shared message counts once, plus a little for each connection it
//! waits for.

use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use stomp::MonotonicTime;
use stomp::lanes::{OVERHEAD_BYTES, SlowConsumer};

use crate::connection::close_reason::CloseReason;
use crate::hub::connections::Connections;
use crate::hub::outbound_queue::{OutboundQueue, QueueDepth};

/// After so many octets the sum is checked again.
const CHECK_EVERY_BYTES: usize = 4 * 1_024 * 1_024;
/// A client that has read nothing for this long is disconnected before those that read.
const STALLED_AFTER: Duration = Duration::from_secs(1);

/// Octets that count beside messages, until it is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    octets: usize,
    all: Arc<AtomicUsize>,
}

impl Share {
    /// None where more than `limit` would count then. It counts in the same step, so that many who ask at once do not all
    /// find room.
    pub(crate) fn within(limit: usize, all: &Arc<AtomicUsize>, octets: usize) -> Option<Self> {
        let fits = |held: usize| held.checked_add(octets).filter(|sum| *sum <= limit);
        all.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).ok()?;
        Some(Self { octets, all: all.clone() })
    }

    /// It turned out to be more or less.
    pub(crate) fn resize(&mut self, octets: usize) {
        self.all.fetch_add(octets, Ordering::Relaxed);
        self.all.fetch_sub(std::mem::replace(&mut self.octets, octets), Ordering::Relaxed);
    }

    pub(crate) fn octets(&self) -> usize {
        self.octets
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.all.fetch_sub(self.octets, Ordering::Relaxed);
    }
}

pub(crate) struct MemoryBudget {
    limit: usize,
    /// Octets of all messages in memory, those of last values and recent events included: a message that waits for nobody
    /// and one that waits for many take as much.
    messages: Arc<AtomicUsize>,
    /// Octets that were queued since the last check.
    uncounted: usize,
}

impl MemoryBudget {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, messages: Arc::default(), uncounted: 0 }
    }

    /// The counter that messages add themselves to.
    pub(crate) fn messages(&self) -> &Arc<AtomicUsize> {
        &self.messages
    }

    /// A message of that size was queued for so many connections.
    pub(crate) fn on_published(&mut self, size: usize, connections: usize) {
        self.uncounted += size + connections * OVERHEAD_BYTES;
    }

    /// Over the budget the connections with the most queued octets are closed, first those that read nothing.
    pub(crate) fn enforce(&mut self, now: MonotonicTime, connections: &Connections) {
        if self.uncounted < CHECK_EVERY_BYTES.min(self.limit) {
            return;
        }
        self.uncounted = 0;
        let mut waiting: Vec<(QueueDepth, &Arc<OutboundQueue>)> =
            connections.iter().map(|entry| (entry.mailbox.depth(), &entry.mailbox)).collect();
        let places: usize = waiting.iter().map(|(waiting, _)| waiting.messages * OVERHEAD_BYTES).sum();
        let mut excess = (self.messages.load(Ordering::Relaxed) + places).saturating_sub(self.limit);
        waiting.sort_by_key(|(waiting, _)| (now.since(waiting.progress) < STALLED_AFTER, Reverse(waiting.returned())));
        for (waiting, queue) in waiting {
            if excess == 0 {
                break;
            }
            // Last values and recent events are in the sum too; a connection with an empty queue cannot free any of it.
            if waiting.returned() == 0 {
                continue;
            }
            excess = excess.saturating_sub(waiting.returned());
            queue.close(CloseReason::Slow(SlowConsumer::Budget { limit: self.limit }));
        }
    }
}
