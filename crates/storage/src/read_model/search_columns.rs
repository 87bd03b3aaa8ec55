//! Search columns of orders and transactions, the same for every store.

use bus::history::SourceSearch;
use domain::{IntId, Order, Transaction};

/// Separator between names, so that no part is found across them.
const NAME_SEPARATOR: &str = "\n";

/// Search columns of an order, besides its ids.
pub struct SearchColumns {
    pub at: i64,
    pub changed_at: i64,
    /// Whether it has executions. Of such orders, and of those whose executions were taken back, the last change is searched by.
    pub has_fills: bool,
    pub status: &'static str,
    pub source: String,
    pub words: String,
}

impl SearchColumns {
    pub fn from_order(order: &Order) -> Self {
        let further = [&order.ext_id, &order.cl_ord_id, &order.reference].into_iter().flatten();
        let names = std::iter::once(order.int_id.as_str()).chain(further.map(|name| &**name));
        let words = joined(names);
        let (at, changed_at, has_fills) = (order.at.0, order.changed_at.0, order.filled.is_positive());
        Self { at, changed_at, has_fills, status: order.status().name(), source: order.source.to_string(), words }
    }
}

/// What a transaction is found by: its uuid, the ids of its execution and of its order, and its note.
pub fn transaction_words(booked: &Transaction) -> String {
    let uuid = booked.uuid.to_string();
    let order = booked.int_order_id.as_ref().map(IntId::as_str);
    let further = [&booked.ext_id, &booked.ext_order_id, &booked.description].into_iter().flatten();
    joined(std::iter::once(uuid.as_str()).chain(order).chain(further.map(|name| &**name)))
}

fn joined<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(NAME_SEPARATOR).to_lowercase()
}

/// The first and the last source of those that are meant, in the order of their bytes.
pub fn source_bounds(source: &SourceSearch) -> [String; 2] {
    match source {
        SourceSearch::Exactly(source) => [source.clone(), source.clone()],
        // The next character behind the colon ends the names of all clients.
        SourceSearch::AnyFix => ["FIX:".into(), "FIX;".into()],
    }
}
