//! STOMP 1.0, 1.1 and 1.2 without a clock or a socket: bytes and times in, actions and bytes out.

/// Time as data.
mod time;
/// The three versions and how two sides agree on one.
mod version;
/// How much of a frame is read.
mod limits;
/// Why bytes are not a frame.
mod fault;
/// Names and values.
mod headers;
/// Escapes in headers, by version.
mod escape;
/// Command, headers, body, and how they are written.
mod frame;
/// Bytes to frames, in any pieces.
mod decoder;
/// Topics, queues, and patterns that select them.
mod destination;
/// A message, written once for all its subscribers.
mod message;

/// The way out of a connection: lanes, throttle, slow consumers.
pub mod lanes;
/// Queues in memory.
pub mod queues;
/// Who listens to which topic, and what was said last.
pub mod topics;
/// One connection, from its first byte to its last.
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
