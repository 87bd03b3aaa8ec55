//! One connection. Bytes in, what the conversation makes of them, bytes out; heart-beats when nothing comes. The
//! reader is never blocked by the writer: while a peer is slow, only its own line waits. While it is not read because there
//! is no room for more of it, what waits in its socket counts as heard.

mod outgoing;

use crate::clock::SessionClock;
use crate::durable_store::DurableStore;
use crate::limits::{CLOSE_WAIT_SECONDS, READ_BYTES, SESSION_QUEUE_BATCH, TURN_BYTES, WIRE_BYTES_MAX};
use crate::session_queue::{SessionQueue, SessionRequest};
use crate::stream::SessionStream;
use fix::{Application, DisconnectReason, Framer, SendError, SessionEngine, UtcTimestamp};
use outgoing::{OutgoingBytes, StreamWriter, WriteError};
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf};
use tokio::sync::watch;
use tokio::task::{unconstrained, yield_now};
use tokio::time::{Instant, Sleep, sleep, timeout};

/// Text (58) of our Logout when the program stops.
const SERVER_STOPPING_TEXT: &str = "the server stops";

/// Drives a connected session engine to its end, and returns the reason.
pub(crate) async fn run_connection<S: DurableStore, A: Application>(
    conversation: &mut SessionEngine<S, A>,
    stream: Box<dyn SessionStream>,
    queue: &mut SessionQueue,
    clock: &SessionClock,
    shutdown: &mut watch::Receiver<bool>,
) -> DisconnectReason {
    let (reader, writer) = tokio::io::split(stream);
    let mut connection = FixConnection {
        engine: conversation,
        clock,
        reader,
        writer,
        received: Vec::with_capacity(READ_BYTES),
        outgoing: OutgoingBytes::new(),
        is_cut: false,
        worked: 0,
        turn: 0,
    };
    let mut timer = Box::pin(sleep(clock.until(connection.engine.session().deadline())));
    let mut stopping = *shutdown.borrow();
    if stopping {
        connection.stop();
    }
    while connection.prepare_writing().await {
        connection.next_event(queue, timer.as_mut(), shutdown, &mut stopping).await;
        connection.rearm(timer.as_mut());
        connection.give_way().await;
    }
    if !connection.is_cut {
        tokio::spawn(close_gracefully(connection.reader, connection.writer));
    }
    conversation.on_closed(clock.now())
}

/// Shuts down our side and reads until the peer has closed too: a socket closed with unread bytes would discard our
/// last message.
async fn close_gracefully(mut reader: ReadHalf<Box<dyn SessionStream>>, mut writer: StreamWriter) {
    let parting = async {
        writer.shutdown().await?;
        tokio::io::copy(&mut reader, &mut tokio::io::sink()).await
    };
    // The reason is known already; the peer's reaction does not change it.
    let _ = timeout(Duration::from_secs(CLOSE_WAIT_SECONDS), parting).await;
}

struct FixConnection<'a, S, A> {
    engine: &'a mut SessionEngine<S, A>,
    clock: &'a SessionClock,
    reader: ReadHalf<Box<dyn SessionStream>>,
    writer: StreamWriter,
    received: Vec<u8>,
    /// Bytes being written; the session engine collects the next ones meanwhile.
    outgoing: OutgoingBytes,
    /// Not everything that was to leave has left: a proper end of the stream would send what waits in it, as TLS lets it.
    is_cut: bool,
    /// Bytes that were read and made since other sessions had the thread.
    worked: usize,
    /// Which of the events is looked for first.
    turn: usize,
}

