use domain::report::ReplaceKind;
use expect_test::expect;
use venue_sim::VenueConfig;

use crate::venue_client::{quiet, run_story};

fn replacing() -> VenueConfig {
    VenueConfig { replace: ReplaceKind::CancelReplace, ..quiet() }
}

#[test]
fn a_replace_makes_a_second_leg_and_requests_go_to_the_newest() {
    let told = run_story(
        replacing(),
        "
        10:00 submit 1 buy 50 STOCK limit 9.9 DAY
        10:01 replace 1 60 limit 9.95 DAY
        10:02 open
        10:03 replace 1 60 limit 9.96 DAY
        10:04 submit 1 buy 50 STOCK limit 9.9 DAY
        10:05 ask 1
        10:06 restart
        10:07 picture
        10:08 submit 2 sell 10 STOCK limit 9.96 DAY account 2
        10:09 replace 1 60 limit 9.97 DAY
        10:10 cancel 1
        10:11 ask 1
        ",
    );
    expect![[r#"
        10:00 submit 1 buy 50 STOCK limit 9.9 DAY
            accepted 1 as SIM-O1
        10:01 replace 1 60 limit 9.95 DAY
            replaced 1: 60 @ 9.95 DAY
        10:02 open
            open are 1 as SIM-O2 Live with 60 @ 9.95 DAY
        10:03 replace 1 60 limit 9.96 DAY
            replaced 1: 60 @ 9.96 DAY
        10:04 submit 1 buy 50 STOCK limit 9.9 DAY
            accepted 1 as SIM-O3
        10:05 ask 1
            order 1 is Live with 60 @ 9.96 DAY, besides SIM-O1 Canceled with 50 @ 9.9 DAY, besides SIM-O2 Canceled with 60 @ 9.95 DAY
        10:06 restart
        10:07 picture
            1 60 @ 9.96 DAY live
        10:08 submit 2 sell 10 STOCK limit 9.96 DAY account 2
            accepted 2 as SIM-O4
            filled 2 10 @ 9.99 by SIM-1
        10:09 replace 1 60 limit 9.97 DAY
            replaced 1: 60 @ 9.97 DAY
        10:10 cancel 1
            canceled 1
        10:11 ask 1
            order 1 is Canceled with 60 @ 9.97 DAY, besides SIM-O1 Canceled with 50 @ 9.9 DAY, besides SIM-O2 Canceled with 60 @ 9.95 DAY, besides SIM-O3 Canceled with 60 @ 9.96 DAY
    "#]].assert_eq(&told);
}

#[test]
fn each_half_of_a_replace_can_fail() {
    let told = run_story(
        replacing(),
        "
        10:00 submit 1 buy 50 STOCK limit 9.9 DAY
        10:00 faults half-nothing
        10:01 replace 1 60 limit 9.95 DAY
        10:02 faults half-placed
        10:03 replace 1 60 limit 9.95 DAY
        10:04 open
        10:05 ask 1
        10:06 restart
        10:07 open
        10:08 submit 2 sell 10 STOCK limit 9.9 DAY account 2
        10:09 cancel-leg 1 SIM-O1
        10:10 cancel-leg 1 SIM-O1
        10:11 submit 3 buy 50 STOCK limit 9.9 DAY
        10:11 faults half-canceled
        10:12 replace 3 60 limit 9.95 DAY
        10:13 picture
        ",
    );
    expect![[r#"
        10:00 submit 1 buy 50 STOCK limit 9.9 DAY
            accepted 1 as SIM-O1
        10:00 faults half-nothing
        10:01 replace 1 60 limit 9.95 DAY
            replace of 1 refused: fault: rejected on purpose
        10:02 faults half-placed
        10:03 replace 1 60 limit 9.95 DAY
            halves of 1: SIM-O1 canceled Refused, SIM-O2 placed Done
        10:04 open
            open are 1 as SIM-O1 Live with 50 @ 9.9 DAY, 1 as SIM-O2 Live with 60 @ 9.95 DAY
        10:05 ask 1
            order 1 is Live with 60 @ 9.95 DAY, besides SIM-O1 Live with 50 @ 9.9 DAY
        10:06 restart
        10:07 open
            open are 1 as SIM-O1 Live with 50 @ 9.9 DAY, 1 as SIM-O2 Live with 60 @ 9.95 DAY
        10:08 submit 2 sell 10 STOCK limit 9.9 DAY account 2
            accepted 2 as SIM-O3
            filled 2 10 @ 9.99 by SIM-1
        10:09 cancel-leg 1 SIM-O1
            leg of 1: SIM-O1 Canceled with 50 @ 9.9 DAY
        10:10 cancel-leg 1 SIM-O1
            leg of 1: SIM-O1 Canceled with 50 @ 9.9 DAY
        10:11 submit 3 buy 50 STOCK limit 9.9 DAY
            accepted 3 as SIM-O4
        10:11 faults half-canceled
        10:12 replace 3 60 limit 9.95 DAY
            halves of 3: SIM-O4 canceled Done, ? placed Refused
        10:13 picture
            2 10 @ 9.9 DAY live
            3 50 @ 9.9 DAY canceled
            1 60 @ 9.95 DAY live
            2 10 @ 9.99 by SIM-1
    "#]]
    .assert_eq(&told);
}

#[test]
fn a_venue_that_lowers_quantities_only_or_changes_nothing_refuses_the_rest() {
    let story = "
        10:00 submit 1 buy 50 STOCK limit 9.9 DAY
        10:01 replace 1 60 limit 9.9 DAY
        10:02 replace 1 50 limit 9.8 DAY
        10:03 replace 1 40 limit 9.9 DAY
        ";
    let told = |replace| run_story(VenueConfig { replace, ..quiet() }, story);
    expect![[r#"
        10:00 submit 1 buy 50 STOCK limit 9.9 DAY
            accepted 1 as SIM-O1
        10:01 replace 1 60 limit 9.9 DAY
            replace of 1 refused: replace: only the quantity of an order can be lowered there
        10:02 replace 1 50 limit 9.8 DAY
            replace of 1 refused: replace: only the quantity of an order can be lowered there
        10:03 replace 1 40 limit 9.9 DAY
            replaced 1: 40 @ 9.9 DAY
        10:00 submit 1 buy 50 STOCK limit 9.9 DAY
            accepted 1 as SIM-O1
        10:01 replace 1 60 limit 9.9 DAY
            replace of 1 refused: replace: no order can be changed there
        10:02 replace 1 50 limit 9.8 DAY
            replace of 1 refused: replace: no order can be changed there
        10:03 replace 1 40 limit 9.9 DAY
            replace of 1 refused: replace: no order can be changed there
    "#]]
    .assert_eq(&(told(ReplaceKind::LowerQuantityOnly) + &told(ReplaceKind::None)));
}
