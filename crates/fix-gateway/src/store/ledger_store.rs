//! Implements `fix::MessageStore` over the session store.

use std::time::Duration;

use bus::{InboxError, ReplyReceiver};
use domain::PlantedBug;
use fix::{MessageStore, MessageVisitor, SeqNum, StoreError, Traffic, UtcTimestamp};
use fix_net::DurableStore;
use tokio::time::{Instant, sleep};

use super::SessionStore;
use super::session_store::store_unavailable;
use crate::limits::{BUSY_MILLISECONDS_MAX, BUSY_PAUSE_MILLISECONDS};

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
        if PlantedBug::SendBeforeStored.is_planted() {
            return Ok(());
        }
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

/// Retries while the engine's inbox is full, up to a time limit.
pub(crate) async fn retry_while_busy<T>(mut attempt: impl FnMut() -> Result<T, InboxError>) -> Result<T, InboxError> {
    let patience = Instant::now() + Duration::from_millis(BUSY_MILLISECONDS_MAX);
    loop {
        match attempt() {
            Err(InboxError::Busy) if Instant::now() < patience => {
                sleep(Duration::from_millis(BUSY_PAUSE_MILLISECONDS)).await;
            }
            outcome => return outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_busy_engine_is_waited_for_and_a_stopped_one_is_not() {
        let mut tries = 0;
        let third_time_lucky = || {
            tries += 1;
            if tries < 3 { Err(InboxError::Busy) } else { Ok(tries) }
        };
        assert_eq!(retry_while_busy(third_time_lucky).await, Ok(3));
        assert_eq!(retry_while_busy(|| Err::<(), _>(InboxError::Busy)).await, Err(InboxError::Busy));
        let mut tries = 0;
        let stopped = || {
            tries += 1;
            Err::<(), _>(InboxError::Stopped)
        };
        assert_eq!(retry_while_busy(stopped).await, Err(InboxError::Stopped));
        assert_eq!(tries, 1);
    }
}
