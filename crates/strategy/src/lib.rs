//! SDK for trading strategies. A strategy is a value with callbacks. Its driver (the simulation, the live server, or a separate
//! process) calls it when something happens, and carries out the commands that it gave through its [`Desk`].
//!
//! Start with [`Strategy`] and [`Blueprint`]; `docs/strategies.md` is the tutorial.

#![warn(missing_docs)]

/// What a strategy can be told.
mod strategy;
/// Where a strategy asks and looks.
mod desk;
/// Orders, ready to be placed.
pub mod order;
/// What a strategy knows of the world.
mod picture;
/// Which prices and generic events a strategy wants.
mod selection;
/// What has been before the strategy began.
mod past;
/// Deadlines that a strategy set for itself.
mod timers;
/// Settings of a strategy: typed, with defaults and ranges.
pub mod parameter;
/// Strategies by name.
pub mod registry;
/// A strategy with everything it needs, for whoever drives it.
mod seat;
/// Exact amounts and the floating point of indicators.
pub mod numbers;
/// Strategies to learn from and to try the platform with.
pub mod samples;

/// The tutorial, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/strategies.md")]
pub struct Tutorial;

pub use domain;
pub use ta_lib;

pub use desk::{Change, Desk};
pub use parameter::{Parameter, Settings};
pub use past::{BARS_MAX, Past, PriceWish, Wish};
pub use picture::{OwnOrder, Picture};
pub use registry::{Blueprint, Registry};
pub use seat::{COMMANDS_PER_CALL_MAX, Seat, Who};
pub use selection::{Prices, Selection};
pub use strategy::{Refused, Strategy};
pub use timers::{TIMERS_MAX, Timer};
