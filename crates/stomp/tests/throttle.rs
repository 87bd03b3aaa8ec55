//! The properties P1 to P6 of the throttle, on a virtual clock.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use stomp::MonotonicTime;
use stomp::lanes::{MarketThrottle, Rate};
use stomp::topics::{ActivityMeter, TopicActivity};

const SECOND: u64 = 1_000_000_000;
const MILLI: u64 = 1_000_000;
const LONG_GAP: Duration = Duration::from_secs(10);

type Topic = u32;

/// An event of a topic, numbered within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Event {
    number: u64,
    at: u64,
    pace: TopicActivity,
}

#[derive(Debug, Clone, Copy)]
struct Sent {
    at: u64,
    topic: Topic,
    event: Event,
    conflated: u64,
}

/// A broker with one connection and a driver that wakes exactly when something is due.
struct ThrottleHarness {
    throttle: MarketThrottle<Topic, Event>,
    topics: BTreeMap<Topic, (ActivityMeter, u64)>,
    offered: BTreeMap<Topic, Vec<Event>>,
    sent: Vec<Sent>,
    most_waiting: usize,
}

impl ThrottleHarness {
    fn new(rate: &str) -> Self {
        let throttle = MarketThrottle::new(rate.parse::<Rate>().unwrap());
        Self { throttle, topics: BTreeMap::new(), offered: BTreeMap::new(), sent: Vec::new(), most_waiting: 0 }
    }

    /// Plays events, given as (time, topic), in the order of time, and then lets everything drain.
    fn play(mut self, mut events: Vec<(u64, Topic)>) -> Self {
        events.sort_unstable();
        for (at, topic) in events {
            self.drain_until(at);
            let (meter, count) = self.topics.entry(topic).or_default();
            *count += 1;
            let event = Event { number: *count, at, pace: meter.on_event(MonotonicTime(at), LONG_GAP) };
            self.offered.entry(topic).or_default().push(event);
            self.throttle.offer(topic, event, event.pace);
            self.drain(at);
        }
        self.drain_until(u64::MAX);
        self
    }

    fn drain_until(&mut self, end: u64) {
        let mut now = self.sent.last().map_or(0, |sent| sent.at);
        loop {
            let due = self.throttle.due(MonotonicTime(now));
            if due == MonotonicTime::NEVER || due.0 >= end {
                return;
            }
            now = due.0;
            self.drain(now);
        }
    }

    fn drain(&mut self, at: u64) {
        self.most_waiting = self.most_waiting.max(self.throttle.len());
        while let Some(released) = self.throttle.next(MonotonicTime(at), |_, _| true) {
            self.sent.push(Sent { at, topic: released.key, event: released.value, conflated: released.conflated });
        }
    }

    /// The most values, those of slow topics left out, in any window of one second.
    fn busiest_second(&self) -> usize {
        let times: Vec<u64> =
            self.sent.iter().filter(|sent| sent.event.pace != TopicActivity::Slow).map(|s| s.at).collect();
        let mut begin = 0;
        let mut most = 0;
        for (end, at) in times.iter().enumerate() {
            while times[begin] + SECOND <= *at {
                begin += 1;
            }
            most = most.max(end + 1 - begin);
        }
        most
    }

    fn of_topic(&self, topic: Topic) -> Vec<Sent> {
        self.sent.iter().filter(|sent| sent.topic == topic).copied().collect()
    }

    fn assert_order_and_completeness(&self) {
        for (topic, offered) in &self.offered {
            let sent = self.of_topic(*topic);
            assert!(sent.windows(2).all(|pair| pair[0].event.number < pair[1].event.number), "P5, topic {topic}");
            assert_eq!(sent.last().map(|sent| sent.event), offered.last().copied(), "P3, topic {topic}");
            let counted: u64 = sent.iter().map(|sent| sent.conflated + 1).sum();
            assert_eq!(counted, offered.len() as u64, "every value is sent or counted, topic {topic}");
        }
    }
}

/// `count` topics from `first` on, each with an event every `gap`, not all at the same moment.
fn steady(first: Topic, count: u32, gap: u64, end: u64) -> Vec<(u64, Topic)> {
    let mut events = Vec::new();
    for topic in first..first + count {
        let begin = gap / u64::from(count) * u64::from(topic - first);
        events.extend((begin..end).step_by(usize::try_from(gap).unwrap()).map(|at| (at, topic)));
    }
    events
}

