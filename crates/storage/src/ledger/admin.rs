//! Records of administration in the Ledger: users, tokens and settings are held here; rows of the audit are passed on to the view
//! of the audit.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use domain::admin::{AdminRecord, AdminState};
use minicbor::bytes::ByteVec;

use super::operation::LedgerOperation;
use super::record_map::RecordMap;
use crate::StorageError;
use crate::journal::{self, JournalReader};

/// Records that may wait for the view. With one more it gets none until the next start, when it reads them from the journal.
const ADMIN_RECORDS_MAX: usize = 4_096;

/// As the runtime writes it: the kind of a journal record that is one of the Ledger.
const LEDGER_KIND: u8 = 3;

/// A record with its sequence.
pub type SequencedAdminRecord = (u64, AdminRecord);

/// Streams by name, as they are in a snapshot.
type ExportedStreams = BTreeMap<String, BTreeMap<u64, ByteVec>>;

/// Where durable records go.
#[derive(Default)]
pub(super) struct AdminFollower(Mutex<Option<SyncSender<SequencedAdminRecord>>>);

impl AdminFollower {
    pub(super) fn begin(&self) -> Receiver<SequencedAdminRecord> {
        let (sender, receiver) = sync_channel(ADMIN_RECORDS_MAX);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        receiver
    }

    /// Never waits: the caller is the engine.
    pub(super) fn send(&self, sequence: u64, record: AdminRecord) {
        let mut follower = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if follower.as_ref().is_some_and(|follower| follower.try_send((sequence, record)).is_err()) {
            tracing::error!(sequence, "the audit cannot be shown any more until the next start: its view is too slow");
            *follower = None;
        }
    }
}

/// A record as the journal holds it, for commands that append one without a server.
pub fn admin_record(record: AdminRecord) -> Vec<u8> {
    minicbor::to_vec(LedgerOperation::Admin(record)).expect("a vector takes every byte")
}

/// The records of administration after a sequence and up to another, in their order.
pub fn read_admin_records(
    data_folder: &Path,
    after: u64,
    up_to: u64,
    visit: &mut dyn FnMut(SequencedAdminRecord),
) -> Result<(), StorageError> {
    let folder = data_folder.join(journal::FOLDER);
    let floor = journal::read_floor(&folder)?.map_or(0, |floor| floor.sequence);
    if after < floor {
        tracing::warn!(
            after,
            floor,
            "rows of the audit were in records that were deleted from the archive; a backup has them"
        );
    }
    let mut source = JournalReader::open(&folder, after.max(floor) + 1)?;
    while let Some(entry) = source.read_to(up_to)? {
        if entry.kind == LEDGER_KIND
            && let Ok(LedgerOperation::Admin(record)) = minicbor::decode(entry.payload)
        {
            visit((entry.sequence, record));
        }
    }
    Ok(())
}

/// Where there is nothing of administration, it is as it always was. Otherwise it is a list, which builds that know nothing of
/// administration cannot read: they would let everybody in.
pub(super) fn encode_export(streams: &BTreeMap<&str, &RecordMap>, admin: &AdminState) -> Vec<u8> {
    let encoded =
        if *admin == AdminState::default() { minicbor::to_vec(streams) } else { minicbor::to_vec((streams, admin)) };
    encoded.expect("a vector takes every byte")
}

pub(super) fn decode_export(exported: &[u8]) -> Result<(ExportedStreams, Arc<AdminState>), String> {
    let unreadable = |error: minicbor::decode::Error| format!("not an export of the Ledger: {error}");
    let is_list = matches!(minicbor::Decoder::new(exported).datatype(), Ok(minicbor::data::Type::Array));
    if !is_list {
        return minicbor::decode(exported).map(|streams| (streams, Arc::default())).map_err(unreadable);
    }
    let (streams, admin): (ExportedStreams, AdminState) = minicbor::decode(exported).map_err(unreadable)?;
    Ok((streams, Arc::new(admin)))
}
