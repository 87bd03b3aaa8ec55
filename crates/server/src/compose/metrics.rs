//! Numbers of the program for whoever watches it. What each is stands in `docs/metrics.md`; a name is there also while
//! nothing is to be counted under it.

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
mod topics;

use std::fmt;
use std::sync::{Arc, OnceLock};

use bus::Feed;
use prometheus_client::encoding::text::encode_registry;
use prometheus_client::encoding::{DescriptorEncoder, EncodeGaugeValue, EncodeLabelSet, EncodeMetric, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

use super::foundation::Foundation;
use orders::OrderChanges;

pub(super) struct Metrics {
    registry: Registry,
    changes: OrderChanges,
    topics: Arc<OnceLock<broker::Watch>>,
}

impl Metrics {
    pub(super) fn new(foundation: &Foundation) -> Self {
        let (journal, read_model) = (foundation.journal.watch(), foundation.read_model.clone());
        let (changes, topics) = (OrderChanges::default(), Arc::<OnceLock<_>>::default());
        let mut registry = Registry::default();
        let ours = registry.sub_registry_with_prefix("rialto");
        ours.register_collector(Box::new(changes.clone()));
        ours.register_collector(Box::new(storage::Disk { journal, read_model }));
        ours.register_collector(Box::new(inbox::Door(foundation.inbox.clone())));
        ours.register_collector(Box::new(clock::Hands::start(foundation.clock.clone())));
        ours.register_collector(Box::new(topics::Topics(topics.clone())));
        ours.register_collector(Box::new(log::Log));
        registry.register_collector(Box::new(process::Process));
        Self { registry, changes, topics }
    }

    /// Where the broker is to be told, once it is there.
    pub(super) fn topics(&self) -> Arc<OnceLock<broker::Watch>> {
        self.topics.clone()
    }

    /// Counts changes of orders until nobody holds the numbers any more.
    pub(super) fn count_orders(&self, feed: Feed) -> std::io::Result<()> {
        self.changes.count(feed)
    }

    pub(super) fn write(&self, text: &mut String) {
        encode_registry(text, &self.registry).expect("a text takes everything");
    }
}

type Written = fmt::Result;

fn put_gauge(encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, value: impl EncodeGaugeValue) -> Written {
    encoder.encode_descriptor(name, help, None, MetricType::Gauge)?.encode_gauge(&value)
}

fn put_counter(encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, value: u64) -> Written {
    ConstCounter::new(value).encode(encoder.encode_descriptor(name, help, None, MetricType::Counter)?)
}

fn put_gauges<L: EncodeLabelSet>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    values: impl IntoIterator<Item = (L, f64)>,
) -> Written {
    let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
    for (labels, value) in values {
        ConstGauge::new(value).encode(metric.encode_family(&labels)?)?;
    }
    Ok(())
}

fn put_counters<L: EncodeLabelSet>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    values: impl IntoIterator<Item = (L, u64)>,
) -> Written {
    let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
    for (labels, value) in values {
        ConstCounter::new(value).encode(metric.encode_family(&labels)?)?;
    }
    Ok(())
}

/// How often each size came, and their sum. Bucket `n` counts up to `bound(n)`, the last one all the rest.
fn put_histogram(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    (counts, sum): (&[u64], f64),
    bound: impl Fn(i32) -> f64,
) -> Written {
    let bounds = (0..).map(bound).take(counts.len().saturating_sub(1)).chain([f64::INFINITY]);
    let buckets: Vec<_> = bounds.zip(counts.iter().copied()).collect();
    let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Histogram)?;
    metric.encode_histogram::<NoLabelSet>(sum, counts.iter().sum(), &buckets, None)
}
