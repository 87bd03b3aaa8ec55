//! Queries about live state, and all answers. A query goes through the same inbox as a command and is not journalled.

use std::sync::Arc;

use minicbor::{Decode, Encode};

use crate::amount::Amount;
use crate::breaks::{Break, BreakId};
use crate::command::{Caller, MarketDataSubscription, ModifyOrder, PlaceOrder, StrategyFailure, StrategyPhase};
use crate::ids::{AccountId, AdapterName, ExchangeId, IntId, SecurityId, StrategyId, Text, TransactionId};
use crate::market::{Bar, BarSize, Mark, OrderBook, Tick};
use crate::order::order_properties::OrderProperty;
use crate::order::{Order, Source};
use crate::portfolio::{CashBalance, PortfolioValue, Position, Transaction};
use crate::refusal::Refusal;
use crate::report::{CancelKind, LineState, OpenFor, ReplaceKind, SessionState};
use crate::risk::{DeadManTimer, RiskLimits, RiskScope, TradingStateChange};
use crate::time::Timestamp;

/// A question about live state; answering it changes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query {
    /// Orders that are not finished.
    OpenOrders(Filter),
    /// Open, of today or of yesterday, by intId, else by any ClOrdID that was used for it.
    Order(Text),
    /// Of one client, by any id that it used: of several the open one, else the newest.
    ClientOrder(Source, Text),
    /// Open ones and those closed today.
    Positions(Filter),
    /// Cash by strategy, account and currency.
    Balances(Filter),
    /// Of one strategy, or of each where none is named.
    PortfolioValue(Option<StrategyId>),
    /// Bookings that are dated on the current platform day.
    DailyTransactions(Filter),
    /// Of today; older ones are in the history.
    Transaction(TransactionId),
    /// The trading state of each scope in which it was ever set.
    TradingStates,
    /// The timers that run.
    DeadManTimers,
    /// The limits of every scope that has some.
    Limits,
    /// Dry run of a new order.
    CheckOrder(PlaceOrder, Caller),
    /// Dry run of new terms for an open order.
    CheckModify(ModifyOrder, Caller),
    /// Which strategy is subscribed to which security.
    Subscriptions,
    /// The newest prices of the securities that have some.
    Ticks(Filter),
    /// The prices by which trading values: the last journalled ones, also from before a restart.
    Marks,
    /// The newest order book of a security.
    Book(SecurityId),
    /// The closed bars of a security and a size that are kept.
    Bars(SecurityId, BarSize),
    /// The state of each adapter and its lines.
    Adapters,
    /// All that are kept, oldest first.
    Breaks,
    /// One break.
    Break(BreakId),
    /// How far the comparison with each venue lags behind.
    ReconciliationLags,
    /// The phase of each strategy that has run.
    Phases,
    /// The run that a process of the strategy began, and what became of its requests.
    ProcessRun(StrategyId),
    /// The whole trading state, encoded: equal states have equal bytes.
    State,
}

/// Narrows a list; absent fields do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Filter {
    /// Only what belongs to this strategy.
    pub strategy: Option<StrategyId>,
    /// Only what belongs to this account.
    pub account: Option<AccountId>,
    /// Only what is about this security.
    pub security: Option<SecurityId>,
}

impl Filter {
    /// Whether an entry of these belongs to the list.
    pub fn matches(&self, strategy: StrategyId, account: AccountId, security: Option<SecurityId>) -> bool {
        self.strategy.is_none_or(|wanted| wanted == strategy)
            && self.account.is_none_or(|wanted| wanted == account)
            && self.security.is_none_or(|wanted| Some(wanted) == security)
    }
}

/// The content of a reply.
pub type EngineResult = Result<Answer, Refusal>;

