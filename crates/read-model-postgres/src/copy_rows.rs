//! Rows of a batch, table by table, and their way into the tables: one COPY in binary form for each table.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::pin::pin;

use domain::{Fill, Order, OrderStatus, PublishedEvent, Transaction, ValueSample};
use storage::read_model::batch_rows::{EventPlace, RowWriter};
use storage::read_model::search_columns::{SearchColumns, transaction_words};
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::Type;

use crate::cell::{Cell, bound, storable};
use crate::checksum;
use crate::failure::DatabaseFailure;
use crate::value_samples;

const EVENTS: CopyTable = CopyTable {
    into: "events (sequence, ordinal, at, class, payload, checksum)",
    types: &[Type::INT8, Type::INT4, Type::INT8, Type::INT2, Type::BYTEA, Type::INT8],
};
const ORDER_EVENTS: CopyTable = CopyTable {
    into: "order_events (order_id, sequence, ordinal, checksum)",
    types: &[Type::INT8, Type::INT8, Type::INT4, Type::INT8],
};
const FILLS: CopyTable = CopyTable {
    into: "fills (sequence, ordinal, strategy, account, security, checksum, order_id, int_id, ext_id, at, ext_at, side, \
        quantity, price)",
    types: &[
        Type::INT8,
        Type::INT4,
        Type::INT8,
        Type::INT8,
        Type::INT8,
        Type::INT8,
        Type::INT8,
        Type::TEXT,
        Type::TEXT,
        Type::INT8,
        Type::INT8,
        Type::TEXT,
        Type::NUMERIC,
        Type::NUMERIC,
    ],
};
const TRANSACTIONS: CopyTable = CopyTable {
    into: "transactions (id, sequence, ordinal, strategy, account, security, checksum, uuid, at, settlement_date, kind, \
        quantity, price, execution_commission, clearing_commission, fee, currency, int_order_id, ext_id, description, words)",
    types: &[
        Type::INT8,
        Type::INT8,
        Type::INT4,
        Type::INT8,
        Type::INT8,
        Type::INT8,
        Type::INT8,
        Type::TEXT,
        Type::INT8,
        Type::TEXT,
        Type::TEXT,
        Type::NUMERIC,
        Type::NUMERIC,
        Type::NUMERIC,
        Type::NUMERIC,
        Type::NUMERIC,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
    ],
};
const ORDERS: CopyTable = CopyTable {
    into: "orders (id, int_id, strategy, account, security, at, status, source, words, payload, checksum, ext_id, \
        cl_ord_id, changed_at, exchange, adapter, side, type, time_in_force, quantity, limit_price, stop_price, filled, \
        turnover, reason, reference, submitted_by, emptied)",
    types: &[
        Type::INT8,
        Type::TEXT,
        Type::INT8,
        Type::INT8,
        Type::INT8,
        Type::INT8,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::BYTEA,
        Type::INT8,
        Type::TEXT,
        Type::TEXT,
        Type::INT8,
        Type::INT8,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::NUMERIC,
        Type::NUMERIC,
        Type::NUMERIC,
        Type::NUMERIC,
        Type::NUMERIC,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::BOOL,
    ],
};

/// Their earlier rows go, and say which of them show executions.
const REPLACE_ORDERS: &str = "DELETE FROM orders WHERE id = ANY($1) RETURNING id, filled > 0 OR emptied";

const VALUE_SAMPLES: CopyTable = CopyTable { into: value_samples::COLUMNS, types: value_samples::TYPES };

/// A table with the columns that are copied.
struct CopyTable {
    into: &'static str,
    types: &'static [Type],
}

impl CopyTable {
    async fn copy(
        &self,
        transaction: &tokio_postgres::Transaction<'_>,
        rows: &[Vec<Cell>],
    ) -> Result<(), DatabaseFailure> {
        if rows.is_empty() {
            return Ok(());
        }
        let sink = transaction.copy_in(&format!("COPY {} FROM STDIN (FORMAT binary)", self.into)).await?;
        let mut writer = pin!(BinaryCopyInWriter::new(sink, self.types));
        for row in rows {
            writer.as_mut().write_raw(row).await?;
        }
        writer.finish().await?;
        Ok(())
    }
}

/// Of an order, without the last column.
#[derive(Debug)]
struct OrderRow {
    cells: Vec<Cell>,
    id: i64,
    has_fills: bool,
    /// It has executions, or the batch shows that some were taken back.
    is_traded: bool,
}

