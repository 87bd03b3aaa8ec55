//! Publisher: forwards the engine's events and log lines to the hub.

use std::sync::Arc;
use std::time::Duration;

use bus::EventReceiver;
use bus::operations::LogLine;
use domain::{EventClass, PublishedEvent};
use tokio::sync::mpsc;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep_until, timeout};
use wire::LogEventVO;

use crate::event_publication::publish_batch;
use crate::limits::{EVENTS_AT_ONCE, LOG_LINES_PER_SECOND_MAX};
use crate::publish_lag::HEARTBEAT_EVERY;
use crate::state::BrokerState;
use crate::{translate, warm_start};

pub(crate) const LOG_WARN: &str = "log-event.warn";

/// Publishes until it is dropped. Where it falls behind, all connections are closed rather than left with a gap, and
/// must reconnect.
pub(crate) async fn publish(broker: Arc<BrokerState>, mut listener: EventReceiver) {
    loop {
        while let Some(first) = next(&broker, &mut listener).await {
            let mut events = Vec::with_capacity(1);
            events.push(first);
            events.extend(std::iter::from_fn(|| listener.try_recv()).take(EVENTS_AT_ONCE));
            publish_batch(&broker, events);
            // Yields to connections on this thread.
            yield_now().await;
        }
        // Whoever comes again now is served when the state is loaded.
        let loading = broker.loading.begin();
        listener = subscribe_feed(&broker);
        broker.hub.on_events_lost();
        warm_start::load_state(&broker, &mut listener).await;
        drop(loading);
        tracing::error!(
            "broker fell behind the engine, or the engine stopped: events lost, all subscribers are disconnected"
        );
    }
}

/// Events from now on.
pub(crate) fn subscribe_feed(broker: &BrokerState) -> EventReceiver {
    broker.bus.feed.subscribe(&EventClass::ALL, broker.limits.events)
}

/// Waits for the next event, and signals that it runs.
async fn next(broker: &BrokerState, listener: &mut EventReceiver) -> Option<PublishedEvent> {
    loop {
        broker.publish_lag.on_poll(broker.clock.now());
        if let Ok(next) = timeout(HEARTBEAT_EVERY, listener.recv()).await {
            return next;
        }
    }
}

/// Publishes log lines until there are no more, limited per second; of the others only the count.
pub(crate) async fn publish_log(broker: Arc<BrokerState>, mut lines: mpsc::Receiver<LogLine>) {
    while let Some(first) = lines.recv().await {
        let second = Instant::now() + Duration::from_secs(1);
        let (mut told, mut untold) = (0, 0_u64);
        let mut next = Some(first.clone());
        while let Some(line) = next {
            match topic(&line) {
                Some(_) if told == LOG_LINES_PER_SECOND_MAX => untold += 1,
                Some(topic) => {
                    told += 1;
                    publish_log_line(&broker, topic, &line);
                }
                None => {}
            }
            next = receive_until(second, &mut lines).await;
        }
        if untold > 0 {
            publish_log_line(&broker, LOG_WARN, &summary(&first, untold));
        }
    }
}

async fn receive_until(moment: Instant, lines: &mut mpsc::Receiver<LogLine>) -> Option<LogLine> {
    tokio::select! {
        line = lines.recv() => line,
        () = sleep_until(moment) => None,
    }
}

fn summary(first: &LogLine, untold: u64) -> LogLine {
    let message = format!("{untold} more lines were written within a second; the log has them");
    LogLine { level: "WARN", logger: "log".into(), message, error: None, ..first.clone() }
}

