//! Auction: finds the price and trades at it.
//!
//! Hidden lots take part like shown ones. Self-trade prevention does not apply here: in an auction no order chooses its counterparty.

use std::cmp::Reverse;
use std::iter;

use super::LimitOrderBook;
use super::queues::unpriced;
use super::types::{AuctionIndication, BookEvent, BookSide, BookTrade};

impl LimitOrderBook {
    /// The price with the most executable lots, then the smallest imbalance, then the closest to the
    /// reference; none if nothing can trade.
    #[must_use]
    pub fn auction_price(&self, reference: i64) -> Option<AuctionIndication> {
        let mut run = BestRun::new(self.lots(BookSide::Buy), self.unpriced_lots(BookSide::Sell));
        for (price, side, lots) in self.price_steps() {
            run.step(price, side, lots);
        }
        let (low, high) = run.finish();
        self.indicate(reference.clamp(low, high))
    }

    /// Trades everything executable at this price: on each side the orders without a price, then the best priced, then
    /// the oldest. Returns the lots traded. At `auction_price` the remaining book is not crossed.
    pub fn uncross(&mut self, price: i64, out: &mut impl FnMut(BookEvent)) -> u64 {
        let mut traded = 0;
        while let (Some(buyer), Some(seller)) =
            (self.next_executable(BookSide::Buy, price), self.next_executable(BookSide::Sell, price))
        {
            let slots = &self.queues.slots;
            let lots = slots[buyer].lots.min(slots[seller].lots);
            let (maker, maker_left) = self.deduct(seller, lots);
            let (taker, taker_left) = self.deduct(buyer, lots);
            traded += lots;
            out(BookEvent::Traded(BookTrade { maker, taker, price, lots, maker_left, taker_left }));
        }
        traded
    }

    fn next_executable(&self, side: BookSide, price: i64) -> Option<u32> {
        self.queues.front(unpriced(side)).or_else(|| {
            let best = self.ladders[side as usize].best()?;
            let willing = best.rank <= side.rank(price);
            willing.then(|| self.queues.front(best.level)).flatten()
        })
    }

    /// Every level of both sides from the lowest price to the highest, the sell side first where they
    /// share a price: its lots count from their price on, those of a buyer up to and with it.
    fn price_steps(&self) -> impl Iterator<Item = (i64, BookSide, u64)> {
        let levels = |side: BookSide| {
            move |rung: super::ladder::PriceLevel| {
                let lots = self.queues.levels[rung.level].all_lots();
                (side.price(rung.rank), side, lots)
            }
        };
        let [bids, asks] = &self.ladders;
        let mut bids = bids.iter().rev().map(levels(BookSide::Buy)).peekable();
        let mut asks = asks.iter().map(levels(BookSide::Sell)).peekable();
        iter::from_fn(move || match (bids.peek(), asks.peek()) {
            (Some(bid), Some(ask)) if bid.0 < ask.0 => bids.next(),
            (Some(_), None) => bids.next(),
            _ => asks.next(),
        })
    }

    fn indicate(&self, price: i64) -> Option<AuctionIndication> {
        let buy = self.executable_lots(BookSide::Buy, price);
        let sell = self.executable_lots(BookSide::Sell, price);
        let lots = buy.min(sell);
        (lots > 0).then_some(AuctionIndication { price, lots, buy_surplus: buy - lots, sell_surplus: sell - lots })
    }

    fn executable_lots(&self, side: BookSide, price: i64) -> u64 {
        let priced: u64 = self.ladders[side as usize]
            .iter()
            .take_while(|rung| rung.rank <= side.rank(price))
            .map(|rung| self.queues.levels[rung.level].all_lots())
            .sum();
        self.unpriced_lots(side) + priced
    }

    fn unpriced_lots(&self, side: BookSide) -> u64 {
        self.queues.levels[unpriced(side)].all_lots()
    }
}

/// Walks through all prices and keeps the range of the best ones.
///
/// With a rising price buyers only leave and sellers only join, so executable lots rise and then fall, and the
/// imbalance changes sign once: the best prices have no gap among them.
struct BestRun {
    buy: u64,
    sell: u64,
    /// The first price not checked; none when the last one was the highest there is.
    next: Option<i64>,
    score: (u64, Reverse<u64>),
    low: i64,
    high: i64,
}

impl BestRun {
    /// Below every limit all buyers are executable, and of the sellers only those without a price.
    fn new(buy: u64, sell: u64) -> Self {
        BestRun { buy, sell, next: Some(i64::MIN), score: (0, Reverse(u64::MAX)), low: i64::MIN, high: i64::MAX }
    }

    fn step(&mut self, price: i64, side: BookSide, lots: u64) {
        if let Some(low) = self.next.filter(|low| *low < price) {
            self.consider(low, price - 1);
        }
        match side {
            BookSide::Sell => {
                self.sell += lots;
                self.consider(price, price);
            }
            BookSide::Buy => {
                self.consider(price, price);
                self.buy -= lots;
            }
        }
        self.next = price.checked_add(1);
    }

    fn finish(mut self) -> (i64, i64) {
        if let Some(low) = self.next {
            self.consider(low, i64::MAX);
        }
        (self.low, self.high)
    }

    fn consider(&mut self, low: i64, high: i64) {
        let score = (self.buy.min(self.sell), Reverse(self.buy.abs_diff(self.sell)));
        if score > self.score {
            (self.score, self.low) = (score, low);
        }
        if score == self.score {
            self.high = high;
        }
    }
}
