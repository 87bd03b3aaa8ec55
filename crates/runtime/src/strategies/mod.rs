//! Strategy host of the live server. Each strategy has a thread and a queue; the engine thread runs no strategy code
//! and has one subscriber, however many strategies there are.

mod link;
mod mailbox;
pub(crate) mod event_bytes;
pub(crate) mod diary;
mod inside;
mod clerk;
mod dispatcher;
mod runner;
pub(crate) mod failing;
mod running;
mod manager;
mod absent;
mod asking;
mod host;
mod remote;
pub mod protocol;

pub use clerk::Reason;
pub use diary::Leaf;
pub use host::{Controls, Host, HostSettings, Instance, OnFailure, Trouble};
pub use inside::{Inside, Switchboard};
pub use link::{Delivery, Link, Lost};
pub use remote::{Attached, Pulse};
pub use runner::{Ending, LifeId, Note, Progress, Runner};
