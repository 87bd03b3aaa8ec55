//! Write time-out: a connection whose peer reads nothing for too long is closed.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use crate::places::Place;
use crate::socket::{OnSocket, Socket};

pub(crate) struct Impatient<S> {
    /// The place among all connections. It is free before the stream is closed, and when a request turns the connection
    /// into a WebSocket.
    place: Option<Place>,
    stream: S,
    /// Bytes that were read for the protocol detection, to be read again.
    opening: Vec<u8>,
    write_timeout: Duration,
    /// Runs while the peer reads nothing.
    deadline: Option<Pin<Box<Sleep>>>,
    /// Socket options of an upgrade handler; `None` after the upgrade.
    wished: Option<Socket>,
    is_treated: bool,
}

impl<S> Impatient<S> {
    pub(crate) fn new(stream: S, opening: Vec<u8>, place: Place, write_timeout: Duration) -> Self {
        let place = Some(place);
        Self { place, stream, opening, write_timeout, deadline: None, wished: None, is_treated: false }
    }

    /// For upgrade requests.
    pub(crate) fn socket(&mut self) -> Socket {
        self.wished.get_or_insert_default().clone()
    }

    fn fulfil_wish(&mut self)
    where
        S: OnSocket,
    {
        let Some(socket) = &self.wished else { return };
        if !self.is_treated
            && let Some(treatment) = socket.wish()
        {
            treatment(self.stream.socket());
            self.is_treated = true;
        }
        if socket.is_upgraded() {
            (self.place, self.wished) = (None, None);
        }
    }

    fn judge<T>(&mut self, progress: Poll<io::Result<T>>, context: &mut Context<'_>) -> Poll<io::Result<T>> {
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

impl<S: AsyncRead + Unpin> AsyncRead for Impatient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.opening.is_empty() {
            return Pin::new(&mut self.stream).poll_read(context, buffer);
        }
        let length = self.opening.len().min(buffer.remaining());
        buffer.put_slice(&self.opening[..length]);
        self.opening.drain(..length);
        Poll::Ready(Ok(()))
    }
}

/// TLS may write in its flush what the socket did not accept before, so a flush can wait for the peer too.
impl<S: AsyncWrite + OnSocket + Unpin> AsyncWrite for Impatient<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.fulfil_wish();
        let progress = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(progress, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.fulfil_wish();
        let progress = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.judge(progress, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let progress = Pin::new(&mut self.stream).poll_flush(context);
        self.judge(progress, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let progress = Pin::new(&mut self.stream).poll_shutdown(context);
        self.judge(progress, context)
    }
}
