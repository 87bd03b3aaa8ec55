//! Strategies in the live server. Each has a thread and a mailbox of its own; the engine's thread runs no strategy code and
//! knows one listener, however many strategies there are.

/// What the bus promises to a strategy, in process or far away.
mod link;
/// What waits for one strategy: prices conflate, order events never do.
mod mailbox;
/// Events as bytes.
pub(crate) mod event_bytes;
/// What a strategy was told, so that it can live its life again.
pub(crate) mod diary;
/// The bus inside the server.
mod inside;
/// Waits for the answers to commands, so that no strategy has to.
mod clerk;
/// From the feed to the mailboxes.
mod dispatcher;
/// A strategy's own thread: hear, call, ask.
mod runner;
/// Why the platform stops a strategy.
pub(crate) mod failing;
/// A strategy that runs, as the manager knows it.
mod running;
/// Phases in order, start and stop, panics, floods and hangs.
mod manager;
/// Strategies that a crash left in a phase and that nobody runs since.
mod absent;
/// What the manager asks of the engine.
mod asking;
/// The host as the program sees it.
mod host;
/// A strategy in a process of its own, as the server sees it.
mod remote;
/// What server and strategy process say to each other.
pub mod protocol;

pub use clerk::Reason;
pub use diary::Leaf;
pub use host::{Controls, Host, HostSettings, Instance, OnFailure, Trouble};
pub use inside::{Inside, Switchboard};
pub use link::{Delivery, Link, Lost};
pub use remote::{Attached, Pulse};
pub use runner::{Ending, LifeId, Note, Progress, Runner};
