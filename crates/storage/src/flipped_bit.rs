//! A block that is good but for one bit. The checksum of a block tells any one flipped bit from every other, and so which one it was.

use crate::block::{self, BlockPosition, HEAD_BYTES, LENGTH_AT, MAGIC};

/// Of CRC-32C, with the lowest bit for the highest power.
const POLYNOMIAL: u32 = 0x82f6_3b78;
const CHECKSUM: std::ops::Range<usize> = block::CHECKSUM_AT..HEAD_BYTES;

/// The block as it was before one of its bits flipped.
pub(crate) struct RepairedBlock {
    pub(crate) bytes: Vec<u8>,
    /// Where in it the bit is.
    pub(crate) at: usize,
}

/// The block that begins these bytes, where changing one bit of them makes a good one.
pub(crate) fn repair(bytes: &[u8], place: BlockPosition) -> Option<RepairedBlock> {
    let head: [u8; HEAD_BYTES] = *bytes.first_chunk()?;
    match head[..LENGTH_AT] == MAGIC {
        true => in_checked_bytes(bytes, &head, place).or_else(|| in_head(bytes, LENGTH_AT..CHECKSUM.start, place)),
        false => in_head(bytes, 0..LENGTH_AT, place),
    }
}

/// The bit is in the magic or in the length: there are few, so each is tried.
fn in_head(bytes: &[u8], part: std::ops::Range<usize>, place: BlockPosition) -> Option<RepairedBlock> {
    let mut head: [u8; HEAD_BYTES] = *bytes.first_chunk()?;
    part.flat_map(|at| (0..8).map(move |bit| (at, 1 << bit))).find_map(|(at, bit)| {
        head[at] ^= bit;
        let block = block_of(bytes, &head);
        head[at] ^= bit;
        let mut repaired = block?.to_vec();
        repaired[at] ^= bit;
        block::is_valid(&repaired, place).then_some(RepairedBlock { bytes: repaired, at })
    })
}

/// The bit is in the checksum, or in what stands behind it.
fn in_checked_bytes(bytes: &[u8], head: &[u8; HEAD_BYTES], place: BlockPosition) -> Option<RepairedBlock> {
    let mut repaired = block_of(bytes, head)?.to_vec();
    let difference = block::checksum_difference(&repaired, place);
    let (at, bit) = match difference.count_ones() {
        0 => return None,
        1 => {
            let bit = difference.trailing_zeros();
            (CHECKSUM.start + bit as usize / 8, bit % 8)
        }
        _ => place_in_body(difference, repaired.len() - HEAD_BYTES).map(|(at, bit)| (HEAD_BYTES + at, bit))?,
    };
    repaired[at] ^= 1 << bit;
    Some(RepairedBlock { bytes: repaired, at })
}

fn block_of<'a>(bytes: &'a [u8], head: &[u8; HEAD_BYTES]) -> Option<&'a [u8]> {
    bytes.get(..block::length_of(head).ok()?)
}

/// The byte of the body, and its bit, that changes the checksum by so much. A bit before another changes it as that one does, one step
/// of the checksum further.
fn place_in_body(difference: u32, body: usize) -> Option<(usize, u32)> {
    let mut effect = POLYNOMIAL;
    for at in (0..body).rev() {
        for bit in (0..8).rev() {
            if effect == difference {
                return Some((at, bit));
            }
            effect = if effect & 1 == 1 { (effect >> 1) ^ POLYNOMIAL } else { effect >> 1 };
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: BlockPosition = BlockPosition { seed: 7, offset: 4242 };

    fn sealed(body: &[u8]) -> Vec<u8> {
        let mut block = Vec::new();
        block::begin(&mut block);
        block.extend_from_slice(body);
        block::seal(&mut block, PLACE);
        block
    }

    #[test]
    fn every_flipped_bit_is_found_whatever_follows() {
        let good = sealed(&b"buy 100 of 1 at 10.01, and 0x00: \0\0\0".repeat(9));
        for bit in 0..good.len() * 8 {
            let mut bytes = [good.as_slice(), &[0; 700]].concat();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let repaired = repair(&bytes, PLACE).unwrap_or_else(|| panic!("bit {bit}"));
            assert_eq!((repaired.bytes.as_slice(), repaired.at), (good.as_slice(), bit / 8));
        }
    }

    #[test]
    fn two_flipped_bits_are_not_taken_for_one() {
        let good = sealed(b"sell 200 of 2");
        for (first, second) in (0..good.len() * 8).flat_map(|bit| (0..bit).map(move |other| (bit, other))) {
            let mut bytes = good.clone();
            bytes[first / 8] ^= 1 << (first % 8);
            bytes[second / 8] ^= 1 << (second % 8);
            assert!(repair(&bytes, PLACE).is_none(), "{first} {second}");
        }
    }

    #[test]
    fn what_is_good_and_what_is_no_block_has_no_flipped_bit() {
        let good = sealed(b"sell 200 of 2");
        let moved = BlockPosition { offset: 1, ..PLACE };
        for (bytes, place) in
            [(good.as_slice(), PLACE), (&good, moved), (&good[..5], PLACE), (&[0; 99], PLACE), (&[], PLACE)]
        {
            assert!(repair(bytes, place).is_none());
        }
    }
}
