//! The picture of one of our orders at the venue: its legs as one order, with all their fills.
//!
//! A cancel-replace makes a second order at the venue, so one of ours can have several legs; all carry its number in their
//! client ids. A picture that is not whole is no picture: then nothing is said, and the venue is asked again.

use std::fmt;

use domain::order::OrderTerms;
use domain::report::{VenueFill, VenueOrder, VenueOrderState};
use domain::{Currency, OrderId, Quantity, Text, TimeInForce, WireId};

use crate::orders::client_id::read_client_id;
use crate::orders::executions::{BinanceFill, SELF_TRADE_PREVENTED, state_of};
use crate::orders::order_mapping::{ShownTerms, terms_of};
use crate::protocol::answers::account_answers::BinanceTrade;
use crate::protocol::answers::order_answers::BinanceOrder;
use crate::protocol::venue_enums::BinanceOrderStatus;
use crate::protocol::wire_values::WireDecimal;

/// Why answers of the venue do not make a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PictureGap {
    /// There is no leg.
    Empty,
    /// The trades that were listed are not those that the order counts.
    Trades { order_id: i64 },
    /// A status, type or time in force that is not known, or numbers that are too large.
    Unclear { order_id: i64 },
}

/// One of our orders at the venue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderPicture {
    /// As its newest leg shows it, with the quantity of that leg alone.
    pub order: VenueOrder,
    /// Of all legs.
    pub fills: Vec<VenueFill>,
    /// The legs before the newest, oldest first.
    pub other_legs: Vec<VenueOrder>,
}

/// The request that a client id names, where it is one of ours.
pub fn own_id(instance: u64, client_id: &str) -> Option<WireId> {
    let id = read_client_id(client_id).request.parse::<WireId>().ok()?;
    (id.instance == instance).then_some(id)
}

/// A fill with its commission, as the engine books it.
pub fn venue_fill(order: OrderId, fill: &BinanceFill, quote: Currency) -> VenueFill {
    let charge = fill.charge(quote);
    if charge.is_err() {
        tracing::error!(%order, asset = ?fill.commission_asset, "the commission's asset is no currency; it is not booked");
    }
    VenueFill {
        order,
        exec_id: fill.exec_id(),
        quantity: fill.quantity,
        price: fill.price,
        at: fill.at,
        fee: None,
        charges: charge.into_iter().collect(),
        ext_order: Some(ext_id(fill.order_id)),
        liquidity: fill.liquidity,
    }
}

pub fn ext_id(order_id: i64) -> Text {
    order_id.to_string().into()
}

pub fn is_open(status: &BinanceOrderStatus) -> bool {
    matches!(
        status,
        BinanceOrderStatus::New
            | BinanceOrderStatus::PendingNew
            | BinanceOrderStatus::PartiallyFilled
            | BinanceOrderStatus::PendingCancel
    )
}

/// The newest leg says how the order stands. Whether an earlier one that still rests may stay is not decided here.
pub fn picture(
    order: OrderId,
    legs: &[BinanceOrder],
    trades: &[BinanceTrade],
    quote: Currency,
) -> Result<OrderPicture, PictureGap> {
    let mut legs: Vec<&BinanceOrder> = legs.iter().collect();
    legs.sort_by_key(|leg| (leg.created, leg.order_id));
    let (newest, earlier) = legs.split_last().ok_or(PictureGap::Empty)?;
    let mut fills = Vec::new();
    for leg in &legs {
        fills.extend(fills_of(leg, trades)?.iter().map(|fill| venue_fill(order, fill, quote)));
    }
    let unclear = || PictureGap::Unclear { order_id: newest.order_id.0 };
    let terms = terms_with(newest, &legs).ok_or_else(unclear)?;
    let state = state_of(&newest.status).ok_or_else(unclear)?;
    let reason = expiry_reason(newest).filter(|_| state == VenueOrderState::Expired);
    let other_legs = earlier.iter().map(|leg| leg_of(order, leg)).collect::<Result<_, _>>()?;
    let order = VenueOrder { order, ext_id: Some(ext_id(newest.order_id.0)), terms, state, reason };
    Ok(OrderPicture { order, fills, other_legs })
}

