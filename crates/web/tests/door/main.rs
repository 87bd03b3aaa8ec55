//! Stories at the HTTP door: real sockets on one side, a small engine behind the bus on the other.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

/// The server, its engine and a client that shows every byte.
mod desk;
/// Users and tokens, with a clock that is turned by hand.
mod people;
/// The program around the small engine, and its past.
mod program;

/// What can be read.
mod reads;

/// How securities are found, and in which form lists come.
mod securities;

/// What can be ordered.
mod orders;

/// What is booked.
mod bookings;

/// Prices: who wants them, and what they are.
mod prices;

/// What has been, page by page.
mod past;

/// What else the house tells.
mod house;

/// What the risk gate and the operator can do.
mod operations;

/// Who may call what.
mod admission;
/// Logging in and out, users, tokens, the audit.
mod people_at_the_door;
/// What a user keeps of his own.
mod settings;

/// Who is kept out, and how much is let in.
mod unwelcome;

/// Whether the interface is as it is described.
mod description;

/// What other rooms serve on the same ports.
mod others;

/// The trading screen.
mod screen;
