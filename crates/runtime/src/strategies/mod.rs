//! Strategy host of the live server. Each strategy has a thread and a queue; the engine thread runs no strategy code
//! and has one subscriber, however many strategies there are.

mod link;
pub(crate) mod failures;
mod host_settings;
mod supervisor;
mod engine_client;
mod host;
pub mod protocol;

pub use engine_client::{state_events, state_queries};
pub use host::{HostHandle, StrategyHost};
pub use host_settings::{HostError, HostSettings, OnFailure, StrategyConfig};
pub use link::local_link::{CommandRouter, LocalLink, SteppedRouter};
pub use link::remote::{AttachedStrategy, ProcessHeartbeat};
pub use link::reply_collector::CommandReject;
pub use link::strategy_thread::{PhaseCompleted, RunId, RunnerEvent, RunnerExit, StrategyThread};
pub use link::{LinkLost, StrategyDelivery, StrategyLink};
pub use protocol::delivery_log::DeliveryRecord;
