//! One client session: logon, inbound messages, reports.

mod desk;
mod admission;
mod sentry;
mod throttle;
mod courier;
mod receipt;
mod switchboard;
mod submission;
mod asking;
mod parting;
mod board;
mod message_log;

pub(crate) use admission::{Claim, Knock};
pub(crate) use board::Board;
pub(crate) use desk::Desk;
pub(crate) use message_log::MessageLog;
pub(crate) use parting::{Absent, look_after};
pub(crate) use submission::Waits;
pub(crate) use switchboard::Switchboard;
