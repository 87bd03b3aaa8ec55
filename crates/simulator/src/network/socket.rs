//! One simulated connection to a port: the platform reads and writes one end as it does a socket, the simulated network has
//! the other.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The network's end.
#[derive(Clone, Default)]
pub(crate) struct NetworkEnd(Arc<Mutex<SocketState>>);

/// The platform's end; closed when it is dropped.
pub(crate) struct PlatformEnd(NetworkEnd);

#[derive(Default)]
struct SocketState {
    /// For the platform to read.
    arrived: VecDeque<u8>,
    /// Nothing more will arrive.
    is_ended: bool,
    reader: Option<Waker>,
    /// Written by the platform.
    written: Vec<u8>,
    /// With more than this written and not taken, the platform must wait.
    room: Option<usize>,
    writer: Option<Waker>,
    is_closed: bool,
}

impl NetworkEnd {
    pub(crate) fn platform_end(&self) -> PlatformEnd {
        PlatformEnd(self.clone())
    }

    /// Bytes of the client have come.
    pub(crate) fn deliver(&self, bytes: &[u8]) {
        let mut state = self.lock();
        state.arrived.extend(bytes);
        state.wake();
    }

    /// The client has closed its end, or the network has.
    pub(crate) fn end(&self) {
        let mut state = self.lock();
        state.is_ended = true;
        state.wake();
    }

    pub(crate) fn take_written(&self) -> Vec<u8> {
        let mut state = self.lock();
        state.wake_writer();
        std::mem::take(&mut state.written)
    }

    /// How much the platform may write before it is taken; none is any amount.
    pub(crate) fn set_room(&self, room: Option<usize>) {
        let mut state = self.lock();
        if std::mem::replace(&mut state.room, room) != room {
            state.wake_writer();
        }
    }

    /// Whether the platform has closed it.
    pub(crate) fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    fn lock(&self) -> MutexGuard<'_, SocketState> {
        // One thread uses it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SocketState {
    fn wake(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
        self.wake_writer();
    }

    fn wake_writer(&mut self) {
        if let Some(writer) = self.writer.take() {
            writer.wake();
        }
    }
}

impl Drop for PlatformEnd {
    fn drop(&mut self) {
        self.0.lock().is_closed = true;
    }
}

impl AsyncRead for PlatformEnd {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut state = self.0.lock();
        if state.arrived.is_empty() && !state.is_ended {
            state.reader = Some(context.waker().clone());
            return Poll::Pending;
        }
        let count = into.remaining().min(state.arrived.len());
        let bytes: Vec<u8> = state.arrived.drain(..count).collect();
        into.put_slice(&bytes);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for PlatformEnd {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut state = self.0.lock();
        if state.is_ended {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let room = state.room.map_or(usize::MAX, |room| room.saturating_sub(state.written.len()));
        if room == 0 {
            state.writer = Some(context.waker().clone());
            return Poll::Pending;
        }
        let taken = &bytes[..bytes.len().min(room)];
        state.written.extend_from_slice(taken);
        Poll::Ready(Ok(taken.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.lock().is_closed = true;
        Poll::Ready(Ok(()))
    }
}