/// The rows of one transaction.
#[derive(Debug, Default)]
pub(crate) struct CopyRows {
    events: Vec<Vec<Cell>>,
    order_events: Vec<Vec<Cell>>,
    fills: Vec<Vec<Cell>>,
    transactions: Vec<Vec<Cell>>,
    /// Behind its other columns each gets whether it is emptied.
    orders: Vec<OrderRow>,
    value_samples: Vec<Vec<Cell>>,
    /// Those of the orders and transactions, of which an earlier row is replaced.
    order_ids: Vec<i64>,
    transaction_ids: Vec<i64>,
}

impl OrderRow {
    /// `traded` are orders whose earlier rows show executions.
    fn finish(mut self, traded: &BTreeSet<i64>) -> Vec<Cell> {
        let is_traded = self.is_traded || traded.contains(&self.id);
        self.cells.push(Cell::Flag(is_traded && !self.has_fills));
        self.cells
    }
}

impl CopyRows {
    pub(crate) async fn copy(self, transaction: &tokio_postgres::Transaction<'_>) -> Result<(), DatabaseFailure> {
        let mut traded = BTreeSet::new();
        if !self.order_ids.is_empty() {
            for row in transaction.query(REPLACE_ORDERS, &[&self.order_ids]).await? {
                if row.try_get(1)? {
                    traded.insert(row.try_get::<_, i64>(0)?);
                }
            }
        }
        if !self.transaction_ids.is_empty() {
            transaction.execute("DELETE FROM transactions WHERE id = ANY($1)", &[&self.transaction_ids]).await?;
        }
        EVENTS.copy(transaction, &self.events).await?;
        ORDER_EVENTS.copy(transaction, &self.order_events).await?;
        FILLS.copy(transaction, &self.fills).await?;
        TRANSACTIONS.copy(transaction, &self.transactions).await?;
        let orders: Vec<_> = self.orders.into_iter().map(|order| order.finish(&traded)).collect();
        ORDERS.copy(transaction, &orders).await?;
        VALUE_SAMPLES.copy(transaction, &self.value_samples).await
    }
}

impl RowWriter for CopyRows {
    type Error = Infallible;

    fn event(&mut self, place: EventPlace, published: &PublishedEvent, payload: &[u8]) -> Result<(), Infallible> {
        let ((sequence, ordinal), at) = (key(place), published.at.0);
        let class = i16::from(published.event.class() as u8);
        let sum = checksum::of_event(sequence, ordinal, at, class, payload).value();
        let (class, payload) = (Cell::Small(class), Cell::Bytes(payload.to_vec()));
        let row = [Cell::Long(sequence), Cell::Int(ordinal), Cell::Long(at), class, payload, Cell::Long(sum)];
        self.events.push(row.into());
        Ok(())
    }

    fn order_event(&mut self, place: EventPlace, status: &OrderStatus) -> Result<(), Infallible> {
        let ((sequence, ordinal), order) = (key(place), bound(status.order.0));
        let sum = checksum::of_link(order, sequence, ordinal, &[]).value();
        self.order_events.push(vec![Cell::Long(order), Cell::Long(sequence), Cell::Int(ordinal), Cell::Long(sum)]);
        Ok(())
    }

    fn fill(&mut self, place: EventPlace, fill: &Fill) -> Result<(), Infallible> {
        let (sequence, ordinal) = key(place);
        let owners = [fill.strategy.0, fill.account.0, fill.security.0].map(bound);
        let sum = checksum::of_link(sequence, sequence, ordinal, &owners).value();
        self.fills.push(vec![
            Cell::Long(sequence),
            Cell::Int(ordinal),
            Cell::Long(owners[0]),
            Cell::Long(owners[1]),
            Cell::Long(owners[2]),
            Cell::Long(sum),
            Cell::id(fill.order.0),
            Cell::text(fill.int_id.as_str()),
            Cell::text(&fill.ext_id),
            Cell::Long(fill.at.0),
            Cell::optional(fill.ext_at, |at| Cell::Long(at.0)),
            Cell::text(side_name(fill.side)),
            Cell::Number(fill.quantity.0),
            Cell::Number(fill.price.0),
        ]);
        Ok(())
    }

