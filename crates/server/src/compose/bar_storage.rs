//! Bars are stored as they close, beside the engine and never before it. With them and the journal the prices are known that
//! were seen last before a start: a simulated market continues there.

use std::collections::BTreeMap;
use std::sync::Arc;

use bus::{Bus, EventFeed, EventReceiver};
use domain::query::{Answer, Query};
use domain::{Bar, BarSize, Event, EventClass, Mark, Price, SecurityId, Timestamp};
use storage::BarFiles;
use storage::bars::FOLDER;
use tracing::warn;

use crate::config::Config;
use crate::exit_failure::{Exit, ExitFailure};
use crate::reference::ReferenceSet;

/// Bars that may wait to be stored; of more the rest of the moment is missing in the files.
const BARS_WAITING_MAX: usize = 65_536;

/// The files of earlier days, and from now on of this one.
pub(super) fn start(config: &Config, folder: &std::path::Path, feed: &EventFeed) -> Result<Arc<BarFiles>, ExitFailure> {
    let kept = usize::try_from(config.history_bars_kept.0).unwrap_or(0);
    let files = Arc::new(BarFiles::open(folder.join(FOLDER), kept));
    if kept > 0 {
        let (feed, files) = (feed.clone(), files.clone());
        let thread = std::thread::Builder::new().name("bars".into()).spawn(move || write_closed_bars(&feed, &files));
        thread.map_err(|error| ExitFailure::new(Exit::Failed, format!("can't start a thread: {error}")))?;
    }
    Ok(files)
}

/// Until the feed ends.
fn write_closed_bars(feed: &EventFeed, files: &BarFiles) {
    let mut listener = feed.subscribe(&[EventClass::Bar], BARS_WAITING_MAX);
    while let Some(first) = listener.recv_blocking() {
        let bars: Vec<Arc<Bar>> = std::iter::once(first.event).chain(drain(&mut listener)).filter_map(bar).collect();
        if let Err(error) = files.append(&bars) {
            warn!("bars were not stored: {error}");
        }
    }
}

/// What else waits, so that a file is opened once for all of it.
fn drain(listener: &mut EventReceiver) -> impl Iterator<Item = Event> {
    std::iter::from_fn(|| listener.try_recv()).map(|published| published.event)
}

fn bar(event: Event) -> Option<Arc<Bar>> {
    match event {
        Event::Bar(bar) => Some(bar),
        _ => None,
    }
}

/// The newest price that journal or stored bars have of each security with opening quotes, which are those of the first day.
pub(super) fn last_prices(
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
        Mark { security: SecurityId(1), bid: Some(bid.into()), ask: Some(ask.into()), last: None, at, stale: None }
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
