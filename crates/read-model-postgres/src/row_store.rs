//! The half that writes. Rows and applied sequence are one transaction. The transaction also says what the applied sequence
//! was before, so that nothing is written twice or behind a gap, whatever else changed the tables.

use std::sync::Arc;

use domain::Timestamp;
use storage::StorageError;
use storage::journal::InstanceId;
use storage::read_model::batch_rows::write_rows;
use storage::read_model::store::{EventBatch, RowStore, StoreProblem};
use tokio_postgres::Client;

use crate::cell::bound;
use crate::connection::{Database, WRITE_WAIT_MAX};
use crate::copy_rows::CopyRows;
use crate::failure::DatabaseFailure;
use crate::schema;

/// The first key of the lock that keeps a second writer out; the second is made of the schema's name.
const LOCK_SPACE: i32 = 0x7269_616c;
const LOCK: &str = "SELECT pg_try_advisory_lock($1, hashtext($2))";
const ENCODING: &str = "SELECT current_setting('server_encoding')";
const FIRST_ROW: &str = "INSERT INTO model VALUES (1, $1, 0) ON CONFLICT DO NOTHING";
const STATE: &str = "SELECT instance, applied, newest.sequence, newest.at FROM model
    LEFT JOIN (SELECT sequence, at FROM events ORDER BY sequence DESC, ordinal DESC LIMIT 1) AS newest ON true";
const UPDATE_APPLIED: &str = "UPDATE model SET applied = $1 WHERE applied = $2";

/// When the input of a sequence was stamped, by the journal; none where the journal has no such input.
pub type InputTimes = Box<dyn Fn(u64) -> Result<Option<Timestamp>, StorageError> + Send>;

/// Every problem passes: the read model tries again, and says why meanwhile.
pub struct PostgresRowStore {
    database: Arc<Database>,
    /// Of the data folder. Folders that were restored from one backup share the identity of their journal, and not the history.
    instance: InstanceId,
    journal: InputTimes,
    client: Option<Client>,
    /// The sequence that the tables have.
    applied: u64,
    payload: Vec<u8>,
}

impl PostgresRowStore {
    pub fn new(database: Arc<Database>, instance: InstanceId, journal: InputTimes) -> Self {
        Self { database, instance, journal, client: None, applied: 0, payload: Vec::new() }
    }

    fn try_connect(&mut self) -> Result<u64, DatabaseFailure> {
        // The old connection holds the lock.
        self.client = None;
        let mut client = self.database.connect(WRITE_WAIT_MAX)?;
        let (schema, is_damaged) = (&self.database.url.schema, self.database.damage().is_some());
        let opened = open_tables(&mut client, schema, self.instance, is_damaged);
        let found = self.database.run(WRITE_WAIT_MAX, opened)?;
        self.check_newest(&found)?;
        self.applied = found.applied;
        // Damage that a query has met since then is still there.
        if is_damaged {
            self.database.clear_damage();
        }
        self.client = Some(client);
        Ok(self.applied)
    }

    /// A journal that lost its end goes on, so that the newest event may be before its end and not in it.
    fn check_newest(&self, found: &FoundRows) -> Result<(), DatabaseFailure> {
        let Some((sequence, at)) = found.newest else { return Ok(()) };
        let unknown = |error| DatabaseFailure::Refused(format!("the journal cannot be compared with it: {error}"));
        let known = match (self.journal)(sequence) {
            // What was deleted behind it was verified before; there is nothing left to compare.
            Err(StorageError::Pruned { .. }) => return Ok(()),
            known => known.map_err(unknown)?,
        };
        if known == Some(at) {
            return Ok(());
        }
        refuse(format!(
            "it has event {sequence}, which the journal does not have: the journal lost its end, or its folder was restored. \
             DROP SCHEMA {} CASCADE lets the history be built again",
            self.database.url.schema
        ))
    }

