-- Views for reports: docs/postgres.md has their columns. Reports read these and not the tables, whose columns may change.

CREATE FUNCTION instant(nanoseconds bigint) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT timestamptz 'epoch' + (nanoseconds / 1000) * interval '1 microsecond' $$;

CREATE VIEW bi_orders AS
SELECT id AS order_id, int_id AS int_order_id, ext_id AS venue_order_id, cl_ord_id,
    instant(at) AS placed_at, instant(changed_at) AS changed_at,
    strategy AS strategy_id, account AS account_id, security AS security_id, exchange AS exchange_id, adapter,
    side, type AS order_type, time_in_force, quantity, limit_price, stop_price,
    status, filled AS filled_quantity, turnover, round(turnover / nullif(filled, 0), 12) AS average_price,
    source, submitted_by, reference, reason
FROM orders;

CREATE VIEW bi_fills AS
SELECT sequence, ordinal, order_id, int_id AS int_order_id, ext_id AS execution_id,
    instant(coalesce(ext_at, at)) AS traded_at, instant(at) AS booked_at,
    strategy AS strategy_id, account AS account_id, security AS security_id,
    side, quantity, price, quantity * price AS turnover
FROM fills;

CREATE VIEW bi_transactions AS
SELECT id AS transaction_id, uuid, instant(at) AS booked_at, settlement_date::date AS settlement_date, kind,
    strategy AS strategy_id, account AS account_id, security AS security_id, int_order_id, ext_id AS execution_id,
    quantity, price, currency, execution_commission, clearing_commission, fee, description
FROM transactions;

CREATE VIEW bi_positions_by_day AS
WITH days AS (
    SELECT (instant(at) AT TIME ZONE 'UTC')::date AS day, strategy, account, security, max(currency) AS currency,
        coalesce(sum(quantity) FILTER (WHERE quantity > 0), 0) AS bought,
        coalesce(-sum(quantity) FILTER (WHERE quantity < 0), 0) AS sold,
        sum(quantity) AS change,
        sum(abs(quantity) * price) AS turnover,
        sum(execution_commission + clearing_commission) AS commissions,
        sum(fee) AS fees,
        count(*) AS transactions
    FROM transactions
    WHERE kind IN ('BUY', 'SELL', 'EXPIRATION', 'TRANSFER') AND security IS NOT NULL
    GROUP BY 1, strategy, account, security
)
SELECT day, strategy AS strategy_id, account AS account_id, security AS security_id, currency,
    bought, sold, change,
    sum(change) OVER (PARTITION BY strategy, account, security ORDER BY day) AS quantity,
    turnover, commissions, fees, transactions
FROM days;
