//! Orders in the venue's words, and back. What the venue cannot do as asked is refused before it is sent.

use std::fmt;

use adapter_kit::listings::ListingRefusal;
use domain::order::OrderTerms;
use domain::{OrderKind, OrderProperties, OrderProperty, Price, Quantity, Side, TimeInForce};

use crate::protocol::requests::OrderTicket;
use crate::protocol::venue_enums::{BinanceOrderType, BinanceSide, BinanceStpMode, BinanceTif};

/// The order properties that the venue has.
pub const ORDER_PROPERTIES: [OrderProperty; 2] = [OrderProperty::PostOnly, OrderProperty::DisplayQuantity];

/// Why the venue would not take an order as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TicketRefusal {
    /// The symbol does not offer the type.
    Type(BinanceOrderType),
    Tif {
        kind: BinanceOrderType,
        tif: TimeInForce,
    },
    Property {
        property: OrderProperty,
        reason: &'static str,
    },
    Price {
        price: Price,
        min: Option<Price>,
        max: Option<Price>,
    },
    /// An iceberg of too many parts.
    Parts {
        parts_max: u32,
    },
    SelfTradePrevention(BinanceStpMode),
    Listing(ListingRefusal),
}

/// How a type of the venue treats a time in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TifRule {
    /// It is sent.
    Sent,
    /// The order rests until it is cancelled.
    Rests,
    /// The order trades at once, and its rest expires.
    AtOnce,
}

/// Our type, whether it is post-only, and the venue's.
const fn venue_type(kind: &OrderKind, post_only: bool) -> Option<(BinanceOrderType, TifRule)> {
    match (kind, post_only) {
        (OrderKind::Market, false) => Some((BinanceOrderType::Market, TifRule::AtOnce)),
        (OrderKind::Limit { .. }, false) => Some((BinanceOrderType::Limit, TifRule::Sent)),
        (OrderKind::Limit { .. }, true) => Some((BinanceOrderType::LimitMaker, TifRule::Rests)),
        (OrderKind::Stop { .. }, false) => Some((BinanceOrderType::StopLoss, TifRule::Rests)),
        (OrderKind::StopLimit { .. }, false) => Some((BinanceOrderType::StopLossLimit, TifRule::Sent)),
        (OrderKind::Market | OrderKind::Stop { .. } | OrderKind::StopLimit { .. }, true) => None,
    }
}

/// The venue's time in force. DAY and GTD rest there until the engine cancels them.
fn venue_tif(tif: TimeInForce) -> Option<BinanceTif> {
    match tif {
        TimeInForce::Day | TimeInForce::Gtc | TimeInForce::Gtd { .. } => Some(BinanceTif::Gtc),
        TimeInForce::Ioc => Some(BinanceTif::Ioc),
        TimeInForce::Fok => Some(BinanceTif::Fok),
        TimeInForce::Ato | TimeInForce::Atc => None,
    }
}

/// Our words for what happens to an order that would trade with another of the account, as in the limit `selfTrade`; `reduce-both` is
/// the venue's alone.
pub const SELF_TRADE_WORDS: [&str; 5] = ["refuse-newest", "cancel-resting", "cancel-both", "reduce-both", "allow"];

/// The venue's mode for one of [`SELF_TRADE_WORDS`].
pub fn stp_mode(word: &str) -> Option<BinanceStpMode> {
    match word {
        "refuse-newest" => Some(BinanceStpMode::ExpireTaker),
        "cancel-resting" => Some(BinanceStpMode::ExpireMaker),
        "cancel-both" => Some(BinanceStpMode::ExpireBoth),
        "reduce-both" => Some(BinanceStpMode::Decrement),
        "allow" => Some(BinanceStpMode::None),
        _ => None,
    }
}

/// The order as the venue wants it.
pub fn ticket_of(
    symbol: &str,
    side: Side,
    terms: OrderTerms,
    properties: OrderProperties,
    client_id: String,
) -> Result<OrderTicket, TicketRefusal> {
    let post_only = (OrderProperty::PostOnly, "only limit orders can be post-only at this venue");
    let (kind, rule) = venue_type(&terms.kind, properties.post_only).ok_or_else(|| property(post_only))?;
    let tif = tif_of(&kind, rule, terms.tif)?;
    if properties.min_quantity.is_some() {
        return Err(property((OrderProperty::MinQuantity, "the venue has no minimum quantity")));
    }
    check_iceberg(&terms, properties)?;
    Ok(OrderTicket {
        symbol: symbol.to_owned(),
        side: venue_side(side),
        kind,
        tif,
        quantity: terms.quantity.0,
        price: terms.kind.limit().map(|price| price.0),
        stop_price: terms.kind.stop().map(|price| price.0),
        iceberg: properties.display_quantity.map(|visible| visible.0),
        stp_mode: None,
        client_id,
    })
}

