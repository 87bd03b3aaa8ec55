//! Strategy bus: strategies in processes of their own, over the embedded broker. Market data and generic events come on
//! two shared topics, everything else on a queue per process.

mod stomp_client;
mod strategy_bridge;
mod host_forwarder;
mod strategy_process;
mod send_window;
mod bus_handle;
mod bus_client;
mod link_state;
mod server_connection;
mod current_run;
mod ack_policy;
mod phase_tracker;
mod backoff;
mod unanswered;
mod duplicate_filter;
mod server_time;
mod remote_link;
mod run_command;

pub use bus_handle::BusHandle;
pub use current_run::StrategyRun;
pub use remote_link::RemoteLink;
pub use run_command::run;
pub use strategy_bridge::StrategyBridge;

use stomp::encode_segment;

/// The queue of requests from strategies.
const REQUESTS: &str = "/queue/strategy-bus.request";

/// Refusal code: another process runs the strategy and is alive.
const ALREADY_RUNNING: &str = "strategy-lives";

/// The queue of a strategy process: each has its own, so that none receives messages for another.
fn delivery_queue(strategy: &str, address: &str) -> String {
    format!("/queue/strategy-bus.{}.{}.delivery", encode_segment(strategy), encode_segment(address))
}

/// Version, protocol and source: two builds that differ do not work together.
fn build() -> String {
    let (version, source) = (env!("CARGO_PKG_VERSION"), env!("RIALTO_SOURCE"));
    format!("{version}/{}/{source}", runtime::strategies::protocol::PROTOCOL)
}
