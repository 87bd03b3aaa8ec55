//! A client's session: who may log on, what its messages become, and how it hears what happened.

/// The application of one session.
mod desk;
/// Who may log on.
mod admission;
/// How long a client that was let in may stay.
mod sentry;
/// Orders a second.
mod throttle;
/// What happened, on its way from history and the live feed to a session.
mod courier;
/// What a client has proved to have read.
mod receipt;
/// One pair of ears for all sessions.
mod switchboard;
/// A command on its way to the engine.
mod submission;
/// Questions about orders, and mass cancels.
mod asking;
/// What becomes of a client's orders when it is gone.
mod parting;
/// A session as an operator sees it.
mod board;
/// The messages of a session in a file.
mod message_log;

pub(crate) use admission::{Claim, Knock};
pub(crate) use board::Board;
pub(crate) use desk::Desk;
pub(crate) use message_log::MessageLog;
pub(crate) use parting::look_after;
pub(crate) use switchboard::Switchboard;
