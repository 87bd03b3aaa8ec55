//! Bars are stored as they close, beside the engine and never before it.

use std::sync::Arc;

use bus::{EventFeed, EventReceiver};
use domain::{Bar, Event, EventClass};
use storage::BarFiles;
use storage::bars::FOLDER;
use tracing::warn;

use crate::config::Config;
use crate::exit_failure::{Exit, ExitFailure};

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
