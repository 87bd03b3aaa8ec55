//! Connections for queries, made when they are needed and kept for the next query. A query and the sequence that the tables have are
//! read in one snapshot: the connection may lead to a standby that lags, or to a database that was emptied or brought back from a backup.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bus::history::HistoryError;
use storage::read_model::HISTORY_READERS_MAX;
use tokio::sync::Semaphore;
use tokio_postgres::{Client, SimpleQueryMessage};

use crate::connection::{Database, QUERY_WAIT_MAX};
use crate::failure::DatabaseFailure;

/// The lock comes before the snapshot: whoever empties the tables locks `model` too, and is seen whole or not at all.
const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; LOCK TABLE model IN ACCESS SHARE MODE;
    SELECT applied FROM model";

/// A cheap copy is made for each query.
#[derive(Clone)]
pub(crate) struct PostgresReaders {
    connections: Arc<ReaderConnections>,
    /// The tables must be complete up to here.
    needed: u64,
}

struct ReaderConnections {
    database: Arc<Database>,
    places: Semaphore,
    idle: Mutex<Vec<Client>>,
    /// A query waits this long for a place.
    wait: Duration,
}

impl PostgresReaders {
    pub(crate) fn new(database: Arc<Database>, wait: Duration) -> Self {
        let (places, idle) = (Semaphore::new(HISTORY_READERS_MAX), Mutex::default());
        Self { connections: Arc::new(ReaderConnections { database, places, idle, wait }), needed: 0 }
    }

    /// For queries of tables that are complete up to a sequence.
    pub(crate) fn at(&self, needed: u64) -> Self {
        Self { connections: self.connections.clone(), needed }
    }

    /// Runs a query on a connection. A connection on which one failed is not used again.
    pub(crate) fn query<T>(
        &self,
        question: impl AsyncFnOnce(&Client) -> Result<T, DatabaseFailure>,
    ) -> Result<T, HistoryError> {
        let ReaderConnections { database, places, wait, .. } = self.connections.as_ref();
        let busy = || DatabaseFailure::Refused(String::new());
        let place = database.run(*wait, async { places.acquire().await.map_err(|_| busy()) });
        let _place = place.map_err(|_| HistoryError::Busy)?;
        self.ask(question).map_err(|failure| match failure {
            DatabaseFailure::Refused(reason) => HistoryError::Unavailable(database.problem(&reason)),
            DatabaseFailure::Behind(applied) => HistoryError::Behind { applied, wanted: self.needed },
            DatabaseFailure::DamagedRow(reason) => {
                database.report_damage(&reason);
                HistoryError::Failed(format!("{reason}; it is built again from the journal"))
            }
        })
    }

    fn ask<T>(&self, question: impl AsyncFnOnce(&Client) -> Result<T, DatabaseFailure>) -> Result<T, DatabaseFailure> {
        let database = &self.connections.database;
        let idle = self.connections.lock().pop().filter(|client| !client.is_closed());
        let client = idle.map_or_else(|| database.connect(QUERY_WAIT_MAX), Ok)?;
        let answer = database.run(QUERY_WAIT_MAX, self.ask_in_snapshot(&client, question))?;
        self.connections.lock().push(client);
        Ok(answer)
    }

    async fn ask_in_snapshot<T>(
        &self,
        client: &Client,
        question: impl AsyncFnOnce(&Client) -> Result<T, DatabaseFailure>,
    ) -> Result<T, DatabaseFailure> {
        let applied = applied_of(&client.simple_query(BEGIN).await?);
        if applied < self.needed {
            return Err(DatabaseFailure::Behind(applied));
        }
        let answer = question(client).await?;
        client.batch_execute("COMMIT").await?;
        Ok(answer)
    }
}

impl ReaderConnections {
    fn lock(&self) -> MutexGuard<'_, Vec<Client>> {
        // Every change under the lock is complete.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// 0 where the tables were made and have no row yet.
fn applied_of(answers: &[SimpleQueryMessage]) -> u64 {
    let row = answers.iter().find_map(|answer| match answer {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    });
    row.and_then(|applied| applied.parse().ok()).unwrap_or(0)
}
