//! The header of a snapshot.
//!
//! ```text
//! magic [8] · version u32 · zero u32 · instance [16] · sequence u64 · length of the state u64
//! · digest of the state [32] · build, zero-padded [68] · sequence of the anchor u64 · its hash [32]
//! · checksum u32 over all before                                                            (192 bytes)
//! ```
//!
//! Earlier builds wrote no anchor: zeros, or the end of a long name of the build.

use crate::bytes::field;
use crate::journal::{ChainAnchor, ChainHash, InstanceId};

pub(crate) const HEADER_BYTES: usize = 192;
/// A longer name of a build is refused.
pub const BUILD_BYTES_MAX: usize = ANCHOR_AT - BUILD_AT - 1;

const BUILD_AT: usize = 80;
const ANCHOR_AT: usize = 148;
const CHECKSUM_AT: usize = HEADER_BYTES - 4;
const MAGIC: [u8; 8] = *b"RIALTO-S";
const VERSION: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SnapshotHeader {
    pub(crate) instance: InstanceId,
    pub(crate) sequence: u64,
    pub(crate) length: u64,
    pub(crate) digest: [u8; 32],
    pub(crate) build: String,
    /// The chain's head when it was written.
    pub(crate) anchor: Option<ChainAnchor>,
}

impl SnapshotHeader {
    /// Refuses a build that does not fit.
    pub(crate) fn encode(&self) -> Result<[u8; HEADER_BYTES], String> {
        let build = self.build.as_bytes();
        if build.len() > BUILD_BYTES_MAX || build.contains(&0) {
            return Err(format!("must be at most {BUILD_BYTES_MAX} bytes without a zero"));
        }
        let mut fields = Vec::with_capacity(HEADER_BYTES);
        fields.extend_from_slice(&MAGIC);
        fields.extend_from_slice(&VERSION.to_le_bytes());
        fields.extend_from_slice(&[0; 4]);
        fields.extend_from_slice(&self.instance.0);
        fields.extend_from_slice(&self.sequence.to_le_bytes());
        fields.extend_from_slice(&self.length.to_le_bytes());
        fields.extend_from_slice(&self.digest);
        fields.extend_from_slice(build);
        let mut header = [0; HEADER_BYTES];
        header[..fields.len()].copy_from_slice(&fields);
        if let Some(anchor) = self.anchor {
            header[ANCHOR_AT..ANCHOR_AT + 8].copy_from_slice(&anchor.sequence.to_le_bytes());
            header[ANCHOR_AT + 8..CHECKSUM_AT].copy_from_slice(&anchor.hash.0);
        }
        let checksum = crc32c::crc32c(&header[..CHECKSUM_AT]);
        header[CHECKSUM_AT..].copy_from_slice(&checksum.to_le_bytes());
        Ok(header)
    }

    pub(crate) fn decode(bytes: &[u8; HEADER_BYTES]) -> Result<Self, String> {
        if bytes[..8] != MAGIC {
            return Err("it does not begin like a snapshot".to_owned());
        }
        if bytes[CHECKSUM_AT..] != crc32c::crc32c(&bytes[..CHECKSUM_AT]).to_le_bytes() {
            return Err("the checksum of the header does not match".to_owned());
        }
        let version = u32::from_le_bytes(field(bytes, 8));
        if version != VERSION {
            return Err(format!("format version {version} is not known, this program reads {VERSION}"));
        }
        let build = bytes[BUILD_AT..CHECKSUM_AT].split(|byte| *byte == 0).next().unwrap_or_default();
        let anchor = ChainAnchor {
            sequence: u64::from_le_bytes(field(bytes, ANCHOR_AT)),
            hash: ChainHash(field(bytes, ANCHOR_AT + 8)),
        };
        Ok(Self {
            instance: InstanceId(field(bytes, 16)),
            sequence: u64::from_le_bytes(field(bytes, 32)),
            length: u64::from_le_bytes(field(bytes, 40)),
            digest: field(bytes, 48),
            build: String::from_utf8_lossy(build).into_owned(),
            anchor: Some(anchor).filter(|anchor| anchor.sequence > 0 && build.len() <= BUILD_BYTES_MAX),
        })
    }

    /// A valid snapshot of another instance, or under a wrong name, is as useless as a damaged one.
    pub(crate) fn check_belongs(&self, instance: InstanceId, sequence: u64) -> Result<(), String> {
        if self.instance != instance {
            return Err(format!("it belongs to instance {}, not {instance}", self.instance));
        }
        if self.sequence != sequence {
            return Err(format!("the file is named for another sequence than its header, {}", self.sequence));
        }
        Ok(())
    }
}
