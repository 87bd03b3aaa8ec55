//! Reconciliation with the venue after each connect: missing reports are applied, doubts are resolved, and breaks are
//! raised as alarms. New orders wait until it is done.

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::order::{BaseState, ExecType, Order, PendingRequest};
use domain::report::{ReplaceKind, VenueOrder, VenueOrderState, VenueSnapshot};
use domain::{AdapterName, Instruction, OrderId, PlantedBug, Text};

use super::external::external_key;
use super::inquiries::venue_timeouts::awaits_venue;
use super::legs::terms_of_order;
use super::order_events::{OrderChange, publish_order};
use crate::orders::ticket::OrderReport;
use crate::outbox::{Moment, Outbox};
use crate::trading::Trading;

/// Why an order ended that the venue certainly does not have.
pub(crate) const NEVER_ARRIVED: &str = "the order never reached the venue";
const LOST_REQUEST: &str = "the request was lost with the connection";

impl Trading {
    pub(crate) fn reconcile(
        &mut self,
        moment: Moment,
        adapter: &AdapterName,
        snapshot: &VenueSnapshot,
        out: &mut Outbox,
    ) {
        let of_fills = snapshot.fills.iter().map(|fill| fill.order);
        self.halt_for_unknown(moment, adapter, snapshot.orders.iter().map(|seen| seen.order).chain(of_fills), out);
        let newer = self.changed_since(adapter, snapshot);
        let owned = snapshot.orders.iter().filter(|seen| self.owns_order(adapter, seen.order, out)).collect();
        let (legs, owned) = self.split_legs(owned);
        for seen in &owned {
            self.apply_venue_order(moment, seen, out);
        }
        let is_skipped = PlantedBug::SkipReconciledFills.is_planted();
        let reported = snapshot.fills.iter().filter(|_| !is_skipped);
        for fill in reported.filter(|fill| self.owns_order(adapter, fill.order, out)).collect::<Vec<_>>() {
            self.on_fill(moment, adapter, fill, fill.at, out);
        }
        let requests_are_over = self.requests_are_over(adapter, snapshot);
        let is_conclusive = |order: OrderId| requests_are_over && !newer.contains(&order);
        for seen in owned {
            let lost = is_conclusive(seen.order).then_some(LOST_REQUEST);
            self.apply_final_state(moment, seen, lost, out);
        }
        for leg in legs {
            self.on_leg(moment, leg, snapshot.as_of.unwrap_or(moment.at), out);
        }
        for seen in &snapshot.external {
            self.on_external(moment, adapter, seen, None, out);
        }
        let external = snapshot.external.iter().filter_map(|seen| self.orders.external(external_key(adapter, seen)));
        let seen: BTreeSet<OrderId> = snapshot.orders.iter().map(|order| order.order).chain(external).collect();
        let of_adapter = self.orders.open().filter(|order| order.adapter == *adapter);
        // A waiting order was never sent, so the venue cannot have it.
        let unseen = of_adapter.filter(|order| !seen.contains(&order.id) && !self.waiting_orders.contains(order.id));
        for order in unseen.cloned().collect::<Vec<_>>() {
            self.resolve_missing(moment, &order, snapshot.complete && is_conclusive(order.id), out);
        }
        self.adapters.mark_reconciled(adapter);
        self.resume_inquiries(moment, adapter);
        self.resume_kills(moment, adapter, out);
        self.cancel_expired(moment, Some(adapter), out);
    }

    /// Open orders that changed after the venue was asked. Snapshots wait in the inbox while the journal does, so one may come
    /// behind requests that it cannot show.
    fn changed_since(&self, adapter: &AdapterName, snapshot: &VenueSnapshot) -> BTreeSet<OrderId> {
        let Some(as_of) = snapshot.as_of.filter(|_| self.settings.dates_snapshots) else { return BTreeSet::new() };
        let is_newer = |order: &&Arc<Order>| order.adapter == *adapter && order.changed_at > as_of;
        self.orders.open().filter(is_newer).map(|order| order.id).collect()
    }

