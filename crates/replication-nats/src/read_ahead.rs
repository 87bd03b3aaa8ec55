//! Entries that are read ahead: a member that is far behind would need a question for each otherwise.

use std::collections::VecDeque;

use async_nats::Message;
use storage::replication::LogPosition;

/// Entries of one question.
pub(crate) const ENTRIES_MAX: usize = 256;
/// Bytes of them together; one entry comes in any case.
pub(crate) const BYTES_MAX: usize = 4 << 20;
/// Whoever has read so many in a row is behind, and not at the end where entries come one by one.
const IN_A_ROW: u64 = 4;
const SEQUENCE: &str = "Nats-Sequence";

/// Entries never change their position or their bytes, so what was read ahead stays true. Whoever uses it checks it as everything else.
#[derive(Debug, Default)]
pub(crate) struct ReadAhead {
    /// The position of the first of the entries.
    first: LogPosition,
    entries: VecDeque<Vec<u8>>,
    /// The position behind the last one that was delivered.
    expected: LogPosition,
    in_a_row: u64,
}

impl ReadAhead {
    /// The entry, where it was read ahead.
    pub(crate) fn take(&mut self, position: LogPosition) -> Option<Vec<u8>> {
        if position != self.first {
            self.entries.clear();
        }
        let entry = self.entries.pop_front()?;
        self.first = self.first.next();
        self.on_read(position);
        Some(entry)
    }

    /// Whether many entries should be asked for at once.
    pub(crate) fn is_due(&self, position: LogPosition) -> bool {
        position == self.expected && self.in_a_row >= IN_A_ROW
    }

    /// One entry was read by itself.
    pub(crate) fn on_read(&mut self, position: LogPosition) {
        self.in_a_row = if position == self.expected { self.in_a_row + 1 } else { 1 };
        self.expected = position.next();
    }

    /// Nothing more is there now.
    pub(crate) fn on_end(&mut self) {
        self.in_a_row = 0;
    }

    /// Keeps the messages from a position on, as far as none is missing.
    pub(crate) fn fill(&mut self, position: LogPosition, messages: Vec<Message>) {
        (self.first, self.entries) = (position, VecDeque::new());
        let mut next = position;
        for message in messages {
            if sequence_of(&message) != Some(next.0) {
                break;
            }
            self.entries.push_back(message.payload.to_vec());
            next = next.next();
        }
    }
}

/// The position that a server says a message has.
pub(crate) fn sequence_of(message: &Message) -> Option<u64> {
    message.headers.as_ref()?.get(SEQUENCE)?.as_str().parse().ok()
}

#[cfg(test)]
mod tests {
    use async_nats::HeaderMap;

    use super::*;

    fn message(sequence: u64) -> Message {
        let mut headers = HeaderMap::new();
        headers.insert(SEQUENCE, sequence.to_string());
        let payload = format!("entry {sequence}").into_bytes();
        Message {
            subject: "log".into(),
            reply: None,
            length: payload.len(),
            payload: payload.into(),
            headers: Some(headers),
            status: None,
            description: None,
        }
    }

    fn taken(ahead: &mut ReadAhead, position: u64) -> Option<String> {
        ahead.take(LogPosition(position)).map(|entry| String::from_utf8(entry).unwrap())
    }

    #[test]
    fn many_are_asked_for_behind_some_in_a_row_and_not_at_the_end() {
        let mut ahead = ReadAhead::default();
        let mut due = Vec::new();
        for position in [1, 2, 3, 4, 5, 9] {
            due.push(ahead.is_due(LogPosition(position)));
            ahead.on_read(LogPosition(position));
        }
        assert_eq!(due, [false, false, false, false, true, false], "9 does not follow 5");
        (10..13).for_each(|position| ahead.on_read(LogPosition(position)));
        assert!(ahead.is_due(LogPosition(13)));
        ahead.on_end();
        assert!(!ahead.is_due(LogPosition(13)));
    }

    #[test]
    fn what_was_read_ahead_is_delivered_by_position_up_to_the_first_gap() {
        let mut ahead = ReadAhead::default();
        ahead.fill(LogPosition(5), [5, 6, 8].map(message).to_vec());
        assert_eq!(taken(&mut ahead, 5), Some("entry 5".to_owned()));
        assert_eq!(taken(&mut ahead, 6), Some("entry 6".to_owned()));
        assert_eq!(taken(&mut ahead, 7), None, "it is asked for by itself");
        ahead.fill(LogPosition(5), [6, 7].map(message).to_vec());
        assert_eq!(taken(&mut ahead, 5), None, "the server began elsewhere");
        ahead.fill(LogPosition(5), [5, 6].map(message).to_vec());
        assert_eq!(taken(&mut ahead, 6), None, "who asks for another one begins anew");
        assert_eq!(taken(&mut ahead, 5), None);
    }
}
