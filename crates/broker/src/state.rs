//! Broker state: everything that connections share.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

use access::Access;
use bus::{Bus, CommandForwarder};
use domain::{ReferenceData, SecurityId};
use net::ConnectionLimiter;
use stomp::lanes::{OutboundLanes, Rate};
use stomp::session::StompRules;
use stomp::{DestinationPattern, MonotonicTime};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use crate::connection::known_topics::KnownTopics;
use crate::hub::Hub;
use crate::limits::{BrokerLimits, REPLAY_READS_MAX};
use crate::metrics::{BrokerCounters, BrokerMetrics};
use crate::publish_lag::PublishLag;
use crate::state_loading::StateLoading;

/// Settings of the broker.
#[derive(Debug, Clone)]
pub struct BrokerSettings {
    /// Name and version, for the `server` header.
    pub server: String,
    /// Price messages per second for a WebSocket.
    pub max_rate_per_connection: Rate,
    /// A price topic that is slower than this is not throttled.
    pub min_rate_per_consumer: Rate,
    /// Destinations to which clients may send.
    pub client_destinations: Vec<DestinationPattern>,
    /// Strategies run in processes of their own: the queues of the strategy bus are open to them.
    pub distributed: bool,
    /// The first message has the next number: greater than any before a restart.
    pub last_message: u64,
    pub limits: BrokerLimits,
}

pub(crate) struct BrokerState {
    pub(crate) bus: Bus,
    pub(crate) access: Arc<Access>,
    /// The way of a follower to the leader of its cluster.
    pub(crate) forwarder: Option<Arc<dyn CommandForwarder>>,
    pub(crate) hub: Arc<Hub>,
    pub(crate) clock: BrokerClock,
    pub(crate) loading: StateLoading,
    pub(crate) client_destinations: Vec<DestinationPattern>,
    pub(crate) distributed: bool,
    pub(crate) counters: BrokerCounters,
    /// A permit for each concurrent read of history.
    pub(crate) replay_reads: Arc<Semaphore>,
    pub(crate) publish_lag: PublishLag,
    pub(crate) limits: BrokerLimits,
    pub(crate) stream_rules: Arc<StompRules>,
    pub(crate) websocket_rules: Arc<StompRules>,
    max_rate: Rate,
    pub(crate) connection_limiter: Arc<ConnectionLimiter>,
}

/// Intervals of silence that a WebSocket is allowed: browsers delay the timers of background pages.
const WEBSOCKET_GRACE: u32 = 3;

impl BrokerState {
    pub(crate) fn new(
        settings: BrokerSettings,
        bus: Bus,
        access: Arc<Access>,
        forwarder: Option<Arc<dyn CommandForwarder>>,
    ) -> Arc<Self> {
        let BrokerLimits { connect_wait, body_bytes, .. } = settings.limits;
        let limits = stomp::FrameLimits { body_bytes, ..stomp::FrameLimits::default() };
        let topics = Arc::new(KnownTopics::new(settings.client_destinations.clone()));
        let rules = StompRules { connect_wait, limits, topics, ..StompRules::new(&settings.server) };
        let long_gap: Duration = settings.min_rate_per_consumer.gap();
        Arc::new(Self {
            bus,
            access,
            forwarder,
            hub: Hub::new(long_gap, &settings.limits, settings.last_message),
            replay_reads: Arc::new(Semaphore::new(REPLAY_READS_MAX)),
            clock: BrokerClock::start(),
            loading: StateLoading::default(),
            client_destinations: settings.client_destinations,
            distributed: settings.distributed,
            counters: BrokerCounters::default(),
            publish_lag: PublishLag::default(),
            websocket_rules: Arc::new(StompRules { heart_beat_grace: WEBSOCKET_GRACE, ..rules.clone() }),
            stream_rules: Arc::new(rules),
            max_rate: settings.max_rate_per_connection,
            connection_limiter: ConnectionLimiter::new(settings.limits.connection_limits()),
            limits: settings.limits,
        })
    }

    /// Where the state is not loaded in the time that a client has for its CONNECT, the session ends with that time.
    pub(crate) async fn wait_until_loaded(&self) {
        drop(timeout(self.limits.connect_wait, self.loading.wait_until_loaded()).await);
    }

    pub(crate) fn metrics(&self) -> BrokerMetrics {
        self.counters.add_to(BrokerMetrics { oldest_event: self.oldest_event(), ..self.hub.gauges() })
    }

