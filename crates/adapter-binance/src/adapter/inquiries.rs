//! Questions about single orders: their requests, and the lists of orders that they share.

use std::sync::Arc;

use adapter_kit::RequestLane;
use adapters::SendOutcome;
use domain::report::ReportKind;
use domain::{Order, OrderId, Text, Timestamp};

use super::requests::outcome;
use super::state::BinanceAdapter;
use super::waiting::{RequestPurpose, RequestWay};
use crate::orders::fills_question::note_owner;
use crate::orders::inquiry::{Inquiry, InquiryStep};
use crate::orders::order_lists::{ListAccess, OrderList};
use crate::protocol::answers::CallAnswer;
use crate::protocol::requests::BinanceRequest;

const INQUIRY_WAY: (RequestLane, RequestWay) = (RequestLane::Inquiry, RequestWay::Socket);

/// Inquiries under way. Their requests are stamped when they are handed over, and must not wait for longer than they live.
const INQUIRIES_MAX: usize = 128;
/// Further ones that wait for those; one more is refused, and made again.
const QUEUED_INQUIRIES_MAX: usize = 10_000;

impl BinanceAdapter {
    /// One question at a time for an order: the answer of the first is as good. Beyond so many they wait, so that orders and cancels
    /// do not wait behind them.
    pub(super) fn send_inquiry(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        if self.session.is_none() {
            return SendOutcome::NotSent("not logged on".into());
        }
        if self.inquiries.contains_key(&order.id) || self.queued_inquiries.contains_key(&order.id) {
            return SendOutcome::Sent;
        }
        let Some(symbol) = self.symbols.symbol_of(order.security) else {
            return SendOutcome::NotSent("venue-unlisted: the venue does not list the security".into());
        };
        if self.inquiries.len() < INQUIRIES_MAX {
            return outcome(self.start_inquiry(at, at, order, &symbol));
        }
        if self.queued_inquiries.len() >= QUEUED_INQUIRIES_MAX {
            return SendOutcome::NotSent(format!("{QUEUED_INQUIRIES_MAX} inquiries wait already").into());
        }
        self.queued_inquiries.insert(order.id, (at, order.clone()));
        SendOutcome::Sent
    }

    fn start_inquiry(&mut self, at: Timestamp, as_of: Timestamp, order: &Order, symbol: &str) -> Result<(), Text> {
        let quote = self.symbols.quote_of(symbol);
        let (inquiry, first) = Inquiry::start(self.setup.instance, order, symbol, quote, as_of);
        self.continue_inquiry(at, inquiry, first)
    }

    /// As many as may be under way and as the rate limit admits; the others are tried again.
    pub(super) fn start_queued_inquiries(&mut self, at: Timestamp) {
        while self.inquiries.len() < INQUIRIES_MAX
            && let Some((_, (as_of, order))) = self.queued_inquiries.pop_first()
        {
            // One that cannot be asked about any more does not keep the others waiting; the engine makes it again.
            let Some(symbol) = self.symbols.symbol_of(order.security) else { continue };
            if self.start_inquiry(at, as_of, &order, &symbol).is_err() {
                self.queued_inquiries.insert(order.id, (as_of, order));
                break;
            }
        }
        // A list is as long as a thousand orders.
        if self.inquiries.is_empty() && self.queued_inquiries.is_empty() {
            self.order_lists.clear();
        }
    }

    pub(super) fn on_inquiry_answer(&mut self, at: Timestamp, order: OrderId, answer: &CallAnswer) {
        let Some(mut inquiry) = self.inquiries.remove(&order) else { return };
        let step = inquiry.on_answer(answer);
        self.continue_or_warn(at, inquiry, step);
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
            if let Some(mut inquiry) = self.inquiries.remove(&order) {
                let step = inquiry.on_list(&list);
                self.continue_or_warn(at, inquiry, step);
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

    fn continue_or_warn(&mut self, at: Timestamp, inquiry: Inquiry, step: InquiryStep) {
        let order = inquiry.order();
        if let Err(reason) = self.continue_inquiry(at, inquiry, step) {
            tracing::warn!(%order, %reason, "an inquiry is not continued; it is made again");
        }
    }

    fn continue_inquiry(&mut self, at: Timestamp, mut inquiry: Inquiry, step: InquiryStep) -> Result<(), Text> {
        let order = inquiry.order();
        match step {
            InquiryStep::Ask(request) => {
                self.send(at, INQUIRY_WAY, RequestPurpose::Inquiry(order), request)?;
                self.inquiries.insert(order, inquiry);
            }
            InquiryStep::List => match self.order_lists.access(inquiry.symbol(), inquiry.as_of(), order) {
                ListAccess::Here(list) => {
                    let step = inquiry.on_list(&list);
                    return self.continue_inquiry(at, inquiry, step);
                }
                ListAccess::Waits => drop(self.inquiries.insert(order, inquiry)),
                ListAccess::Wanted => {
                    self.ask_for_order_list(at, inquiry.symbol(), vec![order])?;
                    self.inquiries.insert(order, inquiry);
                }
            },
            InquiryStep::Answer(told, legs) => {
                if !inquiry.is_external() {
                    self.tracker.on_picture(order, &legs);
                }
                legs.iter().for_each(|leg| note_owner(&mut self.order_memory(), leg));
                self.outbox.report(ReportKind::Inquiry(told));
            }
            InquiryStep::GiveUp(reason) => tracing::warn!(%order, reason, "an inquiry has no answer; it is made again"),
        }
        Ok(())
    }
}
