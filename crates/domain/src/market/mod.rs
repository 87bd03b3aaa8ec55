//! Market data: ticks, trades, order books, bars, and the marks that trading sees.

pub(crate) mod open_bar;
pub(crate) mod price_gap;

use minicbor::{Decode, Encode};

use crate::amount::{Price, Quantity};
use crate::ids::{SecurityId, Text};
use crate::market::price_gap::StaleCause;
use crate::order::Side;
use crate::time::Timestamp;

/// The newest quote and last trade of a security.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Tick {
    /// The security that the prices are of.
    #[n(0)]
    pub security: SecurityId,
    /// The feed that sent the newest of them.
    #[n(1)]
    pub feed: Text,
    /// When the newest of them was sent, by the feed's clock.
    #[n(2)]
    pub at: Timestamp,
    /// Price of the last trade in the security's currency; absent before the first.
    #[n(3)]
    pub last: Option<Price>,
    /// When that trade was; absent before the first.
    #[n(4)]
    pub last_at: Option<Timestamp>,
    /// Quantity of the last trade; absent where the feed does not tell.
    #[n(5)]
    pub vol_last: Option<Quantity>,
    /// Best bid price in the security's currency; absent where there is no bid.
    #[n(6)]
    pub bid: Option<Price>,
    /// Best offered price in the security's currency; absent where there is no offer.
    #[n(7)]
    pub ask: Option<Price>,
    /// Quantity at the best bid; absent where the feed does not tell.
    #[n(8)]
    pub vol_bid: Option<Quantity>,
    /// Quantity at the best offer; absent where the feed does not tell.
    #[n(9)]
    pub vol_ask: Option<Quantity>,
    /// Traded today.
    #[n(10)]
    pub vol: Option<Quantity>,
    /// Why these prices may no longer be true; absent while they are live. The engine sets it, not the feed.
    #[n(11)]
    pub stale: Option<StaleCause>,
}

impl Tick {
    /// Nothing is known yet.
    pub fn empty(security: SecurityId) -> Self {
        Self {
            security,
            feed: Text::from(""),
            at: Timestamp::default(),
            last: None,
            last_at: None,
            vol_last: None,
            bid: None,
            ask: None,
            vol_bid: None,
            vol_ask: None,
            vol: None,
            stale: None,
        }
    }

    /// Applies a newer message; absent fields keep their value, unless the opposite side has crossed it.
    #[inline]
    pub fn update(&mut self, newer: &Self) {
        self.set_feed(&newer.feed);
        self.at = newer.at;
        if newer.last.is_some() {
            self.last_at = newer.last_at.or(Some(newer.at));
        }
        set_if_some(&mut self.last, newer.last);
        set_if_some(&mut self.vol_last, newer.vol_last);
        set_if_some(&mut self.bid, newer.bid);
        set_if_some(&mut self.ask, newer.ask);
        set_if_some(&mut self.vol_bid, newer.vol_bid);
        set_if_some(&mut self.vol_ask, newer.vol_ask);
        set_if_some(&mut self.vol, newer.vol);
        if newer.bid.is_none() || newer.ask.is_none() {
            self.clear_crossed_side(newer);
        }
    }

    /// Takes the quote of a book: the best level of each side, and none where a side is empty.
    pub fn set_quote(&mut self, book: &OrderBook) {
        let (bid, ask) = (book.bids.first(), book.asks.first());
        self.set_feed(&book.feed);
        self.at = book.at;
        (self.bid, self.vol_bid) = (bid.map(|level| level.price), bid.map(|level| level.quantity));
        (self.ask, self.vol_ask) = (ask.map(|level| level.price), ask.map(|level| level.quantity));
    }

    /// Drops a quote that the opposite side has crossed: it is stale.
    fn clear_crossed_side(&mut self, newer: &Self) {
        if !matches!((self.bid, self.ask), (Some(bid), Some(ask)) if bid > ask) {
            return;
        }
        if newer.bid.is_none() {
            (self.bid, self.vol_bid) = (None, None);
        } else {
            (self.ask, self.vol_ask) = (None, None);
        }
    }

