//! Venue reports, as an adapter delivers them.

use minicbor::data::Type;
use minicbor::{Decode, Decoder, Encode, Encoder};

use crate::amount::{Amount, Price, Quantity};
use crate::ids::{AdapterName, ExchangeId, OrderId, Text};
use crate::order::OrderTerms;
use crate::order_properties::OrderProperty;
use crate::portfolio::Charge;
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
}

impl ReportKind {
    /// The order of the report, if it is about one.
    pub fn order(&self) -> Option<OrderId> {
        match self {
            Self::Attached(_) | Self::Session(_) | Self::Snapshot(_) | Self::Gap => None,
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

/// Capabilities of an adapter.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct AdapterCapabilities {
    #[n(0)]
    pub exchanges: Vec<ExchangeId>,
    /// Expires DAY and GTD orders by itself; otherwise the engine cancels them.
    #[n(1)]
    pub expires_orders: bool,
    /// How long the venue refuses a second order with a known client id.
    #[n(2)]
    pub refuses_repeated_ids: RefusesRepeatedIds,
    /// Not a live venue.
    #[n(3)]
    pub simulated: bool,
    /// Absent: a request takes effect when it is sent, or never, and all that the venue knows can be read at once.
    #[n(4)]
    pub request_timing: Option<RequestTiming>,
    /// The order properties that the venue offers; an order with another one is refused before it is sent.
    #[n(12)]
    #[cbor(default)]
    pub order_properties: Vec<OrderProperty>,
}

impl AdapterCapabilities {
    pub fn offers(&self, property: OrderProperty) -> bool {
        self.order_properties.contains(&property)
    }

    /// How long after a change the venue's answers may still lack it.
    pub fn read_lag_millis(&self) -> i64 {
        self.request_timing.map_or(0, |timing| timing.read_lag_millis.into())
    }
}

/// How long a venue refuses a second order with a known client id. Only with the last two may an order that certainly
/// did not arrive be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusesRepeatedIds {
    Never,
    /// An id may be used again when its order has ended.
    WhileOpen,
    /// For the trading day.
    Day,
    Forever,
}

impl RefusesRepeatedIds {
    /// Whether an order that did arrive after all would be refused when it is sent again.
    pub fn allows_resend(self) -> bool {
        matches!(self, Self::Day | Self::Forever)
    }
}

/// What a venue promises about time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct RequestTiming {
    /// How long after sending a request can still take effect; absent where there is no bound.
    #[n(0)]
    pub life_millis: Option<u32>,
    /// How long after a change the venue's answers may still lack it.
    #[n(1)]
    pub read_lag_millis: u32,
}

/// What a venue said about one order that it was asked about.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct InquiryAnswer {
    #[n(0)]
    pub order: OrderId,
    /// When the venue was asked, by our clock: the answer is not older.
    #[n(1)]
    pub as_of: Timestamp,
    /// After it no request on the order that was sent so far can take effect; absent where that is not known. Set by
    /// the adapter host.
    #[n(2)]
    pub dead_after: Option<Timestamp>,
    #[n(3)]
    pub result: InquiryResult,
}

