//! Days and weeks of a session that connects: time passes at once, and its connections go to the test.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

#[allow(dead_code, reason = "only a part of it is needed here")]
mod harness;

use std::sync::Arc;
use std::time::Duration;

use fix::{EchoApplication, UtcTimestamp};
use fix_net::{SessionClock, SessionStream, StreamDialer};
use harness::{FixHarness, TestClient, initiator};
use tokio::io::duplex;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{Instant, sleep};

const BUFFER_BYTES: usize = 1 << 16;
/// Longer than any time between two steps, so that no heartbeat is due.
const HEARTBEAT: &str = "HeartBtInt=1000000";

/// A session that connects to a venue, which the test plays.
struct Initiator {
    harness: FixHarness,
    clock: SessionClock,
    /// When it connected.
    calls: UnboundedReceiver<(String, Box<dyn SessionStream>)>,
}

impl Initiator {
    /// Its first moment is `begun`; from then on the clock follows tokio's, which jumps to the next timer.
    fn start(begun: &str, hours: &str) -> Self {
        let clock = clock_from(begun);
        let (caller, calls) = unbounded_channel();
        let dialed_at = clock.clone();
        let dialer: StreamDialer = Arc::new(move |_, _| {
            let (ours, theirs) = duplex(BUFFER_BYTES);
            // The story may be over.
            let _ = caller.send((text(dialed_at.now()), Box::new(theirs) as Box<dyn SessionStream>));
            Box::pin(async move { Ok(Box::new(ours) as Box<dyn SessionStream>) })
        });
        let settings = initiator("RIALTO", 1)
            .replace("TargetCompID=RIALTO", "TargetCompID=VENUE")
            .replace("NonStopSession=Y", hours)
            .replace("HeartBtInt=30", HEARTBEAT);
        let harness = FixHarness::dialing(settings, EchoApplication::default(), (clock.clone(), dialer));
        Self { harness, clock, calls }
    }

    /// When it next connects, the venue's side of the connection, and its Logon.
    async fn next_logon(&mut self) -> (String, TestClient, String) {
        let (at, stream) = self.calls.recv().await.unwrap();
        let mut venue = TestClient::over(stream, &self.harness, "VENUE");
        let logon = venue.receive().await.unwrap();
        (at, venue, logon)
    }

    async fn sleep_until(&self, time: &str) {
        let nanos = nanos(time) - self.clock.now().nanos();
        sleep(Duration::from_nanos(nanos.try_into().unwrap())).await;
    }
}

fn clock_from(begun: &str) -> SessionClock {
    let (first, at) = (nanos(begun), Instant::now());
    SessionClock::new(move || UtcTimestamp::from_nanos(first + i64::try_from(at.elapsed().as_nanos()).unwrap()))
}

fn nanos(time: &str) -> i64 {
    UtcTimestamp::parse(time.as_bytes()).unwrap().nanos()
}

fn text(time: UtcTimestamp) -> String {
    let mut text = Vec::new();
    time.write(0, &mut text);
    String::from_utf8(text).unwrap()
}

#[tokio::test(start_paused = true)]
async fn it_stays_away_outside_of_its_hours_and_each_day_begins_at_one() {
    let mut initiator = Initiator::start("20260105-06:59:00", "StartTime=08:00:00\nEndTime=17:00:00");
    let (at, mut venue, logon) = initiator.next_logon().await;
    assert_eq!(at, "20260105-08:00:00", "it waits for its hours");
    assert!(logon.contains("|35=A|34=1|"), "{logon}");
    venue.send_line("35=A|34=1|98=0|108=1000000").await;
    initiator.sleep_until("20260105-12:00:00").await;
    venue.send_line("35=1|34=2|112=noon").await;
    assert!(venue.receive().await.unwrap().contains("|35=0|34=2|"));

    initiator.sleep_until("20260105-16:59:59").await;
    let logout = venue.receive().await.unwrap();
    assert!(logout.contains("|35=5|34=3|") && logout.contains("|52=20260105-17:00:00"), "{logout}");
    assert_eq!(venue.receive().await, None);
    drop(venue);

    // Between there was no attempt: this is the next one.
    let (at, mut venue, logon) = initiator.next_logon().await;
    assert_eq!(at, "20260106-08:00:00");
    assert!(logon.contains("|35=A|34=1|"), "{logon}");
    venue.send_line("35=A|34=1|98=0|108=1000000").await;
    venue.send_line("35=1|34=2|112=early").await;
    assert!(venue.receive().await.unwrap().contains("|35=0|34=2|"), "the venue's numbers begin at 1, too");
    initiator.harness.stop().await;
}

#[tokio::test(start_paused = true)]
async fn in_its_week_numbers_go_on_and_after_the_weekend_they_begin_at_one() {
    let week = "StartDay=sunday\nStartTime=17:00:00\nEndDay=friday\nEndTime=17:00:00";
    let mut initiator = Initiator::start("20260105-12:00:00", week);
    let (at, mut venue, _) = initiator.next_logon().await;
    assert_eq!(at, "20260105-12:00:00", "a Monday");
    venue.send_line("35=A|34=1|98=0|108=1000000").await;
    initiator.sleep_until("20260107-03:00:00").await;
    drop(venue);

    let (at, mut venue, logon) = initiator.next_logon().await;
    assert_eq!(at, "20260107-03:00:01", "ReconnectInterval after the loss");
    assert!(logon.contains("|35=A|34=2|"), "{logon}");
    venue.send_line("35=A|34=2|98=0|108=1000000").await;
    initiator.sleep_until("20260109-16:59:59").await;
    let logout = venue.receive().await.unwrap();
    assert!(logout.contains("|35=5|34=3|") && logout.contains("|52=20260109-17:00:00"), "{logout}");
    drop(venue);

    let (at, _venue, logon) = initiator.next_logon().await;
    assert_eq!(at, "20260111-17:00:00", "the Sunday after");
    assert!(logon.contains("|35=A|34=1|"), "{logon}");
    initiator.harness.stop().await;
}
