//! Order queues: one per level, oldest first, linked through the orders.

use super::slab::{NONE, Slab};
use super::words::{Order, Side};

/// The queue of the orders without a price, for each side; it is never closed.
pub(super) fn unpriced(side: Side) -> u32 {
    side as u32
}

/// A resting order, in 32 bytes; side and price are those of its level.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) key: u64,
    pub(super) lots: u64,
    pub(super) owner: u32,
    pub(super) level: u32,
    ahead: u32,
    behind: u32,
}

#[derive(Debug)]
pub(super) struct Level {
    pub(super) lots: u64,
    pub(super) rank: i64,
    pub(super) side: Side,
    pub(super) orders: u32,
    front: u32,
    back: u32,
}

#[derive(Debug)]
pub(super) struct Queues {
    pub(super) slots: Slab<Slot>,
    pub(super) levels: Slab<Level>,
}

impl Queues {
    pub(super) fn new() -> Self {
        let mut queues = Queues { slots: Slab::new(), levels: Slab::new() };
        for side in [Side::Buy, Side::Sell] {
            let level = queues.open(side, 0);
            assert_eq!(level, unpriced(side), "the first levels opened");
        }
        queues
    }

    pub(super) fn open(&mut self, side: Side, rank: i64) -> u32 {
        self.levels.insert(Level { lots: 0, rank, side, orders: 0, front: NONE, back: NONE })
    }

    /// A slot that is in no queue yet.
    pub(super) fn admit(&mut self, order: &Order) -> u32 {
        self.slots.insert(Slot {
            key: order.key,
            lots: order.lots,
            owner: order.owner,
            level: NONE,
            ahead: NONE,
            behind: NONE,
        })
    }

    pub(super) fn join(&mut self, slot: u32, level: u32) {
        let queue = &mut self.levels[level];
        let back = std::mem::replace(&mut queue.back, slot);
        let joining = &mut self.slots[slot];
        joining.level = level;
        joining.ahead = back;
        joining.behind = NONE;
        queue.lots += joining.lots;
        queue.orders += 1;
        match back {
            NONE => queue.front = slot,
            _ => self.slots[back].behind = slot,
        }
    }

    pub(super) fn leave(&mut self, slot: u32) {
        let Slot { lots, level, ahead, behind, .. } = self.slots[slot];
        let queue = &mut self.levels[level];
        queue.lots -= lots;
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
        some(self.levels[level].front)
    }

    /// From the oldest to the newest.
    pub(super) fn of(&self, level: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(self.front(level), |slot| some(self.slots[*slot].behind))
    }

    /// Orders that came before, nearest first.
    pub(super) fn ahead(&self, slot: u32) -> impl Iterator<Item = &Slot> {
        let first = some(self.slots[slot].ahead);
        std::iter::successors(first, |slot| some(self.slots[*slot].ahead)).map(|slot| &self.slots[slot])
    }

    pub(super) fn order(&self, slot: u32) -> Order {
        let Slot { key, lots, owner, level, .. } = self.slots[slot];
        let Level { rank, side, .. } = self.levels[level];
        Order { key, side, limit: (level != unpriced(side)).then(|| side.price(rank)), lots, owner }
    }

    pub(super) fn bytes(&self) -> usize {
        self.slots.bytes() + self.levels.bytes()
    }
}

fn some(id: u32) -> Option<u32> {
    (id != NONE).then_some(id)
}
