//! One difference of every kind, in both directions where there are two: each is found once, with its evidence, and when all
//! are settled our books equal the statement.

use domain::breaks::{Break, BreakState};
use domain::query::Answer;
use domain::{Input, Query};
use expect_test::expect;

use crate::world::StoryEngine;

/// What the venue holds. Of orders 4, 6 and 7 it has 30 @ 9.5, and 10 @ 10 with a fee of 0.5 and of 0.1; of the two calls one,
/// and three futures instead of two; and of two currencies something else than was booked.
const STATEMENT: &str =
    "venue states 1 0 ago USD:99314.15:locked:0 EUR:520:locked:0 GBP:290:locked:0 AAPL:50 ES:3 CALL:1";

const TRADING: &str = "
    place 1 buy 100 AAPL @ 9.6
    venue accepts 1
    place 2 buy 100 AAPL @ 9.7
    venue accepts 2
    venue cancels 2
    place 3 buy 100 AAPL @ 9.8
    venue accepts 3
    place 4 buy 40 AAPL @ 10
    venue accepts 4
    venue fills 4 40 @ 10 x4
    place 5 buy 10 AAPL @ 9.9
    venue accepts 5
    place 6 buy 10 AAPL @ 10
    venue accepts 6
    venue fills 6 10 @ 10 x6
    place 7 buy 10 AAPL @ 10
    venue accepts 7
    venue fills 7 10 @ 10 x7 charging 0.3
    place 8 buy 2 ES @ 5000
    venue accepts 8
    venue fills 8 2 @ 5000 x8
    place 9 buy 2 CALL @ 1
    venue accepts 9
    venue fills 9 2 @ 1 x9
    venue books E1 TRANSFER 1 500 EUR
    venue books E2 TRANSFER 1 300 GBP";

/// The same again changes nothing: every difference is found once.
const DIFFERENCES: &str = "
    wait 60
    clock
    venue lists-terms 3 60 @ 9.5 2:live 5:live
    venue misses 1
    venue lists-fills from - to 9 fill:4:30@9.5:x4
    venue fills 5 0 @ 9.9 x5
    venue fills 6 10 @ 10 x6 charging 0.5
    venue fills 7 10 @ 10 x7 charging 0.1
    venue accepts #77";

fn breaks(world: &StoryEngine) -> Vec<std::sync::Arc<Break>> {
    match world.engine.answer(world.now, 0, &Query::Breaks) {
        Ok(Answer::Breaks(breaks)) => breaks,
        other => panic!("{other:?}"),
    }
}

/// As `B1 ORDER: repair`.
fn kinds(world: &StoryEngine) -> String {
    let line = |found: &std::sync::Arc<Break>| {
        let repair = found.difference.repair.as_ref().map_or("nothing".to_owned(), ToString::to_string);
        format!("{} {} {} {repair}\n", found.id, found.difference.kind.name(), found.state.name())
    };
    breaks(world).iter().map(line).collect()
}

/// The report that is named as the evidence is in the journal, and its hash is right.
fn has_evidence(world: &StoryEngine, found: &Break) -> bool {
    let shown = world.inputs.iter().find(|input| input.sequence == found.evidence.sequence);
    let Some(Input::Report(report)) = shown.map(|input| &input.payload) else { return false };
    let hash = domain::lookup_map::fingerprint(&[&minicbor::to_vec(report).unwrap()]);
    !found.evidence.report.is_empty() && *found.evidence.hash == *format!("{hash:032x}")
}

fn found_by(story: &[&str]) -> StoryEngine {
    let mut world = StoryEngine::listing_all();
    world.run(TRADING);
    for part in story {
        world.run(part);
    }
    world
}

#[test]
fn twelve_differences_are_twelve_breaks_with_evidence() {
    let world = found_by(&[DIFFERENCES, STATEMENT, DIFFERENCES, STATEMENT, DIFFERENCES, STATEMENT]);
    expect![[r#"
        B1 TERMS REPAIRED nothing
        B2 ORDER OPEN asks the venue to cancel the order
        B3 ORDER OPEN ends the order here as CANCELED
        B4 FILL OPEN undoes execution x4 and books 30 @ 9.5
        B5 FILL OPEN nothing
        B6 FEE OPEN books 0.5 USD of fees for execution x6
        B7 FEE OPEN books -0.2 USD of fees for execution x7
        B8 EXTERNAL OPEN nothing
        B9 CASH OPEN books a correction of 20 EUR
        B10 CASH OPEN books a correction of -10 GBP
        B11 POSITION OPEN books a correction of 1 of security 2, without cash
        B12 POSITION OPEN books a correction of -1 of security 5, without cash
    "#]]
    .assert_eq(&kinds(&world));
    assert_eq!(breaks(&world).len(), 12);
    for found in breaks(&world) {
        assert!(has_evidence(&world, &found), "{found:?}");
        assert!(found.difference.ours.is_some() || found.difference.theirs.is_some(), "{found:?}");
    }
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay finds other breaks");
}

#[test]
fn after_the_repairs_our_books_equal_the_statement() {
    let mut world = found_by(&[DIFFERENCES, STATEMENT, DIFFERENCES, STATEMENT]);
    let open: Vec<_> = breaks(&world).into_iter().filter(|found| found.state == BreakState::Open).collect();
    for found in open {
        let step = if found.difference.repair.is_some() { "repair" } else { "accept" };
        world.run(&format!("{step} {} compared with the venue", found.id));
    }
    let before = breaks(&world).len();
    for _ in 0..2 {
        world.run("wait 60\n clock");
        world.run(STATEMENT);
    }
    assert_eq!(breaks(&world).len(), before, "the statement still differs: {}", kinds(&world));
    assert!(breaks(&world).iter().all(|found| found.state != BreakState::Open), "{}", kinds(&world));
    expect![[r#"
        cash
            1/1 99314.15 USD, at the venue 99314.15, locked 0
            1/2 100000 USD
            1/1 520 EUR, at the venue 520, locked 0
            1/1 290 GBP, at the venue 290, locked 0
        positions
            position 1 of 50 cost 485 realised 0
            position 2 of 3 cost 750000 realised 0
            position 5 of 1 cost 100 realised 0
    "#]]
    .assert_eq(&world.run("cash\n positions"));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}
