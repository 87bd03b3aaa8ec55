//! Publisher: forwards the engine's events and log lines to the hub.

use std::sync::Arc;
use std::time::Duration;

use bus::Listener;
use bus::operations::LogLine;
use domain::{EventClass, Published};
use tokio::sync::mpsc;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep_until, timeout};
use wire::LogEventVO;

use crate::house::House;
use crate::lateness::SIGN_EVERY;
use crate::limits::{EVENTS_AT_ONCE, LOG_LINES_PER_SECOND_MAX};
use crate::{present, translate};

/// Longest age of an event: a clock that was set must not look like a stalled broker.
const WAITED_MAX: Duration = Duration::from_secs(60);

pub(crate) const LOG_WARN: &str = "log-event.warn";

/// Publishes until it is dropped. Where it falls behind, all connections are closed rather than left with a gap, and
/// must reconnect.
pub(crate) async fn publish(house: Arc<House>, mut listener: Listener) {
    loop {
        while let Some(first) = next(&house, &mut listener).await {
            let mut events = Vec::with_capacity(1);
            events.push(first);
            events.extend(std::iter::from_fn(|| listener.poll()).take(EVENTS_AT_ONCE));
            tell(&house, events);
            // Yields to connections on this thread.
            yield_now().await;
        }
        listener = listen(&house);
        house.hub.lose_events();
        present::begin(&house).await;
        tracing::error!(
            "broker fell behind the engine, or the engine stopped: events lost, all subscribers are disconnected"
        );
    }
}

/// Events from now on.
pub(crate) fn listen(house: &House) -> Listener {
    house.bus.feed.listen(&EventClass::ALL, house.limits.events)
}

/// Waits for the next event, and signals that it runs.
async fn next(house: &House, listener: &mut Listener) -> Option<Published> {
    loop {
        house.lateness.looked(house.clock.now());
        if let Ok(next) = timeout(SIGN_EVERY, listener.next()).await {
            return next;
        }
    }
}

fn tell(house: &House, events: Vec<Published>) {
    let now = house.clock.now();
    // Only where more are queued than are received at once, the first has waited.
    let is_behind = events.len() > EVENTS_AT_ONCE;
    let waited = events.first().filter(|_| is_behind).map_or(0, |first| house.access.now().0 - first.at.0);
    house.lateness.begin(now, Duration::from_nanos(waited.max(0).unsigned_abs()).min(WAITED_MAX));
    house.hub.tell(now, events, &house.bus.catalogue.now());
}

/// Publishes log lines until there are no more, limited per second; of the others only the count.
pub(crate) async fn publish_log(house: Arc<House>, mut lines: mpsc::Receiver<LogLine>) {
    while let Some(first) = lines.recv().await {
        let second = Instant::now() + Duration::from_secs(1);
        let (mut told, mut untold) = (0, 0_u64);
        let mut next = Some(first.clone());
        while let Some(line) = next {
            match topic(&line) {
                Some(_) if told == LOG_LINES_PER_SECOND_MAX => untold += 1,
                Some(topic) => {
                    told += 1;
                    announce(&house, topic, &line);
                }
                None => {}
            }
            next = until(second, &mut lines).await;
        }
        if untold > 0 {
            announce(&house, LOG_WARN, &summary(&first, untold));
        }
    }
}

async fn until(moment: Instant, lines: &mut mpsc::Receiver<LogLine>) -> Option<LogLine> {
    tokio::select! {
        line = lines.recv() => line,
        () = sleep_until(moment) => None,
    }
}

fn summary(first: &LogLine, untold: u64) -> LogLine {
    let message = format!("{untold} more lines were written within a second; the log has them");
    LogLine { level: "WARN", logger: "log".into(), message, error: None, ..first.clone() }
}

pub(crate) fn announce(house: &House, topic: &str, line: &LogLine) {
    let event = LogEventVO::of_line(line.at, line.level, &line.logger, &line.message, line.error.as_deref());
    if let Some(topic) = translate::topic_of(topic) {
        house.hub.announce(house.clock.now(), &topic, &wire::json::encode(&event));
    }
}

/// The topic of a line. Lines of the broker below the level error have none: publishing them could cause further lines
/// without end.
fn topic(line: &LogLine) -> Option<&'static str> {
    match line.level {
        "ERROR" => Some("log-event.error"),
        _ if line.logger.starts_with("broker") => None,
        "WARN" => Some(LOG_WARN),
        "INFO" => Some("log-event.info"),
        _ => None,
    }
}
