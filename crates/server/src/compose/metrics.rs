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
use std::sync::Arc;

use ::storage::ReadModel;
use ::storage::journal::JournalMonitor;
use broker::BrokerMonitor;
use bus::{EventFeed, Inbox};
use prometheus_client::encoding::text::encode_registry;
use prometheus_client::encoding::{DescriptorEncoder, EncodeGaugeValue, EncodeLabelSet, EncodeMetric, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

use super::recovered_core::Core;
use orders::OrderChangeCollector;

/// What is counted from before the engine runs.
pub(super) struct MetricSources {
    journal: JournalMonitor,
    read_model: Arc<ReadModel>,
    inbox: Inbox,
    clock: clock::ClockCollector,
    changes: OrderChangeCollector,
}

impl MetricSources {
    pub(super) fn start(core: &Core, feed: EventFeed) -> std::io::Result<Self> {
        Ok(Self {
            journal: core.journal.monitor(),
            read_model: core.read_model.clone(),
            inbox: core.inbox.clone(),
            clock: clock::ClockCollector::start(core.clock.clone()),
            changes: OrderChangeCollector::start(feed)?,
        })
    }
}

pub(super) struct ProgramMetrics {
    registry: Registry,
}

impl ProgramMetrics {
    pub(super) fn new(sources: MetricSources, broker: BrokerMonitor) -> Self {
        let MetricSources { journal, read_model, inbox, clock, changes } = sources;
        let mut registry = Registry::default();
        let ours = registry.sub_registry_with_prefix("rialto");
        ours.register_collector(Box::new(changes));
        ours.register_collector(Box::new(storage::StorageCollector { journal, read_model }));
        ours.register_collector(Box::new(inbox::InboxCollector(inbox)));
        ours.register_collector(Box::new(clock));
        ours.register_collector(Box::new(broker_metrics::BrokerCollector(broker)));
        ours.register_collector(Box::new(log::Log));
        registry.register_collector(Box::new(process::ProcessCollector));
        Self { registry }
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
