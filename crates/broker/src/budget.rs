//! What may wait for all connections together. A message counts once, however many wait for it; on top of that counts a
//! little for each who does.

use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use stomp::Time;
use stomp::lanes::{OVERHEAD_BYTES, SlowConsumer};

use crate::ending::End;
use crate::mailbox::{Mailbox, Waiting};
use crate::seats::Seats;

/// After so many octets it is counted again.
const CHECK_EVERY_BYTES: usize = 4 * 1_024 * 1_024;
/// A client that has taken nothing for so long goes before those that take.
const STILL: Duration = Duration::from_secs(1);

pub(crate) struct Budget {
    limit: usize,
    /// Octets of all messages that somebody holds.
    messages: Arc<AtomicUsize>,
    /// Octets that were handed out since it was last counted.
    uncounted: usize,
}

impl Budget {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, messages: Arc::default(), uncounted: 0 }
    }

    /// Where messages count themselves.
    pub(crate) fn messages(&self) -> &Arc<AtomicUsize> {
        &self.messages
    }

    /// A message of that size was handed to so many.
    pub(crate) fn handed_out(&mut self, size: usize, connections: usize) {
        self.uncounted += size + connections * OVERHEAD_BYTES;
    }

    /// Where too much waits, those end who hold the most, first those among them who take nothing.
    pub(crate) fn keep(&mut self, now: Time, seats: &Seats) {
        if self.uncounted < CHECK_EVERY_BYTES.min(self.limit) {
            return;
        }
        self.uncounted = 0;
        let mut waiting: Vec<(Waiting, &Arc<Mailbox>)> =
            seats.iter().map(|seat| (seat.mailbox.waiting(), &seat.mailbox)).collect();
        let places: usize = waiting.iter().map(|(waiting, _)| waiting.messages * OVERHEAD_BYTES).sum();
        let mut excess = (self.messages.load(Ordering::Relaxed) + places).saturating_sub(self.limit);
        waiting.sort_by_key(|(waiting, _)| (now.since(waiting.progress) < STILL, Reverse(waiting.reliable)));
        for (waiting, mailbox) in waiting {
            if excess == 0 {
                break;
            }
            // Last values and recent events are in the sum too; who has nothing waiting cannot give any of it back.
            if waiting.reliable == 0 {
                continue;
            }
            excess = excess.saturating_sub(waiting.reliable);
            mailbox.end(End::Slow(SlowConsumer::Budget { limit: self.limit }));
        }
    }
}
