-- A trade that the venue took back, or corrected, and one that a claim moved to another strategy are booked again with the opposite
-- side. Such a booking undoes: it belongs to an order and is of the other side. Sums subtract it, and a fill that was undone is
-- listed no more. An order never changes its side, and no two orders have the same `int_id`.

CREATE OR REPLACE VIEW bi_transactions AS
SELECT transaction_id, uuid, booked_at, settlement_date, kind, strategy_id, account_id, security_id, int_order_id, execution_id,
    quantity, price, currency, execution_commission, clearing_commission, fee, description,
    undoes,
    CASE WHEN kind IN ('BUY', 'SELL', 'EXPIRATION', 'TRANSFER') THEN
        CASE WHEN undoes THEN -abs(quantity) ELSE abs(quantity) END * price
    END AS turnover
FROM (
    SELECT t.id AS transaction_id, t.uuid, instant(t.at) AS booked_at, t.settlement_date::date AS settlement_date, t.kind,
        t.strategy AS strategy_id, t.account AS account_id, t.security AS security_id, t.int_order_id,
        t.ext_id AS execution_id, t.quantity, t.price, t.currency, t.execution_commission, t.clearing_commission, t.fee,
        t.description, coalesce(t.kind IN ('BUY', 'SELL') AND t.kind <> o.side, false) AS undoes
    FROM transactions t LEFT JOIN orders o ON o.int_id = t.int_order_id
) AS booked;

CREATE OR REPLACE VIEW bi_fills AS
SELECT sequence, ordinal, order_id, int_id AS int_order_id, ext_id AS execution_id,
    instant(coalesce(ext_at, at)) AS traded_at, instant(at) AS booked_at,
    strategy AS strategy_id, account AS account_id, security AS security_id,
    side, quantity, price, quantity * price AS turnover
FROM fills
WHERE NOT EXISTS (
    SELECT FROM transactions
    WHERE transactions.int_order_id = fills.int_id AND transactions.ext_id = fills.ext_id
        AND transactions.kind IN ('BUY', 'SELL') AND transactions.kind <> fills.side
        AND (transactions.sequence, transactions.ordinal) > (fills.sequence, fills.ordinal)
);

CREATE OR REPLACE VIEW bi_positions_by_day AS
WITH days AS (
    SELECT (booked_at AT TIME ZONE 'UTC')::date AS day, strategy_id, account_id, security_id, max(currency) AS currency,
        coalesce(sum(quantity) FILTER (WHERE (quantity > 0) <> undoes), 0) AS bought,
        coalesce(-sum(quantity) FILTER (WHERE (quantity > 0) = undoes), 0) AS sold,
        sum(quantity) AS change,
        sum(turnover) AS turnover,
        sum(execution_commission + clearing_commission) AS commissions,
        sum(fee) AS fees,
        count(*) AS transactions
    FROM bi_transactions
    WHERE kind IN ('BUY', 'SELL', 'EXPIRATION', 'TRANSFER') AND security_id IS NOT NULL
    GROUP BY 1, strategy_id, account_id, security_id
)
SELECT day, strategy_id, account_id, security_id, currency,
    bought, sold, change,
    sum(change) OVER (PARTITION BY strategy_id, account_id, security_id ORDER BY day) AS quantity,
    turnover, commissions, fees, transactions
FROM days;
