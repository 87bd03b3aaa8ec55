//! The contract of the strategy bus: one set of promises, kept inside the server, over the broker and over NATS alike. Another way
//! to carry the bus is one more `BusTransport`.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

/// An engine without a disk, and the host of strategies before it.
mod harness;
/// The roads from a strategy to the desk.
mod transports;
/// The road over a real NATS server.
mod nats_transport;
/// What every road promises.
mod guarantees;
/// A strategy that writes its letters by hand.
mod raw_client;
/// What only a network needs: builds, keys, deadlines.
mod wire_protocol;
/// One that takes nothing, stays in a phase or speaks late: the others go on.
mod slow_process;
/// The server ends, and the next one goes on with its runs.
mod next_server;
