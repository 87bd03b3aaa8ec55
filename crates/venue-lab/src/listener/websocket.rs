//! WebSocket connections of the lab: tungstenite on tokio's readiness, with pings and a limit of silence.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};
use tungstenite::error::Error;
use tungstenite::handshake::HandshakeError;
use tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tungstenite::protocol::{Message, WebSocket, WebSocketConfig};

/// The venue pings so often, and ends a connection that has not answered for so long or is so old.
const PING_EVERY: Duration = Duration::from_secs(20);
const SILENCE_MAX: Duration = Duration::from_secs(60);
const LIFE_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// The largest message of a client.
const MESSAGE_BYTES_MAX: usize = 64 * 1024;
/// What is read at once. The library fills as many bytes with zeros before each read, whatever comes; its own 128 KiB cost more than a whole
/// order, and a thousand connections had 128 MiB.
const READ_BYTES: usize = 4 * 1024;
/// How long a client may take for the handshake.
const HANDSHAKE_MAX: Duration = Duration::from_secs(10);

/// A socket as tungstenite reads and writes it: what would block is an error.
struct ReadyStream(TcpStream);

impl Read for ReadyStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.try_read(buffer)
    }
}

impl Write for ReadyStream {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.0.try_write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Plain or secured.
enum ClientStream {
    Plain(ReadyStream),
    Tls(Box<StreamOwned<ServerConnection, ReadyStream>>),
}

impl ClientStream {
    fn new(stream: TcpStream, tls: Option<Arc<ServerConfig>>) -> io::Result<Self> {
        let stream = ReadyStream(stream);
        let Some(config) = tls else { return Ok(Self::Plain(stream)) };
        let connection = ServerConnection::new(config).map_err(io::Error::other)?;
        Ok(Self::Tls(Box::new(StreamOwned::new(connection, stream))))
    }

    fn socket(&self) -> &TcpStream {
        match self {
            Self::Plain(stream) => &stream.0,
            Self::Tls(stream) => &stream.sock.0,
        }
    }
}

impl Read for ClientStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer),
            Self::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for ClientStream {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(buffer),
            Self::Tls(stream) => stream.write(buffer),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.flush(),
            Self::Tls(stream) => stream.flush(),
        }
    }
}

pub(crate) struct WebSocketConnection {
    socket: WebSocket<ClientStream>,
    /// Path and query of the request.
    pub(crate) target: String,
    json: Vec<u8>,
    pings: Interval,
    heard_at: Instant,
    ends_at: Instant,
}

/// What a client did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Incoming {
    Text(String),
    /// A ping or a pong, which count as messages.
    Control,
}

fn would_block(error: &Error) -> bool {
    matches!(error, Error::Io(error) if error.kind() == io::ErrorKind::WouldBlock)
}

impl WebSocketConnection {
    pub(crate) async fn accept(stream: TcpStream, tls: Option<Arc<ServerConfig>>) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        tokio::time::timeout(HANDSHAKE_MAX, Self::shake_hands(ClientStream::new(stream, tls)?)).await?
    }

    #[allow(clippy::result_large_err, reason = "the library's type of a refusal")]
    async fn shake_hands(stream: ClientStream) -> io::Result<Self> {
        let mut target = String::new();
        let note = |request: &Request, response: Response| -> Result<Response, ErrorResponse> {
            target = request.uri().path_and_query().map(ToString::to_string).unwrap_or_default();
            Ok(response)
        };
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_BYTES)
            .max_message_size(Some(MESSAGE_BYTES_MAX))
            .max_frame_size(Some(MESSAGE_BYTES_MAX));
        let mut outcome = tungstenite::accept_hdr_with_config(stream, note, Some(config));
        let socket = loop {
            match outcome {
                Ok(socket) => break socket,
                Err(HandshakeError::Failure(error)) => return Err(io::Error::other(error)),
                Err(HandshakeError::Interrupted(unfinished)) => {
                    // The answer is small and never blocks; what is missing is a part of the request.
                    unfinished.get_ref().get_ref().socket().readable().await?;
                    outcome = unfinished.handshake();
                }
            }
        };
        let now = Instant::now();
        let mut pings = interval_at(now + PING_EVERY, PING_EVERY);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Ok(Self { socket, target, json: Vec::new(), pings, heard_at: now, ends_at: now + LIFE_MAX })
    }

    /// The next message; none where the connection is over. Safe to drop while it waits.
    pub(crate) async fn receive(&mut self) -> io::Result<Option<Incoming>> {
        loop {
            match self.socket.read() {
                Ok(Message::Text(text)) => return Ok(Some(Incoming::Text(text.to_string()))),
                Ok(Message::Ping(_)) => {
                    // The library has the pong ready.
                    self.flush().await?;
                    return Ok(Some(Incoming::Control));
                }
                Ok(Message::Pong(_)) => {
                    self.heard_at = Instant::now();
                    return Ok(Some(Incoming::Control));
                }
                Ok(Message::Close(_)) => {
                    // What the socket has no room for is given up with the connection.
                    let _ = self.socket.flush();
                    return Ok(None);
                }
                Ok(Message::Binary(_) | Message::Frame(_)) => {}
                Err(Error::ConnectionClosed | Error::AlreadyClosed) => return Ok(None),
                Err(error) if would_block(&error) => self.wait_readable().await?,
                Err(error) => return Err(io::Error::other(error)),
            }
        }
    }

    /// Waits for input, and pings meanwhile.
    async fn wait_readable(&mut self) -> io::Result<()> {
        tokio::select! {
            readable = self.socket.get_ref().socket().readable() => return readable,
            _ = self.pings.tick() => {}
        }
        let now = Instant::now();
        if now > self.heard_at + SILENCE_MAX || now > self.ends_at {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "no pong, or a day is over"));
        }
        self.write(Message::Ping(Vec::new().into()))?;
        self.flush().await
    }

    pub(crate) async fn send(&mut self, text: String) -> io::Result<()> {
        self.write(Message::Text(text.into()))?;
        self.flush().await
    }

    /// Encodes into the memory of the messages before, so that no text grows piece by piece.
    pub(crate) async fn send_json(&mut self, value: &Value) -> io::Result<()> {
        self.json.clear();
        serde_json::to_writer(&mut self.json, value)?;
        let text = std::str::from_utf8(&self.json).map_err(io::Error::other)?;
        self.write(Message::Text(text.into()))?;
        self.flush().await
    }

    /// Ends the connection with a close frame.
    pub(crate) async fn close(&mut self) -> io::Result<()> {
        self.write(Message::Close(None))?;
        self.flush().await
    }

    fn write(&mut self, message: Message) -> io::Result<()> {
        match self.socket.write(message) {
            Err(error) if would_block(&error) => Ok(()),
            other => other.map_err(io::Error::other),
        }
    }

    async fn flush(&mut self) -> io::Result<()> {
        loop {
            match self.socket.flush() {
                Ok(()) | Err(Error::ConnectionClosed) => return Ok(()),
                Err(error) if would_block(&error) => self.socket.get_ref().socket().writable().await?,
                Err(error) => return Err(io::Error::other(error)),
            }
        }
    }
}
