//! Metrics of the journal and the read model.

use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use storage::ReadModel;
use storage::journal::{JournalMetrics, JournalMonitor};

use super::encoding::{EncodeResult, encode_counter, encode_gauge, encode_histogram};

const MICROS_PER_SECOND: f64 = 1e6;

pub(super) struct StorageCollector {
    pub(super) journal: JournalMonitor,
    pub(super) read_model: Arc<ReadModel>,
}

impl fmt::Debug for StorageCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> EncodeResult {
        f.write_str("Disk")
    }
}

impl Collector for StorageCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> EncodeResult {
        let (numbers, durable) = (self.journal.metrics(), self.journal.durable());
        let behind = durable.saturating_sub(self.read_model.applied());
        let gauges = [
            ("journal_queue_batches", "Batches that wait for the disk", numbers.queued_batches as u64),
            ("journal_queue_bytes", "Bytes that wait for the disk", numbers.queued_bytes as u64),
            ("journal_durable_sequence", "The last sequence that is safe on disk", durable),
            ("journal_durable_lag", "Sequences that are not safe on disk yet", self.journal.lag()),
            ("read_model_lag", "Sequences that the read model is behind the journal", behind),
        ];
        for (name, help, value) in gauges {
            encode_gauge(&mut encoder, name, help, value)?;
        }
        let counters = [
            ("journal_frames", "Group commits since the start", numbers.frames),
            ("journal_records", "Records since the start", numbers.records),
            ("journal_bytes", "Bytes since the start", numbers.bytes),
        ];
        for (name, help, value) in counters {
            encode_counter(&mut encoder, name, help, value)?;
        }
        encode_histograms(&mut encoder, &numbers)
    }
}

fn encode_histograms(encoder: &mut DescriptorEncoder<'_>, numbers: &JournalMetrics) -> EncodeResult {
    let help = "How long forcing the journal to the disk took";
    let took = (&numbers.syncs.buckets[..], numbers.syncs.total.as_secs_f64());
    encode_histogram(encoder, "journal_sync_seconds", help, took, |n| 2_f64.powi(n) / MICROS_PER_SECOND)?;
    #[allow(clippy::cast_precision_loss, reason = "a sum for people to divide by")]
    let records = (&numbers.commits[..], numbers.records as f64);
    encode_histogram(encoder, "journal_batch_records", "Records of a group commit", records, |n| 2_f64.powi(n))
}
