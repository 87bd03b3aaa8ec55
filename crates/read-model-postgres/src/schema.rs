//! Numbered migrations. A released one is never changed: a new one is added.

use tokio_postgres::Client;

use crate::failure::DatabaseFailure;

const MIGRATIONS: [&str; 9] = [
    include_str!("../migrations/0001-tables.sql"),
    include_str!("../migrations/0002-views.sql"),
    include_str!("../migrations/0003-checksums.sql"),
    include_str!("../migrations/0004-undone-trades.sql"),
    include_str!("../migrations/0005-value-samples.sql"),
    include_str!("../migrations/0006-transaction-words.sql"),
    include_str!("../migrations/0007-order-changes.sql"),
    include_str!("../migrations/0008-traded-orders.sql"),
    include_str!("../migrations/0009-emptied-orders.sql"),
];

const RECORD: &str = "CREATE TABLE IF NOT EXISTS migrations (
    number     integer     PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT now()
)";

/// The tables whose rows are built from the journal. TRUNCATE takes the rows from transactions that began before too, so it waits for
/// every query that has read `model`, and later ones wait for it.
const EMPTY_ALL: &str = "BEGIN; LOCK TABLE model IN ACCESS EXCLUSIVE MODE;
    TRUNCATE events, orders, order_events, fills, transactions, value_samples; UPDATE model SET applied = 0; COMMIT";

/// Creates the schema if it is absent, and takes the migrations that it has not seen, all or none of them.
pub(crate) async fn migrate(client: &mut Client, schema: &str) -> Result<(), DatabaseFailure> {
    // Asked first: to create what exists needs a right that its user may not have.
    let exists = "SELECT to_regnamespace($1) IS NOT NULL";
    let transaction = client.transaction().await?;
    if !transaction.query_one(exists, &[&schema]).await?.try_get::<_, bool>(0)? {
        transaction.batch_execute(&format!("CREATE SCHEMA {schema}")).await?;
    }
    let record = format!("{schema}.migrations");
    let has_record = transaction.query_one("SELECT to_regclass($1) IS NOT NULL", &[&record]).await?;
    if !has_record.try_get::<_, bool>(0)? {
        transaction.batch_execute(RECORD).await?;
    }
    let seen: i32 = transaction.query_one("SELECT coalesce(max(number), 0) FROM migrations", &[]).await?.try_get(0)?;
    let newest = i32::try_from(MIGRATIONS.len()).expect("they are few");
    if seen > newest {
        let reason = format!("the schema {schema} is of version {seen}, and this build knows up to {newest}");
        return Err(DatabaseFailure::Refused(reason));
    }
    for (number, migration) in (1..).zip(MIGRATIONS).filter(|(number, _)| *number > seen) {
        transaction.batch_execute(migration).await?;
        transaction.execute("INSERT INTO migrations (number) VALUES ($1)", &[&number]).await?;
        tracing::info!(schema, number, "migration of the read model applied");
    }
    Ok(transaction.commit().await?)
}

/// All rows go; the read model begins at 0.
pub(crate) async fn empty(client: &Client) -> Result<(), DatabaseFailure> {
    Ok(client.batch_execute(EMPTY_ALL).await?)
}
