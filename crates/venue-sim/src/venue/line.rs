//! The line between a client and the venue: requests that are lost or late, reports that are lost, and inquiries.

use domain::order::OrderTerms;
use domain::report::{InquiryAnswer, ReportKind};
use domain::{Order, OrderId, Text, Timestamp};

use super::{VenueOutput, VenueSimulator};
use crate::task_queue::{LateRequest, VenueTask};

/// A client that missed a report notices it after at most this time, because every report has a number and the venue
/// repeats its last one.
const HEARTBEAT_NANOS: i64 = 1_000_000_000;

impl VenueSimulator {
    pub fn submit(&mut self, at: Timestamp, order: &Order, out: &mut Vec<VenueOutput>) {
        self.request(at, || LateRequest::Submit(Box::new(order.clone())), out);
    }

    /// Requests new terms; the order is named by its id.
    pub fn replace(&mut self, at: Timestamp, order: &Order, terms: OrderTerms, out: &mut Vec<VenueOutput>) {
        self.request(at, || LateRequest::Replace(order.id, terms), out);
    }

    pub fn cancel(&mut self, at: Timestamp, order: OrderId, out: &mut Vec<VenueOutput>) {
        self.request(at, || LateRequest::Cancel(order), out);
    }

    /// Cancels one leg of an order, by the venue's id.
    pub fn cancel_leg(&mut self, at: Timestamp, order: OrderId, leg: &Text, out: &mut Vec<VenueOutput>) {
        self.request(at, || LateRequest::CancelLeg(order, leg.clone()), out);
    }

    /// Asks what the venue knows of an order. The question takes the way of all requests, so that it is answered after
    /// those before it.
    pub fn inquire(&mut self, at: Timestamp, order: OrderId, out: &mut Vec<VenueOutput>) {
        self.ask(at, |now| VenueTask::Inquire(order, now), out);
    }

    /// A question arrives after the requests before it.
    pub(super) fn ask(
        &mut self,
        at: Timestamp,
        question: impl FnOnce(Timestamp) -> VenueTask,
        out: &mut Vec<VenueOutput>,
    ) {
        if self.start_request(at, out) && !self.reports.loses_request() {
            let arrives = Timestamp(self.now.0.saturating_add(self.config.latency_nanos));
            self.tasks.push(arrives, question(self.now));
            self.advance(at, out);
        }
    }

    /// A client that logs on gets a snapshot, so it misses nothing.
    pub fn start_session(&mut self) {
        self.reports.has_gap = false;
    }

    fn request(&mut self, at: Timestamp, request: impl FnOnce() -> LateRequest, out: &mut Vec<VenueOutput>) {
        if !self.start_request(at, out) || self.reports.loses_request() {
            return;
        }
        match self.reports.request_delay(self.config.request_life_nanos) {
            0 => self.receive_request(request(), out),
            delay => self.tasks.push(Timestamp(self.now.0.saturating_add(delay)), VenueTask::Arrive(request())),
        }
        self.advance(at, out);
    }

    pub(super) fn receive_request(&mut self, request: LateRequest, out: &mut Vec<VenueOutput>) {
        match request {
            LateRequest::Submit(order) => self.receive(&order, out),
            LateRequest::Replace(order, terms) => self.receive_replace(order, terms, out),
            LateRequest::Cancel(order) => self.receive_cancel(order, out),
            LateRequest::CancelLeg(order, leg) => self.receive_leg_cancel(order, &leg),
        }
    }

    pub(super) fn answer_inquiry(&mut self, order: OrderId, as_of: Timestamp, out: &mut Vec<VenueOutput>) {
        let (result, other_legs) = (self.known(order), self.orders.other_legs(order));
        let leaves = self.reports.answer_time(self.now);
        let answer = InquiryAnswer {
            order: self.client_number(order),
            as_of,
            dead_after: None,
            result,
            other_legs,
            filled: None,
        };
        self.schedule_report(ReportKind::Inquiry(answer), leaves, out);
    }

    /// A report is lost on a session that is up.
    pub(super) fn lose_report(&mut self) {
        if !std::mem::replace(&mut self.reports.has_gap, true) {
            self.tasks.push(Timestamp(self.now.0.saturating_add(HEARTBEAT_NANOS)), VenueTask::Heartbeat);
        }
    }

    /// Tells the client that it missed something, where nothing else has.
    pub(super) fn send_heartbeat(&mut self, out: &mut Vec<VenueOutput>) {
        if self.reports.has_gap && self.reports.is_silent() {
            self.tasks.push(Timestamp(self.now.0.saturating_add(HEARTBEAT_NANOS)), VenueTask::Heartbeat);
        } else {
            self.report_gap(out);
        }
    }

    pub(super) fn report_gap(&mut self, out: &mut Vec<VenueOutput>) {
        if std::mem::take(&mut self.reports.has_gap) {
            out.push(VenueOutput::Report { said: ReportKind::Gap, at: self.now });
        }
    }
}