    /// Copies another into this one, without an allocation.
    #[inline]
    pub fn copy_from(&mut self, other: &Self) {
        self.set_feed(&other.feed);
        let Self { security, feed: _, at, last, last_at, vol_last, bid, ask, vol_bid, vol_ask, vol, stale } = *other;
        (self.security, self.at, self.last, self.last_at) = (security, at, last, last_at);
        (self.vol_last, self.bid, self.ask) = (vol_last, bid, ask);
        (self.vol_bid, self.vol_ask, self.vol, self.stale) = (vol_bid, vol_ask, vol, stale);
    }

    /// It is nearly always the same name, and cloning the shared name costs more than copying all the prices.
    #[inline]
    fn set_feed(&mut self, feed: &Text) {
        if self.feed != *feed {
            self.feed.clone_from(feed);
        }
    }
}

#[inline]
fn set_if_some<T>(known: &mut Option<T>, newer: Option<T>) {
    if newer.is_some() {
        *known = newer;
    }
}

/// A trade that happened in the market.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Trade {
    /// The security that was traded.
    #[n(0)]
    pub security: SecurityId,
    /// The feed that reported it.
    #[n(1)]
    pub feed: Text,
    /// When it was, by the feed's clock.
    #[n(2)]
    pub at: Timestamp,
    /// Per unit, in the security's currency.
    #[n(3)]
    pub price: Price,
    /// How much changed hands, always positive.
    #[n(4)]
    pub quantity: Quantity,
    /// The side that crossed the spread; absent where the feed does not tell.
    #[n(5)]
    pub aggressor: Option<Side>,
    /// The feed's own id of the trade; absent where it has none.
    #[n(6)]
    pub ext_id: Option<Text>,
}

/// The best levels of both sides, best first.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct OrderBook {
    /// The security whose book it is.
    #[n(0)]
    pub security: SecurityId,
    /// The feed that sent it.
    #[n(1)]
    pub feed: Text,
    /// When it was sent, by the feed's clock.
    #[n(2)]
    pub at: Timestamp,
    /// Bids, the highest price first.
    #[n(3)]
    pub bids: Vec<BookLevel>,
    /// Offers, the lowest price first.
    #[n(4)]
    pub asks: Vec<BookLevel>,
}

/// All orders of one side at one price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct BookLevel {
    /// Per unit, in the security's currency.
    #[n(0)]
    pub price: Price,
    /// How much rests at this price, all orders together.
    #[n(1)]
    pub quantity: Quantity,
}

/// How long a bar lasts. Days are those of UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
#[cbor(index_only)]
pub enum BarSize {
    /// One second.
    #[n(0)]
    Sec1,
    /// One minute.
    #[n(1)]
    Min1,
    /// Five minutes.
    #[n(2)]
    Min5,
    /// A quarter of an hour.
    #[n(3)]
    Min15,
    /// One hour.
    #[n(4)]
    Hour1,
    /// One day.
    #[n(5)]
    Day1,
}

impl BarSize {
    /// All sizes, the shortest first.
    pub const ALL: [Self; 6] = [Self::Sec1, Self::Min1, Self::Min5, Self::Min15, Self::Hour1, Self::Day1];

    /// As clients and configuration write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sec1 => "SEC_1",
            Self::Min1 => "MIN_1",
            Self::Min5 => "MIN_5",
            Self::Min15 => "MIN_15",
            Self::Hour1 => "HOUR_1",
            Self::Day1 => "DAY_1",
        }
    }

    /// The length in seconds.
    pub fn seconds(self) -> i64 {
        match self {
            Self::Sec1 => 1,
            Self::Min1 => 60,
            Self::Min5 => 300,
            Self::Min15 => 900,
            Self::Hour1 => 3_600,
            Self::Day1 => 86_400,
        }
    }

    /// The start of the bar that an instant lies in.
    pub fn start_of(self, at: Timestamp) -> Timestamp {
        let length = self.seconds() * 1_000_000_000;
        Timestamp(at.0 - at.0.rem_euclid(length))
    }
}

