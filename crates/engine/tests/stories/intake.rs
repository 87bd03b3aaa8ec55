//! Order entry: accepted and refused orders, with the reason.

use expect_test::{Expect, expect};

use crate::world::StoryEngine;

fn check(story: &str, told: Expect) {
    told.assert_eq(&StoryEngine::open().run(story));
}

#[test]
fn an_order_must_fit_its_security() {
    check(
        "place 1 buy 0 AAPL @ 10
         place 2 buy 0.5 AAPL @ 10
         place 3 buy 2000000 AAPL @ 10
         place 4 buy 1 AAPL @ 10.001
         place 5 buy 1 AAPL @ -1
         place 6 buy 1 AAPL stop 0
         place 7 buy 1 99 @ 10",
        expect![[r#"
            place 1 buy 0 AAPL @ 10
                refused not-positive: quantity 0 must be more than zero
            place 2 buy 0.5 AAPL @ 10
                refused not-a-multiple: quantity 0.5 is not a multiple of 1
            place 3 buy 2000000 AAPL @ 10
                refused too-large: quantity 2000000 is above the maximum of 1000000
            place 4 buy 1 AAPL @ 10.001
                refused not-a-multiple: limit 10.001 is not a multiple of 0.01
            place 5 buy 1 AAPL @ -1
                refused not-positive: limit -1 must be more than zero
            place 6 buy 1 AAPL stop 0
                refused not-positive: stop 0 must be more than zero
            place 7 buy 1 99 @ 10
                refused unknown-security: security 99 is not known
        "#]],
    );
}

#[test]
fn an_order_without_an_account_gets_one_or_is_refused_with_the_reason() {
    check(
        "place 1 buy 1 AAPL @ 10
         place 2 buy 1 AAPL @ 10 DAY account 2
         place 3 buy 1 AAPL @ 10 DAY account 9
         place 4 buy 1 AAPL @ 10 DAY exchange 2
         place 5 buy 1 AAPL @ 10 DAY strategy 9",
        expect![[r#"
            place 1 buy 1 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            place 2 buy 1 AAPL @ 10 DAY account 2
                refused no-route: account 2 has no route to exchange 1
            place 3 buy 1 AAPL @ 10 DAY account 9
                refused unknown-account: account 9 is not known
            place 4 buy 1 AAPL @ 10 DAY exchange 2
                refused no-route: security 1 is not listed on exchange 2, but on exchange 1
            place 5 buy 1 AAPL @ 10 DAY strategy 9
                refused unknown-strategy: strategy 9 is not known
        "#]],
    );
}

#[test]
fn a_closed_market_takes_what_can_wait() {
    check(
        "mark SAP 100 101
         place 1 buy 1 SAP @ 100 IOC
         place 2 buy 1 SAP market
         place 3 buy 1 SAP @ 100 GTC
         place 4 buy 1 SAP @ 100 ATO
         place 5 buy 1 AAPL @ 10 ATO
         place 6 buy 1 AAPL @ 10 GTD-yesterday
         place 7 buy 1 AAPL @ 10 GTD-tomorrow",
        expect![[r#"
            mark SAP 100 101
            place 1 buy 1 SAP @ 100 IOC
                refused market-closed: exchange 2 is closed, and this order needs an open market
            place 2 buy 1 SAP market
                refused market-closed: exchange 2 is closed, and this order needs an open market
            place 3 buy 1 SAP @ 100 GTC
                3 OPEN
                to SIM-B: submit 3
            place 4 buy 1 SAP @ 100 ATO
                4 OPEN
                to SIM-B: submit 4
            place 5 buy 1 AAPL @ 10 ATO
                refused no-auction: the exchange has no auction for ATO
            place 6 buy 1 AAPL @ 10 GTD-yesterday
                refused date-in-the-past: the good-till date lies in the past
            place 7 buy 1 AAPL @ 10 GTD-tomorrow
                7 OPEN
                to SIM-A: submit 7
        "#]],
    );
}

#[test]
fn without_its_adapter_nothing_is_sent() {
    check(
        "place 1 buy 1 AAPL @ 10
         venue accepts 1
         venue disconnects
         place 2 buy 1 AAPL @ 10
         cancel 1
         venue connects
         place 3 buy 1 AAPL @ 10
         venue shows 1:live
         venue logs-on
         cancel 1",
        expect![[r#"
            place 1 buy 1 AAPL @ 10
                1 OPEN
                to SIM-A: submit 1
            venue accepts 1
                1 SUBMITTED
            venue disconnects
                SIM-A DISCONNECTED
            place 2 buy 1 AAPL @ 10
                refused adapter-down: the adapter SIM-A is not connected, try again later
            cancel 1
                refused adapter-down: the adapter SIM-A is not connected, try again later
            venue connects
                SIM-A CONNECTED
            place 3 buy 1 AAPL @ 10
                refused adapter-reconciling: the adapter SIM-A is comparing orders with its venue, try again soon
            venue shows 1:live
            venue logs-on
                SIM-A LOGGED_ON
            cancel 1
                1 PENDING_CANCEL
                to SIM-A: cancel 1
        "#]],
    );
}
