//! Entries: what is encoded is read, and nothing else. The rules of the port have a crate of their own, `replication-contract`.

use super::*;
use crate::journal::{ChainAnchor, ChainHash, InstanceId, SealedFrame};

const INSTANCE: InstanceId = InstanceId([7; 16]);

fn entries() -> Vec<LogEntry> {
    let after = ChainAnchor { sequence: 42, hash: ChainHash([3; 32]) };
    let payloads = [
        LogPayload::EpochRecord { candidate: CandidateId([5; 16]), after },
        LogPayload::Mark { leader: Some(CandidateId([6; 16])), after },
        LogPayload::Mark { leader: None, after: ChainAnchor::START },
        LogPayload::Frame(SealedFrame { segment: None, bytes: b"a frame".to_vec() }),
        LogPayload::Frame(SealedFrame { segment: Some([1; 128]), bytes: b"the first of a segment".to_vec() }),
    ];
    payloads.map(|payload| LogEntry { instance: INSTANCE, epoch: Epoch(9), payload }).to_vec()
}

#[test]
fn what_is_encoded_is_decoded() {
    for entry in entries() {
        assert_eq!(LogEntry::decode(&entry.encode()), Ok(entry));
    }
}

#[test]
fn every_flipped_bit_and_every_cut_of_an_entry_is_seen() {
    for good in entries().iter().map(LogEntry::encode) {
        for bit in 0..good.len() * 8 {
            let mut bytes = good.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(LogEntry::decode(&bytes).is_err(), "{bit}");
        }
        (0..good.len()).for_each(|length| assert!(LogEntry::decode(&good[..length]).is_err(), "{length}"));
    }
}

#[test]
fn a_version_and_a_kind_that_are_not_known_are_named() {
    let changed = |at: usize, to: u8| {
        let mut bytes = entries()[0].encode();
        bytes.truncate(bytes.len() - 4);
        bytes[at] = to;
        let checksum = crc32c::crc32c(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        LogEntry::decode(&bytes).unwrap_err()
    };
    assert_eq!(changed(4, 2), "format version 2 is not known, this program reads 1");
    assert_eq!(changed(6, 4), "entries of kind 4 are not known");
    assert_eq!(changed(6, 2), "the frame is cut");
    assert_eq!(changed(0, b'X'), "it does not begin like an entry of this log");
}

#[test]
fn message_ids_tell_candidates_epochs_positions_and_frames_apart() {
    let ids = [
        MessageId::of_epoch_record(Epoch(1), CandidateId([1; 16]), LogPosition(4)),
        MessageId::of_epoch_record(Epoch(1), CandidateId([2; 16]), LogPosition(4)),
        MessageId::of_epoch_record(Epoch(2), CandidateId([1; 16]), LogPosition(4)),
        MessageId::of_epoch_record(Epoch(1), CandidateId([1; 16]), LogPosition(5)),
        MessageId::of_frame(Epoch(1), LogPosition(4), ChainHash([1; 32])),
        MessageId::of_frame(Epoch(2), LogPosition(4), ChainHash([1; 32])),
        MessageId::of_frame(Epoch(1), LogPosition(5), ChainHash([1; 32])),
        MessageId::of_frame(Epoch(1), LogPosition(4), ChainHash([2; 32])),
        MessageId::of_mark(Epoch(1), LogPosition(4), INSTANCE, ChainHash([1; 32])),
        MessageId::of_mark(Epoch(1), LogPosition(5), INSTANCE, ChainHash([1; 32])),
        MessageId::of_mark(Epoch(1), LogPosition(4), InstanceId([8; 16]), ChainHash([1; 32])),
    ];
    let distinct: std::collections::BTreeSet<_> = ids.iter().collect();
    assert_eq!(distinct.len(), ids.len());
    assert_eq!(ids[4].as_str(), format!("frame-1-4-{}", "01".repeat(32)));
}
