//! Implements `fix::MessageStore` over the session store.

use bus::{InboxError, ReplyReceiver};
use fix::{MessageStore, MessageVisitor, SeqNum, StoreError, Traffic, UtcTimestamp};
use fix_net::DurableStore;

use super::SessionStore;
use super::session_store::store_unavailable;
use crate::retry::retry_while_busy;

pub(crate) struct LedgerStore(pub(crate) SessionStore);

impl MessageStore for LedgerStore {
    fn created(&self) -> UtcTimestamp {
        self.0.created()
    }

    fn next_outgoing(&self) -> SeqNum {
        self.0.sequence_numbers().1
    }

    fn next_incoming(&self) -> SeqNum {
        self.0.sequence_numbers().0
    }

    fn append(&mut self, number: SeqNum, traffic: Traffic, message: &[u8]) -> Result<(), StoreError> {
        self.0.append(number, if traffic == Traffic::Application { message } else { &[] })
    }

    /// Becomes durable with the command of the message, or with the next record. A number that is lost in a crash
    /// belongs to an unanswered message, so the peer may send it again.
    fn set_next_incoming(&mut self, next: SeqNum, _: Traffic) -> Result<(), StoreError> {
        self.0.set_next_incoming(next);
        Ok(())
    }

    fn set_next_outgoing(&mut self, next: SeqNum) -> Result<(), StoreError> {
        let (incoming, _) = self.0.sequence_numbers();
        self.0.start_epoch(self.0.created(), incoming, next)
    }

    fn read(&mut self, from: SeqNum, to: SeqNum, visit: &mut MessageVisitor<'_>) -> Result<(), StoreError> {
        self.0.read(from, to)?.iter().for_each(|(number, bytes)| visit(*number, bytes));
        Ok(())
    }

    fn reset(&mut self, now: UtcTimestamp) -> Result<(), StoreError> {
        self.0.start_epoch(now, 1, 1)
    }

    /// No other process changes this store.
    fn refresh(&mut self) -> Result<(), StoreError> {
        Ok(())
    }
}

impl DurableStore for LedgerStore {
    async fn flush(&mut self) -> Result<(), StoreError> {
        let ticket = retry_while_busy(|| self.0.flush()).await;
        self.is_durable(ticket).await
    }

    async fn flush_on_disconnect(&mut self) -> Result<(), StoreError> {
        let ticket = retry_while_busy(|| self.0.flush_all()).await;
        self.is_durable(ticket).await
    }
}

impl LedgerStore {
    async fn is_durable(&self, handed_over: Result<Option<ReplyReceiver>, InboxError>) -> Result<(), StoreError> {
        let Some(ticket) = handed_over.map_err(|closed| store_unavailable(&closed))? else { return Ok(()) };
        let reply = ticket.recv().await.map_err(|_| store_unavailable(&InboxError::Stopped))?;
        reply.outcome.map_err(|refusal| StoreError(refusal.to_string()))?;
        self.0.on_durable();
        Ok(())
    }
}
