//! A peer that is not read, because a limit is reached: what it has sent meanwhile counts as received.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

#[allow(dead_code, reason = "only a part of it is needed here")]
mod harness;

use fix::{Application, FixMessage, LogonDecision, LogonTicket, SessionSender, UtcTimestamp};
use fix_net::SessionClock;
use harness::{FixHarness, TestClient, acceptor};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use tokio::sync::mpsc;

/// Accepts nothing while it is full, and reports which orders it accepted.
struct Busy {
    is_full: Arc<AtomicBool>,
    taken: mpsc::UnboundedSender<String>,
}

impl Application for Busy {
    fn on_logon(&mut self, _: &FixMessage<'_>, _: LogonTicket) -> LogonDecision {
        LogonDecision::Accept
    }

    fn on_message(&mut self, order: &FixMessage<'_>, _: &mut dyn SessionSender) {
        // The test may have ended.
        let _ = self.taken.send(order.text(11).unwrap_or("?").to_owned());
    }

    fn is_ready(&self) -> bool {
        !self.is_full.load(Ordering::SeqCst)
    }
}

struct Story {
    world: FixHarness,
    seconds: Arc<AtomicI64>,
    is_full: Arc<AtomicBool>,
    taken: mpsc::UnboundedReceiver<String>,
}

impl Story {
    async fn begin() -> (Self, TestClient) {
        let (seconds, is_full) = (Arc::new(AtomicI64::new(1_767_614_400)), Arc::new(AtomicBool::new(false)));
        let hands = seconds.clone();
        let clock = SessionClock::new(move || UtcTimestamp::from_nanos(0).plus_seconds(hands.load(Ordering::SeqCst)));
        let (sender, taken) = mpsc::unbounded_channel();
        let busy = Busy { is_full: is_full.clone(), taken: sender };
        // Its messages are old when they are read at last.
        let harness = FixHarness::with_clock(clock, acceptor("DESK") + "CheckLatency=N\n", busy).await;
        let caller = TestClient::logged_on(&harness, "DESK").await;
        is_full.store(true, Ordering::SeqCst);
        (Self { world: harness, seconds, is_full, taken }, caller)
    }

    /// Longer than the 2.4 intervals after which a silent peer is disconnected; the session's timers have run by then.
    async fn pass(&self) {
        self.seconds.fetch_add(73, Ordering::SeqCst);
        self.world.handle().status().await.unwrap();
    }
}

#[tokio::test]
async fn a_peer_that_is_not_read_is_not_cut_for_silence() {
    let (mut story, mut caller) = Story::begin().await;
    caller.send_line("35=D|34=2|11=first|54=1|38=100|40=1|55=AAPL|60=20260105-12:00:00").await;
    for _ in 0..3 {
        story.pass().await;
        let beat = caller.receive().await;
        assert!(beat.as_deref().is_some_and(|beat| beat.contains("|35=0|")), "{beat:?}");
    }
    assert!(story.taken.try_recv().is_err(), "it was not read");
    story.is_full.store(false, Ordering::SeqCst);
    story.world.handle().wake().unwrap();
    assert_eq!(story.taken.recv().await.as_deref(), Some("first"));
    caller.hang_up().await;
    story.world.stop().await;
}

#[tokio::test]
async fn a_peer_that_sends_nothing_is_given_up_whether_it_is_read_or_not() {
    for is_full in [true, false] {
        let (story, mut caller) = Story::begin().await;
        story.is_full.store(is_full, Ordering::SeqCst);
        story.pass().await;
        assert_eq!(caller.receive().await, None);
        story.world.stop().await;
    }
}
