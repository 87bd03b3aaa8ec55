//! Exact decimals as PostgreSQL's `numeric` in binary form: groups of four digits, the weight of the first group, the sign
//! and the number of decimals.

use bytes::{BufMut, BytesMut};
use domain::Decimal;

const GROUP: u128 = 10_000;
const GROUP_DIGITS: u32 = 4;
const NEGATIVE: u16 = 0x4000;

pub(crate) fn encode(value: Decimal, into: &mut BytesMut) {
    let scale = value.scale();
    // The last group of the decimals is filled with zeros: 28 digits and four more fit into 128 bits.
    let missing = (GROUP_DIGITS - scale % GROUP_DIGITS) % GROUP_DIGITS;
    let mut rest = value.mantissa().unsigned_abs() * 10_u128.pow(missing);
    let mut groups = Vec::new();
    while rest > 0 {
        groups.push(u16::try_from(rest % GROUP).expect("a group is less than 10,000"));
        rest /= GROUP;
    }
    groups.reverse();
    let decimal_groups = i16::try_from(scale.div_ceil(GROUP_DIGITS)).expect("a scale is 28 at most");
    let count = i16::try_from(groups.len()).expect("33 digits are nine groups");
    into.put_i16(count);
    into.put_i16(count - decimal_groups - 1);
    into.put_u16(if value.is_sign_negative() && !value.is_zero() { NEGATIVE } else { 0 });
    into.put_u16(u16::try_from(scale).expect("a scale is 28 at most"));
    groups.iter().for_each(|group| into.put_u16(*group));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Groups, weight, sign, decimals.
    fn parts(text: &str) -> (Vec<u16>, i16, u16, u16) {
        let mut bytes = BytesMut::new();
        encode(text.parse().unwrap(), &mut bytes);
        let words: Vec<u16> = bytes.chunks(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
        assert_eq!(usize::from(words[0]), words.len() - 4);
        (words[4..].to_vec(), words[1].cast_signed(), words[2], words[3])
    }

    #[test]
    fn digits_are_grouped_around_the_point() {
        assert_eq!(parts("0"), (vec![], -1, 0, 0));
        assert_eq!(parts("1"), (vec![1], 0, 0, 0));
        assert_eq!(parts("-10000"), (vec![1, 0], 1, NEGATIVE, 0));
        assert_eq!(parts("10.50"), (vec![10, 5000], 0, 0, 2));
        assert_eq!(parts("0.00001"), (vec![1000], -2, 0, 5));
        assert_eq!(parts("12345.678901"), (vec![1, 2345, 6789, 100], 1, 0, 6));
        let longest = parts("79228162514264337593543950335");
        assert_eq!(longest, (vec![7, 9228, 1625, 1426, 4337, 5935, 4395, 335], 7, 0, 0));
    }
}
