//! A report that contradicts itself is an alarm and a question to the venue. Nothing of it is believed.

use expect_test::expect;

use crate::story::{Story, order};

#[test]
fn a_status_that_its_quantities_contradict_is_not_believed() {
    let mut story = Story::new("generic-44");
    story.submit(&order(1));
    story.told.clear();
    for report in [
        "150=0|39=0|38=100|14=10|151=90",
        "150=F|39=2|38=100|14=40|151=60|32=40|31=10",
        "150=F|39=2|38=100|14=50|151=0|32=50|31=10",
        "150=F|39=1|38=100|14=100|151=0|32=100|31=10",
        "150=F|39=0|38=100|14=0|151=100|32=10|31=10",
        "150=4|39=4|38=100|14=0|151=100",
        "150=4|39=0|38=100|14=0|151=100",
        "150=8|39=0|38=100|14=0|151=100",
        "150=C|39=4|38=100|14=0|151=0",
        "150=0|39=0|38=100|14=0|151=70",
        "150=F|39=1|38=100|14=5|151=95|32=10|31=10",
        "150=F|39=1|38=100|14=10|151=90|32=10",
        "150=F|39=1|38=100|14=ten|151=90|32=10|31=10",
        "150=Z|39=1|38=100|14=10|151=90",
        "150=0|39=Z|38=100|14=0|151=100",
        "150=0|38=100|14=0|151=100",
    ] {
        story.venue(&format!("8 11=R7-1-0|37=V1|17=E1|{report}"));
    }
    story.venue("8 11=R7-1-0|41=R7-2-0|37=V1|17=E1|150=4|39=4|14=0|151=0");
    expect![[r#"
        < 35=8|11=R7-1-0|37=V1|17=E1|150=0|39=0|38=100|14=10|151=90
            ALARM order 1: the order is new by OrdStatus (39), but CumQty (14) is 10, LeavesQty (151) 90, OrderQty (38) 100
        < 35=8|11=R7-1-0|37=V1|17=E1|150=F|39=2|38=100|14=40|151=60|32=40|31=10
            ALARM order 1: the order is filled by OrdStatus (39), but CumQty (14) is 40, LeavesQty (151) 60, OrderQty (38) 100
        < 35=8|11=R7-1-0|37=V1|17=E1|150=F|39=2|38=100|14=50|151=0|32=50|31=10
            ALARM order 1: the order is filled by OrdStatus (39), but CumQty (14) is 50, LeavesQty (151) 0, OrderQty (38) 100
        < 35=8|11=R7-1-0|37=V1|17=E1|150=F|39=1|38=100|14=100|151=0|32=100|31=10
            ALARM order 1: the order is filled in part by OrdStatus (39), but CumQty (14) is 100, LeavesQty (151) 0, OrderQty (38) 100
        < 35=8|11=R7-1-0|37=V1|17=E1|150=F|39=0|38=100|14=0|151=100|32=10|31=10
            ALARM order 1: LastQty (32) is 10, and CumQty (14) only 0
        < 35=8|11=R7-1-0|37=V1|17=E1|150=4|39=4|38=100|14=0|151=100
            ALARM order 1: the order has ended by OrdStatus (39), but CumQty (14) is 0, LeavesQty (151) 100, OrderQty (38) 100
        < 35=8|11=R7-1-0|37=V1|17=E1|150=4|39=0|38=100|14=0|151=100
            ALARM order 1: the order was cancelled by ExecType (150), and OrdStatus (39) says new
        < 35=8|11=R7-1-0|37=V1|17=E1|150=8|39=0|38=100|14=0|151=100
            ALARM order 1: the order was rejected by ExecType (150), and OrdStatus (39) says new
        < 35=8|11=R7-1-0|37=V1|17=E1|150=C|39=4|38=100|14=0|151=0
            ALARM order 1: the order was expired by ExecType (150), and OrdStatus (39) says canceled
        < 35=8|11=R7-1-0|37=V1|17=E1|150=0|39=0|38=100|14=0|151=70
            ALARM order 1: the order is new by OrdStatus (39), but CumQty (14) is 0, LeavesQty (151) 70, OrderQty (38) 100
        < 35=8|11=R7-1-0|37=V1|17=E1|150=F|39=1|38=100|14=5|151=95|32=10|31=10
            ALARM order 1: LastQty (32) is 10, and CumQty (14) only 5
        < 35=8|11=R7-1-0|37=V1|17=E1|150=F|39=1|38=100|14=10|151=90|32=10
            ALARM order 1: an execution without LastPx (31)
        < 35=8|11=R7-1-0|37=V1|17=E1|150=F|39=1|38=100|14=ten|151=90|32=10|31=10
            ALARM order 1: tag 14 is 'ten', which is no number
        < 35=8|11=R7-1-0|37=V1|17=E1|150=Z|39=1|38=100|14=10|151=90
            ALARM order 1: ExecType (150) is 'Z', which the dialect does not know
        < 35=8|11=R7-1-0|37=V1|17=E1|150=0|39=Z|38=100|14=0|151=100
            ALARM order 1: OrdStatus (39) is 'Z', which the dialect does not know
        < 35=8|11=R7-1-0|37=V1|17=E1|150=0|38=100|14=0|151=100
            ALARM order 1: OrdStatus (39) is missing
        < 35=8|11=R7-1-0|41=R7-2-0|37=V1|17=E1|150=4|39=4|14=0|151=0
            ALARM order 1: ClOrdID (11) and OrigClOrdID (41) name two orders
    "#]]
    .assert_eq(&story.told);
}

/// The standard lets nothing be left until tomorrow; of what is left otherwise, the quantities add up.
#[test]
fn an_order_that_is_done_for_the_day_may_have_nothing_left_and_lives() {
    let mut story = Story::new("generic-44");
    story.submit(&order(1));
    story.venue("8 11=R7-1-0|37=V1|17=E1|150=F|39=1|38=100|14=40|151=60|32=40|31=10");
    story.told.clear();
    story.venue("8 11=R7-1-0|37=V1|17=E2|150=3|39=3|38=100|14=40|151=0");
    story.venue("8 11=R7-1-0|37=V1|17=E3|150=B|39=B|38=100|14=40|151=0");
    story.venue("8 11=R7-1-0|37=V1|17=E4|150=3|39=3|38=100|14=40|151=60");
    story.venue("8 11=R7-1-0|37=V1|17=E5|150=3|39=3|38=100|14=40|151=50");
    let held = domain::Order { filled: 40.into(), ..order(1) };
    story.translator.chains.on_question(crate::story::NOW.parse().unwrap(), &held, None, None);
    story.venue("8 11=R7-1-0|37=V1|17=0|150=I|39=3|38=100|44=10.5|14=40|151=0");
    expect![[r#"
        < 35=8|11=R7-1-0|37=V1|17=E2|150=3|39=3|38=100|14=40|151=0
            nothing
        < 35=8|11=R7-1-0|37=V1|17=E3|150=B|39=B|38=100|14=40|151=0
            nothing
        < 35=8|11=R7-1-0|37=V1|17=E4|150=3|39=3|38=100|14=40|151=60
            nothing
        < 35=8|11=R7-1-0|37=V1|17=E5|150=3|39=3|38=100|14=40|151=50
            ALARM order 1: the order is open by OrdStatus (39), but CumQty (14) is 40, LeavesQty (151) 50, OrderQty (38) 100
        < 35=8|11=R7-1-0|37=V1|17=0|150=I|39=3|38=100|44=10.5|14=40|151=0
            1 found as of 2026-11-16T12:00:00Z: Live, 100 @ 10.5 GTC
    "#]]
    .assert_eq(&story.told);
}

#[test]
fn an_execution_that_is_missing_is_an_alarm_and_the_one_that_came_is_booked() {
    let mut story = Story::new("generic-44");
    story.submit(&order(1));
    story.told.clear();
    story.venue("8 11=R7-1-0|37=V1|17=E1|150=F|39=1|38=100|14=10|151=90|32=10|31=10");
    story.venue("8 11=R7-1-0|37=V1|17=E3|150=F|39=1|38=100|14=40|151=60|32=10|31=10");
    story.venue("8 43=Y|11=R7-1-0|37=V1|17=E2|150=F|39=1|38=100|14=30|151=70|32=20|31=10");
    story.venue("8 11=R7-1-0|37=V1|17=E4|150=F|39=1|38=100|14=40|151=60|32=0|31=0");
    expect![[r#"
        < 35=8|11=R7-1-0|37=V1|17=E1|150=F|39=1|38=100|14=10|151=90|32=10|31=10
            1 filled 10 @ 10 (E1)
        < 35=8|11=R7-1-0|37=V1|17=E3|150=F|39=1|38=100|14=40|151=60|32=10|31=10
            1 filled 10 @ 10 (E3); ALARM order 1: 30 were filled before this execution, but only 10 were reported
        < 35=8|43=Y|11=R7-1-0|37=V1|17=E2|150=F|39=1|38=100|14=30|151=70|32=20|31=10
            1 filled 20 @ 10 (E2)
        < 35=8|11=R7-1-0|37=V1|17=E4|150=F|39=1|38=100|14=40|151=60|32=0|31=0
            nothing
    "#]]
    .assert_eq(&story.told);
}

/// The order ends with nothing booked otherwise, and no later report is compared.
#[test]
fn an_end_or_new_terms_with_more_filled_than_was_reported_is_an_alarm() {
    for report in [
        "150=4|39=4|38=100|14=40|151=0",
        "150=C|39=C|38=100|14=40|151=0",
        "150=0|39=1|38=100|14=40|151=60",
        "150=5|39=1|38=120|14=40|151=80",
        "150=D|39=1|38=120|14=40|151=80",
    ] {
        let mut story = Story::new("generic-44");
        story.submit(&order(1));
        story.venue(&format!("8 11=R7-1-0|37=V1|17=E1|{report}"));
        let alarm = "; ALARM order 1: the venue has filled 40, but only 0 were reported\n";
        assert!(story.told.ends_with(alarm), "{}", story.told);
    }
}

#[test]
fn an_end_with_what_was_reported_is_no_alarm_and_neither_is_one_that_was_never_heard_of() {
    let mut story = Story::new("generic-44");
    story.submit(&order(1));
    story.told.clear();
    story.venue("8 11=R7-1-0|37=V1|17=E1|150=F|39=1|38=100|14=40|151=60|32=40|31=10");
    story.venue("8 11=R7-1-0|37=V1|17=E2|150=4|39=4|38=100|14=40|151=0");
    // After a start: what was reported before it is not known.
    story.venue("8 11=R7-2-0|37=V2|17=E3|150=4|39=4|38=100|14=40|151=0");
    expect![[r#"
        < 35=8|11=R7-1-0|37=V1|17=E1|150=F|39=1|38=100|14=40|151=60|32=40|31=10
            1 filled 40 @ 10 (E1)
        < 35=8|11=R7-1-0|37=V1|17=E2|150=4|39=4|38=100|14=40|151=0
            1 cancelled None
        < 35=8|11=R7-2-0|37=V2|17=E3|150=4|39=4|38=100|14=40|151=0
            2 cancelled None; FilledInAll { order: OrderId(2), quantity: 40 }
    "#]]
    .assert_eq(&story.told);
}

/// Where another adapter brings what is missing, FIX never does: it is told once.
#[test]
fn what_another_adapter_has_to_bring_is_missed_once() {
    let mut story = Story::new("binance-spot");
    story.submit(&order(1));
    story.told.clear();
    story.venue("8 11=R7-1-0|37=1|17=2|55=MSFT|150=0|39=1|38=100|14=40|151=60|44=10.5");
    story.venue("8 11=R7-1-0|37=1|17=3|55=MSFT|150=4|39=4|38=100|14=40|151=0");
    assert_eq!(story.told.matches("ALARM").count(), 1, "{}", story.told);
}

#[test]
fn a_refused_duplicate_does_not_end_the_order_that_lives() {
    let mut story = Story::new("generic-44");
    story.submit(&order(1));
    story.told.clear();
    story.venue("8 11=R7-1-0|37=V1|17=E1|150=8|39=8|38=100|14=0|151=0|103=6|58=duplicate");
    expect![[r#"
        < 35=8|11=R7-1-0|37=V1|17=E1|150=8|39=8|38=100|14=0|151=0|103=6|58=duplicate
            ALARM order 1: the venue refused the order as a duplicate: it has the first one
    "#]]
    .assert_eq(&story.told);
}
