//! MESSAGE frame: the shared part is encoded once for all subscribers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::destination::Destination;
use crate::escape::{Escapes, is_plain};
use crate::frame::{encode_body, encode_headers};
use crate::headers::Headers;
use crate::version::StompVersion;

/// The tail of a MESSAGE frame, from `destination` to the NUL. Share it in an `Arc`; only the head differs between
/// subscribers and is written by [`ConnectionSubscriptions`](crate::ConnectionSubscriptions).
#[derive(Debug, PartialEq, Eq)]
pub struct StompMessage {
    id: u64,
    destination: Destination,
    tails: Tails,
    counted: CountedBytes,
}

/// Octets that are counted as long as the message exists.
#[derive(Debug, Default)]
struct CountedBytes {
    octets: usize,
    all: Option<Arc<AtomicUsize>>,
}

impl Drop for CountedBytes {
    fn drop(&mut self) {
        if let Some(all) = &self.all {
            all.fetch_sub(self.octets, Ordering::Relaxed);
        }
    }
}

/// The counter is not part of a message's value.
impl PartialEq for CountedBytes {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for CountedBytes {}

#[derive(Debug, PartialEq, Eq)]
enum Tails {
    /// No header needs an escape, so all versions share one encoding.
    Same(Box<[u8]>),
    /// In the order of [`StompVersion::ALL`].
    PerVersion([Box<[u8]>; 3]),
}

/// Octets of the headers of a typical message.
const TYPICAL_HEADER_BYTES: usize = 160;
/// Headers of the server in a MESSAGE or of the protocol in a SEND; not forwarded from a client.
const SERVER_HEADERS: [&str; 12] = [
    "destination",
    "message-id",
    "subscription",
    "ack",
    "redelivered",
    "conflated",
    "sequence",
    "snapshot",
    "event-id",
    "replayed",
    "receipt",
    "transaction",
];

impl StompMessage {
    /// `id` is unique while the broker runs; overlapping subscriptions receive the same one.
    pub fn new(id: u64, destination: &Destination, headers: &Headers, body: &[u8]) -> Self {
        let number = id.to_string();
        let all =
            || [("destination", destination.text()), ("message-id", number.as_str())].into_iter().chain(headers.iter());
        let write = |version| {
            let mut tail = Vec::with_capacity(body.len() + TYPICAL_HEADER_BYTES);
            encode_headers(all(), Escapes::for_version(version), &mut tail);
            encode_body(body, &mut tail);
            tail.into_boxed_slice()
        };
        let same = all().all(|(name, value)| is_plain(name) && is_plain(value));
        let tails =
            if same { Tails::Same(write(StompVersion::V12)) } else { Tails::PerVersion(StompVersion::ALL.map(write)) };
        Self { id, destination: destination.clone(), tails, counted: CountedBytes::default() }
    }

    /// Counts its octets in a sum until the last reference is dropped: a message uses memory once, however many
    /// connections queue it.
    #[must_use]
    pub fn counted_in(mut self, all: &Arc<AtomicUsize>) -> Self {
        let octets = self.octets();
        all.fetch_add(octets, Ordering::Relaxed);
        self.counted = CountedBytes { octets, all: Some(all.clone()) };
        self
    }

    /// Octets in memory of all its encodings.
    pub fn octets(&self) -> usize {
        match &self.tails {
            Tails::Same(tail) => tail.len(),
            Tails::PerVersion(tails) => tails.iter().map(|tail| tail.len()).sum(),
        }
    }

    pub fn destination(&self) -> &Destination {
        &self.destination
    }

    pub fn id(&self) -> u64 {
        self.id
    }

    pub fn tail(&self, version: StompVersion) -> &[u8] {
        match &self.tails {
            Tails::Same(tail) => tail,
            Tails::PerVersion([v10, v11, v12]) => match version {
                StompVersion::V10 => v10,
                StompVersion::V11 => v11,
                StompVersion::V12 => v12,
            },
        }
    }
}

/// The headers of a SEND that its subscribers receive: the client's own, the first of each name.
pub fn user_headers(sent: &Headers) -> Headers {
    sent.first_of_each(|name| !SERVER_HEADERS.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(headers: &[(&str, &str)]) -> StompMessage {
        let destination = Destination::parse("/topic/tick.12").unwrap();
        StompMessage::new(7, &destination, &headers.iter().copied().collect(), b"{}")
    }

    fn tail(message: &StompMessage, version: StompVersion) -> &str {
        std::str::from_utf8(message.tail(version)).unwrap()
    }

    #[test]
    fn one_tail_serves_all_versions_where_nothing_is_escaped() {
        let message = message(&[("sequence", "99")]);
        let expected = "destination:/topic/tick.12\nmessage-id:7\nsequence:99\ncontent-length:2\n\n{}\0\n";
        assert_eq!(tail(&message, StompVersion::V10), expected);
        assert!(std::ptr::eq(message.tail(StompVersion::V10), message.tail(StompVersion::V12)));
    }

    #[test]
    fn each_version_gets_the_escapes_it_knows() {
        let message = message(&[("at", "10:30"), ("note", "a\r")]);
        let begin = "destination:/topic/tick.12\nmessage-id:7\n";
        let end = "content-length:2\n\n{}\0\n";
        assert_eq!(tail(&message, StompVersion::V10), format!("{begin}at:10:30\n{end}"));
        assert_eq!(tail(&message, StompVersion::V11), format!("{begin}at:10\\c30\n{end}"));
        assert_eq!(tail(&message, StompVersion::V12), format!("{begin}at:10\\c30\nnote:a\\r\n{end}"));
    }

    #[test]
    fn a_message_is_counted_until_its_last_reference_is_dropped() {
        let all = Arc::new(AtomicUsize::new(0));
        let held = Arc::new(message(&[]).counted_in(&all));
        let other = held.clone();
        assert_eq!(all.load(Ordering::Relaxed), held.tail(StompVersion::V12).len());
        drop((held, other));
        assert_eq!(all.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_client_cannot_send_headers_of_the_server() {
        let sent = [("destination", "/topic/a"), ("message-id", "1"), ("kept", "x"), ("kept", "y"), ("receipt", "r")];
        assert_eq!(user_headers(&sent.into_iter().collect()), [("kept", "x")].into_iter().collect());
    }
}
