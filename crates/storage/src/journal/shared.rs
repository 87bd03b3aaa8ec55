//! Shared state of the journal writer: durable sequence, failure, metrics.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// Sync times from below 1 µs to 2^23 µs (8 s) and beyond.
pub const SYNC_BUCKETS: usize = 25;
/// Records of one commit from 1 to 2^16 and beyond.
pub const COMMIT_BUCKETS: usize = 18;

#[derive(Default)]
pub(crate) struct JournalShared {
    /// The last sequence that the writer was given.
    submitted: AtomicU64,
    /// What the writer has finished. More than durable where other journals are waited for.
    committed: AtomicU64,
    durable: AtomicU64,
    failed: OnceLock<String>,
    spare_error: Mutex<Option<String>>,
    frames: AtomicU64,
    records: AtomicU64,
    bytes: AtomicU64,
    queued_batches: AtomicUsize,
    queued_bytes: AtomicUsize,
    syncs: [AtomicU64; SYNC_BUCKETS],
    sync_nanos: AtomicU64,
    commits: [AtomicU64; COMMIT_BUCKETS],
}

impl JournalShared {
    pub(crate) fn record_queued(&self, bytes: usize) {
        self.queued_batches.fetch_add(1, Ordering::Relaxed);
        self.queued_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn record_given(&self, last: u64) {
        self.submitted.store(last, Ordering::Relaxed);
    }

    pub(crate) fn record_taken(&self, bytes: usize) {
        self.queued_batches.fetch_sub(1, Ordering::Relaxed);
        self.queued_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(crate) fn queued_bytes(&self) -> usize {
        self.queued_bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn record_sync(&self, took: Duration) {
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.syncs[bucket(took)].fetch_add(1, Ordering::Relaxed);
        self.sync_nanos.fetch_add(nanos, Ordering::Relaxed);
    }

    pub(crate) fn record_frame(&self, records: u32, bytes: usize) {
        self.frames.fetch_add(1, Ordering::Relaxed);
        self.records.fetch_add(u64::from(records), Ordering::Relaxed);
        self.commits[commit_bucket(records)].fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn record_committed(&self, last: u64) {
        self.committed.store(last, Ordering::Release);
    }

    pub(crate) fn committed(&self) -> u64 {
        self.committed.load(Ordering::Acquire)
    }

    pub(crate) fn publish(&self, durable: u64) {
        self.durable.store(durable, Ordering::Release);
    }

    pub(crate) fn durable(&self) -> u64 {
        self.durable.load(Ordering::Acquire)
    }

    /// Only the first failure counts.
    pub(crate) fn fail(&self, reason: String) {
        let _ = self.failed.set(reason);
    }

    pub(crate) fn failure(&self) -> Option<&str> {
        self.failed.get().map(String::as_str)
    }

    pub(crate) fn record_spare_error(&self, error: Option<String>) {
        *self.spare_error.lock().unwrap_or_else(PoisonError::into_inner) = error;
    }
}

/// A view of a running journal that any thread may keep.
#[derive(Clone)]
pub struct JournalMonitor(pub(crate) Arc<JournalShared>);

/// Counts since the journal was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalMetrics {
    pub frames: u64,
    pub records: u64,
    pub bytes: u64,
    pub queued_batches: usize,
    pub queued_bytes: usize,
    pub syncs: SyncTimes,
    /// How many records a commit had: bucket `n` counts those of up to 2^n, and the last one all the rest.
    pub commits: [u64; COMMIT_BUCKETS],
}

/// How long syncs took: bucket `n` counts those below 2^n µs, and the last one all the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncTimes {
    pub buckets: [u64; SYNC_BUCKETS],
    pub total: Duration,
}

impl JournalMonitor {
    /// The last sequence that is durable, 0 before the first.
    pub fn durable(&self) -> u64 {
        self.0.durable()
    }

    /// How many sequences the writer was given that are not durable yet.
    pub fn lag(&self) -> u64 {
        // What is durable was given before, so in this order the durable sequence is never ahead of the given one.
        let durable = self.0.durable();
        self.0.submitted.load(Ordering::Relaxed).saturating_sub(durable)
    }

    /// Why the journal has failed, if it has.
    pub fn failure(&self) -> Option<String> {
        self.0.failure().map(str::to_owned)
    }

    /// Why there is no next segment yet, for example a full disk. The journal continues to the end of its current
    /// segment: stop accepting orders, while cancels and fills are still recorded.
    pub fn spare_error(&self) -> Option<String> {
        self.0.spare_error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn metrics(&self) -> JournalMetrics {
        let shared = &self.0;
        JournalMetrics {
            frames: shared.frames.load(Ordering::Relaxed),
            records: shared.records.load(Ordering::Relaxed),
            bytes: shared.bytes.load(Ordering::Relaxed),
            queued_batches: shared.queued_batches.load(Ordering::Relaxed),
            queued_bytes: shared.queued_bytes(),
            syncs: SyncTimes {
                buckets: std::array::from_fn(|n| shared.syncs[n].load(Ordering::Relaxed)),
                total: Duration::from_nanos(shared.sync_nanos.load(Ordering::Relaxed)),
            },
            commits: std::array::from_fn(|n| shared.commits[n].load(Ordering::Relaxed)),
        }
    }
}

impl bus::JournalStatus for JournalMonitor {
    fn durable(&self) -> u64 {
        self.0.durable()
    }
}

fn bucket(took: Duration) -> usize {
    let bits = u128::BITS - took.as_micros().leading_zeros();
    usize::try_from(bits).map_or(SYNC_BUCKETS - 1, |bits| bits.min(SYNC_BUCKETS - 1))
}

fn commit_bucket(records: u32) -> usize {
    let bits = u32::BITS - records.saturating_sub(1).leading_zeros();
    usize::try_from(bits).map_or(COMMIT_BUCKETS - 1, |bits| bits.min(COMMIT_BUCKETS - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_falls_into_the_first_bucket_that_holds_its_records() {
        let buckets = [1, 2, 3, 4, 5, 1 << 16, (1 << 16) + 1, u32::MAX].map(commit_bucket);
        assert_eq!(buckets, [0, 1, 2, 2, 3, 16, COMMIT_BUCKETS - 1, COMMIT_BUCKETS - 1]);
    }

    #[test]
    fn what_was_given_and_is_not_durable_is_the_lag() {
        let watch = JournalMonitor(Arc::default());
        watch.0.record_given(7);
        assert_eq!(watch.lag(), 7);
        watch.0.publish(5);
        assert_eq!(watch.lag(), 2);
        watch.0.publish(9);
        assert_eq!(watch.lag(), 0, "what was there at the start was never given");
    }

    #[test]
    fn a_sync_falls_into_the_first_bucket_above_it() {
        let buckets = [0, 1, 2, 3, 4, 1023, 1024, u64::MAX].map(|micros| bucket(Duration::from_micros(micros)));
        assert_eq!(buckets, [0, 1, 2, 2, 3, 10, 11, SYNC_BUCKETS - 1]);
    }
}