/// A leg with its own terms.
pub fn leg_of(order: OrderId, leg: &BinanceOrder) -> Result<VenueOrder, PictureGap> {
    let known = shown_terms(leg).zip(state_of(&leg.status));
    let (terms, state) = known.ok_or(PictureGap::Unclear { order_id: leg.order_id.0 })?;
    Ok(VenueOrder { order, ext_id: Some(ext_id(leg.order_id.0)), terms, state, reason: None })
}

/// The venue's own words. Self-trade prevention has no reason but its status.
fn expiry_reason(leg: &BinanceOrder) -> Option<Text> {
    let by_status = (leg.status == BinanceOrderStatus::ExpiredInMatch).then_some(SELF_TRADE_PREVENTED);
    leg.expiry_reason.as_deref().or(by_status).map(Text::from)
}

fn terms_with(newest: &BinanceOrder, legs: &[&BinanceOrder]) -> Option<OrderTerms> {
    terms_of(&ShownTerms {
        kind: &newest.kind,
        tif: &newest.tif,
        quantity: kept_quantity(newest.quantity, newest.prevented, &newest.status),
        price: domain::Price(newest.price.0),
        stop_price: newest.stop_price.map(|price| domain::Price(price.0)).filter(|price| price.is_positive()),
        marked: legs.iter().rev().find_map(|leg| marked(leg)),
    })
}

/// Self-trade prevention may reduce an order that goes on: what it has taken is neither open nor filled, also once the rest has
/// filled. One that has ended otherwise keeps its quantity, of which a part is not filled.
pub fn kept_quantity(quantity: WireDecimal, prevented: Option<WireDecimal>, status: &BinanceOrderStatus) -> Quantity {
    let goes_on = is_open(status) || *status == BinanceOrderStatus::Filled;
    Quantity(quantity.0 - prevented.filter(|_| goes_on).unwrap_or_default().0)
}

/// The terms of an order of ours that has one leg; `None` where one of them is not known.
pub fn shown_terms(leg: &BinanceOrder) -> Option<OrderTerms> {
    terms_with(leg, &[leg])
}

/// A cancelled order may be shown with the id of its cancel, which has no mark.
fn marked(leg: &BinanceOrder) -> Option<TimeInForce> {
    read_client_id(&leg.client_id).tif
}

/// All fills of a leg, or none. Order ids can be issued again, so a trade from before the order is another one's.
pub fn fills_of(leg: &BinanceOrder, trades: &[BinanceTrade]) -> Result<Vec<BinanceFill>, PictureGap> {
    let is_of_leg = |trade: &&BinanceTrade| {
        trade.symbol == leg.symbol
            && trade.order_id == leg.order_id
            && leg.created.is_none_or(|created| trade.time >= created)
    };
    let mut own: Vec<&BinanceTrade> = trades.iter().filter(is_of_leg).collect();
    own.sort_by_key(|trade| trade.id);
    own.dedup_by_key(|trade| trade.id);
    let fills: Vec<_> = own.into_iter().filter_map(BinanceFill::of_trade).collect();
    let filled = fills.iter().try_fold(Quantity::ZERO, |sum, fill| sum.plus(fill.quantity));
    if filled == Ok(Quantity(leg.filled.0)) { Ok(fills) } else { Err(PictureGap::Trades { order_id: leg.order_id.0 }) }
}

impl fmt::Display for PictureGap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the venue has no order"),
            Self::Trades { order_id } => write!(f, "the trades of the venue's order {order_id} are not all listed"),
            Self::Unclear { order_id } => write!(f, "the venue's order {order_id} has a value that is not known"),
        }
    }
}
