//! The list of open orders against ours.

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::breaks::{BreakKind, Difference};
use domain::order::Order;
use domain::report::{OpenOrdersPage, VenueOrder};
use domain::{AdapterName, OrderId, Timestamp};

use super::listings::{ListedPages, OpenOrdersListing};
use super::schedule::LISTING_RETRY_SECONDS;
use crate::orders::inquiries::inquiry_queue::INQUIRIES_AFTER_GAP_PER_SECOND;
use crate::orders::inquiries::venue_timeouts::awaits_venue;
use crate::orders::legs::{expected_terms, terms_of_order};
use crate::outbox::{Moment, Outbox};
use crate::trading::Trading;

/// A list of more pages is not used.
pub(crate) const LISTING_PAGES_MAX: u32 = 1_000;
const LOST_REQUEST: &str = "the request never reached the venue";

impl Trading {
    /// A page of the list; the last one completes it.
    pub(crate) fn on_open_orders(
        &mut self,
        moment: Moment,
        adapter: &AdapterName,
        page: &OpenOrdersPage,
        out: &mut Outbox,
    ) {
        let pause_seconds = self.settings.reconciliation.open_orders_seconds;
        let step = self.listings.change(adapter, |venue| match &mut venue.open_orders {
            Some(listing) if listing.ask_at.is_some() => add_page(listing, page),
            _ => PageStep::Ignored,
        });
        match step {
            Some(PageStep::Complete(list)) => {
                self.ask_for_open_orders(adapter, moment.at.plus_seconds(pause_seconds.into()));
                self.compare_open_orders(moment, adapter, &list, out);
            }
            Some(PageStep::Broken) => {
                self.ask_for_open_orders(adapter, moment.at.plus_seconds(LISTING_RETRY_SECONDS));
                let text = format!("{adapter}: open orders: page {} does not continue the list", page.page);
                out.warn("listing-failed", text);
            }
            Some(PageStep::Added | PageStep::Ignored) | None => {}
        }
    }

    fn ask_for_open_orders(&mut self, adapter: &AdapterName, at: Timestamp) {
        self.listings.change(adapter, |venue| {
            if let Some(listing) = &mut venue.open_orders {
                listing.ask_at = Some(at);
            }
        });
    }

    fn compare_open_orders(&mut self, moment: Moment, adapter: &AdapterName, list: &ListedPages, out: &mut Outbox) {
        self.halt_for_unknown(moment, adapter, list.orders.iter().map(|seen| seen.order), out);
        let are_requests_over = self.adapters.proves_absence(adapter, list.as_of, list.dead_after);
        let lost = are_requests_over.then_some(LOST_REQUEST);
        let owned = list.orders.iter().filter(|seen| self.owns_order(adapter, seen.order, out)).collect();
        let (legs, orders) = self.split_legs(owned);
        for seen in orders {
            self.compare_listed(moment, (seen, list.as_of), lost, out);
        }
        for leg in legs {
            self.on_leg(moment, leg, list.as_of, out);
        }
        self.ask_about_unlisted(moment, adapter, list, out);
        self.settle_agreed_orders(moment, adapter, list, out);
    }

    /// As after a log-on. What was reported since the question is newer than the list.
    fn compare_listed(
        &mut self,
        moment: Moment,
        (seen, as_of): (&VenueOrder, Timestamp),
        lost: Option<&str>,
        out: &mut Outbox,
    ) {
        let Some(order) = self.orders.get(seen.order) else { return };
        if order.changed_at > as_of || self.waiting_orders.contains(order.id) {
            return;
        }
        let order = order.clone();
        if !order.is_open() {
            return self.compare_ended(&order, seen, as_of);
        }
        let terms = terms_of_order(&order, seen.ext_id.as_ref(), seen.terms);
        let is_asked_for = order.pending.replace().is_some_and(|(_, asked)| asked == terms);
        let expected = expected_terms(&order, seen.ext_id.as_ref());
        if expected != seen.terms && !is_asked_for {
            self.note_terms(&order, &expected, seen);
        }
        self.apply_venue_order(moment, seen, out);
        self.apply_final_state(moment, seen, lost, out);
    }

