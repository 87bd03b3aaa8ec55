//! The shapes outsiders see. JSON lives only here: every key of a type is always present, decimals keep their exact
//! digits, instants are epoch milliseconds. What comes in is read field by field and turned into the house's words.

/// JSON text: exact numbers, whole values, long lists in pieces.
pub mod json;

/// Accounts, exchanges, families, strategies.
pub mod reference;
/// Securities of every kind.
pub mod security;

/// Orders, their status, fills.
pub mod order;
/// Positions, transactions, cash.
pub mod portfolio;

/// Ticks, trades, books, bars.
pub mod market;
/// What a person or a strategy is told: life-cycle, sessions, trading states, log lines.
pub mod notice;

/// Whether the server is alive and ready.
pub mod health;
/// The answer to a request that failed.
pub mod problem;

/// The fields of a request, with every fault found in them.
pub mod fields;
/// A decimal from its digits, exactly or not at all.
pub mod number;
/// An order as a client sends it, new or changed.
pub mod order_body;
/// Limits, dry runs and trading states, both ways.
pub mod risk;

pub use fields::{BadBody, FieldError};
pub use health::{CheckVO, HealthVO};
pub use market::{BarVO, OrderBookVO, TickVO, TradeVO};
pub use notice::{LifeCycleVO, LogEventVO, SessionEventVO, TradingStateVO};
pub use order::{FillVO, OrderStatusVO, OrderVO};
pub use order_body::{OrderBody, OrderType};
pub use portfolio::{CashBalanceVO, PortfolioValueVO, PositionVO, TransactionVO};
pub use problem::ProblemVO;
pub use reference::{AccountVO, ExchangeVO, SecurityFamilyVO, StrategyVO};
pub use risk::{KillBody, KilledVO, LimitsVO, StateBody, VerdictVO};
pub use security::SecurityVO;
