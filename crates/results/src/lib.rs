//! What a run of a simulation came to: figures, and reports for people and for programs.
//!
//! Figures are statistics, so they are floating point; the exact books are the engine's and stand in positions and cash.

/// What is kept while a run goes on, in bounded memory.
mod record;
/// Values over time: a curve of bounded length, one value a day, the way below the peak.
mod series;
/// From the first fill of a position to the one that closes it.
mod round_trips;
/// What is held, and what it brought.
mod holdings;
/// Amounts of many currencies in one.
mod rates;
/// The figures, each by its definition.
pub mod figures;
/// What is left when the run is over.
pub mod outcome;
/// Tables for spreadsheets.
pub mod csv;
/// The same for programs.
pub mod json;
/// The report for people: one HTML file with everything in it.
pub mod page;

pub use csv::{CurveSheet, DaySheet, DealSheet, OpenSheet, OrderSheet, TripSheet, rounded};
pub use figures::{Figures, Monthly, Yearly};
pub use outcome::{Deal, Fates, Heading, Line, Month, OpenPosition, Outcome, ProfitLoss, Refusals, Stop, Unconverted};
pub use record::{Assumptions, Record};
pub use round_trips::RoundTrip;
pub use series::{Curve, DayValue, Drawdown, Point};
