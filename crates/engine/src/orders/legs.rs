//! Legs of orders, at venues that replace an order by cancelling it and placing another one. Either half can fail: the order
//! then ends, keeps its terms, or has two legs in the market, of which the earlier one is cancelled again. What the venue
//! has not said is asked about, never guessed.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use domain::order::{BaseState, ExecType, LegState, Order, OrderLeg, OrderLegs, OrderTerms};
use domain::report::{CancelReplaceReport, HalfOutcome, ReplaceKind, VenueOrder, VenueOrderState};
use domain::{Event, Instruction, OrderId, Overflow, Quantity, Text, Timestamp};

use super::inquiries::inquiry_queue::INQUIRY_FIRST_SECONDS;
use crate::orders::ticket::OrderReport;
use crate::outbox::{Moment, Outbox};
use crate::trading::Trading;

const NO_REASON: &str = "the venue gave no reason";

impl Trading {
    pub(crate) fn on_cancel_replaced(&mut self, report: OrderReport, told: &CancelReplaceReport, out: &mut Outbox) {
        let reason = told.reason.clone().unwrap_or_else(|| NO_REASON.into());
        match (told.canceled, told.placed, &told.new_leg) {
            (canceled, HalfOutcome::Done, Some(leg)) => self.on_leg_placed(report, told, (canceled, leg), out),
            (HalfOutcome::Done, HalfOutcome::Refused, _) => {
                let reason = format!("cancelled, but its replacement was refused: {reason}");
                self.on_ended(report, ExecType::Canceled, Some(&reason.into()), out);
            }
            (HalfOutcome::Refused, HalfOutcome::Refused, _) => self.on_replace_rejected(report, &reason, out),
            // What is placed and has no id cannot be told from the leg before.
            (_, HalfOutcome::Done | HalfOutcome::Unknown, _) | (HalfOutcome::Unknown, HalfOutcome::Refused, _) => {
                self.on_delivery_unknown(report, &reason, told.dead_after, out);
            }
        }
    }

    /// The new leg is in the market: the order works by it, whatever became of the one before.
    fn on_leg_placed(
        &mut self,
        report: OrderReport,
        told: &CancelReplaceReport,
        (canceled, leg): (HalfOutcome, &Text),
        out: &mut Outbox,
    ) {
        let Some(order) = self.find_order(report, out).cloned() else { return };
        let old_leg = told.old_leg.clone().or(order.ext_id.clone()).filter(|old| old != leg);
        if let Some((_, terms)) = order.pending.replace().filter(|_| order.ext_id.as_ref() != Some(leg)) {
            self.name_old_leg(&order, old_leg.as_ref());
            self.on_replaced(report, terms, Some(leg), out);
        }
        let works_by_it = |order: &Order| order.state.is_working() && order.ext_id.as_ref() == Some(leg);
        if !self.orders.get(report.order).is_some_and(|order| works_by_it(order)) {
            let terms = order.pending.replace().map_or(order.terms, |(_, terms)| terms);
            self.add_stray_leg(&order, leg, terms, out);
        }
        let state = match canceled {
            HalfOutcome::Done => LegState::Ended,
            HalfOutcome::Refused => LegState::Live,
            HalfOutcome::Unknown => LegState::Unknown,
        };
        if let Some(old_leg) = old_leg {
            self.set_leg_state(report.moment, (report.order, &old_leg), state, out);
        }
        self.settle_stray_legs(report.moment, report.order, out);
    }

    /// The venue has the working leg with other terms, which change nothing of the order itself.
    pub(super) fn correct_leg(&mut self, order: &Order, seen: &VenueOrder, out: &mut Outbox) {
        let is_other = working_leg(order, seen.ext_id.as_ref()).is_some_and(|(leg, _)| leg.terms != seen.terms);
        if is_other && order.state.is_working() {
            let corrected = self.orders.change(order.id, |order| change_legs(order, None, seen.terms));
            out.publish(Event::Order(corrected));
        }
    }

    /// The venue's id of the first leg may have been lost with its acceptance.
    fn name_old_leg(&mut self, order: &Order, old_leg: Option<&Text>) {
        if order.ext_id.is_none() && old_leg.is_some() {
            self.orders.change(order.id, |order| order.ext_id = old_leg.cloned());
        }
    }

    /// A leg that nothing explains: its replace was given up, or the order has ended. One that was taken for gone is in the
    /// market again, unless all of it was traded.
    fn add_stray_leg(&mut self, order: &Order, leg: &Text, terms: OrderTerms, out: &mut Outbox) {
        let added = self.orders.change(order.id, |order| {
            begin_legs(order);
            let legs = order.legs.get_or_insert_default();
            match legs.get_mut(leg) {
                Some(known) if known.is_filled() => {}
                Some(known) => known.state = LegState::Live,
                None => legs.push(OrderLeg::live(leg.clone(), terms)),
            }
        });
        if added.stray_legs().any(|stray| stray.ext_id == *leg) {
            self.warn_stray_leg(&added, leg, out);
        }
    }

