//! Metrics of the broker: connections, subscriptions, queue bytes, slow consumers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use stomp::lanes::FrameBatch;

/// Current state of the broker, and counters since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BrokerMetrics {
    pub connections: usize,
    pub subscriptions: usize,
    /// Different patterns of the subscriptions.
    pub patterns: usize,
    /// Octets that are queued for connections, and those in `/queue/` destinations.
    pub queue_bytes: usize,
    /// Age of the oldest unpublished event.
    pub oldest_event: Duration,
    /// Messages that were written to sockets.
    pub delivered: u64,
    /// Prices that a newer one replaced before they were written.
    pub conflated: u64,
    /// Messages that were queued for connections which were disconnected as slow.
    pub dropped: u64,
    /// How often a connection became a slow consumer.
    pub slow_consumers: u64,
    /// Connections that were disconnected as slow.
    pub slow_disconnects: u64,
}

/// Counters.
#[derive(Debug, Default)]
pub(crate) struct BrokerCounters {
    delivered: AtomicU64,
    conflated: AtomicU64,
    dropped: AtomicU64,
    slow_consumers: AtomicU64,
    slow_disconnects: AtomicU64,
}

impl BrokerCounters {
    pub(crate) fn on_batch_sent(&self, batch: &FrameBatch) {
        if batch.messages() > 0 {
            self.delivered.fetch_add(batch.messages(), Ordering::Relaxed);
        }
        if batch.conflated() > 0 {
            self.conflated.fetch_add(batch.conflated(), Ordering::Relaxed);
        }
    }

    /// A connection reads slowly.
    pub(crate) fn on_slow_consumer(&self) {
        self.slow_consumers.fetch_add(1, Ordering::Relaxed);
    }

    /// A connection is disconnected while so many messages are queued for it. A reader that sees the disconnect also
    /// sees these messages.
    pub(crate) fn on_slow_disconnect(&self, waiting: u64) {
        self.dropped.fetch_add(waiting, Ordering::Relaxed);
        self.slow_disconnects.fetch_add(1, Ordering::Release);
    }

    /// Adds the counters to the current state. To be read after it: a removed connection was counted before.
    pub(crate) fn add_to(&self, state_cache: BrokerMetrics) -> BrokerMetrics {
        // Before the messages that each of these dropped.
        let slow_disconnects = self.slow_disconnects.load(Ordering::Acquire);
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        BrokerMetrics {
            delivered: read(&self.delivered),
            conflated: read(&self.conflated),
            dropped: read(&self.dropped),
            slow_consumers: read(&self.slow_consumers),
            slow_disconnects,
            ..state_cache
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Disconnects while metrics are read: no reading shows one without its dropped messages.
    #[test]
    fn a_slow_disconnect_is_never_seen_without_the_messages_that_it_dropped() {
        const CUT: u64 = 200_000;
        let counters = BrokerCounters::default();
        std::thread::scope(|scope| {
            scope.spawn(|| (0..CUT).for_each(|_| counters.on_slow_disconnect(1)));
            let looks = std::iter::repeat_with(|| counters.add_to(BrokerMetrics::default()));
            let unequal = looks
                .take_while(|numbers| numbers.slow_disconnects < CUT)
                .find(|numbers| numbers.dropped < numbers.slow_disconnects);
            assert_eq!(unequal, None);
        });
    }
}
