//! Connections to a venue: addresses, TLS, proxy, HTTP and WebSocket.
//!
//! Every wait has a limit and every answer a largest size. A failure says whether the venue may have received the request.

mod address;
mod dialer;
mod http;
mod message;
mod tls;
mod websocket;

pub use address::{InvalidVenueUrl, VenueUrl};
pub use dialer::{DialError, Dialer, PROXY_HEADER_BYTES_MAX, ProxyServer, VenueStream};
pub use http::{VenueHttp, VenueHttpLimits};
pub use message::{RequestFailure, SocketMessage, VenueRequest, VenueResponse};
pub use tls::{ClientIdentity, TlsRoots, TlsRootsError, tls_config, tls_config_of};
pub use websocket::{SocketError, SocketLimits, VenueSocket};
