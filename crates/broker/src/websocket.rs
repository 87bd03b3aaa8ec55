//! STOMP over WebSocket messages: text or binary, frames in any chunks; each frame of ours is one message.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use futures_util::{Sink, Stream};
use stomp::lanes::Batch;
use tungstenite::error::{Error, ProtocolError};

use crate::transport::{Received, Transport};

pub(crate) struct Messages {
    socket: WebSocket,
    /// Sent before anything of a batch.
    own: VecDeque<Message>,
    /// Frames of the current batch that were passed to the socket.
    frames_sent: usize,
    is_closing: bool,
}

impl Messages {
    pub(crate) fn new(socket: WebSocket) -> Self {
        Self { socket, own: VecDeque::new(), frames_sent: 0, is_closing: false }
    }

    fn poll_send_own(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.own.is_empty() {
            ready!(Pin::new(&mut self.socket).poll_ready(context)).map_err(io::Error::other)?;
            if let Some(message) = self.own.pop_front() {
                Pin::new(&mut self.socket).start_send(message).map_err(io::Error::other)?;
            }
        }
        Poll::Ready(Ok(()))
    }

    fn poll_send_frames(&mut self, context: &mut Context<'_>, batch: &Batch) -> Poll<io::Result<()>> {
        for (head, tail) in batch.frames().skip(self.frames_sent) {
            ready!(Pin::new(&mut self.socket).poll_ready(context)).map_err(io::Error::other)?;
            Pin::new(&mut self.socket).start_send(message([head, tail].concat())).map_err(io::Error::other)?;
            self.frames_sent += 1;
        }
        Poll::Ready(Ok(()))
    }
}

/// A transport error as a close code; where the peer is gone, no code is sent.
fn fault(error: axum::Error) -> io::Result<Received> {
    let fault = error.into_inner().downcast::<Error>().map_err(io::Error::other)?;
    match *fault {
        Error::Capacity(_) => Ok(Received::Fault(close_code::SIZE)),
        Error::Utf8(_) => Ok(Received::Fault(close_code::INVALID)),
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => Err(io::ErrorKind::UnexpectedEof.into()),
        Error::Protocol(_) => Ok(Received::Fault(close_code::PROTOCOL)),
        gone => Err(io::Error::other(gone)),
    }
}

/// Text is what every client reads; a body that is not UTF-8 is sent as binary.
fn message(frame: Vec<u8>) -> Message {
    String::from_utf8(frame).map_or_else(|error| Message::binary(error.into_bytes()), Message::text)
}

impl Transport for Messages {
    const PINGS: bool = true;

    fn poll_receive(&mut self, context: &mut Context<'_>, buffer: &mut Vec<u8>) -> Poll<io::Result<Received>> {
        let Some(message) = ready!(Pin::new(&mut self.socket).poll_next(context)) else {
            return Poll::Ready(Ok(Received::End));
        };
        let message = match message {
            Ok(message) => message,
            Err(error) => return Poll::Ready(fault(error)),
        };
        Poll::Ready(Ok(match message {
            Message::Text(text) => {
                buffer.extend_from_slice(text.as_bytes());
                Received::Bytes
            }
            Message::Binary(bytes) => {
                buffer.extend_from_slice(&bytes);
                Received::Bytes
            }
            Message::Ping(_) | Message::Pong(_) => Received::Life,
            Message::Close(_) => Received::End,
        }))
    }

    fn poll_send(&mut self, context: &mut Context<'_>, batch: &mut Batch) -> Poll<io::Result<()>> {
        ready!(self.poll_send_own(context))?;
        // A batch that is written already may be passed along with a ping.
        if !batch.is_done() {
            ready!(self.poll_send_frames(context, batch))?;
        }
        ready!(Pin::new(&mut self.socket).poll_flush(context)).map_err(io::Error::other)?;
        self.frames_sent = 0;
        batch.advance(batch.bytes());
        Poll::Ready(Ok(()))
    }

    fn ping(&mut self) {
        self.own.push_back(Message::Ping(Vec::new().into()));
    }

    fn poll_close(&mut self, context: &mut Context<'_>, code: u16) -> Poll<io::Result<()>> {
        if !std::mem::replace(&mut self.is_closing, true) {
            let frame = CloseFrame { code, reason: "".into() };
            self.own.push_back(Message::Close(Some(frame)));
        }
        ready!(self.poll_send_own(context))?;
        Pin::new(&mut self.socket).poll_flush(context).map_err(io::Error::other)
    }
}
