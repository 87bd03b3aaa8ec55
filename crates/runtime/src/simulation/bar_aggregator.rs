//! Bar aggregator: builds bars that are not recorded from shorter recorded ones.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::{Bar, BarSize, OpenBar, SecurityId, Timestamp};

type Key = (SecurityId, BarSize);

#[derive(Debug, Default)]
pub(super) struct BarAggregator {
    /// By recorded bars: the sizes built from them, and since when.
    sources: BTreeMap<Key, BTreeMap<BarSize, Timestamp>>,
    /// By the end of their span.
    open: BTreeMap<(Timestamp, SecurityId, BarSize), OpenBar>,
}

impl BarAggregator {
    /// Builds bars of that size from those. A span that began before is incomplete and gives none.
    pub(super) fn aggregate(&mut self, security: SecurityId, wanted: BarSize, of: BarSize, since: Timestamp) {
        self.sources.entry((security, of)).or_default().insert(wanted, since);
    }

    pub(super) fn add(&mut self, part: &Bar) {
        let Some(sizes) = self.sources.get(&(part.security, part.size)) else { return };
        for (size, since) in sizes {
            let start = size.start_of(part.at);
            if start < *since {
                continue;
            }
            let key = (start.plus_seconds(size.seconds()), part.security, *size);
            match self.open.get_mut(&key) {
                Some(forming) => forming.merge(&OpenBar::from(part)),
                None => drop(self.open.insert(key, OpenBar::from(part).lengthened(*size))),
            }
        }
    }

    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.open.first_key_value().map(|((ends, ..), _)| *ends)
    }

    /// A bar whose span is over, the shorter ones first.
    pub(super) fn pop_closed(&mut self, now: Timestamp) -> Option<Arc<Bar>> {
        let first = self.open.first_entry()?;
        let (ends, security, _) = *first.key();
        (ends <= now).then(|| Arc::new(first.remove().into_bar(security)))
    }
}

#[cfg(test)]
mod tests {
    use domain::{Price, Quantity};

    use super::*;

    fn minute(number: i64, prices: [i64; 4], vwap: Option<i64>) -> Bar {
        let [open, high, low, close] = prices.map(Price::from);
        let (security, feed, size) = (SecurityId(1), "F".into(), BarSize::Min1);
        let (at, vol, vwap) = (Timestamp(0).plus_seconds(number * 60), Quantity::from(10), vwap.map(Price::from));
        Bar { security, feed, at, size, open, high, low, close, vol, vwap }
    }

    fn made(parts: &[Bar]) -> Vec<String> {
        let mut larger = BarAggregator::default();
        larger.aggregate(SecurityId(1), BarSize::Min5, BarSize::Min1, Timestamp(0));
        parts.iter().for_each(|part| larger.add(part));
        let closed = std::iter::from_fn(|| larger.pop_closed(Timestamp(i64::MAX)));
        let told = |bar: Arc<Bar>| {
            let Bar { at, open, high, low, close, vol, vwap, .. } = &*bar;
            let vwap = vwap.map_or("-".to_owned(), |price| price.to_string());
            format!("{} {open} {high} {low} {close} {vol} {vwap}", at.0 / 60_000_000_000)
        };
        closed.map(told).collect()
    }

    #[test]
    fn five_minutes_are_one_bar_also_with_a_gap_and_a_bar_of_the_next_span_begins_anew() {
        let parts = [
            minute(5, [10, 12, 9, 11], Some(10)),
            minute(6, [11, 15, 11, 14], Some(12)),
            minute(9, [14, 14, 8, 8], Some(11)),
            minute(10, [8, 9, 8, 9], Some(8)),
        ];
        assert_eq!(made(&parts), ["5 10 15 8 8 30 11", "10 8 9 8 9 10 8"]);
    }

    #[test]
    fn an_average_price_that_one_part_does_not_have_is_not_made_up() {
        let parts = [minute(0, [1, 1, 1, 1], Some(1)), minute(1, [2, 2, 2, 2], None)];
        assert_eq!(made(&parts), ["0 1 2 1 2 20 -"]);
    }
}
