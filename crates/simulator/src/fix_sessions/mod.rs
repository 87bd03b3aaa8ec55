//! FIX sessions: the real gateway on simulated time and a simulated network, and clients that hold it to its promises.

mod checks;
mod client;
mod message;
mod port;
mod session;
mod words;

pub(crate) use client::{CANCELED_ON_DISCONNECT, COMP_IDS, FixClient};
pub(crate) use port::{FixPort, FixPortParts, session_settings};
pub(crate) use session::Moment;
