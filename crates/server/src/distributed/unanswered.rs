//! Unanswered requests, resent under the same key after a reconnect, so that they take effect once.

use std::collections::BTreeMap;

use domain::{Command, Timestamp};
use runtime::strategies::protocol::Request;

/// A command that the server has not received after this time has no effect.
const DEADLINE_SECONDS: i64 = 10;

#[derive(Debug, Default)]
pub(super) struct Unanswered {
    last_key: u64,
    open: BTreeMap<u64, Open>,
}

#[derive(Debug)]
enum Open {
    Command(Timestamp, Box<Command>),
    /// Without a deadline: a delivery log with a gap could not be replayed.
    Leaf(Vec<u8>),
}

impl Unanswered {
    pub(super) fn command(&mut self, now: Timestamp, command: Box<Command>) -> Request {
        self.add(Open::Command(now.plus_seconds(DEADLINE_SECONDS), command))
    }

    pub(super) fn leaf(&mut self, leaf: Vec<u8>) -> Request {
        self.add(Open::Leaf(leaf))
    }

    fn add(&mut self, open: Open) -> Request {
        self.last_key += 1;
        let request = request(self.last_key, &open);
        self.open.insert(self.last_key, open);
        request
    }

    /// Everything that is to be sent again, in its order.
    pub(super) fn again(&self) -> Vec<Request> {
        self.open.iter().map(|(key, open)| request(*key, open)).collect()
    }

    /// An answer was received; returns the command.
    pub(super) fn answered(&mut self, key: u64) -> Option<Box<Command>> {
        match self.open.remove(&key)? {
            Open::Command(_, command) => Some(command),
            Open::Leaf(_) => None,
        }
    }

    /// Expired commands.
    pub(super) fn late(&self, now: Timestamp) -> Vec<u64> {
        let is_late = |open: &Open| matches!(open, Open::Command(expires, _) if *expires < now);
        self.open.iter().filter(|(_, open)| is_late(open)).map(|(key, _)| *key).collect()
    }

    /// A new run begins: requests of the previous one are dropped. Keys are never used again.
    pub(super) fn clear(&mut self) {
        self.open.clear();
    }
}

fn request(key: u64, open: &Open) -> Request {
    match open {
        Open::Command(expires, command) => Request::Command { key, expires: *expires, command: command.clone() },
        Open::Leaf(leaf) => Request::Diary { key, leaf: leaf.clone() },
    }
}

#[cfg(test)]
mod tests {
    use domain::command::CancelOrder;

    use super::*;

    #[test]
    fn what_has_no_answer_is_sent_again_in_order_and_only_commands_grow_late() {
        let cancel = || Box::new(Command::Cancel(CancelOrder::of("A-1".parse().unwrap())));
        let mut unanswered = Unanswered::default();
        let said = [
            unanswered.leaf(vec![1]),
            unanswered.command(Timestamp(0), cancel()),
            unanswered.command(Timestamp(5), cancel()),
        ];
        assert_eq!(unanswered.again(), said);
        assert_eq!(unanswered.late(Timestamp(10_000_000_003)), [2]);
        assert_eq!(
            (unanswered.answered(1), unanswered.answered(2), unanswered.answered(2)),
            (None, Some(cancel()), None)
        );
        assert_eq!(unanswered.again(), said[2..]);
    }
}
