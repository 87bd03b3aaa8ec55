//! Read model in SQLite: a file in the data folder.

pub(crate) mod file;
pub(crate) mod remembered;
pub(crate) mod schema;
pub(crate) mod checksum;
mod row_store;
mod rows;
mod readers;
mod history;
pub(crate) mod search;
mod value_search;

pub(crate) use history::SqliteRows;
pub(crate) use row_store::SqliteRowStore;
