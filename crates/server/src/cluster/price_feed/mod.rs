//! Prices of the leader, over core NATS: each is published once for a security that some follower wants, whatever the number of screens.
//!
//! ```text
//! leader: feed ▸ PricePublisher ▸ STREAM.prices.SECURITY ▸ PriceFollower ▸ follower's inbox ▸ market data, topics, REST
//!                       ▲ STREAM.prices-wanted ◂ what clients of the follower subscribe to or ask for
//!               closed bars of all securities ▸ STREAM.bars ▸ every follower's files
//! ```
//!
//! Nothing here is durable, and nothing of it changes trading. What a follower does not get, it says: [`domain::StaleCause`].

/// What travels.
mod message;
/// Bars at a follower.
mod heard_bars;
/// The leader's side.
pub(crate) mod publisher;
/// A follower's side.
pub(crate) mod follower;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use replication_nats::NatsSettings;
use tokio::sync::watch;

use super::cluster_file::ClusterConfig;

/// Between two attempts to connect.
const RETRY_PAUSE: Duration = Duration::from_millis(500);

/// Where prices travel.
#[derive(Debug, Clone)]
pub(crate) struct PriceRoute {
    pub(crate) connection: NatsSettings,
    pub(crate) stream: String,
}

impl PriceRoute {
    pub(crate) fn of(file: &ClusterConfig) -> Self {
        Self { connection: file.log.connection(), stream: file.log.stream.clone() }
    }

    fn prices(&self) -> String {
        format!("{}.prices.", self.stream)
    }

    fn wanted(&self) -> String {
        format!("{}.prices-wanted", self.stream)
    }

    fn bars(&self) -> String {
        format!("{}.bars", self.stream)
    }

    fn beat(&self) -> String {
        format!("{}.prices-beat", self.stream)
    }
}

/// Counters of prices between members.
#[derive(Debug, Default)]
pub(crate) struct PriceCounters {
    sent: AtomicU64,
    received: AtomicU64,
    wanted: AtomicU64,
    lost: AtomicU64,
}

impl PriceCounters {
    /// Messages with prices that this member has sent to others, those that it has received, the securities whose prices it sends or
    /// gets now, and how often its prices became stale because the way to the leader was lost.
    pub(crate) fn values(&self) -> [u64; 4] {
        [&self.sent, &self.received, &self.wanted, &self.lost].map(|counter| counter.load(Ordering::Relaxed))
    }
}

/// A thread with a runtime of its own. It ends when this is dropped.
pub(crate) struct PriceThread {
    stop: Option<watch::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl PriceThread {
    fn start<F: Future<Output = ()>>(work: impl FnOnce() -> F + Send + 'static) -> io::Result<Self> {
        let (stop, mut stopped) = watch::channel(());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let run = move || {
            runtime.block_on(async {
                tokio::select! {
                    () = work() => {},
                    _ = stopped.changed() => {},
                }
            });
        };
        let thread = std::thread::Builder::new().name("cluster-prices".into()).spawn(run)?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for PriceThread {
    fn drop(&mut self) {
        drop(self.stop.take());
        // One that died has nothing more to say.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

/// Shared by what a member is as a follower and as a leader.
pub(crate) type SharedCounters = Arc<PriceCounters>;
