//! Pool of read-only SQLite connections. In write-ahead mode they see the last commit and never block the writer.

use std::path::{Path, PathBuf};
use std::time::Duration;

use bus::history::HistoryError;
use crossbeam_channel::{Receiver, Sender, bounded};
use rusqlite::{Connection, OpenFlags};

use super::file;

pub(crate) struct ReaderPool {
    path: PathBuf,
    idle: Receiver<Connection>,
    back: Sender<Connection>,
}

impl ReaderPool {
    pub(crate) fn open(path: &Path, count: usize) -> rusqlite::Result<Self> {
        let (back, idle) = bounded(count);
        for _ in 0..count {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            back.send(Connection::open_with_flags(path, flags)?).expect("the channel has room for all of them");
        }
        Ok(Self { path: path.to_owned(), idle, back })
    }

    /// Runs a query on a free connection, waiting for one.
    pub(crate) fn query<T>(
        &self,
        patience: Duration,
        question: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, HistoryError> {
        let idle = self.idle.recv_timeout(patience).map_err(|_| HistoryError::Busy)?;
        let reader = PooledConnection { connection: Some(idle), back: &self.back };
        let answer = reader.connection.as_ref().map(question);
        answer.expect("it is there until it is dropped").map_err(|error| {
            file::mark_if_damaged(&self.path, &error);
            HistoryError::Failed(format!("the read model cannot be read: {error}"))
        })
    }
}

/// Returned to the pool however the query ends.
struct PooledConnection<'a> {
    connection: Option<Connection>,
    back: &'a Sender<Connection>,
}

impl Drop for PooledConnection<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            // There is room: it came from there.
            let _ = self.back.try_send(connection);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_has_no_turn_in_time_is_told_that_too_many_ask() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.sqlite");
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE one (two)").unwrap();
        let readers = ReaderPool::open(&path, 1).unwrap();
        let soon = Duration::from_millis(1);
        let asked = readers.query(soon, |_| Ok(readers.query(soon, |_| Ok(()))));
        assert!(matches!(asked, Ok(Err(HistoryError::Busy))), "{asked:?}");
        assert!(readers.query(soon, |_| Ok(())).is_ok());
    }
}
