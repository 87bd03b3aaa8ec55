//! STOMP over WebSocket messages: text or binary, frames in any chunks; each frame of ours is one message.

use std::collections::VecDeque;
use std::io;
use std::task::{Context, Poll, ready};

use stomp::lanes::FrameBatch;
use tokio::io::{AsyncRead, AsyncWrite};
use tungstenite::error::{Error, ProtocolError};
use tungstenite::protocol::{CloseFrame, Message, Role, WebSocket, WebSocketConfig};

use crate::connection::close_reason::codes;
use crate::limits::{READ_BYTES, WEBSOCKET_CONNECT_BYTES_MAX, WEBSOCKET_MESSAGE_BYTES_MAX};
use crate::ports::stream::Polled;
use crate::ports::transport::{Received, Transport};

pub(crate) struct WebSocketTransport<S> {
    socket: WebSocket<Polled<S>>,
    /// Sent before anything of a batch.
    control: VecDeque<Message>,
    /// Frames of the current batch that were passed to the socket.
    frames_sent: usize,
    /// The last frame did not go out whole.
    is_blocked: bool,
    is_closing: bool,
    /// Nothing more can be read.
    has_ended: bool,
    /// A pong is not out yet.
    owes_pong: bool,
}

impl<S: AsyncRead + AsyncWrite + Unpin> WebSocketTransport<S> {
    /// Behind the handshake. Before the login messages are small.
    pub(crate) fn new(stream: S) -> Self {
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_BYTES)
            .write_buffer_size(0)
            .max_message_size(Some(WEBSOCKET_CONNECT_BYTES_MAX))
            .max_frame_size(Some(WEBSOCKET_CONNECT_BYTES_MAX));
        let socket = WebSocket::from_raw_socket(Polled::new(stream), Role::Server, Some(config));
        let control = VecDeque::new();
        let frames_sent = 0;
        Self { socket, control, frames_sent, is_blocked: false, is_closing: false, has_ended: false, owes_pong: false }
    }

    /// A client that sends pings and reads nothing is not read either: otherwise its pongs would fill the memory.
    fn poll_pong(&mut self) -> Poll<io::Result<()>> {
        if self.owes_pong {
            ready!(self.poll_flush())?;
            self.owes_pong = false;
        }
        Poll::Ready(Ok(()))
    }

    /// The library has the answer ready; it goes out with the next flush.
    fn on_message(&mut self, message: &Message) {
        match message {
            Message::Ping(_) => self.owes_pong = true,
            Message::Close(_) => {
                self.has_ended = true;
                // What the socket has no room for is given up with the connection.
                let _ = self.socket.flush();
            }
            _ => {}
        }
    }

    fn poll_send_control(&mut self) -> Poll<io::Result<()>> {
        while !self.control.is_empty() {
            ready!(self.poll_unblocked())?;
            if let Some(message) = self.control.pop_front() {
                self.begin_send(message)?;
            }
        }
        Poll::Ready(Ok(()))
    }

    fn poll_send_frames(&mut self, batch: &FrameBatch) -> Poll<io::Result<()>> {
        for (head, tail) in batch.frames().skip(self.frames_sent) {
            ready!(self.poll_unblocked())?;
            self.begin_send(message([head, tail].concat()))?;
            self.frames_sent += 1;
        }
        Poll::Ready(Ok(()))
    }

    fn poll_unblocked(&mut self) -> Poll<io::Result<()>> {
        if self.is_blocked { self.poll_flush() } else { Poll::Ready(Ok(())) }
    }

    fn poll_flush(&mut self) -> Poll<io::Result<()>> {
        match self.socket.flush() {
            Err(error) if would_block(&error) => Poll::Pending,
            // Both sides have said that they close.
            Ok(()) | Err(Error::ConnectionClosed) => {
                self.is_blocked = false;
                Poll::Ready(Ok(()))
            }
            Err(error) => Poll::Ready(Err(io::Error::other(error))),
        }
    }

    /// What the socket has no room for, the library keeps until the next flush.
    fn begin_send(&mut self, message: Message) -> io::Result<()> {
        match self.socket.write(message) {
            Err(error) if would_block(&error) => self.is_blocked = true,
            other => other.map_err(io::Error::other)?,
        }
        Ok(())
    }
}

