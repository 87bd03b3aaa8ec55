//! A seeded strategy on the real path of the strategy host: event queue, runner and command link, stepped by hand. It is cut off with the
//! process, and a new run begins after every start.

mod checks;
mod host;
mod seeded_strategy;
mod strategy_log;

pub(crate) use host::SteppedHost;
pub(crate) use strategy_log::StrategyLog;
