//! Encoding into memory, for what is written with every order: the bytes of [`minicbor::to_vec`] in fewer steps.

use std::convert::Infallible;

use minicbor::encode::Write;
use minicbor::{Encode, Encoder};

/// The encoding of a value. `room`: how many bytes it usually has; a longer one moves while it is written.
pub fn encode_to_vec<T: Encode<()>>(value: T, room: usize) -> Vec<u8> {
    let mut encoder = Encoder::new(EncodedBytes(Vec::with_capacity(room)));
    encoder.encode(value).expect("a vector takes everything");
    encoder.into_writer().0
}

/// Nearly all that is written has one to nine bytes, and their number is known where it is written: inlined, it is stored at once, while
/// minicbor's own writer is called and calls a copy for each of them.
struct EncodedBytes(Vec<u8>);

impl Write for EncodedBytes {
    type Error = Infallible;

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> Result<(), Infallible> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_are_those_of_minicbor_whatever_room_there_is() {
        let value = (
            7_u8,
            300_i64,
            -70_000_i64,
            u64::MAX,
            "a longer text of more than 23 bytes",
            Some([1_u32; 40]),
            None::<u8>,
        );
        let expected = minicbor::to_vec(value).unwrap();
        for room in [0, 1, expected.len(), 4_096] {
            assert_eq!(encode_to_vec(value, room), expected);
        }
    }
}
