//! Listener tests: real sockets, real clients, and a router without an engine.

mod harness;

/// HTTPS, HTTP/2 and how they are agreed upon.
mod versions;
/// How much is let in, and for how long, in both versions.
mod limits;
/// What becomes of requests and connections when the server stops, or when they become something else.
mod endings;
/// Gzip, and too many requests.
mod layers;
