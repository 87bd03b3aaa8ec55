//! Send window of one process: a few envelopes are in flight to its queue, and the rest waits here, so that a stalled
//! process fills neither the broker's queues nor blocks others.

use std::collections::VecDeque;

use runtime::strategies::protocol::ServerMessage;

/// Envelopes in flight to one process; the next is sent when one is acknowledged.
const WINDOW_ENVELOPES: usize = 512;
/// Their octets; the broker's queues hold sixty times as many.
const WINDOW_BYTES: usize = 256 * 1_024;
/// Messages that are queued for one process; with one more it is declared lost.
pub(crate) const WAITING_MAX: usize = 16_384;

/// The queue is full.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WindowFull;

#[derive(Default)]
pub(crate) struct SendWindow {
    epoch: u64,
    number: u64,
    /// Number and size of each envelope.
    in_flight: VecDeque<(u64, usize)>,
    bytes: usize,
    waiting: VecDeque<ServerMessage>,
}

impl SendWindow {
    pub(crate) fn new_epoch(epoch: u64) -> Self {
        Self { epoch, ..Self::default() }
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    pub(crate) fn push(&mut self, message: ServerMessage) -> Result<(), WindowFull> {
        if self.waiting.len() >= WAITING_MAX {
            return Err(WindowFull);
        }
        self.waiting.push_back(message);
        Ok(())
    }

    /// Drops what is queued and sends only this.
    pub(crate) fn push_final(&mut self, message: ServerMessage) {
        self.waiting = VecDeque::from([message]);
    }

    /// The next envelope that may be sent.
    pub(crate) fn next_envelope(&mut self) -> Option<Vec<u8>> {
        if self.in_flight.len() >= WINDOW_ENVELOPES || self.bytes >= WINDOW_BYTES {
            return None;
        }
        let message = self.waiting.pop_front()?;
        Some(self.encode_envelope(message))
    }

    /// An envelope that is sent before the queued ones, whatever is in flight.
    pub(crate) fn encode_envelope(&mut self, message: ServerMessage) -> Vec<u8> {
        self.number += 1;
        let envelope = message.into_bytes(self.epoch, self.number);
        self.in_flight.push_back((self.number, envelope.len()));
        self.bytes += envelope.len();
        envelope
    }

    /// Every envelope up to this one has arrived.
    pub(crate) fn on_acknowledged(&mut self, number: u64) {
        while let Some((_, bytes)) = self.in_flight.pop_front_if(|(sent, _)| *sent <= number) {
            self.bytes -= bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(key: u64) -> ServerMessage {
        ServerMessage::Answer { key, refusal: None }
    }

    fn parcels(outbox: &mut SendWindow) -> usize {
        std::iter::from_fn(|| outbox.next_envelope()).count()
    }

    #[test]
    fn no_more_than_the_window_is_under_way_and_what_was_taken_makes_room() {
        let mut outbox = SendWindow::new_epoch(1);
        (1..=1_000).for_each(|key| outbox.push(answer(key)).unwrap());
        assert_eq!(parcels(&mut outbox), WINDOW_ENVELOPES);
        outbox.on_acknowledged(100);
        assert_eq!(parcels(&mut outbox), 100);
        outbox.on_acknowledged(1_000);
        assert_eq!((parcels(&mut outbox), outbox.bytes > 0), (388, true));
        outbox.on_acknowledged(1_000);
        assert_eq!((outbox.in_flight.len(), outbox.bytes), (0, 0));
    }

    #[test]
    fn large_parcels_fill_the_window_by_their_octets_and_one_always_goes() {
        let large = || ServerMessage::Disconnected { reason: "x".repeat(WINDOW_BYTES).into(), may_return: false };
        let mut outbox = SendWindow::new_epoch(1);
        (0..3).for_each(|_| outbox.push(large()).unwrap());
        assert_eq!(parcels(&mut outbox), 1);
        outbox.on_acknowledged(1);
        assert_eq!(parcels(&mut outbox), 1);
    }

    #[test]
    fn the_queue_is_bounded_and_the_final_message_needs_no_room() {
        let mut outbox = SendWindow::new_epoch(1);
        (0..WAITING_MAX as u64).for_each(|key| outbox.push(answer(key)).unwrap());
        assert_eq!(outbox.push(answer(0)), Err(WindowFull));
        outbox.push_final(answer(0));
        assert_eq!(parcels(&mut outbox), 1);
    }
}
