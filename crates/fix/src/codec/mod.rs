//! Bytes on the wire: cutting a stream into messages, reading fields in place, writing messages.

/// Cuts a stream into frames, whatever the pieces it arrives in.
mod frame;
/// A message whose fields are read where they lie.
mod message;
/// A message on its way out, and the encoder that gives it header and trailer.
mod outgoing;
/// Points in time as FIX writes them.
pub(crate) mod time;

pub use frame::{FrameError, Framer, MESSAGE_BYTES_MAX};
pub use message::{Decoder, Field, Garbled, Message};
pub use outgoing::Outgoing;
pub(crate) use outgoing::{Encoder, Head};
pub use time::{FRACTION_DIGITS_MAX, Time};

/// What ends every field.
pub const SOH: u8 = 1;

/// The sum of all bytes, as the trailer has it.
pub(crate) fn checksum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte))
}

/// A number as FIX writes it: digits, no sign. More than 18 of them are no number of ours.
pub(crate) fn parse_unsigned(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 18 {
        return None;
    }
    text.iter().try_fold(0, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + u64::from(byte - b'0')))
}
