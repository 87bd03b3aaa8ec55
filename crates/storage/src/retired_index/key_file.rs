//! File of sorted 128-bit keys, written once and then only read.
//!
//! ```text
//! magic [8] · version u32 · zero u32 · instance [16] · after u64 · through u64 · keys u64
//! · bytes of the filter u64 · checksum u32 of table and filter · checksum u32 over all before      (72 bytes)
//! keys, 16 bytes each, in blocks of 256
//! table: the upper half of the first key of each block, u64, and the checksum of the block, u32
//! filter
//! ```

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::key_filter::KeyFilter;
use crate::StorageError;
use crate::bytes::field;
use crate::file_system::{FileSystem, WritableFile, write_all_at};
use crate::journal::InstanceId;

const MAGIC: [u8; 8] = *b"RIALTO-I";
const VERSION: u32 = 1;
const HEADER_BYTES: usize = 72;
const CHECKSUM_AT: usize = HEADER_BYTES - 4;
const KEY_BYTES: usize = 16;
const KEYS_PER_BLOCK: usize = 256;
const BLOCK_BYTES: usize = KEYS_PER_BLOCK * KEY_BYTES;
const TABLE_ENTRY_BYTES: u64 = 12;

/// Which keys a file has: those that were retired after one sequence and up to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KeySpan {
    pub(super) after: u64,
    pub(super) through: u64,
}

#[derive(Debug)]
pub(super) struct KeyFile {
    path: PathBuf,
    file: File,
    pub(super) span: KeySpan,
    pub(super) count: u64,
    blocks: BlockTable,
    filter: KeyFilter,
}

/// By block: the upper half of its first key, and its checksum.
#[derive(Debug, Default)]
struct BlockTable {
    first: Vec<u64>,
    checksums: Vec<u32>,
}

impl KeyFile {
    pub(super) fn open(path: &Path, instance: InstanceId) -> Result<Self, StorageError> {
        let mut file = File::open(path).map_err(StorageError::io("open", path))?;
        let damaged = |offset: usize, reason: &str| StorageError::damaged(path, offset as u64, reason);
        let mut header = [0; HEADER_BYTES];
        file.read_exact(&mut header).map_err(|_| damaged(0, "it is shorter than the header of a key file"))?;
        let header = KeyHeader::decode(&header, instance).map_err(|reason| damaged(0, reason))?;
        let length = file.metadata().map_err(StorageError::io("read", path))?.len();
        if header.length() != Some(length) {
            return Err(damaged(HEADER_BYTES, "its length is not that of its header"));
        }
        let mut rest = vec![0; usize::try_from(length - header.table_at()).unwrap_or(usize::MAX)];
        file.read_exact_at(&mut rest, header.table_at()).map_err(StorageError::io("read", path))?;
        if crc32c::crc32c(&rest) != header.rest_checksum {
            return Err(damaged(HEADER_BYTES, "the checksum of its table does not match"));
        }
        let filter = rest.split_off(rest.len() - usize::try_from(header.filter_bytes).unwrap_or(rest.len()));
        let (span, count, blocks) = (header.span, header.count, BlockTable::decode(&rest));
        Ok(Self { path: path.to_owned(), file, span, count, blocks, filter: KeyFilter::from_bytes(filter) })
    }

