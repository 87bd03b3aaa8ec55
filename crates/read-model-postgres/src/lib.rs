//! Read model in PostgreSQL, for teams: the rows of the SQLite file, with columns that a person can read, and views for
//! reports.
//!
//! A server that is slow, down or restarted holds nothing up: the writing half reports what is wrong, is connected again,
//! and the read model reads what it missed from the journal.

mod failure;
mod connection;
mod numeric;
mod cell;
mod checksum;
mod schema;
mod copy_rows;
mod row_store;
mod search;
mod value_samples;
mod readers;
mod history;

pub use connection::url::PostgresUrl;
pub use connection::{CONNECT_WAIT_MAX, Database, QUERY_WAIT_MAX, WRITE_WAIT_MAX};
pub use history::PostgresRows;
pub use row_store::{InputTimes, PostgresRowStore};