    /// Whether it is a new leg of an order that has ended here, and nothing was known of it.
    pub(super) fn is_late_leg(&self, order: &Order, ext_id: Option<&Text>) -> bool {
        let has_ended = matches!(order.state, BaseState::Canceled | BaseState::Rejected);
        has_ended && self.makes_leg(order, ext_id) && ext_id.is_some_and(|leg| !order.has_leg(leg))
    }

    pub(super) fn on_late_leg(&mut self, moment: Moment, order: &Order, leg: (&Text, OrderTerms), out: &mut Outbox) {
        self.add_stray_leg(order, leg.0, leg.1, out);
        self.settle_stray_legs(moment, order.id, out);
    }

    /// Whether the venue gives a replaced order another id, so that the earlier one has to be remembered.
    pub(super) fn makes_leg(&self, order: &Order, ext_id: Option<&Text>) -> bool {
        ext_id.is_some()
            && order.ext_id.is_some()
            && ext_id != order.ext_id.as_ref()
            && self.adapters.replace_kind(&order.adapter) == ReplaceKind::CancelReplace
    }

    /// Whether new terms settle a replace that is on its way. Where a venue cancels and places anew, an order that keeps its id was
    /// changed by the venue itself (self-trade prevention), unless a lower quantity was asked for: the request is still on its way.
    pub(super) fn answers_replace(&self, order: &Order, ext_id: Option<&Text>, terms: &OrderTerms) -> bool {
        let Some((_, asked)) = order.pending.replace() else { return true };
        let keeps_id = ext_id.is_some() && ext_id == order.ext_id.as_ref();
        if !keeps_id || self.adapters.replace_kind(&order.adapter) != ReplaceKind::CancelReplace {
            return true;
        }
        let is_lowered = asked.quantity < order.terms.quantity && terms.quantity < asked.quantity;
        (terms.kind, terms.tif) == (asked.kind, asked.tif) && (terms.quantity == asked.quantity || is_lowered)
    }

    /// A leg that the venue speaks of by itself, or as its answer to a cancel. One that stays live was asked to be cancelled
    /// already: it is cancelled again when the next inquiry shows it, never at the speed of the line.
    pub(crate) fn on_leg_report(&mut self, moment: Moment, seen: &VenueOrder, out: &mut Outbox) {
        let was_live = self.is_live_leg(seen);
        if self.note_leg(moment, seen, moment.at, out) && !(was_live && self.is_live_leg(seen)) {
            self.settle_stray_legs(moment, seen.order, out);
        }
    }

    fn is_live_leg(&self, seen: &VenueOrder) -> bool {
        let legs = self.orders.get(seen.order).and_then(|order| order.legs.as_ref());
        let leg = legs.zip(seen.ext_id.as_ref()).and_then(|(legs, ext_id)| legs.get(ext_id));
        leg.is_some_and(|leg| leg.state == LegState::Live)
    }

    /// What a list of the venue shows of a leg besides the one that the order works by.
    pub(crate) fn on_leg(&mut self, moment: Moment, seen: &VenueOrder, as_of: Timestamp, out: &mut Outbox) {
        if self.note_leg(moment, seen, as_of, out) {
            self.settle_stray_legs(moment, seen.order, out);
        }
    }

    /// Returns whether it counts.
    pub(super) fn note_leg(&mut self, moment: Moment, seen: &VenueOrder, as_of: Timestamp, out: &mut Outbox) -> bool {
        let (Some(order), Some(ext_id)) = (self.orders.get(seen.order).cloned(), &seen.ext_id) else { return false };
        if order.changed_at > as_of || (order.state.is_working() && order.ext_id.as_ref() == Some(ext_id)) {
            return false;
        }
        if order.state == BaseState::Filled && order.ext_id.is_none() && order.legs.is_none() {
            self.name_filled_leg(order.id, ext_id, out);
            return false;
        }
        let is_known = order.legs.as_ref().is_some_and(|legs| legs.get(ext_id).is_some());
        if !is_known && seen.state == VenueOrderState::Live && order.ext_id.as_ref() != Some(ext_id) {
            self.add_stray_leg(&order, ext_id, seen.terms, out);
        }
        // The venue may have lowered a leg by itself: what was traded of it may be all that is left.
        let traded = order.legs.as_ref().and_then(|legs| legs.get(ext_id)).map_or(Quantity::ZERO, |leg| leg.filled);
        let is_traded = traded.is_positive() && traded >= seen.terms.quantity;
        let is_live = seen.state == VenueOrderState::Live && !is_traded;
        let state = if is_live { LegState::Live } else { LegState::Ended };
        self.set_leg_state(moment, (order.id, ext_id), state, out);
        true
    }

