//! Broker tests through real sockets, with an engine that each test controls.

#![allow(clippy::unwrap_used)] // a story that cannot go on has failed

mod test_client;
mod harness;
mod websocket;

/// Login and permissions.
mod authentication;
mod bursts;
/// Every limit has its outcome.
mod limits;
/// Events of the engine reach subscribers.
mod publishing;
/// Queues between clients.
mod queues;
/// Subscriptions that begin in the past.
mod replays;
/// Messages of clients.
mod sending;
mod forwarding;
/// Last values for late subscribers.
mod snapshots;
mod soak;
/// Shared topics of strategy processes.
mod strategy_bus;
/// Subscriptions: destinations and headers.
mod subscribing;
/// TLS and WebSocket.
mod transports;
/// Clients that harm only themselves.
mod misbehaving_clients;
