//! Rules of a symbol: whether the venue would take a ticket, by the filters that can be checked without the market.
//!
//! Filters that depend on the market or on the account (percent price, position, number of orders) stay with the venue.

use adapter_kit::listings::{ListedOrder, ListingRefusal, Listings};
use adapters::VenueOrderRules;
use domain::{Decimal, Price, Quantity};

use crate::orders::order_mapping::TicketRefusal;
use crate::protocol::answers::exchange_info::{BinanceSymbol, WireFilter};
use crate::protocol::requests::OrderTicket;
use crate::protocol::venue_enums::BinanceOrderType;
use crate::protocol::wire_values::WireDecimal;

/// Whether the venue would take the ticket. `listings` has the symbol's status, steps and sizes.
pub fn check_ticket(listings: &Listings, symbol: &BinanceSymbol, ticket: &OrderTicket) -> Result<(), TicketRefusal> {
    if !symbol.offers(&ticket.kind) {
        return Err(TicketRefusal::Type(ticket.kind.clone()));
    }
    if let Some(mode) = ticket.stp_mode.clone().filter(|mode| !symbol.stp_modes.contains(mode)) {
        return Err(TicketRefusal::SelfTradePrevention(mode));
    }
    for (field, price) in [("limit", ticket.price), ("stop", ticket.stop_price)] {
        price.map_or(Ok(()), |price| check_price(listings, symbol, field, Price(price)))?;
    }
    let quantity = Quantity(ticket.quantity);
    let listed = ListedOrder { symbol: ticket.symbol.clone(), quantity, price: ticket.price.map(Price) };
    listings.check(&listed).map_err(TicketRefusal::Listing)?;
    check_market_lot(symbol, ticket)?;
    check_parts(symbol, ticket)
}

/// What the symbol says about orders, for whoever makes one.
pub fn order_rules(symbol: &BinanceSymbol) -> VenueOrderRules {
    let of = |kind: &str, field: fn(&WireFilter) -> Option<WireDecimal>| {
        symbol.filter(kind).and_then(field).map(|amount| amount.0).filter(|amount| *amount > Decimal::ZERO)
    };
    let by_side = of("PERCENT_PRICE_BY_SIDE", |filter| filter.bid_multiplier_down);
    let listing = symbol.listing();
    VenueOrderRules {
        tick: listing.tick,
        lot: listing.lot,
        quantity_min: listing.quantity_min,
        notional_min: listing.notional_min,
        price_min: of("PRICE_FILTER", |filter| filter.min_price).map(Price),
        lowest_buy: by_side.or_else(|| of("PERCENT_PRICE", |filter| filter.multiplier_down)),
    }
}

/// The bounds of prices, and the step of a trigger: the kit knows one price only.
fn check_price(
    listings: &Listings,
    symbol: &BinanceSymbol,
    field: &'static str,
    price: Price,
) -> Result<(), TicketRefusal> {
    let bound = |field: fn(&WireFilter) -> Option<WireDecimal>| {
        let bound = symbol.filter("PRICE_FILTER").and_then(field);
        bound.map(|bound| Price(bound.0)).filter(|bound| bound.is_positive())
    };
    let (min, max) = (bound(|filter| filter.min_price), bound(|filter| filter.max_price));
    if min.is_some_and(|min| price < min) || max.is_some_and(|max| price > max) {
        return Err(TicketRefusal::Price { price, min, max });
    }
    let tick = listings.get(&symbol.symbol).and_then(|listing| listing.tick);
    match tick.filter(|tick| !price.is_multiple_of(*tick)) {
        Some(tick) => Err(TicketRefusal::Listing(ListingRefusal::Tick { field, price, tick: Price(tick) })),
        None => Ok(()),
    }
}

/// Orders without a limit have sizes of their own.
fn check_market_lot(symbol: &BinanceSymbol, ticket: &OrderTicket) -> Result<(), TicketRefusal> {
    if !matches!(ticket.kind, BinanceOrderType::Market | BinanceOrderType::StopLoss | BinanceOrderType::TakeProfit) {
        return Ok(());
    }
    let Some(filter) = symbol.filter("MARKET_LOT_SIZE") else { return Ok(()) };
    let positive = |amount: Option<WireDecimal>| amount.map(|amount| amount.0).filter(|amount| *amount > Decimal::ZERO);
    let (min, max) = (positive(filter.min_qty).map(Quantity), positive(filter.max_qty).map(Quantity));
    let quantity = Quantity(ticket.quantity);
    if min.is_some_and(|min| quantity < min) || max.is_some_and(|max| quantity > max) {
        return Err(TicketRefusal::Listing(ListingRefusal::Quantity { quantity, min, max }));
    }
    match positive(filter.step_size).filter(|lot| !quantity.is_multiple_of(*lot)) {
        Some(lot) => Err(TicketRefusal::Listing(ListingRefusal::Lot { quantity, lot: Quantity(lot) })),
        None => Ok(()),
    }
}

fn check_parts(symbol: &BinanceSymbol, ticket: &OrderTicket) -> Result<(), TicketRefusal> {
    let Some(visible) = ticket.iceberg else { return Ok(()) };
    if !symbol.has_icebergs {
        let property = domain::OrderProperty::DisplayQuantity;
        return Err(TicketRefusal::Property { property, reason: "the symbol has no icebergs" });
    }
    let limit = symbol.filter("ICEBERG_PARTS").and_then(|filter| filter.limit).map(|limit| limit.0);
    let parts = ticket.quantity.checked_div(visible).map(|parts| parts.ceil());
    match limit {
        Some(limit) if parts.is_none_or(|parts| parts > limit) => {
            Err(TicketRefusal::Parts { parts_max: u32::try_from(limit).unwrap_or(u32::MAX) })
        }
        _ => Ok(()),
    }
}
