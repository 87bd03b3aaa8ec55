//! Write time-out: a connection whose peer reads nothing for too long is closed.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use net::ConnectionPermit;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use crate::ports::upgrade_socket::{HasTcpStream, UpgradeSocket};

pub(crate) struct WriteTimeoutStream<S> {
    /// The place among all connections. It is free before the stream is closed, and when a request turns the connection
    /// into a WebSocket.
    permit: Option<ConnectionPermit>,
    stream: S,
    /// Bytes that were read for the protocol detection, to be read again.
    prefetched: Vec<u8>,
    write_timeout: Duration,
    /// Runs while the peer reads nothing.
    deadline: Option<Pin<Box<Sleep>>>,
    /// Socket options of an upgrade handler; `None` after the upgrade.
    upgrade_socket: Option<UpgradeSocket>,
    is_configured: bool,
}

impl<S> WriteTimeoutStream<S> {
    pub(crate) fn new(stream: S, prefetched: Vec<u8>, place: ConnectionPermit, write_timeout: Duration) -> Self {
        let permit = Some(place);
        Self { permit, stream, prefetched, write_timeout, deadline: None, upgrade_socket: None, is_configured: false }
    }

    /// For upgrade requests.
    pub(crate) fn socket(&mut self) -> UpgradeSocket {
        self.upgrade_socket.get_or_insert_default().clone()
    }

    fn configure_socket(&mut self)
    where
        S: HasTcpStream,
    {
        let Some(socket) = &self.upgrade_socket else { return };
        if !self.is_configured
            && let Some(treatment) = socket.configuration()
        {
            treatment(self.stream.tcp_stream());
            self.is_configured = true;
        }
        if socket.is_upgraded() {
            (self.permit, self.upgrade_socket) = (None, None);
        }
    }

    fn check_deadline<T>(&mut self, progress: Poll<io::Result<T>>, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if progress.is_ready() {
            self.deadline = None;
            return progress;
        }
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(self.write_timeout)));
        match deadline.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeoutStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.prefetched.is_empty() {
            return Pin::new(&mut self.stream).poll_read(context, buffer);
        }
        let length = self.prefetched.len().min(buffer.remaining());
        buffer.put_slice(&self.prefetched[..length]);
        self.prefetched.drain(..length);
        Poll::Ready(Ok(()))
    }
}

/// TLS may write in its flush what the socket did not accept before, so a flush can wait for the peer too.
impl<S: AsyncWrite + HasTcpStream + Unpin> AsyncWrite for WriteTimeoutStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.configure_socket();
        let progress = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.check_deadline(progress, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.configure_socket();
        let progress = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.check_deadline(progress, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let progress = Pin::new(&mut self.stream).poll_flush(context);
        self.check_deadline(progress, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let progress = Pin::new(&mut self.stream).poll_shutdown(context);
        self.check_deadline(progress, context)
    }
}
