//! Fork of the journal: frames at the end that the other machines do not have, because another leader went on before them. They were
//! never acknowledged, and are cut once the log has proven it.

use std::fs;
use std::path::Path;

use super::loss::cut;
use crate::StorageError;
use crate::journal::FOLDER;
use crate::journal::format::chain::{ChainAnchor, InstanceId};
use crate::journal::format::segment::{self, Segment};
use crate::journal::format::segment_reader::SegmentReader;
use crate::journal::head;
use crate::journal::reader::chain_at;
use crate::lock::DataDirLock;

/// Cuts the journal behind the frame `last`, which must be one of its frames; files that lose something are kept in `aside`, a folder
/// of the same data folder. A crash in between leaves a journal that is cut again by the same call.
///
/// The head is noted once a majority has a frame. Where it knows a later one, that was acknowledged: the log has lost it, or the
/// journal was written outside of the cluster. Nothing is cut then.
pub fn cut_fork(lock: &DataDirLock, instance: InstanceId, last: ChainAnchor, aside: &Path) -> Result<(), StorageError> {
    let folder = lock.folder().join(FOLDER);
    if chain_at(&folder, instance, last)?.is_none() {
        let reason = format!("the journal has no frame {} that ends at sequence {}", last.hash, last.sequence);
        return Err(StorageError::Failed { reason });
    }
    if let Some(head) = head::read(&folder)?.filter(|head| head.sequence > last.sequence) {
        let (known, last) = (head.sequence, last.sequence);
        let reason = format!(
            "the log goes on differently behind sequence {last}, but the journal was acknowledged up to {known}: either the log has \
             lost entries, or this folder was used outside of the cluster. Nothing is cut"
        );
        return Err(StorageError::Failed { reason });
    }
    let end = segment_end(&folder, last)?;
    let failed = || StorageError::io("cut the end of", &folder);
    let aside = aside.join(FOLDER);
    fs::create_dir_all(&aside).map_err(failed())?;
    cut(&folder, &aside, end.as_ref()).map_err(failed())
}

/// The segment of a frame, and where the frame ends in it.
fn segment_end(folder: &Path, last: ChainAnchor) -> Result<Option<(Segment, u64)>, StorageError> {
    let listed = segment::list(folder)?;
    let Some((_, path)) = listed.into_iter().rev().find(|(first, _)| *first <= last.sequence) else { return Ok(None) };
    let (segment, file) = Segment::open(path)?;
    let mut frames = SegmentReader::new(segment.clone(), file)?;
    while let Ok(frame) = frames.step()? {
        if frame.last >= last.sequence {
            return Ok(Some((segment, frames.offset())));
        }
    }
    Ok(None)
}
