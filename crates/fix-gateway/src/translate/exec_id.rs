//! Ids of reports: derived from their content, so that a replay repeats them, in the form of a UUID.

use domain::Uuid;
use domain::lookup_map::fingerprint;

/// Makes the ids of one data folder; those of another differ.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExecIds(pub(crate) u64);

impl ExecIds {
    /// Of the order event with this index among those of an input.
    pub(crate) fn for_event(self, sequence: u64, place: u32) -> String {
        self.hash_parts(&[b"event", &sequence.to_be_bytes(), &place.to_be_bytes()])
    }

    /// Of an execution of an order, by the venue's id; what takes it back or corrects it refers to the same.
    pub(crate) fn for_execution(self, order: u64, execution: &str) -> String {
        self.hash_parts(&[b"execution", &order.to_be_bytes(), execution.as_bytes()])
    }

    /// Of the trade report that an execution, of this id, does not count any more.
    pub(crate) fn for_bust(self, exec_id: &str) -> String {
        self.hash_parts(&[b"bust", exec_id.as_bytes()])
    }

    /// Of the answer to a message that never became a command; `key` is its position in the session.
    pub(crate) fn for_message(self, session: &str, key: u64) -> String {
        self.hash_parts(&[b"message", session.as_bytes(), &key.to_be_bytes()])
    }

    /// Of the state of an order, on request or after a reconnect: `asked` is different for each occasion.
    pub(crate) fn for_state(self, asked: &str, sequence: u64, order: u64) -> String {
        self.hash_parts(&[b"state", asked.as_bytes(), &sequence.to_be_bytes(), &order.to_be_bytes()])
    }

    fn hash_parts(self, parts: &[&[u8]]) -> String {
        let instance = self.0.to_be_bytes();
        let all: Vec<&[u8]> = [&instance[..]].into_iter().chain(parts.iter().copied()).collect();
        Uuid::from_bits(fingerprint(&all)).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_the_same_after_a_replay_and_differs_from_every_other() {
        let ids = ExecIds(7);
        assert_eq!(ids.for_event(12, 0), ids.for_event(12, 0));
        let all = [
            ids.for_event(12, 0),
            ids.for_event(12, 1),
            ids.for_event(13, 0),
            ExecIds(8).for_event(12, 0),
            ids.for_message("FIX.4.4:A->B", 12),
            ids.for_message("FIX.4.4:A->C", 12),
            ids.for_state("logon", 12, 1),
            ids.for_execution(12, "1"),
            ids.for_execution(1, "21"),
        ];
        let distinct: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
        assert!(all.iter().all(|id| id.parse::<Uuid>().is_ok()));
    }
}
