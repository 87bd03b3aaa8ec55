//! Planted bugs: known faults behind switches, to prove that the simulator, or another test, finds them. Without the feature
//! `planted-bugs`, which no release has, every switch is a constant that is off, and nothing of this is in the program.

/// A fault that a test must find.
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
    /// A start does not look at the head file. No disk of the simulator loses what was synced so that it looks torn: a test of a journal
    /// that lost its end finds it.
    IgnoreHead,
    /// Frames that a failed sync may have left in memory only are not written again by a recovery.
    SkipRewrite,
    /// The digest of a snapshot is not checked.
    TrustSnapshot,
    /// A snapshot says that it is one input older than it is.
    SnapshotAtWrongSequence,
    /// Answers name the sequence before their own.
    AnswerWithWrongSequence,
    /// The events of one input in 64 are published twice.
    PublishTwice,
    /// Of several events of one input in 16 the last is not published.
    LoseEvent,
    /// The answer to one accepted command in 16 is never sent.
    DropAnswer,
    /// The digest leaves out the events of one input in 64.
    DigestSkipsInput,
    /// An order id that is in use is accepted again.
    AcceptRepeatedOrderId,
    /// Commissions and fees do not reach the cash balance.
    ForgetCommission,
    /// A position is kept with the wrong sign.
    FlipPosition,
    /// A fill is booked at another price than the venue reported.
    BookWrongPrice,
    /// A fill of one order in eight is booked with the wrong side.
    BookWrongSide,
    /// One order in four is cancelled here without its venue.
    CancelLocally,
    /// An order of which nothing is known is not marked in doubt.
    ForgetInDoubt,
    /// An order in doubt is sent again though its venue shows it.
    SubmitAgain,
    /// FIX messages leave before their numbers are durable.
    SendBeforeStored,
    /// The report of one input in 16 never reaches its FIX client.
    ForgetReport,
    /// The report of one input in 64 is sent to its FIX client twice.
    RepeatReport,
    /// A STOMP subscription that goes on behind an event does not get the past events of one input in 16.
    LeaveOutAtResume,
    /// A STOMP subscription that goes on behind an event begins one input too early.
    RepeatAtResume,
    /// A venue that has not answered is asked again without a pause.
    AskWithoutPause,
    /// A snapshot leaves out users, tokens and settings.
    ForgetUsers,
    /// Value samples show cash before costs.
    SampleBeforeCosts,
    /// The id of a retired order may be used again.
    ForgetRetiredId,
    /// Executions in a snapshot of an earlier release are forgotten.
    ForgetEarlierExecutions,
    /// A simulated venue keeps DAY orders for another day.
    KeepDayOrders,
    /// A trade that a venue busts stays booked.
    ForgetBust,
    /// A bust that is told twice is booked twice.
    RepeatBust,
    /// A trade that a venue corrects stays booked beside the new one.
    KeepCorrectedFill,
    /// A fill that a FIX venue reports once more gets another id.
    RenameRepeatedFill,
    /// A FIX venue is told that reports need not come again before the journal has them.
    ConfirmUndelivered,
    /// A token that is revoked stays valid.
    KeepRevokedToken,
    /// A password that was right a moment ago stays right when the user has another.
    KeepOldPassword,
    /// Sessions of a user go on when the user is changed or was removed and added again.
    KeepSession,
    /// Every role may do everything over HTTP.
    SkipRoleCheck,
    /// Refused log-ins and actions are not in the audit.
    ForgetRefusal,
    /// The answer to one request over HTTP in 16 is lost between the engine and the port.
    LoseHttpAnswer,
    /// HTTP says of every command that the journal stalls, which it does not.
    TellStall,
    /// One cancel in four is accepted and forgotten.
    SwallowCancel,
    /// Cash that is recorded is booked twice.
    CreditTwice,
    /// Every Logon over FIX is refused.
    RefuseLogons,
    /// An adapter sends to its venue though the lease of its server has run out. The simulator has no cluster: a test of
    /// `replication-contract` finds it.
    IgnoreLease,
}

impl PlantedBug {
    /// All faults that the simulator must find, in the order of the enum.
    pub const ALL: [Self; 54] = [
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
        Self::SkipRewrite,
        Self::TrustSnapshot,
        Self::SnapshotAtWrongSequence,
        Self::AnswerWithWrongSequence,
        Self::PublishTwice,
        Self::LoseEvent,
        Self::DropAnswer,
        Self::DigestSkipsInput,
        Self::AcceptRepeatedOrderId,
        Self::ForgetCommission,
        Self::FlipPosition,
        Self::BookWrongPrice,
        Self::BookWrongSide,
        Self::CancelLocally,
        Self::ForgetInDoubt,
        Self::SubmitAgain,
        Self::SendBeforeStored,
        Self::ForgetReport,
        Self::RepeatReport,
        Self::LeaveOutAtResume,
        Self::RepeatAtResume,
        Self::AskWithoutPause,
        Self::ForgetUsers,
        Self::SampleBeforeCosts,
        Self::ForgetRetiredId,
        Self::ForgetEarlierExecutions,
        Self::KeepDayOrders,
        Self::ForgetBust,
        Self::RepeatBust,
        Self::KeepCorrectedFill,
        Self::RenameRepeatedFill,
        Self::ConfirmUndelivered,
        Self::KeepRevokedToken,
        Self::KeepOldPassword,
        Self::KeepSession,
        Self::SkipRoleCheck,
        Self::ForgetRefusal,
        Self::LoseHttpAnswer,
        Self::TellStall,
        Self::SwallowCancel,
        Self::CreditTwice,
        Self::RefuseLogons,
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
