//! The events of one connection: none of them keeps the others waiting.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use fix::{
    FixMessage, FixSession, FixSettings, LogonDecision, LogonTicket, MemoryStore, MessageStore, RESEND_CHUNK,
    SessionSender,
};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf, duplex};

mod withdrawn_leave;

use super::*;
use crate::limits::WRITE_STALL_SECONDS;
use crate::session_queue::session_queue;

const SETTINGS: &str = "[SESSION]\nConnectionType=acceptor\nSocketAcceptPort=0\nBeginString=FIX.4.4\nSenderCompID=RIALTO\n\
    TargetCompID=DESK\nNonStopSession=Y\nUseDataDictionary=N\n";

/// Sequence numbers without messages.
const NUMBERS: u64 = 100_000;
/// Messages of a peer that does not stop sending by itself.
const MESSAGES: usize = 2_000;

/// Lets everybody in, and notes how many messages its peer had sent whenever it was woken.
#[derive(Default)]
struct WakeRecorder {
    sent: Arc<AtomicUsize>,
    woken: Arc<Mutex<Vec<usize>>>,
}

impl Application for WakeRecorder {
    fn on_logon(&mut self, _: &FixMessage<'_>, _: LogonTicket) -> LogonDecision {
        LogonDecision::Accept
    }

