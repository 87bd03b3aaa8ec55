//! Venue timeouts: an order whose request the venue has not answered in time is put in doubt, and an alarm is raised. A
//! connection that is up but silent must not look like a slow order.

use domain::order::{BaseState, Order, PendingRequest};
use domain::{OrderId, Text};

use crate::moment::Moment;
use crate::orders::ticket::OrderReport;
use crate::outbox::Outbox;
use crate::trading::Trading;

pub(crate) fn awaits_venue(order: &Order) -> bool {
    order.state == BaseState::PendingNew || order.pending != PendingRequest::Nothing
}

impl Trading {
    /// A request goes to the venue; without a timeout it may stay unanswered for ever.
    pub(crate) fn start_venue_timeout(&mut self, moment: Moment, order: OrderId) {
        let limit_seconds = i64::from(self.settings.venue_timeout_seconds);
        if limit_seconds > 0 {
            self.venue_timeouts.0.push_back((moment.at.plus_seconds(limit_seconds), order));
        }
    }

    /// Drops answered requests from the front, so that they cause no deadline.
    pub(crate) fn clear_answered(&mut self) {
        let is_waiting = |id: OrderId| self.orders.get(id).is_some_and(|order| awaits_venue(order) && !order.in_doubt);
        while self.venue_timeouts.0.front().is_some_and(|(_, id)| !is_waiting(*id)) {
            self.venue_timeouts.0.pop_front();
        }
    }

    pub(crate) fn expire_venue_timeouts(&mut self, moment: Moment, out: &mut Outbox) {
        while let Some((_, order)) = self.venue_timeouts.0.pop_front_if(|(due, _)| *due <= moment.at) {
            let waits = self.orders.get(order).filter(|order| awaits_venue(order) && !order.in_doubt);
            let Some(int_id) = waits.map(|order| order.int_id.clone()) else { continue };
            let reason = format!("the venue has not answered for {} s", self.settings.venue_timeout_seconds);
            out.warn("no-answer", format!("order {int_id}: {reason}"));
            self.on_in_doubt(OrderReport { moment, order, ext_at: None }, &Text::from(reason), out);
        }
    }
}
