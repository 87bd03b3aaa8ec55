//! Reports that are lost for good: a venue has begun its session anew. Open orders and those that ended lately are asked about. Where the
//! venue then has filled more than is booked and cannot tell the single executions, the difference is booked as one inferred fill.

use domain::amount::DIVISION_DECIMALS;
use domain::breaks::BreakRepair;
use domain::order::{BaseState, Order};
use domain::report::{FilledTotal, InquiryAnswer, VenueFill, VenueOrder, VenueOrderState};
use domain::{AdapterName, Decimal, OrderId, Price, Quantity};

use super::inquiry_queue::{INQUIRY_FIRST_SECONDS, Inquiry, LostReports};
use crate::orders::fills::inferred_fills::{PriceGrid, inferred_fill, inferred_price};
use crate::orders::reconciliation::NEVER_ARRIVED;
use crate::orders::ticket::OrderReport;
use crate::outbox::{Moment, Outbox};
use crate::trading::Trading;

/// Orders that ended without being filled whole, the newest ones: a fill that crossed their cancel may be among what is lost.
pub(crate) const ENDED_ORDERS_ASKED_MAX: usize = 1_000;

/// What an answer says about fills that are not booked.
pub(super) enum Unbooked {
    Nothing,
    /// The venue is asked once more: a report may be on its way.
    Unconfirmed,
    /// With the total from which it follows.
    Inferred(VenueFill, FilledTotal),
}

impl Trading {
    pub(crate) fn on_reports_lost(&mut self, moment: Moment, adapter: &AdapterName, out: &mut Outbox) {
        let (open, ended) = (self.open_at(adapter), self.ended_lately(adapter));
        let text = format!(
            "{adapter}: the venue has begun its session anew, and what it reported before may be lost; {} open orders and {} that ended \
             are asked about",
            open.len(),
            ended.len()
        );
        out.error("reports-lost", text);
        let orders = [open, ended].concat();
        self.ask_about_all(moment, &orders);
        for order in orders {
            let lost = LostReports { since: moment.at, missing: None };
            self.inquiries.change(order, |inquiry| inquiry.lost = Some(lost));
        }
        self.send_inquiries(moment, out);
        self.list_fills_after_gap(moment, adapter);
    }

    fn ended_lately(&self, adapter: &AdapterName) -> Vec<OrderId> {
        let of_adapter = self.orders.iter().filter(|order| order.adapter == *adapter);
        let mut ended: Vec<_> =
            of_adapter.filter(|order| may_lack_fills(order)).map(|order| (order.changed_at, order.id)).collect();
        ended.sort_unstable_by(|one, other| other.cmp(one));
        ended.truncate(ENDED_ORDERS_ASKED_MAX);
        ended.into_iter().map(|(_, order)| order).collect()
    }

    /// What the venue has filled of an order in all, against what is booked. Nothing is inferred by the first answer, nor of an order that
    /// has changed since the question: a report may be on its way.
    pub(super) fn unbooked(
        &mut self,
        moment: Moment,
        order: &Order,
        (answer, seen): (&InquiryAnswer, &VenueOrder),
        out: &mut Outbox,
    ) -> Unbooked {
        let more = |told: &FilledTotal| told.quantity.minus(order.filled).ok().filter(|missing| missing.is_positive());
        let Some((told, missing)) = answer.filled.as_deref().and_then(|told| Some((*told, more(told)?))) else {
            let is_newer = |lost: &LostReports| answer.as_of < lost.since;
            self.inquiries.change_known(order.id, |inquiry| inquiry.lost = inquiry.lost.filter(is_newer));
            if answer.filled.as_deref().is_some_and(|told| told.quantity == order.filled) {
                self.settle_missing_fills(moment, order.id, out);
            }
            return Unbooked::Nothing;
        };
        let noticed = self.inquiries.get(order.id).and_then(|inquiry| inquiry.lost);
        let is_fresh = order.changed_at <= answer.as_of;
        let is_confirmed = |lost: LostReports| lost.missing == Some(missing) && answer.as_of > lost.since && is_fresh;
        if !noticed.is_some_and(is_confirmed) {
            let is_new = noticed.is_none_or(|lost| lost.missing != Some(missing));
            self.ask_for_missing(moment, order, (told, missing), is_new, out);
            return Unbooked::Unconfirmed;
        }
        match self.inferred_fill(order, told) {
            Some(fill) => Unbooked::Inferred(fill, told),
            None => self.leave_to_person(moment, order, (told, missing), seen, out),
        }
    }

    /// Nothing may be inferred. What the venue says of the end of the order counts all the same; an open order is asked about.
    fn leave_to_person(
        &mut self,
        moment: Moment,
        order: &Order,
        (told, missing): (FilledTotal, Quantity),
        seen: &VenueOrder,
        out: &mut Outbox,
    ) -> Unbooked {
        if order.is_open() && seen.state == VenueOrderState::Live {
            let is_over = told.quantity >= order.terms.quantity;
            self.note_missing_fills(order, told, is_over.then_some(BreakRepair::EndHere));
            self.ask_for_missing(moment, order, (told, missing), false, out);
            return Unbooked::Unconfirmed;
        }
        self.note_missing_fills(order, told, None);
        self.inquiries.change_known(order.id, |inquiry| inquiry.lost = None);
        Unbooked::Nothing
    }

