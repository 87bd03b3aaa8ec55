//! What a report says.

use minicbor::{Decode, Encode};

use super::{
    AdapterCapabilities, InquiryAnswer, LineKind, SessionState, VenueEntry, VenueFill, VenueSnapshot, VenueStatement,
};
use crate::ids::{AdapterName, OrderId, Text};
use crate::order::OrderTerms;
use crate::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Report {
    #[n(0)]
    pub adapter: AdapterName,
    /// The venue's own time.
    #[n(1)]
    pub ext_at: Option<Timestamp>,
    #[n(2)]
    pub kind: ReportKind,
}

#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub enum ReportKind {
    /// The adapter has started and names its capabilities.
    #[n(0)]
    Attached(#[n(0)] AdapterCapabilities),
    #[n(1)]
    Session(#[n(0)] SessionState),
    /// The venue's orders and fills; sent after each connect, before new orders.
    #[n(2)]
    Snapshot(#[n(0)] VenueSnapshot),
    #[n(3)]
    Accepted {
        #[n(0)]
        order: OrderId,
        #[n(1)]
        ext_id: Option<Text>,
    },
    #[n(4)]
    Rejected {
        #[n(0)]
        order: OrderId,
        #[n(1)]
        reason: Text,
    },
    #[n(5)]
    Filled(#[n(0)] VenueFill),
    #[n(6)]
    Canceled {
        #[n(0)]
        order: OrderId,
        #[n(1)]
        reason: Option<Text>,
    },
    #[n(7)]
    Expired {
        #[n(0)]
        order: OrderId,
        #[n(1)]
        reason: Option<Text>,
    },
    #[n(8)]
    Replaced {
        #[n(0)]
        order: OrderId,
        #[n(1)]
        terms: OrderTerms,
        #[n(2)]
        ext_id: Option<Text>,
    },
    #[n(9)]
    CancelRejected {
        #[n(0)]
        order: OrderId,
        #[n(1)]
        reason: Text,
    },
    #[n(10)]
    ReplaceRejected {
        #[n(0)]
        order: OrderId,
        #[n(1)]
        reason: Text,
    },
    /// A fill is busted.
    #[n(11)]
    Busted {
        #[n(0)]
        order: OrderId,
        #[n(1)]
        exec_id: Text,
        #[n(2)]
        reason: Option<Text>,
    },
    /// A fill is corrected; `exec_id` names the fill it replaces.
    #[n(12)]
    Corrected {
        #[n(0)]
        exec_id: Text,
        #[n(1)]
        by: VenueFill,
    },
    /// From the adapter itself: the request certainly did not reach the venue.
    #[n(13)]
    NotSent {
        #[n(0)]
        order: OrderId,
        #[n(1)]
        reason: Text,
    },
    /// From the adapter itself: whether the request reached the venue is unknown.
    #[n(14)]
    DeliveryUnknown {
        #[n(0)]
        order: OrderId,
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
        #[n(0)]
        line: LineKind,
        #[n(1)]
        up: bool,
        #[n(2)]
        reason: Option<Text>,
    },
}

impl ReportKind {
    /// The order of the report, if it is about one.
    pub fn order(&self) -> Option<OrderId> {
        match self {
            Self::Attached(_)
            | Self::Session(_)
            | Self::Snapshot(_)
            | Self::Gap
            | Self::Line { .. }
            | Self::Statement(_)
            | Self::Entry(_) => None,
            Self::Accepted { order, .. }
            | Self::Rejected { order, .. }
            | Self::Canceled { order, .. }
            | Self::Expired { order, .. }
            | Self::Replaced { order, .. }
            | Self::CancelRejected { order, .. }
            | Self::ReplaceRejected { order, .. }
            | Self::Busted { order, .. }
            | Self::NotSent { order, .. }
            | Self::DeliveryUnknown { order, .. } => Some(*order),
            Self::Filled(fill) | Self::Corrected { by: fill, .. } => Some(fill.order),
            Self::Inquiry(answer) => Some(answer.order),
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
}
