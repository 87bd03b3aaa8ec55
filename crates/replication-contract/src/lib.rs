//! The contract of the replicated log: [rules] that every engine behind the port must keep, with injected faults.
//!
//! The rules run on [`MemoryLog`] and on real engines alike: faults are put between the port and the engine by
//! [`FaultyStore`]. An engine offers a [`LogLab`] and calls [`violations`].

pub mod faults;
pub mod memory_log;
pub mod sample_frames;
pub mod rules;

pub use faults::{FaultQueue, FaultyStore, LoadFault, StoreFault};
pub use memory_log::{MemoryLab, MemoryLog, MemoryStore};
pub use rules::{LogClient, LogLab, Rule, Verdict, rules, violations};
