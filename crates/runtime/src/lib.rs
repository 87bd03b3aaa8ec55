//! Who calls `apply`, and with what time: the live loop, its gate, and the way back after a stop.

/// What requests and inputs are about.
mod about;
/// Outputs that wait until what caused them is durable.
mod gate;
/// The live loop.
mod live;
/// Sequence numbers, reserved in blocks.
mod numbers;
/// What stands in the journal, and how.
mod records;
/// Snapshot and replay: the state as it was.
mod recovery;
/// Simulation Mode: virtual time, recorded prices.
pub mod simulation;
/// Snapshots, written beside the loop.
mod snapshotting;
/// The host of strategies in the live server.
pub mod strategies;
/// What could not be handed to an adapter.
mod unsent;

pub use live::{Clock, Ended, Live, Options, Parts, Reader};
pub use recovery::{Recovered, RecoveryError, recover};
