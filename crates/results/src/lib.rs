//! Results of a simulation: figures, and reports in HTML, JSON and CSV.
//!
//! Figures are statistics, so they are floating point; the exact positions and cash are the engine's.

mod record;
mod series;
mod round_trips;
mod holdings;
mod rates;
pub mod figures;
pub mod outcome;
pub mod csv;
pub mod json;
pub mod page;

pub use csv::{CurveSheet, DaySheet, DealSheet, OpenSheet, OrderSheet, TripSheet, rounded};
pub use figures::{Figures, Monthly, Yearly};
pub use outcome::{Deal, Fates, Heading, Line, Month, OpenPosition, Outcome, ProfitLoss, Refusals, Stop, Unconverted};
pub use record::{Assumptions, Record};
pub use round_trips::RoundTrip;
pub use series::{Curve, DayValue, Drawdown, Point};
