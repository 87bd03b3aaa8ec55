//! Publication of engine events to the hub, in batches.

use std::time::Duration;

use bus::EventReceiver;
use bus::history::is_stored;
use domain::PublishedEvent;
use tokio::task::yield_now;

use crate::limits::EVENTS_AT_ONCE;
use crate::state::BrokerState;

/// Longest age of an event: a clock that was set must not look like a stalled broker.
const WAITED_MAX: Duration = Duration::from_secs(60);

/// Replays may join behind a sequence that the engine has answered with. Before it answered it had published everything up
/// to there: that waits here, and is told before, so that whoever joins has it from history and does not hear it again.
pub(crate) async fn begin_behind(broker: &BrokerState, listener: &mut EventReceiver, sequence: u64) {
    let is_behind = |published: &PublishedEvent| published.sequence > sequence && is_stored(published.event.class());
    let (mut waiting, mut behind) = (listener.waiting(), Vec::new());
    while waiting > 0 && behind.is_empty() {
        let at_once = waiting.min(EVENTS_AT_ONCE);
        let mut events: Vec<_> = std::iter::from_fn(|| listener.try_recv()).take(at_once).collect();
        waiting -= at_once;
        let first = events.iter().position(is_behind).unwrap_or(events.len());
        behind = events.split_off(first);
        publish_batch(broker, events);
        yield_now().await;
    }
    broker.hub.start_after(sequence);
    publish_batch(broker, behind);
}

/// All that waits now; what comes meanwhile is left for later.
pub(crate) async fn publish_waiting(broker: &BrokerState, listener: &mut EventReceiver) {
    let mut waiting = listener.waiting();
    while waiting > 0 {
        let at_once = waiting.min(EVENTS_AT_ONCE);
        publish_batch(broker, std::iter::from_fn(|| listener.try_recv()).take(at_once).collect());
        waiting -= at_once;
        yield_now().await;
    }
}

pub(crate) fn publish_batch(broker: &BrokerState, events: Vec<PublishedEvent>) {
    let now = broker.clock.now();
    // Only where more are queued than are received at once, the first has waited.
    let is_behind = events.len() > EVENTS_AT_ONCE;
    let waited = events.first().filter(|_| is_behind).map_or(0, |first| broker.access.now().0 - first.at.0);
    broker.publish_lag.on_events(now, Duration::from_nanos(waited.max(0).unsigned_abs()).min(WAITED_MAX));
    broker.hub.publish_events(now, events, &broker.bus.catalogue.current());
}
