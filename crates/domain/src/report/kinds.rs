//! What a report says.

use minicbor::{Decode, Encode};

use super::{
    AdapterCapabilities, CancelReplaceReport, ExternalOrder, FillsPage, InquiryAnswer, LineKind, ListingScope,
    OpenOrdersPage, SessionState, VenueEntry, VenueFill, VenueListing, VenueOrder, VenueSnapshot, VenueStatement,
};
use crate::amount::Quantity;
use crate::ids::{AdapterName, OrderId, SecurityId, Text};
use crate::order::OrderTerms;
use crate::time::Timestamp;

/// A message of an adapter to the engine.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Report {
    /// The adapter that sent it.
    #[n(0)]
    pub adapter: AdapterName,
    /// The venue's own time.
    #[n(1)]
    pub ext_at: Option<Timestamp>,
    /// What it says.
    #[n(2)]
    pub kind: ReportKind,
}

/// What an adapter can report.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub enum ReportKind {
    /// The adapter has started and names its capabilities.
    #[n(0)]
    Attached(#[n(0)] AdapterCapabilities),
    /// The connection to the venue changed.
    #[n(1)]
    Session(#[n(0)] SessionState),
    /// The venue's orders and fills; sent after each connect, before new orders.
    #[n(2)]
    Snapshot(#[n(0)] VenueSnapshot),
    /// The venue has the order in its market.
    #[n(3)]
    Accepted {
        /// Our number of the order.
        #[n(0)]
        order: OrderId,
        /// The venue's id of the order; absent where it gives none.
        #[n(1)]
        ext_id: Option<Text>,
    },
    /// The venue never accepted the order.
    #[n(4)]
    Rejected {
        /// Our number of the order.
        #[n(0)]
        order: OrderId,
        /// The venue's text.
        #[n(1)]
        reason: Text,
    },
    /// An order was filled, in part or whole.
    #[n(5)]
    Filled(#[n(0)] VenueFill),
    /// The order left the market unfilled, by our cancel or the venue's own.
    #[n(6)]
    Canceled {
        /// Our number of the order.
        #[n(0)]
        order: OrderId,
        /// The venue's text; absent where it gives none.
        #[n(1)]
        reason: Option<Text>,
    },
    /// The time in force of the order ended at the venue.
    #[n(7)]
    Expired {
        /// Our number of the order.
        #[n(0)]
        order: OrderId,
        /// The venue's text; absent where it gives none.
        #[n(1)]
        reason: Option<Text>,
    },
    /// The venue has applied new terms.
    #[n(8)]
    Replaced {
        /// Our number of the order.
        #[n(0)]
        order: OrderId,
        /// The terms that apply now; where the order has legs, those of the leg that it works by.
        #[n(1)]
        terms: OrderTerms,
        /// The venue's new id of the order; absent where the old one stays.
        #[n(2)]
        ext_id: Option<Text>,
    },
    /// The venue did not cancel; the order is as it was.
    #[n(9)]
    CancelRejected {
        /// Our number of the order.
        #[n(0)]
        order: OrderId,
        /// The venue's text.
        #[n(1)]
        reason: Text,
    },
    /// The venue did not apply new terms; the order is as it was.
    #[n(10)]
    ReplaceRejected {
        /// Our number of the order.
        #[n(0)]
        order: OrderId,
        /// The venue's text.
        #[n(1)]
        reason: Text,
    },
    /// A fill is busted.
    #[n(11)]
    Busted {
        /// Our number of the order.
        #[n(0)]
        order: OrderId,
        /// The venue's id of the execution that no longer counts.
        #[n(1)]
        exec_id: Text,
        /// The venue's text; absent where it gives none.
        #[n(2)]
        reason: Option<Text>,
    },
    /// A fill is corrected; `exec_id` names the fill it replaces.
    #[n(12)]
    Corrected {
        /// The venue's id of the execution that no longer counts.
        #[n(0)]
        exec_id: Text,
        /// The execution that counts instead, with an id of its own.
        #[n(1)]
        by: VenueFill,
    },
    /// From the adapter itself: the request certainly did not reach the venue.
    #[n(13)]
    NotSent {
        /// Our number of the order.
        #[n(0)]
        order: OrderId,
        /// The adapter's text.
        #[n(1)]
        reason: Text,
    },
    /// From the adapter itself: whether the request reached the venue is unknown.
    #[n(14)]
    DeliveryUnknown {
        /// Our number of the order.
        #[n(0)]
        order: OrderId,
        /// The adapter's text.
        #[n(1)]
        reason: Text,
        /// After it the request can no longer take effect.
        #[n(2)]
        dead_after: Option<Timestamp>,
    },
    /// Reports may have been lost on a session that is up.
    #[n(15)]
    Gap,
    /// The answer to an inquiry about one order.
    #[n(16)]
    Inquiry(#[n(0)] InquiryAnswer),
    /// What the venue holds for an account.
    #[n(19)]
    Statement(#[n(0)] VenueStatement),
    /// The venue booked something on an account besides a trade.
    #[n(20)]
    Entry(#[n(0)] VenueEntry),
    /// A line of a session that is up has failed or is back. Again with the same state it only says that the line was heard.
    #[n(22)]
    Line {
        /// Which line.
        #[n(0)]
        line: LineKind,
        /// Whether it works.
        #[n(1)]
        up: bool,
        /// Why it is down, where the adapter knows.
        #[n(2)]
        reason: Option<Text>,
    },
    /// A page of the venue's open orders.
    #[n(17)]
    OpenOrders(#[n(0)] OpenOrdersPage),
    /// A page of the venue's fills.
    #[n(18)]
    Fills(#[n(0)] FillsPage),
    /// A list failed, was cut or is older than asked for: nothing follows from it, and it is asked for again.
    #[n(23)]
    ListingFailed {
        /// What was asked for.
        #[n(0)]
        scope: ListingScope,
        /// Why nothing came of it.
        #[n(1)]
        reason: Text,
    },
    /// An order at the venue that we did not place, with all that is known of it: the first report adopts it, later ones
    /// update it.
    #[n(21)]
    External(#[n(0)] Box<ExternalOrder>),
    /// What the venue takes of a security has changed, or is told for the first time. It replaces what was told before.
    #[n(24)]
    Listed {
        /// The security.
        #[n(0)]
        security: SecurityId,
        /// What the venue takes of it now.
        #[n(1)]
        listing: VenueListing,
    },
    /// What became of a cancel-replace, half by half. Where both are done, `Replaced` with the id of the new leg says the
    /// same.
    #[n(25)]
    CancelReplaced(#[n(0)] Box<CancelReplaceReport>),
    /// A leg of an order besides the one that it works by, as the venue shows it now.
    #[n(26)]
    Leg(#[n(0)] Box<VenueOrder>),
    /// The venue has begun its session anew: reports of before the log-on that did not arrive do not come any more, also
    /// those of orders that have ended.
    #[n(27)]
    ReportsLost,
    /// A report on an order contradicts itself or what is known of the order, or cannot be read: what is unclear of it was not
    /// applied.
    #[n(28)]
    UnclearReport {
        /// Our number of the order, which may have ended.
        #[n(0)]
        order: OrderId,
        /// The adapter's text.
        #[n(1)]
        reason: Text,
    },
    /// A list or an answer of the venue shows that a fill does not count any more. Lists repeat what they have told: the fill may have been
    /// busted or corrected before, or never have been reported.
    #[n(29)]
    TakenBack {
        /// Our number of the order.
        #[n(0)]
        order: OrderId,
        /// The venue's id of the execution that no longer counts.
        #[n(1)]
        exec_id: Text,
        /// The execution that counts instead; absent where none does. The list or answer behind this report has it too.
        #[n(2)]
        by: Option<Box<VenueFill>>,
        /// When, by the venue's time.
        #[n(3)]
        at: Option<Timestamp>,
    },
    /// What the venue has filled of an order in all, by the report before this one. Sent where the adapter does not know what was reported
    /// of the order before, as after a start: more than is booked means that an execution is missing.
    #[n(30)]
    FilledInAll {
        /// Our number of the order, which may have ended.
        #[n(0)]
        order: OrderId,
        /// Of all executions together.
        #[n(1)]
        quantity: Quantity,
    },
}

impl ReportKind {
    /// The order of the report, if it is about one.
    pub fn order(&self) -> Option<OrderId> {
        match self {
            Self::Attached(_)
            | Self::External(_)
            | Self::Session(_)
            | Self::Snapshot(_)
            | Self::Gap
            | Self::ReportsLost
            | Self::Line { .. }
            | Self::Statement(_)
            | Self::Entry(_)
            | Self::OpenOrders(_)
            | Self::Fills(_)
            | Self::ListingFailed { .. }
            | Self::Listed { .. } => None,
            Self::Accepted { order, .. }
            | Self::Rejected { order, .. }
            | Self::Canceled { order, .. }
            | Self::Expired { order, .. }
            | Self::Replaced { order, .. }
            | Self::CancelRejected { order, .. }
            | Self::ReplaceRejected { order, .. }
            | Self::Busted { order, .. }
            | Self::NotSent { order, .. }
            | Self::DeliveryUnknown { order, .. }
            | Self::TakenBack { order, .. }
            | Self::FilledInAll { order, .. }
            | Self::UnclearReport { order, .. } => Some(*order),
            Self::Filled(fill) | Self::Corrected { by: fill, .. } => Some(fill.order),
            Self::Inquiry(answer) => Some(answer.order),
            Self::CancelReplaced(told) => Some(told.order),
            Self::Leg(seen) => Some(seen.order),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_delivery_of_an_earlier_build_has_no_fence() {
        // Variant 14 of an order and a reason.
        let before = [0x82, 14, 0x82, 5, 0x61, b'x'];
        let expected = ReportKind::DeliveryUnknown { order: OrderId(5), reason: "x".into(), dead_after: None };
        assert_eq!(minicbor::decode::<ReportKind>(&before).unwrap(), expected);
        assert_eq!(minicbor::to_vec(&expected).unwrap(), before);
    }

    #[test]
    fn what_is_taken_back_is_read_as_it_was_written() {
        let at = Some(Timestamp(7));
        let bust = ReportKind::TakenBack { order: OrderId(5), exec_id: "x".into(), by: None, at: None };
        // Variant 29 of an order and an id; what is absent takes no room.
        assert_eq!(minicbor::to_vec(&bust).unwrap(), [0x82, 0x18, 29, 0x82, 5, 0x61, b'x']);
        let by = VenueFill {
            order: OrderId(5),
            exec_id: "y".into(),
            quantity: 3.into(),
            price: 10.into(),
            at,
            fee: None,
            charges: vec![],
            ext_order: None,
            liquidity: None,
        };
        let correction = ReportKind::TakenBack { order: OrderId(5), exec_id: "x".into(), by: Some(Box::new(by)), at };
        for told in [bust, correction] {
            assert_eq!(minicbor::decode::<ReportKind>(&minicbor::to_vec(&told).unwrap()).unwrap(), told);
        }
    }

    #[test]
    fn a_listing_is_read_as_it_was_written() {
        use crate::report::ListingStatus;
        let bare = VenueListing::new(ListingStatus::CancelOnly);
        let listing = VenueListing { tick: Some("0.05".parse().unwrap()), notional_max: Some(900.into()), ..bare };
        for listing in [bare, listing] {
            let told = ReportKind::Listed { security: SecurityId(7), listing };
            let bytes = minicbor::to_vec(&told).unwrap();
            assert_eq!(minicbor::decode::<ReportKind>(&bytes).unwrap(), told);
        }
        // Variant 24 of a security and a status; absent filters take no room.
        let bytes = minicbor::to_vec(ReportKind::Listed { security: SecurityId(7), listing: bare }).unwrap();
        assert_eq!(bytes, [0x82, 0x18, 24, 0x82, 7, 0x81, 2]);
    }
}
