//! Unanswered requests, resent under the same key after a reconnect, so that they take effect once.

use std::collections::BTreeMap;

use domain::{Command, Timestamp};
use runtime::strategies::protocol::StrategyRequestBody;

/// A command that the server has not received after this time has no effect.
const DEADLINE_SECONDS: i64 = 10;

#[derive(Debug, Default)]
pub(crate) struct UnansweredRequests {
    last_key: u64,
    open: BTreeMap<u64, OpenRequest>,
    /// A command that was sent again is answered after its own deadline too: what became of it, or that it came too late.
    resent_until: Option<Timestamp>,
}

#[derive(Debug)]
enum OpenRequest {
    Command(Timestamp, Box<Command>),
    /// Without a deadline: a delivery log with a gap could not be replayed.
    DeliveryRecord(Vec<u8>),
}

impl UnansweredRequests {
    pub(crate) fn command(&mut self, now: Timestamp, command: Box<Command>) -> StrategyRequestBody {
        self.add(OpenRequest::Command(now.plus_seconds(DEADLINE_SECONDS), command))
    }

    pub(crate) fn delivery_record(&mut self, record: Vec<u8>) -> StrategyRequestBody {
        self.add(OpenRequest::DeliveryRecord(record))
    }

    fn add(&mut self, open: OpenRequest) -> StrategyRequestBody {
        self.last_key += 1;
        let request = request(self.last_key, &open);
        self.open.insert(self.last_key, open);
        request
    }

    /// Everything that is to be sent again, in its order. The server has as long for it as for new commands.
    pub(crate) fn resend(&mut self, now: Timestamp) -> Vec<StrategyRequestBody> {
        self.resent_until = Some(now.plus_seconds(DEADLINE_SECONDS));
        self.open.iter().map(|(key, open)| request(*key, open)).collect()
    }

    /// An answer was received; returns the command.
    pub(crate) fn on_answer(&mut self, key: u64) -> Option<Box<Command>> {
        match self.open.remove(&key)? {
            OpenRequest::Command(_, command) => Some(command),
            OpenRequest::DeliveryRecord(_) => None,
        }
    }

    /// Expired commands.
    pub(crate) fn expired(&self, now: Timestamp) -> Vec<u64> {
        if self.resent_until.is_some_and(|until| now <= until) {
            return vec![];
        }
        let is_late = |open: &OpenRequest| matches!(open, OpenRequest::Command(expires, _) if *expires < now);
        self.open.iter().filter(|(_, open)| is_late(open)).map(|(key, _)| *key).collect()
    }

    /// A new run begins: requests of the previous one are dropped. Keys are never used again.
    pub(crate) fn clear(&mut self) {
        self.open.clear();
    }
}

fn request(key: u64, open: &OpenRequest) -> StrategyRequestBody {
    match open {
        OpenRequest::Command(expires, command) => {
            StrategyRequestBody::Command { key, expires: *expires, command: command.clone() }
        }
        OpenRequest::DeliveryRecord(record) => StrategyRequestBody::DeliveryLog { key, leaf: record.clone() },
    }
}

#[cfg(test)]
mod tests {
    use domain::command::CancelOrder;

    use super::*;

    #[test]
    fn what_has_no_answer_is_sent_again_in_order_and_only_commands_grow_late() {
        let cancel = || Box::new(Command::Cancel(CancelOrder::new("A-1".parse().unwrap())));
        let mut unanswered = UnansweredRequests::default();
        let said = [
            unanswered.delivery_record(vec![1]),
            unanswered.command(Timestamp(0), cancel()),
            unanswered.command(Timestamp(5), cancel()),
        ];
        assert_eq!(unanswered.expired(Timestamp(10_000_000_003)), [2]);
        let (again, answered_by) = (Timestamp(20_000_000_000), Timestamp(30_000_000_000));
        assert_eq!(unanswered.resend(again), said);
        assert_eq!(
            [unanswered.expired(answered_by), unanswered.expired(Timestamp(answered_by.0 + 1))],
            [vec![], vec![2, 3]]
        );
        assert_eq!(
            (unanswered.on_answer(1), unanswered.on_answer(2), unanswered.on_answer(2)),
            (None, Some(cancel()), None)
        );
        assert_eq!(unanswered.resend(again), said[2..]);
    }
}
