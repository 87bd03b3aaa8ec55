//! WebSocket client of a venue: pings, a limit of silence, bounded messages.

use std::fmt;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tokio::time::Instant;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::ClientRequestBuilder;
use tokio_tungstenite::tungstenite::error::CapacityError;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Bytes, Error, Message};

use super::{DialError, Dialer, SocketMessage, VenueStream, VenueUrl};
use crate::recording::LineRecorder;

/// Bytes of one read. All of them are set to zero before each, and messages of market streams are short.
const READ_BYTES: usize = 16 * 1_024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SocketLimits {
    pub message_bytes_max: usize,
    pub handshake_timeout: Duration,
    /// We ask for a sign of life this often.
    pub ping_interval: Duration,
    /// A venue that sends nothing for so long, not even a pong, is lost.
    pub silence_timeout: Duration,
    /// A message that the venue does not read for so long ends the connection.
    pub send_timeout: Duration,
}

impl Default for SocketLimits {
    fn default() -> Self {
        Self {
            message_bytes_max: 16 * 1_024 * 1_024,
            handshake_timeout: Duration::from_secs(10),
            ping_interval: Duration::from_secs(15),
            silence_timeout: Duration::from_secs(40),
            send_timeout: Duration::from_secs(10),
        }
    }
}

/// The connection is of no more use; a message that was being sent may have arrived.
#[derive(Debug)]
pub enum SocketError {
    /// Nothing was sent.
    Dial(DialError),
    /// The venue answered the handshake with another status than 101.
    Refused {
        status: u16,
        retry_after: Option<String>,
    },
    HandshakeTimeout,
    /// The venue closed it, with its code and reason.
    Closed {
        code: Option<u16>,
        reason: String,
    },
    Silent,
    TooLarge {
        bytes_max: usize,
    },
    SendTimeout,
    Broken(String),
}

pub struct VenueSocket {
    stream: WebSocketStream<VenueStream>,
    limits: SocketLimits,
    heard_at: Instant,
    ping_at: Instant,
    recorder: Option<LineRecorder>,
}

impl VenueSocket {
    pub async fn connect(
        url: &VenueUrl,
        headers: &[(String, String)],
        dialer: &Dialer,
        limits: SocketLimits,
        recorder: Option<LineRecorder>,
    ) -> Result<Self, SocketError> {
        let stream = dialer.dial(url).await.map_err(SocketError::Dial)?;
        let broken = |_| SocketError::Broken("the address is malformed".to_owned());
        let uri = format!("ws://{}{}", url.authority(), url.path).parse().map_err(broken)?;
        let request = headers.iter().fold(ClientRequestBuilder::new(uri), |request, (name, value)| {
            request.with_header(name.clone(), value.clone())
        });
        let mut config = WebSocketConfig::default();
        config.max_message_size = Some(limits.message_bytes_max);
        config.max_frame_size = Some(limits.message_bytes_max);
        config.read_buffer_size = READ_BYTES;
        let handshake = tokio_tungstenite::client_async_with_config(request, stream, Some(config));
        let (stream, _) = tokio::time::timeout(limits.handshake_timeout, handshake)
            .await
            .map_err(|_| SocketError::HandshakeTimeout)?
            .map_err(|error| translate(error, &limits))?;
        if let Some(recorder) = &recorder {
            recorder.on_opened(&format!("{}{}", url.authority(), url.path));
        }
        let now = Instant::now();
        Ok(Self { stream, limits, heard_at: now, ping_at: now + limits.ping_interval, recorder })
    }

    /// The next message. Pings are answered and sent inside. It may be dropped and called again without a loss.
    pub async fn receive(&mut self) -> Result<SocketMessage, SocketError> {
        let received = self.next_message().await;
        match (&self.recorder, &received) {
            (Some(recorder), Ok(message)) => recorder.on_received(message),
            (Some(recorder), Err(error)) => recorder.on_closed(&error.to_string()),
            (None, _) => {}
        }
        received
    }

