//! What the sessions of an adapter run on: a thread of their own with sockets and the machine's clock, or a runtime, a network and a clock
//! of a program that lets them run step by step.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use fix::{Application, SessionEngine};
use fix_net::{SessionClock, SessionQueue, StreamDialer, TlsWrapper, run_session, run_session_over};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::task::{JoinHandle, yield_now};

use crate::sessions::number_store::SharedNumbers;
use crate::sessions::number_store::number_disk::{NumberDisk, OsNumberDisk};

/// So often each task that is ready has its turn before a session that is to end is given up.
const LAST_ROUNDS: usize = 4;

/// What a program brings that steps the sessions itself, such as a simulator. Nothing waits for an answer then.
pub struct SteppedNetwork {
    /// Of one thread.
    pub runtime: Arc<Runtime>,
    pub clock: SessionClock,
    pub dialer: StreamDialer,
    /// Where the numbers of its sessions are.
    pub numbers: Arc<dyn NumberDisk>,
}

pub(crate) enum SessionRuntime {
    Threaded(Runtime),
    Stepped(SteppedNetwork),
}

impl SessionRuntime {
    pub(crate) fn threaded() -> io::Result<Self> {
        Builder::new_multi_thread().worker_threads(1).enable_all().build().map(Self::Threaded)
    }

    pub(crate) fn spawn<A: Application + Send + 'static>(
        &self,
        engine: SessionEngine<SharedNumbers, A>,
        queue: SessionQueue,
        tls: Option<TlsWrapper>,
        stopped: watch::Receiver<bool>,
    ) -> JoinHandle<()> {
        match self {
            Self::Threaded(runtime) => runtime.spawn(run_session(engine, queue, tls, SessionClock::system(), stopped)),
            Self::Stepped(SteppedNetwork { runtime, clock, dialer, .. }) => {
                runtime.spawn(run_session_over(engine, queue, dialer.clone(), clock.clone(), stopped))
            }
        }
    }

    /// Where the numbers of sessions are.
    pub(crate) fn number_disk(&self) -> Arc<dyn NumberDisk> {
        match self {
            Self::Threaded(_) => Arc::new(OsNumberDisk),
            Self::Stepped(SteppedNetwork { numbers, .. }) => Arc::clone(numbers),
        }
    }

    /// How long an answer may be waited for.
    pub(crate) fn patience(&self, longest: Duration) -> Duration {
        match self {
            Self::Threaded(_) => longest,
            Self::Stepped(_) => Duration::ZERO,
        }
    }

    /// A task that was told to stop has so long; then it is given up.
    pub(crate) fn finish(&self, mut task: JoinHandle<()>, longest: Duration) {
        match self {
            Self::Threaded(runtime) => {
                if runtime.block_on(async { tokio::time::timeout(longest, &mut task).await }).is_err() {
                    task.abort();
                }
            }
            Self::Stepped(SteppedNetwork { runtime, .. }) => {
                runtime.block_on(take_turns());
                task.abort();
                runtime.block_on(take_turns());
            }
        }
    }
}

async fn take_turns() {
    for _ in 0..LAST_ROUNDS {
        yield_now().await;
    }
}
