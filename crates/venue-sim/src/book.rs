//! Price-time-priority order book of one security.
//!
//! Prices are ticks and quantities lots, so every comparison is one of integers. In continuous trading orders are
//! placed and replaced, and match on entry; in the call phase of an auction they are queued and requeued, may be
//! crossed, and `uncross` trades them at one price. The book has no clock and no randomness: the same calls give the
//! same events.

mod auction;
mod index;
mod ladder;
mod matching;
mod queues;
mod slab;
mod words;

pub use words::{
    ANONYMOUS, Depth, Event, How, Indication, MAX_ORDERS, Order, Outcome, Refusal, Rules, SelfTrade, Side, Trade,
};

use index::Index;
use ladder::Ladder;
use queues::{Queues, unpriced};

#[derive(Debug)]
pub struct Book {
    rules: Rules,
    index: Index,
    queues: Queues,
    ladders: [Ladder; 2],
    /// All lots of each side. They fit 64 bits, so no sum over a part of a side can overflow.
    lots: [u64; 2],
}

impl Book {
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Book {
            rules,
            index: Index::new(),
            queues: Queues::new(),
            ladders: [Ladder::new(), Ladder::new()],
            lots: [0, 0],
        }
    }

    /// Matches the order against the other side; the remainder rests or expires, as the match policy requires. Orders
    /// without a price that still rest from an auction are not matched.
    pub fn place(&mut self, order: &Order, how: How, out: &mut impl FnMut(Event)) -> Result<Outcome, Refusal> {
        self.check_new(order)?;
        match how {
            How::Rest if order.limit.is_none() => return Err(Refusal::NoLimit),
            How::Rest => self.check_room(order)?,
            How::Immediate => {}
            How::FillOrKill if self.can_fill(order) => {}
            How::FillOrKill => return Ok(Outcome::Expired { lots: order.lots }),
        }
        let outcome = self.sweep(order, how, out);
        if let Outcome::Resting { lots } = outcome {
            self.enter(&Order { lots, ..*order });
        }
        Ok(outcome)
    }

    /// Rests the order without matching, as in the call phase of an auction.
    pub fn queue(&mut self, order: &Order) -> Result<(), Refusal> {
        self.check_new(order)?;
        self.check_room(order)?;
        self.enter(order);
        Ok(())
    }

    /// Removes the order and returns it as it was.
    pub fn cancel(&mut self, key: u64) -> Result<Order, Refusal> {
        let slot = self.find(key).ok_or(Refusal::UnknownKey)?;
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
        out: &mut impl FnMut(Event),
    ) -> Result<Outcome, Refusal> {
        let (slot, order) = self.check_change(key, Some(limit), lots)?;
        if self.trim(slot, &order) {
            return Ok(Outcome::Resting { lots });
        }
        self.withdraw(slot);
        let outcome = self.sweep(&order, How::Rest, out);
        match outcome {
            Outcome::Resting { lots } => self.stand(slot, &Order { lots, ..order }),
            _ => self.forget(slot),
        }
        Ok(outcome)
    }

    /// `replace` without matching, as in the call phase of an auction; the limit may be taken away.
    pub fn requeue(&mut self, key: u64, limit: Option<i64>, lots: u64) -> Result<(), Refusal> {
        let (slot, order) = self.check_change(key, limit, lots)?;
        if !self.trim(slot, &order) {
            self.withdraw(slot);
            self.stand(slot, &order);
        }
        Ok(())
    }

    #[must_use]
    pub fn get(&self, key: u64) -> Option<Order> {
        self.find(key).map(|slot| self.queues.order(slot))
    }

    #[must_use]
    pub fn best_bid(&self) -> Option<i64> {
        self.best(Side::Buy)
    }

    #[must_use]
    pub fn best_ask(&self) -> Option<i64> {
        self.best(Side::Sell)
    }

    #[must_use]
    pub fn best(&self, side: Side) -> Option<i64> {
        let best = self.ladders[side as usize].best()?;
        Some(side.price(best.rank))
    }

    /// The price levels of a side, best first.
    pub fn depth(&self, side: Side) -> impl Iterator<Item = Depth> {
        self.ladders[side as usize].iter().map(move |rung| {
            let level = &self.queues.levels[rung.level];
            Depth { price: side.price(rung.rank), lots: level.lots, orders: level.orders }
        })
    }

    /// The orders of a side in the order in which they trade: those without a price, then by price and age. Queued into
    /// a new book in this order they give the same book.
    pub fn orders(&self, side: Side) -> impl Iterator<Item = Order> {
        let priced = self.ladders[side as usize].iter().map(|rung| rung.level);
        std::iter::once(unpriced(side))
            .chain(priced)
            .flat_map(|level| self.queues.of(level))
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
    pub fn lots(&self, side: Side) -> u64 {
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
        let ladders: usize = self.ladders.iter().map(Ladder::bytes).sum();
        size_of::<Self>() + self.index.bytes() + self.queues.bytes() + ladders
    }

    fn check_new(&self, order: &Order) -> Result<(), Refusal> {
        if order.lots == 0 {
            return Err(Refusal::NoLots);
        }
        match self.find(order.key) {
            Some(_) => Err(Refusal::DuplicateKey),
            None => Ok(()),
        }
    }

    /// Checked before matching, so that an order is refused or accepted as a whole.
    fn check_room(&self, order: &Order) -> Result<(), Refusal> {
        if self.len() >= self.rules.max_orders.min(MAX_ORDERS) as usize {
            return Err(Refusal::BookFull);
        }
        match self.lots(order.side).checked_add(order.lots) {
            Some(_) => Ok(()),
            None => Err(Refusal::TooManyLots),
        }
    }

    /// The slot of the order, and the order with its new terms.
    fn check_change(&self, key: u64, limit: Option<i64>, lots: u64) -> Result<(u32, Order), Refusal> {
        let slot = self.find(key).ok_or(Refusal::UnknownKey)?;
        if lots == 0 {
            return Err(Refusal::NoLots);
        }
        let order = self.queues.order(slot);
        let others = self.lots(order.side) - order.lots;
        match others.checked_add(lots) {
            Some(_) => Ok((slot, Order { limit, lots, ..order })),
            None => Err(Refusal::TooManyLots),
        }
    }

    fn find(&self, key: u64) -> Option<u32> {
        let slots = &self.queues.slots;
        self.index.find(key, |slot| slots[slot].key == key)
    }

    /// Applies a change that keeps the queue position; false if the position is lost.
    fn trim(&mut self, slot: u32, order: &Order) -> bool {
        let now = self.queues.order(slot);
        let keeps = now.limit == order.limit && order.lots <= now.lots;
        if keeps {
            self.reduce(slot, order.side, now.lots - order.lots);
        }
        keeps
    }

    fn reduce(&mut self, slot: u32, side: Side, by: u64) {
        self.queues.reduce(slot, by);
        self.lots[side as usize] -= by;
    }

    fn enter(&mut self, order: &Order) {
        let slot = self.queues.admit(order);
        self.index.insert(order.key, slot);
        self.stand(slot, order);
    }

    /// Appends a slot that is in no queue to the order's queue.
    fn stand(&mut self, slot: u32, order: &Order) {
        let level = self.level_for(order);
        self.queues.slots[slot].lots = order.lots;
        self.queues.join(slot, level);
        self.lots[order.side as usize] += order.lots;
    }

    fn level_for(&mut self, order: &Order) -> u32 {
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
        self.withdraw(slot);
        self.forget(slot);
    }

    /// Removes the slot from its queue, and an empty level from the ladder.
    fn withdraw(&mut self, slot: u32) {
        let level = self.queues.slots[slot].level;
        let lots = self.queues.slots[slot].lots;
        self.queues.leave(slot);
        let queue = &self.queues.levels[level];
        self.lots[queue.side as usize] -= lots;
        if queue.orders == 0 && level != unpriced(queue.side) {
            self.ladders[queue.side as usize].remove(queue.rank);
            self.queues.levels.release(level);
        }
    }

    /// Frees a slot that is in no queue.
    fn forget(&mut self, slot: u32) {
        self.index.remove(self.queues.slots[slot].key, slot);
        self.queues.slots.release(slot);
    }
}
