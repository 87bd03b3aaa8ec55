//! Message store in memory that can leave out a number, so that the client sees a gap.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fix::{MemoryStore, MessageStore, MessageVisitor, SeqNum, StoreError, Traffic, UtcTimestamp};
use fix_net::DurableStore;

/// Shared by the session and the application, which only skips.
#[derive(Debug, Clone)]
pub(super) struct SkippingStore(Arc<Mutex<MemoryStore>>);

impl SkippingStore {
    pub(super) fn new(now: UtcTimestamp) -> Self {
        Self(Arc::new(Mutex::new(MemoryStore::new(now))))
    }

    /// The number that the client will miss.
    pub(super) fn skip(&self) -> Result<SeqNum, StoreError> {
        let mut store = self.lock();
        let number = store.next_outgoing();
        store.append(number, Traffic::Session, b"").map(|()| number)
    }

    fn lock(&self) -> MutexGuard<'_, MemoryStore> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A Resend Request of the plan is sent by the application, and is of the session layer all the same: it is never sent again.
fn layer(traffic: Traffic, message: &[u8]) -> Traffic {
    let is_request = message.windows(6).any(|field| field == b"\x0135=2\x01");
    if is_request { Traffic::Session } else { traffic }
}

impl MessageStore for SkippingStore {
    fn created(&self) -> UtcTimestamp {
        self.lock().created()
    }

    fn next_outgoing(&self) -> SeqNum {
        self.lock().next_outgoing()
    }

    fn next_incoming(&self) -> SeqNum {
        self.lock().next_incoming()
    }

    fn append(&mut self, number: SeqNum, traffic: Traffic, message: &[u8]) -> Result<(), StoreError> {
        self.lock().append(number, layer(traffic, message), message)
    }

    fn set_next_incoming(&mut self, next: SeqNum, traffic: Traffic) -> Result<(), StoreError> {
        self.lock().set_next_incoming(next, traffic)
    }

    fn set_next_outgoing(&mut self, next: SeqNum) -> Result<(), StoreError> {
        self.lock().set_next_outgoing(next)
    }

    fn read(&mut self, from: SeqNum, to: SeqNum, visit: &mut MessageVisitor<'_>) -> Result<(), StoreError> {
        self.lock().read(from, to, visit)
    }

    fn reset(&mut self, now: UtcTimestamp) -> Result<(), StoreError> {
        self.lock().reset(now)
    }

    fn refresh(&mut self) -> Result<(), StoreError> {
        Ok(())
    }
}

impl DurableStore for SkippingStore {
    fn flush(&mut self) -> impl Future<Output = Result<(), StoreError>> + Send {
        std::future::ready(Ok(()))
    }

    fn flush_on_disconnect(&mut self) -> impl Future<Output = Result<(), StoreError>> + Send {
        std::future::ready(Ok(()))
    }
}
