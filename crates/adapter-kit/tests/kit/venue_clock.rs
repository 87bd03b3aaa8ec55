//! The venue's time by the shortest round trip.

use adapter_kit::{ClockRefusal, ClockSample, VenueClock};
use domain::Timestamp;
use proptest::prelude::*;

use crate::budget::at;

/// A question at `sent` milliseconds that came back after `round_trip`; the venue's clock was ahead of ours by `ahead`.
fn sample(sent: i64, round_trip: i64, ahead: i64) -> ClockSample {
    let sent = at(0).plus_millis(sent);
    ClockSample { sent, received: sent.plus_millis(round_trip), venue: sent.plus_millis(round_trip / 2 + ahead) }
}

fn shown(clock: &VenueClock, millis: i64) -> Option<(i64, i64)> {
    clock.offset(at(0).plus_millis(millis)).map(|offset| (offset.nanos / 1_000_000, offset.error_nanos / 1_000_000))
}

#[test]
fn the_shortest_round_trip_wins_until_it_is_old() {
    let mut clock = VenueClock::new(5_000);
    assert_eq!(clock.request_time(at(0)), Err(ClockRefusal::NoSample));
    clock.on_sample(&sample(0, 400, 130)).unwrap();
    assert_eq!(shown(&clock, 400), Some((130, 200)));
    clock.on_sample(&sample(1_000, 20, 100)).unwrap();
    assert_eq!(shown(&clock, 1_020), Some((100, 10)));
    // A worse sample changes nothing.
    clock.on_sample(&sample(2_000, 400, 900)).unwrap();
    assert_eq!(shown(&clock, 2_400), Some((100, 10)));
    // After half an hour of drift the same one is the better one.
    clock.on_sample(&sample(1_800_000, 400, 230)).unwrap();
    assert_eq!(shown(&clock, 1_800_400), Some((230, 200)));
}

#[test]
fn a_request_is_never_ahead_of_the_venue() {
    let mut clock = VenueClock::new(5_000);
    clock.on_sample(&sample(0, 100, 1_500)).unwrap();
    assert_eq!(clock.request_time(at(0).plus_millis(100)), Ok(at(0).plus_millis(100 + 1_500 - 50)));
}

#[test]
fn an_answer_slower_than_the_receive_window_is_refused_and_changes_nothing() {
    let mut clock = VenueClock::new(1_000);
    clock.on_sample(&sample(0, 1_000, 10)).unwrap();
    let refused = clock.on_sample(&sample(2_000, 1_100, 10)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "venue-clock-uncertain: the venue's time may be wrong by 550 ms, more than half of the receive window of 1000 ms"
    );
    assert_eq!(shown(&clock, 1_000), Some((10, 500)));
    // With age the same sample is no longer good enough.
    assert!(clock.request_time(at(1)).is_ok());
    let refused = clock.request_time(at(10)).unwrap_err();
    assert_eq!(refused.code(), "venue-clock-uncertain");
}

#[test]
fn a_clock_that_was_set_back_during_the_question_is_noticed() {
    let mut clock = VenueClock::new(1_000);
    assert_eq!(clock.on_sample(&sample(0, -1, 10)), Err(ClockRefusal::ClockWasSet));
    clock.on_sample(&sample(0, 10, 10)).unwrap();
    clock.reset();
    assert_eq!(clock.offset(at(0)), None);
}

proptest! {
    #[test]
    fn the_true_offset_is_always_within_the_bound(
        ahead in -5_000_i64..5_000,
        delays in prop::collection::vec((0..2_000_i64, 0..2_000_i64, 0..60_000_i64), 1..50),
    ) {
        let mut clock = VenueClock::new(60_000);
        let mut now = 0;
        for (out, back, pause) in delays {
            let sent = at(0).plus_millis(now);
            let venue: Timestamp = sent.plus_millis(out + ahead);
            clock.on_sample(&ClockSample { sent, received: sent.plus_millis(out + back), venue }).unwrap();
            now += out + back + pause;
            let offset = clock.offset(at(0).plus_millis(now)).unwrap();
            prop_assert!((offset.nanos - ahead * 1_000_000).abs() <= offset.error_nanos);
            let stamped = clock.request_time(at(0).plus_millis(now)).unwrap();
            prop_assert!(stamped <= at(0).plus_millis(now + ahead));
        }
    }
}
