//! Dead-man timers: the kill switch fires when a timer is not renewed.

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
    expect![[r#"
        dead-man ACCOUNT-1 30
        place 1 buy 1 AAPL @ 10
            1 OPEN
            to SIM-A: submit 1
        wait 29
        clock
            Warn no-answer: order 1: the venue has not answered for 10 s
            1 OPEN (the venue has not answered for 10 s)
            to SIM-A: ask about 1
        dead-man ACCOUNT-1
        wait 29
        clock
            to SIM-A: ask about 1
        timers
            ACCOUNT-1 of 30 s fires in 1 s, renewed by ann
        wait 1
        clock
            Error dead-man-timer: ACCOUNT-1 is HALTED and its orders are cancelled: the dead-man timer was not renewed within 30 s
            ACCOUNT-1 is HALTED
            1 PENDING_CANCEL (the venue has not answered for 10 s)
            to SIM-A: cancel 1
        timers
            nothing
        place 2 buy 1 AAPL @ 10
            refused trading-halted: trading is HALTED for ACCOUNT-1
        venue cancels 1
            1 CANCELED
        wait 60
        clock
        set ACCOUNT-1 ACTIVE
            ACCOUNT-1 is ACTIVE
        place 3 buy 1 AAPL @ 10
            3 OPEN
            to SIM-A: submit 3
    "#]].assert_eq(&told);
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
    expect![[r#"
        dead-man PLATFORM
            refused no-dead-man-timer: no dead-man timer of PLATFORM runs; name the seconds to arm one
        dead-man PLATFORM 0
            refused not-positive: seconds 0 must be more than zero
        dead-man PLATFORM 86401
            refused too-large: seconds 86401 is above the maximum of 86400
        disarm PLATFORM
            refused no-dead-man-timer: no dead-man timer of PLATFORM runs; name the seconds to arm one
        dead-man PLATFORM 86400
        dead-man STRATEGY-2 10
        timers
            PLATFORM of 86400 s fires in 86400 s, renewed by ann
            STRATEGY-2 of 10 s fires in 10 s, renewed by ann
        disarm PLATFORM
        disarm STRATEGY-2
        timers
            nothing
        wait 90000
        clock
    "#]]
    .assert_eq(&told);
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
    expect![[r#"
        timers
            PLATFORM of 60 s fires in 60 s, renewed
        disarm PLATFORM
            refused dead-man-configured: the configuration (risk.deadManSeconds) arms the dead-man timer of PLATFORM
        dead-man PLATFORM 61
            refused too-large: seconds 61 is above the maximum of 60
        dead-man PLATFORM 20
        wait 10
        timers
            PLATFORM of 20 s fires in 10 s, renewed by ann
        wait 10
        clock
            Error dead-man-timer: PLATFORM is HALTED and its orders are cancelled: the dead-man timer was not renewed within 20 s
            PLATFORM is HALTED
        timers
            nothing
        dead-man PLATFORM
        timers
            PLATFORM of 60 s fires in 60 s, renewed by ann
        timers
            nothing
    "#]].assert_eq(&told);
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn a_timer_survives_a_restart_and_fires_after_it() {
    let mut world = StoryEngine::open();
    world.run("dead-man PLATFORM 30\n place 1 buy 1 AAPL @ 10");
    world.engine = engine::Engine::from_state(&world.engine.encode_state()).unwrap();
    let told = world.run("wait 3600\n clock");
    expect![[r#"
        wait 3600
        clock
            Error dead-man-timer: PLATFORM is HALTED and its orders are cancelled: the dead-man timer was not renewed within 30 s
            PLATFORM is HALTED
            1 PENDING_CANCEL
            Warn no-answer: order 1: the venue has not answered for 10 s
            1 PENDING_CANCEL (the venue has not answered for 10 s)
            to SIM-A: cancel 1
            to SIM-A: ask about 1
    "#]].assert_eq(&told);
    assert_eq!(
        world.command(Command::DisarmDeadMan { scope: RiskScope::Platform }).unwrap_err().code(),
        "no-dead-man-timer"
    );
}
