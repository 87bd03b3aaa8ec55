-- The value history: what each scope was worth, sampled and at each close. A journal from before has no samples.

CREATE TABLE value_samples (
    scope          text     NOT NULL COLLATE "C",
    sequence       bigint   NOT NULL,
    at             bigint   NOT NULL,
    day            text     NOT NULL COLLATE "C",
    payload        bytea    NOT NULL,
    checksum       bigint   NOT NULL,
    is_close       smallint NOT NULL,
    strategy       bigint,
    account        bigint,
    security       bigint,
    currency       text     NOT NULL,
    net_liq_value  numeric,
    market_value   numeric,
    cash_balance   numeric,
    long_exposure  numeric,
    short_exposure numeric,
    realized_pl    numeric,
    unrealized_pl  numeric,
    commissions    numeric,
    fees           numeric,
    day_result     numeric,
    day_flow       numeric,
    PRIMARY KEY (scope, sequence)
);
CREATE INDEX value_samples_by_at  ON value_samples (scope, at, sequence);
CREATE INDEX value_samples_by_day ON value_samples (scope, day, sequence);

CREATE VIEW bi_values AS
SELECT sequence, instant(at) AS valued_at, day::date AS day, is_close = 1 AS is_close,
    scope, strategy AS strategy_id, account AS account_id, security AS security_id, currency,
    net_liq_value, market_value, cash_balance, long_exposure, short_exposure,
    realized_pl, unrealized_pl, commissions, fees, day_result, day_flow
FROM value_samples;

-- The last sample of each scope and day.
CREATE VIEW bi_values_by_day AS
SELECT DISTINCT ON (scope, day) *
FROM bi_values
ORDER BY scope, day, sequence DESC;
