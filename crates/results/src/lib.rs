//! Results of a simulation: figures, and reports in HTML, JSON and CSV.
//!
//! Figures are statistics, so they are floating point; the exact positions and cash are the engine's.

mod run_recorder;
mod series;
mod round_trips;
mod position_tracker;
mod rates;
pub mod figures;
pub mod run_results;
pub mod csv;
pub mod json;
pub mod page;

pub use csv::{DailyValuesCsv, EquityCsv, FillsCsv, OpenPositionsCsv, OrdersCsv, RoundTripsCsv, rounded};
pub use round_trips::RoundTrip;
pub use run_recorder::RunRecorder;
pub use run_results::{
    Assumptions, Figures, Month, Monthly, OpenPosition, OrderOutcomes, ProfitLoss, RefusalSummary, ReportHeading,
    ReportedFill, ResultRow, RunResults, StrategyStop, Trades, Unconverted, Yearly,
};
pub use series::{Curve, DayValue, Drawdown, Point};
