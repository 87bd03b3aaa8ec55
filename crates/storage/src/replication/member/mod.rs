//! One process of a cluster: it follows the log with a journal of its own, and may lead.

pub(crate) mod cursor_file;
pub(crate) mod follower;
pub(crate) mod log_replicator;
pub(crate) mod standbys;
pub(crate) mod status;
pub(crate) mod unproven_frames;
