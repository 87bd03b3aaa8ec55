//! What every listening port needs, whatever it speaks: accept, socket options, TLS, and limits of connections by peer.

mod connection_limiter;
mod listener;
mod peer_network;
mod tls;

pub use connection_limiter::{
    CLOSING_MAX, ConnectionLimitReached, ConnectionLimiter, ConnectionLimits, ConnectionPermit, Eviction, PermitHandle,
    RequestInProgress,
};
pub use listener::{SocketOptions, TCP_UNACKNOWLEDGED_MAX, TcpKeepalive, accept};
pub use peer_network::peer_network;
pub use tls::server_config;
