//! SDK for trading strategies. A strategy is a value with callbacks. Its driver (the simulation, the live server, or a separate
//! process) calls it when something happens, and carries out the commands that it gave through its [`Context`].
//!
//! Start with [`Strategy`] and [`StrategyDefinition`]; `docs/strategies.md` is the tutorial.

#![warn(missing_docs)]

mod strategy;
mod identity;
mod rejection;
mod context;
pub mod order;
mod view;
mod selection;
mod price_history;
mod timers;
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

pub use context::{COMMANDS_PER_CALL_MAX, Context, OrderModification};
pub use identity::StrategyIdentity;
pub use parameter::{Parameter, StrategySettings};
pub use price_history::{BARS_MAX, BarHistoryRequest, PriceHistory, PriceHistoryRequest};
pub use registry::{StrategyDefinition, StrategyRegistry};
pub use rejection::CommandRejection;
pub use runner::StrategyRunner;
pub use selection::{PriceKind, Selection};
pub use strategy::Strategy;
pub use timers::{TIMERS_MAX, Timer};
pub use view::{OwnOrder, StrategyView};
