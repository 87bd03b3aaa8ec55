//! Slow-consumer warning, once until the client has nearly caught up.

use bus::operations::LogLine;

use crate::publisher::{LOG_WARN, publish_log_line};
use crate::state::BrokerState;

/// The logger, in the log and on the topic.
pub(crate) const SLOW_CONSUMER: &str = "broker.slow-consumer";

/// Half of the stall limit of a client is over.
pub(crate) fn warn_slow_consumer(broker: &BrokerState, session: &str, user: Option<&str>) {
    broker.counters.on_slow_consumer();
    let user = user.unwrap_or("an anonymous client");
    let message = format!("session {session} of {user} is a slow consumer: it reads nothing and may be disconnected");
    tracing::warn!(target: SLOW_CONSUMER, "{message}");
    // The log's own path to the topics omits lines of the broker.
    let line = LogLine { at: broker.access.now(), level: "WARN", logger: SLOW_CONSUMER.into(), message, error: None };
    publish_log_line(broker, LOG_WARN, &line);
}
