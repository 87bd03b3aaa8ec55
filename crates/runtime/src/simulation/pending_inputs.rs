//! Pending inputs: bars that will close and prices that are delayed by latency.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use domain::{Bar, Timestamp};
use storage::price_files::PriceRecord;

use super::run_input::SimulationError;

/// Prices on their way at a time; a feed latency that needs more is refused.
pub(super) const DELAYED_MAX: usize = 1_000_000;

#[derive(Debug, Default)]
pub(super) struct PendingInputs {
    /// By the end of their span, then in the order in which they began.
    closing: BTreeMap<(Timestamp, u64), Arc<Bar>>,
    begun: u64,
    /// All have the same delay, so the first sent arrives first.
    delayed: VecDeque<(Timestamp, PriceRecord)>,
}

impl PendingInputs {
    pub(super) fn schedule_close(&mut self, bar: Arc<Bar>) {
        self.begun += 1;
        self.closing.insert((bar.at.plus_seconds(bar.size.seconds()), self.begun), bar);
    }

    pub(super) fn delay(&mut self, arrives: Timestamp, recorded: PriceRecord) -> Result<(), SimulationError> {
        if self.delayed.len() >= DELAYED_MAX {
            return Err(SimulationError::FeedTooLate);
        }
        self.delayed.push_back((arrives, recorded));
        Ok(())
    }

    pub(super) fn next_due(&self) -> Option<Timestamp> {
        let closing = self.closing.first_key_value().map(|((ends, _), _)| *ends);
        let arriving = self.delayed.front().map(|(arrives, _)| *arrives);
        closing.into_iter().chain(arriving).min()
    }

    pub(super) fn pop_closing(&mut self, now: Timestamp) -> Option<Arc<Bar>> {
        let first = self.closing.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }

    pub(super) fn pop_delayed(&mut self, now: Timestamp) -> Option<PriceRecord> {
        self.delayed.pop_front_if(|(arrives, _)| *arrives <= now).map(|(_, recorded)| recorded)
    }
}
