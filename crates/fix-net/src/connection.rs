//! One connection. Bytes in, what the conversation makes of them, bytes out; heart-beats when nothing comes. The
//! reader is never blocked by the writer: while a peer is slow, only its own line waits. While it is not read because there
//! is no room for more of it, what waits in its socket counts as heard.

use crate::clock::Clock;
use crate::durable::Durable;
use crate::limits::{MAILBOX_BATCH, PARTING_SECONDS, READ_BYTES, WIRE_BYTES_MAX, WRITE_STALL_SECONDS};
use crate::mailbox::{Mailbox, Request};
use crate::stream::Stream;
use fix::{Application, Conversation, DisconnectReason, SendError, Time};
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::sync::watch;
use tokio::task::unconstrained;
use tokio::time::{Instant, Sleep, sleep, timeout};

/// Text (58) of our Logout when the program stops.
const STOPPING: &str = "the server stops";

/// Drives a connected session engine to its end, and returns the reason.
pub(crate) async fn converse<S: Durable, A: Application>(
    conversation: &mut Conversation<S, A>,
    stream: Box<dyn Stream>,
    mailbox: &mut Mailbox,
    clock: &Clock,
    shutdown: &mut watch::Receiver<bool>,
) -> DisconnectReason {
    let (reader, writer) = tokio::io::split(stream);
    let mut connection = Connection {
        conversation,
        clock,
        reader,
        writer,
        received: Vec::with_capacity(READ_BYTES),
        leaving: Vec::new(),
        written: 0,
    };
    let mut timer = Box::pin(sleep(clock.until(connection.conversation.session().deadline())));
    let mut stopping = *shutdown.borrow();
    if stopping {
        connection.stop();
    }
    while connection.prepare_writing().await {
        connection.wait(mailbox, timer.as_mut(), shutdown, &mut stopping).await;
        connection.rearm(timer.as_mut());
    }
    tokio::spawn(part(connection.reader, connection.writer));
    conversation.finish(clock.now())
}

/// Shuts down our side and reads until the peer has closed too: a socket closed with unread bytes would discard our
/// last message.
async fn part(mut reader: ReadHalf<Box<dyn Stream>>, mut writer: WriteHalf<Box<dyn Stream>>) {
    let parting = async {
        writer.shutdown().await?;
        tokio::io::copy(&mut reader, &mut tokio::io::sink()).await
    };
    // The reason is known already; the peer's reaction does not change it.
    let _ = timeout(Duration::from_secs(PARTING_SECONDS), parting).await;
}

struct Connection<'a, S, A> {
    conversation: &'a mut Conversation<S, A>,
    clock: &'a Clock,
    reader: ReadHalf<Box<dyn Stream>>,
    writer: WriteHalf<Box<dyn Stream>>,
    received: Vec<u8>,
    /// Bytes being written; the session engine collects the next ones meanwhile.
    leaving: Vec<u8>,
    written: usize,
}

