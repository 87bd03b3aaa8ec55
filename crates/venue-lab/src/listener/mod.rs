//! Sockets: TLS and WebSocket.

pub(crate) mod tls;
pub(crate) mod tls_listener;
pub(crate) mod websocket;
