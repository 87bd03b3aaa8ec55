//! Our orders at the venue: which leg works, what was reported, and what each answer and event means for the engine.
//!
//! Both answers and events tell of an acceptance, a replace and an end. Each is reported once, whichever comes first, and
//! a fill never before the acceptance of its order. Ends come from events alone: fills stand before them there.

mod answer_meaning;
mod tracker;
mod tracked_order;

pub use answer_meaning::OrderRequestKind;
pub use tracked_order::{Replacing, ReplacingBy};
pub use tracker::{AwaitedEvent, DatedReport, EVENT_WITHIN_MILLIS, OrderTracker, TRACKED_ORDERS_MAX};
