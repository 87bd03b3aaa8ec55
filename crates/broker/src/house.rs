//! Broker state: everything that connections share.

use std::sync::Arc;
use std::time::Duration;

use access::Access;
use bus::Bus;
use stomp::Pattern;
use stomp::lanes::{Lanes, Rate};
use stomp::session::Rules;
use tokio::sync::Semaphore;

use crate::clock::Clock;
use crate::hub::Hub;
use crate::known_topics::KnownTopics;
use crate::lateness::Lateness;
use crate::limits::{Limits, REPLAY_READS_MAX};
use crate::numbers::{Counters, Numbers};
use crate::places::Places;

/// Settings of the broker.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Name and version, for the `server` header.
    pub server: String,
    /// Price messages per second for a WebSocket.
    pub max_rate_per_connection: Rate,
    /// A price topic that is slower than this is not throttled.
    pub min_rate_per_consumer: Rate,
    /// Destinations to which clients may send.
    pub client_destinations: Vec<Pattern>,
    /// Strategies run in processes of their own: the queues of the strategy bus are open to them.
    pub distributed: bool,
    /// The first message has the next number: greater than any before a restart.
    pub last_message: u64,
    pub limits: Limits,
}

pub(crate) struct House {
    pub(crate) bus: Bus,
    pub(crate) access: Arc<Access>,
    pub(crate) hub: Arc<Hub>,
    pub(crate) clock: Clock,
    pub(crate) client_destinations: Vec<Pattern>,
    pub(crate) distributed: bool,
    pub(crate) counters: Counters,
    /// A permit for each concurrent read of history.
    pub(crate) replay_reads: Arc<Semaphore>,
    pub(crate) lateness: Lateness,
    pub(crate) limits: Limits,
    pub(crate) stream_rules: Arc<Rules>,
    pub(crate) websocket_rules: Arc<Rules>,
    max_rate: Rate,
    pub(crate) places: Arc<Places>,
}

/// Intervals of silence that a WebSocket is allowed: browsers delay the timers of background pages.
const WEBSOCKET_GRACE: u32 = 3;

impl House {
    pub(crate) fn new(settings: Settings, bus: Bus, access: Arc<Access>) -> Arc<Self> {
        let Limits { connect_wait, body_bytes, .. } = settings.limits;
        let limits = stomp::Limits { body_bytes, ..stomp::Limits::default() };
        let topics = Arc::new(KnownTopics::new(settings.client_destinations.clone()));
        let rules = Rules { connect_wait, limits, topics, ..Rules::new(&settings.server) };
        let long_gap: Duration = settings.min_rate_per_consumer.gap();
        Arc::new(Self {
            bus,
            access,
            hub: Hub::new(long_gap, &settings.limits, settings.last_message),
            replay_reads: Arc::new(Semaphore::new(REPLAY_READS_MAX)),
            clock: Clock::start(),
            client_destinations: settings.client_destinations,
            distributed: settings.distributed,
            counters: Counters::default(),
            lateness: Lateness::default(),
            websocket_rules: Arc::new(Rules { heart_beat_grace: WEBSOCKET_GRACE, ..rules.clone() }),
            stream_rules: Arc::new(rules),
            max_rate: settings.max_rate_per_connection,
            places: Places::new(&settings.limits),
            limits: settings.limits,
        })
    }

    pub(crate) fn numbers(&self) -> Numbers {
        self.counters.add_to(Numbers { oldest_event: self.oldest_event(), ..self.hub.count() })
    }

    /// Age of the oldest unpublished event; never blocks.
    pub(crate) fn oldest_event(&self) -> Duration {
        self.lateness.age(self.clock.now())
    }

    /// The lanes of a WebSocket.
    pub(crate) fn throttled(&self) -> Lanes {
        Lanes::throttled(self.max_rate)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use bus::inbox::inbox;
    use bus::{Catalogue, Feed, Reply};
    use domain::{Answer, Timestamp};
    use samples::Bystander;
    use tempfile::TempDir;

    use super::*;

    /// A house whose engine is at this sequence, all of it in the journal, and answers nothing else.
    pub(crate) fn house(sequence: u64) -> (Arc<House>, TempDir) {
        let ((inbox, lanes), bystander) = (inbox(), Arc::new(Bystander::durable_up_to(move || sequence)));
        std::thread::spawn(move || {
            for request in &lanes.requests {
                request.promise.keep(Reply { sequence, outcome: Ok(Answer::Done) });
            }
        });
        let (feed, catalogue) = (Feed::default(), Catalogue::default());
        let bus = Bus { inbox, feed, catalogue, history: bystander.clone(), operations: bystander };
        let settings = Settings {
            server: "Rialto/test".into(),
            max_rate_per_connection: Rate::per_second(50).unwrap(),
            min_rate_per_consumer: Rate::per_second(1).unwrap(),
            client_destinations: vec![],
            distributed: false,
            last_message: 0,
            limits: Limits::default(),
        };
        let folder = tempfile::tempdir().unwrap();
        let access = Access::open(folder.path(), access::Settings::default(), Arc::new(|| Timestamp(0))).unwrap();
        (House::new(settings, bus, access.into()), folder)
    }
}
