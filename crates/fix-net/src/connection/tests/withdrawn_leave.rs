//! Orders that wait for a slow venue do not leave any more when their store forbids it, as that of a leader does without its lease.

use std::sync::atomic::AtomicBool;
use std::task::ready;

use fix::{Direction, MessageVisitor, OutgoingMessage, SeqNum, StoreError, Traffic};

use super::*;

/// What the line to the venue takes while the venue does not read.
const LINE_BYTES: usize = 256;
const REFUSAL: &str = "another one may lead";

/// Lets its messages leave as long as it has the lease.
struct LeasedStore {
    numbers: MemoryStore,
    has_lease: Arc<AtomicBool>,
}

impl MessageStore for LeasedStore {
    fn created(&self) -> UtcTimestamp {
        self.numbers.created()
    }

    fn next_outgoing(&self) -> SeqNum {
        self.numbers.next_outgoing()
    }

    fn next_incoming(&self) -> SeqNum {
        self.numbers.next_incoming()
    }

    fn append(&mut self, number: SeqNum, traffic: Traffic, message: &[u8]) -> Result<(), StoreError> {
        self.numbers.append(number, traffic, message)
    }

    fn set_next_incoming(&mut self, next: SeqNum, traffic: Traffic) -> Result<(), StoreError> {
        self.numbers.set_next_incoming(next, traffic)
    }

    fn set_next_outgoing(&mut self, next: SeqNum) -> Result<(), StoreError> {
        self.numbers.set_next_outgoing(next)
    }

    fn read(&mut self, from: SeqNum, to: SeqNum, visit: &mut MessageVisitor<'_>) -> Result<(), StoreError> {
        self.numbers.read(from, to, visit)
    }

    fn reset(&mut self, now: UtcTimestamp) -> Result<(), StoreError> {
        self.numbers.reset(now)
    }

    fn refresh(&mut self) -> Result<(), StoreError> {
        self.numbers.refresh()
    }
}

impl DurableStore for LeasedStore {
    fn flush(&mut self) -> impl Future<Output = Result<(), StoreError>> + Send {
        self.numbers.flush()
    }

    fn may_leave(&mut self) -> Result<(), StoreError> {
        if self.has_lease.load(Ordering::Relaxed) { Ok(()) } else { Err(StoreError(REFUSAL.to_owned())) }
    }

    fn flush_on_disconnect(&mut self) -> impl Future<Output = Result<(), StoreError>> + Send {
        self.numbers.flush_on_disconnect()
    }
}

/// Notes the orders that were sent, and those of them that did not leave.
#[derive(Default)]
struct OrderRecorder {
    sent: Vec<String>,
    unwritten: Vec<String>,
}

/// The ClOrdID (11) of an order.
fn client_id(frame: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(frame);
    text.split('\x01').find_map(|field| field.strip_prefix("11=")).map(ToOwned::to_owned)
}

impl Application for OrderRecorder {
    fn on_logon(&mut self, _: &FixMessage<'_>, _: LogonTicket) -> LogonDecision {
        LogonDecision::Accept
    }

    fn on_message(&mut self, _: &FixMessage<'_>, _: &mut dyn SessionSender) {}

    fn on_frame(&mut self, direction: Direction, frame: &[u8]) {
        self.sent.extend(client_id(frame).filter(|_| direction == Direction::Out));
    }

    fn on_unwritten(&mut self, frame: &[u8]) {
        self.unwritten.extend(client_id(frame));
    }
}

/// Takes everything at once and passes on what the line takes, as TLS does.
struct BufferedStream {
    line: DuplexStream,
    waiting: Vec<u8>,
}

impl BufferedStream {
    fn pass_on(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.waiting.is_empty() {
            let count = ready!(Pin::new(&mut self.line).poll_write(context, &self.waiting))?;
            self.waiting.drain(..count);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for BufferedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.line).poll_read(context, buffer)
    }
}

impl AsyncWrite for BufferedStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.waiting.extend_from_slice(bytes);
        // What the line does not take now waits.
        let _ = self.pass_on(context)?;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.pass_on(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.pass_on(context))?;
        Pin::new(&mut self.line).poll_shutdown(context)
    }
}