    /// An order that has ended here and is listed as open.
    fn compare_ended(&mut self, order: &Order, seen: &VenueOrder, as_of: Timestamp) {
        let read_lag_millis = self.adapters.read_lag_millis(&order.adapter);
        if order.changed_at.plus_millis(read_lag_millis) <= as_of {
            self.note_open_at_venue(order, seen.ext_id.as_ref(), Some(seen));
        }
    }

    /// Both have it open, or neither.
    fn settle_agreed_orders(&mut self, moment: Moment, adapter: &AdapterName, list: &ListedPages, out: &mut Outbox) {
        let listed: BTreeSet<OrderId> = list.orders.iter().map(|seen| seen.order).collect();
        let agrees = |trading: &Self, difference: &Difference| {
            let order = difference.order.and_then(|order| trading.orders.get(order));
            let is_theirs = difference.order.is_some_and(|order| listed.contains(&order));
            let is_ours = order.is_some_and(|order| order.is_open());
            let is_settled = order.is_none_or(|order| {
                !order.in_doubt && order.changed_at <= list.as_of && order.stray_legs().next().is_none()
            });
            difference.adapter == *adapter && is_ours == is_theirs && is_settled
        };
        self.settle_agreed(moment, BreakKind::Order, agrees, out);
    }

    /// An open order that is not listed has ended, or never came: the venue is asked which, so many a second.
    fn ask_about_unlisted(&mut self, moment: Moment, adapter: &AdapterName, list: &ListedPages, out: &mut Outbox) {
        let listed: BTreeSet<OrderId> = list.orders.iter().map(|seen| seen.order).collect();
        let read_lag_millis = self.adapters.read_lag_millis(adapter);
        let is_missing = |order: &&Arc<Order>| {
            order.adapter == *adapter
                && !listed.contains(&order.id)
                && order.changed_at.plus_millis(read_lag_millis) <= list.as_of
                // A waiting order was never sent, and one without an answer is asked about anyway.
                && !self.waiting_orders.contains(order.id)
                && !awaits_venue(order)
                && self.inquiries.get(order.id).is_none()
        };
        let missing: Vec<OrderId> = self.orders.open().filter(is_missing).map(|order| order.id).collect();
        for (place, order) in missing.iter().enumerate() {
            let seconds = i64::try_from(place / INQUIRIES_AFTER_GAP_PER_SECOND).unwrap_or(i64::MAX);
            let ask_at = moment.at.plus_seconds(seconds);
            self.start_inquiry(*order, ask_at, |inquiry| inquiry.gap_at = Some(list.as_of));
        }
        self.send_inquiries(moment, out);
    }
}

enum PageStep {
    Added,
    Complete(ListedPages),
    /// A page is missing, or of another list.
    Broken,
    /// Not asked for, or older than what was compared.
    Ignored,
}

/// Pages count only together, in order and of one instant.
fn add_page(listing: &mut OpenOrdersListing, page: &OpenOrdersPage) -> PageStep {
    if listing.done_as_of.is_some_and(|done| page.as_of < done) {
        return PageStep::Ignored;
    }
    let before = listing.pages.take();
    let mut pages = match before.filter(|pages| page.page > 0 && pages.as_of == page.as_of) {
        Some(pages) => pages,
        None => ListedPages { as_of: page.as_of, dead_after: page.dead_after, next_page: 0, orders: vec![] },
    };
    if page.page != pages.next_page || page.page >= LISTING_PAGES_MAX {
        return PageStep::Broken;
    }
    pages.next_page += 1;
    pages.dead_after = pages.dead_after.zip(page.dead_after).map(|(one, other)| one.max(other));
    pages.orders.extend_from_slice(&page.orders);
    if page.last {
        listing.done_as_of = Some(page.as_of);
        return PageStep::Complete(pages);
    }
    listing.pages = Some(pages);
    PageStep::Added
}
