//! Reports by which an order ends behind something else: OrdStatus (39) says it, and ExecType (150) does not.

use domain::Order;
use expect_test::expect;

use crate::story::{Story, order};

const FILLED: &str = "8 11=R7-1-0|37=V1|17=E1|150=F|39=2|38=100|14=100|151=0|32=100|31=10.5";

/// The venue does not reinstate what was filled: nothing of it works again.
#[test]
fn an_order_whose_execution_is_busted_ends_where_its_status_says_so() {
    for status in ["4", "C"] {
        let mut story = Story::new("generic-44");
        story.submit(&order(1));
        story.venue(FILLED);
        story.told.clear();
        story.venue(&format!("8 11=R7-1-0|37=V1|17=E2|19=E1|150=H|39={status}|38=100|14=0|151=0|58=error"));
        story.venue(&format!("8 43=Y|11=R7-1-0|37=V1|17=E2|19=E1|150=H|39={status}|38=100|14=0|151=0|58=error"));
        story.venue("9 11=R7-1-1|41=R7-1-0|37=V1|39=4|434=1|102=0");
        let told: Vec<&str> = story.told.lines().filter_map(|line| line.strip_prefix("    ")).collect();
        let end = if status == "4" { "cancelled" } else { "expired" };
        let first = format!("1 busted E1; 1 {end} Some(\"error\")");
        assert_eq!(told, [first.as_str(), "1 busted E1", "1 cancel refused: CxlRejReason (102) 0"], "{}", story.told);
    }
}

/// One of before the start is not known here.
#[test]
fn an_order_ends_behind_a_bust_of_what_was_filled_before_the_start() {
    let mut story = Story::new("generic-44");
    story.venue("8 11=R7-1-0|37=V1|17=E1|150=F|39=2|38=100|14=100|151=0|32=60|31=10.5");
    story.venue("8 11=R7-1-0|37=V1|17=E2|19=E0|150=H|39=4|38=100|14=60|151=0");
    assert_eq!(story.told.lines().last(), Some("    1 busted E0; 1 cancelled None"), "{}", story.told);
}

/// It works again: a cancel that is refused as unknown is a reason to ask.
#[test]
fn an_order_that_a_bust_or_a_correction_reopens_can_be_doubted() {
    for reopened in ["19=E1|150=H|39=0|38=100|14=0|151=100", "19=E1|150=G|39=1|38=100|14=40|151=60|32=40|31=10.5"] {
        let mut story = Story::new("generic-44");
        story.submit(&order(1));
        story.venue(FILLED);
        story.venue(&format!("8 11=R7-1-0|37=V1|17=E2|{reopened}"));
        story.cancel(&Order { request: 1, ..order(1) });
        story.venue("9 11=R7-1-1|41=R7-1-0|37=V1|39=8|434=1|102=1");
        let told = story.told.lines().last().unwrap_or_default();
        let doubt = "    1 cancel refused: CxlRejReason (102) 1; 1 in doubt: ";
        assert!(told.starts_with(doubt), "{reopened}: {}", story.told);
    }
}

/// What was busted is told again after the end: the order has not come back to life.
#[test]
fn a_bust_that_is_told_again_reopens_nothing() {
    let mut story = Story::new("generic-44");
    story.submit(&order(1));
    story.venue(FILLED);
    let bust = "11=R7-1-0|37=V1|17=E2|19=E1|150=H|39=0|38=100|14=0|151=100";
    story.venue(&format!("8 {bust}"));
    story.cancel(&Order { request: 1, ..order(1) });
    story.venue("8 11=R7-1-1|41=R7-1-0|37=V1|17=E3|150=4|39=4|38=100|14=0|151=0");
    story.venue(&format!("8 43=Y|{bust}"));
    story.venue("9 43=Y|11=R7-1-1|41=R7-1-0|37=V1|39=8|434=1|102=1");
    assert_eq!(story.told.lines().last(), Some("    1 cancel refused: CxlRejReason (102) 1"), "{}", story.told);
}

