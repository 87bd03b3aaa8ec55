//! The commands, mixed as in the published benchmark of exchange-core: 9 % new orders, 3 % immediate
//! ones, 6 % cancels, 82 % moves, with about 1,000 resting orders on about 750 prices.
//!
//! A slow book of the standard library's maps plays along while they are drawn, so that cancels and
//! moves name resting orders and the result is known.

use std::collections::{BTreeMap, HashMap, VecDeque};

const MIDDLE: u64 = 100_000;
const RESTING_LEAST: usize = 1_000;
const RESTING_MOST: usize = 1_050;

#[derive(Clone, Copy)]
pub enum Op {
    Place { id: u64, buy: bool, price: u64, lots: u64 },
    Immediate { id: u64, buy: bool, price: u64, lots: u64 },
    Cancel { id: u64 },
    Move { id: u64, buy: bool, price: u64, lots: u64 },
}

/// What every engine must arrive at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub fills: u64,
    pub lots: u64,
    pub bid: u64,
    pub ask: u64,
}

pub struct Stream {
    pub ops: Vec<Op>,
    pub tally: Tally,
    resting: usize,
    prices: usize,
}

impl Stream {
    pub fn make(commands: usize) -> Self {
        let mut draw = Draw::new();
        while draw.ops.len() < commands {
            draw.next();
        }
        let book = draw.book;
        Stream {
            ops: draw.ops,
            tally: book.tally(),
            resting: book.ids.len(),
            prices: book.bids.len() + book.asks.len(),
        }
    }

    pub fn describe(&self) -> String {
        let moves = self.ops.iter().filter(|op| matches!(op, Op::Move { .. })).count();
        format!(
            "{} commands, {moves} of them moves; {} fills of {} lots; at the end {} orders on {} prices",
            self.ops.len(),
            self.tally.fills,
            self.tally.lots,
            self.resting,
            self.prices
        )
    }
}

struct Draw {
    chance: Chance,
    book: Slow,
    ops: Vec<Op>,
    last_id: u64,
}

impl Draw {
    fn new() -> Self {
        Draw { chance: Chance::new(), book: Slow::default(), ops: Vec::new(), last_id: 0 }
    }

    fn next(&mut self) {
        let filling = self.book.ids.len() < RESTING_LEAST;
        let kind = if filling { 0 } else { self.chance.below(100) };
        let op = match kind {
            0..9 => self.place(),
            9..12 => self.immediate(),
            12..18 => Op::Cancel { id: self.resting_id() },
            _ if self.book.ids.len() > RESTING_MOST => Op::Cancel { id: self.resting_id() },
            _ => self.shift(),
        };
        self.book.apply(&op);
        self.ops.push(op);
    }

    fn place(&mut self) -> Op {
        let buy = self.chance.below(2) == 0;
        let price = self.price(buy, 2);
        let lots = 1 + self.chance.below(100);
        Op::Place { id: self.new_id(), buy, price, lots: self.within_reach(buy, price, lots) }
    }

    fn immediate(&mut self) -> Op {
        let buy = self.chance.below(2) == 0;
        let price = if buy { MIDDLE + 20 } else { MIDDLE - 20 };
        let lots = 1 + self.chance.below(60);
        Op::Immediate { id: self.new_id(), buy, price, lots: self.within_reach(buy, price, lots) }
    }

    /// To another price: whether a move to the same one keeps its place, engines answer differently.
    fn shift(&mut self) -> Op {
        let id = self.resting_id();
        let (buy, old, lots) = self.book.resting[&id];
        loop {
            let price = self.price(buy, 1);
            if price != old && self.within_reach(buy, price, lots) == lots {
                return Op::Move { id, buy, price, lots };
            }
        }
    }

    /// An order that trades asks for no more than it finds at its limit. One peer, matchcore 0.4.0,
    /// would go on beyond the limit, and then the books could not be compared.
    fn within_reach(&self, buy: bool, limit: u64, lots: u64) -> u64 {
        match self.book.reachable(buy, limit) {
            0 => lots,
            reachable => lots.min(reachable),
        }
    }

