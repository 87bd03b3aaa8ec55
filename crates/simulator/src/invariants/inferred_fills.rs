//! Fills that the platform inferred: each stands for executions of its order that the venue has and could not report any more.

use std::collections::BTreeMap;

use domain::{Decimal, OrderId, Text, Transaction};

use super::broken_invariant::{InvariantResult, ensure};
use super::venue_books::VenueBooks;

/// As the platform names them: the order follows, and a number.
const PREFIX: &str = "INFERRED-";
/// A venue rounds its average price, so that the value of what is inferred may be off by so much a unit.
const PRICE_TOLERANCE: Decimal = Decimal::from_parts(1, 0, 0, false, 6);

/// Quantity and value of what was inferred of each order, by venue.
#[derive(Default)]
pub(super) struct InferredFills(BTreeMap<(usize, OrderId), Sum>);

#[derive(Debug, Default, Clone, Copy)]
struct Sum {
    quantity: Decimal,
    value: Decimal,
}

impl Sum {
    fn add(&mut self, quantity: Decimal, price: Decimal) {
        self.quantity += quantity;
        self.value += quantity * price;
    }
}

impl InferredFills {
    /// Whether the transaction is one of them.
    pub(super) fn add(&mut self, venue: usize, exec_id: &str, transaction: &Transaction) -> bool {
        let Some(order) = inferred_order(exec_id) else { return false };
        self.0.entry((venue, order)).or_default().add(transaction.quantity.0.abs(), transaction.price.0);
        true
    }

    /// Whether executions of the order may be booked as a part of one.
    pub(super) fn has(&self, venue: usize, order: OrderId) -> bool {
        self.0.contains_key(&(venue, order))
    }

    /// None is more than what the venue has of its order and is not booked by itself.
    pub(super) fn are_of_venue(
        &self,
        books: &VenueBooks,
        is_booked: &dyn Fn(&(usize, Text)) -> bool,
    ) -> InvariantResult {
        for (key, inferred) in &self.0 {
            let unbooked = unbooked(books, *key, is_booked);
            ensure(inferred.quantity <= unbooked.quantity, "a fill that the venue does not have", || {
                format!("inferred of {key:?}: {inferred:?}, not booked by itself: {unbooked:?}")
            })?;
        }
        Ok(())
    }

    /// None is more than executions of its order that are not left out: those of which the reports are lost. Where there is one, an execution
    /// that is reported later may be taken for a part of it, and shows in the next total.
    pub(super) fn were_lost(
        &self,
        books: &VenueBooks,
        is_left_out: &dyn Fn(&(usize, Text)) -> bool,
    ) -> InvariantResult {
        for (key, inferred) in &self.0 {
            let lost = unbooked(books, *key, is_left_out);
            let is_first = inferred.quantity <= lost.quantity;
            ensure(is_first || !lost.quantity.is_zero(), "a fill is inferred and was not lost", || {
                format!("inferred of {key:?}: {inferred:?}, lost and not booked by itself: {lost:?}")
            })?;
        }
        Ok(())
    }

    /// Once all is quiet each is all of it, and worth the same.
    pub(super) fn are_whole(&self, books: &VenueBooks, is_booked: &dyn Fn(&(usize, Text)) -> bool) -> InvariantResult {
        for (key, inferred) in &self.0 {
            let unbooked = unbooked(books, *key, is_booked);
            let is_whole = inferred.quantity == unbooked.quantity;
            ensure(is_whole, "a fill is missing", || format!("{key:?}: inferred {inferred:?} of {unbooked:?}"))?;
            let off = (inferred.value - unbooked.value).abs();
            ensure(off <= inferred.quantity * PRICE_TOLERANCE, "an inferred fill has a wrong price", || {
                format!("{key:?}: inferred {inferred:?} of {unbooked:?}")
            })?;
        }
        Ok(())
    }
}

/// The order of an inferred fill, by its id; none of all other fills.
pub(super) fn inferred_order(exec_id: &str) -> Option<OrderId> {
    exec_id.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next()?.parse().ok()).map(OrderId)
}

fn unbooked(books: &VenueBooks, (venue, order): (usize, OrderId), is_booked: &dyn Fn(&(usize, Text)) -> bool) -> Sum {
    let mut sum = Sum::default();
    let of_order = books.executions.iter().filter(|((of, _), fill)| *of == venue && fill.order == order);
    for (_, fill) in of_order.filter(|(key, _)| !is_booked(key)) {
        sum.add(fill.quantity.0, fill.price.0);
    }
    sum
}
