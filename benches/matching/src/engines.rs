//! One face for all books: a command in, and at the end a tally to compare.

use lobster::{OrderEvent, OrderType};
use matchcore::{
    AmendCmd, AmendPatch, CancelCmd, Command, CommandKind, CommandMeta, CommandOutcome, CommandReport, Level1,
    LimitOrder, LimitOrderPatch, NewOrder, OrderFlags, OrderId, OrderKind, Price, Quantity, QuantityPolicy,
    SequenceNumber, SubmitCmd, TimeInForce, Timestamp,
};
use venue_sim::book::{ANONYMOUS, Book, Event, How, Order, Rules, Side};

use crate::stream::{Op, Tally};

pub trait Engine {
    fn apply(&mut self, op: &Op);
    fn tally(&self) -> Tally;
}

pub struct Ours {
    book: Book,
    tally: Tally,
}

impl Ours {
    pub fn new() -> Self {
        Ours { book: Book::new(Rules::default()), tally: Tally::default() }
    }

    fn place(&mut self, key: u64, buy: bool, price: u64, lots: u64, how: How) {
        let order = Order { key, side: side(buy), limit: Some(price.cast_signed()), lots, owner: ANONYMOUS };
        let tally = &mut self.tally;
        self.book.place(&order, how, &mut |event| count(tally, event)).expect("a good order");
    }
}

impl Engine for Ours {
    fn apply(&mut self, op: &Op) {
        match *op {
            Op::Place { id, buy, price, lots } => self.place(id, buy, price, lots, How::Rest),
            Op::Immediate { id, buy, price, lots } => self.place(id, buy, price, lots, How::Immediate),
            Op::Cancel { id } => {
                self.book.cancel(id).expect("a resting order");
            }
            Op::Move { id, price, lots, .. } => {
                let tally = &mut self.tally;
                let moved = self.book.replace(id, price.cast_signed(), lots, &mut |event| count(tally, event));
                moved.expect("a resting order");
            }
        }
    }

    fn tally(&self) -> Tally {
        let tick = |price: Option<i64>| price.unwrap_or(0).cast_unsigned();
        Tally { bid: tick(self.book.best_bid()), ask: tick(self.book.best_ask()), ..self.tally }
    }
}

fn side(buy: bool) -> Side {
    if buy { Side::Buy } else { Side::Sell }
}

fn count(tally: &mut Tally, event: Event) {
    if let Event::Traded(trade) = event {
        tally.fills += 1;
        tally.lots += trade.lots;
    }
}

/// It names orders by the sequence number of the command that brought them.
pub struct Matchcore {
    book: matchcore::OrderBook,
    sequence: u64,
    brought_by: Vec<u64>,
    tally: Tally,
}

impl Matchcore {
    pub fn new() -> Self {
        let book = matchcore::OrderBook::new("X");
        Matchcore { book, sequence: 0, brought_by: Vec::new(), tally: Tally::default() }
    }

    fn execute(&mut self, kind: CommandKind) {
        let (sequence_number, timestamp) = (SequenceNumber(self.sequence), Timestamp(self.sequence));
        self.sequence += 1;
        let outcome = self.book.execute(&Command { meta: CommandMeta { sequence_number, timestamp }, kind });
        match outcome {
            CommandOutcome::Applied(CommandReport::Submit(effects) | CommandReport::Amend(effects)) => {
                if let Some(result) = effects.target_order().match_result() {
                    self.tally.fills += result.trades().len() as u64;
                    self.tally.lots += result.executed_quantity().0;
                }
            }
            CommandOutcome::Applied(CommandReport::Cancel) => {}
            CommandOutcome::Rejected(failure) => panic!("matchcore refused: {failure}"),
        }
    }

    fn submit(&mut self, buy: bool, price: u64, lots: u64, force: TimeInForce) {
        let side = if buy { matchcore::Side::Buy } else { matchcore::Side::Sell };
        let order = NewOrder::Limit(LimitOrder::new(
            Price(price),
            QuantityPolicy::Standard { quantity: Quantity(lots) },
            OrderFlags::new(side, false, force),
        ));
        self.execute(CommandKind::Submit(SubmitCmd { order }));
    }

    fn cancel(&mut self, id: u64) {
        let order_id = self.order_id(id);
        self.execute(CommandKind::Cancel(CancelCmd { order_id, order_kind: OrderKind::Limit }));
    }

    fn remember(&mut self, id: u64) {
        let at = id as usize;
        if self.brought_by.len() <= at {
            self.brought_by.resize((at + 1) * 2, 0);
        }
        self.brought_by[at] = self.sequence;
    }

    fn order_id(&self, id: u64) -> OrderId {
        OrderId(self.brought_by[id as usize])
    }
}

impl Engine for Matchcore {
    fn apply(&mut self, op: &Op) {
        match *op {
            Op::Place { id, buy, price, lots } => {
                self.remember(id);
                self.submit(buy, price, lots, TimeInForce::Gtc);
            }
            Op::Immediate { buy, price, lots, .. } => self.submit(buy, price, lots, TimeInForce::Ioc),
            Op::Cancel { id } => self.cancel(id),
            Op::Move { id, price, .. } => {
                let patch = AmendPatch::Limit(LimitOrderPatch::new().with_price(Price(price)));
                self.execute(CommandKind::Amend(AmendCmd { order_id: self.order_id(id), patch }));
            }
        }
    }

    fn tally(&self) -> Tally {
        let top = Level1::from(&self.book);
        let tick = |price: Option<Price>| price.map_or(0, |price| price.0);
        Tally { bid: tick(top.best_bid_price()), ask: tick(top.best_ask_price()), ..self.tally }
    }
}

/// It knows neither immediate orders nor moves: both are a limit order and a cancel.
pub struct Lobster {
    book: lobster::OrderBook,
    tally: Tally,
}

impl Lobster {
    pub fn new() -> Self {
        Lobster { book: lobster::OrderBook::default(), tally: Tally::default() }
    }

    fn place(&mut self, id: u64, buy: bool, price: u64, qty: u64) {
        let side = if buy { lobster::Side::Bid } else { lobster::Side::Ask };
        self.execute(OrderType::Limit { id: id.into(), side, qty, price });
    }

    fn cancel(&mut self, id: u64) {
        self.execute(OrderType::Cancel { id: id.into() });
    }

    fn execute(&mut self, order: OrderType) {
        match self.book.execute(order) {
            OrderEvent::Filled { filled_qty, fills, .. } | OrderEvent::PartiallyFilled { filled_qty, fills, .. } => {
                self.tally.fills += fills.len() as u64;
                self.tally.lots += filled_qty;
            }
            OrderEvent::Unfilled { .. } | OrderEvent::Placed { .. } | OrderEvent::Canceled { .. } => {}
        }
    }
}

impl Engine for Lobster {
    fn apply(&mut self, op: &Op) {
        match *op {
            Op::Place { id, buy, price, lots } => self.place(id, buy, price, lots),
            Op::Immediate { id, buy, price, lots } => {
                self.place(id, buy, price, lots);
                self.cancel(id);
            }
            Op::Cancel { id } => self.cancel(id),
            Op::Move { id, buy, price, lots } => {
                self.cancel(id);
                self.place(id, buy, price, lots);
            }
        }
    }

    fn tally(&self) -> Tally {
        let (bid, ask) = (self.book.max_bid().unwrap_or(0), self.book.min_ask().unwrap_or(0));
        Tally { bid, ask, ..self.tally }
    }
}
