//! One connection of a strategy process to the server: requests out, numbered envelopes in.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use domain::command::ReferenceChange;
use domain::{Bar, Text};
use runtime::strategies::protocol::{self, ServerEnvelope, ServerMessage, StrategyRequest, StrategyRequestBody};
use tokio::net::TcpStream;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::distributed::bus_line::{BusItem, BusLine};
use crate::distributed::bus_message::BusChannel;
use crate::distributed::nats_file::NatsBusConfig;
use crate::distributed::nats_line::NatsLine;
use crate::distributed::stomp_client::StompClient;

/// Longer than a server may be silent, which is the better reason.
const CONNECT_MAX: Duration = Duration::from_secs(8);

/// Locates the broker; blocks.
pub(crate) type BrokerLocator = Arc<dyn Fn() -> io::Result<String> + Send + Sync>;

/// How a strategy process reaches the server.
pub(crate) enum ProcessTransport {
    Broker { broker: BrokerLocator, token: Option<String> },
    Nats(NatsBusConfig),
}

/// A strategy process, as it shows itself to the server.
pub(crate) struct ProcessIdentity {
    pub(crate) transport: ProcessTransport,
    pub(crate) strategy: Text,
    /// Unique to this process.
    pub(crate) address: String,
}

impl ProcessTransport {
    async fn connect(&self) -> io::Result<BusLine<TcpStream>> {
        match self {
            Self::Broker { broker, token } => {
                let broker = broker.clone();
                let stream = TcpStream::connect(spawn_blocking(move || broker()).await??).await?;
                stream.set_nodelay(true)?;
                Ok(BusLine::Broker(Box::new(StompClient::connect(stream, token.as_deref()).await?)))
            }
            Self::Nats(config) => Ok(BusLine::Nats(Box::new(NatsLine::of_process(config).await?))),
        }
    }
}

pub(crate) struct ServerConnection {
    line: BusLine<TcpStream>,
    strategy: Text,
    address: Text,
    epoch: u64,
    /// Of the newest envelope.
    number: u64,
    ack_policy: AckPolicy,
    /// Changes of reference data from before the welcome.
    pub(crate) changes: Vec<ReferenceChange>,
    /// Bars of history that came before the phase that needs them.
    pub(crate) history: Vec<Bar>,
}

impl ServerConnection {
    /// Messages of another epoch are left over from an older connection.
    pub(crate) async fn open(process: &ProcessIdentity, epoch: u64) -> io::Result<Self> {
        let line = timeout(CONNECT_MAX, process.transport.connect()).await.map_err(io::Error::other)??;
        let (strategy, address) = (process.strategy.clone(), process.address.as_str().into());
        let (ack_policy, changes, history) = (AckPolicy::default(), vec![], vec![]);
        Ok(Self { line, strategy, address, epoch, number: 0, ack_policy, changes, history })
    }

    pub(crate) async fn subscribe(&mut self) -> io::Result<()> {
        self.line.attend(&self.strategy, &self.address).await
    }

    /// The next message. Cancel safe.
    pub(crate) async fn next(&mut self) -> io::Result<BusItem> {
        self.line.next().await
    }

    pub(crate) async fn send(&mut self, body: StrategyRequestBody) -> io::Result<()> {
        let (strategy, address) = (self.strategy.clone(), self.address.clone());
        let channel = BusChannel::Request { strategy: strategy.clone() };
        let request = StrategyRequest { strategy, epoch: self.epoch, body, address };
        self.line.send(&channel, protocol::encode(request)).await
    }

    /// The last requests of a strategy that leaves are its cancels and the end of its run: they leave before the process ends.
    pub(crate) async fn finish(&mut self) -> io::Result<()> {
        self.line.flush().await
    }

    /// The message of an envelope; none where it was received before.
    pub(crate) fn accept(&mut self, body: &[u8]) -> io::Result<Option<ServerMessage>> {
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
    pub(crate) fn acknowledgement(&mut self, bytes: usize) -> Option<StrategyRequestBody> {
        self.ack_policy.is_ack_due(bytes).then_some(StrategyRequestBody::Ack { number: self.number })
    }
}

/// Envelopes per acknowledgement; an eighth of the server's window.
const ACK_ENVELOPES: usize = 64;
/// Octets per acknowledgement; a quarter of the server's window.
const ACK_BYTES: usize = 64 * 1_024;

/// What was received and not acknowledged yet. An acknowledgement is sent well before the server's window is full, and not for
/// every envelope.
#[derive(Debug, Default)]
pub(crate) struct AckPolicy {
    envelopes: usize,
    bytes: usize,
}

impl AckPolicy {
    /// One more was received; returns whether an acknowledgement is due.
    pub(crate) fn is_ack_due(&mut self, bytes: usize) -> bool {
        (self.envelopes, self.bytes) = (self.envelopes + 1, self.bytes + bytes);
        let is_due = self.envelopes >= ACK_ENVELOPES || self.bytes >= ACK_BYTES;
        if is_due {
            *self = Self::default();
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_acknowledgement_is_due_after_many_small_envelopes_or_a_few_large_ones() {
        let mut taken = AckPolicy::default();
        let told = |taken: &mut AckPolicy, bytes, parcels| (0..parcels).filter(|_| taken.is_ack_due(bytes)).count();
        assert_eq!((told(&mut taken, 10, 63), told(&mut taken, 10, 1), told(&mut taken, 40_000, 4)), (0, 1, 2));
    }
}
