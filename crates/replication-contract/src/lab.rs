//! What the rules need of an engine, and what a rule is.

use storage::replication::QuorumLog;

use crate::faults::FaultQueue;

/// What a rule found: nothing, or how the log broke it.
pub type Verdict = Result<(), String>;

/// One log, new for every rule, and its clients.
pub trait LogLab {
    /// A further client, with a candidate id and faults of its own.
    fn connect(&mut self) -> LogClient;

    /// Appends without the port and without a condition, as a program that knows nothing of it does.
    fn store_raw(&mut self, entry: &[u8]);

    /// Makes the log forget all message ids, as time does. False where that cannot be done.
    fn forget_ids(&mut self) -> bool;
}

pub struct LogClient {
    pub log: Box<dyn QuorumLog>,
    pub faults: FaultQueue,
}

impl LogClient {
    pub fn new(log: impl QuorumLog + 'static, faults: FaultQueue) -> Self {
        Self { log: Box::new(log), faults }
    }
}

#[derive(Clone, Copy)]
pub struct Rule {
    pub name: &'static str,
    pub check: fn(&mut dyn LogLab) -> Verdict,
}
