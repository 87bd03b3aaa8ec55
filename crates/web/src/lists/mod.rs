//! Lists: their format, their pages, and the cache of reference data.

pub(crate) mod list_format;
pub(crate) mod pagination;
pub(crate) mod list_cache;
