//! Alarms of the engine in the log, those of the start included.

use std::thread;

use bus::EventFeed;
use domain::event::{Alarm, AlarmLevel};
use domain::{Event, EventClass};
use tracing::{error, info, warn};

/// Alarms that may wait to be logged; of more some are only in history, and the log says so.
const ALARMS_WAITING_MAX: usize = 8_192;

/// Until the feed ends.
pub(super) fn log(feed: EventFeed) -> std::io::Result<()> {
    // Before the engine runs, so that its first alarm is heard.
    let mut listener = feed.subscribe(&[EventClass::Alarm], ALARMS_WAITING_MAX);
    let listen = move || {
        loop {
            while let Some(published) = listener.recv_blocking() {
                if let Event::Alarm(alarm) = published.event {
                    write(&alarm);
                }
            }
            if feed.is_closed() {
                return;
            }
            warn!("more alarms came than could be logged; history has all of them");
            listener = feed.subscribe(&[EventClass::Alarm], ALARMS_WAITING_MAX);
        }
    };
    thread::Builder::new().name("alarms".into()).spawn(listen).map(drop)
}

/// Under a target of its own: topics have the alarm itself already.
fn write(Alarm { level, code, text }: &Alarm) {
    match level {
        AlarmLevel::Error => error!(target: crate::logging::ALARM_TARGET, "{text} ({code})"),
        AlarmLevel::Warn => warn!(target: crate::logging::ALARM_TARGET, "{text} ({code})"),
        AlarmLevel::Info => info!(target: crate::logging::ALARM_TARGET, "{text} ({code})"),
    }
}
