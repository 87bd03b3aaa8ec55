//! STOMP 1.0, 1.1 and 1.2 without clock or socket: bytes and times in, actions and bytes out.

mod time;
mod version;
mod limits;
mod fault;
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

pub use decoder::Decoder;
pub use destination::{Destination, Kind, NotADestination, Pattern, decode_segment, encode_segment};
pub use fault::Fault;
pub use frame::{Command, Frame};
pub use headers::Headers;
pub use limits::{
    BODY_BYTES_MAX, COMMAND_BYTES_MAX, CONNECT_BODY_BYTES_MAX, CONNECT_HEADER_BYTES_MAX, CONNECT_HEADERS_MAX,
    DESTINATION_BYTES_MAX, HEADER_BYTES_MAX, HEADER_LINE_BYTES_MAX, HEADERS_MAX, Limits, SEGMENTS_MAX,
};
pub use message::{Message, user_headers};
pub use session::{Action, Session, SubscriptionKey, Subscriptions};
pub use time::Time;
pub use version::Version;
