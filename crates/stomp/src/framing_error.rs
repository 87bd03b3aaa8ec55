//! Framing errors: why bytes are not a frame. Each ends its connection, and its text is sent in the ERROR frame.

use std::fmt;

/// A violation of the framing rules.
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
