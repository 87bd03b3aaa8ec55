//! Volatile store: the sequence numbers of a market data session, for as long as its connection. Prices are not kept: what is
//! asked for again becomes a gap fill, and the next Logon begins at 1.

use std::future::{Future, ready};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fix::{MessageStore, MessageVisitor, SeqNum, StoreError, Traffic, UtcTimestamp};
use fix_net::DurableStore;

/// Copies of it are the same store: the session counts, operators look.
#[derive(Clone)]
pub(crate) struct VolatileStore(Arc<Mutex<VolatileNumbers>>);

struct VolatileNumbers {
    created: UtcTimestamp,
    next_incoming: SeqNum,
    next_outgoing: SeqNum,
}

impl VolatileStore {
    pub(crate) fn new(created: UtcTimestamp) -> Self {
        Self(Arc::new(Mutex::new(VolatileNumbers { created, next_incoming: 1, next_outgoing: 1 })))
    }

    /// Next incoming and next outgoing.
    pub(crate) fn sequence_numbers(&self) -> (SeqNum, SeqNum) {
        let numbers = self.numbers();
        (numbers.next_incoming, numbers.next_outgoing)
    }

    fn numbers(&self) -> MutexGuard<'_, VolatileNumbers> {
        // Each number is consistent on its own.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MessageStore for VolatileStore {
    fn created(&self) -> UtcTimestamp {
        self.numbers().created
    }

    fn next_outgoing(&self) -> SeqNum {
        self.sequence_numbers().1
    }

    fn next_incoming(&self) -> SeqNum {
        self.sequence_numbers().0
    }

    fn append(&mut self, number: SeqNum, _: Traffic, _: &[u8]) -> Result<(), StoreError> {
        let mut numbers = self.numbers();
        if number != numbers.next_outgoing {
            return Err(StoreError(format!("MsgSeqNum {number} instead of {}", numbers.next_outgoing)));
        }
        numbers.next_outgoing += 1;
        Ok(())
    }

    fn set_next_incoming(&mut self, next: SeqNum, _: Traffic) -> Result<(), StoreError> {
        self.numbers().next_incoming = next;
        Ok(())
    }

    fn set_next_outgoing(&mut self, next: SeqNum) -> Result<(), StoreError> {
        self.numbers().next_outgoing = next;
        Ok(())
    }

    /// There is none.
    fn read(&mut self, _: SeqNum, _: SeqNum, _: &mut MessageVisitor<'_>) -> Result<(), StoreError> {
        Ok(())
    }

    fn reset(&mut self, now: UtcTimestamp) -> Result<(), StoreError> {
        *self.numbers() = VolatileNumbers { created: now, next_incoming: 1, next_outgoing: 1 };
        Ok(())
    }

    /// No other process changes this store.
    fn refresh(&mut self) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Nothing of it has to survive.
impl DurableStore for VolatileStore {
    fn flush(&mut self) -> impl Future<Output = Result<(), StoreError>> + Send {
        ready(Ok(()))
    }

    fn flush_on_disconnect(&mut self) -> impl Future<Output = Result<(), StoreError>> + Send {
        ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_counted_and_no_message_is_kept() {
        let mut store = VolatileStore::new(UtcTimestamp::from_nanos(0));
        store.append(1, Traffic::Session, b"logon").unwrap();
        store.append(2, Traffic::Application, b"price").unwrap();
        store.set_next_incoming(7, Traffic::Application).unwrap();
        assert_eq!(store.append(2, Traffic::Application, b"again"), Err(StoreError("MsgSeqNum 2 instead of 3".into())));
        let mut read = Vec::new();
        store.read(1, 2, &mut |number, _| read.push(number)).unwrap();
        assert_eq!((store.sequence_numbers(), read), ((7, 3), vec![]));
        store.reset(UtcTimestamp::from_nanos(5)).unwrap();
        assert_eq!((store.sequence_numbers(), store.created()), ((1, 1), UtcTimestamp::from_nanos(5)));
    }
}
