//! The broker through real sockets, with an engine that answers as each story wants.

#![allow(clippy::unwrap_used)] // a story that cannot go on has failed

/// A client that shows every frame.
mod client;
/// The broker, its engine and its people.
mod desk;

/// Who may come in and what he may do.
mod admission;
/// What the engine says reaches those who listen.
mod publishing;
/// Queues between clients.
mod queues;
/// What clients say.
mod sending;
/// Last values for those who come late.
mod snapshots;
/// TLS and WebSocket.
mod transports;
/// Clients that harm only themselves.
mod unwelcome;
