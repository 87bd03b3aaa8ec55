//! Platform day and deadlines. The runtime asks for the next deadline and reports when it has passed; a server that was
//! down over midnight rolls once.

use std::ops::Range;

use domain::calendar::{date_in, last_midnight, next_midnight};
use domain::order::Order;
use domain::report::SessionState;
use domain::{Caller, Date, TimeInForce, Timestamp};

use crate::orders::inquiries::is_vanished;
use crate::orders::transitions::{RequestKind, may_request};
use crate::outbox::{Moment, Outbox};
use crate::trading::{Trading, valuer};

/// Ended orders are kept for this long after their day.
const ORDER_RETENTION_SECONDS: i64 = 86_400;

impl Trading {
    /// The next instant at which the engine has work to do without an input.
    pub(crate) fn next_deadline(&self) -> Option<Timestamp> {
        let expiry = self.expiries.first().map(|(at, _)| *at);
        let (venue, waiting) = (self.next_inquiry(), self.waiting_orders.next_due());
        let (listing, sample) = (self.listings.next_due(), self.next_sample());
        [self.day_ends, expiry, venue, waiting, listing, sample, self.risk.next_dead_man()].into_iter().flatten().min()
    }

    pub(crate) fn on_clock(&mut self, moment: Moment, out: &mut Outbox) {
        self.fire_dead_man(moment, out);
        self.expire_due(moment, out);
        self.release_cleared(moment, out);
        self.reject_timed_out(moment, out);
        self.release_cleared(moment, out);
        self.expire_venue_timeouts(moment, out);
        self.send_listings(moment, out);
        if self.day_ends.is_some_and(|end| moment.at >= end) {
            self.roll(moment, out);
            self.trim_all(moment, true, out);
        }
        // A close is a sample too: after a roll none is due.
        if self.next_sample().is_some_and(|due| moment.at >= due) {
            self.sample_values(moment, self.platform_date(moment.at), false, out);
        }
    }

    fn next_sample(&self) -> Option<Timestamp> {
        self.portfolio.next_sample(self.settings.sample_seconds)
    }

    fn sample_values(&mut self, moment: Moment, date: Date, is_close: bool, out: &mut Outbox) {
        let valuer = valuer(&self.marks, &self.reference, &self.settings, moment.at);
        self.portfolio.sample(date, is_close, &valuer, out);
    }

    /// There is no platform day before the first input.
    pub(crate) fn ensure_day(&mut self, at: Timestamp) {
        if self.day_ends.is_none() {
            self.set_day_end(at);
        }
    }

    pub(crate) fn set_day_end(&mut self, at: Timestamp) {
        // Settings with an unknown zone were refused, so the zone is known.
        self.day_ends = next_midnight(&self.settings.trading_zone, at).ok();
    }

    /// When the platform day of an instant began.
    pub(crate) fn day_start(&self, at: Timestamp) -> Timestamp {
        // Settings with an unknown zone were refused, so the zone is known.
        last_midnight(&self.settings.trading_zone, at).unwrap_or(at)
    }

    /// The platform day of an instant: when it began and when it ends.
    pub(crate) fn platform_day(&self, at: Timestamp) -> Range<Timestamp> {
        // Settings with an unknown zone were refused, so the zone is known.
        self.day_start(at)..next_midnight(&self.settings.trading_zone, at).unwrap_or(Timestamp(i64::MAX))
    }

    pub(crate) fn platform_date(&self, at: Timestamp) -> Date {
        let zone = &self.settings.trading_zone;
        date_in(zone, at).expect("settings with an unknown zone were refused, and the default is known")
    }

    fn roll(&mut self, moment: Moment, out: &mut Outbox) {
        let day_start = self.day_start(moment.at);
        // Decision 0007: a venue may still report on orders that ended yesterday.
        let kept_since = day_start.plus_seconds(-ORDER_RETENTION_SECONDS);
        self.orders.retire(moment.sequence, kept_since, self.settings.recovery_rules_2);
        self.retire_mass_cancels(kept_since);
        self.breaks.retire(kept_since);
        if let Some(end) = self.day_ends {
            // The last nanosecond of a day tells its date, however late it is rolled.
            self.sample_values(moment, self.platform_date(Timestamp(end.0 - 1)), true, out);
        }
        self.portfolio.roll(day_start, &valuer(&self.marks, &self.reference, &self.settings, moment.at));
        self.set_day_end(moment.at);
        self.list_day(moment);
        // Settled in the new day, whose lists then show the bookings.
        self.settle_expired(moment, out);
    }

    /// A replace changed the expiry of an order.
    pub(crate) fn reschedule_expiry(&mut self, order: &Order) {
        if !self.adapters.expires_orders(&order.adapter) {
            self.expiries.retain(|(_, id)| *id != order.id);
            self.expiry_cancels.remove(order.id);
            self.schedule_expiry(order);
        }
    }

    /// Only for adapters whose venue does not expire orders by itself.
    pub(crate) fn schedule_expiry(&mut self, order: &Order) {
        if self.adapters.expires_orders(&order.adapter) || !order.state.is_working() {
            return;
        }
        if let Some(at) = self.expiry_of(order) {
            self.expiries.insert((at, order.id));
        }
    }

    fn expiry_of(&self, order: &Order) -> Option<Timestamp> {
        match order.terms.tif {
            TimeInForce::Day => self.reference.close(order.exchange),
            TimeInForce::Gtd { until } => Some(until),
            TimeInForce::Gtc | TimeInForce::Ato | TimeInForce::Ioc | TimeInForce::Fok | TimeInForce::Atc => None,
        }
    }

    /// Again and again until the order has ended: its venue may be away, or refuse to cancel it, or another request is pending.
    /// At a venue that takes no cancels it stays, which is told once.
    fn expire_due(&mut self, moment: Moment, out: &mut Outbox) {
        let mut kept = Vec::new();
        while let Some((at, id)) = self.expiries.first().copied().filter(|(at, _)| *at <= moment.at) {
            self.expiries.remove(&(at, id));
            let Some(order) = self.orders.get(id).filter(|order| order.state.is_working()).cloned() else {
                self.expiry_cancels.remove(id);
                continue;
            };
            if !self.can_cancel(&order) {
                self.expiry_cancels.remove(id);
                kept.push(order);
                continue;
            }
            let is_sent = self.can_expire_now(&order);
            if self.settings.repeats_expiry {
                let pause_seconds = self.expiry_cancels.next_pause_seconds(id, is_sent);
                self.expiries.insert((moment.at.plus_seconds(pause_seconds), id));
            }
            if is_sent {
                self.request_cancel(moment, &Caller::platform(), &order, None, out);
            }
        }
        self.alarm_uncancelled(&kept, "their time is over", out);
    }

    fn can_expire_now(&self, order: &Order) -> bool {
        // One that waits here was never sent: it ends without its venue. One that its venue does not know is asked about.
        let is_reached = self.adapters.session(&order.adapter) >= SessionState::LoggedOn && !is_vanished(order);
        (is_reached || self.waiting_orders.contains(order.id) || !self.settings.repeats_expiry)
            && may_request(&order.pending, RequestKind::Cancel)
    }
}
