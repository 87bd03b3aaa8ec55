//! Manual transactions: what is refused, and the day that they are listed on.

use expect_test::{Expect, expect};

use crate::world::StoryEngine;

fn check(story: &str, told: Expect) {
    let mut world = StoryEngine::open();
    told.assert_eq(&world.run(story));
    let (state, replayed) = world.replayed();
    assert_eq!(state, replayed, "a replay gives another state");
}

#[test]
fn an_expiration_by_hand_must_lower_what_is_held() {
    check(
        "record expiration -2 CALL @ 0
         record buy 2 CALL @ 1
         record expiration -3 CALL @ 0
         record expiration 1 CALL @ 0
         record expiration 0 CALL @ 0
         record expiration -2 CALL @ 0.5
         record expiration -1 CALL @ 0.5",
        expect![[r#"
            record expiration -2 CALL @ 0
                refused not-held: an EXPIRATION of -2 must lower the position, and 0 are held
            record buy 2 CALL @ 1
                booked BUY 2 @ 1
                position 5 of 2 cost 200 realised 0
                cash USD 99800
            record expiration -3 CALL @ 0
                refused not-held: an EXPIRATION of -3 must lower the position, and 2 are held
            record expiration 1 CALL @ 0
                refused not-held: an EXPIRATION of 1 must lower the position, and 2 are held
            record expiration 0 CALL @ 0
                refused wrong-sign: quantity 0 has the wrong sign for this type
            record expiration -2 CALL @ 0.5
                booked EXPIRATION -2 @ 0.5
                position 5 of 0 cost 0 realised -100
                cash USD 99900
            record expiration -1 CALL @ 0.5
                refused not-held: an EXPIRATION of -1 must lower the position, and 0 are held
        "#]],
    );
}

#[test]
fn the_daily_list_has_what_is_dated_today() {
    check(
        "record buy 1 AAPL @ 10 dated 2026-11-13T10:00:00Z
         record buy 1 AAPL @ 11 dated 2026-11-18T10:00:00Z
         record buy 1 AAPL @ 12
         record buy 1 AAPL @ 13 dated 2026-11-16T23:59:59Z
         daily
         day 2026-11-17
         daily
         day 2026-11-18
         record sell -1 AAPL @ 10
         daily
         day 2026-11-19
         daily",
        expect![[r#"
            record buy 1 AAPL @ 10 dated 2026-11-13T10:00:00Z
                booked BUY 1 @ 10
                position 1 of 1 cost 10 realised 0
                cash USD 99990
            record buy 1 AAPL @ 11 dated 2026-11-18T10:00:00Z
                booked BUY 1 @ 11
                position 1 of 2 cost 21 realised 0
                cash USD 99979
            record buy 1 AAPL @ 12
                booked BUY 1 @ 12
                position 1 of 3 cost 33 realised 0
                cash USD 99967
            record buy 1 AAPL @ 13 dated 2026-11-16T23:59:59Z
                booked BUY 1 @ 13
                position 1 of 4 cost 46 realised 0
                cash USD 99954
            daily
                6 BUY at 2026-11-16T23:59:59Z
                5 BUY at 2026-11-16T12:00:00Z
                2 CREDIT at 2026-11-16T12:00:00Z
                1 CREDIT at 2026-11-16T12:00:00Z
            day 2026-11-17
            daily
                nothing
            day 2026-11-18
            record sell -1 AAPL @ 10
                booked SELL -1 @ 10
                position 1 of 3 cost 34.5 realised -1.5
                cash USD 99964
            daily
                4 BUY at 2026-11-18T10:00:00Z
                7 SELL at 2026-11-18T00:00:00Z
            day 2026-11-19
            daily
                nothing
        "#]],
    );
}