fn property((property, reason): (OrderProperty, &'static str)) -> TicketRefusal {
    TicketRefusal::Property { property, reason }
}

fn tif_of(kind: &BinanceOrderType, rule: TifRule, tif: TimeInForce) -> Result<Option<BinanceTif>, TicketRefusal> {
    let refused = || TicketRefusal::Tif { kind: kind.clone(), tif };
    let sent = venue_tif(tif).ok_or_else(refused)?;
    match (rule, sent) {
        (TifRule::Sent, sent) => Ok(Some(sent)),
        (TifRule::Rests, BinanceTif::Gtc) | (TifRule::AtOnce, BinanceTif::Gtc | BinanceTif::Ioc) => Ok(None),
        (TifRule::Rests | TifRule::AtOnce, _) => Err(refused()),
    }
}

fn check_iceberg(terms: &OrderTerms, properties: OrderProperties) -> Result<(), TicketRefusal> {
    let Some(visible) = properties.display_quantity else { return Ok(()) };
    let refused = |reason| Err(property((OrderProperty::DisplayQuantity, reason)));
    if terms.kind.limit().is_none() {
        return refused("the venue has icebergs of orders with a limit only");
    }
    if venue_tif(terms.tif) != Some(BinanceTif::Gtc) {
        return refused("an iceberg rests at the venue, so it cannot be IOC or FOK");
    }
    if visible > terms.quantity {
        return refused("more would be shown than the order has");
    }
    Ok(())
}

fn venue_side(side: Side) -> BinanceSide {
    match side {
        Side::Buy => BinanceSide::Buy,
        Side::Sell => BinanceSide::Sell,
    }
}

/// `None` where the side is not known.
pub fn side_of(side: &BinanceSide) -> Option<Side> {
    match side {
        BinanceSide::Buy => Some(Side::Buy),
        BinanceSide::Sell => Some(Side::Sell),
        BinanceSide::Other(_) => None,
    }
}

/// What the venue shows of an order's terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShownTerms<'a> {
    pub kind: &'a BinanceOrderType,
    pub tif: &'a BinanceTif,
    pub quantity: Quantity,
    pub price: Price,
    pub stop_price: Option<Price>,
    /// What the venue was not told; see [`crate::orders::client_id`].
    pub marked: Option<TimeInForce>,
}

/// Our terms of an order that the venue shows. Take-profit orders, which we do not place, are triggered orders too.
/// `None` where the type or time in force is not known.
pub fn terms_of(shown: &ShownTerms<'_>) -> Option<OrderTerms> {
    let limit = shown.price;
    let stop = shown.stop_price;
    let kind = match shown.kind {
        BinanceOrderType::Market => OrderKind::Market,
        BinanceOrderType::Limit | BinanceOrderType::LimitMaker => OrderKind::Limit { limit },
        BinanceOrderType::StopLoss | BinanceOrderType::TakeProfit => OrderKind::Stop { stop: stop? },
        BinanceOrderType::StopLossLimit | BinanceOrderType::TakeProfitLimit => {
            OrderKind::StopLimit { limit, stop: stop? }
        }
        BinanceOrderType::Other(_) => return None,
    };
    let tif = match (shown.tif, shown.marked) {
        (BinanceTif::Gtc, Some(marked)) => marked,
        (BinanceTif::Gtc, None) => TimeInForce::Gtc,
        (BinanceTif::Ioc, _) => TimeInForce::Ioc,
        (BinanceTif::Fok, _) => TimeInForce::Fok,
        (BinanceTif::Other(_), _) => return None,
    };
    Some(OrderTerms { quantity: shown.quantity, kind, tif })
}

/// How new terms get to the venue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplaceWay {
    /// Only the quantity falls, and the order keeps its place in the queue.
    Amend,
    /// A new order takes the place of the old one.
    CancelReplace,
    /// There is nothing to change.
    Nothing,
    /// The symbol offers no way.
    Unavailable,
}

/// The best way that a symbol offers.
pub fn replace_way(before: &OrderTerms, after: &OrderTerms, has_amend: bool, has_cancel_replace: bool) -> ReplaceWay {
    let is_same_but_quantity = before.kind == after.kind && before.tif == after.tif;
    if is_same_but_quantity && before.quantity == after.quantity {
        return ReplaceWay::Nothing;
    }
    if is_same_but_quantity && after.quantity < before.quantity && has_amend {
        return ReplaceWay::Amend;
    }
    if has_cancel_replace { ReplaceWay::CancelReplace } else { ReplaceWay::Unavailable }
}

/// The quantity of the order that replaces another one: what is filled stays with the old one. `None` where nothing is
/// left to place.
pub fn replacement_quantity(after: &OrderTerms, filled: Quantity) -> Option<Quantity> {
    after.quantity.minus(filled).ok().filter(|rest| rest.is_positive())
}

impl TicketRefusal {
    pub fn code(&self) -> &'static str {
        match self {
            Self::Type(_) => "venue-order-type",
            Self::Tif { .. } => "venue-tif",
            Self::Property { .. } | Self::Parts { .. } => "venue-property",
            Self::Price { .. } => "venue-price",
            Self::SelfTradePrevention(_) => "venue-self-trade",
            Self::Listing(refusal) => refusal.code(),
        }
    }
}

impl fmt::Display for TicketRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Listing(refusal) = self {
            return refusal.fmt(f);
        }
        write!(f, "{}: ", self.code())?;
        match self {
            Self::Type(kind) => write!(f, "the symbol has no orders of type {kind}"),
            Self::Tif { kind, tif } => write!(f, "the venue has no {kind} with {}", tif.name()),
            Self::Property { property, reason } => write!(f, "{}: {reason}", property.name()),
            Self::Price { price, min, max } => {
                let shown = |bound: &Option<Price>| bound.map_or_else(|| "any".to_owned(), |price| price.to_string());
                write!(f, "the price {price} is not from {} to {}", shown(min), shown(max))
            }
            Self::Parts { parts_max } => write!(f, "displayQuantity: more than {parts_max} parts"),
            Self::SelfTradePrevention(mode) => write!(f, "the symbol does not allow the mode {mode}"),
            Self::Listing(refusal) => refusal.fmt(f),
        }
    }
}

impl std::error::Error for TicketRefusal {}
