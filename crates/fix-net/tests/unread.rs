//! A peer that is not read, because a limit is reached: what it has sent meanwhile counts as received.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

#[allow(dead_code, reason = "only a part of it is needed here")]
mod world;

use fix::{Application, Line, LogonTicket, Message, Time, Verdict};
use fix_net::Clock;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use tokio::sync::mpsc;
use world::{Caller, World, acceptor};

/// Accepts nothing while it is full, and reports which orders it accepted.
struct Busy {
    is_full: Arc<AtomicBool>,
    taken: mpsc::UnboundedSender<String>,
}

impl Application for Busy {
    fn logon(&mut self, _: &Message<'_>, _: LogonTicket) -> Verdict {
        Verdict::Admit
    }

    fn received(&mut self, order: &Message<'_>, _: &mut dyn Line) {
        // The test may have ended.
        let _ = self.taken.send(order.text(11).unwrap_or("?").to_owned());
    }

    fn takes_more(&self) -> bool {
        !self.is_full.load(Ordering::SeqCst)
    }
}

struct Story {
    world: World,
    seconds: Arc<AtomicI64>,
    is_full: Arc<AtomicBool>,
    taken: mpsc::UnboundedReceiver<String>,
}

impl Story {
    async fn begin() -> (Self, Caller) {
        let (seconds, is_full) = (Arc::new(AtomicI64::new(1_767_614_400)), Arc::new(AtomicBool::new(false)));
        let hands = seconds.clone();
        let clock = Clock::new(move || Time::from_nanos(0).plus_seconds(hands.load(Ordering::SeqCst)));
        let (sender, taken) = mpsc::unbounded_channel();
        let busy = Busy { is_full: is_full.clone(), taken: sender };
        // Its messages are old when they are read at last.
        let world = World::by(clock, acceptor("DESK") + "CheckLatency=N\n", busy).await;
        let caller = Caller::logged_on(&world, "DESK").await;
        is_full.store(true, Ordering::SeqCst);
        (Self { world, seconds, is_full, taken }, caller)
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
    caller.say("35=D|34=2|11=first|54=1|38=100|40=1|55=AAPL|60=20260105-12:00:00").await;
    for _ in 0..3 {
        story.pass().await;
        let beat = caller.hear().await;
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
        assert_eq!(caller.hear().await, None);
        story.world.stop().await;
    }
}