    /// Age of the oldest unpublished event; never blocks.
    pub(crate) fn oldest_event(&self) -> Duration {
        self.publish_lag.lag(self.clock.now())
    }

    /// The lanes of a WebSocket.
    pub(crate) fn new_throttled_lanes(&self) -> OutboundLanes {
        OutboundLanes::throttled(self.max_rate)
    }
}

/// Monitors a broker without keeping it alive.
#[derive(Clone)]
pub struct BrokerMonitor(Weak<BrokerState>);

impl BrokerMonitor {
    pub(crate) fn new(broker: &Arc<BrokerState>) -> Self {
        Self(Arc::downgrade(broker))
    }

    /// Age of the oldest unpublished event. It never blocks, also where the broker is stalled.
    pub fn oldest_event(&self) -> Option<Duration> {
        self.0.upgrade().map(|broker| broker.oldest_event())
    }

    /// Counts changes of subscriptions; `None` where the broker has ended.
    pub fn subscription_changes(&self) -> Option<u64> {
        self.0.upgrade().map(|broker| broker.hub.lock().subscription_changes)
    }

    /// Securities whose prices some client subscribes to; none where the broker has ended.
    pub fn wanted_prices(&self, reference: &ReferenceData) -> BTreeSet<SecurityId> {
        self.0.upgrade().map(|broker| broker.hub.wanted_prices(reference)).unwrap_or_default()
    }

    /// `None` where the broker has ended.
    pub fn metrics(&self) -> Option<BrokerMetrics> {
        self.0.upgrade().map(|broker| broker.metrics())
    }
}

/// Later than any deadline of a connection.
const FAR_FUTURE: Duration = Duration::from_secs(24 * 60 * 60);

/// Monotonic nanoseconds since the broker was created, by the clock of its runtime, so that whoever moves that clock moves this one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BrokerClock(Instant);

impl BrokerClock {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn now(&self) -> MonotonicTime {
        MonotonicTime(0).after(self.0.elapsed())
    }

    /// The instant for a timer; one that is never reached is checked once a day.
    pub(crate) fn instant(&self, at: MonotonicTime) -> Instant {
        let far = Instant::now() + FAR_FUTURE;
        self.0.checked_add(at.since(MonotonicTime(0))).map_or(far, |instant| instant.min(far))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use bus::inbox::inbox;
    use bus::{Catalogue, EventFeed, Reply, RequestPayload};
    use domain::{Answer, Timestamp};
    use samples::NullHistory;
    use tempfile::TempDir;

    use super::*;

    /// State of a broker whose engine is at this sequence, all of it in the journal, and answers nothing else.
    pub(crate) fn broker_state(sequence: u64) -> (Arc<BrokerState>, TempDir) {
        broker_state_answering(sequence, |_| Answer::Done)
    }

    /// The same with an engine that answers so.
    pub(crate) fn broker_state_answering(
        sequence: u64,
        answer: fn(&RequestPayload) -> Answer,
    ) -> (Arc<BrokerState>, TempDir) {
        let ((inbox, lanes), bystander) = (inbox(), Arc::new(NullHistory::with_durable(move || sequence)));
        std::thread::spawn(move || {
            for request in &lanes.requests {
                let outcome = Ok(answer(&request.payload));
                request.reply_to.send(Reply { sequence, outcome });
            }
        });
        let (feed, catalogue) = (EventFeed::default(), Catalogue::default());
        let bus = Bus { inbox, feed, catalogue, history: bystander.clone(), journal: bystander };
        let settings = BrokerSettings {
            server: "Rialto/test".into(),
            max_rate_per_connection: Rate::per_second(50).unwrap(),
            min_rate_per_consumer: Rate::per_second(1).unwrap(),
            client_destinations: vec![],
            distributed: false,
            last_message: 0,
            limits: BrokerLimits::default(),
        };
        let folder = tempfile::tempdir().unwrap();
        let access = Access::open(
            Arc::new(access::UserStore::in_memory(folder.path()).unwrap()),
            access::AccessSettings::default(),
            Arc::new(|| Timestamp(0)),
        )
        .unwrap();
        let broker = BrokerState::new(settings, bus, access.into(), None);
        // As after a start.
        drop(broker.loading.begin());
        (broker, folder)
    }
}
