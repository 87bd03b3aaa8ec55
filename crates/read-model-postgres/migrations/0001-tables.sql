-- `events` holds each event once, by sequence and its ordinal among the events of that input. `order_events`, `fills` and
-- `transactions` lead to it. Payloads are in the journal's encoding; the other columns are for people and for searches.
-- Instants are nanoseconds since 1970 in UTC.

CREATE TABLE model (
    one      smallint PRIMARY KEY CHECK (one = 1),
    instance bytea    NOT NULL,
    applied  bigint   NOT NULL
);

CREATE TABLE events (
    sequence bigint   NOT NULL,
    ordinal  integer  NOT NULL,
    at       bigint   NOT NULL,
    class    smallint NOT NULL,
    payload  bytea    NOT NULL,
    checksum bigint   NOT NULL,
    PRIMARY KEY (sequence, ordinal)
);

CREATE TABLE orders (
    id            bigint  PRIMARY KEY,
    int_id        text    NOT NULL COLLATE "C",
    strategy      bigint  NOT NULL,
    account       bigint  NOT NULL,
    security      bigint  NOT NULL,
    at            bigint  NOT NULL,
    status        text    NOT NULL COLLATE "C",
    source        text    NOT NULL COLLATE "C",
    words         text    NOT NULL COLLATE "C",
    payload       bytea   NOT NULL,
    checksum      bigint  NOT NULL,
    ext_id        text,
    cl_ord_id     text,
    changed_at    bigint  NOT NULL,
    exchange      bigint  NOT NULL,
    adapter       text    NOT NULL,
    side          text    NOT NULL,
    type          text    NOT NULL,
    time_in_force text    NOT NULL,
    quantity      numeric NOT NULL,
    limit_price   numeric,
    stop_price    numeric,
    filled        numeric NOT NULL,
    turnover      numeric NOT NULL,
    reason        text,
    reference     text,
    submitted_by  text
);
CREATE INDEX orders_by_int_id   ON orders (int_id);
CREATE INDEX orders_by_strategy ON orders (strategy, id);
CREATE INDEX orders_by_account  ON orders (account, id);
CREATE INDEX orders_by_security ON orders (security, id);
CREATE INDEX orders_by_at       ON orders (at);
CREATE INDEX orders_by_source   ON orders (source, id);

CREATE TABLE order_events (
    order_id bigint  NOT NULL,
    sequence bigint  NOT NULL,
    ordinal  integer NOT NULL,
    checksum bigint  NOT NULL,
    PRIMARY KEY (order_id, sequence, ordinal)
);

CREATE TABLE fills (
    sequence bigint  NOT NULL,
    ordinal  integer NOT NULL,
    strategy bigint  NOT NULL,
    account  bigint  NOT NULL,
    security bigint  NOT NULL,
    checksum bigint  NOT NULL,
    order_id bigint  NOT NULL,
    int_id   text    NOT NULL,
    ext_id   text    NOT NULL,
    at       bigint  NOT NULL,
    ext_at   bigint,
    side     text    NOT NULL,
    quantity numeric NOT NULL,
    price    numeric NOT NULL,
    PRIMARY KEY (sequence, ordinal)
);
CREATE INDEX fills_by_strategy ON fills (strategy, sequence);
CREATE INDEX fills_by_account  ON fills (account, sequence);
CREATE INDEX fills_by_security ON fills (security, sequence);

CREATE TABLE transactions (
    id                   bigint  PRIMARY KEY,
    sequence             bigint  NOT NULL,
    ordinal              integer NOT NULL,
    strategy             bigint  NOT NULL,
    account              bigint  NOT NULL,
    security             bigint,
    checksum             bigint  NOT NULL,
    uuid                 text    NOT NULL,
    at                   bigint  NOT NULL,
    settlement_date      text,
    kind                 text    NOT NULL,
    quantity             numeric NOT NULL,
    price                numeric NOT NULL,
    execution_commission numeric NOT NULL,
    clearing_commission  numeric NOT NULL,
    fee                  numeric NOT NULL,
    currency             text    NOT NULL,
    int_order_id         text,
    ext_id               text,
    description          text
);
CREATE INDEX transactions_by_strategy ON transactions (strategy, id);
CREATE INDEX transactions_by_account  ON transactions (account, id);
CREATE INDEX transactions_by_security ON transactions (security, id);
