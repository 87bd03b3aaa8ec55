//! Matching: an incoming order trades with the other side, best price first, oldest first, at the maker's price.

use super::LimitOrderBook;
use super::types::{ANONYMOUS, BookEvent, BookOrder, BookSide, BookTrade, MatchOutcome, MatchPolicy, SelfTradeRule};

impl LimitOrderBook {
    /// Trades with every order that it can reach and returns what happens to the remainder.
    pub(super) fn sweep(
        &mut self,
        order: &BookOrder,
        how: MatchPolicy,
        out: &mut impl FnMut(BookEvent),
    ) -> MatchOutcome {
        let mut left = order.lots;
        while left > 0 {
            let Some((maker, price)) = self.next_maker(order) else {
                return leftover(left, how);
            };
            if !self.is_own(order, maker) {
                left = self.fill(maker, order.key, left, price, out);
                continue;
            }
            match self.rules.self_trade {
                SelfTradeRule::CancelNewest => return MatchOutcome::Prevented { lots: left },
                SelfTradeRule::CancelOldest => self.prevent_self_trade(maker, out),
            }
        }
        MatchOutcome::Filled
    }

    /// Whether so many lots of the order would trade at once. An own order on the other side ends it or is skipped, as
    /// in the sweep.
    pub(super) fn can_trade(&self, order: &BookOrder, lots: u64) -> bool {
        let reach = worst_rank(order);
        let mut wanted = lots;
        for rung in self.ladders[order.side.opposite() as usize].iter().take_while(|rung| rung.rank <= reach) {
            let (lots, is_end) = self.tradable_at(order, rung.level);
            wanted = wanted.saturating_sub(lots);
            if wanted == 0 || is_end {
                break;
            }
        }
        wanted == 0
    }

    /// Lots of a level that the order would trade with, and whether an own order ends it there. What others hide is shown
    /// behind the own order, so only what they show before it counts then.
    fn tradable_at(&self, order: &BookOrder, level: u32) -> (u64, bool) {
        let makers = || self.queues.iter(level);
        let stops = self.rules.self_trade == SelfTradeRule::CancelNewest;
        match makers().position(|maker| stops && self.is_own(order, maker)) {
            Some(own) => (makers().take(own).map(|maker| self.queues.slots[maker].lots).sum(), true),
            None => {
                let others = makers().filter(|maker| !self.is_own(order, *maker));
                (others.map(|maker| self.queues.lots(maker)).sum(), false)
            }
        }
    }

    fn next_maker(&self, order: &BookOrder) -> Option<(u32, i64)> {
        let side = order.side.opposite();
        let best = self.ladders[side as usize].best()?;
        if best.rank > worst_rank(order) {
            return None;
        }
        let maker = self.queues.front(best.level)?;
        Some((maker, side.price(best.rank)))
    }

    fn is_own(&self, order: &BookOrder, maker: u32) -> bool {
        order.owner != ANONYMOUS && order.owner == self.queues.slots[maker].owner
    }

    /// One trade with one maker; returns the taker's remainder.
    fn fill(&mut self, maker: u32, taker: u64, wanted: u64, price: i64, out: &mut impl FnMut(BookEvent)) -> u64 {
        let lots = wanted.min(self.queues.slots[maker].lots);
        let (maker, maker_left) = self.deduct(maker, lots);
        let taker_left = wanted - lots;
        out(BookEvent::Traded(BookTrade { maker, taker, price, lots, maker_left, taker_left }));
        taker_left
    }

    /// Deducts traded lots from a resting order; its key and what is left. It is removed when that is nothing, and
    /// shows the next part of what it hides when all that was shown has traded.
    pub(super) fn deduct(&mut self, slot: u32, lots: u64) -> (u64, u64) {
        let order = &self.queues.slots[slot];
        let (key, shown, level) = (order.key, order.lots - lots, order.level);
        let hidden = self.queues.hidden(slot);
        if shown == 0 && hidden == 0 {
            self.remove(slot);
            return (key, 0);
        }
        self.lots[self.queues.levels[level].side as usize] -= lots;
        self.queues.reduce(slot, lots);
        if shown == 0 {
            self.queues.refill(slot);
        }
        (key, shown + hidden)
    }

    fn prevent_self_trade(&mut self, maker: u32, out: &mut impl FnMut(BookEvent)) {
        let (key, lots) = (self.queues.slots[maker].key, self.queues.lots(maker));
        self.remove(maker);
        out(BookEvent::Prevented { key, lots });
    }
}

/// The worst rank of the other side that the order accepts.
fn worst_rank(order: &BookOrder) -> i64 {
    let other: BookSide = order.side.opposite();
    order.limit.map_or(i64::MAX, |price| other.rank(price))
}

fn leftover(lots: u64, how: MatchPolicy) -> MatchOutcome {
    match how {
        MatchPolicy::Rest | MatchPolicy::PostOnly => MatchOutcome::Resting { lots },
        MatchPolicy::Immediate | MatchPolicy::ImmediateAtLeast(_) | MatchPolicy::FillOrKill => {
            MatchOutcome::Expired { lots }
        }
    }
}
