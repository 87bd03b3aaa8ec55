//! Venue reports, as an adapter delivers them.

use minicbor::{Decode, Encode};

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
    },
}

impl ReportKind {
    /// The order of the report, if it is about one.
    pub fn order(&self) -> Option<OrderId> {
        match self {
            Self::Attached(_) | Self::Session(_) | Self::Snapshot(_) => None,
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
    /// Rejects a second order with a known client id, so that an order that certainly did not arrive may be sent again.
    #[n(2)]
    pub rejects_duplicates: bool,
    /// Not a live venue.
    #[n(3)]
    pub simulated: bool,
    /// The order properties that the venue offers; an order with another one is refused before it is sent.
    #[n(12)]
    #[cbor(default)]
    pub order_properties: Vec<OrderProperty>,
}

impl AdapterCapabilities {
    pub fn offers(&self, property: OrderProperty) -> bool {
        self.order_properties.contains(&property)
    }
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
    /// Whether an order that is missing here certainly never reached the venue.
    #[n(2)]
    pub complete: bool,
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
