//! Session queue: bounded requests to a session's task, and the connection slot.

use crate::limits::{HAND_OVER_MILLISECONDS, MAILBOX_MESSAGES_MAX, PAGE_MESSAGES};
use crate::stream::Stream;
use fix::{Introduction, LogonTicket, Outgoing, SeqNum, Status, Verdict};
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::timeout;

/// The session's end of the queue; [`crate::run_session`] takes it.
pub struct Mailbox {
    pub(crate) requests: mpsc::Receiver<Request>,
}

/// The program's end; copies of it reach the same session.
#[derive(Debug, Clone)]
pub struct SessionHandle {
    requests: mpsc::Sender<Request>,
    /// Connection slot: while it is taken, a second connection is rejected.
    chair: Arc<Semaphore>,
}

/// The queue is full, or the session's task has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailboxFull;

impl fmt::Display for MailboxFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the session takes no more messages")
    }
}

impl std::error::Error for MailboxFull {}

pub(crate) enum Request {
    Send(Outgoing),
    Decide(LogonTicket, Verdict),
    LogOut { text: Option<String>, done: Option<oneshot::Sender<()>> },
    Reset { done: oneshot::Sender<()> },
    SetNumbers { incoming: SeqNum, outgoing: SeqNum, done: oneshot::Sender<bool> },
    Status(oneshot::Sender<Status>),
    Wake,
    Connected(Call),
}

/// A connection with a known session, and all bytes received so far.
pub(crate) struct Call {
    pub stream: Box<dyn Stream>,
    pub peer: Option<IpAddr>,
    pub bytes: Vec<u8>,
    /// The decision of the authenticator; without one the application decides.
    pub introduction: Option<Introduction>,
    /// Released when the connection has ended.
    pub chair: Option<OwnedSemaphorePermit>,
}

pub fn mailbox() -> (SessionHandle, Mailbox) {
    let (sender, receiver) = mpsc::channel(MAILBOX_MESSAGES_MAX);
    (SessionHandle { requests: sender, chair: Arc::new(Semaphore::new(1)) }, Mailbox { requests: receiver })
}

impl SessionHandle {
    /// Queues a message; if the session is not logged on when it is handled, `Application::unsent` receives it.
    pub fn send(&self, message: Outgoing) -> Result<(), MailboxFull> {
        self.request(Request::Send(message))
    }

    /// Queues any number of messages, batch by batch: the next is made when the session has handled the one before.
    pub async fn send_all(&self, messages: impl Iterator<Item = Outgoing> + Send) -> Result<(), MailboxFull> {
        let mut waiting = 0;
        for message in messages {
            self.requests.send(Request::Send(message)).await.map_err(|_| MailboxFull)?;
            waiting += 1;
            if waiting == PAGE_MESSAGES {
                self.taken().await?;
                waiting = 0;
            }
        }
        Ok(())
    }

    /// Ready when everything that was queued so far is handled.
    async fn taken(&self) -> Result<(), MailboxFull> {
        let (reply, answer) = oneshot::channel();
        self.requests.send(Request::Status(reply)).await.map_err(|_| MailboxFull)?;
        answer.await.map(drop).map_err(|_| MailboxFull)
    }

    /// Decides about a Logon for which the application returned `Verdict::Later`.
    pub fn decide(&self, ticket: LogonTicket, verdict: Verdict) -> Result<(), MailboxFull> {
        self.request(Request::Decide(ticket, verdict))
    }

    pub fn log_out(&self, text: Option<String>) -> Result<(), MailboxFull> {
        self.request(Request::LogOut { text, done: None })
    }

    /// Waits until the session has sent its Logout; the peer may answer later.
    pub async fn log_out_now(&self, text: Option<String>) -> Result<(), MailboxFull> {
        let (done, answer) = oneshot::channel();
        self.request(Request::LogOut { text, done: Some(done) })?;
        answer.await.map_err(|_| MailboxFull)
    }

    /// Has `Application::woken` called.
    pub fn wake(&self) -> Result<(), MailboxFull> {
        self.request(Request::Wake)
    }

    /// As [`Self::wake`], but waits while the queue is full.
    pub async fn wake_when_free(&self) -> Result<(), MailboxFull> {
        self.requests.send(Request::Wake).await.map_err(|_| MailboxFull)
    }

    /// Both sequence numbers are reset to 1; a peer that is logged on is logged out first.
    pub async fn reset(&self) -> Result<(), MailboxFull> {
        let (done, answer) = oneshot::channel();
        self.request(Request::Reset { done })?;
        answer.await.map_err(|_| MailboxFull)
    }

    /// Sets both sequence numbers while no peer is connected; returns whether they were set.
    pub async fn set_numbers(&self, incoming: SeqNum, outgoing: SeqNum) -> Result<bool, MailboxFull> {
        let (done, answer) = oneshot::channel();
        self.request(Request::SetNumbers { incoming, outgoing, done })?;
        answer.await.map_err(|_| MailboxFull)
    }

    pub async fn status(&self) -> Result<Status, MailboxFull> {
        let (reply, answer) = oneshot::channel();
        self.request(Request::Status(reply))?;
        answer.await.map_err(|_| MailboxFull)
    }

    /// Hands over a connection. A client that reconnects at once may find the slot still taken, so there is a short
    /// wait.
    pub(crate) async fn connect(&self, call: Call) -> bool {
        let Some(chair) = self.chair().await else { return false };
        self.request(Request::Connected(Call { chair: Some(chair), ..call })).is_ok()
    }

    /// Whether the slot is free now.
    pub(crate) async fn is_free(&self) -> bool {
        self.chair().await.is_some()
    }

    async fn chair(&self) -> Option<OwnedSemaphorePermit> {
        let free = timeout(Duration::from_millis(HAND_OVER_MILLISECONDS), self.chair.clone().acquire_owned());
        free.await.ok()?.ok()
    }

    fn request(&self, request: Request) -> Result<(), MailboxFull> {
        self.requests.try_send(request).map_err(|_| MailboxFull)
    }
}
