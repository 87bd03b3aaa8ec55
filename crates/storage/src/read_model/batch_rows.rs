//! Rows of a batch, the same for every store: each event of the history once, an index row for those of orders, fills and
//! transactions, the newest state of each order that changed, and the samples of the value history.

use std::collections::{BTreeMap, BTreeSet};

use domain::order::ExecType;
use domain::{Event, Fill, Order, OrderId, OrderStatus, PublishedEvent, Transaction, ValueSample};

use super::payload;
use super::store::EventBatch;

/// Where an event is found: the sequence of its input, and its place among the events of that input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EventPlace {
    pub sequence: u64,
    pub ordinal: u32,
}

/// Receives the rows of one transaction.
pub trait RowWriter {
    type Error;

    fn event(&mut self, place: EventPlace, published: &PublishedEvent, payload: &[u8]) -> Result<(), Self::Error>;

    fn order_event(&mut self, place: EventPlace, status: &OrderStatus) -> Result<(), Self::Error>;

    fn fill(&mut self, place: EventPlace, fill: &Fill) -> Result<(), Self::Error>;

    fn transaction(&mut self, place: EventPlace, transaction: &Transaction) -> Result<(), Self::Error>;

    /// The newest state of an order, and whether the batch shows that it has executions, or had some that were taken back.
    fn order(&mut self, order: &Order, is_traded: bool, payload: &[u8]) -> Result<(), Self::Error>;

    /// A sample of the value history; of one sequence each scope has at most one.
    fn value_sample(&mut self, sequence: u64, sample: &ValueSample, payload: &[u8]) -> Result<(), Self::Error>;
}

/// Hands every row of a batch to a writer. `buffer` is used for payloads.
pub fn write_rows<W: RowWriter>(batch: &EventBatch, buffer: &mut Vec<u8>, writer: &mut W) -> Result<(), W::Error> {
    let (mut place, mut orders) = (EventPlace::default(), BTreeMap::<OrderId, &Order>::new());
    let traded = traded_orders(&batch.events);
    for published in &batch.events {
        if let Event::Order(order) = &published.event {
            orders.insert(order.id, order);
            continue;
        }
        if let Event::ValueSample(sample) = &published.event {
            payload::encode(sample.as_ref(), buffer);
            writer.value_sample(published.sequence, sample, buffer)?;
            continue;
        }
        if !payload::encode_event(&published.event, buffer) {
            continue;
        }
        let is_next = published.sequence == place.sequence;
        place.ordinal = if is_next { place.ordinal + 1 } else { 0 };
        place.sequence = published.sequence;
        write_event(place, published, buffer, writer)?;
    }
    for order in orders.into_values() {
        payload::encode(order, buffer);
        writer.order(order, traded.contains(&order.id), buffer)?;
    }
    Ok(())
}

/// Of one order a batch has the newest state alone, so executions that were taken back since show only here.
fn traded_orders(events: &[PublishedEvent]) -> BTreeSet<OrderId> {
    let traded = |published: &PublishedEvent| match &published.event {
        Event::Order(order) => order.filled.is_positive().then_some(order.id),
        Event::OrderStatus(status) => is_execution(status.exec_type).then_some(status.order),
        _ => None,
    };
    events.iter().filter_map(traded).collect()
}

fn is_execution(step: ExecType) -> bool {
    matches!(step, ExecType::PartialFill | ExecType::Fill | ExecType::TradeCorrect | ExecType::TradeCancel)
}

fn write_event<W: RowWriter>(
    place: EventPlace,
    published: &PublishedEvent,
    payload: &[u8],
    writer: &mut W,
) -> Result<(), W::Error> {
    writer.event(place, published, payload)?;
    match &published.event {
        Event::OrderStatus(status) => writer.order_event(place, status),
        Event::Fill(fill) => writer.fill(place, fill),
        Event::Transaction(transaction) => writer.transaction(place, transaction),
        _ => Ok(()),
    }
}
