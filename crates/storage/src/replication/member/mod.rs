//! One process of a cluster: it follows the log with a journal of its own, and may lead.

pub(crate) mod cursor_file;
pub(crate) mod follow_error;
pub(crate) mod follower;
pub(crate) mod log_place;
pub(crate) mod log_replicator;
pub(crate) mod rebuild;
pub(crate) mod standbys;
pub(crate) mod status;
pub(crate) mod trimming;
pub(crate) mod unproven_frames;
