//! What a venue takes of a security at present, and why an order does not fit that.

use std::fmt;

use minicbor::{Decode, Encode};
use rust_decimal::Decimal;

use super::replace_kind::ReplaceKind;
use crate::amount::{Amount, Price, Quantity};
use crate::order::TifKind;
use crate::order::order_type::OrderType;

/// What a venue takes of a security. An absent filter does not apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct VenueListing {
    /// Whether it takes orders.
    #[n(0)]
    pub status: ListingStatus,
    /// Prices are multiples of it.
    #[n(1)]
    pub tick: Option<Price>,
    /// Quantities are multiples of it.
    #[n(2)]
    pub lot: Option<Quantity>,
    /// The smallest quantity of an order.
    #[n(3)]
    pub quantity_min: Option<Quantity>,
    /// The largest quantity of an order.
    #[n(4)]
    pub quantity_max: Option<Quantity>,
    /// The smallest price times quantity.
    #[n(5)]
    pub notional_min: Option<Amount>,
    /// The largest price times quantity.
    #[n(6)]
    pub notional_max: Option<Amount>,
    /// How orders are replaced; absent: as everywhere at the venue.
    #[n(7)]
    pub replace: Option<ReplaceKind>,
}

/// Whether a venue takes orders for a security.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum ListingStatus {
    /// It does.
    #[n(0)]
    Trading,
    /// Nothing is taken for now.
    #[n(1)]
    Halted,
    /// Orders can be cancelled, new ones are refused.
    #[n(2)]
    CancelOnly,
    /// The venue does not list it any more.
    #[n(3)]
    Delisted,
    /// The venue does not list it.
    #[n(4)]
    Unlisted,
}

/// Why an order does not fit its listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListingRefusal {
    /// The venue does not list the security.
    Unlisted,
    /// The venue takes no orders for it.
    Status(ListingStatus),
    /// A price is no multiple of the tick.
    Tick {
        /// The field of the order: limit or stop.
        field: &'static str,
        /// The price of the order.
        price: Price,
        /// The venue's tick.
        tick: Price,
    },
    /// The quantity is no multiple of the lot.
    Lot {
        /// The quantity of the order.
        quantity: Quantity,
        /// The venue's lot.
        lot: Quantity,
    },
    /// The quantity is too small or too large.
    Quantity {
        /// The quantity of the order.
        quantity: Quantity,
        /// The smallest; absent where there is none.
        min: Option<Quantity>,
        /// The largest; absent where there is none.
        max: Option<Quantity>,
    },
    /// Price times quantity is too small or too large.
    Notional {
        /// The smallest; absent where there is none.
        min: Option<Amount>,
        /// The largest; absent where there is none.
        max: Option<Amount>,
    },
    /// The venue cannot give the order these terms.
    Replace(ReplaceKind),
    /// The venue takes no cancels.
    NoCancel,
    /// The venue has no orders of this type.
    OrderType(OrderType),
    /// The venue has no orders of the type with this time in force.
    TimeInForce(TifKind),
}

impl VenueListing {
    /// A listing without any filter.
    pub fn new(status: ListingStatus) -> Self {
        Self {
            status,
            tick: None,
            lot: None,
            quantity_min: None,
            quantity_max: None,
            notional_min: None,
            notional_max: None,
            replace: None,
        }
    }

    /// Whether the venue would take an order. Without a limit (a market order) its value is not checked.
    pub fn check(&self, quantity: Quantity, limit: Option<Price>, stop: Option<Price>) -> Result<(), ListingRefusal> {
        match self.status {
            ListingStatus::Trading => {}
            ListingStatus::Unlisted => return Err(ListingRefusal::Unlisted),
            status => return Err(ListingRefusal::Status(status)),
        }
        self.check_tick("limit", limit)?;
        self.check_tick("stop", stop)?;
        self.check_quantity(quantity)?;
        limit.map_or(Ok(()), |limit| self.check_notional(quantity, limit))
    }

    fn check_tick(&self, field: &'static str, price: Option<Price>) -> Result<(), ListingRefusal> {
        match (price, self.tick) {
            (Some(price), Some(tick)) if !price.is_multiple_of(tick.0) => {
                Err(ListingRefusal::Tick { field, price, tick })
            }
            _ => Ok(()),
        }
    }

