//! Stories of hosts and venues.
#![allow(clippy::unwrap_used, reason = "a story that cannot be set up has failed")]

/// Orders and ids for all stories.
mod desk;
/// The market of all stories.
mod market;
/// A venue that does as it is told.
mod puppet;

/// Adapters that lie.
mod liar;
/// A simulated venue whose clock is set by hand.
mod world;

/// The kit over honest and lying adapters.
mod conformance;
/// The session, over and over.
mod host;
/// The simulated venue behind a host.
mod simulated;
/// The thread around the host.
mod thread;
