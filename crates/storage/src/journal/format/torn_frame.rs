//! The bad frame at the end of a journal: torn by a crash, or harmed after it was written. Only a torn one may be cut, since nothing in it
//! was acknowledged; a harmed one may have been.
//!
//! A segment has zeros where nothing was written yet, and a disk writes a sector as a whole. So a torn frame has a sector of which nothing
//! arrived, or ends with zeros. What has neither was written to its last byte.

use crate::block::{self, BlockPosition, HEAD_BYTES};
use crate::flipped_bit;

/// Disks with larger sectors tear at multiples of this.
const SECTOR_BYTES: usize = 512;

/// Why the bytes at this place are no torn frame; none where they may be one. `continues` tells whether a whole block is the next frame.
pub(crate) fn harm(bytes: &[u8], place: BlockPosition, continues: impl Fn(&[u8]) -> bool) -> Option<String> {
    if let Some(repaired) = flipped_bit::repair(bytes, place)
        // Where nothing else of its sector arrived, the bit may never have been written.
        && has_all_sectors(bytes, repaired.bytes.len(), place.offset)
        && continues(&repaired.bytes)
    {
        let at = place.offset + repaired.at as u64;
        return Some(format!("a bit at offset {at} has flipped in the last frame, which was written as a whole"));
    }
    let length = bytes.first_chunk::<HEAD_BYTES>().and_then(|head| block::length_of(head).ok())?;
    let ends_with_data = bytes.get(length - 1).is_some_and(|last| *last != 0);
    let is_written = ends_with_data && has_all_sectors(bytes, length, place.offset);
    is_written.then(|| "the checksum of the last frame does not match, and it was written as a whole".to_owned())
}

/// Whether something of each sector was written that the first `length` bytes have a part in.
fn has_all_sectors(bytes: &[u8], length: usize, offset: u64) -> bool {
    let before = usize::try_from(offset % SECTOR_BYTES as u64).expect("below the size of a sector");
    let first_border = SECTOR_BYTES - before;
    let (first, rest) = bytes[..length].split_at(first_border.min(length));
    std::iter::once(first).chain(rest.chunks(SECTOR_BYTES)).all(|part| part.iter().any(|byte| *byte != 0))
}
