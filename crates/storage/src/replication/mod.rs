//! Replication of the journal: the port to a log that several machines share, and what every user of it must check.
//!
//! ```text
//! leader:   sealed frame ▸ ReplicatedLog (chain, epoch, one in flight) ▸ LogStore ▸ machines
//! follower: machines ▸ LogStore ▸ ReplicatedLog (LogCursor: chain, epoch) ▸ sealed frame
//! ```
//!
//! [`LogFollower`] is one process: it reads the log into a journal of its own, and may lead. [`QuorumLog`] has the five verbs that the rest of the program sees. [`LogStore`] has the three calls that an engine such as
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
mod replicated_log;
mod member;

#[cfg(test)]
mod tests;

pub use cursor::{EntryFault, LogCursor};
pub use entry::{LogEntry, LogPayload};
pub use event::{DropReason, LogEvent};
pub use member::cursor_file::{is_member_folder, leave_cluster};
pub use member::follower::{FollowError, Leading, LogFollower};
pub use member::standbys::{StandbyReport, StandbyState};
pub use member::status::{ReplicationState, ReplicationStatus};
pub use port::{LogError, LogOutcome, LogRefusal, QuorumLog, UnknownCause};
pub use replicated_log::ReplicatedLog;
pub use store::{LoadReply, LogStore, StoreReply, instance_in};
pub use types::{CandidateId, Epoch, LogPosition, MemberId, MessageId};
