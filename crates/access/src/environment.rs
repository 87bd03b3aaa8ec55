//! What authentication needs of the machine: random bytes, threads, and what the hash of a password may cost. The simulator of the whole
//! system brings its own.

use std::sync::Arc;

pub use getrandom::Error as RandomError;

/// Work that is done beside the threads that serve clients.
pub type AccessWork = Box<dyn FnOnce() + Send>;

pub trait AccessEnvironment: Send + Sync {
    /// Bytes that nobody can guess.
    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), RandomError>;

    fn password_cost(&self) -> PasswordCost {
        PasswordCost::default()
    }

    /// Runs work that computes and never waits, such as a hash.
    fn compute(&self, work: AccessWork);

    /// Runs work that may wait for the journal.
    fn block(&self, work: AccessWork);

    /// Whether the audit has a thread of its own. Without one its entries are written by [`AccessEnvironment::block`].
    fn has_audit_thread(&self) -> bool {
        true
    }
}

/// The operating system's random bytes, and the threads of the runtime that serves the caller.
#[derive(Debug, Clone, Copy, Default)]
struct SystemEnvironment;

impl AccessEnvironment for SystemEnvironment {
    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        getrandom::fill(bytes)
    }

    fn compute(&self, work: AccessWork) {
        drop(tokio::task::spawn_blocking(work));
    }

    fn block(&self, work: AccessWork) {
        drop(tokio::task::spawn_blocking(work));
    }
}

/// What a new hash costs. A hash names its own cost, so that one that was made before is compared at that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PasswordCost {
    pub memory_kib: u32,
    pub passes: u32,
}

/// As OWASP recommends.
impl Default for PasswordCost {
    fn default() -> Self {
        Self { memory_kib: 19 * 1024, passes: 2 }
    }
}

pub(crate) fn system_environment() -> Arc<dyn AccessEnvironment> {
    Arc::new(SystemEnvironment)
}
