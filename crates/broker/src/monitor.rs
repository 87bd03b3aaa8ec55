//! Broker monitor: metrics and publish lag for the server, without keeping the broker alive.

use std::sync::{Arc, Weak};

use crate::metrics::BrokerMetrics;
use crate::state::BrokerState;

/// Monitors a broker without keeping it alive.
#[derive(Clone)]
pub struct BrokerMonitor(Weak<BrokerState>);

impl BrokerMonitor {
    pub(crate) fn new(broker: &Arc<BrokerState>) -> Self {
        Self(Arc::downgrade(broker))
    }

    /// Age of the oldest unpublished event. It never blocks, also where the broker is stalled.
    pub fn oldest_event(&self) -> Option<std::time::Duration> {
        self.0.upgrade().map(|broker| broker.oldest_event())
    }

    /// `None` where the broker has ended.
    pub fn metrics(&self) -> Option<BrokerMetrics> {
        self.0.upgrade().map(|broker| broker.metrics())
    }
}
