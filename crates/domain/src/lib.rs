//! Domain types: ids, amounts, securities, orders, positions, and the four messages `Command`, `Report`, `Event` and
//! `Instruction`. Pure data: no clock, no file, no socket.

#![warn(missing_docs)]

pub mod admin;
pub mod amount;
pub mod breaks;
pub mod characters;
pub mod command;
pub mod encoding;
pub mod event;
pub mod ids;
pub mod lookup_map;
pub mod instruction;
pub mod market;
pub mod order;
pub mod phase;
pub mod planted_bugs;
pub mod portfolio;
pub mod query;
pub mod reference;
pub mod refusal;
pub mod report;
pub mod rights;
pub mod risk;
mod seeded_rng;
pub mod time;

pub use reference::calendar;

pub use amount::currency::{Currency, InvalidCurrency};
pub use amount::{Amount, Money, Overflow, Price, Quantity};
pub use command::runtime_inputs::{KeyList, RecalledKeys, RetiredOrdersInput};
pub use command::{Caller, Command, CommandEnvelope, Input, MessageOrigin, Sequenced};
pub use event::{Event, EventClass, PublishedEvent, ReferenceUpdate, SecurityChange};
pub use ids::wire_id::{NoWireId, WireId};
pub use ids::{
    AccountId, AdapterName, BalanceId, ExchangeId, FamilyId, IntId, OrderId, PositionId, SecurityId, StrategyId, Text,
    TransactionId, Uuid,
};
pub use instruction::Instruction;
pub use lookup_map::{LookupMap, SecurityMap};
pub use market::open_bar::OpenBar;
pub use market::price_gap::{PriceGap, StaleCause};
pub use market::{Bar, BarSize, BookLevel, Mark, OrderBook, Tick, Trade};
pub use order::liquidity::Liquidity;
pub use order::order_properties::{OrderProperties, OrderProperty};
pub use order::order_type::{Activation, OrderType, PriceField, WorkingPrice};
pub use order::pass_through::{PassThrough, PassedField};
pub use order::{Fill, OrdStatus, Order, OrderKind, OrderStatus, Side, Source, TimeInForce};
pub use planted_bugs::PlantedBug;
pub use portfolio::value_history::{ValueHistory, ValueHistoryRow, ValuePeriod};
pub use portfolio::value_sample::ValueSample;
pub use portfolio::{
    CashBalance, Charge, ChargeKind, EntryKind, PortfolioValue, Position, Transaction, TransactionKind,
};
pub use query::{Answer, Query};
pub use reference::calendar::{Calendar, MarketPhase, TradingSession};
pub use reference::security_changes::{SECURITY_REMOVALS_MAX, SecurityChanges};
pub use reference::venue_facts::{OrderMode, VenueFacts, VenueProof};
pub use reference::venue_symbols::VenueSymbols;
pub use reference::{
    Account, Exchange, ReferenceData, Security, SecurityFamily, SecurityKind, Settlement, StrategyRecord,
};
pub use refusal::Refusal;
pub use report::Report;
pub use risk::{BurstLimit, RiskLimits, RiskScope, SelfTradePrevention, TradingState};
pub use rust_decimal::Decimal;
pub use seeded_rng::SeededRng;
pub use time::{Date, Timestamp};
