//! Questions about single orders: their requests, and the lists of orders that they share.

use std::sync::Arc;

use adapter_kit::RequestLane;
use adapters::SendOutcome;
use domain::report::{InquiryAnswer, ReportKind};
use domain::{Order, OrderId, Text, Timestamp};

use super::state::BinanceAdapter;
use super::waiting::{RequestPurpose, RequestWay};
use crate::orders::fills_question::note_owner;
use crate::orders::inquiry::{Inquiry, InquiryStep};
use crate::orders::order_lists::{ListAccess, OrderList};
use crate::orders::waiting_inquiries::WaitingInquiry;
use crate::protocol::answers::CallAnswer;
use crate::protocol::answers::order_answers::BinanceOrder;
use crate::protocol::requests::BinanceRequest;

const INQUIRY_WAY: (RequestLane, RequestWay) = (RequestLane::Inquiry, RequestWay::Socket);

/// Inquiries under way. Their requests are stamped when they are handed over, and must not wait for longer than they live.
const INQUIRIES_MAX: usize = 128;
/// Further ones that wait for those, or for the rate limit; one more is refused, and made again.
const QUEUED_INQUIRIES_MAX: usize = 10_000;

impl BinanceAdapter {
    /// One question at a time for an order: the answer of one under way is as good. Beyond so many they wait, so that orders and cancels
    /// do not wait behind them; so do those that the rate limit refuses.
    pub(super) fn send_inquiry(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        if self.session.is_none() || self.is_lost() {
            return SendOutcome::NotSent("not logged on".into());
        }
        if self.inquiries.contains_key(&order.id) {
            return SendOutcome::Sent;
        }
        if self.symbols.symbol_of(order.security).is_none() {
            return SendOutcome::NotSent("venue-unlisted: the venue does not list the security".into());
        }
        if self.queued_inquiries.len() >= QUEUED_INQUIRIES_MAX && !self.queued_inquiries.contains(order.id) {
            return SendOutcome::NotSent(format!("{QUEUED_INQUIRIES_MAX} inquiries wait already").into());
        }
        self.queued_inquiries.push(at, order.clone());
        self.start_queued_inquiries(at);
        SendOutcome::Sent
    }

    /// As many as may be under way and as the rate limit admits; the others are tried again. Those under way go on first: what new ones use
    /// of the limit would be missing for the steps that they lead to.
    pub(super) fn start_queued_inquiries(&mut self, at: Timestamp) {
        while self.continue_refused_steps(at)
            && self.inquiries.len() < INQUIRIES_MAX
            && let Some(first) = self.queued_inquiries.pop()
        {
            // One that cannot be asked about any more does not keep the others waiting; the engine makes it again.
            let Some(symbol) = self.symbols.symbol_of(first.order.security) else { continue };
            if !self.start_inquiry(at, &first, &symbol) {
                self.queued_inquiries.restore(first);
                break;
            }
        }
        // A list is as long as a thousand orders.
        if self.inquiries.is_empty() && self.queued_inquiries.is_empty() {
            self.order_lists.clear();
        }
    }

    /// Whether it could be sent.
    fn start_inquiry(&mut self, at: Timestamp, waiting: &WaitingInquiry, symbol: &str) -> bool {
        let WaitingInquiry { as_of, order, .. } = waiting;
        let quote = self.symbols.quote_of(symbol);
        let (inquiry, first) = Inquiry::start(self.setup.instance, order, symbol, quote, *as_of);
        self.inquiries.insert(order.id, inquiry);
        let refused = self.make_step(at, order.id, first);
        if refused.is_some() {
            self.inquiries.remove(&order.id);
        }
        refused.is_none()
    }

    /// Whether none waits any more.
    fn continue_refused_steps(&mut self, at: Timestamp) -> bool {
        while let Some((order, step)) = self.refused_steps.pop_front() {
            if let Some(refused) = self.make_step(at, order, step) {
                self.refused_steps.push_front((order, refused));
                return false;
            }
        }
        true
    }

    pub(super) fn on_inquiry_answer(&mut self, at: Timestamp, order: OrderId, answer: &CallAnswer) {
        let Some(inquiry) = self.inquiries.get_mut(&order) else { return };
        let step = inquiry.on_answer(answer);
        self.continue_inquiry(at, order, step);
        self.start_queued_inquiries(at);
    }

