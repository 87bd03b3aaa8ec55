//! Runtime: calls `apply()` and supplies the time. Live loop, durability gate, recovery, simulation, strategy host.

pub mod clock;
mod live;
mod journal_records;
mod recovery;
pub mod simulation;
pub mod strategies;

pub use live::{EngineClock, EventSink, LiveExit, LiveLoop, LiveOptions, LiveParts};
pub use recovery::catch_up::keep_caught_up;
pub use recovery::past_engine::PastEngine;
pub use recovery::{
    RecoveredState, RecoveryError, RecoverySources, StateAt, go_on_after, recover, recover_from, state_at,
};
