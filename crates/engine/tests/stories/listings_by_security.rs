//! Fills that a venue lists for one security at a time.

use domain::report::FillsScope;
use expect_test::expect;

use crate::listings::check_with;

#[test]
fn a_venue_that_lists_fills_of_one_security_is_asked_for_each_with_an_open_order() {
    check_with(
        FillsScope::PerSecurity,
        "place 1 buy 100 AAPL @ 10
         venue accepts 1
         venue disconnects
         venue connects
         venue shows 1:live
         venue logs-on
         clock",
        expect![[r#"
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue disconnects
                SIM-A DISCONNECTED
            venue connects
                SIM-A CONNECTED
            venue shows 1:live
            venue logs-on
                SIM-A LOGGED_ON
            clock
                to SIM-A: list open orders
                to SIM-A: list fills of 1 after the beginning
        "#]],
    );
}

#[test]
fn a_security_that_is_traded_for_the_first_time_is_listed_from_then_on() {
    check_with(
        FillsScope::PerSecurity,
        "clock
         venue lists
         place 1 buy 100 AAPL @ 10
         venue accepts 1
         wait 5
         clock
         wait 10
         clock",
        expect![[r#"
            clock
                to SIM-A: list open orders
            venue lists
            place 1 buy 100 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            wait 5
            clock
                to SIM-A: list fills of 1 after the beginning
            wait 10
            clock
                to SIM-A: list fills of 1 after the beginning
        "#]],
    );
}
