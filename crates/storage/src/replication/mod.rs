//! Replication of the journal: the port to a log that several machines share, and what every user of it must check.
//!
//! ```text
//! leader:   sealed frame ▸ ReplicatedLog (chain, epoch, one in flight) ▸ LogStore ▸ machines
//! follower: machines ▸ LogStore ▸ ReplicatedLog (LogCursor: chain, epoch) ▸ sealed frame
//! ```
//!
//! [`LogFollower`] is one process: it reads the log into a journal of its own, and may lead. [`QuorumLog`] has the verbs that the rest of the program sees. [`LogStore`] has the three calls that an engine such as
//! JetStream must offer. [`ReplicatedLog`] makes the one from the other, so that the rules of safety are written once.
//!
//! What counts:
//! * only a conditional append decides; what the log says about itself decides nothing;
//! * one entry is in flight: a second one behind it could be accepted behind the epoch of another leader;
//! * an unknown outcome is settled by the same entry under the same message id, as often as it takes;
//! * a reader believes our own checksums, hashes and epochs only.

mod types;
mod entry;
mod event;
mod cursor;
mod port;
mod store;
mod beginning;
mod replicated_log;
mod member;

#[cfg(test)]
mod tests;

pub use beginning::{begin_empty_log, beginning_of};
pub use cursor::{EntryFault, LogCursor};
pub use entry::{LogEntry, LogPayload};
pub use event::{DropReason, LogBeginning, LogEvent};
pub use member::cursor_file::{
    KnownEpoch, is_member_folder, join_cluster, join_rebuilt_log, known_epoch, leave_cluster,
};
pub use member::follow_error::FollowError;
pub use member::follower::{Leading, LogFollower, UNFINISHED};
pub use member::rebuild::{LogRebuild, epoch_of_rebuilt_log};
pub use member::standbys::{StandbyReport, StandbyState};
pub use member::status::{ReplicationState, ReplicationStatus};
pub use member::trimming::TrimSettings;
pub use port::{LogError, LogOutcome, LogRefusal, QuorumLog, UnknownCause};
pub use replicated_log::ReplicatedLog;
pub use store::{LoadReply, LogStore, StoreReply};
pub use types::{CandidateId, Epoch, LogPosition, MemberId, MessageId};