impl<S: DurableStore, A: Application> FixConnection<'_, S, A> {
    /// Takes the bytes of the session engine, once they are durable. False when all is written and it has ended.
    async fn prepare_writing(&mut self) -> bool {
        while self.outgoing.is_empty() {
            if !self.engine.output().is_empty() {
                if let Err(error) = self.engine.session_mut().store_mut().flush().await {
                    // A message that is not durable is not sent.
                    self.disconnect(DisconnectReason::StoreFailed(error.0));
                    return false;
                }
                self.worked += self.outgoing.fill(self.engine.output());
            } else if self.engine.session().is_resending() {
                let now = self.now();
                self.engine.continue_resend(now);
                if self.engine.output().is_empty() {
                    // A range without messages is read to its end before there is a gap fill: others go first meanwhile.
                    yield_now().await;
                }
            } else {
                break;
            }
        }
        !(self.outgoing.is_empty() && self.engine.disconnect_reason().is_some())
    }

    /// Waits for the next event and handles it. They take turns: a peer that never stops sending, or a long resend, keeps
    /// neither requests nor timers waiting.
    async fn next_event(
        &mut self,
        queue: &mut SessionQueue,
        timer: Pin<&mut Sleep>,
        shutdown: &mut watch::Receiver<bool>,
        stopping: &mut bool,
    ) {
        let open = self.engine.disconnect_reason().is_none();
        let roomy = self.engine.output().len() < WIRE_BYTES_MAX;
        let listening = open && roomy && self.engine.can_read();
        let writing = !self.outgoing.is_empty();
        if listening && !self.received.is_empty() {
            return self.take_received();
        }
        self.turn = self.turn.wrapping_add(1);
        let Self { engine, writer, reader, outgoing, received, turn, .. } = self;
        let write = when(writing, outgoing.write(writer, engine.session_mut().store_mut()));
        let read = when(listening, reader.read_buf(received));
        let request = when(open && roomy, queue.requests.recv());
        let (timer, stop) = (when(open, timer), when(open && !*stopping, shutdown.changed()));
        let event = take_turns(
            *turn,
            [
                pin!(async { ConnectionEvent::Written(write.await) }),
                pin!(async { ConnectionEvent::Read(read.await) }),
                pin!(async { ConnectionEvent::Request(request.await) }),
                pin!(async {
                    timer.await;
                    ConnectionEvent::Timer
                }),
                pin!(async {
                    // A program that is gone stops, too.
                    let _ = stop.await;
                    ConnectionEvent::Stop
                }),
            ],
        )
        .await;
        match event {
            ConnectionEvent::Written(result) => self.on_written(result),
            ConnectionEvent::Read(result) => self.on_read(result),
            ConnectionEvent::Request(request) => self.on_request(request, queue),
            ConnectionEvent::Timer => self.tick(listening).await,
            ConnectionEvent::Stop => {
                *stopping = true;
                self.stop();
            }
        }
    }

    /// A peer is not silent whose words we do not read.
    async fn tick(&mut self, listening: bool) {
        let is_heard = !listening && self.has_unread().await;
        let now = self.now();
        if is_heard {
            self.engine.is_heard(now);
        }
        self.engine.tick(now);
    }

    /// Whether something waits that was not looked at; of what lies in the socket a little is fetched to see it.
    async fn has_unread(&mut self) -> bool {
        if self.engine.has_unread() || !self.received.is_empty() {
            return true;
        }
        // That the peer has hung up is found when it is read again.
        let waiting = unconstrained(timeout(Duration::ZERO, self.reader.read_buf(&mut self.received))).await;
        waiting.is_ok_and(|result| result.is_ok_and(|count| count > 0))
    }

    fn stop(&mut self) {
        let now = self.now();
        self.engine.log_out(now, Some(SERVER_STOPPING_TEXT));
    }

    fn disconnect(&mut self, reason: DisconnectReason) {
        let now = self.now();
        self.engine.disconnect(now, reason);
    }

    /// The time for what is done next.
    fn now(&mut self) -> UtcTimestamp {
        self.clock.tell(self.engine)
    }

    fn on_written(&mut self, result: Result<(), WriteError>) {
        let Err(error) = result else { return };
        self.is_cut = true;
        let reason = match error {
            WriteError::Refused(refusal) => {
                self.tell_unwritten();
                DisconnectReason::StoreFailed(refusal.0)
            }
            WriteError::Socket(error) => socket_error(&error),
        };
        self.disconnect(reason);
        self.outgoing.clear();
        self.engine.output().clear();
    }

    /// Of what was begun the peer may have everything that counts, so only the rest is told.
    fn tell_unwritten(&mut self) {
        let mut framer = Framer::new();
        *framer.buffer() = self.outgoing.withdraw();
        framer.buffer().append(self.engine.output());
        while let Ok(Some(frame)) = framer.next_frame() {
            self.engine.application_mut().on_unwritten(frame);
        }
    }

    fn on_read(&mut self, result: io::Result<usize>) {
        match result {
            Ok(0) => self.disconnect(DisconnectReason::PeerClosed),
            Ok(_) => self.take_received(),
            Err(error) => self.disconnect(socket_error(&error)),
        }
    }

    /// A session with much to do does not keep the thread from the others: one of them may want to cancel.
    async fn give_way(&mut self) {
        if self.worked >= TURN_BYTES {
            self.worked = 0;
            yield_now().await;
        }
    }

    fn take_received(&mut self) {
        self.worked += self.received.len();
        self.engine.buffer().extend_from_slice(&self.received);
        self.received.clear();
        let now = self.now();
        self.engine.process_input(now);
    }

    /// Takes what else is waiting too, so that many messages leave with one write.
    fn on_request(&mut self, request: Option<SessionRequest>, queue: &mut SessionQueue) {
        let Some(request) = request else {
            return self.disconnect(DisconnectReason::Shutdown);
        };
        let now = self.now();
        handle_request(self.engine, request, now);
        for _ in 1..SESSION_QUEUE_BATCH {
            match queue.requests.try_recv() {
                Ok(request) => handle_request(self.engine, request, now),
                Err(_) => break,
            }
        }
    }

    /// A timer that fires early does no harm, so it is moved only when it would fire late.
    fn rearm(&mut self, timer: Pin<&mut Sleep>) {
        let wanted = Instant::now() + self.clock.until(self.engine.session().deadline());
        if timer.is_elapsed() || wanted < timer.deadline() {
            timer.reset(wanted);
        }
    }
}