/// The answer to a command or a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The command was carried out and has nothing to show.
    Done,
    /// The order that was placed, changed or is to be cancelled.
    Order(Arc<Order>),
    /// The id that was reserved.
    OrderId(IntId),
    /// The booking, as recorded or as asked for.
    Transaction(Arc<Transaction>),
    /// The scope is halted.
    Killed {
        /// How many orders are being cancelled.
        cancels: usize,
    },
    /// The orders that were asked for.
    Orders(Vec<Arc<Order>>),
    /// The positions that were asked for.
    Positions(Vec<Position>),
    /// The balances that were asked for.
    Balances(Vec<CashBalance>),
    /// One value for each strategy.
    PortfolioValues(Vec<PortfolioValue>),
    /// The bookings that were asked for, newest first.
    Transactions(Vec<Arc<Transaction>>),
    /// One entry for each scope whose state was ever set.
    TradingStates(Vec<TradingStateChange>),
    /// The timers that run.
    DeadManTimers(Vec<DeadManTimer>),
    /// The limits of each scope that has some.
    Limits(Vec<(RiskScope, RiskLimits)>),
    /// The result of a dry run.
    PreTradeCheck(PreTradeCheck),
    /// Pairs of strategy and security.
    Subscriptions(Vec<MarketDataSubscription>),
    /// The newest prices, one entry for each security.
    Ticks(Vec<Arc<Tick>>),
    /// The prices by which trading values, one entry for each security.
    Marks(Vec<Mark>),
    /// The newest order book; absent before the first.
    Book(Option<Arc<OrderBook>>),
    /// Closed bars, oldest first.
    Bars(Vec<Arc<Bar>>),
    /// One entry for each adapter.
    Adapters(Vec<AdapterStatus>),
    /// Breaks, oldest first.
    Breaks(Vec<Arc<Break>>),
    /// One break.
    Break(Arc<Break>),
    /// One entry for each adapter and scope.
    ReconciliationLags(Vec<ReconciliationLag>),
    /// Strategy, its newest phase, and the failure that ended it.
    Phases(Vec<(StrategyId, StrategyPhase, Option<StrategyFailure>)>),
    /// Absent where no process runs the strategy.
    ProcessRun(Option<ProcessRun>),
    /// The encoded trading state.
    State(Vec<u8>),
}

/// A run in a strategy process, as the journal has it: another server can go on with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessRun {
    /// Its number.
    pub run: u64,
    /// The newest phase that it was told to enter.
    pub phase: StrategyPhase,
    /// Its newest requests by key, each with its refusal where it was refused.
    pub requests: Vec<(u64, Option<SettledRefusal>)>,
    /// What became of requests up to this key is not known any more.
    pub forgotten: u64,
}

/// Why a request of a strategy process was refused.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct SettledRefusal {
    /// Stable, kebab-case.
    #[n(0)]
    pub code: Text,
    /// For people.
    #[n(1)]
    pub text: Text,
}

/// An adapter: its session and what its venue offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdapterStatus {
    /// The name of the adapter.
    pub adapter: AdapterName,
    /// The state of its connection to the venue.
    pub session: SessionState,
    /// Not a live venue.
    pub simulated: bool,
    /// The exchanges that it serves.
    pub exchanges: Vec<ExchangeId>,
    /// The order properties that its venue offers.
    pub order_properties: Vec<OrderProperty>,
    /// How its venue gives an open order other terms.
    pub replace: ReplaceKind,
    /// Whether its venue takes cancels.
    pub cancel: CancelKind,
    /// What can be sent to the venue now.
    pub open_for: OpenFor,
    /// The lines of the session, which fail apart.
    pub lines: Vec<LineStatus>,
}

/// A line of an adapter, with what the server has seen of it since it started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineStatus {
    /// Which line, and whether it is up.
    pub state: LineState,
    /// Since when it is up or down; absent before the server has seen it.
    pub since: Option<Timestamp>,
    /// When the last message came on it; absent before the first.
    pub last_heard: Option<Timestamp>,
}

/// How long ago the state was that a venue was last compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReconciliationLag {
    /// The adapter of the venue.
    pub adapter: AdapterName,
    /// Kebab-case.
    pub scope: &'static str,
    /// The age.
    pub seconds: i64,
}

/// The result of a dry run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreTradeCheck {
    /// The first refusal that the order would get; absent: it would be accepted.
    pub refusal: Option<Refusal>,
    /// In base currency; absent where no price or rate is known.
    pub notional: Option<Amount>,
    /// Commissions and fee, in the security's currency.
    pub fee: Option<Amount>,
}
