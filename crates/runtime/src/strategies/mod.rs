//! Strategy host of the live server. Each strategy has a thread and a queue; the engine thread runs no strategy code
//! and has one subscriber, however many strategies there are.

mod link;
mod strategy_queue;
pub(crate) mod event_codec;
mod reference_codec;
pub(crate) mod delivery_log;
mod local_link;
mod reply_collector;
mod dispatcher;
mod strategy_thread;
pub(crate) mod failures;
mod instance;
mod host_settings;
mod supervisor;
mod orphaned;
mod engine_client;
mod host;
mod remote;
pub mod protocol;

pub use delivery_log::DeliveryRecord;
pub use host::{HostHandle, StrategyHost};
pub use host_settings::{HostError, HostSettings, OnFailure, StrategyConfig};
pub use link::{LinkLost, StrategyDelivery, StrategyLink};
pub use local_link::{CommandRouter, LocalLink};
pub use remote::{AttachedStrategy, ProcessHeartbeat};
pub use reply_collector::CommandReject;
pub use strategy_thread::{PhaseCompleted, RunId, RunnerEvent, RunnerExit, StrategyThread};
