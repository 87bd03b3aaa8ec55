//! Order types: what each one needs, when it begins to work, and at which prices. Code that decides by
//! the type of an order matches all cases of [`Activation`] and [`WorkingPrice`]: a type that needs a new case does not
//! compile before each of these places has an answer.

use minicbor::{Decode, Encode};

use crate::amount::Price;
use crate::order::order_properties::OrderProperty;
use crate::order::side::Side;

/// The type of an order with the prices it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub enum OrderKind {
    /// Trades at any price.
    #[n(0)]
    Market,
    /// Trades at its limit or better, else rests in the book.
    #[n(1)]
    Limit {
        /// The worst price per unit, in the security's currency.
        #[n(0)]
        limit: Price,
    },
    /// Becomes a market order once its stop price is reached.
    #[n(2)]
    Stop {
        /// The price that triggers it: a buy at or above, a sell at or below.
        #[n(0)]
        stop: Price,
    },
    /// Becomes a limit order once its stop price is reached.
    #[n(3)]
    StopLimit {
        /// The worst price per unit after the trigger.
        #[n(0)]
        limit: Price,
        /// The price that triggers it: a buy at or above, a sell at or below.
        #[n(1)]
        stop: Price,
    },
}

/// The types of orders, without their prices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
#[cbor(index_only)]
pub enum OrderType {
    /// Trades at any price.
    #[n(0)]
    Market,
    /// Trades at its limit or better, else rests in the book.
    #[n(1)]
    Limit,
    /// Becomes a market order once its stop price is reached.
    #[n(2)]
    Stop,
    /// Becomes a limit order once its stop price is reached.
    #[n(3)]
    StopLimit,
}

/// A price that an order type may need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriceField {
    /// The worst price per unit.
    Limit,
    /// The price that triggers the order.
    Stop,
}

impl PriceField {
    /// The key in REST bodies.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Limit => "limit",
            Self::Stop => "stop",
        }
    }
}

/// When an order begins to work at its venue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// On arrival.
    AtOnce,
    /// When the market reaches this price: a buy at or above, a sell at or below. Until then it is outside of the book.
    AtStop(Price),
}

impl Activation {
    /// Whether an order of this side begins to work at this price of the market.
    pub fn is_reached(self, side: Side, price: Price) -> bool {
        match (self, side) {
            (Self::AtOnce, _) => true,
            (Self::AtStop(stop), Side::Buy) => price >= stop,
            (Self::AtStop(stop), Side::Sell) => price <= stop,
        }
    }
}

/// The prices at which an order that works may trade.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkingPrice {
    /// Any: nothing of it rests in continuous trading.
    Any,
    /// This one or a better one.
    Limit(Price),
}

/// One row of the table of order types.
struct OrderTypeRow {
    name: &'static str,
    path: &'static str,
    prices: &'static [PriceField],
    properties: &'static [OrderProperty],
}

impl OrderType {
    /// All types, in the order of the enum.
    pub const ALL: [Self; 4] = [Self::Market, Self::Limit, Self::Stop, Self::StopLimit];

    /// The names of all types.
    pub const NAMES: [&'static str; 4] =
        [Self::Market.name(), Self::Limit.name(), Self::Stop.name(), Self::StopLimit.name()];

    const fn row(self) -> OrderTypeRow {
        use OrderProperty::{DisplayQuantity, MinQuantity, PostOnly};
        use PriceField::{Limit, Stop};
        let (name, path, prices, properties): (_, _, &[PriceField], &[OrderProperty]) = match self {
            Self::Market => ("MarketOrder", "market", &[], &[MinQuantity]),
            Self::Limit => ("LimitOrder", "limit", &[Limit], &[PostOnly, DisplayQuantity, MinQuantity]),
            Self::Stop => ("StopOrder", "stop", &[Stop], &[]),
            Self::StopLimit => ("StopLimitOrder", "stoplimit", &[Limit, Stop], &[DisplayQuantity]),
        };
        OrderTypeRow { name, path, prices, properties }
    }

    /// As clients see it: the `objectType` of the order.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The last part of the paths by which a client places and modifies such an order.
    pub const fn path(self) -> &'static str {
        self.row().path
    }

    /// The prices that orders of this type have and need.
    pub fn prices(self) -> &'static [PriceField] {
        self.row().prices
    }

    /// Whether orders of this type have such a price.
    pub fn has(self, price: PriceField) -> bool {
        self.prices().contains(&price)
    }

    /// Whether the property goes with this type.
    pub fn allows(self, property: OrderProperty) -> bool {
        self.row().properties.contains(&property)
    }

    /// An order of this type, or the price that is missing. Prices that the type does not have are left out.
    pub fn with_prices(self, limit: Option<Price>, stop: Option<Price>) -> Result<OrderKind, PriceField> {
        let limit = limit.ok_or(PriceField::Limit);
        let stop = stop.ok_or(PriceField::Stop);
        Ok(match self {
            Self::Market => OrderKind::Market,
            Self::Limit => OrderKind::Limit { limit: limit? },
            Self::Stop => OrderKind::Stop { stop: stop? },
            Self::StopLimit => OrderKind::StopLimit { limit: limit?, stop: stop? },
        })
    }
}