    /// Whether every request has taken effect by the instant of the snapshot, or never will. In journals of earlier builds
    /// none was on its way.
    fn requests_are_over(&self, adapter: &AdapterName, snapshot: &VenueSnapshot) -> bool {
        let is_over = |as_of| self.adapters.proves_absence(adapter, as_of, snapshot.dead_after);
        snapshot.as_of.is_none_or(is_over)
    }

    /// First what must be known before fills are booked: the order is there, with these terms.
    pub(crate) fn apply_venue_order(&mut self, moment: Moment, seen: &VenueOrder, out: &mut Outbox) {
        let report = OrderReport { moment, order: seen.order, ext_at: None };
        if self.orders.is_retired(seen.order) {
            return;
        }
        let Some(order) = self.find_order(report, out).cloned() else { return };
        if PlantedBug::SubmitAgain.is_planted() && order.in_doubt && order.state == BaseState::PendingNew {
            out.instruct(&order.adapter, Instruction::Submit(order.clone()));
        }
        let terms = terms_of_order(&order, seen.ext_id.as_ref(), seen.terms);
        let is_nameless = order.is_open() && order.ext_id.is_none() && seen.ext_id.is_some();
        if seen.state != VenueOrderState::Rejected && (order.state == BaseState::PendingNew || is_nameless) {
            self.on_accepted(report, seen.ext_id.as_ref(), out);
        }
        // The terms of an ended order show that a replace came first.
        let is_as_asked = order.pending.replace().is_some_and(|(_, asked)| asked == terms);
        if order.is_open() && order.terms != terms && (seen.state == VenueOrderState::Live || is_as_asked) {
            return self.on_replaced(report, seen.terms, seen.ext_id.as_ref(), out);
        }
        if seen.state == VenueOrderState::Live {
            self.correct_leg(&order, seen, out);
        }
    }

    /// Then, with all fills booked, how it ended or what became of a request: `lost` is why one that does not show is over;
    /// absent where it may still take effect.
    pub(crate) fn apply_final_state(
        &mut self,
        moment: Moment,
        seen: &VenueOrder,
        lost: Option<&str>,
        out: &mut Outbox,
    ) {
        let report = OrderReport { moment, order: seen.order, ext_at: None };
        let Some(order) = self.orders.get(seen.order).cloned() else { return };
        if !order.is_open() {
            return;
        }
        let is_over = order.state.is_working() && self.proves_end(&order, seen, lost);
        match seen.state {
            VenueOrderState::Live => self.resolve_live(report, &order, lost, out),
            VenueOrderState::Canceled if is_over => {
                self.on_ended(report, ExecType::Canceled, seen.reason.as_ref(), out);
            }
            VenueOrderState::Expired if is_over => {
                self.on_ended(report, ExecType::Expired, seen.reason.as_ref(), out);
            }
            VenueOrderState::Rejected if is_over => {
                let reason = seen.reason.clone().unwrap_or_else(|| "rejected by the venue".into());
                self.on_rejected(report, &reason, out);
            }
            VenueOrderState::Canceled | VenueOrderState::Expired | VenueOrderState::Rejected => {
                self.resolve_live(report, &order, lost, out);
            }
        }
    }

    /// Whether the end of what the venue shows is the end of the order: it works by that leg, and a replace that is on its way
    /// can place no other one any more.
    fn proves_end(&self, order: &Order, seen: &VenueOrder, lost: Option<&str>) -> bool {
        if self.adapters.replace_kind(&order.adapter) != ReplaceKind::CancelReplace {
            return true;
        }
        let ids = order.ext_id.as_ref().zip(seen.ext_id.as_ref());
        let is_working_leg = ids.is_none_or(|(working, shown)| working == shown);
        is_working_leg && (order.pending.replace().is_none() || lost.is_some())
    }

    /// A request that the venue's snapshot does not show was lost with the connection. A cancel is sent again, since a
    /// second one does no harm and the client relies on it, unless the venue takes none any more; a replace could be stale and is refused.
    fn resolve_live(&mut self, report: OrderReport, order: &Arc<Order>, lost: Option<&str>, out: &mut Outbox) {
        match (&order.pending, lost.map(Text::from)) {
            (PendingRequest::Nothing, _) if order.in_doubt => drop(self.resolve_doubt(report, order, out)),
            (PendingRequest::Nothing, _) | (_, None) => {}
            (PendingRequest::Cancel(_, overtaken), Some(lost))
                if order.state.is_working() && self.can_cancel(order) =>
            {
                if overtaken.is_some() {
                    self.on_replace_rejected(report, &lost, out);
                }
                self.resend_cancel(report, order, out);
            }
            (PendingRequest::Cancel(..) | PendingRequest::Replace(..), Some(lost)) => {
                self.reject_pending(report, &lost, out);
            }
        }
    }

