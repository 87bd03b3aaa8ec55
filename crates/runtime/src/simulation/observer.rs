//! Observer of a run: results, progress, tables. It gets what trading does, not every price.

use std::sync::Arc;

use domain::command::StrategyFailure;
use domain::{Command, Event, Mark, ReferenceData, Refusal, Text, Timestamp};
use strategy::Selection;

/// An observer may fail: a disk is full.
pub type ObserverResult = Result<(), String>;

/// Values of bars that close at midnight are reported a moment before it: they belong to the day that ends.
#[allow(unused_variables)]
pub trait Observer {
    /// Trading begins; everything before was opening cash and warming up.
    fn on_begin(&mut self, at: Timestamp, reference: &Arc<ReferenceData>) -> ObserverResult {
        Ok(())
    }

    /// The subscriptions of a strategy when trading begins.
    fn on_selection(&mut self, strategy: &Text, selection: &Selection) {}

    /// All events of one engine input.
    fn on_events(&mut self, at: Timestamp, events: &[Event]) -> ObserverResult {
        Ok(())
    }

    /// Prices as trading sees them from now on.
    fn on_marks(&mut self, at: Timestamp, marks: &[Mark]) -> ObserverResult {
        Ok(())
    }

    /// A day with data is over, in UTC; its value was reported.
    fn on_day_end(&mut self, at: Timestamp) -> ObserverResult {
        Ok(())
    }

    /// Orders cancelled from now on are cancelled because the data has ended.
    fn on_data_end(&mut self) {}

    /// The engine refused a command of a strategy.
    fn on_refusal(&mut self, at: Timestamp, strategy: &Text, command: &Command, refusal: &Refusal) {}

    /// A strategy is stopped because it failed; the others continue.
    fn on_failure(&mut self, at: Timestamp, strategy: &Text, failure: &StrategyFailure) {}

    /// Rows so far, and how much of the data was read.
    fn on_progress(&mut self, events: u64, read: u64, total: u64) {}
}

/// No observer.
impl Observer for () {}