    fn commit(&mut self, rows: CopyRows, applied: u64) -> Result<(), StoreProblem> {
        let Some(client) = &mut self.client else { return Err(self.unavailable("it is not connected")) };
        let written = self.database.run(WRITE_WAIT_MAX, write(client, rows, self.applied, applied));
        if let Err(failure) = written {
            // Whether it was committed is asked with the next connection.
            self.client = None;
            return Err(self.unavailable(&failure.text()));
        }
        self.applied = applied;
        Ok(())
    }

    fn unavailable(&self, reason: &str) -> StoreProblem {
        StoreProblem::Unavailable(self.database.problem(reason))
    }
}

impl RowStore for PostgresRowStore {
    fn connect(&mut self) -> Result<u64, StoreProblem> {
        self.try_connect().map_err(|failure| self.unavailable(&failure.text()))
    }

    fn write(&mut self, batch: &EventBatch) -> Result<(), StoreProblem> {
        let mut rows = CopyRows::default();
        let Ok(()) = write_rows(batch, &mut self.payload, &mut rows);
        self.commit(rows, batch.through)
    }

    fn save_applied(&mut self, applied: u64) -> Result<(), StoreProblem> {
        self.commit(CopyRows::default(), applied)
    }

    fn maintain(&mut self, _: bool) -> Result<(), StoreProblem> {
        if let Some(reason) = self.database.damage() {
            return Err(self.unavailable(&format!("{reason}; all rows are written anew")));
        }
        match &self.client {
            Some(client) if client.is_closed() => Err(self.unavailable("the connection was closed")),
            _ => Ok(()),
        }
    }
}

/// What is in the tables.
#[derive(Default)]
struct FoundRows {
    /// They are complete up to here.
    applied: u64,
    /// The newest event, and when its input was stamped.
    newest: Option<(u64, Timestamp)>,
}

async fn open_tables(
    client: &mut Client,
    schema: &str,
    instance: InstanceId,
    is_damaged: bool,
) -> Result<FoundRows, DatabaseFailure> {
    let is_ours: bool = client.query_one(LOCK, &[&LOCK_SPACE, &schema]).await?.try_get(0)?;
    if !is_ours {
        return refuse(format!("another server writes into the schema {schema}"));
    }
    check_encoding(client).await?;
    schema::migrate(client, schema).await?;
    client.execute(FIRST_ROW, &[&instance.0.as_slice()]).await?;
    let state = client.query_one(STATE, &[]).await?;
    if state.try_get::<_, &[u8]>(0)? != instance.0 {
        return refuse(format!("the schema {schema} has the history of another data folder; name another schema"));
    }
    if is_damaged {
        schema::empty(client).await?;
        return Ok(FoundRows::default());
    }
    let number = |number: i64| u64::try_from(number).unwrap_or(0);
    let newest = state.try_get::<_, Option<i64>>(2)?.zip(state.try_get::<_, Option<i64>>(3)?);
    let newest = newest.map(|(sequence, at)| (number(sequence), Timestamp(at)));
    Ok(FoundRows { applied: number(state.try_get(1)?), newest })
}

/// Names and notes are in any script: another encoding would refuse some of them, long after the first.
async fn check_encoding(client: &Client) -> Result<(), DatabaseFailure> {
    let encoding: String = client.query_one(ENCODING, &[]).await?.try_get(0)?;
    if encoding == "UTF8" {
        return Ok(());
    }
    refuse(format!("its encoding is {encoding}, and it must be UTF8: createdb --encoding UTF8 --template template0"))
}

fn refuse<T>(reason: String) -> Result<T, DatabaseFailure> {
    Err(DatabaseFailure::Refused(reason))
}

async fn write(client: &mut Client, rows: CopyRows, before: u64, applied: u64) -> Result<(), DatabaseFailure> {
    let transaction = client.transaction().await?;
    rows.copy(&transaction).await?;
    let updated = transaction.execute(UPDATE_APPLIED, &[&bound(applied), &bound(before)]).await?;
    if updated != 1 {
        return refuse(format!("its tables were changed: they are no longer at sequence {before}"));
    }
    Ok(transaction.commit().await?)
}
