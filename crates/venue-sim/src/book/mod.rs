//! Price-time-priority order book of one security.
//!
//! Prices are ticks and quantities lots, so every comparison is one of integers. In continuous trading orders are
//! placed and replaced, and match on entry; in the call phase of an auction they are queued and requeued, may be
//! crossed, and `uncross` trades them at one price. The book has no clock and no randomness: the same calls give the
//! same events.

mod auction;
mod order_index;
mod ladder;
mod matching;
mod queues;
mod slab;
mod types;

pub use types::{
    ANONYMOUS, AuctionIndication, BookEvent, BookOrder, BookReject, BookRules, BookSide, BookTrade, DepthLevel,
    Iceberg, MAX_ORDERS, MatchOutcome, MatchPolicy, SelfTradeRule,
};

use ladder::PriceLadder;
use order_index::OrderIndex;
use queues::{OrderQueues, unpriced};

#[derive(Debug)]
pub struct LimitOrderBook {
    rules: BookRules,
    index: OrderIndex,
    queues: OrderQueues,
    ladders: [PriceLadder; 2],
    /// All lots of each side. They fit 64 bits, so no sum over a part of a side can overflow.
    lots: [u64; 2],
}

impl LimitOrderBook {
    #[must_use]
    pub fn new(rules: BookRules) -> Self {
        LimitOrderBook {
            rules,
            index: OrderIndex::new(),
            queues: OrderQueues::new(),
            ladders: [PriceLadder::new(), PriceLadder::new()],
            lots: [0, 0],
        }
    }

    /// Changes which of two orders of one owner is cancelled; for venues where the incoming order says so.
    pub fn set_self_trade(&mut self, rule: SelfTradeRule) {
        self.rules.self_trade = rule;
    }

    /// Matches the order against the other side; the remainder rests or expires, as the match policy requires. Orders
    /// without a price that still rest from an auction are not matched.
    pub fn place(
        &mut self,
        order: &BookOrder,
        how: MatchPolicy,
        out: &mut impl FnMut(BookEvent),
    ) -> Result<MatchOutcome, BookReject> {
        self.check_new(order)?;
        match how {
            MatchPolicy::Rest | MatchPolicy::PostOnly if order.limit.is_none() => return Err(BookReject::NoLimit),
            MatchPolicy::PostOnly if order.limit.is_some_and(|limit| self.would_trade(order.side, limit)) => {
                return Err(BookReject::WouldTake);
            }
            MatchPolicy::Rest | MatchPolicy::PostOnly => self.check_capacity(order)?,
            MatchPolicy::Immediate => {}
            MatchPolicy::ImmediateAtLeast(lots) if lots <= order.lots && self.can_trade(order, lots) => {}
            MatchPolicy::FillOrKill if self.can_trade(order, order.lots) => {}
            MatchPolicy::ImmediateAtLeast(_) | MatchPolicy::FillOrKill => {
                return Ok(MatchOutcome::Expired { lots: order.lots });
            }
        }
        let outcome = self.sweep(order, how, out);
        if let MatchOutcome::Resting { lots } = outcome {
            self.insert(&BookOrder { lots, ..*order });
        }
        Ok(outcome)
    }

    /// Rests the order without matching, as in the call phase of an auction.
    pub fn queue(&mut self, order: &BookOrder) -> Result<(), BookReject> {
        self.check_new(order)?;
        self.check_capacity(order)?;
        self.insert(order);
        Ok(())
    }

    /// Removes the order and returns it as it was.
    pub fn cancel(&mut self, key: u64) -> Result<BookOrder, BookReject> {
        let slot = self.find(key).ok_or(BookReject::UnknownKey)?;
        let order = self.queues.order(slot);
        self.remove(slot);
        Ok(order)
    }

    /// Sets a new limit and new open lots. Fewer lots at the same price keep the queue position; any other change loses
    /// it and may match.
    pub fn replace(
        &mut self,
        key: u64,
        limit: i64,
        lots: u64,
        out: &mut impl FnMut(BookEvent),
    ) -> Result<MatchOutcome, BookReject> {
        let (slot, order) = self.check_change(key, Some(limit), lots)?;
        if self.reduce_in_place(slot, &order) {
            return Ok(MatchOutcome::Resting { lots });
        }
        self.unlink(slot);
        let outcome = self.sweep(&order, MatchPolicy::Rest, out);
        match outcome {
            MatchOutcome::Resting { lots } => self.enqueue(slot, &BookOrder { lots, ..order }),
            _ => self.release(slot),
        }
        Ok(outcome)
    }

    /// `replace` without matching, as in the call phase of an auction; the limit may be taken away.
    pub fn requeue(&mut self, key: u64, limit: Option<i64>, lots: u64) -> Result<(), BookReject> {
        let (slot, order) = self.check_change(key, limit, lots)?;
        if !self.reduce_in_place(slot, &order) {
            self.unlink(slot);
            self.enqueue(slot, &order);
        }
        Ok(())
    }

    #[must_use]
    pub fn get(&self, key: u64) -> Option<BookOrder> {
        self.find(key).map(|slot| self.queues.order(slot))
    }

    #[must_use]
    pub fn best_bid(&self) -> Option<i64> {
        self.best(BookSide::Buy)
    }

    #[must_use]
    pub fn best_ask(&self) -> Option<i64> {
        self.best(BookSide::Sell)
    }

    #[must_use]
    pub fn best(&self, side: BookSide) -> Option<i64> {
        let best = self.ladders[side as usize].best()?;
        Some(side.price(best.rank))
    }

