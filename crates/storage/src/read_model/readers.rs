//! Connections that only read. In SQLite's write-ahead mode they see the last commit and never stand in the
//! writer's way.

use std::path::{Path, PathBuf};
use std::time::Duration;

use bus::history::HistoryError;
use crossbeam_channel::{Receiver, Sender, bounded};
use rusqlite::{Connection, OpenFlags};

use super::file;

pub(crate) struct Readers {
    path: PathBuf,
    idle: Receiver<Connection>,
    back: Sender<Connection>,
}

impl Readers {
    pub(crate) fn open(path: &Path, count: usize) -> rusqlite::Result<Self> {
        let (back, idle) = bounded(count);
        for _ in 0..count {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            back.send(Connection::open_with_flags(path, flags)?).expect("the channel has room for all of them");
        }
        Ok(Self { path: path.to_owned(), idle, back })
    }

    /// Asks on a connection of its own, which is waited for.
    pub(crate) fn ask<T>(
        &self,
        patience: Duration,
        question: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, HistoryError> {
        let busy = |_| HistoryError::Broken("too many questions about the past at the same time".to_owned());
        let reader = Borrowed { connection: Some(self.idle.recv_timeout(patience).map_err(busy)?), back: &self.back };
        let answer = reader.connection.as_ref().map(question);
        answer.expect("it is there until it is dropped").map_err(|error| {
            file::condemn_if_damaged(&self.path, &error);
            HistoryError::Broken(format!("the read model cannot be read: {error}"))
        })
    }
}

/// Given back however the question ends.
struct Borrowed<'a> {
    connection: Option<Connection>,
    back: &'a Sender<Connection>,
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            // There is room: it came from there.
            let _ = self.back.try_send(connection);
        }
    }
}
