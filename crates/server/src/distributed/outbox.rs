//! Send window of one process: a few envelopes are in flight to its queue, and the rest waits here, so that a stalled
//! process fills neither the broker's queues nor blocks others.

use std::collections::VecDeque;

use runtime::strategies::protocol::Message;

/// Envelopes in flight to one process; the next is sent when one is acknowledged.
const WINDOW_PARCELS: usize = 512;
/// Their octets; the broker's queues hold sixty times as many.
const WINDOW_BYTES: usize = 256 * 1_024;
/// Messages that are queued for one process; with one more it is declared lost.
pub(super) const WAITING_MAX: usize = 16_384;

/// The queue is full.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Full;

#[derive(Default)]
pub(super) struct Outbox {
    epoch: u64,
    number: u64,
    /// Number and size of each envelope.
    under_way: VecDeque<(u64, usize)>,
    bytes: usize,
    waiting: VecDeque<Message>,
}

impl Outbox {
    pub(super) fn of(epoch: u64) -> Self {
        Self { epoch, ..Self::default() }
    }

    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }

    pub(super) fn put(&mut self, message: Message) -> Result<(), Full> {
        if self.waiting.len() >= WAITING_MAX {
            return Err(Full);
        }
        self.waiting.push_back(message);
        Ok(())
    }

    /// Drops what is queued and sends only this.
    pub(super) fn put_last(&mut self, message: Message) {
        self.waiting = VecDeque::from([message]);
    }

    /// The next envelope that may be sent.
    pub(super) fn next(&mut self) -> Option<Vec<u8>> {
        if self.under_way.len() >= WINDOW_PARCELS || self.bytes >= WINDOW_BYTES {
            return None;
        }
        let message = self.waiting.pop_front()?;
        Some(self.pack(message))
    }

    /// An envelope that is sent before the queued ones, whatever is in flight.
    pub(super) fn pack(&mut self, message: Message) -> Vec<u8> {
        self.number += 1;
        let parcel = message.into_bytes(self.epoch, self.number);
        self.under_way.push_back((self.number, parcel.len()));
        self.bytes += parcel.len();
        parcel
    }

    /// Every envelope up to this one has arrived.
    pub(super) fn taken(&mut self, number: u64) {
        while let Some((_, bytes)) = self.under_way.pop_front_if(|(sent, _)| *sent <= number) {
            self.bytes -= bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(key: u64) -> Message {
        Message::Answer { key, refusal: None }
    }

    fn parcels(outbox: &mut Outbox) -> usize {
        std::iter::from_fn(|| outbox.next()).count()
    }

    #[test]
    fn no_more_than_the_window_is_under_way_and_what_was_taken_makes_room() {
        let mut outbox = Outbox::of(1);
        (1..=1_000).for_each(|key| outbox.put(answer(key)).unwrap());
        assert_eq!(parcels(&mut outbox), WINDOW_PARCELS);
        outbox.taken(100);
        assert_eq!(parcels(&mut outbox), 100);
        outbox.taken(1_000);
        assert_eq!((parcels(&mut outbox), outbox.bytes > 0), (388, true));
        outbox.taken(1_000);
        assert_eq!((outbox.under_way.len(), outbox.bytes), (0, 0));
    }

    #[test]
    fn large_parcels_fill_the_window_by_their_octets_and_one_always_goes() {
        let large = || Message::Cut { reason: "x".repeat(WINDOW_BYTES).into(), may_return: false };
        let mut outbox = Outbox::of(1);
        (0..3).for_each(|_| outbox.put(large()).unwrap());
        assert_eq!(parcels(&mut outbox), 1);
        outbox.taken(1);
        assert_eq!(parcels(&mut outbox), 1);
    }

    #[test]
    fn the_queue_is_bounded_and_the_final_message_needs_no_room() {
        let mut outbox = Outbox::of(1);
        (0..WAITING_MAX as u64).for_each(|key| outbox.put(answer(key)).unwrap());
        assert_eq!(outbox.put(answer(0)), Err(Full));
        outbox.put_last(answer(0));
        assert_eq!(parcels(&mut outbox), 1);
    }
}
