//! Metrics of the program. `docs/metrics.md` describes each; a metric is listed also while nothing was counted under it.

/// Encoding of metrics in Prometheus format.
mod encoding;
/// What came through the inbox.
mod inbox;
/// Changes of orders, counted as they happen.
mod orders;
/// Memory, open files, clock and log of the process.
mod process;
/// The journal and the read model.
mod storage;
/// The broker.
mod broker_metrics;
/// A member of a cluster.
mod cluster_metrics;

use std::sync::Arc;

use ::storage::ReadModel;
use ::storage::journal::JournalMonitor;
use broker::BrokerMonitor;
use bus::{EventFeed, Inbox};
use prometheus_client::encoding::text::encode_registry;
use prometheus_client::registry::Registry;

use crate::cluster::cluster_state::ClusterState;
use orders::OrderChangeCollector;

/// What is counted from before the engine runs.
pub(super) struct MetricSources {
    journal: JournalMonitor,
    read_model: Arc<ReadModel>,
    inbox: Inbox,
    clock: process::ClockCollector,
    changes: OrderChangeCollector,
}

impl MetricSources {
    pub(super) fn start(
        journal: JournalMonitor,
        read_model: &Arc<ReadModel>,
        inbox: &Inbox,
        clock: &runtime::EngineClock,
        feed: &EventFeed,
    ) -> std::io::Result<Self> {
        let clock = process::ClockCollector::start(clock.clone());
        let changes = OrderChangeCollector::start(feed.clone())?;
        Ok(Self { journal, read_model: read_model.clone(), inbox: inbox.clone(), clock, changes })
    }
}

pub(super) struct ProgramMetrics {
    registry: Registry,
}

impl ProgramMetrics {
    /// With the cluster, where the server is a member of one.
    pub(super) fn new(sources: MetricSources, broker: BrokerMonitor, cluster: Option<Arc<ClusterState>>) -> Self {
        let MetricSources { journal, read_model, inbox, clock, changes } = sources;
        let mut registry = Registry::default();
        let ours = registry.sub_registry_with_prefix("rialto");
        ours.register_collector(Box::new(changes));
        ours.register_collector(Box::new(storage::StorageCollector { journal, read_model }));
        ours.register_collector(Box::new(inbox::InboxCollector(inbox)));
        ours.register_collector(Box::new(clock));
        ours.register_collector(Box::new(broker_metrics::BrokerCollector(broker)));
        ours.register_collector(Box::new(process::LogCollector));
        if let Some(cluster) = cluster {
            ours.register_collector(Box::new(cluster_metrics::ClusterCollector(cluster)));
        }
        registry.register_collector(Box::new(process::ProcessCollector));
        Self { registry }
    }

    pub(super) fn write(&self, text: &mut String) {
        encode_registry(text, &self.registry).expect("a text takes everything");
    }
}
