//! Schema migrations of the read model. A released step is never changed: a new one is added, and `user_version` counts
//! them.
//!
//! `events` holds each event once, by sequence and its ordinal among the events of that input. The other tables are
//! indexes into it: by order, by fill, by transaction. `value_samples` is not one of them: it holds the value history itself.

use rusqlite::Connection;

use super::{checksum, search};

const STEPS: [&str; 7] = [
    "
    CREATE TABLE model (
        one      INTEGER PRIMARY KEY CHECK (one = 1),
        instance BLOB    NOT NULL,
        applied  INTEGER NOT NULL
    );

    CREATE TABLE events (
        sequence INTEGER NOT NULL,
        ordinal  INTEGER NOT NULL,
        at       INTEGER NOT NULL,
        class    INTEGER NOT NULL,
        payload  BLOB    NOT NULL,
        PRIMARY KEY (sequence, ordinal)
    ) WITHOUT ROWID;

    CREATE TABLE orders (
        id       INTEGER PRIMARY KEY,
        int_id   TEXT    NOT NULL,
        strategy INTEGER NOT NULL,
        account  INTEGER NOT NULL,
        security INTEGER NOT NULL,
        payload  BLOB    NOT NULL
    );
    CREATE INDEX orders_by_int_id   ON orders (int_id);
    CREATE INDEX orders_by_strategy ON orders (strategy);
    CREATE INDEX orders_by_account  ON orders (account);
    CREATE INDEX orders_by_security ON orders (security);

    CREATE TABLE order_events (
        order_id INTEGER NOT NULL,
        sequence INTEGER NOT NULL,
        ordinal  INTEGER NOT NULL,
        PRIMARY KEY (order_id, sequence, ordinal)
    ) WITHOUT ROWID;

    CREATE TABLE fills (
        sequence INTEGER NOT NULL,
        ordinal  INTEGER NOT NULL,
        strategy INTEGER NOT NULL,
        account  INTEGER NOT NULL,
        security INTEGER NOT NULL,
        PRIMARY KEY (sequence, ordinal)
    ) WITHOUT ROWID;
    CREATE INDEX fills_by_strategy ON fills (strategy);
    CREATE INDEX fills_by_account  ON fills (account);
    CREATE INDEX fills_by_security ON fills (security);

    CREATE TABLE transactions (
        id       INTEGER PRIMARY KEY,
        sequence INTEGER NOT NULL,
        ordinal  INTEGER NOT NULL,
        strategy INTEGER NOT NULL,
        account  INTEGER NOT NULL,
        security INTEGER
    );
    CREATE INDEX transactions_by_strategy ON transactions (strategy);
    CREATE INDEX transactions_by_account  ON transactions (account);
    CREATE INDEX transactions_by_security ON transactions (security);
",
    "
    ALTER TABLE orders ADD COLUMN at     INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE orders ADD COLUMN status TEXT    NOT NULL DEFAULT '';
    ALTER TABLE orders ADD COLUMN source TEXT    NOT NULL DEFAULT '';
    ALTER TABLE orders ADD COLUMN words  TEXT    NOT NULL DEFAULT '';
    CREATE INDEX orders_by_at     ON orders (at);
    CREATE INDEX orders_by_source ON orders (source);
    CREATE INDEX orders_by_words  ON orders (words);
",
    "
    ALTER TABLE model        ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE events       ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE orders       ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE order_events ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE fills        ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE transactions ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
",
    // A journal from before has no samples, so nothing is filled in.
    "
    CREATE TABLE value_samples (
        scope    TEXT    NOT NULL,
        sequence INTEGER NOT NULL,
        at       INTEGER NOT NULL,
        day      TEXT    NOT NULL,
        payload  BLOB    NOT NULL,
        checksum INTEGER NOT NULL,
        PRIMARY KEY (scope, sequence)
    ) WITHOUT ROWID;
    CREATE INDEX value_samples_by_at  ON value_samples (scope, at, sequence);
    CREATE INDEX value_samples_by_day ON value_samples (scope, day, sequence);
",
    "
    ALTER TABLE transactions ADD COLUMN words TEXT NOT NULL DEFAULT '';
    CREATE INDEX transactions_by_words ON transactions (words);
",
    "
    ALTER TABLE orders ADD COLUMN changed_at INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX orders_by_change ON orders (source, changed_at);
",
    // Most orders of a client may have no executions, and only of others the last change is asked for.
    "
    DROP INDEX orders_by_change;
    ALTER TABLE orders ADD COLUMN has_fills INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX traded_orders_by_change ON orders (source, changed_at) WHERE has_fills = 1;
",
];
/// From this step on orders can be searched; older rows are filled in.
const SEARCH_STEP: usize = 2;
/// From this step on transactions can be searched by text; older rows are filled in.
const TRANSACTION_SEARCH_STEP: usize = 5;
/// From this step on the orders of a client are found by their last change; older rows are filled in.
const CHANGE_SEARCH_STEP: usize = 6;
/// From this step on those of them that have executions are; older rows are filled in.
const TRADED_SEARCH_STEP: usize = 7;
/// From this step on every row has a checksum; older rows get theirs.
const CHECKSUM_STEP: usize = 3;

/// The version of a file that this program has written or brought up to date.
pub(crate) const VERSION: usize = STEPS.len();

pub(crate) fn version(connection: &Connection) -> rusqlite::Result<usize> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Whether the tables of a file of this version are those that its steps make. With a changed name in them every query
/// would fail for ever.
pub(crate) fn is_unchanged(connection: &Connection) -> rusqlite::Result<bool> {
    let mut fresh = Connection::open_in_memory()?;
    migrate(&mut fresh)?;
    Ok(definitions(&fresh)? == definitions(connection)?)
}

fn definitions(connection: &Connection) -> rusqlite::Result<Vec<(String, String, Option<String>)>> {
    let own = "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY type, name";
    let mut statement = connection.prepare(own)?;
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    statement.query_map([], read)?.collect()
}

/// Takes the steps that the file has not seen, all or none of them.
pub(crate) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    let seen = version(connection)?;
    if seen == VERSION {
        return Ok(());
    }
    let transaction = connection.transaction()?;
    for step in STEPS.iter().skip(seen) {
        transaction.execute_batch(step)?;
    }
    if (1..SEARCH_STEP).contains(&seen) {
        search::backfill(&transaction)?;
    }
    if (1..TRANSACTION_SEARCH_STEP).contains(&seen) {
        search::backfill_transactions(&transaction, seen >= CHECKSUM_STEP)?;
    }
    if (1..CHANGE_SEARCH_STEP).contains(&seen) {
        search::backfill_changes(&transaction, seen >= CHECKSUM_STEP)?;
    }
    if (1..TRADED_SEARCH_STEP).contains(&seen) {
        search::backfill_traded(&transaction, seen >= CHECKSUM_STEP)?;
    }
    if (1..CHECKSUM_STEP).contains(&seen) {
        checksum::backfill(&transaction)?;
    }
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}
