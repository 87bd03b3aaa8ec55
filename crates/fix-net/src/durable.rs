//! What a store must add to be driven: ways to wait until all it was given is safe.

use fix::{MemoryStore, Store, StoreError};
use std::future::Future;

pub trait Durable: Store {
    /// Ready when everything appended so far would survive a crash. Bytes go to the socket only then, many at once.
    fn settled(&mut self) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// A connection has ended. Ready when the numbers would survive too behind which nothing was sent, such as that of the
    /// Logout which answers ours: otherwise the peer would be asked for it again.
    fn at_rest(&mut self) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// Memory promises nothing, so there is nothing to wait for.
impl Durable for MemoryStore {
    fn settled(&mut self) -> impl Future<Output = Result<(), StoreError>> + Send {
        std::future::ready(Ok(()))
    }

    fn at_rest(&mut self) -> impl Future<Output = Result<(), StoreError>> + Send {
        std::future::ready(Ok(()))
    }
}
