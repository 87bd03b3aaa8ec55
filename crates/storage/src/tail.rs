//! End of a block file: clean, torn by a crash, or damaged before good blocks. The three must never be mistaken for one
//! another.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::block::{self, BlockPosition, HEAD_BYTES, MAGIC};

const CHUNK_BYTES: usize = 64 << 10;
static ZEROS: [u8; CHUNK_BYTES] = [0; CHUNK_BYTES];

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FileTail {
    /// Only zeros, or nothing at all.
    Clean,
    /// The remains of one cut write: this many bytes up to the last that is not zero.
    Torn { bytes: u64 },
    /// A good block lies behind, at this offset.
    Followed { by: u64 },
}

/// Looks at everything from `from` to `end`, in which no block begins at `from` itself.
pub(crate) fn inspect(file: &File, from: BlockPosition, end: u64) -> io::Result<FileTail> {
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut at = from.offset;
    let mut used = from.offset;
    while at < end {
        let length = read_some(file, &mut chunk, at, end)?;
        let bytes = &chunk[..length];
        if bytes != &ZEROS[..length] {
            if let Some(by) = good_block_in(file, bytes, BlockPosition { offset: at, ..from }, end)? {
                return Ok(FileTail::Followed { by });
            }
            used = at + used_length(bytes) as u64;
        }
        // Chunks overlap so that a magic across their border is seen.
        let overlap = MAGIC.len() - 1;
        if length <= overlap {
            break;
        }
        at += (length - overlap) as u64;
    }
    Ok(if used > from.offset { FileTail::Torn { bytes: used - from.offset } } else { FileTail::Clean })
}

/// So many bytes from an offset on, or those that there are.
pub(crate) fn read_range(file: &File, from: u64, bytes: u64) -> io::Result<Vec<u8>> {
    let mut range = vec![0; usize::try_from(bytes).unwrap_or(usize::MAX)];
    let length = read_some(file, &mut range, from, from + bytes)?;
    range.truncate(length);
    Ok(range)
}

/// The length of a file up to its last byte that is not zero.
pub(crate) fn used_bytes(file: &File) -> io::Result<u64> {
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut end = file.metadata()?.len();
    while end > 0 {
        let start = end.saturating_sub(CHUNK_BYTES as u64);
        let length = read_some(file, &mut chunk, start, end)?;
        if chunk[..length] != ZEROS[..length] {
            return Ok(start + used_length(&chunk[..length]) as u64);
        }
        end = start;
    }
    Ok(0)
}

fn read_some(file: &File, chunk: &mut [u8], at: u64, end: u64) -> io::Result<usize> {
    let wanted = usize::try_from(end - at).map_or(chunk.len(), |left| left.min(chunk.len()));
    let mut filled = 0;
    while filled < wanted {
        match file.read_at(&mut chunk[filled..wanted], at + filled as u64) {
            Ok(0) => break,
            Ok(length) => filled += length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

fn used_length(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)
}

fn good_block_in(file: &File, bytes: &[u8], start: BlockPosition, end: u64) -> io::Result<Option<u64>> {
    for (index, window) in bytes.windows(MAGIC.len()).enumerate() {
        let place = BlockPosition { offset: start.offset + index as u64, ..start };
        if window == MAGIC && is_good_block(file, place, end)? {
            return Ok(Some(place.offset));
        }
    }
    Ok(None)
}

fn is_good_block(file: &File, place: BlockPosition, end: u64) -> io::Result<bool> {
    let mut head = [0; HEAD_BYTES];
    if read_some(file, &mut head, place.offset, end)? < HEAD_BYTES {
        return Ok(false);
    }
    let Ok(length) = block::length_of(&head) else { return Ok(false) };
    let mut block = vec![0; length];
    Ok(read_some(file, &mut block, place.offset, end)? == length && block::is_valid(&block, place))
}
