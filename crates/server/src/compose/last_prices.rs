//! The prices that were seen last before this start: a simulated market continues there. The opening quotes of the reference
//! data are those of its first day.

use std::collections::BTreeMap;

use bus::Bus;
use domain::query::{Answer, Query};
use domain::{BarSize, Mark, Price, SecurityId, Timestamp};
use storage::BarFiles;

use crate::reference::ReferenceSet;

/// The newest price that journal or stored bars have of each security with opening quotes.
pub(super) fn read(
    reference: &ReferenceSet,
    bus: &Bus,
    bars: &BarFiles,
    now: Timestamp,
) -> BTreeMap<SecurityId, Price> {
    let marks = marks(bus);
    let price = |security| last_price(marks.get(&security), bars, security, now).map(|price| (security, price));
    reference.openings.iter().filter_map(|opening| price(opening.security)).collect()
}

fn marks(bus: &Bus) -> BTreeMap<SecurityId, Mark> {
    let answer = bus.inbox.query(Query::Marks).ok().and_then(|ticket| ticket.recv_blocking().ok());
    match answer.map(|reply| reply.outcome) {
        Some(Ok(Answer::Marks(marks))) => marks.into_iter().map(|mark| (mark.security, mark)).collect(),
        // An engine that does not answer fails the start elsewhere.
        _ => BTreeMap::new(),
    }
}

/// Marks are kept of what is held or ordered, and of currencies; bars of everything, but a minute late.
fn last_price(mark: Option<&Mark>, bars: &BarFiles, security: SecurityId, now: Timestamp) -> Option<Price> {
    let bar = bars.newest(security, BarSize::Min1, 1, now).pop();
    let by_bar = bar.map(|bar| (bar.at.plus_seconds(bar.size.seconds()), bar.close));
    let by_mark = mark.and_then(|mark| Some((mark.at, mark.mid().or_else(|| mark.reference())?)));
    by_bar.into_iter().chain(by_mark).max_by_key(|(at, _)| *at).map(|(_, price)| price)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use domain::{Bar, Quantity};

    use super::*;

    const NOON: Timestamp = Timestamp(1_735_732_800_000_000_000);

    fn bar(minutes_before_noon: i64, close: i64) -> Arc<Bar> {
        let (at, close) = (NOON.plus_seconds(-60 * minutes_before_noon), Price::from(close));
        let (open, high, low) = (close, close, close);
        let (security, feed, size, vol, vwap) = (SecurityId(1), "A".into(), BarSize::Min1, Quantity::ZERO, None);
        Arc::new(Bar { security, feed, at, size, open, high, low, close, vol, vwap })
    }

    fn mark(seconds_before_noon: i64, bid: i64, ask: i64) -> Mark {
        let at = NOON.plus_seconds(-seconds_before_noon);
        Mark { security: SecurityId(1), bid: Some(bid.into()), ask: Some(ask.into()), last: None, at }
    }

    #[test]
    fn the_newest_of_bar_and_mark_is_where_prices_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let bars = BarFiles::open(folder.path().to_owned(), 100);
        let seen = |mark: Option<Mark>| last_price(mark.as_ref(), &bars, SecurityId(1), NOON);
        assert_eq!((seen(None), seen(Some(mark(5, 10, 12)))), (None, Some(11.into())));
        bars.append(&[bar(3, 20), bar(2, 21)]).unwrap();
        assert_eq!(seen(None), Some(21.into()));
        assert_eq!(seen(Some(mark(5, 10, 12))), Some(11.into()));
        assert_eq!(seen(Some(mark(500, 10, 12))), Some(21.into()));
    }
}
