//! Prices of another venue that a market follows: its quotes stand in our book as if participants had placed them.
//!
//! A price between two ticks of ours counts as the worse one for a client, and a part of a lot as nothing. What clients have
//! taken stays taken until the other venue shows another quantity at that price.

use domain::{BookLevel, OrderBook, Price, Quantity, Tick};

use crate::book::{BookOrder, BookSide};
use crate::market::grid::Grid;
use crate::market::participants::ParticipantAction;

/// Levels of a side that are followed; what the other venue shows behind them is not seen.
pub const FOLLOWED_LEVELS_MAX: usize = 20;

/// Lots of a quote whose quantity the feed does not tell: more than any order has.
const UNTOLD_LOTS: u64 = 1 << 53;

const SIDES: [BookSide; 2] = [BookSide::Buy, BookSide::Sell];

/// What the other venue shows, and which of it stands in our book.
#[derive(Debug, Default)]
pub(crate) struct FollowedQuotes {
    /// Of each side, best first.
    shown: [Vec<ShownLevel>; 2],
    standing: Vec<FollowedQuote>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ShownLevel {
    price: i64,
    lots: u64,
}

#[derive(Debug, Clone, Copy)]
struct FollowedQuote {
    key: u64,
    side: BookSide,
    level: ShownLevel,
}

impl FollowedQuotes {
    /// New best quotes; a side that the tick does not name stays, as far as the other one has not crossed it.
    pub(crate) fn on_tick(&mut self, tick: &Tick, grid: &Grid) {
        for (side, price, quantity) in
            [(BookSide::Buy, tick.bid, tick.vol_bid), (BookSide::Sell, tick.ask, tick.vol_ask)]
        {
            let Some(price) = price.and_then(|price| ticks(grid, side, price)) else { continue };
            let lots = quantity.map_or(UNTOLD_LOTS, |quantity| lots(grid, quantity));
            self.set_best(side, ShownLevel { price, lots });
        }
    }

    fn set_best(&mut self, side: BookSide, best: ShownLevel) {
        let levels = &mut self.shown[side as usize];
        levels.retain(|level| side.rank(level.price) > side.rank(best.price));
        levels.insert(0, best);
        levels.retain(|level| level.lots > 0);
        levels.truncate(FOLLOWED_LEVELS_MAX);
        let other = side.opposite();
        self.shown[other as usize].retain(|level| other.rank(level.price) > other.rank(best.price));
    }

    /// The whole book. One that contradicts itself shows nothing.
    pub(crate) fn on_book(&mut self, book: &OrderBook, grid: &Grid) {
        self.shown = [(BookSide::Buy, &book.bids), (BookSide::Sell, &book.asks)]
            .map(|(side, levels)| shown_levels(side, levels, grid));
        let [bid, ask] = [0, 1].map(|side: usize| self.shown[side].first().map(|level| level.price));
        if bid.zip(ask).is_some_and(|(bid, ask)| bid >= ask) {
            self.shown = Default::default();
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.shown.iter().all(Vec::is_empty)
    }

    /// Nothing is shown any more.
    pub(crate) fn clear(&mut self) {
        self.shown = Default::default();
    }

    /// What makes the book show what the other venue shows. Quotes that go come first, so that none meets another.
    pub(crate) fn update(
        &mut self,
        mut new_order: impl FnMut(BookSide, i64, u64) -> BookOrder,
    ) -> Vec<ParticipantAction> {
        let shown = &self.shown;
        let is_right = |quote: &FollowedQuote| shown[quote.side as usize].contains(&quote.level);
        let (right, wrong): (Vec<_>, Vec<_>) = self.standing.drain(..).partition(is_right);
        let mut actions: Vec<_> = wrong.into_iter().map(|quote| ParticipantAction::Cancel(quote.key)).collect();
        self.standing = right;
        for side in SIDES {
            for level in &self.shown[side as usize] {
                let stands = |quote: &FollowedQuote| (quote.side, quote.level) == (side, *level);
                if !self.standing.iter().any(stands) {
                    let order = new_order(side, level.price, level.lots);
                    self.standing.push(FollowedQuote { key: order.key, side, level: *level });
                    actions.push(ParticipantAction::Quote(order));
                }
            }
        }
        actions
    }

    /// All quotes leave the book; what is shown is kept.
    pub(crate) fn remove_all(&mut self) -> Vec<ParticipantAction> {
        self.standing.drain(..).map(|quote| ParticipantAction::Cancel(quote.key)).collect()
    }

    /// The quotes of a side.
    pub(crate) fn keys(&self, side: BookSide) -> impl Iterator<Item = u64> {
        self.standing.iter().filter(move |quote| quote.side == side).map(|quote| quote.key)
    }
}

/// On a tick of ours: a bid down, an offer up.
fn ticks(grid: &Grid, side: BookSide, price: Price) -> Option<i64> {
    let ticks = match side {
        BookSide::Buy => grid.ticks_down(price),
        BookSide::Sell => grid.ticks_up(price),
    };
    ticks.filter(|ticks| *ticks >= 1)
}

/// Levels that are one price here are one level.
fn shown_levels(side: BookSide, levels: &[BookLevel], grid: &Grid) -> Vec<ShownLevel> {
    let mut shown: Vec<ShownLevel> = Vec::new();
    for BookLevel { price, quantity } in levels {
        let (Some(price), lots) = (ticks(grid, side, *price), lots(grid, *quantity)) else { continue };
        let is_full = shown.len() == FOLLOWED_LEVELS_MAX;
        match shown.last_mut() {
            Some(last) if last.price == price => last.lots = last.lots.saturating_add(lots).min(UNTOLD_LOTS),
            _ if is_full => break,
            _ => shown.push(ShownLevel { price, lots }),
        }
    }
    shown.retain(|level| level.lots > 0);
    shown.sort_by_key(|level| side.rank(level.price));
    shown
}

fn lots(grid: &Grid, quantity: Quantity) -> u64 {
    grid.whole_lots(quantity).min(UNTOLD_LOTS)
}
