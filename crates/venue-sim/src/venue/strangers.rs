//! Orders on a client's account that another program placed: the client did not place them and hears of them as external orders.

use domain::report::{InquiryResult, ReportKind};
use domain::{Order, OrderId, OrderProperties, Timestamp};

use super::{VenueOutput, VenueSimulator};
use crate::client_orders::client_order::is_stranger;
use crate::record::{SubmittedOrder, VenueRecord};
use crate::reject::Reject;
use crate::task_queue::VenueTask;

impl VenueSimulator {
    /// Somebody else places the same order on the same account.
    pub(super) fn place_stranger(&mut self, like: &Order, out: &mut Vec<VenueOutput>) {
        let order = self.orders.next_stranger();
        let submission = SubmittedOrder {
            at: self.now,
            order,
            account: like.account,
            exchange: like.exchange,
            security: like.security,
            side: like.side,
            terms: like.terms,
            properties: OrderProperties::default(),
            leg_of: None,
        };
        self.record(VenueRecord::Submitted(submission), out);
        if !self.send(VenueTask::Submit(order)) {
            self.reject(order, Reject::Busy, out);
        }
    }

    /// Cancels an order that its client did not place, by the venue's id.
    pub fn cancel_external(&mut self, at: Timestamp, order: &Order, out: &mut Vec<VenueOutput>) {
        let number = self.number_of(order);
        self.cancel(at, number, out);
    }

    /// Asks about an order that its client did not place, by the venue's id.
    pub fn inquire_external(&mut self, at: Timestamp, order: &Order, out: &mut Vec<VenueOutput>) {
        let number = self.number_of(order);
        self.inquire(at, number, out);
    }

    /// One that is not known here keeps the client's number, and is refused as unknown.
    fn number_of(&mut self, order: &Order) -> OrderId {
        let known = order.ext_id.as_ref().and_then(|ext_id| self.orders.stranger_named(ext_id));
        let Some(number) = known else { return order.id };
        self.client_numbers.insert(number, order.id);
        number
    }

    /// The client's number of an order that it asked about.
    pub(super) fn client_number(&self, order: OrderId) -> OrderId {
        self.client_numbers.get(&order).copied().unwrap_or(order)
    }

    /// A report on somebody else's order is its whole picture; one that never came to a book is not told.
    pub(super) fn as_client_hears(&self, said: ReportKind) -> Option<ReportKind> {
        let Some(order) = said.order().filter(|order| is_stranger(*order)) else { return self.of_leg(said) };
        match said {
            ReportKind::CancelRejected { reason, .. } => {
                Some(ReportKind::CancelRejected { order: self.client_number(order), reason })
            }
            _ => self.orders.external(order).map(|seen| ReportKind::External(Box::new(seen))),
        }
    }

    /// What the venue knows of an order, under the client's number.
    pub(super) fn known(&self, order: OrderId) -> InquiryResult {
        let external = self.orders.external(order).map(|seen| seen.under(self.client_number(order)));
        match external.or_else(|| self.orders.find(order)) {
            Some((seen, fills)) => InquiryResult::Found(seen, fills),
            None => InquiryResult::NotFound,
        }
    }
}
