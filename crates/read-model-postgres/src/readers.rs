//! Connections for queries, made when they are needed and kept for the next query.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bus::history::HistoryError;
use storage::read_model::HISTORY_READERS_MAX;
use tokio::sync::Semaphore;
use tokio_postgres::Client;

use crate::connection::{Database, QUERY_WAIT_MAX};
use crate::failure::DatabaseFailure;

pub(crate) struct PostgresReaders {
    database: Arc<Database>,
    places: Semaphore,
    idle: Mutex<Vec<Client>>,
    /// A query waits this long for a place.
    wait: Duration,
}

impl PostgresReaders {
    pub(crate) fn new(database: Arc<Database>, wait: Duration) -> Self {
        Self { database, places: Semaphore::new(HISTORY_READERS_MAX), idle: Mutex::default(), wait }
    }

    /// Runs a query on a connection. A connection on which one failed is not used again.
    pub(crate) fn query<T>(
        &self,
        question: impl AsyncFnOnce(&Client) -> Result<T, DatabaseFailure>,
    ) -> Result<T, HistoryError> {
        let busy = || DatabaseFailure::Refused(String::new());
        let place = self.database.run(self.wait, async { self.places.acquire().await.map_err(|_| busy()) });
        let _place = place.map_err(|_| HistoryError::Busy)?;
        self.ask(question).map_err(|failure| match failure {
            DatabaseFailure::Refused(reason) => HistoryError::Unavailable(self.database.problem(&reason)),
            DatabaseFailure::DamagedRow(reason) => {
                self.database.report_damage(&reason);
                HistoryError::Failed(format!("{reason}; it is built again from the journal"))
            }
        })
    }

    fn ask<T>(&self, question: impl AsyncFnOnce(&Client) -> Result<T, DatabaseFailure>) -> Result<T, DatabaseFailure> {
        let idle = self.lock().pop().filter(|client| !client.is_closed());
        let client = idle.map_or_else(|| self.database.connect(QUERY_WAIT_MAX), Ok)?;
        let answer = self.database.run(QUERY_WAIT_MAX, question(&client))?;
        self.lock().push(client);
        Ok(answer)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Client>> {
        // Every change under the lock is complete.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
