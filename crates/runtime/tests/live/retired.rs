//! Ids of retired orders: they go to the index, and are refused whatever becomes of it.

use std::fs;
use std::sync::atomic::Ordering;

use domain::OrderId;
use domain::report::ReportKind;
use storage::retired_index;

use crate::fixture::{LiveFixture, RunningLoop};

/// An order that ended three days ago, and that the engine has forgotten.
fn with_a_forgotten_order() -> (LiveFixture, RunningLoop) {
    let mut fixture = LiveFixture { has_index: true, ..LiveFixture::default() };
    let mut live = fixture.start_trading();
    assert_eq!(live.place("mine").wait(), "placed mine");
    live.report(ReportKind::Canceled { order: OrderId(1), reason: None });
    live.pass_price();
    fixture.days.store(3, Ordering::Relaxed);
    // The thread that writes the index may need a turn or many.
    while live.forgotten_through == 0 {
        (0..3).for_each(|_| drop(live.open_orders()));
        live.stop();
        live = fixture.restart();
    }
    (fixture, live)
}

fn relog(live: &RunningLoop) -> String {
    live.log_on();
    let reused = live.place("mine").wait();
    assert_eq!(live.place("new").wait(), "placed new", "others are taken");
    live.report(ReportKind::Canceled { order: OrderId(2), reason: None });
    reused
}

#[test]
fn a_reused_id_is_refused_although_the_engine_has_forgotten_it() {
    let (_fixture, live) = with_a_forgotten_order();
    assert_eq!(relog(&live), "refused duplicate-order");
}

#[test]
fn an_index_that_is_lost_is_made_again_from_the_journal() {
    let (mut fixture, live) = with_a_forgotten_order();
    live.stop();
    fs::remove_dir_all(fixture.folder.path().join(retired_index::FOLDER)).unwrap();
    let live = fixture.restart();
    assert!(live.recovered.replayed > 0, "a snapshot that has forgotten more than the index has is of no use");
    assert_eq!(relog(&live), "refused duplicate-order");
    live.stop();
    assert_eq!(fixture.restart().recovered.replayed, 0);
}