pub(crate) fn publish_log_line(broker: &BrokerState, topic: &str, line: &LogLine) {
    let event = LogEventVO::of_line(line.at, line.level, &line.logger, &line.message, line.error.as_deref());
    if let Some(topic) = translate::topic_of(topic) {
        broker.hub.publish_message(broker.clock.now(), &topic, &wire::json::encode(&event));
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

/// The logger, in the log and on the topic.
pub(crate) const SLOW_CONSUMER: &str = "broker.slow-consumer";

/// Half of the stall limit of a client is over. It is warned of once until the client has nearly caught up.
pub(crate) fn warn_slow_consumer(broker: &BrokerState, session: &str, user: Option<&str>) {
    broker.counters.on_slow_consumer();
    let user = user.unwrap_or("an anonymous client");
    let message = format!("session {session} of {user} is a slow consumer: it reads nothing and may be disconnected");
    tracing::warn!(target: SLOW_CONSUMER, "{message}");
    // The log's own path to the topics omits lines of the broker.
    let line = LogLine { at: broker.access.now(), level: "WARN", logger: SLOW_CONSUMER.into(), message, error: None };
    publish_log_line(broker, LOG_WARN, &line);
}

#[cfg(test)]
mod tests {
    use bus::RequestPayload;
    use domain::event::{Alarm, AlarmLevel};
    use domain::risk::{RiskScope, TradingState, TradingStateChange};
    use domain::{Answer, Event, Query, Timestamp};
    use stomp::DestinationPattern;
    use stomp::lanes::{OutboundLanes, RELIABLE_BYTES_MAX};
    use stomp::session::{AckMode, Subscription, SubscriptionKey};

    use super::*;
    use crate::hub::event_message::ReplayPosition;
    use crate::hub::hub_handle::HubHandle;
    use crate::hub::outbound_queue::OutboundQueue;
    use crate::state::tests::{broker_state, broker_state_answering};

    fn everything() -> Subscription {
        let (key, patterns) = (SubscriptionKey(1), [DestinationPattern::parse("/topic/>").unwrap()].into());
        Subscription { key, patterns, mode: AckMode::Auto, prefetch: 1, no_local: false, snapshot: false, after: None }
    }

    fn alarm(sequence: u64) -> PublishedEvent {
        let alarm = Alarm { level: AlarmLevel::Warn, code: "story".into(), text: "text".into() };
        PublishedEvent { sequence, at: Timestamp(0), event: Event::Alarm(alarm.into()) }
    }

    /// A replay that joins behind what the engine has answered with has all up to there from history.
    #[tokio::test]
    async fn what_was_published_before_the_engine_answered_is_told_before_a_replay_may_join() {
        let (broker, _folder) = broker_state(2);
        let place =
            HubHandle::register(&broker.hub, OutboundQueue::new(&OutboundLanes::unthrottled(), RELIABLE_BYTES_MAX));
        place.subscribe(everything()).unwrap();
        let mut listener = subscribe_feed(&broker);
        broker.hub.on_events_lost();
        for sequence in [1, 2, 3] {
            broker.bus.feed.publish(&alarm(sequence));
        }
        assert_eq!(broker.hub.lock().last_position(), None);
        warm_start::start(&broker, &mut listener).await;
        assert_eq!((listener.waiting(), broker.hub.lock().told()), (0, 3));
        // The first two have no id; the third is the first that a replay may take from here.
        assert_eq!(broker.hub.lock().last_position(), Some(ReplayPosition { sequence: 3, index: 0 }));
        let behind = |sequence| broker.hub.lock().is_here_behind(ReplayPosition::end_of(sequence));
        assert_eq!([behind(1), behind(2)], [false, true]);
    }

    fn halted(asked: &RequestPayload) -> Answer {
        let RequestPayload::Query(query) = asked else { return Answer::Done };
        match **query {
            Query::TradingStates => Answer::TradingStates(vec![TradingStateChange {
                scope: RiskScope::Platform,
                state: TradingState::Halted,
                at: Timestamp(0),
                reason: None,
                changed_by: None,
            }]),
            _ => Answer::Done,
        }
    }

    /// It has happened before, under an event-id that is not known here: whoever follows the topic has it from history.
    #[tokio::test]
    async fn state_that_is_loaded_after_a_loss_is_shown_in_snapshots_and_never_told_as_news() {
        let (broker, _folder) = broker_state_answering(2, halted);
        let place =
            HubHandle::register(&broker.hub, OutboundQueue::new(&OutboundLanes::unthrottled(), RELIABLE_BYTES_MAX));
        place.subscribe(everything()).unwrap();
        let mut listener = subscribe_feed(&broker);
        broker.bus.feed.publish(&alarm(3));
        warm_start::load_state(&broker, &mut listener).await;
        // What was published meanwhile was told before anyone is shown the state.
        assert_eq!((place.mailbox.depth().messages, listener.waiting()), (1, 0));
        let wanted = Subscription { key: SubscriptionKey(2), snapshot: true, ..everything() };
        let (mut snapshots, mut shown) = (place.subscribe(wanted).unwrap().snapshots, Vec::new());
        assert!(place.next_snapshot_step(&mut snapshots[0], &broker.bus.catalogue.current(), &mut shown));
        assert_eq!(shown.len(), 1, "the trading state");
    }

    /// A snapshot of less than all would look like all.
    #[tokio::test]
    async fn whoever_connects_waits_until_the_state_is_loaded() {
        let (broker, _folder) = broker_state(2);
        let first = broker.loading.begin();
        let mut waits = tokio::spawn({
            let broker = broker.clone();
            async move { broker.loading.wait_until_loaded().await }
        });
        yield_now().await;
        assert!(!waits.is_finished());
        drop(first);
        (&mut waits).await.unwrap();
    }
}
