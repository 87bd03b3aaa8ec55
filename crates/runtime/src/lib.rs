//! Runtime: calls `apply()` and supplies the time. Live loop, durability gate, recovery, simulation, strategy host.

mod about;
mod gate;
mod live;
mod loss;
mod numbers;
mod records;
mod recovery;
pub mod simulation;
mod snapshotting;
pub mod strategies;
mod unsent;

pub use live::{Clock, Ended, Live, Options, Parts, Reader};
pub use loss::{go_on_after, last_order};
pub use recovery::{Recovered, RecoveryError, recover};
