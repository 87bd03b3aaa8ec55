//! What carries STOMP: a stream of bytes or the messages of a WebSocket. Both are polled, so that one task can read,
//! write and be woken at the same time.

use std::io;
use std::task::{Context, Poll};

use stomp::lanes::Batch;

/// What has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Received {
    /// Bytes, in the buffer.
    Bytes,
    /// A sign of life that is not STOMP.
    Life,
    /// The peer has closed.
    End,
    /// What arrived is broken below STOMP; nothing more can be read. A WebSocket closes with this code.
    Fault(u16),
}

pub(crate) trait Transport: Send {
    /// Whether the peer can be asked for a sign of life.
    const PINGS: bool;

    /// Appends what arrives to the buffer.
    fn poll_receive(&mut self, context: &mut Context<'_>, buffer: &mut Vec<u8>) -> Poll<io::Result<Received>>;

    /// Ready when the whole batch is out of our hands.
    fn poll_send(&mut self, context: &mut Context<'_>, batch: &mut Batch) -> Poll<io::Result<()>>;

    /// The next sending begins with a request for a sign of life.
    fn ping(&mut self);

    /// Tells the peer that nothing more will come, and by a code of WebSockets why.
    fn poll_close(&mut self, context: &mut Context<'_>, code: u16) -> Poll<io::Result<()>>;
}