    /// The acceptance of an order was lost; what the venue shows is the one by which all of it was traded.
    fn name_filled_leg(&mut self, order: OrderId, ext_id: &Text, out: &mut Outbox) {
        let named = self.orders.change(order, |order| order.ext_id = Some(ext_id.clone()));
        out.publish(Event::Order(named));
    }

    fn set_leg_state(&mut self, moment: Moment, (order, ext_id): (OrderId, &Text), state: LegState, out: &mut Outbox) {
        let leg = |order: &Order| order.legs.as_ref().and_then(|legs| legs.get(ext_id)).cloned();
        let Some(before) = self.orders.get(order).and_then(|order| leg(order)) else { return };
        // A leg that is filled is shown as live until its fills are counted.
        if before.state == state || before.is_filled() && before.state == LegState::Ended {
            return;
        }
        let changed = self.orders.change(order, |order| {
            if let Some(leg) = order.legs.as_mut().and_then(|legs| legs.get_mut(ext_id)) {
                leg.state = state;
            }
            order.changed_at = moment.at;
        });
        out.publish(Event::Order(changed.clone()));
        match state {
            LegState::Live => self.warn_stray_leg(&changed, ext_id, out),
            LegState::Ended => self.settle_leg_break(moment, &changed, ext_id, out),
            LegState::Unknown => {}
        }
    }

    fn warn_stray_leg(&mut self, order: &Order, leg: &Text, out: &mut Outbox) {
        let text = format!("order {}: {leg} is in the market too and is cancelled", order.int_id);
        out.error("two-legs", text);
        self.note_stray_leg(order, leg);
    }

    /// Legs that may trade besides the one that the order works by are cancelled, and asked about until they are gone.
    pub(crate) fn settle_stray_legs(&mut self, moment: Moment, order: OrderId, out: &mut Outbox) {
        let Some(held) = self.orders.get(order).filter(|order| order.stray_legs().next().is_some()) else { return };
        let live = held.stray_legs().filter(|leg| leg.state == LegState::Live);
        for leg in live.map(|leg| leg.ext_id.clone()).collect::<Vec<_>>() {
            let numbered = self.orders.change(order, |order| order.request += 1);
            out.instruct(&numbered.adapter, Instruction::CancelLeg(numbered.clone(), leg));
        }
        if self.inquiries.get(order).is_none_or(|inquiry| inquiry.ask_at.is_none()) {
            let ask_at = moment.at.plus_seconds(INQUIRY_FIRST_SECONDS.into());
            self.start_inquiry(order, ask_at, |_| {});
        }
    }

    /// What a venue lists of orders, and apart from it the legs besides those that they work by. A new leg that is not known
    /// yet comes first: what else is listed of its order is then an earlier one.
    pub(crate) fn split_legs<'a>(&self, mut listed: Vec<&'a VenueOrder>) -> (Vec<&'a VenueOrder>, Vec<&'a VenueOrder>) {
        let is_replaced = |seen: &&VenueOrder| {
            let order = self.orders.get(seen.order).filter(|order| self.makes_leg(order, seen.ext_id.as_ref()));
            order.is_some_and(|order| order.pending.replace().is_some()) && !self.is_other_leg(seen)
        };
        let replaced: BTreeSet<OrderId> =
            listed.iter().filter(|seen| is_replaced(seen)).map(|seen| seen.order).collect();
        let (mut legs, mut orders) = (Vec::new(), Vec::new());
        for seen in listed.drain(..) {
            let is_earlier = replaced.contains(&seen.order) && !is_replaced(&seen);
            if is_earlier || self.is_other_leg(seen) { legs.push(seen) } else { orders.push(seen) }
        }
        (legs, orders)
    }

    /// Whether a listed order is a leg besides the one that the order works by.
    pub(crate) fn is_other_leg(&self, seen: &VenueOrder) -> bool {
        let Some((order, ext_id)) = self.orders.get(seen.order).zip(seen.ext_id.as_ref()) else { return false };
        let is_other = order.ext_id.as_ref().is_some_and(|working| working != ext_id);
        if !is_other || self.adapters.replace_kind(&order.adapter) != ReplaceKind::CancelReplace {
            return false;
        }
        let is_known = order.legs.as_ref().is_some_and(|legs| legs.get(ext_id).is_some());
        // A leg that is not known is the new one, where a replace is on its way.
        is_known || order.pending.replace().is_none()
    }
}

/// The leg that the order worked by so far becomes the first of the list.
fn begin_legs(order: &mut Order) {
    if let (None, Some(ext_id)) = (&order.legs, &order.ext_id) {
        let state = if order.state.is_working() { LegState::Live } else { LegState::Ended };
        let first = OrderLeg { ext_id: ext_id.clone(), terms: order.terms, state, filled: order.filled };
        order.legs = Some(Box::new(OrderLegs(vec![first])));
    }
}

