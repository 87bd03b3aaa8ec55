//! Schema of the file that had users, tokens, settings and audit before they were in the journal. It is only read, once; no step
//! is added any more.

use rusqlite::{Connection, TransactionBehavior};

/// `revision` grows with every change of a user or a token; a row carries the one at which it last changed.
const STEPS: [&str; 3] = [
    "
    CREATE TABLE revision (
        one    INTEGER PRIMARY KEY CHECK (one = 1),
        number INTEGER NOT NULL
    );
    INSERT INTO revision VALUES (1, 0);

    CREATE TABLE users (
        name     TEXT    PRIMARY KEY,
        role     TEXT    NOT NULL,
        strategy TEXT    CHECK ((role = 'strategy') = (strategy IS NOT NULL)),
        password TEXT    NOT NULL,
        created  INTEGER NOT NULL,
        revision INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE tokens (
        name     TEXT    PRIMARY KEY,
        prefix   TEXT    NOT NULL UNIQUE,
        digest   BLOB    NOT NULL,
        role     TEXT    NOT NULL,
        strategy TEXT    CHECK ((role = 'strategy') = (strategy IS NOT NULL)),
        created  INTEGER NOT NULL,
        expires  INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE audit (
        id      INTEGER PRIMARY KEY AUTOINCREMENT,
        at      INTEGER NOT NULL,
        user    TEXT,
        door    TEXT    NOT NULL,
        peer    TEXT,
        action  TEXT    NOT NULL,
        outcome TEXT    NOT NULL,
        detail  TEXT    NOT NULL,
        times   INTEGER NOT NULL,
        last_at INTEGER NOT NULL
    ) STRICT;
",
    "
    CREATE TABLE settings (
        owner    TEXT    PRIMARY KEY,
        document TEXT    NOT NULL,
        revision INTEGER NOT NULL,
        changed  INTEGER NOT NULL
    ) STRICT;
",
    "
    ALTER TABLE users ADD COLUMN rights TEXT;
    ALTER TABLE tokens ADD COLUMN rights TEXT;
",
];

/// The version of a file that this program has written or brought up to date.
pub(crate) const VERSION: usize = STEPS.len();

pub(crate) fn version(connection: &Connection) -> rusqlite::Result<usize> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Applies the steps that the file does not have, all or none of them. Server and command line may both try: the second
/// waits and finds nothing left to do.
pub(crate) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    if version(connection)? >= VERSION {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let seen = version(&transaction)?;
    if seen >= VERSION {
        return Ok(());
    }
    for step in STEPS.iter().skip(seen) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}
