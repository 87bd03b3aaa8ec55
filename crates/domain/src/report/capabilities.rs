//! What an adapter offers and what its venue promises.

use minicbor::data::Type;
use minicbor::{Decode, Decoder, Encode, Encoder};

use super::ListingCapabilities;
use super::cancel_kind::CancelKind;
use super::replace_kind::ReplaceKind;
use super::session::LineKind;
use super::venue_listings::ListingRefusal;
use crate::ids::ExchangeId;
use crate::order::order_properties::OrderProperty;
use crate::order::order_type::OrderType;
use crate::order::{OrderTerms, TifKind};

/// Capabilities of an adapter. The default promises nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct AdapterCapabilities {
    /// The exchanges that it serves; orders for others have no route.
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
    /// What the venue can list while the session is up.
    #[n(6)]
    #[cbor(default)]
    pub lists: ListingCapabilities,
    /// The lines whose state the adapter reports apart; the others are up while the session is.
    #[n(7)]
    #[cbor(default)]
    pub lines: Vec<LineKind>,
    /// The order properties that the venue offers; an order with another one is refused before it is sent.
    #[n(12)]
    #[cbor(default)]
    pub order_properties: Vec<OrderProperty>,
    /// How the venue gives an open order other terms; in place in journals that were written before.
    #[n(13)]
    #[cbor(default)]
    pub replace: ReplaceKind,
    /// Tags of FIX orders that go on to the venue as they are; an order with another one is refused before it is sent. Absent: none do.
    #[n(14)]
    pub pass_through: Option<Vec<u32>>,
    /// The order types that the venue has; an order of another one is refused before it is sent. Absent: what it has was not told.
    #[n(15)]
    pub order_types: Option<Vec<OfferedOrderType>>,
    /// Whether the venue takes cancels; it does in journals that were written before. A cancel is refused before it is sent where it does not.
    #[n(16)]
    #[cbor(default)]
    pub cancel: CancelKind,
}

/// An order type that a venue has, and the times in force that orders of it may have.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct OfferedOrderType {
    /// The type.
    #[n(0)]
    pub order_type: OrderType,
    /// With another one the order is refused.
    #[n(1)]
    pub times_in_force: Vec<TifKind>,
}

impl AdapterCapabilities {
    /// Whether the venue has this order property.
    pub fn offers(&self, property: OrderProperty) -> bool {
        self.order_properties.contains(&property)
    }

    /// Whether the venue has orders of this type with this time in force.
    pub fn check_terms(&self, terms: &OrderTerms) -> Result<(), ListingRefusal> {
        let Some(offered) = &self.order_types else { return Ok(()) };
        let (order_type, tif) = (terms.kind.order_type(), terms.tif.kind());
        match offered.iter().find(|offered| offered.order_type == order_type) {
            None => Err(ListingRefusal::OrderType(order_type)),
            Some(offered) if !offered.times_in_force.contains(&tif) => Err(ListingRefusal::TimeInForce(tif)),
            Some(_) => Ok(()),
        }
    }

    /// How long after a change the venue's answers may still lack it.
    pub fn read_lag_millis(&self) -> i64 {
        self.request_timing.map_or(0, |timing| timing.read_lag_millis.into())
    }
}

/// How long a venue refuses a second order with a known client id. Only with the last two may an order that certainly
/// did not arrive be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RefusesRepeatedIds {
    /// A second order with the same id is a second order.
    #[default]
    Never,
    /// An id may be used again when its order has ended.
    WhileOpen,
    /// For the trading day.
    Day,
    /// An id is never accepted again.
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
    use crate::order::{OrderKind, TimeInForce};

    #[test]
    fn an_order_type_with_its_times_in_force_is_offered_and_where_nothing_was_told_every_one_is() {
        let times_in_force = vec![TifKind::Day, TifKind::Gtd];
        let order_types = Some(vec![OfferedOrderType { order_type: OrderType::Market, times_in_force }]);
        let told = AdapterCapabilities { order_types, ..AdapterCapabilities::default() };
        let told: AdapterCapabilities = minicbor::decode(&minicbor::to_vec(&told).unwrap()).unwrap();
        let limit = OrderKind::Limit { limit: 10.into() };
        let refusal = |capabilities: &AdapterCapabilities, kind, tif| {
            let terms = OrderTerms { quantity: 1.into(), kind, tif };
            capabilities.check_terms(&terms).err().map(|refusal| (refusal.code(), refusal.field()))
        };
        assert_eq!(refusal(&told, OrderKind::Market, TimeInForce::Day), None);
        assert_eq!(refusal(&told, OrderKind::Market, TimeInForce::Fok), Some(("venue-tif", Some("tif"))));
        assert_eq!(refusal(&told, limit, TimeInForce::Day), Some(("venue-order-type", None)));
        assert_eq!(refusal(&AdapterCapabilities::default(), limit, TimeInForce::Fok), None);
    }

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
}
