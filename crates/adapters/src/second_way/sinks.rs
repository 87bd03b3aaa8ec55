//! What passes of the reports of both adapters.

use std::collections::BTreeMap;

use domain::command::MarketData;
use domain::report::{InquiryResult, LineKind, ReportKind, VenueOrder, VenueOrderState};
use domain::{OrderId, OrderKind, Text, TimeInForce, Timestamp};

use crate::venue::ReportSink;

/// Passes on everything but the state of a line that the second way is part of.
pub(super) struct OrderSink<'a> {
    pub(super) sink: &'a mut dyn ReportSink,
    pub(super) orders_down: &'a mut Option<Text>,
    pub(super) lists: bool,
}

impl ReportSink for OrderSink<'_> {
    fn on_report(&mut self, at: Option<Timestamp>, said: ReportKind) {
        match said {
            ReportKind::Line { line: LineKind::Private, up, reason } => {
                *self.orders_down = (!up).then(|| reason.unwrap_or("down".into()));
            }
            ReportKind::Listed { .. } if self.lists => {}
            said => self.sink.on_report(at, said),
        }
    }

    fn on_market_data(&mut self, data: MarketData) {
        self.sink.on_market_data(data);
    }

    fn reports_passed(&self) -> u64 {
        self.sink.reports_passed()
    }

    fn reports_durable(&self) -> u64 {
        self.sink.reports_durable()
    }
}

/// What was asked of the second way and is not answered.
#[derive(Default)]
pub(super) struct OpenQuestions {
    /// Times in force of orders that were asked about: the venue has none for market orders.
    pub(super) tifs: BTreeMap<OrderId, TimeInForce>,
    /// Cancels of orders that were placed elsewhere, and the venue's ids of the orders.
    pub(super) cancels: BTreeMap<OrderId, Option<Text>>,
}

/// Passes on what answers questions, and what the order session does not tell. Reports of own orders come by that one.
pub(super) struct AnswerSink<'a> {
    pub(super) sink: &'a mut dyn ReportSink,
    pub(super) asked: &'a mut OpenQuestions,
    pub(super) lists: &'a mut bool,
}

impl ReportSink for AnswerSink<'_> {
    fn on_report(&mut self, at: Option<Timestamp>, said: ReportKind) {
        *self.lists |= matches!(said, ReportKind::Listed { .. });
        match said {
            ReportKind::Inquiry(mut answer) => {
                let tif = self.asked.tifs.remove(&answer.order);
                if let (InquiryResult::Found(seen, _), Some(tif)) = (&mut answer.result, tif) {
                    restore_tif(seen, tif);
                }
                self.sink.on_report(at, ReportKind::Inquiry(answer));
            }
            ReportKind::CancelRejected { order, .. } | ReportKind::DeliveryUnknown { order, .. }
                if self.asked.cancels.remove(&order).is_some() =>
            {
                self.sink.on_report(at, said);
            }
            ReportKind::External(seen) => {
                if seen.state != VenueOrderState::Live {
                    self.asked.cancels.retain(|_, ext_id| ext_id.as_ref() != Some(&seen.ext_id));
                }
                self.sink.on_report(at, ReportKind::External(seen));
            }
            said @ (ReportKind::OpenOrders(_)
            | ReportKind::Fills(_)
            | ReportKind::ListingFailed { .. }
            | ReportKind::Statement(_)
            | ReportKind::Entry(_)
            | ReportKind::Listed { .. }) => self.sink.on_report(at, said),
            _ => {}
        }
    }

    /// Prices come by the order adapter's own lines.
    fn on_market_data(&mut self, _: MarketData) {}

    fn reports_passed(&self) -> u64 {
        self.sink.reports_passed()
    }

    fn reports_durable(&self) -> u64 {
        self.sink.reports_durable()
    }
}

fn restore_tif(seen: &mut VenueOrder, tif: TimeInForce) {
    if seen.terms.kind == OrderKind::Market {
        seen.terms.tif = tif;
    }
}
