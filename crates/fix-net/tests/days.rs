//! Sessions on real sockets with a clock that the test moves: timestamps, and the end of a day.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

#[allow(dead_code, reason = "only a part of it is needed here")]
mod harness;

use fix::{EchoApplication, LogonPhase, UtcTimestamp};
use fix_net::SessionClock;
use harness::{FixHarness, TestClient, acceptor};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// A clock that the test moves.
#[derive(Clone)]
struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    fn at(time: &str) -> Self {
        Self(Arc::new(AtomicI64::new(nanos(time))))
    }

    fn clock(&self) -> SessionClock {
        let hands = self.clone();
        SessionClock::new(move || UtcTimestamp::from_nanos(hands.0.load(Ordering::SeqCst)))
    }

    /// Moves on, and wakes the session: its timers sleep by the system's clock.
    async fn move_to(&self, time: &str, harness: &FixHarness) {
        self.0.store(nanos(time), Ordering::SeqCst);
        harness.handle().status().await.unwrap();
    }
}

fn nanos(time: &str) -> i64 {
    UtcTimestamp::parse(time.as_bytes()).unwrap().nanos()
}

#[tokio::test]
async fn a_session_goes_by_the_clock_it_is_given() {
    let hands = ManualClock::at("20310105-12:00:00");
    let harness = FixHarness::with_clock(hands.clock(), acceptor("DESK"), EchoApplication::default()).await;
    let mut caller = TestClient::connect(&harness, "DESK").await;
    caller.send_line("35=A|34=1|98=0|108=0").await;
    let logon = caller.receive().await.unwrap();
    assert!(logon.contains("|52=20310105-12:00:00"), "{logon}");
    // A message that is two minutes and a second old on that clock is too old.
    let late = caller.frame("35=1|34=2|112=late");
    hands.move_to("20310105-12:02:01", &harness).await;
    caller.send(&late).await;
    let reject = caller.receive().await.unwrap();
    assert!(reject.contains("|35=3|34=2|") && reject.contains("|373=10|"), "{reject}");
    assert!(caller.receive().await.unwrap().contains("|35=5|34=3|"));
    caller.send_line("35=5|34=3").await;
    assert_eq!(caller.receive().await, None);
    harness.stop().await;
}

#[tokio::test]
async fn at_midnight_a_client_is_logged_out_and_both_begin_at_one() {
    let settings = acceptor("DESK").replace("NonStopSession=Y", "StartTime=00:00:00\nEndTime=00:00:00");
    daily_reset(&settings, "20260106-00:00:00").await;
}

#[tokio::test]
async fn at_the_end_of_its_hours_a_session_closes_until_the_next_day() {
    let settings = acceptor("DESK").replace("NonStopSession=Y", "StartTime=08:00:00\nEndTime=17:00:00");
    let (hands, harness) = daily_reset(&settings, "20260106-08:00:00").await;
    hands.move_to("20260106-17:00:00", &harness).await;
    let mut early = TestClient::connect(&harness, "DESK").await;
    early.send_line("35=A|34=1|98=0|108=0").await;
    assert_eq!(early.receive().await, None, "it is closed");
    assert_eq!(harness.handle().status().await.unwrap().phase, LogonPhase::Disconnected);
}

/// From the noon of a Monday over the end of the session's day, and on at `next_day`.
async fn daily_reset(settings: &str, next_day: &str) -> (ManualClock, FixHarness) {
    let hands = ManualClock::at("20260105-12:00:00");
    let harness = FixHarness::with_clock(hands.clock(), settings.to_owned(), EchoApplication::default()).await;
    let mut caller = TestClient::connect(&harness, "DESK").await;
    caller.send_line("35=A|34=1|98=0|108=0").await;
    assert!(caller.receive().await.unwrap().contains("|35=A|34=1|"));
    caller.send_line("35=1|34=2|112=noon").await;
    assert!(caller.receive().await.unwrap().contains("|35=0|34=2|"));
    hands.move_to("20260105-16:59:59", &harness).await;
    caller.send_line("35=1|34=3|112=late").await;
    assert!(caller.receive().await.unwrap().contains("|35=0|34=3|"));
    hands.move_to(next_day, &harness).await;
    assert!(caller.receive().await.unwrap().contains("|35=5|34=4|"));
    assert_eq!(caller.receive().await, None);
    // Nothing of yesterday can be requested, and nothing is missed.
    let mut caller = TestClient::connect(&harness, "DESK").await;
    caller.send_line("35=A|34=1|98=0|108=0").await;
    assert!(caller.receive().await.unwrap().contains("|35=A|34=1|"));
    let status = harness.handle().status().await.unwrap();
    assert_eq!((status.next_incoming, status.next_outgoing), (2, 2));
    (hands, harness)
}
