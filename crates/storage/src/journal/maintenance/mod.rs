//! The journal as a whole: backup and restore, the archive and its retention, the end that is cut.

pub(crate) mod archive;
pub(crate) mod copy;
pub(crate) mod fork;
pub(crate) mod loss;
pub(crate) mod prune;