    async fn next_message(&mut self) -> Result<SocketMessage, SocketError> {
        loop {
            let silent_at = self.heard_at + self.limits.silence_timeout;
            match tokio::time::timeout_at(self.ping_at.min(silent_at), self.stream.next()).await {
                Err(_) if Instant::now() >= silent_at => return Err(SocketError::Silent),
                Err(_) => self.ping().await?,
                Ok(None) => return Err(SocketError::Broken("the connection ended without a close".to_owned())),
                Ok(Some(received)) => {
                    let message = received.map_err(|error| translate(error, &self.limits))?;
                    self.heard_at = Instant::now();
                    if let Some(message) = content(message)? {
                        return Ok(message);
                    }
                }
            }
        }
    }

    pub async fn send(&mut self, text: impl Into<String>) -> Result<(), SocketError> {
        let text = text.into();
        if let Some(recorder) = &self.recorder {
            recorder.on_sent(&text);
        }
        self.write(Message::text(text)).await
    }

    /// Says good-bye; the venue's own is not waited for longer than a message may take.
    pub async fn close(mut self) {
        if let Some(recorder) = &self.recorder {
            recorder.on_closed("by us");
        }
        let farewell = async {
            // Whatever goes wrong, the connection ends here.
            let _ = self.stream.close(None).await;
            while let Some(Ok(_)) = self.stream.next().await {}
        };
        let _ = tokio::time::timeout(self.limits.send_timeout, farewell).await;
    }

    async fn ping(&mut self) -> Result<(), SocketError> {
        self.ping_at = Instant::now() + self.limits.ping_interval;
        self.write(Message::Ping(Bytes::new())).await
    }

    async fn write(&mut self, message: Message) -> Result<(), SocketError> {
        let sending = tokio::time::timeout(self.limits.send_timeout, self.stream.send(message)).await;
        sending.map_err(|_| SocketError::SendTimeout)?.map_err(|error| translate(error, &self.limits))
    }
}

fn content(message: Message) -> Result<Option<SocketMessage>, SocketError> {
    match message {
        Message::Text(text) => Ok(Some(SocketMessage::Text(text.to_string()))),
        Message::Binary(bytes) => Ok(Some(SocketMessage::Binary(bytes.to_vec()))),
        Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => Ok(None),
        Message::Close(frame) => Err(SocketError::Closed {
            code: frame.as_ref().map(|frame| frame.code.into()),
            reason: frame.map(|frame| frame.reason.to_string()).unwrap_or_default(),
        }),
    }
}

fn translate(error: Error, limits: &SocketLimits) -> SocketError {
    match error {
        Error::Http(response) => SocketError::Refused {
            status: response.status().as_u16(),
            retry_after: response.headers().get("retry-after").and_then(|value| value.to_str().ok()).map(str::to_owned),
        },
        Error::Capacity(CapacityError::MessageTooLong { .. }) => {
            SocketError::TooLarge { bytes_max: limits.message_bytes_max }
        }
        Error::ConnectionClosed | Error::AlreadyClosed => SocketError::Closed { code: None, reason: String::new() },
        other => SocketError::Broken(other.to_string()),
    }
}

impl fmt::Debug for VenueSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VenueSocket").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl fmt::Display for SocketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dial(reason) => reason.fmt(f),
            Self::Refused { status, .. } => write!(f, "the venue refused the WebSocket with status {status}"),
            Self::HandshakeTimeout => f.write_str("the venue did not answer the WebSocket handshake in time"),
            Self::Closed { code: Some(code), reason } => write!(f, "the venue closed the connection: {code} {reason}"),
            Self::Closed { code: None, .. } => f.write_str("the venue closed the connection"),
            Self::Silent => f.write_str("the venue was silent for too long"),
            Self::TooLarge { bytes_max } => write!(f, "a message is longer than {bytes_max} bytes"),
            Self::SendTimeout => f.write_str("the venue did not read a message in time"),
            Self::Broken(reason) => write!(f, "the connection broke: {reason}"),
        }
    }
}

impl std::error::Error for SocketError {}
