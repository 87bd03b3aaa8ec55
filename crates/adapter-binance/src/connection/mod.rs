//! Connections to the venue: REST, a session of the WebSocket API with private events, and market streams.
//!
//! They send and receive one message at a time and keep no queue: rate limits, reconnects and renewals are the caller's,
//! with the parts of the adapter kit.

mod rest_client;
mod api_session;
mod stream_session;

pub use api_session::{ApiMessage, ApiOpenError, ApiSendError, ApiSession};
pub use rest_client::RestClient;
pub use stream_session::{STREAMS_OF_A_CONNECTION_MAX, StreamSendError, StreamSession};
