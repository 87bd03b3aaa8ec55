//! Our orders at the venue without sockets: what answers and events, in every order, mean for the engine.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod venue_words;
mod orders;
mod replaces;
mod inquiries;
mod fills;
mod external;
