//! Recorded quotes of one security.

use domain::{BookLevel, OrderBook, Price, Quantity, Side, Tick};

/// A quantity larger than any order: for quotes without a size.
const UNKNOWN_SIZE: Quantity = Quantity(domain::Decimal::MAX);

#[derive(Debug, Clone, Default)]
pub(super) struct ReplayQuotes {
    bids: Vec<BookLevel>,
    asks: Vec<BookLevel>,
    last: Option<Price>,
    /// Whether levels below the best are known.
    has_book: bool,
}

impl ReplayQuotes {
    #[inline]
    pub(super) fn on_tick(&mut self, tick: &Tick) {
        if !self.has_book {
            set_best(&mut self.bids, tick.bid, tick.vol_bid);
            set_best(&mut self.asks, tick.ask, tick.vol_ask);
            if tick.bid.is_none() || tick.ask.is_none() {
                self.clear_crossed_side(tick);
            }
        }
        if tick.last.is_some() {
            self.last = tick.last;
        }
    }

    /// As [`Tick::update`]: drops a quote that the opposite side has crossed.
    fn clear_crossed_side(&mut self, tick: &Tick) {
        let is_crossed =
            matches!((self.bids.first(), self.asks.first()), (Some(bid), Some(ask)) if bid.price > ask.price);
        match tick.bid {
            None if is_crossed => self.bids.clear(),
            Some(_) if is_crossed => self.asks.clear(),
            _ => {}
        }
    }

    pub(super) fn on_book(&mut self, book: &OrderBook) {
        self.has_book = true;
        self.bids.clone_from(&book.bids);
        self.asks.clone_from(&book.asks);
    }

    pub(super) fn on_last(&mut self, price: Price) {
        self.last = Some(price);
    }

    /// The best price for a taker of this side: the other side's quote. The last trade replaces it only before the
    /// first quote, because later quotes are newer.
    pub(super) fn opposite(&self, side: Side) -> Option<Price> {
        if self.has_quotes() { self.quoted(side) } else { self.last }
    }

    /// Whether either side was ever quoted: a feed drops at most one of two quotes, and a book may be empty.
    pub(super) fn has_quotes(&self) -> bool {
        self.has_book || !self.bids.is_empty() || !self.asks.is_empty()
    }

    /// The other side's quote only.
    pub(super) fn quoted(&self, side: Side) -> Option<Price> {
        self.opposite_levels(side).first().map(|level| level.price)
    }

    pub(super) fn last(&self) -> Option<Price> {
        self.last
    }

    /// Quantity on the own side at a price; absent where that is below what the feed shows.
    pub(super) fn shown_at(&self, side: Side, price: Price) -> Option<Quantity> {
        let own = if side == Side::Buy { &self.bids } else { &self.asks };
        if let Some(level) = own.iter().find(|level| level.price == price) {
            return Some(level.quantity);
        }
        let worst = own.last()?;
        let is_within = if side == Side::Buy { price > worst.price } else { price < worst.price };
        is_within.then_some(Quantity::ZERO)
    }

    /// Takes the shown quantity of the other side, best first, up to a quantity and no worse than a limit. It stays
    /// taken until the feed updates the side.
    pub(super) fn take_liquidity(&mut self, side: Side, wanted: Quantity, limit: Option<Price>) -> Vec<BookLevel> {
        let mut taken = Vec::new();
        let mut missing = wanted;
        for level in self.opposite_levels_mut(side) {
            if missing.is_zero() || limit.is_some_and(|limit| !reaches(side, level.price, limit)) {
                break;
            }
            let quantity = level.quantity.min(missing);
            if quantity.is_zero() {
                continue;
            }
            missing = missing.minus(quantity).unwrap_or_default();
            level.quantity = level.quantity.minus(quantity).unwrap_or(UNKNOWN_SIZE);
            taken.push(BookLevel { price: level.price, quantity });
        }
        taken
    }

    fn opposite_levels(&self, side: Side) -> &[BookLevel] {
        if side == Side::Buy { &self.asks } else { &self.bids }
    }

    fn opposite_levels_mut(&mut self, side: Side) -> &mut [BookLevel] {
        if side == Side::Buy { &mut self.asks } else { &mut self.bids }
    }
}

#[inline]
fn set_best(levels: &mut Vec<BookLevel>, price: Option<Price>, quantity: Option<Quantity>) {
    let Some(price) = price else { return };
    let level = BookLevel { price, quantity: quantity.unwrap_or(UNKNOWN_SIZE) };
    match levels.first_mut() {
        Some(best) => *best = level,
        None => levels.push(level),
    }
}

/// Whether a price is as good as a limit or better, for the owner of the limit.
pub(super) fn reaches(side: Side, price: Price, limit: Price) -> bool {
    match side {
        Side::Buy => price <= limit,
        Side::Sell => price >= limit,
    }
}

/// Whether a price is better than a limit.
pub(super) fn is_beyond(side: Side, price: Price, limit: Price) -> bool {
    price != limit && reaches(side, price, limit)
}
