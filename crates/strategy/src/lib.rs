//! SDK for trading strategies. A strategy is a value with callbacks. Its driver (the simulation, the live server, or a separate
//! process) calls it when something happens, and carries out the commands that it gave through its [`Context`].
//!
//! Start with [`Strategy`] and [`StrategyDefinition`]; `docs/strategies.md` is the tutorial.

#![warn(missing_docs)]

mod strategy;
mod context;
pub mod order;
pub mod parameter;
pub mod registry;
mod runner;
pub mod rounding;
pub mod samples;

/// The tutorial of the documentation, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/strategies.md")]
pub struct Tutorial;

pub use domain;
pub use ta_lib;

pub use context::identity::StrategyIdentity;
pub use context::price_history::{BARS_MAX, BarHistoryRequest, PriceHistory, PriceHistoryRequest};
pub use context::selection::{PriceKind, Selection};
pub use context::timers::{TIMERS_MAX, Timer};
pub use context::view::{OwnOrder, StrategyView};
pub use context::{COMMANDS_PER_CALL_MAX, Context, OrderModification};
pub use order::CommandRejection;
pub use parameter::{Parameter, StrategySettings};
pub use registry::{StrategyDefinition, StrategyRegistry};
pub use runner::StrategyRunner;
pub use strategy::Strategy;