    /// Up to 375 ticks on the own side of the middle; a few in a hundred reach across by up to three.
    fn price(&mut self, buy: bool, crossing_percent: u64) -> u64 {
        let crosses = self.chance.below(100) < crossing_percent;
        let away = if crosses { self.chance.below(4) } else { 1 + self.chance.below(375) };
        if buy == crosses { MIDDLE + away } else { MIDDLE - away }
    }

    fn resting_id(&mut self) -> u64 {
        let at = self.chance.below(self.book.ids.len() as u64);
        self.book.ids[at as usize]
    }

    fn new_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }
}

/// Xorshift: the same numbers on every machine.
pub struct Chance(u64);

impl Chance {
    pub fn new() -> Self {
        Chance(0x9E37_79B9_7F4A_7C15)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

#[derive(Default)]
struct Slow {
    bids: BTreeMap<u64, VecDeque<u64>>,
    asks: BTreeMap<u64, VecDeque<u64>>,
    resting: HashMap<u64, (bool, u64, u64)>,
    ids: Vec<u64>,
    place_in_ids: HashMap<u64, usize>,
    fills: u64,
    lots: u64,
}

impl Slow {
    fn apply(&mut self, op: &Op) {
        match *op {
            Op::Place { id, buy, price, lots } => self.place(id, buy, price, lots, true),
            Op::Immediate { id, buy, price, lots } => self.place(id, buy, price, lots, false),
            Op::Cancel { id } => self.cancel(id),
            Op::Move { id, buy, price, lots } => {
                self.cancel(id);
                self.place(id, buy, price, lots, true);
            }
        }
    }

    fn place(&mut self, id: u64, buy: bool, price: u64, mut lots: u64, rests: bool) {
        while lots > 0 {
            let Some(best) = self.met_by(buy, price) else { break };
            lots -= self.fill(!buy, best, lots);
        }
        if lots > 0 && rests {
            self.side(buy).entry(price).or_default().push_back(id);
            self.resting.insert(id, (buy, price, lots));
            self.place_in_ids.insert(id, self.ids.len());
            self.ids.push(id);
        }
    }

    /// Lots of the other side at this limit or better.
    fn reachable(&self, buy: bool, limit: u64) -> u64 {
        let levels = if buy { self.asks.range(..=limit) } else { self.bids.range(limit..) };
        levels.flat_map(|(_, queue)| queue).map(|id| self.resting[id].2).sum()
    }

    /// The best price of the other side, if an order with this limit reaches it.
    fn met_by(&self, buy: bool, limit: u64) -> Option<u64> {
        self.best(!buy).filter(|best| if buy { *best <= limit } else { *best >= limit })
    }

    fn fill(&mut self, maker_buys: bool, price: u64, wanted: u64) -> u64 {
        let maker = self.side(maker_buys)[&price][0];
        let open = &mut self.resting.get_mut(&maker).expect("a queued order rests").2;
        let lots = wanted.min(*open);
        *open -= lots;
        let done = *open == 0;
        self.fills += 1;
        self.lots += lots;
        if done {
            self.cancel(maker);
        }
        lots
    }

    fn cancel(&mut self, id: u64) {
        let (buy, price, _) = self.resting.remove(&id).expect("only resting orders are drawn");
        let queue = self.side(buy).get_mut(&price).expect("a resting order is queued");
        queue.retain(|queued| *queued != id);
        if queue.is_empty() {
            self.side(buy).remove(&price);
        }
        let at = self.place_in_ids.remove(&id).expect("a resting order is listed");
        self.ids.swap_remove(at);
        if let Some(moved) = self.ids.get(at) {
            self.place_in_ids.insert(*moved, at);
        }
    }

    fn best(&self, buy: bool) -> Option<u64> {
        if buy { self.bids.keys().next_back().copied() } else { self.asks.keys().next().copied() }
    }

    fn side(&mut self, buy: bool) -> &mut BTreeMap<u64, VecDeque<u64>> {
        if buy { &mut self.bids } else { &mut self.asks }
    }

    fn tally(&self) -> Tally {
        Tally {
            fills: self.fills,
            lots: self.lots,
            bid: self.best(true).unwrap_or(0),
            ask: self.best(false).unwrap_or(0),
        }
    }
}
