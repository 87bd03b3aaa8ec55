//! Search columns of an order, the same for every store.

use bus::history::SourceSearch;
use domain::Order;

/// Separator between the names of an order, so that no part is found across them.
const NAME_SEPARATOR: &str = "\n";

/// Search columns of an order, besides its ids.
pub struct SearchColumns {
    pub at: i64,
    pub status: &'static str,
    pub source: String,
    pub words: String,
}

impl SearchColumns {
    pub fn from_order(order: &Order) -> Self {
        let further = [&order.ext_id, &order.cl_ord_id, &order.reference].into_iter().flatten();
        let names = std::iter::once(order.int_id.as_str()).chain(further.map(|name| &**name));
        let words = names.collect::<Vec<_>>().join(NAME_SEPARATOR).to_lowercase();
        Self { at: order.at.0, status: order.status().name(), source: order.source.to_string(), words }
    }
}

/// The first and the last source of those that are meant, in the order of their bytes.
pub fn source_bounds(source: &SourceSearch) -> [String; 2] {
    match source {
        SourceSearch::Exactly(source) => [source.clone(), source.clone()],
        // The next character behind the colon ends the names of all clients.
        SourceSearch::AnyFix => ["FIX:".into(), "FIX;".into()],
    }
}