/// The order works by a new leg from now on; the one before has ended, unless the venue says otherwise.
fn add_leg(order: &mut Order, ext_id: &Text, terms: OrderTerms) {
    begin_legs(order);
    // The venue places what was asked for, whatever of the leg before was filled meanwhile.
    let quantity = order.pending.replace().map_or(terms.quantity, |(_, asked)| asked.quantity);
    end_working_leg(order);
    let legs = order.legs.get_or_insert_default();
    match legs.get_mut(ext_id) {
        Some(known) => known.state = LegState::Live,
        None => legs.push(OrderLeg::live(ext_id.clone(), OrderTerms { quantity, ..terms })),
    }
}

/// A replace took effect: with a new leg, or in place, of which the venue shows these terms.
pub(super) fn change_legs(order: &mut Order, new_leg: Option<&Text>, shown: OrderTerms) {
    if let Some(ext_id) = new_leg {
        return add_leg(order, ext_id, shown);
    }
    let Order { legs: Some(legs), ext_id: Some(ext_id), .. } = order else { return };
    if let Some(leg) = legs.get_mut(ext_id) {
        leg.terms = shown;
    }
}

/// The leg that the order works by has left the market.
pub(super) fn end_working_leg(order: &mut Order) {
    let Order { legs: Some(legs), ext_id: Some(ext_id), .. } = order else { return };
    if let Some(leg) = legs.get_mut(ext_id) {
        leg.state = LegState::Ended;
    }
}

/// Counts a fill for its leg; one that names none is of the leg that the order works by.
pub(super) fn count_leg_fill(order: &mut Order, ext_order: Option<&Text>, quantity: Quantity) {
    let Order { legs: Some(legs), ext_id, .. } = order else { return };
    let Some(named) = ext_order.or(ext_id.as_ref()) else { return };
    if let Some(leg) = legs.get_mut(named) {
        leg.add_fill(quantity);
    }
}

/// A fill of a leg was busted. One that was filled can trade again: the order works by it, or the venue is asked about it.
pub(super) fn uncount_leg_fill(order: &mut Order, ext_order: Option<&Text>, quantity: Quantity) {
    let is_working = order.state.is_working();
    let Order { legs: Some(legs), ext_id, .. } = order else { return };
    let Some(named) = ext_order.or(ext_id.as_ref()) else { return };
    let Some(leg) = legs.get_mut(named) else { return };
    let was_filled = leg.is_filled();
    leg.filled = leg.filled.minus(quantity).unwrap_or_default().max(Quantity::ZERO);
    if was_filled && !leg.is_filled() {
        let works_by_it = is_working && ext_id.as_ref() == Some(named);
        leg.state = if works_by_it { LegState::Live } else { LegState::Unknown };
    }
}

/// The terms of an order whose working leg the venue shows with these. The quantity of a leg is its own alone; what other legs
/// have traded is part of the order's. A leg that is as it was leaves the order as it is. One that was lowered never makes the
/// order larger: other legs have traded meanwhile, and the rest of the leg is cancelled when the order is filled.
pub(crate) fn terms_of_order(order: &Order, ext_id: Option<&Text>, shown: OrderTerms) -> OrderTerms {
    let Some((leg, elsewhere)) = working_leg(order, ext_id) else { return shown };
    let total = elsewhere.and_then(|elsewhere| shown.quantity.plus(elsewhere)).unwrap_or(shown.quantity);
    let asked = order.pending.replace().map_or(order.terms.quantity, |(_, asked)| asked.quantity);
    let quantity = match shown.quantity.cmp(&leg.terms.quantity) {
        Ordering::Equal => order.terms.quantity,
        Ordering::Less if shown.quantity <= asked => total.min(asked).min(order.terms.quantity),
        // Lowered by somebody else: what was asked for is still on its way.
        Ordering::Less => total.min(order.terms.quantity),
        Ordering::Greater => total,
    };
    OrderTerms { quantity, ..shown }
}

/// The terms that the venue should show of an order: those of the leg that it works by.
pub(crate) fn expected_terms(order: &Order, ext_id: Option<&Text>) -> OrderTerms {
    working_leg(order, ext_id).map_or(order.terms, |(leg, _)| leg.terms)
}

/// The leg that the order works by, where it is the one that is meant, and what the others have traded.
fn working_leg<'a>(order: &'a Order, ext_id: Option<&Text>) -> Option<(&'a OrderLeg, Result<Quantity, Overflow>)> {
    let (legs, working) = order.legs.as_ref().zip(order.ext_id.as_ref())?;
    let leg = legs.get(working).filter(|_| ext_id.is_none_or(|meant| meant == working))?;
    Some((leg, legs.filled_besides(working)))
}
