//! STOMP over a stream of bytes: TCP or TLS.

use std::io::{self, IoSlice, Read, Write};
use std::net::IpAddr;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use stomp::lanes::FrameBatch;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::limits::READ_BYTES;
use crate::ports::transport::{Received, Transport};

/// A connection that carries STOMP as bytes.
pub trait StompStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> StompStream for S {}

/// A connection from elsewhere than a port, and the address of its caller.
pub type StompCaller = (Box<dyn StompStream>, IpAddr);

/// Buffers that are written in one system call.
const PIECES_MAX: usize = 64;

pub(crate) struct ByteStream<S> {
    stream: S,
    /// Octets that the stream has taken.
    taken: u64,
}

impl<S> ByteStream<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self { stream, taken: 0 }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Transport for ByteStream<S> {
    const SENDS_PINGS: bool = false;

    fn poll_receive(&mut self, context: &mut Context<'_>, buffer: &mut Vec<u8>) -> Poll<io::Result<Received>> {
        let mut bytes = [0; READ_BYTES];
        let mut read = ReadBuf::new(&mut bytes);
        ready!(Pin::new(&mut self.stream).poll_read(context, &mut read))?;
        buffer.extend_from_slice(read.filled());
        Poll::Ready(Ok(if read.filled().is_empty() { Received::End } else { Received::Bytes }))
    }

    fn poll_send(&mut self, context: &mut Context<'_>, batch: &mut FrameBatch) -> Poll<io::Result<()>> {
        while !batch.is_done() {
            let pieces: Vec<IoSlice<'_>> = batch.slices().take(PIECES_MAX).map(IoSlice::new).collect();
            let written = ready!(Pin::new(&mut self.stream).poll_write_vectored(context, &pieces))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.taken += written as u64;
            batch.advance(written);
        }
        // TLS may hold back what the socket did not accept.
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn taken(&self) -> u64 {
        self.taken
    }

    fn ping(&mut self) {}

    fn poll_close(&mut self, context: &mut Context<'_>, _: u16) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// A stream that is polled, for a library that reads and writes until it would have to wait.
pub(crate) struct Polled<S> {
    stream: S,
    /// The one task that reads and writes.
    waker: Waker,
    /// Octets that the stream has taken.
    taken: u64,
}

impl<S> Polled<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self { stream, waker: Waker::noop().clone(), taken: 0 }
    }

    /// Who is woken when what would have to wait need not wait any more.
    pub(crate) fn wakes(&mut self, context: &Context<'_>) {
        self.waker.clone_from(context.waker());
    }

    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }
}

impl<S: AsyncRead + Unpin> Read for Polled<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut read = ReadBuf::new(buffer);
        let mut context = Context::from_waker(&self.waker);
        at_once(Pin::new(&mut self.stream).poll_read(&mut context, &mut read))?;
        Ok(read.filled().len())
    }
}

impl<S: AsyncWrite + Unpin> Write for Polled<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut context = Context::from_waker(&self.waker);
        let written = at_once(Pin::new(&mut self.stream).poll_write(&mut context, bytes))?;
        self.taken += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut context = Context::from_waker(&self.waker);
        at_once(Pin::new(&mut self.stream).poll_flush(&mut context))
    }
}

fn at_once<T>(poll: Poll<io::Result<T>>) -> io::Result<T> {
    match poll {
        Poll::Ready(done) => done,
        Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
    }
}
