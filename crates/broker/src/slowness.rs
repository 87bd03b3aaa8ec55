//! What is said about a client that falls behind: once, until it has nearly caught up.

use bus::operations::LogLine;

use crate::house::House;
use crate::publishing::{LOG_WARN, announce};

/// Who says it, in the log and on the topic.
pub(crate) const SLOW_CONSUMER: &str = "broker.slow-consumer";

/// Half of the time is over for which a client may take nothing.
pub(crate) fn tell(house: &House, session: &str, user: Option<&str>) {
    house.counters.fell_behind();
    let user = user.unwrap_or("nobody in particular");
    let message = format!("session {session} of {user} reads slowly: it takes nothing of what waits for it");
    tracing::warn!(target: SLOW_CONSUMER, "{message}");
    // The log's own way to the topics leaves out what the broker says.
    let line = LogLine { at: house.access.now(), level: "WARN", logger: SLOW_CONSUMER.into(), message, error: None };
    announce(house, LOG_WARN, &line);
}