/// Prices in a span of time; `at` is the start of the span.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Bar {
    /// The security that the prices are of.
    #[n(0)]
    pub security: SecurityId,
    /// The feed of its first price.
    #[n(1)]
    pub feed: Text,
    /// The start of the span; it ends [`BarSize::seconds`] later.
    #[n(2)]
    pub at: Timestamp,
    /// How long the span is.
    #[n(3)]
    pub size: BarSize,
    /// The first price.
    #[n(4)]
    pub open: Price,
    /// The highest price.
    #[n(5)]
    pub high: Price,
    /// The lowest price.
    #[n(6)]
    pub low: Price,
    /// The last price.
    #[n(7)]
    pub close: Price,
    /// Quantity traded in the span; zero where its prices are mids of quotes.
    #[n(8)]
    pub vol: Quantity,
    /// Average price weighted by volume; absent where nothing was traded.
    #[n(9)]
    pub vwap: Option<Price>,
}

/// The prices of one security as trading sees them: risk, P/L and valuation use nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct Mark {
    /// The security that the prices are of.
    #[n(0)]
    pub security: SecurityId,
    /// Best bid price; absent where there is no bid.
    #[n(1)]
    pub bid: Option<Price>,
    /// Best offered price; absent where there is no offer.
    #[n(2)]
    pub ask: Option<Price>,
    /// Price of the last trade; absent before the first.
    #[n(3)]
    pub last: Option<Price>,
    /// Time of the feed.
    #[n(4)]
    pub at: Timestamp,
    /// Why the prices may no longer be true; absent while they are live.
    #[n(5)]
    pub stale: Option<StaleCause>,
}

impl Mark {
    /// Half-way between bid and ask; absent where one of them is.
    pub fn mid(&self) -> Option<Price> {
        let sum = self.bid?.plus(self.ask?).ok()?;
        sum.over(rust_decimal::Decimal::TWO).ok()
    }

    /// The best estimate of a fair price: last trade, else mid, else either side.
    pub fn reference(&self) -> Option<Price> {
        self.last.or_else(|| self.mid()).or(self.bid).or(self.ask)
    }

    /// The price that an order of this side would trade at.
    pub fn opposite(&self, side: Side) -> Option<Price> {
        match side {
            Side::Buy => self.ask,
            Side::Sell => self.bid,
        }
    }

    /// Valuation price of a position: a long could be sold at the bid, a short bought back at the ask.
    pub fn exit_price(&self, quantity: Quantity) -> Option<Price> {
        let side = if quantity.is_negative() { self.ask } else { self.bid };
        side.or(self.last)
    }
}

impl From<&Tick> for Mark {
    fn from(tick: &Tick) -> Self {
        let Tick { security, bid, ask, last, at, stale, .. } = *tick;
        Self { security, bid, ask, last, at, stale }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quote_of_a_book_is_its_best_levels_and_an_empty_side_has_none() {
        let level = |price: i64, quantity: i64| BookLevel { price: price.into(), quantity: quantity.into() };
        let (security, feed) = (SecurityId(1), Text::from("F"));
        let mut newest =
            Tick { bid: Some(98.into()), ask: Some(100.into()), last: Some(99.into()), ..Tick::empty(security) };
        let bids = vec![level(97, 5), level(96, 7)];
        let book = OrderBook { security, feed: feed.clone(), at: Timestamp(7), bids, asks: vec![] };
        newest.set_quote(&book);
        let (bid, vol_bid, last) = (Some(97.into()), Some(5.into()), Some(99.into()));
        assert_eq!(newest, Tick { feed, at: Timestamp(7), bid, vol_bid, last, ..Tick::empty(security) });
    }

    #[test]
    fn what_a_tick_leaves_out_is_kept_unless_the_other_side_has_passed_it() {
        let quote = |bid: Option<i64>, ask: Option<i64>| Tick {
            bid: bid.map(|price| Price(price.into())),
            ask: ask.map(|price| Price(price.into())),
            ..Tick::empty(SecurityId(1))
        };
        let mut newest = quote(Some(98), Some(100));
        for (newer, known) in [
            (quote(Some(99), None), quote(Some(99), Some(100))),
            (quote(Some(105), None), quote(Some(105), None)),
            (quote(None, Some(106)), quote(Some(105), Some(106))),
            (quote(None, Some(104)), quote(None, Some(104))),
        ] {
            newest.update(&newer);
            assert_eq!(newest, known);
        }
    }
}
