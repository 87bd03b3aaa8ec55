//! One server of a cluster: the file that describes the cluster, the connection to its log, the thread that reads the log and may
//! lead, and what the rest of the program may know of it.
//!
//! ```text
//! log ▸ LogMember (own journal) ▸ follower's engine;  no entry for `takeoverMillis` ▸ epoch record ▸ leader
//! ```

/// `rialto ha …`.
pub mod ha_command;
/// The file of `--cluster`.
pub mod cluster_file;
/// By which id a process leads.
mod candidate;
/// The lag of a follower, and what keeps it from its part.
mod follower_health;
/// Who leads, and how far this server is.
pub mod cluster_state;
/// Whether this member may lead now.
mod lead_conditions;
/// What members tell each other of themselves.
pub(crate) mod member_status;
/// The whole cluster as this member knows it.
mod overview;
/// The connection to the log.
pub mod log_connection;
/// Commands from followers to the leader.
pub(crate) mod command_forwarding;
/// The kill switch of a follower.
pub(crate) mod follower_kill;
/// Prices from the leader to its followers.
pub(crate) mod price_feed;
/// The data folder of a member, outside of the cluster.
pub(crate) mod member_folder;
/// The reader of the log, which may lead.
pub mod log_member;
