//! Bars of a leader. Its engine has some from when it followed, made of the prices that clients of the follower wanted: they would hide
//! the leader's of that time, which are in the files.

use std::sync::Arc;

use domain::query::{Answer, EngineResult};
use domain::{Bar, Query, Timestamp};

use super::LiveLoop;

impl LiveLoop {
    pub(super) fn answer(&self, now: Timestamp, query: &Query) -> EngineResult {
        let outcome = self.parts.engine.answer(now, self.applied_sequence, query);
        match (outcome, self.options.pulse) {
            (Ok(Answer::Bars(bars)), Some(pulse)) => Ok(Answer::Bars(closed_after(bars, pulse.bars_from))),
            (outcome, _) => outcome,
        }
    }
}

fn closed_after(mut bars: Vec<Arc<Bar>>, from: Timestamp) -> Vec<Arc<Bar>> {
    bars.retain(|bar| bar.at.plus_seconds(bar.size.seconds()) > from);
    bars
}

#[cfg(test)]
mod tests {
    use domain::{BarSize, Price, Quantity, SecurityId};

    use super::*;

    fn bar(minute: i64) -> Arc<Bar> {
        let (at, price) = (Timestamp(0).plus_seconds(60 * minute), Price::from(7));
        let (open, high, low, close) = (price, price, price, price);
        let (security, feed, size, vol) = (SecurityId(1), "A".into(), BarSize::Min1, Quantity::ZERO);
        Arc::new(Bar { security, feed, at, size, open, high, low, close, vol, vwap: None })
    }

    #[test]
    fn bars_that_closed_before_the_lead_are_left_to_the_files() {
        let minutes = |from| -> Vec<i64> {
            let bars = closed_after((0..4).map(bar).collect(), from);
            bars.iter().map(|bar| bar.at.millis() / 60_000).collect()
        };
        assert_eq!(minutes(Timestamp(0).plus_seconds(120)), [2, 3], "the second closed with the beginning of the lead");
        assert_eq!(minutes(Timestamp(0).plus_seconds(150)), [2, 3], "in the third the lead began");
        assert_eq!(minutes(Timestamp(i64::MIN)), [0, 1, 2, 3]);
    }
}