/// What a connection waits for.
enum ConnectionEvent {
    Written(Result<(), WriteError>),
    Read(io::Result<usize>),
    Request(Option<SessionRequest>),
    Timer,
    Stop,
}

/// Never ready where it is not wanted.
async fn when<T>(is_wanted: bool, event: impl Future<Output = T>) -> T {
    if is_wanted { event.await } else { std::future::pending().await }
}

/// The first that is ready, looked for from that turn on: each is the first in its turn, and which one follows from nothing else.
async fn take_turns<T, const N: usize>(turn: usize, mut events: [Pin<&mut (dyn Future<Output = T> + Send)>; N]) -> T {
    poll_fn(|context| {
        (0..N)
            .map(|next| events[(turn % N + next) % N].as_mut().poll(context))
            .find(Poll::is_ready)
            .unwrap_or(Poll::Pending)
    })
    .await
}

fn socket_error(error: &io::Error) -> DisconnectReason {
    match error.kind() {
        io::ErrorKind::TimedOut => DisconnectReason::SlowPeer,
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => DisconnectReason::PeerClosed,
        _ => DisconnectReason::SocketFailed(error.to_string()),
    }
}

/// Requests that need no connection.
pub(crate) fn handle_request<S: DurableStore, A: Application>(
    conversation: &mut SessionEngine<S, A>,
    request: SessionRequest,
    now: UtcTimestamp,
) {
    match request {
        SessionRequest::Send(message) => match conversation.send(now, &message) {
            Ok(_) | Err(SendError::Store(_)) => {}
            Err(SendError::NotLoggedOn) => conversation.application_mut().on_unsent(message),
        },
        SessionRequest::Decide(ticket, verdict) => conversation.decide_logon(now, ticket, &verdict),
        SessionRequest::LogOut { text, done } => {
            conversation.log_out(now, text.as_deref());
            // The requester may have gone.
            let _ = done.map(|done| done.send(()));
        }
        SessionRequest::Reset { done } => {
            let reset = conversation.reset(now);
            // The requester may have gone.
            let _ = done.send(reset);
        }
        SessionRequest::SetNumbers { incoming, outgoing, done } => {
            let set = conversation.session_mut().set_sequence_numbers(incoming, outgoing);
            // The requester may have gone.
            let _ = done.send(set);
        }
        SessionRequest::Wake => conversation.wake(now),
        SessionRequest::Status(reply) => drop(reply.send(conversation.session().status(now))),
        // The acceptor hands over one connection at a time; a dropped socket is closed.
        SessionRequest::Connected(_) => {}
    }
}

#[cfg(test)]
mod tests;
