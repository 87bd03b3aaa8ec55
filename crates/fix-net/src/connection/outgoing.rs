//! Bytes on their way to the peer. Whether they may leave is asked right before each write: a slow peer keeps them waiting, and another
//! process may send in place of this one meanwhile.

use crate::durable_store::DurableStore;
use crate::limits::WRITE_STALL_SECONDS;
use crate::stream::SessionStream;
use fix::{Framer, StoreError};
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncWrite, WriteHalf};
use tokio::time::{Instant, timeout_at};

pub(super) type StreamWriter = WriteHalf<Box<dyn SessionStream>>;

pub(super) struct OutgoingBytes {
    bytes: Vec<u8>,
    /// So many of them the stream has taken. With TLS they may wait in it.
    taken: usize,
    /// When the stream last took something of them, or was given them.
    taken_at: Instant,
}

/// Why nothing more is written.
pub(super) enum WriteError {
    /// What waits may not leave any more.
    Refused(StoreError),
    Socket(io::Error),
}

impl OutgoingBytes {
    pub(super) fn new() -> Self {
        Self { bytes: Vec::new(), taken: 0, taken_at: Instant::now() }
    }

    /// Whether everything has left.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The next bytes, when those before have left. Gives back how many they are, and the memory of those before.
    pub(super) fn fill(&mut self, made: &mut Vec<u8>) -> usize {
        std::mem::swap(made, &mut self.bytes);
        self.taken_at = Instant::now();
        self.bytes.len()
    }

    /// Ready when some of them were taken, or have left. Fails where the socket has taken nothing for too long, whatever else happened
    /// meanwhile. What is taken is noted at once: who stops to wait loses nothing.
    pub(super) async fn write<S: DurableStore>(
        &mut self,
        writer: &mut StreamWriter,
        store: &mut S,
    ) -> Result<(), WriteError> {
        let stalled_at = self.taken_at + Duration::from_secs(WRITE_STALL_SECONDS);
        let written = timeout_at(stalled_at, poll_fn(|context| self.poll_write(context, writer, store))).await;
        written.unwrap_or_else(|_| Err(WriteError::Socket(io::ErrorKind::TimedOut.into())))
    }

    /// Between the question and the call of the operating system is nothing that waits.
    fn poll_write<S: DurableStore>(
        &mut self,
        context: &mut Context<'_>,
        writer: &mut StreamWriter,
        store: &mut S,
    ) -> Poll<Result<(), WriteError>> {
        store.may_leave().map_err(WriteError::Refused)?;
        let rest = &self.bytes[self.taken..];
        if !rest.is_empty() {
            let count = ready!(Pin::new(&mut *writer).poll_write(context, rest)).map_err(WriteError::Socket)?;
            if count == 0 {
                return Poll::Ready(Err(WriteError::Socket(io::ErrorKind::WriteZero.into())));
            }
            (self.taken, self.taken_at) = (self.taken + count, Instant::now());
            if self.taken < self.bytes.len() {
                return Poll::Ready(Ok(()));
            }
        }
        ready!(Pin::new(writer).poll_flush(context)).map_err(WriteError::Socket)?;
        self.clear();
        Poll::Ready(Ok(()))
    }

    /// Nothing of them is written any more.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.taken = 0;
    }

    /// The same; the messages of which nothing was taken are given back.
    pub(super) fn withdraw(&mut self) -> Vec<u8> {
        let (mut framer, mut begun) = (Framer::new(), 0);
        framer.buffer().extend_from_slice(&self.bytes);
        while begun < self.taken
            && let Ok(Some(frame)) = framer.next_frame()
        {
            begun += frame.len();
        }
        // They are our own messages, so that each has an end.
        let unwritten = self.bytes.split_off(begun.max(self.taken));
        self.clear();
        unwritten
    }
}