    fn transaction(&mut self, place: EventPlace, booked: &Transaction) -> Result<(), Infallible> {
        let ((sequence, ordinal), id) = (key(place), bound(booked.id.0));
        let owners = [booked.strategy.0, booked.account.0].map(bound);
        let security = booked.security.map(|security| bound(security.0));
        let words = storable(&transaction_words(booked));
        let owner_ids = checksum::owners(owners, security);
        let sum = checksum::of_transaction(id, sequence, ordinal, &owner_ids, &words).value();
        self.transaction_ids.push(id);
        self.transactions.push(vec![
            Cell::Long(id),
            Cell::Long(sequence),
            Cell::Int(ordinal),
            Cell::Long(owners[0]),
            Cell::Long(owners[1]),
            Cell::optional(security, Cell::Long),
            Cell::Long(sum),
            Cell::text(&booked.uuid.to_string()),
            Cell::Long(booked.at.0),
            Cell::optional(booked.settlement_date, |date| Cell::text(&date.to_string())),
            Cell::text(booked.kind.name()),
            Cell::Number(booked.quantity.0),
            Cell::Number(booked.price.0),
            Cell::Number(booked.execution_commission.0),
            Cell::Number(booked.clearing_commission.0),
            Cell::Number(booked.fee.0),
            Cell::text(&booked.currency.to_string()),
            Cell::optional(booked.int_order_id.as_ref(), |id| Cell::text(id.as_str())),
            Cell::optional(booked.ext_id.as_ref(), |id| Cell::text(id)),
            Cell::optional(booked.description.as_ref(), |text| Cell::text(text)),
            Cell::Text(words),
        ]);
        Ok(())
    }

    fn value_sample(&mut self, sequence: u64, sample: &ValueSample, payload: &[u8]) -> Result<(), Infallible> {
        self.value_samples.push(value_samples::row(sequence, sample, payload));
        Ok(())
    }

    fn order(&mut self, order: &Order, is_traded: bool, payload: &[u8]) -> Result<(), Infallible> {
        let SearchColumns { at, changed_at, has_fills, status, source, words } = SearchColumns::from_order(order);
        let [id, strategy, account, security] =
            [order.id.0, order.strategy.0, order.account.0, order.security.0].map(bound);
        let (int_id, source, words) = (storable(order.int_id.as_str()), storable(&source), storable(&words));
        let numbers = [id, strategy, account, security, at];
        let sum = checksum::of_order(numbers, [&int_id, status, &source, &words], payload).value();
        self.order_ids.push(id);
        let cells = vec![
            Cell::Long(id),
            Cell::Text(int_id),
            Cell::Long(strategy),
            Cell::Long(account),
            Cell::Long(security),
            Cell::Long(at),
            Cell::text(status),
            Cell::Text(source),
            Cell::Text(words),
            Cell::Bytes(payload.to_vec()),
            Cell::Long(sum),
            Cell::optional(order.ext_id.as_ref(), |id| Cell::text(id)),
            Cell::optional(order.cl_ord_id.as_ref(), |id| Cell::text(id)),
            Cell::Long(changed_at),
            Cell::id(order.exchange.0),
            Cell::text(&order.adapter.to_string()),
            Cell::text(side_name(order.side)),
            Cell::text(order.terms.kind.name()),
            Cell::text(order.terms.tif.name()),
            Cell::Number(order.terms.quantity.0),
            Cell::optional(order.terms.kind.limit(), |price| Cell::Number(price.0)),
            Cell::optional(order.terms.kind.stop(), |price| Cell::Number(price.0)),
            Cell::Number(order.filled.0),
            Cell::Number(order.turnover.0),
            Cell::optional(order.reason.as_ref(), |text| Cell::text(text)),
            Cell::optional(order.reference.as_ref(), |text| Cell::text(text)),
            Cell::optional(order.submitted_by.as_ref(), |text| Cell::text(text)),
        ];
        self.orders.push(OrderRow { cells, id, has_fills, is_traded });
        Ok(())
    }
}

/// An ordinal is the place among the events of one input, which are few.
fn key(place: EventPlace) -> (i64, i32) {
    (bound(place.sequence), i32::try_from(place.ordinal).unwrap_or(i32::MAX))
}

fn side_name(side: domain::Side) -> &'static str {
    match side {
        domain::Side::Buy => "BUY",
        domain::Side::Sell => "SELL",
    }
}
