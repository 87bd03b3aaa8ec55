//! Session queue: bounded requests to a session's task, and the connection slot.

use crate::limits::{PAGE_MESSAGES, SESSION_QUEUE_MAX, SLOT_WAIT_MILLISECONDS};
use crate::stream::SessionStream;
use fix::{FixSessionState, LogonDecision, LogonTicket, OutgoingMessage, PreparedDecision, SeqNum, StoreError};
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::timeout;

/// The session's end of the queue; [`crate::run_session`] takes it.
pub struct SessionQueue {
    pub(crate) requests: mpsc::Receiver<SessionRequest>,
}

/// The program's end; copies of it reach the same session.
#[derive(Debug, Clone)]
pub struct SessionHandle {
    requests: mpsc::Sender<SessionRequest>,
    /// Connection slot: while it is taken, a second connection is rejected.
    connection_slot: Arc<Semaphore>,
}

/// The queue is full, or the session's task has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionQueueFull;

impl fmt::Display for SessionQueueFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the session takes no more messages")
    }
}

impl std::error::Error for SessionQueueFull {}

/// Why an operator's sequence numbers were not set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NumbersError {
    /// The session did not take the request.
    NotTaken,
    /// The store did not take the numbers.
    Store(StoreError),
}

impl From<SessionQueueFull> for NumbersError {
    fn from(_: SessionQueueFull) -> Self {
        Self::NotTaken
    }
}

impl fmt::Display for NumbersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotTaken => SessionQueueFull.fmt(f),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for NumbersError {}

pub(crate) enum SessionRequest {
    Send(OutgoingMessage),
    Decide(LogonTicket, LogonDecision),
    LogOut { text: Option<String>, done: Option<oneshot::Sender<()>> },
    Reset { done: oneshot::Sender<Result<(), StoreError>> },
    SetNumbers { incoming: SeqNum, outgoing: SeqNum, done: oneshot::Sender<Result<bool, StoreError>> },
    Status(oneshot::Sender<FixSessionState>),
    Wake,
    Connected(IncomingConnection),
}

/// A connection with a known session, and all bytes received so far.
pub(crate) struct IncomingConnection {
    pub stream: Box<dyn SessionStream>,
    pub peer: Option<IpAddr>,
    pub bytes: Vec<u8>,
    /// The decision of the authenticator; without one the application decides.
    pub decision: Option<PreparedDecision>,
    /// Released when the connection has ended.
    pub slot: Option<OwnedSemaphorePermit>,
}

pub fn session_queue() -> (SessionHandle, SessionQueue) {
    let (sender, receiver) = mpsc::channel(SESSION_QUEUE_MAX);
    (
        SessionHandle { requests: sender, connection_slot: Arc::new(Semaphore::new(1)) },
        SessionQueue { requests: receiver },
    )
}

impl SessionHandle {
    /// Queues a message; if the session is not logged on when it is handled, `Application::unsent` receives it.
    pub fn send(&self, message: OutgoingMessage) -> Result<(), SessionQueueFull> {
        self.enqueue(SessionRequest::Send(message))
    }

    /// Queues any number of messages, batch by batch: the next is made when the session has handled the one before.
    pub async fn send_all(
        &self,
        messages: impl Iterator<Item = OutgoingMessage> + Send,
    ) -> Result<(), SessionQueueFull> {
        let mut waiting = 0;
        for message in messages {
            self.requests.send(SessionRequest::Send(message)).await.map_err(|_| SessionQueueFull)?;
            waiting += 1;
            if waiting == PAGE_MESSAGES {
                self.wait_drained().await?;
                waiting = 0;
            }
        }
        Ok(())
    }

    /// Ready when everything that was queued so far is handled.
    async fn wait_drained(&self) -> Result<(), SessionQueueFull> {
        let (reply, answer) = oneshot::channel();
        self.requests.send(SessionRequest::Status(reply)).await.map_err(|_| SessionQueueFull)?;
        answer.await.map(drop).map_err(|_| SessionQueueFull)
    }

    /// Decides about a Logon for which the application returned `Verdict::Later`.
    pub fn decide(&self, ticket: LogonTicket, verdict: LogonDecision) -> Result<(), SessionQueueFull> {
        self.enqueue(SessionRequest::Decide(ticket, verdict))
    }

    pub fn log_out(&self, text: Option<String>) -> Result<(), SessionQueueFull> {
        self.enqueue(SessionRequest::LogOut { text, done: None })
    }

    /// Waits until the session has sent its Logout; the peer may answer later.
    pub async fn log_out_now(&self, text: Option<String>) -> Result<(), SessionQueueFull> {
        let (done, answer) = oneshot::channel();
        self.enqueue(SessionRequest::LogOut { text, done: Some(done) })?;
        answer.await.map_err(|_| SessionQueueFull)
    }

    /// Has `Application::woken` called.
    pub fn wake(&self) -> Result<(), SessionQueueFull> {
        self.enqueue(SessionRequest::Wake)
    }

    /// As [`Self::wake`], but waits while the queue is full.
    pub async fn wake_when_free(&self) -> Result<(), SessionQueueFull> {
        self.requests.send(SessionRequest::Wake).await.map_err(|_| SessionQueueFull)
    }

    /// Both sequence numbers are reset to 1; a peer that is logged on is logged out first.
    pub async fn reset(&self) -> Result<(), NumbersError> {
        let (done, answer) = oneshot::channel();
        self.enqueue(SessionRequest::Reset { done })?;
        answer.await.map_err(|_| SessionQueueFull)?.map_err(NumbersError::Store)
    }

    /// Sets both sequence numbers while no peer is connected; returns whether they were set.
    pub async fn set_numbers(&self, incoming: SeqNum, outgoing: SeqNum) -> Result<bool, NumbersError> {
        let (done, answer) = oneshot::channel();
        self.enqueue(SessionRequest::SetNumbers { incoming, outgoing, done })?;
        answer.await.map_err(|_| SessionQueueFull)?.map_err(NumbersError::Store)
    }

    pub async fn status(&self) -> Result<FixSessionState, SessionQueueFull> {
        let (reply, answer) = oneshot::channel();
        self.enqueue(SessionRequest::Status(reply))?;
        answer.await.map_err(|_| SessionQueueFull)
    }

    /// Hands over a connection. A client that reconnects at once may find the slot still taken, so there is a short
    /// wait.
    pub(crate) async fn connect(&self, call: IncomingConnection) -> bool {
        let Some(chair) = self.acquire_slot().await else { return false };
        self.enqueue(SessionRequest::Connected(IncomingConnection { slot: Some(chair), ..call })).is_ok()
    }

    /// Whether the slot is free now.
    pub(crate) async fn is_slot_free(&self) -> bool {
        self.acquire_slot().await.is_some()
    }

    async fn acquire_slot(&self) -> Option<OwnedSemaphorePermit> {
        let free = timeout(Duration::from_millis(SLOT_WAIT_MILLISECONDS), self.connection_slot.clone().acquire_owned());
        free.await.ok()?.ok()
    }

    fn enqueue(&self, request: SessionRequest) -> Result<(), SessionQueueFull> {
        self.requests.try_send(request).map_err(|_| SessionQueueFull)
    }
}
