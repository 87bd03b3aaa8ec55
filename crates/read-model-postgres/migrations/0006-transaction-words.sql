-- Transactions are found by a part of their ids or of their note. Their rows, with a checksum that covers it, are written anew.

ALTER TABLE transactions ADD COLUMN words text NOT NULL DEFAULT '' COLLATE "C";
LOCK TABLE model IN ACCESS EXCLUSIVE MODE;
TRUNCATE events, orders, order_events, fills, transactions, value_samples;
UPDATE model SET applied = 0;
