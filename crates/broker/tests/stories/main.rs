//! The broker through real sockets, with an engine that answers as each story wants.

#![allow(clippy::unwrap_used)] // a story that cannot go on has failed

/// A client that shows every frame.
mod client;
/// The broker, its engine and its people.
mod desk;
/// A WebSocket as a stream of bytes.
mod websocket;

/// Who may come in and what he may do.
mod admission;
/// Much at once.
mod bursts;
/// Every limit has its outcome.
mod limits;
/// What the engine says reaches those who listen.
mod publishing;
/// Queues between clients.
mod queues;
/// What clients say.
mod sending;
/// Last values for those who come late.
mod snapshots;
/// Much coming and going.
mod soak;
/// What strategies in processes of their own share.
mod strategy_bus;
/// What can be subscribed to, and how.
mod subscribing;
/// TLS and WebSocket.
mod transports;
/// Clients that harm only themselves.
mod unwelcome;
