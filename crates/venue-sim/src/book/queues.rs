//! Order queues: one per level, oldest first, linked through the orders.

use std::collections::BTreeMap;

use super::slab::{NONE, Slab};
use super::types::{BookOrder, BookSide, Iceberg};

/// The queue of the orders without a price, for each side; it is never closed.
pub(super) fn unpriced(side: BookSide) -> u32 {
    side as u32
}

/// A resting order, in 32 bytes; side and price are those of its level. Its lots are those that are shown.
#[derive(Debug)]
pub(super) struct OrderSlot {
    pub(super) key: u64,
    pub(super) lots: u64,
    pub(super) owner: u32,
    pub(super) level: u32,
    ahead: u32,
    behind: u32,
}

#[derive(Debug)]
pub(super) struct LevelQueue {
    pub(super) lots: u64,
    hidden: u64,
    pub(super) rank: i64,
    pub(super) side: BookSide,
    pub(super) orders: u32,
    front: u32,
    back: u32,
}

impl LevelQueue {
    /// Shown and hidden.
    pub(super) fn all_lots(&self) -> u64 {
        self.lots + self.hidden
    }
}

/// What an iceberg hides.
#[derive(Clone, Copy, Debug)]
struct Reserve {
    hidden: u64,
    peak: u64,
}

#[derive(Debug)]
pub(super) struct OrderQueues {
    pub(super) slots: Slab<OrderSlot>,
    pub(super) levels: Slab<LevelQueue>,
    /// Of the few orders that hide lots, beside their slots, which stay small.
    reserves: BTreeMap<u32, Reserve>,
}

impl OrderQueues {
    pub(super) fn new() -> Self {
        let mut queues = OrderQueues { slots: Slab::new(), levels: Slab::new(), reserves: BTreeMap::new() };
        for side in [BookSide::Buy, BookSide::Sell] {
            let level = queues.open(side, 0);
            assert_eq!(level, unpriced(side), "the first levels opened");
        }
        queues
    }

    pub(super) fn open(&mut self, side: BookSide, rank: i64) -> u32 {
        self.levels.insert(LevelQueue { lots: 0, hidden: 0, rank, side, orders: 0, front: NONE, back: NONE })
    }

    /// A slot that is in no queue yet.
    pub(super) fn insert(&mut self, order: &BookOrder) -> u32 {
        self.slots.insert(OrderSlot {
            key: order.key,
            lots: order.lots,
            owner: order.owner,
            level: NONE,
            ahead: NONE,
            behind: NONE,
        })
    }

    /// Lots of a slot that is in no queue.
    pub(super) fn set_lots(&mut self, slot: u32, order: &BookOrder) {
        let shown = order.iceberg.map_or(order.lots, |iceberg| iceberg.shown.min(order.lots));
        self.slots[slot].lots = shown;
        if let Some(Iceberg { peak, .. }) = order.iceberg {
            self.reserves.insert(slot, Reserve { hidden: order.lots - shown, peak });
        }
    }

    /// Frees a slot that is in no queue.
    pub(super) fn release(&mut self, slot: u32) {
        self.reserves.remove(&slot);
        self.slots.release(slot);
    }

    pub(super) fn hidden(&self, slot: u32) -> u64 {
        self.reserves.get(&slot).map_or(0, |reserve| reserve.hidden)
    }

    /// Shown and hidden.
    pub(super) fn lots(&self, slot: u32) -> u64 {
        self.slots[slot].lots + self.hidden(slot)
    }

    /// All that was shown has traded: shows the next part, behind all other orders of its level.
    pub(super) fn refill(&mut self, slot: u32) {
        let level = self.slots[slot].level;
        self.unlink(slot);
        if let Some(reserve) = self.reserves.get_mut(&slot) {
            let shown = reserve.peak.min(reserve.hidden);
            reserve.hidden -= shown;
            self.slots[slot].lots = shown;
        }
        self.push_back(slot, level);
    }

    /// Takes away lots that have not traded, hidden ones first.
    pub(super) fn shrink(&mut self, slot: u32, by: u64) {
        let hidden = self.hidden(slot).min(by);
        if let Some(reserve) = self.reserves.get_mut(&slot) {
            reserve.hidden -= hidden;
        }
        self.levels[self.slots[slot].level].hidden -= hidden;
        self.reduce(slot, by - hidden);
    }

    pub(super) fn push_back(&mut self, slot: u32, level: u32) {
        let hidden = self.hidden(slot);
        let queue = &mut self.levels[level];
        let back = std::mem::replace(&mut queue.back, slot);
        let joining = &mut self.slots[slot];
        joining.level = level;
        joining.ahead = back;
        joining.behind = NONE;
        queue.lots += joining.lots;
        queue.hidden += hidden;
        queue.orders += 1;
        match back {
            NONE => queue.front = slot,
            _ => self.slots[back].behind = slot,
        }
    }

    pub(super) fn unlink(&mut self, slot: u32) {
        let OrderSlot { lots, level, ahead, behind, .. } = self.slots[slot];
        let hidden = self.hidden(slot);
        let queue = &mut self.levels[level];
        queue.lots -= lots;
        queue.hidden -= hidden;
        queue.orders -= 1;
        match ahead {
            NONE => queue.front = behind,
            _ => self.slots[ahead].behind = behind,
        }
        match behind {
            NONE => queue.back = ahead,
            _ => self.slots[behind].ahead = ahead,
        }
    }

    pub(super) fn reduce(&mut self, slot: u32, by: u64) {
        let order = &mut self.slots[slot];
        order.lots -= by;
        self.levels[order.level].lots -= by;
    }

    pub(super) fn front(&self, level: u32) -> Option<u32> {
        non_empty(self.levels[level].front)
    }

    /// From the oldest to the newest.
    pub(super) fn iter(&self, level: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(self.front(level), |slot| non_empty(self.slots[*slot].behind))
    }

    /// Orders that came before, nearest first.
    pub(super) fn ahead(&self, slot: u32) -> impl Iterator<Item = &OrderSlot> {
        let first = non_empty(self.slots[slot].ahead);
        std::iter::successors(first, |slot| non_empty(self.slots[*slot].ahead)).map(|slot| &self.slots[slot])
    }

    pub(super) fn order(&self, slot: u32) -> BookOrder {
        let OrderSlot { key, lots: shown, owner, level, .. } = self.slots[slot];
        let LevelQueue { rank, side, .. } = self.levels[level];
        let limit = (level != unpriced(side)).then(|| side.price(rank));
        let iceberg = self.reserves.get(&slot).map(|reserve| Iceberg { shown, peak: reserve.peak });
        BookOrder { key, side, limit, lots: self.lots(slot), owner, iceberg }
    }

    pub(super) fn bytes(&self) -> usize {
        self.slots.bytes() + self.levels.bytes() + self.reserves.len() * size_of::<(u32, Reserve)>()
    }
}

fn non_empty(id: u32) -> Option<u32> {
    (id != NONE).then_some(id)
}
