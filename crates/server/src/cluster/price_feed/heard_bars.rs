//! Bars that a follower has heard: one that a client wants comes twice, and an earlier leader may still send its own.

use std::collections::BTreeMap;

use domain::{Bar, BarSize, SecurityId, Timestamp};

use super::message::{BarMessage, PriceLine};

/// The newest of each security and size.
#[derive(Default)]
pub(super) struct HeardBars(BTreeMap<(SecurityId, BarSize), Timestamp>);

impl HeardBars {
    /// The bar, where it is of the leader that is heard, or of a later one.
    pub(super) fn of_leader(body: &[u8], heard: Option<PriceLine>) -> Option<Bar> {
        let BarMessage { line, bar } = minicbor::decode(body).ok()?;
        heard.is_none_or(|heard| heard <= line).then_some(bar)
    }

    pub(super) fn is_new(&mut self, bar: &Bar) -> bool {
        let newest = self.0.entry((bar.security, bar.size)).or_insert(Timestamp(i64::MIN));
        let is_new = bar.at > *newest;
        *newest = bar.at.max(*newest);
        is_new
    }
}

#[cfg(test)]
mod tests {
    use domain::{Price, Quantity};

    use super::super::message::encode;
    use super::*;

    fn bar(security: u64, size: BarSize, minute: i64) -> Bar {
        let (at, price) = (Timestamp(0).plus_seconds(60 * minute), Price::from(7));
        let (open, high, low, close) = (price, price, price, price);
        let (security, feed, vol) = (SecurityId(security), "A".into(), Quantity::ZERO);
        Bar { security, feed, at, size, open, high, low, close, vol, vwap: None }
    }

    #[test]
    fn a_bar_that_comes_twice_is_told_once() {
        let mut heard = HeardBars::default();
        let steps = [(1, BarSize::Min1, 3), (1, BarSize::Min1, 3), (1, BarSize::Min5, 3), (2, BarSize::Min1, 3)];
        let is_new = steps.map(|(security, size, minute)| heard.is_new(&bar(security, size, minute)));
        assert_eq!(is_new, [true, false, true, true]);
        assert!(!heard.is_new(&bar(1, BarSize::Min1, 2)), "an older one");
        assert!(heard.is_new(&bar(1, BarSize::Min1, 4)));
    }

    #[test]
    fn a_bar_of_an_earlier_leader_is_not_heard() {
        let (earlier, later) = (PriceLine { epoch: 3, opened: 9 }, PriceLine { epoch: 4, opened: 1 });
        let sent = bar(1, BarSize::Min1, 3);
        let of = |line| encode(&BarMessage { line, bar: sent.clone() });
        let heard = |line, known| HeardBars::of_leader(&of(line), known);
        assert_eq!(heard(earlier, None), Some(sent.clone()), "no leader is heard yet");
        assert_eq!(heard(later, Some(later)), Some(sent.clone()));
        assert_eq!(heard(later, Some(earlier)), Some(sent.clone()), "its bar comes before its first word");
        assert_eq!(heard(earlier, Some(later)), None);
        assert_eq!(HeardBars::of_leader(b"not ours", None), None);
    }
}
