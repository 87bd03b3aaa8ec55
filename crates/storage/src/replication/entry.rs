//! Entries of the log:
//!
//! ```text
//! magic [4] · version u16 · kind u8 · zero u8 · instance [16] · epoch u64 · body · checksum u32 over all before
//! kind 1, epoch record: candidate [16] · last sequence u64 · hash of the last frame [32]
//! kind 2, frame:        length of the segment's header u32 (0 or 128) · header · frame, byte for byte
//! kind 3, mark:         as an epoch record; the leader of the epoch, zeros before the first leader
//! ```
//!
//! All numbers are little-endian. The frame has a checksum of its own; this one also covers the epoch.

use super::types::{CandidateId, Epoch};
use crate::bytes::field;
use crate::journal::{ChainAnchor, ChainHash, InstanceId, SealedFrame, SegmentHeaderBytes};

const MAGIC: [u8; 4] = *b"RLOG";
const VERSION: u16 = 1;
const HEAD_BYTES: usize = 4 + 2 + 1 + 1 + 16 + 8;
const CHECKSUM_BYTES: usize = 4;
const EPOCH_RECORD: u8 = 1;
const FRAME: u8 = 2;
const MARK: u8 = 3;
const EPOCH_BODY_BYTES: usize = 16 + 8 + 32;
/// Stands for a leader where there is none.
const NOBODY: CandidateId = CandidateId([0; 16]);

/// One entry, of one journal and one epoch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    pub instance: InstanceId,
    pub epoch: Epoch,
    pub payload: LogPayload,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogPayload {
    /// A candidate leads from here on. It has read everything up to `after`, and goes on from there.
    EpochRecord {
        candidate: CandidateId,
        after: ChainAnchor,
    },
    Frame(SealedFrame),
    /// The journal is at `after`, and the epoch at its leader; nothing changes. A log may begin here: whoever has the journal up
    /// to there finds its place.
    Mark {
        leader: Option<CandidateId>,
        after: ChainAnchor,
    },
}

impl LogEntry {
    /// No entry is longer.
    pub const BYTES_MAX: usize = HEAD_BYTES + 4 + SealedFrame::BYTES_MAX + CHECKSUM_BYTES;

    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD_BYTES + EPOCH_BODY_BYTES + CHECKSUM_BYTES);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&[self.kind(), 0]);
        bytes.extend_from_slice(&self.instance.0);
        bytes.extend_from_slice(&self.epoch.0.to_le_bytes());
        self.payload.encode(&mut bytes);
        let checksum = crc32c::crc32c(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes
    }

    fn kind(&self) -> u8 {
        match self.payload {
            LogPayload::EpochRecord { .. } => EPOCH_RECORD,
            LogPayload::Frame(_) => FRAME,
            LogPayload::Mark { .. } => MARK,
        }
    }

    pub fn decode(bytes: &[u8]) -> Result<Self, String> {
        let Some((content, checksum)) = bytes.split_last_chunk::<CHECKSUM_BYTES>() else {
            return Err("it is too short for an entry".to_owned());
        };
        if content.len() < HEAD_BYTES || content[..4] != MAGIC {
            return Err("it does not begin like an entry of this log".to_owned());
        }
        if *checksum != crc32c::crc32c(content).to_le_bytes() {
            return Err("the checksum does not match".to_owned());
        }
        let version = u16::from_le_bytes(field(content, 4));
        if version != VERSION {
            return Err(format!("format version {version} is not known, this program reads {VERSION}"));
        }
        let payload = LogPayload::decode(content[6], &content[HEAD_BYTES..])?;
        let epoch = Epoch(u64::from_le_bytes(field(content, 24)));
        Ok(Self { instance: InstanceId(field(content, 8)), epoch, payload })
    }
}

impl LogPayload {
    fn encode(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::EpochRecord { candidate, after } => encode_place(bytes, *candidate, after),
            Self::Mark { leader, after } => encode_place(bytes, leader.unwrap_or(NOBODY), after),
            Self::Frame(frame) => {
                let header: &[u8] = frame.segment.as_ref().map_or(&[], |header| header);
                let length = u32::try_from(header.len()).expect("a header has 128 bytes");
                bytes.extend_from_slice(&length.to_le_bytes());
                bytes.extend_from_slice(header);
                bytes.extend_from_slice(&frame.bytes);
            }
        }
    }

    fn decode(kind: u8, body: &[u8]) -> Result<Self, String> {
        match kind {
            EPOCH_RECORD => decode_place(body).map(|(candidate, after)| Self::EpochRecord { candidate, after }),
            MARK => decode_place(body).map(|(leader, after)| {
                let leader = (leader != NOBODY).then_some(leader);
                Self::Mark { leader, after }
            }),
            FRAME => decode_frame(body).map(Self::Frame).ok_or_else(|| "the frame is cut".to_owned()),
            _ => Err(format!("entries of kind {kind} are not known")),
        }
    }
}

/// A candidate, and where the journal is.
fn encode_place(bytes: &mut Vec<u8>, candidate: CandidateId, after: &ChainAnchor) {
    bytes.extend_from_slice(&candidate.0);
    bytes.extend_from_slice(&after.sequence.to_le_bytes());
    bytes.extend_from_slice(&after.hash.0);
}

fn decode_place(body: &[u8]) -> Result<(CandidateId, ChainAnchor), String> {
    if body.len() != EPOCH_BODY_BYTES {
        return Err(format!("an epoch record or a mark has {EPOCH_BODY_BYTES} bytes, not {}", body.len()));
    }
    let after = ChainAnchor { sequence: u64::from_le_bytes(field(body, 16)), hash: ChainHash(field(body, 24)) };
    Ok((CandidateId(field(body, 0)), after))
}

fn decode_frame(body: &[u8]) -> Option<SealedFrame> {
    let (length, rest) = body.split_first_chunk::<4>()?;
    if u32::from_le_bytes(*length) == 0 {
        return Some(SealedFrame { segment: None, bytes: rest.to_vec() });
    }
    let (header, rest) = rest.split_first_chunk::<{ size_of::<SegmentHeaderBytes>() }>()?;
    let is_whole = u32::from_le_bytes(*length) as usize == header.len();
    is_whole.then(|| SealedFrame { segment: Some(*header), bytes: rest.to_vec() })
}