/// An IOC order in one report; the venue may say so of any execution.
#[test]
fn an_execution_after_which_nothing_is_left_ends_the_order() {
    let mut story = Story::new("generic-44");
    for id in 1..=6 {
        story.submit(&order(id));
    }
    story.told.clear();
    story.venue("8 11=R7-1-0|37=V1|17=E1|150=F|39=4|38=100|14=40|151=0|32=40|31=10.5|58=the rest");
    story.venue("8 43=Y|11=R7-1-0|37=V1|17=E1|150=F|39=4|38=100|14=40|151=0|32=40|31=10.5|58=the rest");
    story.venue("8 11=R7-2-0|37=V2|17=E2|150=F|39=C|38=100|14=40|151=0|32=40|31=10.5");
    // An execution is missing, and what is said of the order counts all the same.
    story.venue("8 11=R7-3-0|37=V3|17=E4|150=F|39=4|38=100|14=60|151=0|32=20|31=10.5");
    // An execution of nothing, an order of which nothing is left to be cancelled, and quantities that are not told.
    story.venue("8 11=R7-4-0|37=V4|17=E5|150=F|39=4|38=100|14=0|151=0|32=0|31=0");
    story.venue("8 11=R7-5-0|37=V5|17=E6|150=F|39=4|38=100|14=100|151=0|32=100|31=10.5");
    story.venue("8 11=R7-6-0|37=V6|17=E7|150=F|39=4|14=100|32=100|31=10.5");
    expect![[r#"
        < 35=8|11=R7-1-0|37=V1|17=E1|150=F|39=4|38=100|14=40|151=0|32=40|31=10.5|58=the rest
            1 filled 40 @ 10.5 (E1); 1 cancelled Some("the rest")
        < 35=8|43=Y|11=R7-1-0|37=V1|17=E1|150=F|39=4|38=100|14=40|151=0|32=40|31=10.5|58=the rest
            1 filled 40 @ 10.5 (E1)
        < 35=8|11=R7-2-0|37=V2|17=E2|150=F|39=C|38=100|14=40|151=0|32=40|31=10.5
            2 filled 40 @ 10.5 (E2); 2 expired None
        < 35=8|11=R7-3-0|37=V3|17=E4|150=F|39=4|38=100|14=60|151=0|32=20|31=10.5
            3 filled 20 @ 10.5 (E4); 3 cancelled None; ALARM order 3: 40 were filled before this execution, but only 0 were reported
        < 35=8|11=R7-4-0|37=V4|17=E5|150=F|39=4|38=100|14=0|151=0|32=0|31=0
            4 cancelled None
        < 35=8|11=R7-5-0|37=V5|17=E6|150=F|39=4|38=100|14=100|151=0|32=100|31=10.5
            5 filled 100 @ 10.5 (E6)
        < 35=8|11=R7-6-0|37=V6|17=E7|150=F|39=4|14=100|32=100|31=10.5
            6 filled 100 @ 10.5 (E7)
    "#]].assert_eq(&story.told);
}

#[test]
fn a_correction_or_a_restatement_ends_the_order_where_its_status_says_so() {
    let mut story = Story::new("generic-44");
    for id in 1..=4 {
        story.submit(&order(id));
    }
    story.told.clear();
    story.venue("8 11=R7-1-0|37=V1|17=E1|150=F|39=1|38=100|14=40|151=60|32=40|31=10.5");
    story.venue("8 11=R7-1-0|37=V1|17=E2|19=E1|150=G|39=4|38=100|14=30|151=0|32=30|31=10.5");
    story.venue("8 11=R7-2-0|37=V2|17=E3|150=D|39=4|38=80|44=10.5|14=0|151=0|378=5");
    story.venue("8 11=R7-3-0|37=V3|17=E4|150=D|39=C|38=100|44=10.5|14=0|151=0|378=1");
    // A bust that is not certain concludes nothing.
    story.venue("8 11=R7-4-0|37=V4|17=E5|150=H|39=4|38=100|14=0|151=0");
    expect![[r#"
        < 35=8|11=R7-1-0|37=V1|17=E1|150=F|39=1|38=100|14=40|151=60|32=40|31=10.5
            1 filled 40 @ 10.5 (E1)
        < 35=8|11=R7-1-0|37=V1|17=E2|19=E1|150=G|39=4|38=100|14=30|151=0|32=30|31=10.5
            1 corrected E1: 30 @ 10.5 (E2); 1 cancelled None
        < 35=8|11=R7-2-0|37=V2|17=E3|150=D|39=4|38=80|44=10.5|14=0|151=0|378=5
            2 replaced: 80 @ 10.5 GTC; 2 cancelled None
        < 35=8|11=R7-3-0|37=V3|17=E4|150=D|39=C|38=100|44=10.5|14=0|151=0|378=1
            3 expired None
        < 35=8|11=R7-4-0|37=V4|17=E5|150=H|39=4|38=100|14=0|151=0
            ALARM order 4: an execution is busted, and which of the reported ones is not certain
    "#]]
    .assert_eq(&story.told);
}

/// Its executions are in a group.
#[test]
fn deribit_ends_an_order_with_its_last_executions() {
    let mut story = Story::new("deribit");
    story.submit(&order(1));
    let fills = "1362=1|1363=T1|1364=10.5|1365=30|1443=2";
    story.venue(&format!("8 11=8000001|41=R7-1-0|37=8000001|55=MSFT|38=100|150=F|39=4|14=30|151=0|{fills}"));
    assert_eq!(
        story.told.lines().last(),
        Some("    1 filled 30 @ 10.5 (T1), TAKER; 1 cancelled None"),
        "{}",
        story.told
    );
}

/// A translator that was just started knows nothing of the order.
#[test]
fn the_total_of_the_first_news_after_a_start_is_told_where_something_was_filled_before_it() {
    let first = |dialect: &str, report: &str| {
        let mut story = Story::new(dialect);
        story.venue(&format!("8 11=R7-1-0|37=V1|17=E1|{report}"));
        story.told
    };
    let mut told = String::new();
    for report in [
        "150=4|39=4|38=100|14=40|151=0",
        "150=C|39=C|38=100|14=40|151=0",
        "150=4|39=4|38=100|14=0|151=0",
        "150=0|39=0|38=100|14=0|151=100",
        "150=5|39=1|38=100|14=40|151=60|40=2|44=10|59=1",
        "150=F|39=2|38=100|14=100|151=0|32=100|31=10",
        "150=F|39=2|38=100|14=100|151=0|32=60|31=10",
        "150=F|39=4|38=100|14=100|151=0|32=60|31=10",
    ] {
        told += &first("generic-44", report);
    }
    expect![[r#"
        < 35=8|11=R7-1-0|37=V1|17=E1|150=4|39=4|38=100|14=40|151=0
            1 cancelled None; FilledInAll { order: OrderId(1), quantity: 40 }
        < 35=8|11=R7-1-0|37=V1|17=E1|150=C|39=C|38=100|14=40|151=0
            1 expired None; FilledInAll { order: OrderId(1), quantity: 40 }
        < 35=8|11=R7-1-0|37=V1|17=E1|150=4|39=4|38=100|14=0|151=0
            1 cancelled None
        < 35=8|11=R7-1-0|37=V1|17=E1|150=0|39=0|38=100|14=0|151=100
            1 accepted as Some("V1")
        < 35=8|11=R7-1-0|37=V1|17=E1|150=5|39=1|38=100|14=40|151=60|40=2|44=10|59=1
            1 replaced: 100 @ 10 GTC; FilledInAll { order: OrderId(1), quantity: 40 }
        < 35=8|11=R7-1-0|37=V1|17=E1|150=F|39=2|38=100|14=100|151=0|32=100|31=10
            1 filled 100 @ 10 (E1)
        < 35=8|11=R7-1-0|37=V1|17=E1|150=F|39=2|38=100|14=100|151=0|32=60|31=10
            1 filled 60 @ 10 (E1); FilledInAll { order: OrderId(1), quantity: 100 }
        < 35=8|11=R7-1-0|37=V1|17=E1|150=F|39=4|38=100|14=100|151=0|32=60|31=10
            1 filled 60 @ 10 (E1); FilledInAll { order: OrderId(1), quantity: 100 }
    "#]]
    .assert_eq(&told);
    let mut story = Story::new("quickfix-ordermatch");
    story.venue("8 11=R7-1-0|37=V1|17=E1|20=0|150=1|39=1|38=100|14=60|151=40|32=20|31=10");
    story.venue("8 11=R7-1-0|37=V1|17=E2|20=0|150=4|39=4|38=100|14=60|151=0");
    expect![[r#"
        < 35=8|11=R7-1-0|37=V1|17=E1|20=0|150=1|39=1|38=100|14=60|151=40|32=20|31=10
            1 filled 20 @ 10 (E1@60); FilledInAll { order: OrderId(1), quantity: 60 }
        < 35=8|11=R7-1-0|37=V1|17=E2|20=0|150=4|39=4|38=100|14=60|151=0
            1 cancelled None
    "#]]
    .assert_eq(&story.told);
}
