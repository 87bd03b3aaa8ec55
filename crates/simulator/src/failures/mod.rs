//! Runs that break a promise: their schedule is made short, and told with the last lines of the run.

mod defect;
mod shorten;
mod explanation;
mod checked_plans;

pub use checked_plans::CheckedPlans;
pub use shorten::{SearchLimit, ShortSchedule, shorten};