    /// Returns whether it is booked. Where it is not, the venue is asked on.
    pub(super) fn book_inferred(
        &mut self,
        moment: Moment,
        order: &Order,
        (fill, told): (&VenueFill, FilledTotal),
        seen: &VenueOrder,
        out: &mut Outbox,
    ) -> bool {
        let report = OrderReport { moment, order: order.id, ext_at: fill.at };
        if self.apply_fill(report, &order.adapter, fill, None, out) {
            self.inquiries.change_known(order.id, |inquiry| inquiry.lost = None);
            note_inferred(order, fill, out);
            self.settle_missing_fills(moment, order.id, out);
            return true;
        }
        let is_over = seen.state != VenueOrderState::Live || told.quantity >= order.terms.quantity;
        self.note_missing_fills(order, told, (is_over && order.is_open()).then_some(BreakRepair::EndHere));
        self.ask_for_missing(moment, order, (told, fill.quantity), false, out);
        false
    }

    /// Whether what was inferred is the whole difference is not certain any more: the venue is asked, across log-ons.
    pub(crate) fn ask_for_total(&mut self, moment: Moment, order: OrderId) {
        let ask_at = moment.at.plus_seconds(INQUIRY_FIRST_SECONDS.into());
        let lost = LostReports { since: moment.at, missing: None };
        self.start_inquiry(order, ask_at, |inquiry| {
            inquiry.gap_at = Some(moment.at);
            inquiry.lost.get_or_insert(lost);
        });
    }

    fn ask_for_missing(
        &mut self,
        moment: Moment,
        order: &Order,
        (told, missing): (FilledTotal, Quantity),
        is_new: bool,
        out: &mut Outbox,
    ) {
        let reason = format!("the venue has filled {}, but only {} were reported", told.quantity, order.filled);
        if is_new {
            out.error("fills-missing", format!("order {}: {reason}; the venue is asked again", order.int_id));
        }
        self.mark_in_doubt(OrderReport { moment, order: order.id, ext_at: None }, &reason.into(), out);
        let lost = LostReports { since: moment.at, missing: Some(missing) };
        let again = |inquiry: &mut Inquiry| (inquiry.gap_at, inquiry.lost) = (Some(moment.at), Some(lost));
        match is_new {
            true => self.start_inquiry(order.id, moment.at.plus_seconds(INQUIRY_FIRST_SECONDS.into()), again),
            // It is asked again anyway, at its growing pauses.
            false => self.inquiries.change(order.id, again),
        }
    }
}

impl Trading {
    /// Not where the venue took an execution back, which its total may not show, nor of an order of several legs, whose totals are the
    /// legs'.
    fn inferred_fill(&self, order: &Order, told: FilledTotal) -> Option<VenueFill> {
        if order.legs.is_some() {
            return None;
        }
        let executions: Vec<_> = self.orders.executions.of_order(order.id).collect();
        if executions.iter().any(|execution| execution.busted && execution.inferred.is_none()) {
            return None;
        }
        let (inferred, reported): (Vec<_>, Vec<_>) =
            executions.into_iter().partition(|execution| execution.inferred.is_some());
        let grid = self.price_grid(order, told, reported.iter().map(|execution| execution.price));
        let (quantity, price) = inferred_price((order.filled, order.turnover), told, grid)?;
        let before = inferred.iter().filter(|execution| !execution.busted).count();
        Some(inferred_fill(order, before + 1, (quantity, price), told.at))
    }

    /// `reported` are the prices that the venue has reported of the order.
    fn price_grid(&self, order: &Order, told: FilledTotal, reported: impl Iterator<Item = Price>) -> PriceGrid {
        let tick = self.tick_of(order);
        let tick_digits = digits_of(tick);
        let security = self.reference.security(order.security).ok();
        let (lot, size) = security.map_or_else(Default::default, |known| (known.qty_incr, known.contract_size));
        let quantity_digits = digits_of(lot).max(digits_of(told.quantity.0)).max(digits_of(order.filled.0));
        // A cost has then no more digits than any quotient of amounts, also after a part of the position was closed.
        let digits_max = DIVISION_DECIMALS.saturating_sub(quantity_digits + digits_of(size)).max(tick_digits);
        let digits = reported.map(|price| digits_of(price.0)).fold(tick_digits, u32::max);
        PriceGrid { tick, digits, digits_max }
    }

    /// The venue's, else that of the reference data; zero where neither has one.
    fn tick_of(&self, order: &Order) -> Decimal {
        let listed = self.venue_listings.get(&order.adapter, order.security).and_then(|listing| listing.tick);
        let known = || self.reference.security(order.security).map(|security| security.price_incr);
        listed.map_or_else(|| known().unwrap_or_default(), |tick| tick.0)
    }
}

fn digits_of(number: Decimal) -> u32 {
    number.normalize().scale()
}

/// Of an order that ended with less than its quantity, also of one that was taken for never arrived, a fill may be lost.
fn may_lack_fills(order: &Order) -> bool {
    let never_arrived = || order.reason.as_deref() == Some(NEVER_ARRIVED);
    order.state == BaseState::Canceled || (order.state == BaseState::Rejected && never_arrived())
}

fn note_inferred(order: &Order, fill: &VenueFill, out: &mut Outbox) {
    let text = format!(
        "order {}: {} @ {} is booked as one inferred fill ({}): the venue has filled it and does not tell its executions; compare with its \
         statement",
        order.int_id, fill.quantity, fill.price, fill.exec_id
    );
    out.error("fill-inferred", text);
}