#[test]
fn p1_never_more_than_the_rate_in_any_second() {
    let open = |topics| (0..topics).map(|topic| (0, topic)).collect::<Vec<_>>();
    for (rate, most) in [("50", 50), ("10", 10), ("9", 9), ("1", 1), ("15", 15), ("333", 333)] {
        let mut events = open(500);
        events.extend(steady(0, 500, SECOND / 4, 10 * SECOND));
        let market = ThrottleHarness::new(rate).play(events);
        assert!(market.busiest_second() <= most, "{} of {rate}", market.busiest_second());
    }
    let busiest = ThrottleHarness::new("50").play(steady(0, 100, SECOND / 10, 60 * SECOND)).busiest_second();
    assert!((49..=50).contains(&busiest), "the rate is used: {busiest}");
}

#[test]
fn p1_any_rate_above_nothing_works() {
    for (rate, seconds) in [("0.5", 40), ("0.01", 2_000), ("0.000001", 20_000_000)] {
        let market = ThrottleHarness::new(rate).play((0..10).map(|topic| (0, topic)).collect());
        assert_eq!(market.sent.len(), 10);
        assert!(market.sent.last().unwrap().at <= seconds * SECOND, "{rate}: {:?}", market.sent.last());
        assert_eq!(market.busiest_second(), 1);
    }
}

#[test]
fn p1_slow_topics_come_on_top() {
    let mut events = steady(0, 600, 11 * SECOND, 120 * SECOND);
    events.extend(steady(1_000, 50, SECOND / 5, 120 * SECOND));
    let market = ThrottleHarness::new("50").play(events);
    assert!(market.busiest_second() <= 50);
    assert!(market.sent.iter().any(|sent| sent.event.pace == TopicActivity::Slow));
}

#[test]
fn p2_a_slow_topic_passes_at_once_beside_busy_ones() {
    let mut events = steady(0, 100, SECOND / 10, 120 * SECOND);
    // Five seconds later, when the first values of the busy ones have passed.
    events.extend(steady(500, 20, 20 * SECOND, 120 * SECOND).into_iter().map(|(at, topic)| (at + 5 * SECOND, topic)));
    let market = ThrottleHarness::new("50").play(events);
    for topic in 500..520 {
        for sent in market.of_topic(topic) {
            assert_eq!(sent.conflated, 0);
            let turns = if sent.event.number > 2 { 0 } else { 3 };
            assert!(sent.at - sent.event.at <= turns * SECOND / 45 + 1, "{sent:?}");
        }
    }
    market.assert_order_and_completeness();
}

#[test]
fn p2_the_first_value_goes_with_the_next_token_and_before_ordinary_ones() {
    let mut events = steady(0, 100, SECOND / 10, 30 * SECOND);
    events.push((20 * SECOND + 1, 999));
    let market = ThrottleHarness::new("50").play(events);
    let first = market.of_topic(999)[0];
    assert!(first.at - first.event.at <= SECOND / 45 + 1, "{first:?}");
}

#[test]
fn p3_the_last_value_of_every_topic_arrives_in_time() {
    let end = 10 * SECOND;
    let market = ThrottleHarness::new("50").play(steady(0, 1_000, SECOND / 5, end));
    market.assert_order_and_completeness();
    let waiting = market.most_waiting as u64;
    assert!(market.sent.last().unwrap().at <= end + waiting * SECOND / 45, "{:?}", market.sent.last());
}

#[test]
fn p4_busy_topics_get_equal_shares_and_calm_ones_lose_nothing() {
    let end = 120 * SECOND;
    let mut events = steady(0, 50, SECOND / 20, end);
    events.extend(steady(100, 50, SECOND / 4, end));
    events.extend(steady(200, 10, 4 * SECOND, end));
    let market = ThrottleHarness::new("50").play(events);
    let count = |topic| market.of_topic(topic).len();
    let [fast, busy] = [0..50, 100..150].map(|topics| topics.map(count).collect::<Vec<_>>());
    for shares in [&fast, &busy] {
        assert!(shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 2, "{shares:?}");
    }
    // Five times the events give no more than what the shorter wait for the next one brings.
    let [fast, busy] = [fast, busy].map(|shares| shares.into_iter().sum::<usize>());
    assert!(fast * 10 <= busy * 11, "{fast} {busy}");
    assert!((200..210).all(|topic| count(topic) == 30));
}

