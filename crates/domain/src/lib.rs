//! Domain types: ids, amounts, securities, orders, positions, and the four messages `Command`, `Report`, `Event` and
//! `Instruction`. Pure data: no clock, no file, no socket.

pub mod amount;
mod digits;
pub mod calendar;
pub mod command;
pub mod event;
pub mod ids;
pub mod index;
pub mod instruction;
pub mod market;
pub mod order;
mod pending;
pub mod phase;
pub mod portfolio;
pub mod query;
pub mod reference;
pub mod refusal;
pub mod report;
pub mod risk;
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
