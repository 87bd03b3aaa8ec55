//! Limits of frames, each checked while the bytes arrive, before memory is allocated for them, and the errors of bytes that
//! are not a frame.

use std::fmt;

/// Octets of the command line, its end excluded.
pub const COMMAND_BYTES_MAX: usize = 1_024;
/// Octets of one header line, its end excluded.
pub const HEADER_LINE_BYTES_MAX: usize = 10 * 1_024;
/// Headers of one frame, repeated ones included.
pub const HEADERS_MAX: usize = 1_000;
/// Octets of all header lines of one frame.
pub const HEADER_BYTES_MAX: usize = 64 * 1_024;
/// Octets of a body, unless the application chooses another limit.
pub const BODY_BYTES_MAX: usize = 1_024 * 1_024;

/// Octets of one destination of a client.
pub const DESTINATION_BYTES_MAX: usize = 1_024;
/// Segments of one destination of a client.
pub const SEGMENTS_MAX: usize = 32;
/// Octets of all header lines of a frame before CONNECTED.
pub const CONNECT_HEADER_BYTES_MAX: usize = 4 * 1_024;
/// Headers of a frame before CONNECTED.
pub const CONNECT_HEADERS_MAX: usize = 64;
/// Octets of a body before CONNECTED. CONNECT has none, but some clients end it with a line too many.
pub const CONNECT_BODY_BYTES_MAX: usize = 64;

/// The limits of a decoder; a frame that exceeds one is an error that names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameLimits {
    pub command_bytes: usize,
    pub header_line_bytes: usize,
    pub headers: usize,
    pub header_bytes: usize,
    pub body_bytes: usize,
}

impl FrameLimits {
    /// Limits for a client that has not logged in.
    #[must_use]
    pub(crate) fn before_login(self) -> Self {
        Self {
            command_bytes: self.command_bytes,
            header_line_bytes: self.header_line_bytes.min(CONNECT_HEADER_BYTES_MAX),
            headers: self.headers.min(CONNECT_HEADERS_MAX),
            header_bytes: self.header_bytes.min(CONNECT_HEADER_BYTES_MAX),
            body_bytes: self.body_bytes.min(CONNECT_BODY_BYTES_MAX),
        }
    }
}

impl Default for FrameLimits {
    fn default() -> Self {
        Self {
            command_bytes: COMMAND_BYTES_MAX,
            header_line_bytes: HEADER_LINE_BYTES_MAX,
            headers: HEADERS_MAX,
            header_bytes: HEADER_BYTES_MAX,
            body_bytes: BODY_BYTES_MAX,
        }
    }
}

/// A violation of the framing rules. It ends its connection, and its text is sent in the ERROR frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FramingError {
    UnknownCommand,
    CommandTooLong { limit: usize },
    HeaderTooLong { limit: usize },
    TooManyHeaders { limit: usize },
    HeadersTooLong { limit: usize },
    BodyTooLong { limit: usize },
    HeaderWithoutColon,
    HeaderWithoutName,
    NulInHeader,
    StrayCarriageReturn,
    UndefinedEscape,
    NotUtf8,
    ContentLengthNotANumber,
    ContentLengthMissesTheEnd,
}

impl fmt::Display for FramingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownCommand => f.write_str("unknown command"),
            Self::CommandTooLong { limit } => write!(f, "the command line is longer than {limit} octets"),
            Self::HeaderTooLong { limit } => write!(f, "a header line is longer than {limit} octets"),
            Self::TooManyHeaders { limit } => write!(f, "the frame has more than {limit} headers"),
            Self::HeadersTooLong { limit } => write!(f, "the headers are longer than {limit} octets"),
            Self::BodyTooLong { limit } => write!(f, "the body is longer than {limit} octets"),
            Self::HeaderWithoutColon => f.write_str("a header line has no colon"),
            Self::HeaderWithoutName => f.write_str("a header line has no name"),
            Self::NulInHeader => f.write_str("the frame ends before the blank line behind its headers"),
            Self::StrayCarriageReturn => f.write_str("a carriage return stands inside a header line"),
            Self::UndefinedEscape => f.write_str("a header has an escape that this version does not define"),
            Self::NotUtf8 => f.write_str("a command or header is not UTF-8"),
            Self::ContentLengthNotANumber => f.write_str("content-length is not a number"),
            Self::ContentLengthMissesTheEnd => f.write_str("no NUL stands where content-length says the body ends"),
        }
    }
}

impl std::error::Error for FramingError {}