    fn on_message(&mut self, _: &FixMessage<'_>, _: &mut dyn SessionSender) {}

    fn on_wake(&mut self, _: &mut dyn SessionSender) {
        self.woken.lock().unwrap().push(self.sent.load(Ordering::Relaxed));
    }
}

/// A peer with so many messages to send, of which the first is its Logon.
struct Peer {
    messages: usize,
    sent: Arc<AtomicUsize>,
    /// Whether it reads what is sent to it. One that does hangs up at the end.
    is_reading: bool,
}

impl AsyncRead for Peer {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let number = self.sent.load(Ordering::Relaxed) + 1;
        if number <= self.messages {
            self.sent.store(number, Ordering::Relaxed);
            buffer.put_slice(&frame(number));
        } else if !self.is_reading {
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Peer {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.is_reading { Poll::Ready(Ok(bytes.len())) } else { Poll::Pending }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

fn noon() -> UtcTimestamp {
    UtcTimestamp::parse(b"20260105-12:00:00").unwrap()
}

fn frame(number: usize) -> Vec<u8> {
    frame_of(number, if number == 1 { "A|98=0|108=30" } else { "0" })
}

/// Of this type and with these fields.
fn frame_of(number: usize, kind: &str) -> Vec<u8> {
    let (kind, more) = kind.split_once('|').unwrap_or((kind, ""));
    let body = format!("35={kind}|34={number}|49=DESK|52=20260105-12:00:00|56=RIALTO|{more}|");
    let body = body.replace("||", "|").replace('|', "\x01");
    let mut frame = format!("8=FIX.4.4\x019={}\x01{body}", body.len()).into_bytes();
    let sum = frame.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
    frame.extend(format!("10={sum:03}\x01").bytes());
    frame
}

fn conversation(recorder: WakeRecorder) -> SessionEngine<MemoryStore, WakeRecorder> {
    let settings = Arc::new(FixSettings::parse(SETTINGS).unwrap().sessions.remove(0));
    let mut conversation = SessionEngine::new(FixSession::new(settings, None, MemoryStore::new(noon())), recorder);
    conversation.connect(noon());
    conversation
}

#[tokio::test]
async fn a_peer_that_never_stops_sending_does_not_keep_its_reports_waiting() {
    let recorder = WakeRecorder::default();
    let (sent, woken) = (recorder.sent.clone(), recorder.woken.clone());
    let (mut conversation, (handle, mut queue)) = (conversation(recorder), session_queue());
    let (_stop, mut shutdown) = watch::channel(false);
    handle.wake().unwrap();
    let peer = Box::new(Peer { messages: MESSAGES, sent, is_reading: true });
    let clock = SessionClock::new(noon);
    let reason = run_connection(&mut conversation, peer, &mut queue, &clock, &mut shutdown).await;
    assert_eq!(reason, DisconnectReason::PeerClosed);
    let woken = woken.lock().unwrap();
    assert!(woken.len() == 1 && woken[0] < MESSAGES / 2, "woken after {woken:?} messages of {MESSAGES}");
}

/// Reads until this was received.
async fn receive(peer: &mut DuplexStream, wanted: &str) {
    let mut received = String::new();
    while !received.contains(wanted) {
        let mut bytes = [0; 4_096];
        let count = peer.read(&mut bytes).await.unwrap();
        received += &String::from_utf8_lossy(&bytes[..count]).replace('\x01', "|");
    }
}

#[tokio::test]
async fn a_resend_of_many_numbers_without_messages_lets_others_work() {
    let (mut conversation, (_handle, mut queue)) = (conversation(WakeRecorder::default()), session_queue());
    conversation.session_mut().store_mut().set_next_outgoing(NUMBERS).unwrap();
    let (ours, mut peer) = duplex(65_536);
    let (_stop, mut shutdown) = watch::channel(false);
    let (turns, clock) = (Arc::new(AtomicUsize::new(0)), SessionClock::new(noon));
    let counter = turns.clone();
    let others = tokio::spawn(async move {
        loop {
            counter.fetch_add(1, Ordering::Relaxed);
            yield_now().await;
        }
    });
    let asking = async {
        peer.write_all(&frame(1)).await.unwrap();
        receive(&mut peer, "|35=A|").await;
        let before = turns.load(Ordering::Relaxed);
        peer.write_all(&frame_of(2, "2|7=1|16=0")).await.unwrap();
        receive(&mut peer, "|123=Y|").await;
        turns.load(Ordering::Relaxed) - before
    };
    let turns = tokio::select! {
        reason = run_connection(&mut conversation, Box::new(ours), &mut queue, &clock, &mut shutdown) => panic!("{reason}"),
        turns = asking => turns,
    };
    // About one turn for each chunk; how they begin and end is the runtime's.
    assert!(turns as u64 >= NUMBERS / RESEND_CHUNK / 2, "others had {turns} turns");
    others.abort();
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_takes_nothing_is_cut_off_whatever_else_happens_meanwhile() {
    let (mut conversation, (handle, mut queue)) = (conversation(WakeRecorder::default()), session_queue());
    let (_stop, mut shutdown) = watch::channel(false);
    let others = tokio::spawn(async move {
        for _ in 0..60 {
            sleep(Duration::from_secs(1)).await;
            // It may be cut off by now.
            let _ = handle.wake();
        }
    });
    let peer = Box::new(Peer { messages: 1, sent: Arc::default(), is_reading: false });
    let (begun, clock) = (Instant::now(), SessionClock::new(noon));
    let reason = run_connection(&mut conversation, peer, &mut queue, &clock, &mut shutdown).await;
    assert_eq!((reason, begun.elapsed().as_secs()), (DisconnectReason::SlowPeer, WRITE_STALL_SECONDS));
    others.abort();
}

/// What is chosen in five turns where these are ready.
async fn chosen(is_ready: [bool; 5]) -> Vec<usize> {
    let mut chosen = Vec::new();
    for turn in 0..5 {
        let event = |place: usize| when(is_ready[place], std::future::ready(place));
        let events = [pin!(event(0)), pin!(event(1)), pin!(event(2)), pin!(event(3)), pin!(event(4))];
        chosen.push(take_turns(turn, events.map(|event| event as Pin<&mut (dyn Future<Output = usize> + Send)>)).await);
    }
    chosen
}

#[tokio::test]
async fn each_event_is_the_first_in_its_turn_and_the_next_that_is_ready_takes_the_place_of_one_that_is_not() {
    assert_eq!(chosen([true; 5]).await, [0, 1, 2, 3, 4]);
    assert_eq!(chosen([false, true, false, false, true]).await, [1, 1, 4, 4, 4]);
}
