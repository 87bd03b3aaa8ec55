//! Bus handle of a strategy process: runs of the strategy out, requests in.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, bounded};
use domain::Text;
use runtime::strategies::LinkLost;
use runtime::strategies::protocol::StrategyRequestBody;
use tokio::sync::mpsc;

use super::bus_client::{BusClient, ClientQueues};
use super::current_run::StrategyRun;
use super::remote_link::{OutgoingItem, OutgoingPayload};
use super::server_connection::{ProcessIdentity, ProcessTransport};
use super::server_time::ServerTime;
use crate::distributed::nats_file::NatsBusConfig;

/// Items of the strategy that are not sent yet.
const OUTGOING_QUEUE_MAX: usize = 8_192;

pub struct BusHandle {
    runs: Receiver<StrategyRun>,
    outgoing: mpsc::Sender<OutgoingItem>,
    time: ServerTime,
    thread: JoinHandle<Result<(), LinkLost>>,
}

impl BusHandle {
    /// Connects as that strategy. The broker's address is queried at every attempt: a restarted server may have another
    /// one. While another process runs the strategy and is alive, `takes_over` is required.
    pub fn connect(
        broker: impl Fn() -> io::Result<String> + Send + Sync + 'static,
        strategy: Text,
        token: Option<String>,
        takes_over: bool,
    ) -> io::Result<Self> {
        Self::over(ProcessTransport::Broker { broker: Arc::new(broker), token }, strategy, takes_over)
    }

    /// As [`Self::connect`], over NATS. The login of the NATS servers says who it is.
    pub fn connect_nats(config: NatsBusConfig, strategy: Text, takes_over: bool) -> io::Result<Self> {
        Self::over(ProcessTransport::Nats(config), strategy, takes_over)
    }

    fn over(transport: ProcessTransport, strategy: Text, takes_over: bool) -> io::Result<Self> {
        let (begun, lives) = bounded(1);
        let (said, waiting) = mpsc::channel(OUTGOING_QUEUE_MAX);
        let time = ServerTime::new();
        let address = format!("{:x}-{:x}", time.now().0, std::process::id());
        let process = ProcessIdentity { transport, strategy, address };
        let queues = ClientQueues { runs: begun, outgoing: said.downgrade(), queued: waiting };
        let client = BusClient::new(process, takes_over, time.clone(), queues);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let run = move || runtime.block_on(client.run());
        let thread = std::thread::Builder::new().name("conversation".into()).spawn(run)?;
        Ok(Self { runs: lives, outgoing: said, time, thread })
    }

    /// The next run; `None` when the bus client has ended.
    pub fn next_run(&self) -> Option<StrategyRun> {
        self.runs.recv().ok()
    }

    /// Whether the bus client has ended.
    pub fn is_closed(&self) -> bool {
        self.thread.is_finished()
    }

    /// The server's time.
    pub fn clock(&self) -> runtime::EngineClock {
        self.time.shared()
    }

    /// Sends a request of that run.
    pub fn send(&self, run: u64, request: StrategyRequestBody) {
        // A closed client receives nothing.
        let _ = self.outgoing.blocking_send(OutgoingItem::new(Some(run), OutgoingPayload::Request(request)));
    }

    /// Sends requests from any thread, whatever the current run.
    pub fn sender(&self) -> impl Fn(StrategyRequestBody) + Clone + Send + 'static {
        let said = self.outgoing.downgrade();
        move |request| {
            if let Some(said) = said.upgrade() {
                let _ = said.blocking_send(OutgoingItem::new(None, OutgoingPayload::Request(request)));
            }
        }
    }

    /// Sends everything that is queued. Fails with the reason where that was not written to a connection of the run: then it is not known
    /// what the server has of it.
    pub fn close(self) -> Result<(), LinkLost> {
        drop(self.outgoing);
        self.thread.join().unwrap_or_else(|_| Err(LinkLost("the conversation broke off".to_owned())))
    }
}
