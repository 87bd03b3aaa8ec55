//! Strategies to learn from and to try the platform with. None of them is advice.

/// Long while a fast average is above a slow one, short while it is below.
mod moving_average_cross;
/// With the price when it leaves the range of its past.
mod breakout;
/// The cheaper of two that belong together against the dearer.
mod pairs;
/// A bid and an offer around the middle of the order book.
mod market_making;
/// An average that starts with its first price.
mod average;
/// One market order towards a wanted position.
mod target;

use crate::registry::Registry;

pub use breakout::Breakout;
pub use market_making::MarketMaking;
pub use moving_average_cross::MovingAverageCross;
pub use pairs::Pairs;

/// All samples, by name.
pub fn registry() -> Registry {
    Registry::default()
        .with(MovingAverageCross::BLUEPRINT)
        .with(Breakout::BLUEPRINT)
        .with(Pairs::BLUEPRINT)
        .with(MarketMaking::BLUEPRINT)
}
