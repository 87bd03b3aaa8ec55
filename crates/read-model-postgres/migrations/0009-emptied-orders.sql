-- A client may know of executions that were taken back, so their order is searched by its last change too. Which orders these are the rows of
-- before do not say; no row is written anew.

ALTER TABLE orders ADD COLUMN emptied boolean NOT NULL DEFAULT false;
DROP INDEX traded_orders_by_change;
CREATE INDEX traded_orders_by_change ON orders (source, changed_at, id) WHERE filled > 0 OR emptied;
