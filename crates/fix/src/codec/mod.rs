//! Codec: framing, decoding in place, encoding.

mod frame;
mod message;
mod outgoing;
pub(crate) mod time;

pub use frame::{FrameError, Framer, MESSAGE_BYTES_MAX};
pub use message::{Decoder, Field, Garbled, Message};
pub use outgoing::Outgoing;
pub(crate) use outgoing::{Encoder, Head};
pub use time::{FRACTION_DIGITS_MAX, Time};

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
