//! Data folders that earlier releases wrote. A run may begin with one of them: then this build opens it as an upgrade does, with its
//! journal, snapshots and ledgers of venues, and clients trade on.

mod archive;
mod earlier_folder;
mod recorded;
mod replayed_state;
mod shown;

pub(crate) use earlier_folder::EarlierFolder;
pub(crate) use recorded::RELEASES;
pub(crate) use replayed_state::ReplayedState;
