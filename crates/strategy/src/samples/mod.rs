//! Sample strategies. None of them is advice.

mod moving_average_cross;
mod breakout;
mod pairs;
mod market_making;
mod target;

use crate::registry::StrategyRegistry;

pub use breakout::Breakout;
pub use market_making::MarketMaking;
pub use moving_average_cross::MovingAverageCross;
pub use pairs::Pairs;

/// All samples, by name.
pub fn registry() -> StrategyRegistry {
    StrategyRegistry::default()
        .with(MovingAverageCross::DEFINITION)
        .with(Breakout::DEFINITION)
        .with(Pairs::DEFINITION)
        .with(MarketMaking::DEFINITION)
}
