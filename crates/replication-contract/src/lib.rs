//! The contract of the replicated log: [rules](mod@rules) that every engine behind the port must keep, with injected faults.
//!
//! The rules run on [`MemoryLog`] and on real engines alike: faults are put between the port and the engine by
//! [`FaultyStore`]. An engine offers a [`LogLab`] and calls [`violations`].

pub mod faults;
pub mod lab;
pub mod memory_log;
pub mod sample_frames;
pub mod rules;

pub use faults::{FaultQueue, FaultyStore, LoadFault, StoreFault};
pub use lab::{LogClient, LogLab, Rule, Verdict};
pub use memory_log::{MemoryLab, MemoryLog, MemoryLogClient};
pub use rules::{rules, violations};
