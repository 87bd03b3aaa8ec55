//! A stream that is polled, for a library that reads and writes until it would have to wait.

use std::io::{self, Read, Write};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

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