impl OrderKind {
    /// When such an order begins to work, and at which prices.
    pub fn work(&self) -> (Activation, WorkingPrice) {
        match *self {
            Self::Market => (Activation::AtOnce, WorkingPrice::Any),
            Self::Limit { limit } => (Activation::AtOnce, WorkingPrice::Limit(limit)),
            Self::Stop { stop } => (Activation::AtStop(stop), WorkingPrice::Any),
            Self::StopLimit { limit, stop } => (Activation::AtStop(stop), WorkingPrice::Limit(limit)),
        }
    }

    /// When such an order begins to work.
    pub fn activation(&self) -> Activation {
        self.work().0
    }

    /// At which prices it may trade once it works.
    pub fn working_price(&self) -> WorkingPrice {
        self.work().1
    }

    /// Whether it trades at once at any price, so that nothing of it rests in continuous trading.
    pub fn never_rests(&self) -> bool {
        match self.work() {
            (Activation::AtOnce, WorkingPrice::Any) => true,
            (Activation::AtOnce, WorkingPrice::Limit(_)) | (Activation::AtStop(_), _) => false,
        }
    }

    /// The price that the order itself names, if any: its limit, else the price at which it begins.
    pub fn own_price(&self) -> Option<Price> {
        match self.work() {
            (_, WorkingPrice::Limit(price)) | (Activation::AtStop(price), WorkingPrice::Any) => Some(price),
            (Activation::AtOnce, WorkingPrice::Any) => None,
        }
    }

    /// The type without its prices.
    pub fn order_type(&self) -> OrderType {
        match self {
            Self::Market => OrderType::Market,
            Self::Limit { .. } => OrderType::Limit,
            Self::Stop { .. } => OrderType::Stop,
            Self::StopLimit { .. } => OrderType::StopLimit,
        }
    }

    /// The limit price of the types that have one: for texts and messages.
    pub fn limit(&self) -> Option<Price> {
        match self.working_price() {
            WorkingPrice::Limit(limit) => Some(limit),
            WorkingPrice::Any => None,
        }
    }

    /// The stop price of the types that have one: for texts and messages.
    pub fn stop(&self) -> Option<Price> {
        match self.activation() {
            Activation::AtStop(stop) => Some(stop),
            Activation::AtOnce => None,
        }
    }

    /// Every price that it names, with its key.
    pub fn prices(&self) -> impl Iterator<Item = (&'static str, Price)> {
        let named = [(PriceField::Limit, self.limit()), (PriceField::Stop, self.stop())];
        named.into_iter().filter_map(|(field, price)| Some((field.name(), price?)))
    }

    /// The same type with new prices: those that are given and that the type has.
    pub fn with_prices(&self, limit: Option<Price>, stop: Option<Price>) -> Self {
        let (limit, stop) = (limit.or(self.limit()), stop.or(self.stop()));
        self.order_type().with_prices(limit, stop).unwrap_or(*self)
    }

    /// As clients see it: the `objectType` of the order.
    pub fn name(&self) -> &'static str {
        self.order_type().name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICE: Option<Price> = Some(Price::ZERO);

    #[test]
    fn a_type_has_the_prices_that_its_row_says() {
        for order_type in OrderType::ALL {
            let kind = order_type.with_prices(PRICE, PRICE).unwrap();
            assert_eq!(kind.order_type(), order_type);
            assert_eq!(kind.limit().is_some(), order_type.has(PriceField::Limit), "{order_type:?}");
            assert_eq!(kind.stop().is_some(), order_type.has(PriceField::Stop), "{order_type:?}");
        }
    }

    #[test]
    fn the_first_missing_price_is_named() {
        assert_eq!(OrderType::StopLimit.with_prices(None, None), Err(PriceField::Limit));
        assert_eq!(OrderType::StopLimit.with_prices(PRICE, None), Err(PriceField::Stop));
        assert_eq!(OrderType::Market.with_prices(PRICE, None), Ok(OrderKind::Market));
    }

    #[test]
    fn new_prices_are_those_that_the_type_has() {
        let price = |text: &str| -> Price { text.parse().unwrap() };
        let kind = OrderKind::StopLimit { limit: price("9"), stop: price("10") };
        let changed = kind.with_prices(None, Some(price("11")));
        assert_eq!(changed, OrderKind::StopLimit { limit: price("9"), stop: price("11") });
        assert_eq!(changed.prices().collect::<Vec<_>>(), [("limit", price("9")), ("stop", price("11"))]);
        assert_eq!(OrderKind::Market.with_prices(PRICE, PRICE), OrderKind::Market);
    }

    #[test]
    fn a_stop_is_reached_from_the_side_of_its_loss() {
        let price = |text: &str| -> Price { text.parse().unwrap() };
        let stop = Activation::AtStop(price("10"));
        assert_eq!(["9", "10", "11"].map(|at| stop.is_reached(Side::Buy, price(at))), [false, true, true]);
        assert_eq!(["9", "10", "11"].map(|at| stop.is_reached(Side::Sell, price(at))), [true, true, false]);
        assert!(Activation::AtOnce.is_reached(Side::Buy, price("1")));
    }

    #[test]
    fn only_a_market_order_never_rests() {
        let never = OrderType::ALL.map(|order_type| order_type.with_prices(PRICE, PRICE).unwrap().never_rests());
        assert_eq!(never, [true, false, false, false]);
    }
}
