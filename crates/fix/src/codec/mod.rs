//! Codec: framing, decoding in place, encoding.

mod frame;
mod message;
mod outgoing;
pub(crate) mod utc_timestamp;

pub use frame::{FrameError, Framer, MESSAGE_BYTES_MAX};
pub use message::{FixDecoder, FixField, FixMessage, Garbled};
pub use outgoing::OutgoingMessage;
pub(crate) use outgoing::{FixEncoder, HeaderFields};
pub use utc_timestamp::{FRACTION_DIGITS_MAX, UtcTimestamp};

/// Field delimiter.
pub const SOH: u8 = 1;

/// The sum of all bytes, as the trailer has it.
pub(crate) fn checksum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte))
}

/// A number in FIX format: digits, no sign, at most 18.
pub(crate) fn parse_unsigned(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 18 {
        return None;
    }
    text.iter().try_fold(0, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + u64::from(byte - b'0')))
}
