//! The words of the house: ids, amounts, securities, orders, positions, and the four nouns
//! `Command`, `Report`, `Event` and `Instruction`. No behaviour that needs a clock, a file or a socket.

/// Exact decimals with a meaning: price, quantity, money.
pub mod amount;
/// Sums, products and comparisons of decimals.
mod digits;
/// When an exchange trades: sessions, auctions, holidays.
pub mod calendar;
/// What somebody asks of the platform.
pub mod command;
/// What has happened.
pub mod event;
/// Numeric ids, the order's own id and short shared texts.
pub mod ids;
/// A map for look-ups whose order nobody can see.
pub mod index;
/// What goes to a venue.
pub mod instruction;
/// Ticks, trades, books, bars and marks.
pub mod market;
/// Orders, their status, fills.
pub mod order;
/// Requests that a venue has not answered.
mod pending;
/// How far a strategy's life is.
pub mod phase;
/// Transactions, positions, cash.
pub mod portfolio;
/// Questions about live state, and all answers.
pub mod query;
/// Exchanges, families, securities, accounts, strategies.
pub mod reference;
/// Why something was not done.
pub mod refusal;
/// What a venue says.
pub mod report;
/// Limits, scopes, trading states.
pub mod risk;
/// Instants and dates as data.
pub mod time;

pub use amount::{Amount, Currency, Money, Overflow, Price, Quantity};
pub use calendar::{Calendar, MarketPhase, Session};
pub use command::{Caller, Command, Envelope, Input, Origin, Stamped};
pub use event::{Event, EventClass, Published};
pub use ids::{
    AccountId, AdapterName, BalanceId, ExchangeId, FamilyId, IntId, OrderId, PositionId, SecurityId, StrategyId, Text,
    TransactionId, Uuid,
};
pub use index::{BySecurity, Index};
pub use instruction::Instruction;
pub use market::{Bar, BarSize, Level, Mark, OrderBook, Tick, Trade};
pub use order::{Fill, Order, OrderKind, OrderStatus, Side, Source, Status, TimeInForce};
pub use portfolio::{CashBalance, Charge, ChargeKind, PortfolioValue, Position, Transaction, TransactionKind};
pub use query::{Answer, Query};
pub use reference::{Account, Exchange, Family, ReferenceData, Security, SecurityKind, Settlement, Strategy};
pub use refusal::Refusal;
pub use report::Report;
pub use risk::{Limits, Scope, TradingState};
pub use rust_decimal::Decimal;
pub use time::{Date, Timestamp};
