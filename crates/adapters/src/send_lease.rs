//! Lease to trade: the leader of a cluster that was paused learns by it that another one may lead.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Why nothing was sent.
pub const NO_LEASE: &str = "the lease of this server has run out, another one may lead";

/// Whether this process may still trade; asked right before something is sent, and again on the thread that writes it.
#[derive(Clone)]
pub struct SendLease {
    is_held: Arc<dyn Fn() -> bool + Send + Sync>,
    may_be_replaced: Arc<dyn Fn() -> bool + Send + Sync>,
    age: Arc<dyn Fn() -> Duration + Send + Sync>,
}

impl SendLease {
    /// A lease that is held while `is_held` says so. As soon as it has run out, another process may lead.
    pub fn new(is_held: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        let (begun, is_held) = (Instant::now(), Arc::new(is_held));
        let held = is_held.clone();
        Self { is_held, may_be_replaced: Arc::new(move || !held()), age: Arc::new(move || begun.elapsed()) }
    }

    /// The same, where another process waits for longer than the lease before it leads.
    pub fn with_takeover(self, may_be_replaced: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { may_be_replaced: Arc::new(may_be_replaced), ..self }
    }

    /// The same, where time is data.
    pub fn with_age(self, age: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Self { age: Arc::new(age), ..self }
    }

    /// Whether it is held now.
    pub fn is_held(&self) -> bool {
        (self.is_held)()
    }

    /// Whether another process may lead by now. False for a while after the lease has run out: a leader that has it back soon was not
    /// replaced.
    pub fn may_be_replaced(&self) -> bool {
        (self.may_be_replaced)()
    }

    /// For how long this process has had it, by a clock that nobody sets.
    pub fn age(&self) -> Duration {
        (self.age)()
    }
}

impl fmt::Debug for SendLease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SendLease").field(&self.is_held()).finish()
    }
}
