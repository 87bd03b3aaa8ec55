//! Events of the exchange, for streams: executions and balances of accounts, trades and changed levels of markets.

use venue_sim::book::BookSide;

use super::order::{AccountIndex, AccountTrade, PublicTrade, SpotOrder, SpotStatus};
use super::units::Units;
use super::{SpotExchange, SpotMarket};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExecutionType {
    New,
    Trade,
    Canceled,
    Expired,
    TradePrevention,
    Replaced,
}

impl ExecutionType {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::New => "NEW",
            Self::Trade => "TRADE",
            Self::Canceled => "CANCELED",
            Self::Expired => "EXPIRED",
            Self::TradePrevention => "TRADE_PREVENTION",
            Self::Replaced => "REPLACED",
        }
    }
}

/// A step in the life of an order, with the order as it is after the step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SpotExecution {
    pub(crate) kind: ExecutionType,
    pub(crate) order: SpotOrder,
    pub(crate) trade: Option<AccountTrade>,
    /// The id of the cancel, or the id before an amendment.
    pub(crate) cancel_id: Option<String>,
    pub(crate) execution_id: u64,
    pub(crate) time_micros: i64,
}

impl SpotExecution {
    /// The report of a cancel as some venues give it: under the order's own id, and of an order that is still new.
    pub(crate) fn contradictory(&self) -> Self {
        let mut report = self.clone();
        report.cancel_id = None;
        report.order.status = SpotStatus::New;
        report
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum VenueEvent {
    Execution(Box<SpotExecution>),
    Balances {
        account: AccountIndex,
        balances: Vec<(String, Units, Units)>,
        time_micros: i64,
    },
    /// An amount came from outside, or left.
    Transfer {
        account: AccountIndex,
        asset: String,
        amount: Units,
        time_micros: i64,
    },
    Trade {
        market: usize,
        trade: PublicTrade,
    },
    Depth {
        market: usize,
        first_update: u64,
        last_update: u64,
        /// Side, price and what is left there.
        changes: Vec<(BookSide, Units, Units)>,
        /// Best price and quantity of both sides afterwards.
        best: [(Units, Units); 2],
    },
}

impl SpotExchange {
    pub(super) fn report(
        &mut self,
        market: usize,
        order_id: u64,
        kind: ExecutionType,
        trade: Option<AccountTrade>,
        cancel_id: Option<String>,
        at: i64,
    ) {
        let market = &mut self.markets[market];
        let execution_id = market.next_execution;
        market.next_execution += 1;
        let Some(order) = market.orders.get(&order_id).cloned() else { return };
        let report = SpotExecution { kind, order, trade, cancel_id, execution_id, time_micros: at };
        self.events.push(VenueEvent::Execution(Box::new(report)));
    }

    /// Ends a command: changed levels get their numbers, changed balances are published.
    pub(super) fn publish_changes(&mut self, at: i64) {
        for index in 0..self.markets.len() {
            if let Some(event) = self.markets[index].depth_event(index) {
                self.events.push(event);
            }
        }
        let changed = std::mem::take(&mut self.changed);
        for account in 0..u32::try_from(self.accounts.len()).unwrap_or(0) {
            let assets = changed.iter().filter(|(changed, _)| *changed == account).map(|(_, asset)| asset);
            let balance = |asset: &String| {
                let balance = self.accounts[account as usize].balances.get(asset).copied().unwrap_or_default();
                (asset.clone(), balance.free, balance.locked)
            };
            let balances: Vec<_> = assets.map(balance).collect();
            if !balances.is_empty() {
                self.accounts[account as usize].update_micros = at;
                self.events.push(VenueEvent::Balances { account, balances, time_micros: at });
            }
        }
    }
}

impl SpotMarket {
    fn depth_event(&mut self, market: usize) -> Option<VenueEvent> {
        let touched = std::mem::take(&mut self.touched);
        if touched.is_empty() {
            return None;
        }
        let change = |(side, price): (BookSide, i64)| {
            (side, self.rules.price(price), self.rules.quantity(self.lots_at(side, price)))
        };
        let changes: Vec<_> = touched.into_iter().map(change).collect();
        let first_update = self.update_id + 1;
        self.update_id += changes.len() as u64;
        let best = [BookSide::Buy, BookSide::Sell].map(|side| {
            let level = self.book.depth(side).next();
            level
                .map_or_else(Default::default, |level| (self.rules.price(level.price), self.rules.quantity(level.lots)))
        });
        Some(VenueEvent::Depth { market, first_update, last_update: self.update_id, changes, best })
    }
}
