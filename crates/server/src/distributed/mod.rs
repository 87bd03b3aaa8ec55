//! Strategy bus: strategies in processes of their own, over the embedded broker or over NATS. Market data and generic events come on
//! two shared topics, everything else on a queue per process.

mod bus_message;
mod nats_file;
mod stomp_client;
mod nats_line;
mod bus_line;
mod bridge;
mod process;

pub use bridge::strategy_bridge::{BridgeTransport, StrategyBridge};
pub use nats_file::NatsBusConfig;
pub use nats_line::SharedEvents;
pub use process::bus_handle::BusHandle;
pub use process::current_run::StrategyRun;
pub use process::remote_link::RemoteLink;
pub use process::run_command::run;

/// Refusal code: another process runs the strategy and is alive.
const ALREADY_RUNNING: &str = "strategy-lives";

/// Refusal code: the server does not know the process. It may just have begun to serve, so the process says Hello again.
const NOT_ATTACHED: &str = "not-attached";

/// Version, protocol and source: two builds that differ do not work together.
fn build() -> String {
    let (version, source) = (env!("CARGO_PKG_VERSION"), env!("RIALTO_SOURCE"));
    format!("{version}/{}/{source}", runtime::strategies::protocol::PROTOCOL)
}
