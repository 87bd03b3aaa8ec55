//! Block format: magic, length, checksum, body. The checksum covers file identity and offset, so that bytes of an older
//! file, or of another offset, are never taken for a block of this one.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use domain::PlantedBug;

pub(crate) const HEAD_BYTES: usize = 12;
/// No block is longer, so a damaged length can't ask for much memory.
pub(crate) const LIMIT_BYTES: usize = 16 << 20;
pub(crate) const MAGIC: [u8; 4] = *b"RBLK";

pub(crate) const LENGTH_AT: usize = 4;
pub(crate) const CHECKSUM_AT: usize = 8;
const READ_BUFFER_BYTES: usize = 256 << 10;

/// Where a block lies: which file (by its seed) and where in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockPosition {
    pub(crate) seed: u32,
    pub(crate) offset: u64,
}

/// Why the bytes at a place are no block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockError {
    Blank,
    NoMagic,
    Length(u32),
    Cut,
    Checksum,
}

/// Clears the buffer and leaves room for the head; the caller appends the body and then seals.
pub(crate) fn begin(block: &mut Vec<u8>) {
    block.clear();
    block.resize(HEAD_BYTES, 0);
}

/// Fills in the head of a block that was begun. The body must keep to `LIMIT_BYTES`.
pub(crate) fn seal(block: &mut [u8], place: BlockPosition) {
    let length = u32::try_from(block.len()).expect("callers keep blocks below LIMIT_BYTES");
    block[..LENGTH_AT].copy_from_slice(&MAGIC);
    block[LENGTH_AT..CHECKSUM_AT].copy_from_slice(&length.to_le_bytes());
    let sum = checksum(block, place);
    block[CHECKSUM_AT..HEAD_BYTES].copy_from_slice(&sum.to_le_bytes());
}

/// The length of the block that this head announces, or why it is no head.
pub(crate) fn length_of(head: &[u8; HEAD_BYTES]) -> Result<usize, BlockError> {
    if head.iter().all(|byte| *byte == 0) {
        return Err(BlockError::Blank);
    }
    let (magic, rest) = head.split_first_chunk::<4>().ok_or(BlockError::Cut)?;
    let (length, _) = rest.split_first_chunk::<4>().ok_or(BlockError::Cut)?;
    if *magic != MAGIC {
        return Err(BlockError::NoMagic);
    }
    let announced = u32::from_le_bytes(*length);
    match usize::try_from(announced) {
        Ok(length) if (HEAD_BYTES..=LIMIT_BYTES).contains(&length) => Ok(length),
        _ => Err(BlockError::Length(announced)),
    }
}

pub(crate) fn is_valid(block: &[u8], place: BlockPosition) -> bool {
    block.get(CHECKSUM_AT..HEAD_BYTES).is_some_and(|sum| *sum == checksum(block, place).to_le_bytes())
}

/// What the checksum of a block is and what it should be, as the bits in which they differ.
pub(crate) fn checksum_difference(block: &[u8], place: BlockPosition) -> u32 {
    let written = block.get(CHECKSUM_AT..HEAD_BYTES).and_then(|sum| sum.try_into().ok()).map_or(0, u32::from_le_bytes);
    written ^ checksum(block, place)
}

fn checksum(block: &[u8], place: BlockPosition) -> u32 {
    let mut sum = crc32c::crc32c_append(place.seed, &place.offset.to_le_bytes());
    sum = crc32c::crc32c_append(sum, &block[..CHECKSUM_AT]);
    crc32c::crc32c_append(sum, &block[HEAD_BYTES..])
}

/// Reads block after block, one in memory at a time.
pub(crate) struct BlockReader {
    file: BufReader<File>,
    position: BlockPosition,
    /// Blocks never pass this offset.
    end: u64,
    block: Vec<u8>,
    last_length: u64,
}

impl BlockReader {
    /// `start` is the place of the first block.
    pub(crate) fn new(file: File, start: BlockPosition, end: u64) -> io::Result<Self> {
        let mut file = BufReader::with_capacity(READ_BUFFER_BYTES, file);
        file.seek(SeekFrom::Start(start.offset))?;
        Ok(Self { file, position: start, end, block: Vec::new(), last_length: 0 })
    }

    /// Steps to the next block. After a fault the reader stays where it was and can be called again: another
    /// thread may be writing there.
    pub(crate) fn step(&mut self) -> io::Result<Result<(), BlockError>> {
        let outcome = self.read_block()?;
        if outcome.is_ok() {
            self.last_length = self.block.len() as u64;
            self.position.offset += self.last_length;
        } else {
            // Also drops what was read ahead, which a writer may have changed since.
            self.file.seek(SeekFrom::Start(self.position.offset))?;
        }
        Ok(outcome)
    }

    fn read_block(&mut self) -> io::Result<Result<(), BlockError>> {
        let mut head = [0; HEAD_BYTES];
        if self.position.offset + HEAD_BYTES as u64 > self.end {
            return Ok(Err(BlockError::Blank));
        }
        if !read_whole(&mut self.file, &mut head)? {
            return Ok(Err(BlockError::Cut));
        }
        let length = match length_of(&head) {
            Ok(length) if self.position.offset + length as u64 <= self.end => length,
            Ok(_) => return Ok(Err(BlockError::Cut)),
            Err(fault) => return Ok(Err(fault)),
        };
        self.block.resize(length, 0);
        self.block[..HEAD_BYTES].copy_from_slice(&head);
        if !read_whole(&mut self.file, &mut self.block[HEAD_BYTES..])? {
            return Ok(Err(BlockError::Cut));
        }
        let is_good = is_valid(&self.block, self.position) || PlantedBug::AcceptTornEnd.is_planted();
        Ok(if is_good { Ok(()) } else { Err(BlockError::Checksum) })
    }

    /// Where the next block is expected.
    pub(crate) fn position(&self) -> BlockPosition {
        self.position
    }

    /// The length of the last good block, with its head.
    pub(crate) fn last_length(&self) -> u64 {
        self.last_length
    }

    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// The block last stepped to, with its head.
    pub(crate) fn block(&self) -> &[u8] {
        &self.block
    }

    pub(crate) fn body(&self) -> &[u8] {
        self.block.get(HEAD_BYTES..).unwrap_or_default()
    }

    pub(crate) fn file(&self) -> &File {
        self.file.get_ref()
    }
}

fn read_whole(reader: &mut impl Read, into: &mut [u8]) -> io::Result<bool> {
    match reader.read_exact(into) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

impl fmt::Display for BlockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blank => f.write_str("blank where a block is expected"),
            Self::NoMagic => f.write_str("no block begins here"),
            Self::Length(length) => write!(f, "impossible block length {length}"),
            Self::Cut => f.write_str("the file ends inside the block"),
            Self::Checksum => f.write_str("the checksum does not match"),
        }
    }
}
