//! Runtime: calls `apply()` and supplies the time. Live loop, durability gate, recovery, simulation, strategy host.

pub mod clock;
mod catch_up;
mod requests;
mod retired_orders;
mod gate;
mod live;
mod loss;
mod sequencer;
mod stamped_batch;
mod journal_records;
mod past_engine;
mod recovery;
pub mod simulation;
mod snapshot_writer;
pub mod strategies;
mod unsent_instructions;

pub use catch_up::keep_caught_up;
pub use live::{EngineClock, EventSink, LiveExit, LiveLoop, LiveOptions, LiveParts};
pub use loss::go_on_after;
pub use past_engine::PastEngine;
pub use recovery::{RecoveredState, RecoveryError, RecoverySources, StateAt, recover, recover_from, state_at};