#[test]
fn p4_quiet_topics_do_not_starve_ordinary_ones() {
    // Two events a second apart, then a long pause: never proven slow, but quiet again and again, 90 a second.
    let end = 200 * SECOND;
    let mut events = Vec::new();
    for topic in 0..1_000_u32 {
        let begin = u64::from(topic) * 11 * MILLI;
        for at in (begin..end).step_by(usize::try_from(11 * SECOND).unwrap()) {
            events.extend([(at, topic), (at + SECOND, topic)]);
        }
    }
    events.extend(steady(5_000, 1, SECOND / 10, end));
    let market = ThrottleHarness::new("50").play(events);
    let busy = market.of_topic(5_000);
    let longest = busy.windows(2).map(|pair| pair[1].at - pair[0].at).max().unwrap();
    // The ordinary ones ahead of it, at a tenth of the rate. Without that share it would be the whole 200 seconds.
    assert!(longest < 40 * SECOND, "{longest}");
    assert!(market.busiest_second() <= 50);
}

#[test]
fn p4_a_reserve_stays_for_others_when_slow_topics_alone_exceed_the_rate() {
    let end = 120 * SECOND;
    let mut events = steady(0, 1_000, 11 * SECOND, end);
    events.extend(steady(5_000, 10, SECOND / 10, end));
    let market = ThrottleHarness::new("50").play(events);
    let last_minute = |sent: &&Sent| sent.topic >= 5_000 && sent.at >= 60 * SECOND && sent.at < end;
    assert!(market.sent.iter().filter(last_minute).count() >= 60 * 5 - 10);
}

#[test]
fn p6_memory_is_bounded_by_the_topics() {
    let market = ThrottleHarness::new("1").play(steady(0, 40, SECOND / 50, 20 * SECOND));
    assert!(market.most_waiting <= 40);
    assert!(market.throttle.is_empty());
}

#[test]
fn wakings_fall_on_common_steps_and_lose_no_token() {
    let mut throttle = MarketThrottle::new(Rate::per_second(50).unwrap());
    (0..100).for_each(|topic| throttle.offer(topic, (), TopicActivity::Busy));
    let mut now = MonotonicTime(0);
    let mut sent = 0;
    while now < MonotonicTime(SECOND) {
        while throttle.next(now, |_: Topic, ()| true).is_some() {
            sent += 1;
        }
        now = throttle.wake_at(now);
        assert_eq!(now.0 % (20 * MILLI), 0);
    }
    assert_eq!(sent, 49);
}

/// Up to a thousand events of up to 60 topics within half a minute, in bursts and pauses.
fn arrivals() -> impl Strategy<Value = Vec<(u64, Topic)>> {
    let event = (0..30 * SECOND, prop_oneof![0..5_u32, 0..60_u32], 1..4_u64);
    prop::collection::vec(event, 1..300).prop_map(|events| {
        let burst = |(at, topic, count): (u64, Topic, u64)| (0..count).map(move |n| (at + n * 7 * MILLI, topic));
        events.into_iter().flat_map(burst).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_arrivals_keep_rate_order_completeness_and_memory(
        events in arrivals(),
        (rate, most) in prop::sample::select(vec![("1", 1), ("2.5", 3), ("7", 7), ("10", 10), ("23", 23), ("50", 50)]),
    ) {
        let end = events.iter().map(|event| event.0).max().unwrap_or_default();
        let market = ThrottleHarness::new(rate).play(events);
        prop_assert!(market.busiest_second() <= most, "{} of {rate}", market.busiest_second());
        prop_assert!(market.most_waiting <= 60);
        market.assert_order_and_completeness();
        if market.sent.iter().all(|sent| sent.event.pace != TopicActivity::Slow) {
            let late = market.sent.iter().filter(|sent| sent.at > end).count() as f64;
            let refill = { let r: f64 = rate.parse().unwrap(); r - (r / 10.0).min(5.0) };
            let last = market.sent.last().unwrap().at as f64 / SECOND as f64;
            prop_assert!(last <= end as f64 / SECOND as f64 + late / refill + 1e-6);
        }
    }
}
