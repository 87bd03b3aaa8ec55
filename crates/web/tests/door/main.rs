//! Stories at the HTTP door: real sockets on one side, a small engine behind the bus on the other.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

/// The server, its engine and a client that shows every byte.
mod desk;

/// What can be read.
mod reads;

/// What can be ordered.
mod orders;

/// What the risk gate and the operator can do.
mod operations;

/// Who is kept out, and how much is let in.
mod unwelcome;
