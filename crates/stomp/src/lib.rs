//! STOMP 1.0, 1.1 and 1.2 without clock or socket: bytes and times in, actions and bytes out.

mod monotonic_time;
mod version;
mod limits;
mod headers;
mod escape;
mod frame;
mod decoder;
mod destination;
mod message;

pub mod lanes;
pub mod queues;
pub mod topics;
pub mod session;

pub use decoder::FrameDecoder;
pub use destination::{
    Destination, DestinationKind, DestinationPattern, InvalidDestination, decode_segment, encode_segment,
};
pub use frame::{StompCommand, StompFrame};
pub use headers::Headers;
pub use limits::{
    BODY_BYTES_MAX, COMMAND_BYTES_MAX, CONNECT_BODY_BYTES_MAX, CONNECT_HEADER_BYTES_MAX, CONNECT_HEADERS_MAX,
    DESTINATION_BYTES_MAX, FrameLimits, FramingError, HEADER_BYTES_MAX, HEADER_LINE_BYTES_MAX, HEADERS_MAX,
    SEGMENTS_MAX,
};
pub use message::{StompMessage, user_headers};
pub use monotonic_time::MonotonicTime;
pub use session::{ConnectionSubscriptions, StompAction, StompSession, SubscriptionKey};
pub use version::StompVersion;
