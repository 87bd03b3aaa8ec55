//! What lies on disk: records in frames, frames in segments, chained by hashes.

pub(crate) mod record;
pub(crate) mod chain;
pub(crate) mod frame;
pub(crate) mod packed;
pub(crate) mod floor;
pub(crate) mod segment;
pub(crate) mod sealed_frame;
pub(crate) mod torn_frame;
pub(crate) mod segment_reader;
