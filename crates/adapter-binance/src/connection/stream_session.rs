//! Connection to the market streams.

use std::collections::BTreeSet;
use std::fmt;

use adapter_kit::connection::{Dialer, SocketError, SocketLimits, SocketMessage, VenueSocket, VenueUrl};
use adapter_kit::recording::LineRecorder;

use crate::protocol::market_events::{MarketEvent, decode_market_event};
use crate::protocol::requests::encoding::encode_stream_command;

/// Streams of one connection; the venue allows no more, so a subscription beyond it is not sent.
pub const STREAMS_OF_A_CONNECTION_MAX: usize = 1_024;

/// Where combined streams are, below the address of the streams.
const COMBINED_PATH: &str = "/stream";

/// A connection of combined streams. The venue takes at most five messages a second, so streams are named in batches.
#[derive(Debug)]
pub struct StreamSession {
    socket: VenueSocket,
    next_number: u64,
    streams: BTreeSet<String>,
}

/// Why a command was not sent.
#[derive(Debug)]
pub enum StreamSendError {
    /// There would be more than [`STREAMS_OF_A_CONNECTION_MAX`].
    TooMany,
    /// The connection is of no more use.
    Connection(SocketError),
}

impl StreamSession {
    pub async fn connect(
        url: &VenueUrl,
        dialer: &Dialer,
        limits: SocketLimits,
        recorder: Option<LineRecorder>,
    ) -> Result<Self, SocketError> {
        let mut url = url.clone();
        COMBINED_PATH.clone_into(&mut url.path);
        let socket = VenueSocket::connect(&url, &[], dialer, limits, recorder).await?;
        Ok(Self { socket, next_number: 0, streams: BTreeSet::new() })
    }

    /// The answer comes out of `receive` with the number.
    pub async fn subscribe(&mut self, streams: &[String]) -> Result<u64, StreamSendError> {
        let added = streams.iter().filter(|stream| !self.streams.contains(*stream)).count();
        if self.streams.len() + added > STREAMS_OF_A_CONNECTION_MAX {
            return Err(StreamSendError::TooMany);
        }
        self.streams.extend(streams.iter().cloned());
        self.command(true, streams).await
    }

    pub async fn unsubscribe(&mut self, streams: &[String]) -> Result<u64, StreamSendError> {
        self.streams.retain(|stream| !streams.contains(stream));
        self.command(false, streams).await
    }

    /// The next event. It may be dropped and called again without a loss.
    pub async fn receive(&mut self) -> Result<MarketEvent, SocketError> {
        match self.socket.receive().await? {
            SocketMessage::Text(text) => Ok(decode_market_event(&text)),
            SocketMessage::Binary(_) => Ok(MarketEvent::Unreadable("a binary frame".to_owned())),
        }
    }

    pub async fn close(self) {
        self.socket.close().await;
    }

    async fn command(&mut self, is_subscribe: bool, streams: &[String]) -> Result<u64, StreamSendError> {
        self.next_number += 1;
        let command = encode_stream_command(self.next_number, is_subscribe, streams);
        self.socket.send(command).await.map_err(StreamSendError::Connection)?;
        Ok(self.next_number)
    }
}

impl fmt::Display for StreamSendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany => write!(f, "a connection has at most {STREAMS_OF_A_CONNECTION_MAX} streams"),
            Self::Connection(reason) => reason.fmt(f),
        }
    }
}

impl std::error::Error for StreamSendError {}