    fn check_quantity(&self, quantity: Quantity) -> Result<(), ListingRefusal> {
        if let Some(lot) = self.lot.filter(|lot| !quantity.is_multiple_of(lot.0)) {
            return Err(ListingRefusal::Lot { quantity, lot });
        }
        let (min, max) = (self.quantity_min, self.quantity_max);
        if is_within(quantity, min, max) { Ok(()) } else { Err(ListingRefusal::Quantity { quantity, min, max }) }
    }

    fn check_notional(&self, quantity: Quantity, limit: Price) -> Result<(), ListingRefusal> {
        let (min, max) = (self.notional_min, self.notional_max);
        match quantity.value_at(limit, Decimal::ONE) {
            Ok(notional) if is_within(notional, min, max) => Ok(()),
            // A value that is too large for a number is too large for any venue.
            _ => Err(ListingRefusal::Notional { min, max }),
        }
    }
}

fn is_within<T: PartialOrd>(value: T, min: Option<T>, max: Option<T>) -> bool {
    min.is_none_or(|min| value >= min) && max.is_none_or(|max| value <= max)
}

impl ListingStatus {
    /// As texts name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Trading => "trading",
            Self::Halted => "halted",
            Self::CancelOnly => "cancel-only",
            Self::Delisted => "delisted",
            Self::Unlisted => "unlisted",
        }
    }

    /// Whether the venue lists the security at all.
    pub fn is_listed(self) -> bool {
        !matches!(self, Self::Delisted | Self::Unlisted)
    }
}

impl ListingRefusal {
    /// Stable and kebab-case: part of the contract with clients.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unlisted | Self::Status(ListingStatus::Unlisted) => "venue-unlisted",
            Self::Status(ListingStatus::Trading | ListingStatus::Halted) => "venue-halted",
            Self::Status(ListingStatus::CancelOnly) => "venue-cancel-only",
            Self::Status(ListingStatus::Delisted) => "venue-delisted",
            Self::Tick { .. } => "venue-tick",
            Self::Lot { .. } => "venue-lot",
            Self::Quantity { .. } => "venue-quantity",
            Self::Notional { .. } => "venue-notional",
            Self::Replace(_) => "venue-replace",
            Self::NoCancel => "venue-no-cancel",
            Self::OrderType(_) => "venue-order-type",
            Self::TimeInForce(_) => "venue-tif",
        }
    }

    /// The field of the order that does not fit, if it is one.
    pub fn field(&self) -> Option<&'static str> {
        match self {
            Self::Unlisted | Self::Status(_) => Some("securityId"),
            Self::Tick { field, .. } => Some(field),
            Self::Lot { .. } | Self::Quantity { .. } => Some("quantity"),
            Self::TimeInForce(_) => Some("tif"),
            Self::Notional { .. } | Self::Replace(_) | Self::NoCancel | Self::OrderType(_) => None,
        }
    }

    /// The text without the code.
    pub fn reason(&self) -> String {
        match self {
            Self::Unlisted => "the venue does not list the symbol".to_owned(),
            Self::Status(status) => format!("the symbol is {}", status.name()),
            Self::Tick { price, tick, .. } => format!("the price {price} is no multiple of {tick}"),
            Self::Lot { quantity, lot } => format!("the quantity {quantity} is no multiple of {lot}"),
            Self::Quantity { quantity, min, max } => {
                format!("the quantity {quantity} is not from {} to {}", shown(*min), shown(*max))
            }
            Self::Notional { min, max } => {
                format!("price times quantity is not from {} to {}", shown(*min), shown(*max))
            }
            Self::Replace(kind) => kind.refusal_text().to_owned(),
            Self::NoCancel => "it takes no cancels".to_owned(),
            Self::OrderType(order_type) => format!("it has no orders of type {}", order_type.name()),
            Self::TimeInForce(tif) => format!("it has no such orders with {}", tif.name()),
        }
    }
}

fn shown<T: fmt::Display>(bound: Option<T>) -> String {
    bound.map_or_else(|| "any".to_owned(), |bound| bound.to_string())
}

impl fmt::Display for ListingRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code(), self.reason())
    }
}

impl std::error::Error for ListingRefusal {}
