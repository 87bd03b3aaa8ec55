//! Transport: a byte stream or WebSocket messages, polled so that one task reads, writes and is woken.

use std::io;
use std::task::{Context, Poll};

use stomp::lanes::FrameBatch;

/// Received input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Received {
    /// Bytes, in the buffer.
    Bytes,
    /// Proof of life outside STOMP.
    KeepAlive,
    /// The peer has closed.
    End,
    /// A transport error below STOMP; nothing more can be read. A WebSocket closes with this code.
    Fault(u16),
}

pub(crate) trait Transport: Send {
    /// Whether the peer can be pinged.
    const SENDS_PINGS: bool;

    /// Appends what arrives to the buffer.
    fn poll_receive(&mut self, context: &mut Context<'_>, buffer: &mut Vec<u8>) -> Poll<io::Result<Received>>;

    /// Ready when the whole batch is written.
    fn poll_send(&mut self, context: &mut Context<'_>, batch: &mut FrameBatch) -> Poll<io::Result<()>>;

    /// Octets that the socket has taken so far, those of a batch that is not out included.
    fn taken(&self) -> u64;

    /// The client has logged in; until then it may only send what is small.
    fn admit(&mut self) {}

    /// The next write begins with a ping.
    fn ping(&mut self);

    /// Closes our side, with a WebSocket close code.
    fn poll_close(&mut self, context: &mut Context<'_>, code: u16) -> Poll<io::Result<()>>;
}
