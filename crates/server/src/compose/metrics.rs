//! Metrics of the program. `docs/metrics.md` describes each; a metric is listed also while nothing was counted under it.

/// The clock.
mod clock;
/// What came through the inbox.
mod inbox;
/// The log.
mod log;
/// Changes of orders, counted as they happen.
mod orders;
/// What the operating system says of us.
mod process;
/// The journal and the read model.
mod storage;
/// The publish-subscribe door.
mod broker_metrics;

use std::fmt;
use std::sync::{Arc, OnceLock};

use bus::EventFeed;
use prometheus_client::encoding::text::encode_registry;
use prometheus_client::encoding::{DescriptorEncoder, EncodeGaugeValue, EncodeLabelSet, EncodeMetric, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

use super::recovered_core::Core;
use orders::OrderChangeCollector;

pub(super) struct ProgramMetrics {
    registry: Registry,
    changes: OrderChangeCollector,
    broker: Arc<OnceLock<broker::BrokerMonitor>>,
}

impl ProgramMetrics {
    pub(super) fn new(core: &Core) -> Self {
        let (journal, read_model) = (core.journal.monitor(), core.read_model.clone());
        let (changes, broker) = (OrderChangeCollector::default(), Arc::<OnceLock<_>>::default());
        let mut registry = Registry::default();
        let ours = registry.sub_registry_with_prefix("rialto");
        ours.register_collector(Box::new(changes.clone()));
        ours.register_collector(Box::new(storage::StorageCollector { journal, read_model }));
        ours.register_collector(Box::new(inbox::InboxCollector(core.inbox.clone())));
        ours.register_collector(Box::new(clock::ClockCollector::start(core.clock.clone())));
        ours.register_collector(Box::new(broker_metrics::BrokerCollector(broker.clone())));
        ours.register_collector(Box::new(log::Log));
        registry.register_collector(Box::new(process::ProcessCollector));
        Self { registry, changes, broker }
    }

    /// Where the broker is to be told, once it is there.
    pub(super) fn broker_slot(&self) -> Arc<OnceLock<broker::BrokerMonitor>> {
        self.broker.clone()
    }

    /// Counts changes of orders until nobody holds the numbers any more.
    pub(super) fn count_orders(&self, feed: EventFeed) -> std::io::Result<()> {
        self.changes.start(feed)
    }

    pub(super) fn write(&self, text: &mut String) {
        encode_registry(text, &self.registry).expect("a text takes everything");
    }
}

type EncodeResult = fmt::Result;

fn encode_gauge(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    value: impl EncodeGaugeValue,
) -> EncodeResult {
    encoder.encode_descriptor(name, help, None, MetricType::Gauge)?.encode_gauge(&value)
}

fn encode_counter(encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, value: u64) -> EncodeResult {
    ConstCounter::new(value).encode(encoder.encode_descriptor(name, help, None, MetricType::Counter)?)
}

fn encode_gauges<L: EncodeLabelSet>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    values: impl IntoIterator<Item = (L, f64)>,
) -> EncodeResult {
    let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
    for (labels, value) in values {
        ConstGauge::new(value).encode(metric.encode_family(&labels)?)?;
    }
    Ok(())
}

fn encode_counters<L: EncodeLabelSet>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    values: impl IntoIterator<Item = (L, u64)>,
) -> EncodeResult {
    let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
    for (labels, value) in values {
        ConstCounter::new(value).encode(metric.encode_family(&labels)?)?;
    }
    Ok(())
}

/// How often each size came, and their sum. Bucket `n` counts up to `bound(n)`, the last one all the rest.
fn encode_histogram(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    (counts, sum): (&[u64], f64),
    bound: impl Fn(i32) -> f64,
) -> EncodeResult {
    let bounds = (0..).map(bound).take(counts.len().saturating_sub(1)).chain([f64::INFINITY]);
    let buckets: Vec<_> = bounds.zip(counts.iter().copied()).collect();
    let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Histogram)?;
    metric.encode_histogram::<NoLabelSet>(sum, counts.iter().sum(), &buckets, None)
}
