//! Domain types: ids, amounts, securities, orders, positions, and the four messages `Command`, `Report`, `Event` and
//! `Instruction`. Pure data: no clock, no file, no socket.

#![warn(missing_docs)]

mod accepted_loss;
pub mod amount;
mod decimal_math;
pub mod breaks;
pub mod calendar;
mod caller;
pub mod characters;
pub mod command;
mod currency;
pub mod event;
pub mod ids;
pub mod lookup_map;
pub mod instruction;
mod manual_booking;
pub mod market;
mod open_bar;
pub mod order;
mod order_properties;
mod order_terms;
mod order_type;
mod pending;
pub mod phase;
pub mod planted_bugs;
pub mod portfolio;
pub mod query;
pub mod reference;
pub mod refusal;
mod refusal_text;
mod restated_fields;
mod retired_orders;
pub mod report;
pub mod rights;
pub mod risk;
mod risk_limits;
mod risk_scope;
mod seeded_rng;
mod side;
pub mod time;
mod wire_id;
mod venue_facts;
mod venue_symbols;

pub use amount::{Amount, Money, Overflow, Price, Quantity};
pub use calendar::{Calendar, MarketPhase, TradingSession};
pub use command::{Caller, Command, CommandEnvelope, Input, MessageOrigin, Sequenced};
pub use currency::{Currency, InvalidCurrency};
pub use event::{Event, EventClass, PublishedEvent};
pub use ids::{
    AccountId, AdapterName, BalanceId, ExchangeId, FamilyId, IntId, OrderId, PositionId, SecurityId, StrategyId, Text,
    TransactionId, Uuid,
};
pub use instruction::Instruction;
pub use lookup_map::{LookupMap, SecurityMap};
pub use market::{Bar, BarSize, BookLevel, Mark, OrderBook, Tick, Trade};
pub use open_bar::OpenBar;
pub use order::{Fill, OrdStatus, Order, OrderKind, OrderStatus, Side, Source, TimeInForce};
pub use order_properties::{OrderProperties, OrderProperty};
pub use order_type::{Activation, OrderType, PriceField, WorkingPrice};
pub use planted_bugs::PlantedBug;
pub use portfolio::{
    CashBalance, Charge, ChargeKind, EntryKind, PortfolioValue, Position, Transaction, TransactionKind,
};
pub use query::{Answer, Query};
pub use reference::{
    Account, Exchange, ReferenceData, Security, SecurityFamily, SecurityKind, Settlement, StrategyRecord,
};
pub use refusal::Refusal;
pub use report::Report;
pub use retired_orders::{KeyList, RecalledKeys, RetiredOrdersInput};
pub use risk::{BurstLimit, RiskLimits, RiskScope, SelfTradePrevention, TradingState};
pub use rust_decimal::Decimal;
pub use seeded_rng::SeededRng;
pub use time::{Date, Timestamp};
pub use venue_facts::{OrderMode, VenueFacts, VenueProof};
pub use venue_symbols::VenueSymbols;
pub use wire_id::{NoWireId, WireId};
