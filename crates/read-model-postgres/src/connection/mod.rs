//! Connections to the database, with a deadline for everything that is asked of it.

pub(crate) mod tls;
pub(crate) mod url;

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::Client;

use crate::connection::tls::DatabaseTls;
use crate::connection::url::PostgresUrl;
use crate::failure::DatabaseFailure;

/// A connection is given up after this time.
pub const CONNECT_WAIT_MAX: Duration = Duration::from_secs(5);
/// A transaction that writes is given up after this time; so a stop waits no longer for a server that hangs.
pub const WRITE_WAIT_MAX: Duration = Duration::from_secs(20);
/// A history query is given up after this time.
pub const QUERY_WAIT_MAX: Duration = Duration::from_secs(10);
/// The server itself ends a statement that takes so much longer than we wait, also where it lost us.
const SERVER_MARGIN: Duration = Duration::from_secs(5);

/// A database that may not answer. Both halves of the store use it.
pub struct Database {
    pub(crate) url: PostgresUrl,
    tls: DatabaseTls,
    /// Drives the connections. None only while it is dropped.
    runtime: Option<Runtime>,
    /// Why the rows must be written anew, where a damaged one was read.
    damage: Mutex<Option<String>>,
}

impl Database {
    /// Connects nothing yet. A reason names what is wrong with the address.
    pub fn new(url: PostgresUrl) -> Result<Arc<Self>, String> {
        let tls = DatabaseTls::new(url.root_certificates.as_deref())?;
        let runtime = Builder::new_multi_thread().worker_threads(1).thread_name("postgres").enable_all().build();
        let runtime = runtime.map_err(|error| format!("a thread cannot be started: {error}"))?;
        Ok(Arc::new(Self { url, tls, runtime: Some(runtime), damage: Mutex::default() }))
    }

    /// A connection whose tables are those of the schema. The server notices within a minute where we are gone without a
    /// farewell, and gives the lock of the writer free.
    pub(crate) fn connect(&self, statement_limit: Duration) -> Result<Client, DatabaseFailure> {
        let limit = (statement_limit + SERVER_MARGIN).as_millis();
        let settings = format!(
            "SET search_path TO {}; SET statement_timeout TO {limit}; SET idle_in_transaction_session_timeout TO {limit}; \
             SET client_min_messages TO warning; SET timezone TO 'UTC'; \
             SET tcp_keepalives_idle TO 30; SET tcp_keepalives_interval TO 10; SET tcp_keepalives_count TO 3",
            self.url.schema
        );
        self.run(CONNECT_WAIT_MAX, async {
            let mut config = self.url.config.clone();
            config.application_name("rialto");
            let (client, connection) = config.connect(self.tls.clone()).await?;
            // It ends with the client, and an error of it is an error of what waits for it.
            tokio::spawn(connection);
            client.batch_execute(&settings).await?;
            Ok(client)
        })
    }

    /// Runs what is asked of the database, no longer than a limit.
    pub(crate) fn run<T>(
        &self,
        limit: Duration,
        asked: impl Future<Output = Result<T, DatabaseFailure>>,
    ) -> Result<T, DatabaseFailure> {
        let runtime = self.runtime.as_ref().expect("it is there until it is dropped").handle();
        let done = runtime.block_on(async { tokio::time::timeout(limit, asked).await });
        let late = |_| DatabaseFailure::Refused(format!("it did not answer within {} s", limit.as_secs()));
        done.map_err(late)?
    }

    /// As the operator is told.
    pub(crate) fn problem(&self, reason: &str) -> String {
        format!("PostgreSQL at {}: {reason}", self.url)
    }

    /// A damaged row was read: all rows are written anew.
    pub(crate) fn report_damage(&self, reason: &str) {
        let mut damage = self.damage.lock().unwrap_or_else(PoisonError::into_inner);
        if damage.is_none() {
            tracing::error!(
                database = %self.url, %reason,
                "read model is damaged; nothing wrong was answered, and it is built again from the journal"
            );
        }
        damage.get_or_insert_with(|| reason.to_owned());
    }

    pub(crate) fn damage(&self) -> Option<String> {
        self.damage.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn clear_damage(&self) {
        *self.damage.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database").field("url", &self.url).finish_non_exhaustive()
    }
}

impl Drop for Database {
    /// Without waiting: it may be dropped by a thread of another runtime.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
