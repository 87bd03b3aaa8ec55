use std::sync::Arc;

use domain::AdapterName;
use domain::Event;
use domain::command::{Mode, Phase};
use domain::event::{LifeCycle, SessionChange};
use domain::report::SessionState;

use crate::client::Client;
use crate::desk::{Desk, tick};

fn sequence_of(frame: &str) -> u64 {
    let line = frame.lines().find_map(|line| line.strip_prefix("sequence:")).unwrap();
    line.parse().unwrap()
}

/// Waits until the broker has taken what was published before.
fn settle(desk: &Desk, sequence: u64) {
    let mut witness = Client::join(desk.tcp);
    witness.subscribe(1, "/topic/log-event.>", "");
    desk.alarm(sequence);
    assert_eq!(sequence_of(&witness.frame()), sequence);
}

fn phase(strategy: u64, phase: Phase) -> Event {
    Event::LifeCycle(Arc::new(LifeCycle { strategy: domain::StrategyId(strategy), mode: Mode::RealTime, phase }))
}

#[test]
fn who_comes_late_gets_the_last_value_of_each_topic_and_then_what_follows() {
    let desk = Desk::open();
    desk.publish(1, tick(7, 10));
    desk.publish(2, tick(7, 11));
    desk.publish(3, tick(8, 20));
    desk.publish(4, phase(1, Phase::Start));
    desk.publish(5, phase(1, Phase::Run));
    desk.publish(6, phase(2, Phase::Run));
    settle(&desk, 7);
    for wish in ["snapshot:true\n", "activemq.retroactive:true\n"] {
        let mut client = Client::join(desk.tcp);
        client.subscribe(1, "/topic/tick.>", wish);
        let frames = [client.frame(), client.frame()];
        assert!(frames.iter().all(|frame| frame.contains("\nsnapshot:true\n")), "{frames:?}");
        assert_eq!(frames.each_ref().map(|frame| sequence_of(frame)), [2, 3]);
        client.subscribe(2, "/topic/life-cycle.*", wish);
        let frames = [client.frame(), client.frame()];
        assert!(frames.iter().all(|frame| frame.contains("\nsnapshot:true\n")), "{frames:?}");
        // By the name of the strategy: MOMENTUM, then SERVER.
        assert_eq!(frames.each_ref().map(|frame| sequence_of(frame)), [6, 5]);
        desk.publish(8, tick(7, 30));
        let frame = client.frame();
        assert!(!frame.contains("snapshot:"), "{frame}");
        desk.publish(2, tick(7, 11));
        assert_eq!(sequence_of(&client.frame()), 2);
    }
}

fn session(qualifier: &str, state: SessionState) -> Event {
    let adapter = AdapterName::new("SIMULATED", Some(qualifier));
    Event::Session(Arc::new(SessionChange { adapter, state }))
}

#[test]
fn of_a_topic_that_two_sessions_share_both_are_told() {
    let desk = Desk::open();
    desk.publish(1, session("ALPHA", SessionState::Connected));
    desk.publish(2, session("BETA", SessionState::LoggedOn));
    desk.publish(3, session("ALPHA", SessionState::LoggedOn));
    settle(&desk, 4);
    let mut client = Client::join(desk.tcp);
    client.subscribe(1, "/topic/session.>", "snapshot:true\n");
    assert_eq!([client.frame(), client.frame()].each_ref().map(|frame| sequence_of(frame)), [3, 2]);
}

#[test]
fn without_the_wish_only_what_happens_from_now_on_is_heard() {
    let desk = Desk::open();
    desk.publish(1, tick(7, 10));
    settle(&desk, 2);
    let mut client = Client::join(desk.tcp);
    client.subscribe(1, "/topic/tick.>", "");
    desk.publish(3, tick(7, 11));
    assert_eq!(sequence_of(&client.frame()), 3);
}

#[test]
fn a_long_snapshot_comes_whole_as_fast_as_it_is_read() {
    let desk = Desk::open();
    for name in 0..5_000_u64 {
        // Strategies without a name are called by their number.
        desk.publish(name + 1, phase(1_000 + name, Phase::Run));
    }
    settle(&desk, 5_001);
    let mut client = Client::join(desk.tcp);
    client.subscribe(1, "/topic/life-cycle.>", "snapshot:true\n");
    let mut heard: Vec<u64> = (0..5_000).map(|_| sequence_of(&client.frame())).collect();
    heard.sort_unstable();
    assert_eq!(heard, (1..=5_000).collect::<Vec<_>>());
}
