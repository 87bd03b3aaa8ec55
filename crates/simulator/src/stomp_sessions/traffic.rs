//! All STOMP clients of a run, and what the journal has to tell them.

use super::client::TopicClient;
use super::topic_record::TopicRecord;
use crate::invariants::books::JournalBooks;
use crate::invariants::broken_invariant::InvariantResult;
use crate::schedule::STOMP_CLIENTS;

/// All STOMP clients, and when they and the port have their next turn.
pub(crate) struct StompTraffic {
    pub(crate) clients: Vec<TopicClient>,
    pub(crate) at: i64,
    /// How far the journal was durable when the port was woken last.
    pub(crate) woken_at: u64,
    pub(crate) hanging_until: i64,
    /// Everything up to here was published when there was still time to deliver it.
    pub(crate) settled: u64,
    record: TopicRecord,
}

impl StompTraffic {
    pub(crate) fn new(seed: u64) -> Self {
        let clients = (0..STOMP_CLIENTS).map(|client| TopicClient::new(client, seed)).collect();
        Self { clients, at: 0, woken_at: 0, hanging_until: 0, settled: 0, record: TopicRecord::default() }
    }

    /// What the clients were told is what the journal has, in its order; at the end all of it.
    pub(crate) fn check(&mut self, books: &JournalBooks, is_final: bool) -> InvariantResult {
        self.record.extend(books);
        let complete_through = is_final.then_some(self.settled);
        self.clients.iter_mut().try_for_each(|client| client.check(&self.record, complete_through))
    }
}