fn would_block(error: &Error) -> bool {
    matches!(error, Error::Io(error) if error.kind() == io::ErrorKind::WouldBlock)
}

/// A transport error as a close code; where the peer is gone, no code is sent.
fn map_error(error: Error) -> io::Result<Received> {
    match error {
        Error::ConnectionClosed | Error::AlreadyClosed => Ok(Received::End),
        Error::Capacity(_) => Ok(Received::Fault(codes::SIZE)),
        Error::Utf8(_) => Ok(Received::Fault(codes::INVALID)),
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => Err(io::ErrorKind::UnexpectedEof.into()),
        Error::Protocol(_) => Ok(Received::Fault(codes::PROTOCOL)),
        gone => Err(io::Error::other(gone)),
    }
}

/// Text is what every client reads; a body that is not UTF-8 is sent as binary.
fn message(frame: Vec<u8>) -> Message {
    String::from_utf8(frame).map_or_else(|error| Message::binary(error.into_bytes()), Message::text)
}

fn received(message: &Message, buffer: &mut Vec<u8>) -> Received {
    match message {
        Message::Text(text) => buffer.extend_from_slice(text.as_bytes()),
        Message::Binary(bytes) => buffer.extend_from_slice(bytes),
        Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => return Received::KeepAlive,
        Message::Close(_) => return Received::End,
    }
    Received::Bytes
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Transport for WebSocketTransport<S> {
    const SENDS_PINGS: bool = true;

    fn poll_receive(&mut self, context: &mut Context<'_>, buffer: &mut Vec<u8>) -> Poll<io::Result<Received>> {
        if self.has_ended {
            return Poll::Ready(Ok(Received::End));
        }
        self.socket.get_mut().wakes(context);
        ready!(self.poll_pong())?;
        Poll::Ready(match self.socket.read() {
            Ok(message) => {
                self.on_message(&message);
                Ok(received(&message, buffer))
            }
            Err(error) if would_block(&error) => return Poll::Pending,
            Err(error) => {
                self.has_ended = true;
                map_error(error)
            }
        })
    }

    fn poll_send(&mut self, context: &mut Context<'_>, batch: &mut FrameBatch) -> Poll<io::Result<()>> {
        self.socket.get_mut().wakes(context);
        ready!(self.poll_send_control())?;
        // A batch that is written already may be passed along with a ping.
        if !batch.is_done() {
            ready!(self.poll_send_frames(batch))?;
        }
        ready!(self.poll_flush())?;
        self.frames_sent = 0;
        batch.advance(batch.bytes());
        Poll::Ready(Ok(()))
    }

    fn taken(&self) -> u64 {
        self.socket.get_ref().taken()
    }

    fn admit(&mut self) {
        self.socket.set_config(|config| {
            config.max_message_size = Some(WEBSOCKET_MESSAGE_BYTES_MAX);
            config.max_frame_size = Some(WEBSOCKET_MESSAGE_BYTES_MAX);
        });
    }

    fn ping(&mut self) {
        self.control.push_back(Message::Ping(Vec::new().into()));
    }

    fn poll_close(&mut self, context: &mut Context<'_>, code: u16) -> Poll<io::Result<()>> {
        self.socket.get_mut().wakes(context);
        if !std::mem::replace(&mut self.is_closing, true) {
            let frame = CloseFrame { code: code.into(), reason: "".into() };
            self.control.push_back(Message::Close(Some(frame)));
        }
        ready!(self.poll_send_control())?;
        self.poll_flush()
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Waker;

    use stomp::lanes::OutboundLanes;
    use stomp::session::StompRules;
    use stomp::{MonotonicTime, StompSession};
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, ReadBuf};

    use super::*;
    use crate::connection::{ConnectionOrigin, PresentedCredentials, StompConnection};
    use crate::state::tests::broker_state;

    fn batch(octets: usize) -> FrameBatch {
        let mut session = StompSession::new(MonotonicTime(0), "story".into(), StompRules::new("story").into());
        let (mut lanes, mut batch) = (OutboundLanes::unthrottled(), FrameBatch::default());
        lanes.push_control(vec![b'x'; octets].into()).unwrap();
        lanes.drain(MonotonicTime(0), octets, session.subscriptions(), &mut batch);
        batch
    }

    /// A client that reads a long message slowly takes something all the time.
    #[tokio::test]
    async fn what_the_socket_takes_of_a_message_is_seen_before_all_of_it_is_out() {
        let (ours, mut theirs) = tokio::io::duplex(1_024);
        let (mut messages, mut batch) = (WebSocketTransport::new(ours), batch(100_000));
        let mut context = Context::from_waker(Waker::noop());
        assert!(messages.poll_send(&mut context, &mut batch).is_pending());
        assert_eq!(messages.taken(), 1_024);
        theirs.read_exact(&mut [0; 500]).await.unwrap();
        assert!(messages.poll_send(&mut context, &mut batch).is_pending());
        assert_eq!((messages.taken(), batch.is_done()), (1_524, false));
    }

    /// A frame of a client, with the mask of zeros.
    fn client_frame(opcode: u8, payload: &[u8]) -> Vec<u8> {
        let length = 0x80 | u8::try_from(payload.len()).unwrap();
        [&[0x80 | opcode, length, 0, 0, 0, 0], payload].concat()
    }

    #[tokio::test]
    async fn a_client_that_floods_with_pings_and_reads_nothing_is_not_read_on() {
        let (ours, mut theirs) = tokio::io::duplex(1_024);
        let mut messages = WebSocketTransport::new(ours);
        let mut context = Context::from_waker(Waker::noop());
        let mut seen = 0;
        for _ in 0..100 {
            let ping = client_frame(9, &[b'p'; 125]);
            if std::pin::pin!(theirs.write_all(&ping)).as_mut().poll(&mut context).is_pending() {
                break;
            }
            while matches!(messages.poll_receive(&mut context, &mut Vec::new()), Poll::Ready(Ok(Received::KeepAlive))) {
                seen += 1;
            }
        }
        assert!(seen < 20, "{seen} pings were answered into the memory");
    }

    /// A stream that counts what was read of it.
    struct Counting(DuplexStream, Arc<AtomicUsize>);

    impl AsyncRead for Counting {
        fn poll_read(
            self: Pin<&mut Self>,
            context: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            let (this, before) = (self.get_mut(), buffer.filled().len());
            let read = Pin::new(&mut this.0).poll_read(context, buffer);
            this.1.fetch_add(buffer.filled().len() - before, Ordering::Relaxed);
            read
        }
    }

    impl AsyncWrite for Counting {
        fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            Pin::new(&mut self.get_mut().0).poll_write(context, bytes)
        }

        fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.get_mut().0).poll_flush(context)
        }

        fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.get_mut().0).poll_shutdown(context)
        }
    }

    /// Hundreds of them come with one read; the test has one thread, so it goes on only where the connection gives way.
    #[tokio::test]
    async fn a_client_that_sends_tiny_frames_does_not_keep_the_thread() {
        let (broker, _folder) = broker_state(0);
        let (ours, mut theirs) = tokio::io::duplex(1 << 20);
        let read = Arc::new(AtomicUsize::new(0));
        theirs.write_all(&client_frame(10, b"").repeat(50_000)).await.unwrap();
        let origin = ConnectionOrigin { peer: None, credentials: PresentedCredentials::Internal };
        let messages = WebSocketTransport::new(Counting(ours, read.clone()));
        let connection = StompConnection::new(broker, messages, origin, OutboundLanes::unthrottled());
        tokio::spawn(connection.run());
        tokio::task::yield_now().await;
        let read = read.load(Ordering::Relaxed);
        assert!((1..=2 * READ_BYTES).contains(&read), "{read} octets in one turn");
    }

    #[tokio::test]
    async fn a_close_of_the_client_is_answered() {
        let (ours, mut theirs) = tokio::io::duplex(1_024);
        let mut messages = WebSocketTransport::new(ours);
        let mut context = Context::from_waker(Waker::noop());
        theirs.write_all(&client_frame(8, &1_000_u16.to_be_bytes())).await.unwrap();
        let received = messages.poll_receive(&mut context, &mut Vec::new());
        assert!(matches!(received, Poll::Ready(Ok(Received::End))));
        let mut answer = [0; 4];
        theirs.read_exact(&mut answer).await.unwrap();
        assert_eq!(answer, [0x88, 2, 0x03, 0xe8]);
    }
}
