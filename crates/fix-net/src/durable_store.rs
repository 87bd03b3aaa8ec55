//! Durable store: a message store that can wait until everything appended survives a crash.

use fix::{MemoryStore, MessageStore, StoreError};
use std::future::Future;

pub trait DurableStore: MessageStore + Send {
    /// Ready when everything appended so far would survive a crash. Bytes go to the socket only then, many at once.
    fn flush(&mut self) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Asked right before each write of what was flushed last, also of its rest where the peer takes it in parts: from a refusal on
    /// none of it leaves any more, and the connection ends. Where nobody else could send in place of this store, everything may.
    fn may_leave(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    /// A connection has ended. Ready when those sequence numbers are durable too after which nothing was sent, such as
    /// that of the Logout which answers ours: otherwise the peer would be requested to resend it.
    fn flush_on_disconnect(&mut self) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// Memory is never durable, so there is nothing to wait for.
impl DurableStore for MemoryStore {
    fn flush(&mut self) -> impl Future<Output = Result<(), StoreError>> + Send {
        std::future::ready(Ok(()))
    }

    fn flush_on_disconnect(&mut self) -> impl Future<Output = Result<(), StoreError>> + Send {
        std::future::ready(Ok(()))
    }
}