    fn resend_cancel(&mut self, report: OrderReport, order: &Order, out: &mut Outbox) {
        self.orders.change(order.id, |order| order.request += 1);
        let order = self.resolve_doubt(report, order, out);
        // One that is asked about already is asked again anyway, at its growing pauses.
        if self.inquiries.get(order.id).is_none() {
            self.start_venue_timeout(report.moment, order.id);
        }
        out.instruct(&order.adapter, Instruction::Cancel(order.clone()));
    }

    fn resolve_doubt(&mut self, report: OrderReport, order: &Order, out: &mut Outbox) -> Arc<Order> {
        let order = self.orders.change(order.id, |order| {
            order.in_doubt = false;
            order.reason = None;
            order.changed_at = report.moment.at;
        });
        publish_order(report.moment, &order, OrderChange::plain(ExecType::DoubtResolved), out);
        order
    }

    /// An open order that the venue's snapshot does not show.
    fn resolve_missing(&mut self, moment: Moment, order: &Arc<Order>, is_conclusive: bool, out: &mut Outbox) {
        let report = OrderReport { moment, order: order.id, ext_at: None };
        if !is_conclusive {
            return self.on_in_doubt(report, &"the venue did not mention the order".into(), out);
        }
        if order.state != BaseState::PendingNew {
            out.error("order-vanished", format!("order {}: the venue no longer knows it", order.int_id));
            // It ends here, and which way it ended there nobody knows.
            self.note_vanished(order, None);
            return self.on_ended(report, ExecType::Canceled, Some(&"the venue no longer knows the order".into()), out);
        }
        if order.pending == PendingRequest::Nothing && self.may_resend(moment, order) {
            self.resend(moment, order, out);
        } else {
            self.on_rejected(report, &NEVER_ARRIVED.into(), out);
        }
    }

    /// Decision 0003: only where the venue certainly does not have it and would refuse a duplicate. A killed order is never
    /// sent again.
    fn may_resend(&self, moment: Moment, order: &Order) -> bool {
        let age_seconds = moment.at.seconds_since(order.at);
        let limit_seconds = i64::from(self.settings.resend_within_seconds);
        let is_fresh = limit_seconds > 0 && age_seconds <= limit_seconds;
        self.adapters.allows_resend(&order.adapter) && is_fresh && !self.risk.is_killed(order.id)
    }

    fn resend(&mut self, moment: Moment, order: &Order, out: &mut Outbox) {
        let order = self.orders.change(order.id, |order| {
            order.in_doubt = false;
            order.reason = None;
            order.changed_at = moment.at;
        });
        publish_order(moment, &order, OrderChange::plain(ExecType::DoubtResolved), out);
        out.warn("order-sent-again", format!("order {}: never reached the venue and is sent again", order.int_id));
        self.start_venue_timeout(moment, order.id);
        // An answer to an earlier question says nothing about this request.
        self.inquiries.change(order.id, |inquiry| inquiry.dead_after = inquiry.dead_after.max(Some(moment.at)));
        out.instruct(&order.adapter, Instruction::Submit(order.clone()));
    }

    /// The connection is lost: every unanswered request is in doubt.
    pub(crate) fn mark_unanswered_in_doubt(&mut self, moment: Moment, adapter: &AdapterName, out: &mut Outbox) {
        let unanswered = |order: &&Arc<Order>| awaits_venue(order) && !self.waiting_orders.contains(order.id);
        let of_adapter = self.orders.open().filter(|order| order.adapter == *adapter);
        let ids: Vec<OrderId> = of_adapter.filter(unanswered).map(|order| order.id).collect();
        let reason = Text::from("the connection was lost before the venue answered");
        for order in ids {
            self.on_in_doubt(OrderReport { moment, order, ext_at: None }, &reason, out);
        }
    }
}
