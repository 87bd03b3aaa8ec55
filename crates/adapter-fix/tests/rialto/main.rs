//! The dialect `rialto` against the real program: a Rialto is the venue, in a process of its own, and the conformance kit trades with it.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

mod venue;
mod venue_watch;
mod host;
mod harness;

mod conformance;
