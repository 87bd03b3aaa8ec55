//! One connection of a strategy process to the server: requests out, numbered envelopes in.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use domain::command::ReferenceChange;
use domain::{Bar, Text};
use runtime::strategies::protocol::{self, ServerEnvelope, ServerMessage, StrategyRequest, StrategyRequestBody};
use stomp::StompFrame;
use tokio::net::TcpStream;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use wire::topics::{SHARED_GENERIC_EVENT, SHARED_MARKET_DATA};

use super::ack_policy::AckPolicy;
use super::stomp_client::StompClient;
use super::{REQUESTS, delivery_queue};

const CONNECT_MAX: Duration = Duration::from_secs(5);

/// Locates the broker; blocks.
pub(super) type BrokerLocator = Arc<dyn Fn() -> io::Result<String> + Send + Sync>;

/// A strategy process, as it shows itself to the server.
pub(super) struct ProcessIdentity {
    pub(super) broker: BrokerLocator,
    pub(super) strategy: Text,
    /// Unique to this process.
    pub(super) address: String,
    pub(super) token: Option<String>,
}

/// What a frame carries.
pub(super) enum FrameSource {
    Own,
    Prices,
    GenericEvents,
}

pub(super) struct ServerConnection {
    line: StompClient<TcpStream>,
    strategy: Text,
    address: Text,
    epoch: u64,
    /// Of the newest envelope.
    number: u64,
    ack_policy: AckPolicy,
    /// Changes of reference data from before the welcome.
    pub(super) changes: Vec<ReferenceChange>,
    /// Bars of history that came before the phase that needs them.
    pub(super) history: Vec<Bar>,
}

impl ServerConnection {
    /// Messages of another epoch are left over from an older connection.
    pub(super) async fn open(process: &ProcessIdentity, epoch: u64) -> io::Result<Self> {
        let connecting = async {
            let broker = process.broker.clone();
            let stream = TcpStream::connect(spawn_blocking(move || broker()).await??).await?;
            stream.set_nodelay(true)?;
            StompClient::connect(stream, process.token.as_deref()).await
        };
        let line = timeout(CONNECT_MAX, connecting).await.map_err(io::Error::other)??;
        let (strategy, address) = (process.strategy.clone(), process.address.as_str().into());
        let (ack_policy, changes, history) = (AckPolicy::default(), vec![], vec![]);
        Ok(Self { line, strategy, address, epoch, number: 0, ack_policy, changes, history })
    }

    pub(super) async fn subscribe(&mut self) -> io::Result<()> {
        self.line.subscribe("own", &delivery_queue(&self.strategy, &self.address)).await?;
        self.line.subscribe("prices", &format!("/topic/{SHARED_MARKET_DATA}")).await?;
        self.line.subscribe("events", &format!("/topic/{SHARED_GENERIC_EVENT}")).await
    }

    /// The next frame. Cancel safe.
    pub(super) async fn next(&mut self) -> io::Result<StompFrame> {
        self.line.next().await
    }

    pub(super) async fn send(&mut self, body: StrategyRequestBody) -> io::Result<()> {
        let (strategy, address) = (self.strategy.clone(), self.address.clone());
        let request = StrategyRequest { strategy, epoch: self.epoch, body, address };
        self.line.send_to(REQUESTS, protocol::encode(request)).await
    }

    /// The message of an envelope; none where it was received before.
    pub(super) fn accept(&mut self, body: &[u8]) -> io::Result<Option<ServerMessage>> {
        let envelope: ServerEnvelope = minicbor::decode(body).map_err(io::Error::other)?;
        // Leftovers of an older connection in the queue were sent again already.
        if envelope.epoch != self.epoch {
            return Ok(None);
        }
        // A process that is not attached has no numbers.
        if matches!(envelope.message, ServerMessage::HelloRejected { .. }) {
            return Ok(Some(envelope.message));
        }
        if envelope.number <= self.number {
            return Ok(None);
        }
        if envelope.number != self.number + 1 {
            return Err(io::Error::other("an envelope is missing"));
        }
        self.number = envelope.number;
        Ok(Some(envelope.message))
    }

    /// Counts what was received; returns the acknowledgement where one is due. The server sends only a bounded window ahead
    /// of them.
    pub(super) fn acknowledgement(&mut self, bytes: usize) -> Option<StrategyRequestBody> {
        self.ack_policy.is_ack_due(bytes).then_some(StrategyRequestBody::Ack { number: self.number })
    }
}

pub(super) fn source_of(frame: &StompFrame) -> FrameSource {
    match frame.headers.get("subscription") {
        Some("own") => FrameSource::Own,
        Some("prices") => FrameSource::Prices,
        _ => FrameSource::GenericEvents,
    }
}
