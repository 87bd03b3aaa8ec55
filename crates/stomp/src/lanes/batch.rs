//! Frame batch for one vectored write: heads of each subscription, and shared tails.

use std::ops::Range;
use std::sync::Arc;

use crate::message::StompMessage;
use crate::session::{DeliveryToken, SubscriptionKey};
use crate::version::StompVersion;

/// Octets of heads for which an emptied batch keeps its memory.
const HEAD_BYTES_KEPT: usize = 64 * 1_024;

/// Frames on their way to a socket. One batch serves a writer for all its connections; in steady state it allocates
/// nothing.
#[derive(Debug)]
pub struct FrameBatch {
    version: StompVersion,
    heads: Vec<u8>,
    frames: Vec<BatchFrame>,
    bytes: usize,
    /// Messages among the frames, and older values that they replaced.
    messages: u64,
    conflated: u64,
    /// Where the next write continues: the frame, and the octets of it that are written.
    next: usize,
    offset: usize,
    acknowledged: Vec<(SubscriptionKey, DeliveryToken)>,
}

#[derive(Debug)]
struct BatchFrame {
    head: Range<usize>,
    tail: Option<Arc<StompMessage>>,
}

impl Default for FrameBatch {
    fn default() -> Self {
        Self {
            version: StompVersion::V10,
            heads: Vec::new(),
            frames: Vec::new(),
            bytes: 0,
            messages: 0,
            conflated: 0,
            next: 0,
            offset: 0,
            acknowledged: Vec::new(),
        }
    }
}

impl FrameBatch {
    pub(crate) fn begin(&mut self, version: StompVersion) {
        self.version = version;
    }

    /// Octets of all its frames.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many of its frames are messages.
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// How many older values its messages replaced.
    pub fn conflated(&self) -> u64 {
        self.conflated
    }

    /// Whether everything is written.
    pub fn is_done(&self) -> bool {
        self.next == self.frames.len()
    }

    /// A whole frame, not shared with other connections.
    pub(crate) fn push(&mut self, frame: &[u8]) {
        let begin = self.heads.len();
        self.heads.extend_from_slice(frame);
        self.add(begin, None);
    }

    /// A message, after its head was written to [`FrameBatch::heads`] from `begin` on, with the number of values it
    /// replaced.
    pub(crate) fn push_message(&mut self, begin: usize, message: Arc<StompMessage>, conflated: u64) {
        self.messages += 1;
        self.conflated += conflated;
        self.add(begin, Some(message));
    }

    fn add(&mut self, begin: usize, tail: Option<Arc<StompMessage>>) {
        let head = begin..self.heads.len();
        self.bytes += head.len() + tail.as_ref().map_or(0, |message| message.tail(self.version).len());
        self.frames.push(BatchFrame { head, tail });
    }

    pub(crate) fn heads(&mut self) -> &mut Vec<u8> {
        &mut self.heads
    }

    pub(crate) fn acknowledge(&mut self, subscription: SubscriptionKey, token: DeliveryToken) {
        self.acknowledged.push((subscription, token));
    }

    /// Messages of queues that are acknowledged by being sent, because their subscription has the mode auto.
    pub fn acknowledged(&self) -> &[(SubscriptionKey, DeliveryToken)] {
        &self.acknowledged
    }

    /// Each frame as its two parts, for a transport that sends frames one by one; the second may be empty.
    pub fn frames(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.frames.iter().map(|frame| self.parts(frame))
    }

    fn parts<'a>(&'a self, frame: &'a BatchFrame) -> (&'a [u8], &'a [u8]) {
        let tail = frame.tail.as_ref().map_or(&[][..], |message| message.tail(self.version));
        (&self.heads[frame.head.clone()], tail)
    }

    /// What is not written yet, in order, for one vectored write.
    pub fn slices(&self) -> impl Iterator<Item = &[u8]> {
        let mut written = self.offset;
        let parts = self.frames[self.next..].iter().flat_map(|frame| <[&[u8]; 2]>::from(self.parts(frame)));
        let rest = parts.map(move |part| {
            let skipped = written.min(part.len());
            written -= skipped;
            &part[skipped..]
        });
        rest.filter(|part| !part.is_empty())
    }

    /// Advances by the octets of [`FrameBatch::slices`] that have been written.
    pub fn advance(&mut self, mut octets: usize) {
        octets += self.offset;
        while let Some(frame) = self.frames.get(self.next) {
            let (head, tail) = self.parts(frame);
            let size = head.len() + tail.len();
            if octets < size {
                break;
            }
            octets -= size;
            self.next += 1;
        }
        self.offset = octets;
    }

    /// Empties the batch for the next use. Memory for a typical batch is kept.
    pub fn clear(&mut self) {
        self.heads.clear();
        self.heads.shrink_to(HEAD_BYTES_KEPT);
        self.frames.clear();
        self.acknowledged.clear();
        (self.bytes, self.next, self.offset) = (0, 0, 0);
        (self.messages, self.conflated) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::destination::Destination;
    use crate::headers::Headers;

    #[test]
    fn writing_goes_on_where_it_stopped() {
        let topic = Destination::parse("/topic/a").unwrap();
        let mut batch = FrameBatch::default();
        batch.push(b"RECEIPT\n");
        let begin = batch.heads().len();
        batch.heads().extend_from_slice(b"MESSAGE\n");
        batch.push_message(begin, Arc::new(StompMessage::new(1, &topic, &Headers::default(), b"x")), 0);
        let whole: Vec<u8> = batch.slices().flatten().copied().collect();
        assert_eq!(whole.len(), batch.bytes());
        for step in [1, 3, 7, 8, 9, 16, 17, 40] {
            let mut written = Vec::new();
            (batch.next, batch.offset) = (0, 0);
            while !batch.is_done() {
                let piece: Vec<u8> = batch.slices().flatten().copied().take(step).collect();
                batch.advance(piece.len());
                written.extend(piece);
            }
            assert_eq!(written, whole, "in steps of {step}");
        }
        batch.clear();
        assert_eq!((batch.bytes(), batch.is_done(), batch.slices().count()), (0, true, 0));
    }
}