/// With this id, and a text that makes it longer.
fn order(id: &str, text: &str) -> OutgoingMessage {
    let mut order = OutgoingMessage::new("D");
    order.field(11, id).field(58, text);
    order
}

/// What becomes of three orders. The first one is longer than what the line takes; the second one is written with it, and the third
/// one waits behind both.
#[derive(Debug, PartialEq, Eq)]
struct LeaveOutcome {
    /// Bytes of them that the venue receives when it reads again.
    received: usize,
    sent: Vec<String>,
    unwritten: Vec<String>,
    reason: DisconnectReason,
}

/// The lease ends, or not, while the venue does not read. Time is virtual: it passes when nobody can do anything.
async fn outcome(keeps_lease: bool, over: impl FnOnce(DuplexStream) -> Box<dyn SessionStream>) -> LeaveOutcome {
    let has_lease = Arc::new(AtomicBool::new(true));
    let settings = Arc::new(FixSettings::parse(SETTINGS).unwrap().sessions.remove(0));
    let store = LeasedStore { numbers: MemoryStore::new(noon()), has_lease: has_lease.clone() };
    let mut conversation = SessionEngine::new(FixSession::new(settings, None, store), OrderRecorder::default());
    conversation.connect(noon());
    let ((handle, mut queue), (ours, mut venue)) = (session_queue(), duplex(LINE_BYTES));
    let ((_stop, mut shutdown), clock) = (watch::channel(false), SessionClock::new(noon));
    let trading = async {
        venue.write_all(&frame(1)).await.unwrap();
        receive(&mut venue, "|35=A|").await;
        handle.send(order("FIRST", &"x".repeat(LINE_BYTES))).unwrap();
        handle.send(order("SECOND", "")).unwrap();
        sleep(Duration::from_secs(1)).await;
        handle.send(order("THIRD", "")).unwrap();
        sleep(Duration::from_secs(1)).await;
        has_lease.store(keeps_lease, Ordering::Relaxed);
        let mut received = Vec::new();
        // With the lease the session would go on: the venue hangs up after a while without news.
        while let Ok(Ok(1..)) = timeout(Duration::from_secs(1), venue.read_buf(&mut received)).await {}
        drop(venue);
        received.len()
    };
    let running = run_connection(&mut conversation, over(ours), &mut queue, &clock, &mut shutdown);
    let (reason, received) = tokio::join!(running, trading);
    let OrderRecorder { sent, unwritten } = std::mem::take(conversation.application_mut());
    LeaveOutcome { received, sent, unwritten, reason }
}

fn names<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(ToOwned::to_owned).to_vec()
}

fn refused() -> DisconnectReason {
    DisconnectReason::StoreFailed(REFUSAL.to_owned())
}

#[tokio::test(start_paused = true)]
async fn without_the_lease_no_byte_of_an_order_leaves_that_waited_for_the_venue_to_read() {
    let sent = names(["FIRST", "SECOND", "THIRD"]);
    let outcome = outcome(false, |line| Box::new(line)).await;
    let unwritten = names(["SECOND", "THIRD"]);
    assert_eq!(outcome, LeaveOutcome { received: LINE_BYTES, sent, unwritten, reason: refused() });
}

/// What TLS has taken may have left in part, so it stays in doubt.
#[tokio::test(start_paused = true)]
async fn without_the_lease_nothing_leaves_either_that_tls_has_taken() {
    let sent = names(["FIRST", "SECOND", "THIRD"]);
    let outcome = outcome(false, |line| Box::new(BufferedStream { line, waiting: Vec::new() })).await;
    let unwritten = names(["THIRD"]);
    assert_eq!(outcome, LeaveOutcome { received: LINE_BYTES, sent, unwritten, reason: refused() });
}

#[tokio::test(start_paused = true)]
async fn with_the_lease_all_orders_leave_when_the_venue_reads_again() {
    let plain = outcome(true, |line| Box::new(line)).await;
    assert_eq!((plain.sent, plain.unwritten), (names(["FIRST", "SECOND", "THIRD"]), vec![]));
    let buffered = outcome(true, |line| Box::new(BufferedStream { line, waiting: Vec::new() })).await;
    assert_eq!((buffered.received, buffered.unwritten), (plain.received, vec![]));
}
