//! Queries about live state, and all answers. A query goes through the same inbox as a command and is not journalled.

use std::sync::Arc;

use crate::amount::Amount;
use crate::command::{Caller, MarketDataSubscription, ModifyOrder, PlaceOrder, StrategyFailure, StrategyPhase};
use crate::ids::{AccountId, AdapterName, ExchangeId, IntId, SecurityId, StrategyId, Text, TransactionId};
use crate::market::{Bar, BarSize, Mark, OrderBook, Tick};
use crate::order::{Order, Source};
use crate::order_properties::OrderProperty;
use crate::portfolio::{CashBalance, PortfolioValue, Position, Transaction};
use crate::refusal::Refusal;
use crate::report::{LineState, OpenFor, SessionState};
use crate::risk::{DeadManTimer, RiskLimits, RiskScope, TradingStateChange};
use crate::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query {
    OpenOrders(Filter),
    /// Open, of today or of yesterday, by intId, else by any ClOrdID that was used for it.
    Order(Text),
    /// Of one client, by any id that it used: of several the open one, else the newest.
    ClientOrder(Source, Text),
    /// Open ones and those closed today.
    Positions(Filter),
    Balances(Filter),
    PortfolioValue(Option<StrategyId>),
    DailyTransactions(Filter),
    /// Of today; older ones are in the history.
    Transaction(TransactionId),
    TradingStates,
    DeadManTimers,
    Limits,
    /// Dry run of a new order.
    CheckOrder(PlaceOrder, Caller),
    /// Dry run of new terms for an open order.
    CheckModify(ModifyOrder, Caller),
    Subscriptions,
    Ticks(Filter),
    /// The prices by which trading values: the last journalled ones, also from before a restart.
    Marks,
    Book(SecurityId),
    Bars(SecurityId, BarSize),
    Adapters,
    Phases,
    /// The whole trading state, encoded: equal states have equal bytes.
    State,
}

/// Narrows a list; absent fields do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Filter {
    pub strategy: Option<StrategyId>,
    pub account: Option<AccountId>,
    pub security: Option<SecurityId>,
}

impl Filter {
    pub fn matches(&self, strategy: StrategyId, account: AccountId, security: Option<SecurityId>) -> bool {
        self.strategy.is_none_or(|wanted| wanted == strategy)
            && self.account.is_none_or(|wanted| wanted == account)
            && self.security.is_none_or(|wanted| Some(wanted) == security)
    }
}

/// The content of a reply.
pub type EngineResult = Result<Answer, Refusal>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Done,
    /// The order that was placed, changed or is to be cancelled.
    Order(Arc<Order>),
    OrderId(IntId),
    Transaction(Arc<Transaction>),
    Killed {
        cancels: usize,
    },
    Orders(Vec<Arc<Order>>),
    Positions(Vec<Position>),
    Balances(Vec<CashBalance>),
    PortfolioValues(Vec<PortfolioValue>),
    Transactions(Vec<Arc<Transaction>>),
    TradingStates(Vec<TradingStateChange>),
    DeadManTimers(Vec<DeadManTimer>),
    Limits(Vec<(RiskScope, RiskLimits)>),
    PreTradeCheck(PreTradeCheck),
    Subscriptions(Vec<MarketDataSubscription>),
    Ticks(Vec<Arc<Tick>>),
    Marks(Vec<Mark>),
    Book(Option<Arc<OrderBook>>),
    Bars(Vec<Arc<Bar>>),
    Adapters(Vec<AdapterStatus>),
    Phases(Vec<(StrategyId, StrategyPhase, Option<StrategyFailure>)>),
    State(Vec<u8>),
}

/// An adapter: its session and what its venue offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdapterStatus {
    pub adapter: AdapterName,
    pub session: SessionState,
    /// Not a live venue.
    pub simulated: bool,
    pub exchanges: Vec<ExchangeId>,
    pub order_properties: Vec<OrderProperty>,
    pub open_for: OpenFor,
    pub lines: Vec<LineStatus>,
}

/// A line of an adapter, with what the server has seen of it since it started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineStatus {
    pub state: LineState,
    pub since: Option<Timestamp>,
    pub last_heard: Option<Timestamp>,
}

/// The result of a dry run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreTradeCheck {
    pub refusal: Option<Refusal>,
    /// In base currency; absent where no price or rate is known.
    pub notional: Option<Amount>,
    /// Commissions and fee, in the security's currency.
    pub fee: Option<Amount>,
}