    /// Whether an order of this side and limit would trade at once, be it with one of its own owner.
    #[must_use]
    pub fn would_trade(&self, side: BookSide, limit: i64) -> bool {
        let other = side.opposite();
        self.best(other).is_some_and(|best| other.rank(best) <= other.rank(limit))
    }

    /// The price levels of a side, best first, without hidden lots.
    pub fn depth(&self, side: BookSide) -> impl Iterator<Item = DepthLevel> {
        self.ladders[side as usize].iter().map(move |rung| {
            let level = &self.queues.levels[rung.level];
            DepthLevel { price: side.price(rung.rank), lots: level.lots, orders: level.orders }
        })
    }

    /// The orders of a side in the order in which they trade: those without a price, then by price and age. Queued into
    /// a new book in this order they give the same book.
    pub fn orders(&self, side: BookSide) -> impl Iterator<Item = BookOrder> {
        let priced = self.ladders[side as usize].iter().map(|rung| rung.level);
        std::iter::once(unpriced(side))
            .chain(priced)
            .flat_map(|level| self.queues.iter(level))
            .map(|slot| self.queues.order(slot))
    }

    /// Lots that trade before this order at its own price. Walks the queue ahead.
    #[must_use]
    pub fn lots_ahead(&self, key: u64) -> Option<u64> {
        let slot = self.find(key)?;
        Some(self.queues.ahead(slot).map(|order| order.lots).sum())
    }

    /// All open lots of a side, also those without a price.
    #[must_use]
    pub fn lots(&self, side: BookSide) -> u64 {
        self.lots[side as usize]
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.index.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memory in use, spare capacity included.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let ladders: usize = self.ladders.iter().map(PriceLadder::bytes).sum();
        size_of::<Self>() + self.index.bytes() + self.queues.bytes() + ladders
    }

    fn check_new(&self, order: &BookOrder) -> Result<(), BookReject> {
        if order.lots == 0 {
            return Err(BookReject::NoLots);
        }
        match self.find(order.key) {
            Some(_) => Err(BookReject::DuplicateKey),
            None => Ok(()),
        }
    }

    /// Checked before matching, so that an order is refused or accepted as a whole.
    fn check_capacity(&self, order: &BookOrder) -> Result<(), BookReject> {
        if self.len() >= self.rules.max_orders.min(MAX_ORDERS) as usize {
            return Err(BookReject::BookFull);
        }
        match self.lots(order.side).checked_add(order.lots) {
            Some(_) => Ok(()),
            None => Err(BookReject::TooManyLots),
        }
    }

    /// The slot of the order, and the order with its new terms.
    fn check_change(&self, key: u64, limit: Option<i64>, lots: u64) -> Result<(u32, BookOrder), BookReject> {
        let slot = self.find(key).ok_or(BookReject::UnknownKey)?;
        if lots == 0 {
            return Err(BookReject::NoLots);
        }
        let order = self.queues.order(slot);
        let others = self.lots(order.side) - order.lots;
        match others.checked_add(lots) {
            Some(_) => Ok((slot, BookOrder { limit, lots, iceberg: order.iceberg.map(Iceberg::refreshed), ..order })),
            None => Err(BookReject::TooManyLots),
        }
    }

    fn find(&self, key: u64) -> Option<u32> {
        let slots = &self.queues.slots;
        self.index.find(key, |slot| slots[slot].key == key)
    }

    /// Applies a change that keeps the queue position; false if the position is lost.
    fn reduce_in_place(&mut self, slot: u32, order: &BookOrder) -> bool {
        let now = self.queues.order(slot);
        let keeps = now.limit == order.limit && order.lots <= now.lots;
        if keeps {
            self.queues.shrink(slot, now.lots - order.lots);
            self.lots[order.side as usize] -= now.lots - order.lots;
        }
        keeps
    }

    fn insert(&mut self, order: &BookOrder) {
        let slot = self.queues.insert(order);
        self.index.insert(order.key, slot);
        self.enqueue(slot, order);
    }

    /// Appends a slot that is in no queue to the order's queue.
    fn enqueue(&mut self, slot: u32, order: &BookOrder) {
        let level = self.level_for(order);
        self.queues.set_lots(slot, order);
        self.queues.push_back(slot, level);
        self.lots[order.side as usize] += order.lots;
    }

    fn level_for(&mut self, order: &BookOrder) -> u32 {
        let Some(price) = order.limit else {
            return unpriced(order.side);
        };
        let rank = order.side.rank(price);
        let ladder = &mut self.ladders[order.side as usize];
        ladder.get(rank).unwrap_or_else(|| {
            let level = self.queues.open(order.side, rank);
            ladder.insert(rank, level);
            level
        })
    }

    fn remove(&mut self, slot: u32) {
        self.unlink(slot);
        self.release(slot);
    }

    /// Removes the slot from its queue, and an empty level from the ladder.
    fn unlink(&mut self, slot: u32) {
        let level = self.queues.slots[slot].level;
        let lots = self.queues.lots(slot);
        self.queues.unlink(slot);
        let queue = &self.queues.levels[level];
        self.lots[queue.side as usize] -= lots;
        if queue.orders == 0 && level != unpriced(queue.side) {
            self.ladders[queue.side as usize].remove(queue.rank);
            self.queues.levels.release(level);
        }
    }

    /// Frees a slot that is in no queue.
    fn release(&mut self, slot: u32) {
        self.index.remove(self.queues.slots[slot].key, slot);
        self.queues.release(slot);
    }
}
