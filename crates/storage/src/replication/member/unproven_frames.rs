//! Unproven frames: those of the own journal that the log has not shown yet.

use std::path::Path;

use crate::StorageError;
use crate::journal::{JournalReader, SealedFrame};

/// Frames in their order, read from the journal while it is not written.
#[derive(Default)]
pub(crate) struct UnprovenFrames {
    /// None when there are no more.
    reader: Option<JournalReader>,
    /// The first of them, which was read to find the place.
    first: Option<SealedFrame>,
}

impl UnprovenFrames {
    /// The frames of a journal behind a sequence.
    pub(crate) fn behind(folder: &Path, sequence: u64) -> Result<Self, StorageError> {
        let mut reader = JournalReader::open(folder, sequence.saturating_add(1))?;
        while let Some(frame) = reader.next_sealed()? {
            if frame.last_sequence()? > sequence {
                return Ok(Self { reader: Some(reader), first: Some(frame) });
            }
        }
        Ok(Self::default())
    }

    /// The next one. After the last there are no more, also when the journal grows.
    pub(crate) fn take(&mut self) -> Result<Option<SealedFrame>, StorageError> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        let Some(reader) = &mut self.reader else { return Ok(None) };
        let next = reader.next_sealed()?;
        if next.is_none() {
            self.reader = None;
        }
        Ok(next)
    }
}
