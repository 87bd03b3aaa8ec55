//! Durable store: a message store that can wait until everything appended survives a crash.

use fix::{MemoryStore, MessageStore, StoreError};
use std::future::Future;

pub trait DurableStore: MessageStore {
    /// Ready when everything appended so far would survive a crash. Bytes go to the socket only then, many at once.
    fn flush(&mut self) -> impl Future<Output = Result<(), StoreError>> + Send;

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