#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub enum InquiryResult {
    /// The order with all its fills.
    #[n(0)]
    Found(#[n(0)] VenueOrder, #[n(1)] Vec<VenueFill>),
    #[n(1)]
    NotFound,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
#[cbor(index_only)]
pub enum SessionState {
    #[n(0)]
    Disconnected,
    /// Connected; orders and fills are being reconciled.
    #[n(1)]
    Connected,
    /// Reconciled and open for orders.
    #[n(2)]
    LoggedOn,
    /// Market data flows too.
    #[n(3)]
    Subscribed,
}

impl SessionState {
    pub fn name(self) -> &'static str {
        match self {
            Self::Disconnected => "DISCONNECTED",
            Self::Connected => "CONNECTED",
            Self::LoggedOn => "LOGGED_ON",
            Self::Subscribed => "SUBSCRIBED",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct VenueFill {
    #[n(0)]
    pub order: OrderId,
    #[n(1)]
    pub exec_id: Text,
    #[n(2)]
    pub quantity: Quantity,
    #[n(3)]
    pub price: Price,
    /// The venue's trade time.
    #[n(4)]
    pub at: Option<Timestamp>,
    /// The venue's fee in the security's currency; below zero it is a rebate. Without one the fee of the security's
    /// family applies.
    #[n(5)]
    pub fee: Option<Amount>,
    /// Charges by kind, where the venue reports more than a fee: a kind listed here replaces the family's, in any
    /// currency.
    #[n(6)]
    #[cbor(default)]
    pub charges: Vec<Charge>,
}

/// The venue's orders and fills, for reconciliation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct VenueSnapshot {
    /// Every order at the venue that is open or changed recently.
    #[n(0)]
    pub orders: Vec<VenueOrder>,
    #[n(1)]
    pub fills: Vec<VenueFill>,
    /// Whether every order is here that had reached the venue.
    #[n(2)]
    pub complete: bool,
    /// When the venue was asked, by our clock. Journals of earlier builds have none: then no request was on its way.
    #[n(3)]
    pub as_of: Option<Timestamp>,
    /// After it no request that was sent so far can take effect; absent where that is not known. Set by the adapter
    /// host.
    #[n(4)]
    pub dead_after: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct VenueOrder {
    #[n(0)]
    pub order: OrderId,
    #[n(1)]
    pub ext_id: Option<Text>,
    #[n(2)]
    pub terms: OrderTerms,
    #[n(3)]
    pub state: VenueOrderState,
    #[n(4)]
    pub reason: Option<Text>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum VenueOrderState {
    /// In the market, or filled according to its fills.
    #[n(0)]
    Live,
    #[n(1)]
    Canceled,
    #[n(2)]
    Expired,
    #[n(3)]
    Rejected,
}

/// The extremes are the truth values of earlier builds.
impl<C> Encode<C> for RefusesRepeatedIds {
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut Encoder<W>,
        _: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        match self {
            Self::Never => e.bool(false)?,
            Self::WhileOpen => e.u8(1)?,
            Self::Day => e.u8(2)?,
            Self::Forever => e.bool(true)?,
        };
        Ok(())
    }
}

impl<'b, C> Decode<'b, C> for RefusesRepeatedIds {
    fn decode(d: &mut Decoder<'b>, _: &mut C) -> Result<Self, minicbor::decode::Error> {
        if d.datatype()? == Type::Bool {
            return Ok(if d.bool()? { Self::Forever } else { Self::Never });
        }
        match d.u8()? {
            1 => Ok(Self::WhileOpen),
            2 => Ok(Self::Day),
            other => Err(minicbor::decode::Error::unknown_variant(other.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_ids_are_refused_is_read_as_it_was_written_and_as_earlier_builds_wrote_it() {
        use RefusesRepeatedIds::{Day, Forever, Never, WhileOpen};
        for refuses in [Never, WhileOpen, Day, Forever] {
            let bytes = minicbor::to_vec(refuses).unwrap();
            assert_eq!(minicbor::decode::<RefusesRepeatedIds>(&bytes).unwrap(), refuses);
        }
        let before = [true, false].map(|refused| minicbor::to_vec(refused).unwrap());
        let read = before.map(|bytes| minicbor::decode::<RefusesRepeatedIds>(&bytes).unwrap());
        assert_eq!(read, [Forever, Never]);
        assert!(minicbor::decode::<RefusesRepeatedIds>(&[7]).is_err());
    }

    #[test]
    fn an_unknown_delivery_of_an_earlier_build_has_no_fence() {
        // Variant 14 of an order and a reason.
        let before = [0x82, 14, 0x82, 5, 0x61, b'x'];
        let expected = ReportKind::DeliveryUnknown { order: OrderId(5), reason: "x".into(), dead_after: None };
        assert_eq!(minicbor::decode::<ReportKind>(&before).unwrap(), expected);
        assert_eq!(minicbor::to_vec(&expected).unwrap(), before);
    }
}
