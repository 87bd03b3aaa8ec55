//! Market data of a security: unpublished trades, and tick and book where they changed.

use domain::command::MarketData;
use domain::{BookLevel, OrderBook, Text, Tick, Timestamp, Trade};

use crate::book::{self, AuctionIndication, DepthLevel};
use crate::market::SecurityMarket;
use crate::market::grid::Grid;
use crate::market::tape::Print;

/// Levels of each side in a published book.
const BOOK_LEVELS: usize = 10;

impl SecurityMarket {
    /// Unpublished market data: the trades, and tick and book where they changed.
    pub(crate) fn publish(&mut self, feed: &Text, at: Timestamp) -> Vec<MarketData> {
        if !self.tape.subscribed {
            return Vec::new();
        }
        let mut data: Vec<_> = self.new_trades(feed);
        let (tick, book) = self.view(feed, at);
        if self.tape.tick.as_ref().is_none_or(|old| Tick { at, ..old.clone() } != tick) {
            self.tape.tick = Some(tick.clone());
            data.push(MarketData::Tick(tick));
        }
        if self.tape.book.as_ref().is_none_or(|old| (&old.bids, &old.asks) != (&book.bids, &book.asks)) {
            self.tape.book = Some(book.clone());
            data.push(MarketData::Book(book));
        }
        data
    }

    fn new_trades(&mut self, feed: &Text) -> Vec<MarketData> {
        let (security, grid) = (self.id(), self.grid);
        let prints = self.tape.trades.drain(..);
        let trade = |print: Print| Trade {
            security,
            feed: feed.clone(),
            at: print.at,
            price: grid.price(print.price),
            quantity: grid.quantity(print.lots),
            aggressor: print.aggressor,
            ext_id: None,
        };
        prints.map(|print| MarketData::Trade(trade(print))).collect()
    }

    fn view(&self, feed: &Text, at: Timestamp) -> (Tick, OrderBook) {
        let [bids, asks] = self.levels();
        let top = |levels: &[BookLevel]| levels.first().copied();
        let (bid, ask) = (top(&bids), top(&asks));
        let tick = Tick {
            security: self.id(),
            feed: feed.clone(),
            at,
            last: self.last.map(|last| self.grid.price(last.price)),
            last_at: self.last.map(|last| last.at),
            vol_last: self.last.and_then(|last| last.lots).map(|lots| self.grid.quantity(lots)),
            bid: bid.map(|level| level.price),
            ask: ask.map(|level| level.price),
            vol_bid: bid.map(|level| level.quantity),
            vol_ask: ask.map(|level| level.quantity),
            vol: self.volume.filter(|_| self.is_tradeable()).map(|lots| self.grid.quantity(lots)),
            stale: None,
        };
        (tick, OrderBook { security: self.id(), feed: feed.clone(), at, bids, asks })
    }

    /// While orders are crossed before an auction, the indicative auction shows as one level on both sides.
    fn levels(&self) -> [Vec<BookLevel>; 2] {
        let crossed = self.book.best_bid().zip(self.book.best_ask()).is_some_and(|(bid, ask)| bid >= ask);
        let auction = if crossed { self.book.auction_price(self.reference()) } else { None };
        [book::BookSide::Buy, book::BookSide::Sell]
            .map(|side| side_levels(&self.grid, self.book.depth(side), auction, side))
    }
}

fn side_levels(
    grid: &Grid,
    depth: impl Iterator<Item = DepthLevel>,
    auction: Option<AuctionIndication>,
    side: book::BookSide,
) -> Vec<BookLevel> {
    let level = |price, lots| BookLevel { price: grid.price(price), quantity: grid.quantity(lots) };
    let stays = |price: i64| match (auction, side) {
        (None, _) => true,
        (Some(auction), book::BookSide::Buy) => price < auction.price,
        (Some(auction), book::BookSide::Sell) => price > auction.price,
    };
    let indicated = auction.map(|auction| level(auction.price, auction.lots));
    let standing = depth.filter(|depth| stays(depth.price)).map(|depth| level(depth.price, depth.lots));
    indicated.into_iter().chain(standing).take(BOOK_LEVELS).collect()
}
