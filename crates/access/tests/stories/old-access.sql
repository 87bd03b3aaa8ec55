-- access.sqlite as version 0.2 wrote it
CREATE TABLE revision (one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL);
INSERT INTO revision VALUES (1, 4);
CREATE TABLE users (
    name     TEXT    PRIMARY KEY,
    role     TEXT    NOT NULL,
    strategy TEXT    CHECK ((role = 'strategy') = (strategy IS NOT NULL)),
    password TEXT    NOT NULL,
    created  INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    rights   TEXT
) STRICT;
INSERT INTO users VALUES
    ('boss', 'admin', NULL, '$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5IGlzIGhlcmU$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', 1000000000, 1, NULL),
    ('anna', 'trader', NULL, '$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5IGlzIGhlcmU$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', 2000000000, 3, 'accounts 1,2');
CREATE TABLE tokens (
    name     TEXT    PRIMARY KEY,
    prefix   TEXT    NOT NULL UNIQUE,
    digest   BLOB    NOT NULL,
    role     TEXT    NOT NULL,
    strategy TEXT    CHECK ((role = 'strategy') = (strategy IS NOT NULL)),
    created  INTEGER NOT NULL,
    expires  INTEGER NOT NULL,
    rights   TEXT
) STRICT;
INSERT INTO tokens VALUES ('robot', '0011223344ff', zeroblob(32), 'strategy', 'MOMENTUM', 3000000000, 90000000000, NULL);
CREATE TABLE settings (
    owner    TEXT    PRIMARY KEY,
    document TEXT    NOT NULL,
    revision INTEGER NOT NULL,
    changed  INTEGER NOT NULL
) STRICT;
INSERT INTO settings VALUES ('', '{"local":1}', 2, 4000000000), ('anna', '{"wide":true}', 7, 5000000000);
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
INSERT INTO audit (at, user, door, peer, action, outcome, detail, times, last_at) VALUES
    (1000000000, NULL, 'CLI', NULL, 'user add', 'done', 'user boss, role admin', 1, 1000000000),
    (2000000000, 'boss', 'REST', '127.0.0.1', 'POST /rest/user', 'done', 'user anna, role trader', 1, 2000000000),
    (6000000000, 'anna', 'REST', '192.168.1.5', 'GET /rest/account', 'wrong-credentials', 'the user, the password or the token is wrong, or the token has expired', 41, 9000000000);
PRAGMA user_version = 3;
