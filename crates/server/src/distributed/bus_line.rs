//! Line of the strategy bus, over the broker or over NATS: both ends use it in the same way.

use std::io;

use domain::Text;
use stomp::{StompCommand, StompFrame, encode_segment};
use tokio::io::{AsyncRead, AsyncWrite};
use wire::topics::{SHARED_GENERIC_EVENT, SHARED_MARKET_DATA};

use super::bus_message::{BusChannel, BusMessage, BusSource};
use super::nats_line::NatsLine;
use super::stomp_client::StompClient;

pub(super) enum BusItem {
    Message(BusMessage),
    /// The broker has ended the line, for this reason.
    Rejected(String),
}

pub(super) enum BusLine<S> {
    Broker(Box<StompClient<S>>),
    Nats(Box<NatsLine>),
}

/// Subscriptions at the broker.
const REQUESTS_ID: &str = "requests";
const OWN_ID: &str = "own";
const PRICES_ID: &str = "prices";
const EVENTS_ID: &str = "events";
/// The queue of requests from strategies.
const REQUESTS: &str = "/queue/strategy-bus.request";

impl<S: AsyncRead + AsyncWrite + Unpin> BusLine<S> {
    /// The server hears requests from here on.
    pub(super) async fn serve(&mut self) -> io::Result<()> {
        match self {
            Self::Broker(client) => client.subscribe(REQUESTS_ID, REQUESTS).await,
            Self::Nats(line) => line.serve().await,
        }
    }

    /// The process of a strategy hears what is meant for it, and what is for all, from here on.
    pub(super) async fn attend(&mut self, strategy: &Text, address: &Text) -> io::Result<()> {
        let own = BusChannel::Delivery { strategy: strategy.clone(), address: address.clone() };
        match self {
            Self::Broker(client) => {
                client.subscribe(OWN_ID, &queue(&own)).await?;
                client.subscribe(PRICES_ID, &format!("/topic/{SHARED_MARKET_DATA}")).await?;
                client.subscribe(EVENTS_ID, &format!("/topic/{SHARED_GENERIC_EVENT}")).await
            }
            Self::Nats(line) => line.attend(&own).await,
        }
    }

    /// What is still sent there is dropped. NATS keeps nothing that nobody hears.
    pub(super) async fn drain(&mut self, channel: &BusChannel) -> io::Result<()> {
        match self {
            Self::Broker(client) => client.subscribe(&queue(channel), &queue(channel)).await,
            Self::Nats(_) => Ok(()),
        }
    }

    pub(super) async fn end_drain(&mut self, channel: &BusChannel) -> io::Result<()> {
        match self {
            Self::Broker(client) => client.unsubscribe(&queue(channel)).await,
            Self::Nats(_) => Ok(()),
        }
    }

    /// A process is there: from now on somebody hears what is for all.
    pub(super) fn on_process(&self) {
        if let Self::Nats(line) = self {
            line.on_process();
        }
    }

    pub(super) async fn send(&mut self, channel: &BusChannel, body: Vec<u8>) -> io::Result<()> {
        match self {
            Self::Broker(client) => client.send_to(&queue(channel), body).await,
            Self::Nats(line) => line.send(channel, body).await,
        }
    }

    /// Waits until all that was sent has left this process. To the broker it is written at once.
    pub(super) async fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Broker(_) => Ok(()),
            Self::Nats(line) => line.flush().await,
        }
    }

    /// The next message. Cancel safe.
    pub(super) async fn next(&mut self) -> io::Result<BusItem> {
        match self {
            Self::Broker(client) => Ok(item_of(client.next().await?)),
            Self::Nats(line) => line.next().await.map(BusItem::Message),
        }
    }
}

/// The queue of a channel at the broker.
fn queue(channel: &BusChannel) -> String {
    match channel {
        BusChannel::Request { .. } => REQUESTS.to_owned(),
        BusChannel::Delivery { strategy, address } => {
            format!("/queue/strategy-bus.{}.{}.delivery", encode_segment(strategy), encode_segment(address))
        }
    }
}

fn item_of(frame: StompFrame) -> BusItem {
    if frame.command != StompCommand::Message {
        let text = frame.headers.get("message").unwrap_or_default();
        return BusItem::Rejected(format!("the broker says {}: {text}", frame.command.name()));
    }
    let source = match frame.headers.get("subscription") {
        Some(REQUESTS_ID) => BusSource::Requests,
        Some(OWN_ID) => BusSource::Own,
        Some(PRICES_ID) => BusSource::Prices,
        Some(EVENTS_ID) => BusSource::GenericEvents,
        _ => BusSource::Stale,
    };
    let sequence = frame.headers.get("sequence").and_then(|sequence| sequence.parse().ok()).unwrap_or(0);
    // The broker adds a header with the strategy that the sender's credentials are bound to.
    let signed_by = frame.headers.get("strategy").map(ToOwned::to_owned);
    BusItem::Message(BusMessage { source, sequence, signed_by, body: frame.body })
}
