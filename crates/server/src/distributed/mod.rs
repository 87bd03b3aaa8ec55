//! Distributed mode: strategies in processes of their own, over the embedded broker. Prices and generic events come on two
//! topics for all; everything that is a strategy's own comes on a queue of its own.

/// A STOMP client, as small as it can be.
mod line;
/// The server's end: strategy processes as members of the strategy host.
mod bridge;
/// From the strategy host to the bridge.
mod pump;
/// One strategy process, as the bridge sees it.
mod member;
/// What one process has not taken yet.
mod outbox;
/// The strategy's end, as whoever runs the strategy has it.
mod conversation;
/// One conversation with the server that outlives connections.
mod talk;
/// When a process tells what it has taken.
mod taken;
/// How far a strategy has come in its life.
mod phases;
/// Pauses between tries to connect.
mod backoff;
/// What was sent under a key and waits for its answer.
mod unanswered;
/// What a strategy has heard already.
mod seen;
/// The server's time, as far as a strategy process knows it.
mod server_time;
/// The bus as a strategy in a process of its own sees it.
mod outside;
/// `rialto strategy run`.
mod process;

pub use bridge::Bridge;
pub use conversation::{Conversation, Life};
pub use outside::Outside;
pub use process::run;

use stomp::encode_segment;

/// Where strategies send to.
const REQUESTS: &str = "/queue/strategy-bus.request";

/// The code of a refusal: another process runs the strategy and is well.
const TAKEN: &str = "strategy-lives";

/// Where the process of a strategy listens: each has a queue of its own, so that none hears what is for another.
fn deliveries(strategy: &str, address: &str) -> String {
    format!("/queue/strategy-bus.{}.{}.delivery", encode_segment(strategy), encode_segment(address))
}

/// Version, dialect and source: two that differ do not work together.
fn build() -> String {
    let (version, source) = (env!("CARGO_PKG_VERSION"), env!("RIALTO_SOURCE"));
    format!("{version}/{}/{source}", runtime::strategies::protocol::PROTOCOL)
}
