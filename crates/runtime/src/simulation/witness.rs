//! Observer of a run: results, progress, tables. It gets what trading does, not every price.

use std::sync::Arc;

use domain::command::Failure;
use domain::{Command, Event, Mark, ReferenceData, Refusal, Text, Timestamp};
use strategy::Selection;

/// An observer may fail: a disk is full.
pub type Seen = Result<(), String>;

/// Values of bars that close at midnight are reported a moment before it: they belong to the day that ends.
#[allow(unused_variables)]
pub trait Witness {
    /// Trading begins; everything before was opening cash and warming up.
    fn begin(&mut self, at: Timestamp, reference: &Arc<ReferenceData>) -> Seen {
        Ok(())
    }

    /// The subscriptions of a strategy when trading begins.
    fn want(&mut self, strategy: &Text, selection: &Selection) {}

    /// All events of one engine input.
    fn see(&mut self, at: Timestamp, events: &[Event]) -> Seen {
        Ok(())
    }

    /// Prices as trading sees them from now on.
    fn mark(&mut self, at: Timestamp, marks: &[Mark]) -> Seen {
        Ok(())
    }

    /// A day with data is over, in UTC; its value was reported.
    fn end_day(&mut self, at: Timestamp) -> Seen {
        Ok(())
    }

    /// Orders cancelled from now on are cancelled because the data has ended.
    fn end_data(&mut self) {}

    /// The engine refused a command of a strategy.
    fn refuse(&mut self, at: Timestamp, strategy: &Text, command: &Command, refusal: &Refusal) {}

    /// A strategy is stopped because it failed; the others continue.
    fn fall(&mut self, at: Timestamp, strategy: &Text, failure: &Failure) {}

    /// Rows so far, and how much of the data was read.
    fn progress(&mut self, events: u64, read: u64, total: u64) {}
}

/// No observer.
impl Witness for () {}
