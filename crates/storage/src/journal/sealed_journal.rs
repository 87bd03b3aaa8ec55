//! Sealed journal: the journal of a follower. It takes frames that another process sealed and writes the same bytes, so that both
//! folders are equal by `cmp`.

use std::sync::Arc;

use super::format::chain::InstanceId;
use super::format::frame::JournalFrame;
use super::format::sealed_frame::{FrameChain, SealedFrame};
use super::release::release_gate::ReleaseGate;
use super::replicator::FrameReplicator;
use super::writer::JournalWriter;
use super::{Journal, JournalMonitor};
use crate::StorageError;
use crate::block::HEAD_BYTES;

pub struct SealedJournal {
    journal: Journal,
    writer: JournalWriter,
    chain: FrameChain,
}

impl SealedJournal {
    pub(crate) fn new(instance: InstanceId, journal: Journal, writer: JournalWriter) -> Self {
        let end = writer.open.as_ref().map(|open| (open.number, open.capacity, open.position));
        let chain = FrameChain::resume(instance, end, writer.end());
        Self { journal, writer, chain }
    }

    /// What the next frame must continue.
    pub fn chain(&self) -> &FrameChain {
        &self.chain
    }

    /// Writes the next frame. It counts after the next [`Self::sync`]. One that does not continue the last one is refused, and nothing
    /// changes.
    pub fn append(&mut self, frame: &SealedFrame) -> Result<(), StorageError> {
        let refused = |reason: String| StorageError::Failed { reason };
        let chain = self.chain.with(frame).map_err(|error| refused(error.to_string()))?;
        self.writer.write_sealed(frame, chain.head())?;
        let checked = JournalFrame::parse(&frame.bytes[HEAD_BYTES..]).map_err(|reason| refused(reason.to_owned()))?;
        self.writer.shared.record_frame(checked.count, frame.bytes.len());
        self.chain = chain;
        Ok(())
    }

    /// Makes durable what was appended.
    pub fn sync(&mut self) -> Result<(), StorageError> {
        self.writer.sync_sealed()
    }

    pub fn monitor(&self) -> JournalMonitor {
        self.journal.monitor()
    }

    /// What this process seals from here on counts when the gate lets it through. What the journal has counts already.
    pub(crate) fn hold_back(&mut self) -> Arc<ReleaseGate> {
        let gate =
            ReleaseGate::new(self.writer.shared.clone(), self.writer.notifier.clone(), self.writer.end().sequence);
        self.writer.gate.insert(Arc::new(gate)).clone()
    }

    /// From here on this process seals the frames: the journal of a leader, whose frames the replicator copies.
    pub fn lead(self, replicator: Box<dyn FrameReplicator>) -> Result<Journal, StorageError> {
        let Self { mut journal, mut writer, chain } = self;
        writer.sync_sealed()?;
        journal.last_sequence = chain.head().sequence;
        writer.replicator = Some(replicator);
        let folder = writer.folder.clone();
        journal.spawn(writer).map_err(StorageError::io("start a thread for", &folder))?;
        Ok(journal)
    }
}
