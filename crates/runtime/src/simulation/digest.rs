//! Run digest: a chained hash over order changes and fills, and over final positions and cash. Equal runs have equal
//! digests, and so have a live session and its replay.
//!
//! The hash is a chain, so that a snapshot can hold it and a later session continues it.

use domain::query::{Answer, Filter};
use domain::{Amount, CashBalance, Decimal, Event, Fill, OrderStatus, Position, Price, Quantity, Query, Timestamp};
use engine::Engine;

/// Entries are hashed in portions: a hash of many bytes at once costs less than of each alone.
const PORTION_BYTES: usize = 8 * 1024;
const CHAIN_BYTES: usize = blake3::OUT_LEN;

/// The hash over everything before the current portion, followed by the current portion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDigest(Vec<u8>);

impl Default for RunDigest {
    fn default() -> Self {
        Self(vec![0; CHAIN_BYTES])
    }
}

impl RunDigest {
    #[inline]
    pub fn update(&mut self, event: &Event) {
        match event {
            Event::OrderStatus(status) => self.status(status),
            Event::Fill(fill) => self.fill(fill),
            _ => return,
        }
        if self.0.len() >= CHAIN_BYTES + PORTION_BYTES {
            self.flush();
        }
    }

    /// With positions and cash as they are after the input of that sequence.
    pub fn finish(mut self, engine: &Engine, at: Timestamp, sequence: u64) -> String {
        let ask = |query| engine.answer(at, sequence, &query);
        let Ok(Answer::Positions(positions)) = ask(Query::Positions(Filter::default())) else {
            unreachable!("a question for positions is answered by positions")
        };
        let Ok(Answer::Balances(balances)) = ask(Query::Balances(Filter::default())) else {
            unreachable!("a question for balances is answered by balances")
        };
        positions.iter().for_each(|position| self.position(position));
        balances.iter().for_each(|balance| self.balance(balance));
        self.flush().to_hex().to_string()
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        self.0.clone()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        (bytes.len() >= CHAIN_BYTES).then(|| Self(bytes.to_vec()))
    }

    fn status(&mut self, status: &OrderStatus) {
        self.0.push(1);
        self.number(status.order.0);
        self.number(status.at.0.cast_unsigned());
        self.text(status.int_id.as_str());
        self.0.extend([status.status as u8, status.exec_type as u8]);
        self.decimal(status.filled.0);
        self.decimal(status.remaining.0);
    }

    fn fill(&mut self, fill: &Fill) {
        let Quantity(quantity) = fill.quantity;
        let Price(price) = fill.price;
        self.0.push(2);
        self.number(fill.order.0);
        self.number(fill.at.0.cast_unsigned());
        self.text(&fill.ext_id);
        self.0.push(fill.side as u8);
        self.decimal(quantity);
        self.decimal(price);
    }

    fn position(&mut self, position: &Position) {
        let Amount(cost) = position.cost;
        self.0.push(3);
        [position.strategy.0, position.account.0, position.security.0].into_iter().for_each(|id| self.number(id));
        self.decimal(position.quantity.0);
        self.decimal(cost);
        self.decimal(position.realized_pl.0);
    }

    fn balance(&mut self, balance: &CashBalance) {
        self.0.push(4);
        [balance.strategy.0, balance.account.0].into_iter().for_each(|id| self.number(id));
        self.text(balance.currency.as_str());
        self.decimal(balance.amount.0);
    }

    fn number(&mut self, number: u64) {
        self.0.extend(number.to_be_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend(text.as_bytes());
    }

    /// Equal amounts count the same, however many zeros they are written with: those on disk have none.
    fn decimal(&mut self, decimal: Decimal) {
        let plain = if decimal.scale() == 0 { decimal } else { decimal.normalize() };
        self.0.extend(plain.serialize());
    }

    fn flush(&mut self) -> blake3::Hash {
        let chain = blake3::hash(&self.0);
        self.0.clear();
        self.0.extend(chain.as_bytes());
        chain
    }
}
