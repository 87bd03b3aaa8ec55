//! Venue timeouts: an order whose request the venue has not answered is asked about, and after the configured time put
//! in doubt with an alarm; where it is in doubt already, the alarm is all. A connection that is up but silent must not look like a slow order.

use domain::OrderId;
use domain::order::{BaseState, Order, PendingRequest};

use crate::outbox::{Moment, Outbox};
use crate::trading::Trading;

pub(crate) fn awaits_venue(order: &Order) -> bool {
    order.state == BaseState::PendingNew || order.pending != PendingRequest::Nothing
}

impl Trading {
    /// Whether a request of the order waits for the venue, and its deadline counts.
    pub(super) fn is_unanswered(&self, order: &Order) -> bool {
        awaits_venue(order) && (!order.in_doubt || self.settings.alarms_in_doubt)
    }

    /// A request goes to the venue; without a timeout it may stay unanswered for ever.
    pub(crate) fn start_venue_timeout(&mut self, moment: Moment, order: OrderId) {
        let limit_seconds = i64::from(self.settings.venue_timeout_seconds);
        if limit_seconds > 0 {
            self.venue_timeouts.push_back((moment.at.plus_seconds(limit_seconds), order));
        }
    }

    /// Drops answered requests from the front, so that they cause no deadline.
    pub(crate) fn clear_answered(&mut self) {
        let is_answered =
            |trading: &Self, id: OrderId| trading.orders.get(id).is_none_or(|order| !trading.is_unanswered(order));
        while self.venue_timeouts.front().is_some_and(|(_, id)| is_answered(self, *id)) {
            self.venue_timeouts.pop_front();
        }
    }

    pub(crate) fn expire_venue_timeouts(&mut self, moment: Moment, out: &mut Outbox) {
        let first = |trading: &Self| trading.venue_timeouts.front().copied();
        while let Some((deadline, order)) = first(self).filter(|due| self.first_question(due.0) <= moment.at) {
            self.venue_timeouts.pop_front();
            match self.orders.get(order).filter(|order| self.is_unanswered(order)).map(|order| order.in_doubt) {
                // It is asked about anyway.
                Some(true) => self.inquiries.change(order, |inquiry| inquiry.doubt_at = Some(deadline)),
                Some(false) => self.start_inquiry(order, moment.at, |inquiry| inquiry.doubt_at = Some(deadline)),
                None => {}
            }
        }
        self.send_inquiries(moment, out);
    }
}
