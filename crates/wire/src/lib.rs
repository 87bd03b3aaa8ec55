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

/// What happened, for those who catch up.
pub mod past;

/// The families of topics, in one table.
pub mod families;
/// Names and bodies of what is published.
pub mod topics;
/// The description of the topics, for programs.
pub mod asyncapi;
/// What is published, read back.
pub mod heard;

/// Who may come in: identities, users, tokens, the audit.
pub mod access;
/// Whether the server is alive and ready.
pub mod health;
/// What an operator sees and asks.
pub mod operator;
/// The answer to a request that failed.
pub mod problem;

/// Lists as comma-separated values.
pub mod csv;

/// JSON schemas of all of these.
pub mod schema;

/// The fields of a request, with every fault found in them.
pub mod fields;
/// The right word for a misspelt one.
pub mod nearest;
/// A decimal from its digits, exactly or not at all.
pub mod number;
/// An order as a client sends it, new or changed.
pub mod order_body;
/// Limits, dry runs and trading states, both ways.
pub mod risk;
/// Securities by words, fields and comparisons.
pub mod search;
/// The strategy that a request is for.
mod strategy_name;
/// A strategy's wish for prices, both ways.
pub mod subscription;
/// A transaction as a client records it.
pub mod transaction_body;
/// A settlement price that is given.
pub mod settlement_body;

pub use access::{AuditVO, IdentityVO, LoginBody, NewTokenVO, RoleVO, TokenBody, TokenVO, UserBody, UserVO};
pub use fields::{BadBody, FieldError};
pub use health::{CheckVO, HealthVO};
pub use market::{BarVO, OrderBookVO, TickVO, TradeVO};
pub use notice::{LifeCycleVO, LogEventVO, SessionEventVO, TradingStateVO};
pub use operator::{FixNumbersBody, FixSessionVO, ImportedVO};
pub use order::{FillVO, OrderStatusVO, OrderVO};
pub use order_body::{OrderBody, OrderType};
pub use past::{GenericEventVO, PastEventVO};
pub use portfolio::{CashBalanceVO, PortfolioValueVO, PositionVO, TransactionVO};
pub use problem::ProblemVO;
pub use reference::{AccountVO, ExchangeVO, SecurityFamilyVO, StrategyVO};
pub use risk::{KillBody, KilledVO, LimitsVO, StateBody, VerdictVO};
pub use search::{BadSearch, Search};
pub use security::SecurityVO;
pub use settlement_body::SettlementBody;
pub use subscription::{SubscriptionBody, SubscriptionVO};
pub use transaction_body::TransactionBody;
