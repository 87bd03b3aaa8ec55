//! Planted bugs: known faults behind switches, to prove that the simulator finds them. Without the feature `planted-bugs`, which no
//! release has, every switch is a constant that is off, and nothing of this is in the program.

/// A fault that the simulator must find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlantedBug {
    /// The journal says durable before it has synced.
    AcknowledgeBeforeSync,
    /// The head file is written before the sync that it tells of.
    HeadBeforeSync,
    /// A frame at the end of the journal counts though its checksum is wrong.
    AcceptTornEnd,
    /// A new segment gets its name before its header is synced.
    UnsyncedSegmentHeader,
    /// The gate releases one input too many.
    ReleaseAtWrongSequence,
    /// A refusal is never sent.
    DropRefusal,
    /// A snapshot is written before its inputs are durable.
    SnapshotAheadOfJournal,
    /// One fill in eight is not booked.
    ForgetFill,
    /// A fill that is reported twice is booked twice.
    BookRepeatedFill,
    /// Some orders get the number of the one before.
    ReuseOrderNumber,
    /// Fills that only an answer of the venue tells (snapshot, list, inquiry) are left out.
    SkipReconciledFills,
    /// A simulated venue reports before its ledger is synced.
    UnsyncedVenueLedger,
}

impl PlantedBug {
    /// All faults, in the order of the enum.
    pub const ALL: [Self; 12] = [
        Self::AcknowledgeBeforeSync,
        Self::HeadBeforeSync,
        Self::AcceptTornEnd,
        Self::UnsyncedSegmentHeader,
        Self::ReleaseAtWrongSequence,
        Self::DropRefusal,
        Self::SnapshotAheadOfJournal,
        Self::ForgetFill,
        Self::BookRepeatedFill,
        Self::ReuseOrderNumber,
        Self::SkipReconciledFills,
        Self::UnsyncedVenueLedger,
    ];

    /// Whether the fault is switched on for this thread.
    #[cfg(feature = "planted-bugs")]
    pub fn is_planted(self) -> bool {
        switches::PLANTED.get() == Some(self)
    }

    /// Never: this build has no faults on purpose.
    #[cfg(not(feature = "planted-bugs"))]
    pub const fn is_planted(self) -> bool {
        false
    }
}

#[cfg(feature = "planted-bugs")]
mod switches {
    use std::cell::Cell;

    use super::PlantedBug;

    thread_local! {
        pub(super) static PLANTED: Cell<Option<PlantedBug>> = const { Cell::new(None) };
    }
}

/// Switches one fault on for this thread, and all others off.
#[cfg(feature = "planted-bugs")]
pub fn plant(bug: Option<PlantedBug>) {
    switches::PLANTED.set(bug);
}
