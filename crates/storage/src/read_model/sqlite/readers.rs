//! Pool of read-only SQLite connections. In write-ahead mode they see the last commit and never block the writer.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bus::history::HistoryError;
use crossbeam_channel::{Receiver, Sender, bounded};
use rusqlite::{Connection, OpenFlags};

use super::file;
use crate::read_model::progress::ApplyProgress;

pub(crate) struct ReaderPool {
    path: PathBuf,
    progress: Arc<ApplyProgress>,
    idle: Receiver<Connection>,
    back: Sender<Connection>,
}

impl ReaderPool {
    /// Damage that a query meets is reported to `progress`.
    pub(crate) fn open(path: &Path, count: usize, progress: Arc<ApplyProgress>) -> rusqlite::Result<Self> {
        let (back, idle) = bounded(count);
        for _ in 0..count {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            back.send(Connection::open_with_flags(path, flags)?).expect("the channel has room for all of them");
        }
        Ok(Self { path: path.to_owned(), progress, idle, back })
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
            let reason = format!("the read model cannot be read: {error}");
            if file::is_damage(&error) {
                self.report_damage(&error, &reason);
            }
            HistoryError::Failed(reason)
        })
    }

    fn report_damage(&self, error: &rusqlite::Error, reason: &str) {
        tracing::error!(
            file = %self.path.display(), %error,
            "read model is damaged; nothing wrong was answered, and the next start rebuilds it from the journal"
        );
        file::mark_if_damaged(&self.path, error);
        self.progress.fail(format!("{reason}; the next start rebuilds it from the journal"));
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
        let readers = ReaderPool::open(&path, 1, Arc::new(ApplyProgress::new(0))).unwrap();
        let soon = Duration::from_millis(1);
        let asked = readers.query(soon, |_| Ok(readers.query(soon, |_| Ok(()))));
        assert!(matches!(asked, Ok(Err(HistoryError::Busy))), "{asked:?}");
        assert!(readers.query(soon, |_| Ok(())).is_ok());
    }
}
