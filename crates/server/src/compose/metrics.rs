//! Numbers of the program for whoever watches it: the journal, the read model, what orders went through, the process.

use std::fmt;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use bus::{Feed, Listener};
use domain::{Event, EventClass};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode_registry;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;
use storage::ReadModel;
use storage::journal::{SyncTimes, Watch};

/// Changes of orders that may wait to be counted; of more some are missed, and that is counted.
const ORDER_CHANGES_MAX: usize = 65_536;
/// How often they are counted. Looking now and then costs the engine nothing, being woken would.
const COUNT_EVERY: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ChangeLabels {
    status: &'static str,
    door: &'static str,
}

pub(super) struct Metrics {
    registry: Registry,
    changes: Family<ChangeLabels, Counter>,
    missed: Counter,
}

impl Metrics {
    pub(super) fn new(journal: Watch, read_model: Arc<ReadModel>) -> Self {
        let (changes, missed) = (Family::default(), Counter::default());
        let mut registry = Registry::default();
        let ours = registry.sub_registry_with_prefix("rialto");
        ours.register("order_changes", "Changes of orders, by the status they led to", changes.clone());
        ours.register("order_changes_missed", "Times that counting changes of orders fell behind", missed.clone());
        ours.register_collector(Box::new(Storage { journal, read_model }));
        registry.register_collector(Box::new(Process));
        Self { registry, changes, missed }
    }

    pub(super) fn write(&self, text: &mut String) {
        encode_registry(text, &self.registry).expect("a text takes everything");
    }

    /// Counts until nobody holds the numbers any more.
    pub(super) fn count_orders(self: &Arc<Self>, feed: Feed) -> std::io::Result<()> {
        let metrics = Arc::downgrade(self);
        thread::Builder::new().name("metrics".into()).spawn(move || count(&metrics, &feed))?;
        Ok(())
    }

    fn take(&self, listener: &mut Listener) {
        while let Some(published) = listener.poll() {
            if let Event::Order(order) = published.event {
                let labels = ChangeLabels { status: order.status().name(), door: wire::order::door(&order.source) };
                self.changes.get_or_create(&labels).inc();
            }
        }
    }
}

fn count(metrics: &Weak<Metrics>, feed: &Feed) {
    let listen = || feed.listen(&[EventClass::Order], ORDER_CHANGES_MAX);
    let mut listener = listen();
    while let Some(metrics) = metrics.upgrade() {
        metrics.take(&mut listener);
        if listener.is_over() {
            metrics.missed.inc();
            listener = listen();
        }
        drop(metrics);
        thread::sleep(COUNT_EVERY);
    }
}

/// Read from the journal and the read model when somebody asks.
struct Storage {
    journal: Watch,
    read_model: Arc<ReadModel>,
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Storage")
    }
}

impl Collector for Storage {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let (numbers, durable) = (self.journal.metrics(), self.journal.durable());
        let lag = durable.saturating_sub(self.read_model.applied());
        let gauges = [
            ("journal_queue_batches", "Batches that wait for the disk", numbers.queued_batches as u64),
            ("journal_queue_bytes", "Bytes that wait for the disk", numbers.queued_bytes as u64),
            ("journal_durable_sequence", "The last sequence that is safe on disk", durable),
            ("read_model_lag", "Sequences that the read model is behind the journal", lag),
        ];
        for (name, help, value) in gauges {
            put_gauge(&mut encoder, name, help, value)?;
        }
        let counters = [
            ("journal_frames", "Group commits since the start", numbers.frames),
            ("journal_records", "Records since the start", numbers.records),
            ("journal_bytes", "Bytes since the start", numbers.bytes),
        ];
        for (name, help, value) in counters {
            put_counter(&mut encoder, name, help, value)?;
        }
        put_syncs(&mut encoder, &numbers.syncs)
    }
}

/// How long forcing the journal to the disk took.
fn put_syncs(encoder: &mut DescriptorEncoder<'_>, syncs: &SyncTimes) -> fmt::Result {
    let bound = |n: usize| {
        if n + 1 < syncs.buckets.len() { 2_f64.powi(i32::try_from(n).unwrap_or(i32::MAX)) / 1e6 } else { f64::INFINITY }
    };
    let buckets: Vec<_> = syncs.buckets.iter().enumerate().map(|(n, count)| (bound(n), *count)).collect();
    let help = "How long forcing the journal to the disk took";
    let mut metric = encoder.encode_descriptor("journal_sync_seconds", help, None, MetricType::Histogram)?;
    let count = syncs.buckets.iter().sum();
    metric.encode_histogram::<NoLabelSet>(syncs.total.as_secs_f64(), count, &buckets, None)
}

/// What the operating system says of us; nothing where it does not.
#[derive(Debug)]
struct Process;

/// The kernel counts memory in pages of this size.
const PAGE_BYTES: u64 = 4_096;

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        if let Some(bytes) = resident_bytes() {
            put_gauge(&mut encoder, "process_resident_memory_bytes", "Memory in use", bytes)?;
        }
        if let Ok(open) = std::fs::read_dir("/proc/self/fd") {
            put_gauge(&mut encoder, "process_open_fds", "Open files and sockets", open.count() as u64)?;
        }
        Ok(())
    }
}

fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    pages.checked_mul(PAGE_BYTES)
}

fn put_gauge(encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, value: u64) -> fmt::Result {
    ConstGauge::new(value).encode(encoder.encode_descriptor(name, help, None, MetricType::Gauge)?)
}

fn put_counter(encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, value: u64) -> fmt::Result {
    ConstCounter::new(value).encode(encoder.encode_descriptor(name, help, None, MetricType::Counter)?)
}
