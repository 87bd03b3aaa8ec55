//! SDK for trading strategies. A strategy is a value with callbacks. Its driver (the simulation, the live server, or a separate
//! process) calls it when something happens, and carries out the commands that it gave through its [`Desk`].
//!
//! Start with [`Strategy`] and [`Blueprint`]; `docs/strategies.md` is the tutorial.

#![warn(missing_docs)]

mod strategy;
mod desk;
pub mod order;
mod picture;
mod selection;
mod past;
mod timers;
pub mod parameter;
pub mod registry;
mod seat;
pub mod numbers;
pub mod samples;

/// The tutorial of the documentation, compiled and run.
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
