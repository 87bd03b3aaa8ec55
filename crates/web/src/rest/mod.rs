//! REST handlers, one file for each resource.

pub(crate) mod reference_data;
pub(crate) mod trading;
pub(crate) mod marketdata;
pub(crate) mod subscription;
pub(crate) mod users;
pub(crate) mod operations;
pub(crate) mod docs;
pub(crate) mod topic_docs;
