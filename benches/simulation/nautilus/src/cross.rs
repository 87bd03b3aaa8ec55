//! The moving-average cross that every engine of the benchmark plays: averages start at the first price, and from the slower
//! one's length on, each cross reverses the position with one market order.

use std::fmt::{self, Debug, Formatter};

use nautilus_common::actor::DataActor;
use nautilus_model::data::{Bar, QuoteTick};
use nautilus_model::enums::OrderSide;
use nautilus_model::identifiers::{InstrumentId, StrategyId};
use nautilus_model::types::Quantity;
use nautilus_trading::nautilus_strategy;
use nautilus_trading::strategy::{Strategy, StrategyConfig, StrategyCore};

use crate::shared::{Kind, minute_bars};

const LOT: f64 = 100_000.0;

pub(crate) struct Cross {
    core: StrategyCore,
    pair: InstrumentId,
    kind: Kind,
    rule: Rule,
}

impl Cross {
    pub(crate) fn new(pair: InstrumentId, kind: Kind, rule: Rule) -> Self {
        let config = StrategyConfig { strategy_id: Some(StrategyId::from("CROSS-001")), ..Default::default() };
        Self { core: StrategyCore::new(config), pair, kind, rule }
    }

    fn hear(&mut self, price: f64) -> anyhow::Result<()> {
        let Some(lots) = self.rule.lots_at(price) else { return Ok(()) };
        let side = if lots > 0 { OrderSide::Buy } else { OrderSide::Sell };
        let quantity = Quantity::new(lots.unsigned_abs() as f64 * LOT, 0);
        let order =
            self.core.order_factory().market(self.pair, side, quantity, None, None, None, None, None, None, None);
        self.submit_order(order, None, None, None)
    }
}

nautilus_strategy!(Cross);

impl DataActor for Cross {
    fn on_start(&mut self) -> anyhow::Result<()> {
        match self.kind {
            Kind::Bars => self.subscribe_bars(minute_bars(self.pair), None, None),
            Kind::Quotes => self.subscribe_quotes(self.pair, None, None),
        }
        Ok(())
    }

    fn on_quote(&mut self, quote: &QuoteTick) -> anyhow::Result<()> {
        self.hear((quote.bid_price.as_f64() + quote.ask_price.as_f64()) * 0.5)
    }

    fn on_bar(&mut self, bar: &Bar) -> anyhow::Result<()> {
        self.hear(bar.close.as_f64())
    }
}

impl Debug for Cross {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        to.write_str("Cross")
    }
}

/// When to trade, apart from how the peer is told.
pub(crate) struct Rule {
    fast: Average,
    slow: Average,
    above: Option<bool>,
    position: i64,
}

impl Rule {
    /// With a length of 0 it never trades.
    pub(crate) fn new(fast: u32, slow: u32) -> Self {
        Self { fast: Average::over(fast), slow: Average::over(slow), above: None, position: 0 }
    }

    /// Lots to buy (or, below zero, to sell) at this price.
    fn lots_at(&mut self, price: f64) -> Option<i64> {
        if self.fast.length == 0 {
            return None;
        }
        let above = self.fast.push(price) > self.slow.push(price);
        if self.slow.seen < self.slow.length {
            return None;
        }
        if self.above.replace(above)? == above {
            return None;
        }
        let wanted = if above { 1 } else { -1 };
        Some(wanted - std::mem::replace(&mut self.position, wanted))
    }
}

struct Average {
    length: u32,
    seen: u32,
    value: f64,
}

impl Average {
    fn over(length: u32) -> Self {
        Self { length, seen: 0, value: 0.0 }
    }

    fn push(&mut self, price: f64) -> f64 {
        let weight = 2.0 / (f64::from(self.length) + 1.0);
        self.value = if self.seen == 0 { price } else { self.value + weight * (price - self.value) };
        self.seen = self.seen.saturating_add(1);
        self.value
    }
}
