//! Dead-man timers: the kill switch fires when nobody renews.

use domain::risk::EngineSettings;
use domain::{Command, RiskScope};
use expect_test::expect;

use crate::world::StoryEngine;

#[test]
fn a_timer_that_is_renewed_does_not_fire_and_one_that_is_not_kills_its_scope() {
    let mut world = StoryEngine::open();
    let told = world.run(
        "dead-man ACCOUNT-1 30
         place 1 buy 1 AAPL @ 10
         wait 29
         clock
         dead-man ACCOUNT-1
         wait 29
         clock
         timers
         wait 1
         clock
         timers
         place 2 buy 1 AAPL @ 10
         venue cancels 1
         wait 60
         clock
         set ACCOUNT-1 ACTIVE
         place 3 buy 1 AAPL @ 10",
    );
    expect![[r#""#]].assert_eq(&told);
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn a_timer_can_be_disarmed_and_senseless_ones_are_refused() {
    let mut world = StoryEngine::open();
    let told = world.run(
        "dead-man PLATFORM
         dead-man PLATFORM 0
         dead-man PLATFORM 86401
         disarm PLATFORM
         dead-man PLATFORM 86400
         dead-man STRATEGY-2 10
         timers
         disarm PLATFORM
         disarm STRATEGY-2
         timers
         wait 90000
         clock",
    );
    expect![[r#""#]].assert_eq(&told);
}

#[test]
fn the_next_deadline_is_that_of_the_first_timer() {
    let mut world = StoryEngine::open();
    world.run("dead-man ACCOUNT-1 30\n dead-man ACCOUNT-2 20");
    assert_eq!(world.engine.next_deadline(), Some(world.now.plus_seconds(20)));
}

#[test]
fn the_configured_timer_runs_from_the_start_and_can_only_be_renewed() {
    let mut world = StoryEngine::open();
    let settings = EngineSettings { dead_man_seconds: Some(60), ..EngineSettings::default() };
    world.command(Command::Configure(settings.clone())).unwrap();
    let mut told = world.run(
        "timers
         disarm PLATFORM
         dead-man PLATFORM 61
         dead-man PLATFORM 20
         wait 10",
    );
    // A restart: the timer goes on.
    world.command(Command::Configure(settings)).unwrap();
    told += &world.run(
        "timers
         wait 10
         clock
         timers
         dead-man PLATFORM
         timers",
    );
    world.command(Command::Configure(EngineSettings::default())).unwrap();
    told += &world.run("timers");
    expect![[r#""#]].assert_eq(&told);
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn a_timer_survives_a_restart_and_fires_after_it() {
    let mut world = StoryEngine::open();
    world.run("dead-man PLATFORM 30\n place 1 buy 1 AAPL @ 10");
    world.engine = engine::Engine::from_state(&world.engine.encode_state()).unwrap();
    let told = world.run("wait 3600\n clock");
    expect![[r#""#]].assert_eq(&told);
    assert_eq!(world.command(Command::DisarmDeadMan { scope: RiskScope::Platform }).unwrap_err().code(), "no-dead-man-timer");
}