    pub(super) fn on_inquiry_unanswered(&mut self, at: Timestamp, order: OrderId) {
        self.inquiries.remove(&order);
        self.start_queued_inquiries(at);
    }

    pub(super) fn on_order_list(&mut self, at: Timestamp, symbol: &str, answer: &CallAnswer) {
        let list = match OrderList::read(self.setup.instance, answer) {
            Ok(list) => Arc::new(list),
            Err(reason) => return self.on_order_list_unanswered(at, symbol, &reason),
        };
        for order in self.order_lists.on_list(symbol, list.clone()) {
            if let Some(inquiry) = self.inquiries.get_mut(&order) {
                let step = inquiry.on_list(&list);
                self.continue_inquiry(at, order, step);
            }
        }
        self.ask_for_next_list(at, symbol);
    }

    /// The inquiries that have waited for it are made again by the engine.
    pub(super) fn on_order_list_unanswered(&mut self, at: Timestamp, symbol: &str, reason: &str) {
        let waiting = self.order_lists.on_unanswered(symbol);
        tracing::warn!(symbol, orders = waiting.len(), reason, "no list of orders; the inquiries are made again");
        waiting.iter().for_each(|order| drop(self.inquiries.remove(order)));
        self.ask_for_next_list(at, symbol);
    }

    fn ask_for_next_list(&mut self, at: Timestamp, symbol: &str) {
        let next = self.order_lists.take_next(symbol);
        if !next.is_empty()
            && let Err(reason) = self.ask_for_order_list(at, symbol, next.clone())
        {
            tracing::warn!(symbol, orders = next.len(), %reason, "no list of orders; the inquiries are made again");
            next.iter().for_each(|order| drop(self.inquiries.remove(order)));
        }
        self.start_queued_inquiries(at);
    }

    fn ask_for_order_list(&mut self, at: Timestamp, symbol: &str, waiting: Vec<OrderId>) -> Result<(), Text> {
        let purpose = RequestPurpose::OrderList(symbol.to_owned());
        self.send(at, INQUIRY_WAY, purpose, BinanceRequest::all_orders(symbol))?;
        self.order_lists.on_asked(symbol, at, waiting);
        Ok(())
    }

    /// A step that is refused waits behind those that were refused before it.
    fn continue_inquiry(&mut self, at: Timestamp, order: OrderId, step: InquiryStep) {
        if let Some(refused) = self.make_step(at, order, step) {
            self.refused_steps.push_back((order, refused));
        }
    }

    /// Returns the step that cannot be sent now.
    fn make_step(&mut self, at: Timestamp, order: OrderId, step: InquiryStep) -> Option<InquiryStep> {
        match step {
            InquiryStep::Ask(request) => {
                let sent = self.send(at, INQUIRY_WAY, RequestPurpose::Inquiry(order), request.clone());
                sent.err().map(|_| InquiryStep::Ask(request))
            }
            InquiryStep::List => self.use_order_list(at, order),
            InquiryStep::Answer(told, legs) => {
                self.conclude_inquiry(told, &legs);
                None
            }
            InquiryStep::GiveUp(reason) => {
                tracing::warn!(%order, reason, "an inquiry has no answer; it is made again");
                self.inquiries.remove(&order);
                None
            }
        }
    }

    fn use_order_list(&mut self, at: Timestamp, order: OrderId) -> Option<InquiryStep> {
        let inquiry = self.inquiries.get_mut(&order)?;
        match self.order_lists.access(inquiry.symbol(), inquiry.as_of(), order) {
            ListAccess::Here(list) => {
                let step = inquiry.on_list(&list);
                self.make_step(at, order, step)
            }
            ListAccess::Waits => None,
            ListAccess::Wanted => {
                let symbol = inquiry.symbol().to_owned();
                self.ask_for_order_list(at, &symbol, vec![order]).err().map(|_| InquiryStep::List)
            }
        }
    }

    fn conclude_inquiry(&mut self, told: InquiryAnswer, legs: &[BinanceOrder]) {
        let Some(inquiry) = self.inquiries.remove(&told.order) else { return };
        if !inquiry.is_external() {
            self.tracker.on_picture(told.order, legs);
        }
        legs.iter().for_each(|leg| note_owner(&mut self.order_memory(), leg));
        self.outbox.report(ReportKind::Inquiry(told));
    }
}

#[cfg(test)]
mod tests;
