//! Runtime: calls `apply()` and supplies the time. Live loop, durability gate, recovery, simulation, strategy host.

pub mod clock;
mod live;
mod follower;
mod journal_records;
mod recovery;
pub mod simulation;
pub mod strategies;

pub use follower::follower_engine::{FollowerEngine, FollowerError, FollowerParts};
pub use follower::follower_loop::{FollowerExit, FollowerLoop, FollowerUpdate, LeadHandover};
pub use follower::price_demand::{PriceDemand, QueriedPrices};
pub use journal_records::resigned_epoch;
pub use live::snapshots::schedule::SnapshotSchedule;
pub use live::{EngineClock, EventSink, LiveExit, LiveLoop, LiveOptions, LiveParts, PulseOptions};
pub use recovery::admin_state::{AdminAt, admin_at, admin_batch};
pub use recovery::catch_up::{CATCH_UP_ATTEMPTS_MAX, keep_caught_up};
pub use recovery::past_engine::PastEngine;
pub use recovery::{
    RecoveredState, RecoveryError, RecoverySources, StateAt, go_on_after, recover, recover_from, recover_further,
    recover_up_to, state_at,
};
