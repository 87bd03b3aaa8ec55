//! What an adapter has reported to the test client, and what of it says that something could not be done.

use domain::command::MarketData;
use domain::report::{HalfOutcome, ReportKind, VenueFill, VenueOrderState, VenueSnapshot};
use domain::{OrderId, Timestamp};

use super::DurableView;
use crate::venue::ReportSink;

/// Everything reported since the start, or since it was last read.
#[derive(Default)]
pub(super) struct ReceivedReports {
    pub(super) reports: Vec<ReportKind>,
    pub(super) fills: Vec<VenueFill>,
    pub(super) prices: Vec<MarketData>,
    /// Reports that came before the venue had recorded them.
    pub(super) early: Vec<ReportKind>,
    /// Reports that something was refused, lost or is not known, or moved by somebody else.
    pub(super) admitted: Vec<String>,
    /// The venue misbehaves: the same fill again is not counted and what has no answer is asked again, as by the engine.
    pub(super) is_under_fault: bool,
    /// How many requests have left: a word about the second one is no word about the first.
    pub(super) requests: usize,
    pub(super) durable_view: Option<DurableView>,
}

impl ReportSink for ReceivedReports {
    fn on_report(&mut self, _: Option<Timestamp>, said: ReportKind) {
        if self.durable_view.as_ref().is_some_and(|witness| !is_durable(&said, &witness())) {
            self.early.push(said.clone());
        }
        if let ReportKind::Filled(fill) = &said
            && !(self.is_under_fault && self.fills.contains(fill))
        {
            self.fills.push(fill.clone());
        }
        if is_admission(&said) {
            self.admitted.push(admission_text(&said, self.requests));
        }
        self.reports.push(said);
    }

    fn on_market_data(&mut self, data: MarketData) {
        self.prices.push(data);
    }
}

pub(super) fn report_name(said: &ReportKind) -> &'static str {
    match said {
        ReportKind::Attached(_) => "attached",
        ReportKind::Session(_) => "session",
        ReportKind::Snapshot(_) => "picture",
        ReportKind::Accepted { .. } => "accepted",
        ReportKind::Rejected { .. } => "rejected",
        ReportKind::Filled(_) => "filled",
        ReportKind::Canceled { .. } => "canceled",
        ReportKind::Expired { .. } => "expired",
        ReportKind::Replaced { .. } => "replaced",
        ReportKind::CancelRejected { .. } => "cancel rejected",
        ReportKind::ReplaceRejected { .. } => "replace rejected",
        ReportKind::Busted { .. } => "busted",
        ReportKind::Corrected { .. } => "corrected",
        ReportKind::TakenBack { .. } => "taken back",
        ReportKind::NotSent { .. } => "unsent",
        ReportKind::DeliveryUnknown { .. } => "lost",
        ReportKind::External(_) => "external",
        ReportKind::Gap => "gap",
        ReportKind::ReportsLost => "reports lost",
        ReportKind::UnclearReport { .. } => "unclear report",
        ReportKind::FilledInAll { .. } => "filled in all",
        ReportKind::Line { .. } => "line",
        ReportKind::Inquiry(_) => "answered",
        ReportKind::Statement(_) => "statement",
        ReportKind::Entry(_) => "entry",
        ReportKind::OpenOrders(_) | ReportKind::Fills(_) => "listed",
        ReportKind::ListingFailed { .. } => "not listed",
        ReportKind::Listed { .. } => "listing",
        ReportKind::CancelReplaced(_) => "cancel-replaced",
        ReportKind::Leg(_) => "leg",
    }
}

fn admission_text(said: &ReportKind, requests: usize) -> String {
    match said {
        ReportKind::DeliveryUnknown { .. } => format!("lost after request {requests}"),
        ReportKind::External(seen) => format!("{} is {:?} with {} fills", seen.ext_id, seen.state, seen.fills.len()),
        _ => report_name(said).to_owned(),
    }
}

/// Whether a report says that something was refused, lost or is not known, or that somebody else moved something.
fn is_admission(said: &ReportKind) -> bool {
    match said {
        ReportKind::Rejected { .. }
        | ReportKind::CancelRejected { .. }
        | ReportKind::ReplaceRejected { .. }
        | ReportKind::NotSent { .. }
        | ReportKind::DeliveryUnknown { .. }
        | ReportKind::ListingFailed { .. }
        | ReportKind::Gap
        | ReportKind::ReportsLost
        | ReportKind::UnclearReport { .. }
        | ReportKind::External(_)
        | ReportKind::Entry(_) => true,
        ReportKind::CancelReplaced(halves) => [halves.canceled, halves.placed] != [HalfOutcome::Done; 2],
        ReportKind::Line { up, .. } => !up,
        _ => false,
    }
}

/// Their charges are compared by other rules.
pub(super) fn is_same_trade(known: &VenueFill, fill: &VenueFill) -> bool {
    (known.order, &known.exec_id, known.quantity, known.price) == (fill.order, &fill.exec_id, fill.quantity, fill.price)
}

/// Whether a venue that reports this would still have it after a crash. A reject need not be kept.
fn is_durable(said: &ReportKind, snapshot: &VenueSnapshot) -> bool {
    let known = |order: &OrderId| snapshot.orders.iter().find(|known| known.order == *order);
    let ended = |order: &OrderId, state: VenueOrderState| known(order).is_some_and(|known| known.state == state);
    match said {
        ReportKind::Accepted { order, .. } => known(order).is_some(),
        ReportKind::Filled(fill) => snapshot.fills.iter().any(|known| is_same_trade(known, fill)),
        ReportKind::Canceled { order, .. } => ended(order, VenueOrderState::Canceled),
        ReportKind::Expired { order, .. } => ended(order, VenueOrderState::Expired),
        ReportKind::Replaced { order, terms, .. } => known(order).is_some_and(|known| known.terms == *terms),
        _ => true,
    }
}
