//! Strategy bus: strategies in processes of their own, over the embedded broker. Market data and generic events come on
//! two shared topics, everything else on a queue per process.

mod stomp_client;
mod bridge;
mod process;

pub use bridge::strategy_bridge::StrategyBridge;
pub use process::bus_handle::BusHandle;
pub use process::current_run::StrategyRun;
pub use process::remote_link::RemoteLink;
pub use process::run_command::run;

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
