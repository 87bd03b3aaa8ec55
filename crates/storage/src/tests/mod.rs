//! What the tests of several parts share.

pub(crate) mod recording_disk;
