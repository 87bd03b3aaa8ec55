//! Who looks on: results, progress, tables. A witness sees what trading does, not every price.

use std::sync::Arc;

use domain::command::Failure;
use domain::{Command, Event, Mark, ReferenceData, Refusal, Text, Timestamp};
use strategy::Selection;

/// A witness may be unable to go on: a disk is full.
pub type Seen = Result<(), String>;

/// What bars come to at a midnight is told as of a moment before it: it belongs to the day that ends.
#[allow(unused_variables)]
pub trait Witness {
    /// Trading begins; everything before was opening cash and warming up.
    fn begin(&mut self, at: Timestamp, reference: &Arc<ReferenceData>) -> Seen {
        Ok(())
    }

    /// What a strategy wants to hear when trading begins.
    fn want(&mut self, strategy: &Text, selection: &Selection) {}

    /// Everything that one input of the engine caused.
    fn see(&mut self, at: Timestamp, events: &[Event]) -> Seen {
        Ok(())
    }

    /// Prices as trading sees them from now on.
    fn mark(&mut self, at: Timestamp, marks: &[Mark]) -> Seen {
        Ok(())
    }

    /// A day with data is over, in UTC; what it was worth has been seen.
    fn end_day(&mut self, at: Timestamp) -> Seen {
        Ok(())
    }

    /// Whatever is canceled from now on is so because the data is over.
    fn end_data(&mut self) {}

    /// The engine refused what a strategy asked for.
    fn refuse(&mut self, at: Timestamp, strategy: &Text, command: &Command, refusal: &Refusal) {}

    /// A strategy is stopped because it failed; the others go on.
    fn fall(&mut self, at: Timestamp, strategy: &Text, failure: &Failure) {}

    /// Rows so far, and how much of the data was read.
    fn progress(&mut self, events: u64, read: u64, total: u64) {}
}

/// Nobody looks on.
impl Witness for () {}