impl<S: Durable, A: Application> Connection<'_, S, A> {
    /// Takes the bytes of the session engine, once they are durable. False when all is written and it has ended.
    async fn prepare_writing(&mut self) -> bool {
        while self.leaving.is_empty() {
            if !self.conversation.wire().is_empty() {
                if let Err(error) = self.conversation.session_mut().store_mut().settled().await {
                    // A message that is not durable is not sent.
                    self.conversation.cut(self.clock.now(), DisconnectReason::StoreFailed(error.0));
                    return false;
                }
                std::mem::swap(self.conversation.wire(), &mut self.leaving);
            } else if self.conversation.session().is_resending() {
                self.conversation.continue_resend(self.clock.now());
            } else {
                break;
            }
        }
        !(self.leaving.is_empty() && self.conversation.ended().is_some())
    }

    /// Waits for the first event and handles it.
    async fn wait(
        &mut self,
        mailbox: &mut Mailbox,
        timer: std::pin::Pin<&mut Sleep>,
        shutdown: &mut watch::Receiver<bool>,
        stopping: &mut bool,
    ) {
        let open = self.conversation.ended().is_none();
        let roomy = self.conversation.wire().len() < WIRE_BYTES_MAX;
        let listening = open && roomy && self.conversation.is_listening();
        let writing = !self.leaving.is_empty();
        if listening && !self.received.is_empty() {
            return self.take_received();
        }
        tokio::select! {
            biased;
            result = write_some(&mut self.writer, &self.leaving[self.written..]), if writing => self.wrote(result),
            result = self.reader.read_buf(&mut self.received), if listening => self.read(result),
            request = mailbox.requests.recv(), if open && roomy => self.requested(request, mailbox),
            () = timer, if open => self.tick(listening).await,
            _ = shutdown.changed(), if open && !*stopping => {
                *stopping = true;
                self.stop();
            }
        }
    }

    /// A peer is not silent whose words we do not read.
    async fn tick(&mut self, listening: bool) {
        if !listening && self.has_unread().await {
            self.conversation.is_heard(self.clock.now());
        }
        self.conversation.tick(self.clock.now());
    }

    /// Whether something waits that was not looked at; of what lies in the socket a little is fetched to see it.
    async fn has_unread(&mut self) -> bool {
        if self.conversation.has_unread() || !self.received.is_empty() {
            return true;
        }
        // That the peer has hung up is found when it is read again.
        let waiting = unconstrained(timeout(Duration::ZERO, self.reader.read_buf(&mut self.received))).await;
        waiting.is_ok_and(|result| result.is_ok_and(|count| count > 0))
    }

    fn stop(&mut self) {
        self.conversation.log_out(self.clock.now(), Some(STOPPING));
    }

    fn wrote(&mut self, result: io::Result<usize>) {
        match result {
            Ok(count) => self.written += count,
            Err(error) => {
                self.conversation.cut(self.clock.now(), failed(&error));
                self.written = self.leaving.len();
                self.conversation.wire().clear();
            }
        }
        if self.written == self.leaving.len() {
            self.leaving.clear();
            self.written = 0;
        }
    }

    fn read(&mut self, result: io::Result<usize>) {
        match result {
            Ok(0) => self.conversation.cut(self.clock.now(), DisconnectReason::PeerClosed),
            Ok(_) => self.take_received(),
            Err(error) => self.conversation.cut(self.clock.now(), failed(&error)),
        }
    }

    fn take_received(&mut self) {
        self.conversation.buffer().extend_from_slice(&self.received);
        self.received.clear();
        self.conversation.pump(self.clock.now());
    }

    /// Takes what else is waiting too, so that many messages leave with one write.
    fn requested(&mut self, request: Option<Request>, mailbox: &mut Mailbox) {
        let Some(request) = request else {
            return self.conversation.cut(self.clock.now(), DisconnectReason::Shutdown);
        };
        serve(self.conversation, request, self.clock.now());
        for _ in 1..MAILBOX_BATCH {
            match mailbox.requests.try_recv() {
                Ok(request) => serve(self.conversation, request, self.clock.now()),
                Err(_) => break,
            }
        }
    }

    /// A timer that fires early does no harm, so it is moved only when it would fire late.
    fn rearm(&mut self, timer: std::pin::Pin<&mut Sleep>) {
        let wanted = Instant::now() + self.clock.until(self.conversation.session().deadline());
        if timer.is_elapsed() || wanted < timer.deadline() {
            timer.reset(wanted);
        }
    }
}

async fn write_some(writer: &mut WriteHalf<Box<dyn Stream>>, bytes: &[u8]) -> io::Result<usize> {
    match timeout(Duration::from_secs(WRITE_STALL_SECONDS), writer.write(bytes)).await {
        Ok(Ok(0)) => Err(io::ErrorKind::WriteZero.into()),
        Ok(result) => result,
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    }
}

fn failed(error: &io::Error) -> DisconnectReason {
    match error.kind() {
        io::ErrorKind::TimedOut => DisconnectReason::SlowPeer,
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => DisconnectReason::PeerClosed,
        _ => DisconnectReason::SocketFailed(error.to_string()),
    }
}

/// Requests that need no connection.
pub(crate) fn serve<S: Durable, A: Application>(conversation: &mut Conversation<S, A>, request: Request, now: Time) {
    match request {
        Request::Send(message) => match conversation.send(now, &message) {
            Ok(_) | Err(SendError::Store(_)) => {}
            Err(SendError::NotLoggedOn) => conversation.application_mut().unsent(message),
        },
        Request::Decide(ticket, verdict) => conversation.decide(now, ticket, &verdict),
        Request::LogOut { text, done } => {
            conversation.log_out(now, text.as_deref());
            // The requester may have gone.
            let _ = done.map(|done| done.send(()));
        }
        Request::Reset { done } => {
            conversation.reset(now);
            // The requester may have gone.
            let _ = done.send(());
        }
        Request::SetNumbers { incoming, outgoing, done } => {
            let set = conversation.session_mut().set_numbers(incoming, outgoing).unwrap_or(false);
            // The requester may have gone.
            let _ = done.send(set);
        }
        Request::Wake => conversation.wake(now),
        Request::Status(reply) => drop(reply.send(conversation.session().status(now))),
        // The acceptor hands over one connection at a time; a dropped socket is closed.
        Request::Connected(_) => {}
    }
}
