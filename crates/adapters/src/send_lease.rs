//! Lease to trade: the leader of a cluster that was paused learns by it that another one may lead.

use std::fmt;
use std::sync::Arc;

/// Why nothing was sent.
pub const NO_LEASE: &str = "the lease of this server has run out, another one may lead";

/// Whether this process may still trade; asked right before something is sent, and again on the thread that writes it.
#[derive(Clone)]
pub struct SendLease(Arc<dyn Fn() -> bool + Send + Sync>);

impl SendLease {
    /// A lease that is held while `is_held` says so.
    pub fn new(is_held: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_held))
    }

    /// Whether it is held now.
    pub fn is_held(&self) -> bool {
        (self.0)()
    }
}

impl fmt::Debug for SendLease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SendLease").field(&self.is_held()).finish()
    }
}
