//! Journal record kinds: inputs, sequence reservations, ledger records, delivery logs, pulses of a cluster's leader.

use domain::encoding::encode_to_vec;
use domain::{Input, Timestamp};
use storage::journal::{JournalRecord, SealedFrame};

use crate::simulation::RunDigest;

/// The first byte of a journal record is its kind; values are never reused.
pub(crate) const INPUT: u8 = 1;
pub(crate) const RESERVATION: u8 = 2;
pub(crate) const LEDGER: u8 = 3;
pub(crate) const DELIVERY_LOG: u8 = 4;
pub(crate) const PULSE: u8 = 5;

/// About what most inputs have; what an order has is less.
const INPUT_BYTES: usize = 128;

/// A record or snapshot in an unknown encoding.
#[derive(Debug)]
pub(crate) struct UnreadableRecord(pub(crate) String);

pub(crate) fn input(sequence: u64, input: &Input) -> JournalRecord {
    JournalRecord { sequence, kind: INPUT, payload: encode_to_vec(input, INPUT_BYTES) }
}

pub(crate) fn decode_input(payload: &[u8]) -> Result<Input, UnreadableRecord> {
    minicbor::decode(payload).map_err(|error| UnreadableRecord(error.to_string()))
}

pub(crate) fn reservation(sequence: u64, up_to: u64) -> JournalRecord {
    JournalRecord { sequence, kind: RESERVATION, payload: up_to.to_be_bytes().into() }
}

pub(crate) fn decode_reservation(payload: &[u8]) -> Result<u64, UnreadableRecord> {
    let bytes = payload.try_into().map_err(|_| UnreadableRecord("a reservation has eight bytes".into()))?;
    Ok(u64::from_be_bytes(bytes))
}

pub(crate) fn ledger(sequence: u64, payload: Vec<u8>) -> JournalRecord {
    JournalRecord { sequence, kind: LEDGER, payload }
}

pub(crate) fn delivery_log(sequence: u64, payload: Vec<u8>) -> JournalRecord {
    JournalRecord { sequence, kind: DELIVERY_LOG, payload }
}

/// The leader of a cluster leads still, also where nothing happens.
#[derive(Debug, Clone, PartialEq, Eq, minicbor::Encode, minicbor::Decode)]
#[cbor(map)]
pub(crate) struct Pulse {
    /// Of its state before this record, where it is due: the followers compare theirs.
    #[n(0)]
    pub(crate) digest: Option<String>,
    /// The leader of this epoch stops in order: nothing goes to a venue behind this record, so that a follower may lead at once. A
    /// record that no majority had may come again in a later epoch of the same server, in which it counts no more.
    #[n(1)]
    pub(crate) resigns: Option<u64>,
}

/// The epoch whose leader has stopped in order, where a frame ends with its last record.
pub fn resigned_epoch(frame: &SealedFrame) -> Option<u64> {
    let last = frame.records().last().filter(|entry| entry.kind == PULSE)?;
    decode_pulse(last.payload).ok()?.resigns
}

pub(crate) fn pulse(sequence: u64, pulse: &Pulse) -> JournalRecord {
    JournalRecord { sequence, kind: PULSE, payload: minicbor::to_vec(pulse).expect("a vector takes everything") }
}

pub(crate) fn decode_pulse(payload: &[u8]) -> Result<Pulse, UnreadableRecord> {
    minicbor::decode(payload).map_err(|error| UnreadableRecord(error.to_string()))
}

/// A snapshot holds the engine's state, the ledger, and the digest so far.
pub(crate) fn snapshot(parts: &SnapshotParts<'_>) -> Vec<u8> {
    let SnapshotParts { engine, ledger, reserved, digest, at } = parts;
    let digest = digest.as_ref().map(RunDigest::encode);
    let room = engine.len() + ledger.len() + digest.as_ref().map_or(0, Vec::len) + 48;
    let mut encoder = minicbor::Encoder::new(Vec::with_capacity(room));
    let written = encoder
        .array(5)
        .and_then(|e| e.bytes(engine))
        .and_then(|e| e.bytes(ledger))
        .and_then(|e| e.u64(*reserved))
        .and_then(|e| match &digest {
            Some(digest) => e.bytes(digest),
            None => e.null(),
        })
        .and_then(|e| e.i64(at.0))
        .map(drop);
    written.expect("a vector takes everything");
    encoder.into_writer()
}

pub(crate) struct SnapshotParts<'a> {
    pub(crate) engine: &'a [u8],
    pub(crate) ledger: &'a [u8],
    pub(crate) reserved: u64,
    /// Over everything so far; absent where the journal began under a build that did not keep it.
    pub(crate) digest: Option<RunDigest>,
    /// The time of the newest journal record; 0 in snapshots of builds that did not keep it.
    pub(crate) at: Timestamp,
}

pub(crate) fn decode_snapshot(bytes: &[u8]) -> Result<SnapshotParts<'_>, UnreadableRecord> {
    let unreadable = |error: minicbor::decode::Error| UnreadableRecord(error.to_string());
    let mut decoder = minicbor::Decoder::new(bytes);
    let parts = decoder.array().map_err(unreadable)?;
    let engine = decoder.bytes().map_err(unreadable)?;
    let ledger = decoder.bytes().map_err(unreadable)?;
    let reserved = decoder.u64().map_err(unreadable)?;
    // The first builds wrote three parts, later ones four.
    let digest = match (parts, decoder.datatype()) {
        (Some(3), _) => None,
        (_, Ok(minicbor::data::Type::Null)) => decoder.null().map(|()| None).map_err(unreadable)?,
        _ => RunDigest::decode(decoder.bytes().map_err(unreadable)?),
    };
    let at = if parts == Some(5) { decoder.i64().map_err(unreadable)? } else { 0 };
    Ok(SnapshotParts { engine, ledger, reserved, digest, at: Timestamp(at) })
}
