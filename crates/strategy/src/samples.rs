//! Sample strategies. None of them is advice.

mod moving_average_cross;
mod breakout;
mod pairs;
mod market_making;
mod average;
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