    pub(super) fn contains(&self, key: u128) -> Result<bool, StorageError> {
        if self.count == 0 || !self.filter.may_contain(key) {
            return Ok(false);
        }
        for block in self.blocks.candidates(key) {
            if self.read_block(block)?.binary_search(&key).is_ok() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Bytes of memory that the file takes while it is open.
    pub(super) fn memory_bytes(&self) -> usize {
        self.blocks.first.capacity() * 8 + self.blocks.checksums.capacity() * 4 + self.filter.as_bytes().len()
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// All keys, block by block.
    pub(super) fn keys(&self) -> impl Iterator<Item = Result<u128, StorageError>> {
        (0..self.blocks.first.len()).flat_map(|block| match self.read_block(block) {
            Ok(keys) => keys.into_iter().map(Ok).collect::<Vec<_>>(),
            Err(problem) => vec![Err(problem)],
        })
    }

    fn read_block(&self, block: usize) -> Result<Vec<u128>, StorageError> {
        let before = (block * KEYS_PER_BLOCK) as u64;
        let keys = (self.count - before).min(KEYS_PER_BLOCK as u64);
        let offset = HEADER_BYTES as u64 + before * KEY_BYTES as u64;
        let mut bytes = vec![0; usize::try_from(keys).unwrap_or(KEYS_PER_BLOCK) * KEY_BYTES];
        self.file.read_exact_at(&mut bytes, offset).map_err(StorageError::io("read", &self.path))?;
        if self.blocks.checksums.get(block) != Some(&crc32c::crc32c(&bytes)) {
            return Err(StorageError::damaged(&self.path, offset, "the checksum of a block of keys does not match"));
        }
        Ok(bytes.as_chunks::<KEY_BYTES>().0.iter().map(|key| u128::from_be_bytes(*key)).collect())
    }
}

impl BlockTable {
    fn push(&mut self, block: &[u8]) {
        self.first.push(u64::from_be_bytes(field(block, 0)));
        self.checksums.push(crc32c::crc32c(block));
    }

    /// Blocks that may have a key: more than one only where first keys share an upper half.
    fn candidates(&self, key: u128) -> std::ops::Range<usize> {
        let upper = u64::try_from(key >> 64).unwrap_or(u64::MAX);
        let from = self.first.partition_point(|first| *first < upper).saturating_sub(1);
        from..self.first.partition_point(|first| *first <= upper)
    }

    fn encode(&self) -> Vec<u8> {
        let entries = self.first.iter().zip(&self.checksums);
        entries.flat_map(|(first, sum)| first.to_le_bytes().into_iter().chain(sum.to_le_bytes())).collect()
    }

    fn decode(bytes: &[u8]) -> Self {
        let (entries, _) = bytes.as_chunks::<12>();
        Self {
            first: entries.iter().map(|entry| u64::from_le_bytes(field(entry, 0))).collect(),
            checksums: entries.iter().map(|entry| u32::from_le_bytes(field(entry, 8))).collect(),
        }
    }
}

struct KeyHeader {
    span: KeySpan,
    count: u64,
    filter_bytes: u64,
    rest_checksum: u32,
}

impl KeyHeader {
    fn encode(&self, instance: InstanceId) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        let mut fields = Vec::with_capacity(HEADER_BYTES);
        fields.extend_from_slice(&MAGIC);
        fields.extend_from_slice(&VERSION.to_le_bytes());
        fields.extend_from_slice(&[0; 4]);
        fields.extend_from_slice(&instance.0);
        for number in [self.span.after, self.span.through, self.count, self.filter_bytes] {
            fields.extend_from_slice(&number.to_le_bytes());
        }
        fields.extend_from_slice(&self.rest_checksum.to_le_bytes());
        header[..CHECKSUM_AT].copy_from_slice(&fields);
        header[CHECKSUM_AT..].copy_from_slice(&crc32c::crc32c(&fields).to_le_bytes());
        header
    }

    fn decode(header: &[u8; HEADER_BYTES], instance: InstanceId) -> Result<Self, &'static str> {
        let number = |at| u64::from_le_bytes(field(header, at));
        if field(header, 0) != MAGIC || u32::from_le_bytes(field(header, 8)) != VERSION {
            return Err("it is no key file of this version");
        }
        if crc32c::crc32c(&header[..CHECKSUM_AT]).to_le_bytes() != field(header, CHECKSUM_AT) {
            return Err("the checksum of the header does not match");
        }
        if field(header, 16) != instance.0 {
            return Err("it belongs to another journal");
        }
        let span = KeySpan { after: number(32), through: number(40) };
        let rest_checksum = u32::from_le_bytes(field(header, 64));
        Ok(Self { span, count: number(48), filter_bytes: number(56), rest_checksum })
    }

    fn table_at(&self) -> u64 {
        HEADER_BYTES as u64 + self.count * KEY_BYTES as u64
    }

    /// The length of the file; absent where that is no number.
    fn length(&self) -> Option<u64> {
        let table = self.count.div_ceil(KEYS_PER_BLOCK as u64) * TABLE_ENTRY_BYTES;
        let keys = self.count.checked_mul(KEY_BYTES as u64)?.checked_add(HEADER_BYTES as u64)?;
        keys.checked_add(table)?.checked_add(self.filter_bytes)
    }
}

/// Writes a key file from sorted keys, block by block, so that any number of them takes little memory.
pub(super) struct KeyFileWriter {
    medium: Box<dyn WritableFile>,
    block: Vec<u8>,
    blocks: BlockTable,
    filter: KeyFilter,
    count: u64,
    offset: u64,
}

impl KeyFileWriter {
    /// `filtered`: so many keys at the most are to be found by a filter; 0 = there is none.
    pub(super) fn create(disk: &dyn FileSystem, path: &Path, filtered: u64) -> io::Result<Self> {
        Ok(Self {
            medium: disk.create(path)?,
            block: Vec::with_capacity(BLOCK_BYTES),
            blocks: BlockTable::default(),
            filter: KeyFilter::with_room_for(filtered),
            count: 0,
            offset: HEADER_BYTES as u64,
        })
    }

    pub(super) fn push(&mut self, key: u128) -> io::Result<()> {
        self.block.extend_from_slice(&key.to_be_bytes());
        self.filter.insert(key);
        self.count += 1;
        if self.block.len() == BLOCK_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        write_all_at(self.medium.as_ref(), &self.block, self.offset)?;
        self.offset += self.block.len() as u64;
        self.blocks.push(&self.block);
        self.block.clear();
        Ok(())
    }

    /// Returns when all of it is durable.
    pub(super) fn finish(mut self, span: KeySpan, instance: InstanceId) -> io::Result<()> {
        self.flush()?;
        let mut rest = self.blocks.encode();
        rest.extend_from_slice(self.filter.as_bytes());
        write_all_at(self.medium.as_ref(), &rest, self.offset)?;
        let filter_bytes = self.filter.as_bytes().len() as u64;
        let header = KeyHeader { span, count: self.count, filter_bytes, rest_checksum: crc32c::crc32c(&rest) };
        write_all_at(self.medium.as_ref(), &header.encode(instance), 0)?;
        self.medium.sync()
    }
}
