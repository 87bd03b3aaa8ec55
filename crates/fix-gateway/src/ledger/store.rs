//! Implements `fix::MessageStore` over the session store.

use bus::{Closed, Ticket};
use fix::{SeqNum, Store, StoreError, Time, Traffic, Visit};
use fix_net::Durable;

use super::Pen;
use super::pen::unavailable;
use crate::patience::patiently;

pub(crate) struct LedgerStore(pub(crate) Pen);

impl Store for LedgerStore {
    fn created(&self) -> Time {
        self.0.created()
    }

    fn next_outgoing(&self) -> SeqNum {
        self.0.numbers().1
    }

    fn next_incoming(&self) -> SeqNum {
        self.0.numbers().0
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
        let (incoming, _) = self.0.numbers();
        self.0.begin_life(self.0.created(), incoming, next)
    }

    fn read(&mut self, from: SeqNum, to: SeqNum, visit: &mut Visit<'_>) -> Result<(), StoreError> {
        self.0.read(from, to)?.iter().for_each(|(number, bytes)| visit(*number, bytes));
        Ok(())
    }

    fn reset(&mut self, now: Time) -> Result<(), StoreError> {
        self.0.begin_life(now, 1, 1)
    }

    /// No other process changes this store.
    fn refresh(&mut self) -> Result<(), StoreError> {
        Ok(())
    }
}

impl Durable for LedgerStore {
    async fn settled(&mut self) -> Result<(), StoreError> {
        let ticket = patiently(|| self.0.hand_over()).await;
        self.is_durable(ticket).await
    }

    async fn at_rest(&mut self) -> Result<(), StoreError> {
        let ticket = patiently(|| self.0.hand_over_all()).await;
        self.is_durable(ticket).await
    }
}

impl LedgerStore {
    async fn is_durable(&self, handed_over: Result<Option<Ticket>, Closed>) -> Result<(), StoreError> {
        let Some(ticket) = handed_over.map_err(|closed| unavailable(&closed))? else { return Ok(()) };
        let reply = ticket.reply().await.map_err(|_| unavailable(&Closed::Stopped))?;
        reply.outcome.map_err(|refusal| StoreError(refusal.to_string()))?;
        self.0.settled();
        Ok(())
    }
}
