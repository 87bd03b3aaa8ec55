//! Answers to questions about orders: status reports, one by one or for all open orders.

use adapter_fix::{Dialect, QuestionId, SHIPPED_DIALECTS, shipped_dialect};
use domain::order::{OrderRequest, PendingRequest, ReplaceRequest};
use domain::{Order, Source};
use expect_test::expect;

use crate::story::{INSTANCE, NOW, Story, order};

fn ask(story: &mut Story, order: &Order) {
    story.translator.chains.on_question(NOW.parse().unwrap(), order, None, None);
}

fn ask_by_mass_status(story: &mut Story, order: &Order, number: u64) {
    let id = QuestionId { begun_millis: 10, number };
    story.translator.chains.on_question(NOW.parse().unwrap(), order, Some(id), None);
}

#[test]
fn a_status_answers_the_question_and_counts_only_where_no_execution_is_missing() {
    let mut story = Story::new("generic-44");
    let held = Order { filled: 40.into(), ..order(1) };
    for answer in [
        "37=V1|17=0|150=I|39=1|38=100|44=10.5|14=40|151=60",
        "37=V1|17=0|150=I|39=1|38=100|44=10.5|14=70|151=30",
        "37=V1|17=0|150=I|39=1|38=100|44=10.5|14=10|151=90",
        "37=V1|17=0|150=I|39=4|38=100|14=40|151=0",
        "37=NONE|17=0|150=I|39=8|14=0|151=0|103=5|58=unknown",
        "37=V1|17=0|150=I|39=2|38=100|14=40|151=60",
    ] {
        ask(&mut story, &held);
        story.venue(&format!("8 11=R7-1-0|{answer}"));
    }
    story.venue("8 11=R7-1-0|37=V1|17=0|150=I|39=1|38=100|14=40|151=60");
    expect![[r#"
        < 35=8|11=R7-1-0|37=V1|17=0|150=I|39=1|38=100|44=10.5|14=40|151=60
            1 found as of 2026-11-16T12:00:00Z: Live, 100 @ 10.5 GTC
        < 35=8|11=R7-1-0|37=V1|17=0|150=I|39=1|38=100|44=10.5|14=70|151=30
            ALARM order 1: the venue has filled 70, but only 40 were reported
        < 35=8|11=R7-1-0|37=V1|17=0|150=I|39=1|38=100|44=10.5|14=10|151=90
            nothing
        < 35=8|11=R7-1-0|37=V1|17=0|150=I|39=4|38=100|14=40|151=0
            1 found as of 2026-11-16T12:00:00Z: Canceled, 100 @ 10.5 GTC
        < 35=8|11=R7-1-0|37=NONE|17=0|150=I|39=8|14=0|151=0|103=5|58=unknown
            1 not found as of 2026-11-16T12:00:00Z
        < 35=8|11=R7-1-0|37=V1|17=0|150=I|39=2|38=100|14=40|151=60
            ALARM order 1: the order is filled by OrdStatus (39), but CumQty (14) is 40, LeavesQty (151) 60, OrderQty (38) 100
        < 35=8|11=R7-1-0|37=V1|17=0|150=I|39=1|38=100|14=40|151=60
            nothing
    "#]]
    .assert_eq(&story.told);
}

#[test]
fn an_average_price_lets_the_engine_infer_what_is_missing_unless_the_dialect_or_a_drop_copy_speaks_against_it() {
    let generic = SHIPPED_DIALECTS[0].1;
    let without = generic.replace("trades = \"inferred\"", "trades = \"none\"");
    let told: Vec<String> = [(generic, false), (&without, false), (generic, true)]
        .into_iter()
        .map(|(dialect, has_drop_copy)| {
            let mut story = Story::of(Dialect::parse(dialect).unwrap());
            story.translator = story.translator.with_drop_copy(has_drop_copy);
            ask(&mut story, &Order { filled: 40.into(), ..order(1) });
            story.venue("8 11=R7-1-0|37=V1|17=0|150=I|39=4|38=100|44=10.5|14=70|151=0|6=10.44");
            story.told.lines().last().unwrap().trim().to_owned()
        })
        .collect();
    let alarm = "ALARM order 1: the venue has filled 70, but only 40 were reported";
    let found = "1 found as of 2026-11-16T12:00:00Z: Canceled, 100 @ 10.5 GTC, 70 filled @ 10.44 in all by 2026-11-16T12:00:00Z";
    assert_eq!(told, [found, alarm, alarm]);
}

/// Some venues fill TransactTime (60) of a status with the time at which the order was entered.
#[test]
fn a_total_has_what_was_executed_until_the_venue_wrote_it() {
    let until = |times: &str| {
        let mut story = Story::new("generic-44");
        ask(&mut story, &Order { filled: 40.into(), ..order(1) });
        story.venue(&format!("8 11=R7-1-0|37=V1|17=0|150=I|39=1|38=100|44=10.5|14=70|151=30|6=10.44{times}"));
        story.told.trim_end().rsplit(' ').next().unwrap().to_owned()
    };
    // SendingTime (52) is noon.
    assert_eq!(until(""), "2026-11-16T12:00:00Z");
    assert_eq!(until("|60=20261116-09:30:00"), "2026-11-16T12:00:00Z");
    assert_eq!(until("|60=20261116-12:00:05"), "2026-11-16T12:00:05Z");
    assert_eq!(until("|43=Y|122=20261116-11:59:00|60=20261116-09:30:00"), "2026-11-16T11:59:00Z");
}

#[test]
fn a_venue_that_has_less_filled_than_it_reported_is_an_alarm_when_it_says_so_again() {
    let mut story = Story::new("generic-44");
    let held = Order { filled: 40.into(), ..order(1) };
    let status = |cum_qty: i64| format!("8 11=R7-1-0|37=V1|17=0|150=I|39=1|38=100|14={cum_qty}|151={}", 100 - cum_qty);
    ask(&mut story, &held);
    story.venue("8 11=R7-1-0|37=V1|17=E2|150=F|39=1|38=100|14=60|151=40|32=20|31=10.5");
    story.venue(&status(40));
    let held = Order { filled: 60.into(), ..order(1) };
    for answer in [40, 40, 60, 40] {
        ask(&mut story, &held);
        story.venue(&status(answer));
    }
    expect![[r#"
        < 35=8|11=R7-1-0|37=V1|17=E2|150=F|39=1|38=100|14=60|151=40|32=20|31=10.5
            1 filled 20 @ 10.5 (E2)
        < 35=8|11=R7-1-0|37=V1|17=0|150=I|39=1|38=100|14=40|151=60
            nothing
        < 35=8|11=R7-1-0|37=V1|17=0|150=I|39=1|38=100|14=40|151=60
            nothing
        < 35=8|11=R7-1-0|37=V1|17=0|150=I|39=1|38=100|14=40|151=60
            ALARM order 1: the venue has filled 40, and 60 were reported
        < 35=8|11=R7-1-0|37=V1|17=0|150=I|39=1|38=100|14=60|151=40
            1 found as of 2026-11-16T12:00:00Z: Live, 100 @ 10.5 GTC
        < 35=8|11=R7-1-0|37=V1|17=0|150=I|39=1|38=100|14=40|151=60
            nothing
    "#]]
    .assert_eq(&story.told);
}

#[test]
fn what_a_mass_status_does_not_list_is_not_open() {
    let generic = SHIPPED_DIALECTS[0].1;
    let text = generic.replace("orders = \"status\"", "orders = \"mass-status\"");
    let mut story = Story::of(Dialect::parse(&text).unwrap());
    for id in [1, 2, 3] {
        ask_by_mass_status(&mut story, &order(id), 1);
    }
    story.venue("8 11=R7-1-0|37=V1|17=0|150=I|39=0|38=100|44=10.5|14=0|151=100|584=Ma-1|911=2|912=N");
    story.venue("8 11=R7-3-0|37=V3|17=0|150=I|39=0|38=100|44=10.5|14=0|151=100|584=Ma-1|911=2|912=Y");
    ask_by_mass_status(&mut story, &order(1), 2);
    story.venue("8 37=NONE|17=0|150=I|39=8|14=0|151=0|584=Ma-2|911=0|58=no open orders");
    expect![[r#"
        < 35=8|11=R7-1-0|37=V1|17=0|150=I|39=0|38=100|44=10.5|14=0|151=100|584=Ma-1|911=2|912=N
            1 found as of 2026-11-16T12:00:00Z: Live, 100 @ 10.5 GTC
        < 35=8|11=R7-3-0|37=V3|17=0|150=I|39=0|38=100|44=10.5|14=0|151=100|584=Ma-1|911=2|912=Y
            3 found as of 2026-11-16T12:00:00Z: Live, 100 @ 10.5 GTC; 2 not found as of 2026-11-16T12:00:00Z
        < 35=8|37=NONE|17=0|150=I|39=8|14=0|151=0|584=Ma-2|911=0|58=no open orders
            1 not found as of 2026-11-16T12:00:00Z
    "#]]
    .assert_eq(&story.told);
}

/// Two orders: their executions are asked for with the mass status, and come behind it. What is asked again meanwhile waits for its own answer.
#[test]
fn an_order_that_a_mass_status_lists_waits_for_its_executions() {
    let rialto = shipped_dialect("rialto").unwrap();
    let text = rialto.replace("orders = \"status\"", "orders = \"mass-status\"");
    let mut story = Story::of(Dialect::parse(&text).unwrap());
    story.translator.begun_millis = 10;
    let ask = |story: &mut Story, id: u64, mass: u64, capture: u64| {
        let [mass, capture] = [mass, capture].map(|number| QuestionId { begun_millis: 10, number });
        story.translator.on_executions_asked(capture, Some(domain::OrderId(id)));
        story.translator.chains.on_question(NOW.parse().unwrap(), &order(id), Some(mass), Some(capture));
    };
    ask(&mut story, 1, 1, 2);
    ask(&mut story, 2, 1, 3);
    ask(&mut story, 3, 1, 4);
    let listed = |id, last| {
        format!("8 11=R7-{id}-0|37=V{id}|17=0|150=I|39=1|38=100|44=10.5|14=40|151=60|584=Ma-1|911=2|912={last}")
    };
    let execution = |id, capture| {
        format!(
            "AE 571=E|568=Ta-{capture}|748=1|912=Y|17=E{id}|150=F|570=Y|55=MSFT|32=40|31=10.5|552=1|54=1|11=R7-{id}-0"
        )
    };
    story.venue(&listed(1, "N"));
    ask(&mut story, 1, 5, 6);
    story.venue(&listed(2, "Y"));
    story.venue(&execution(2, 3));
    story.venue(&execution(1, 6));
    story.venue(&listed(1, "Y").replace("Ma-1", "Ma-5"));
    expect![[r#"
        < 35=8|11=R7-1-0|37=V1|17=0|150=I|39=1|38=100|44=10.5|14=40|151=60|584=Ma-1|911=2|912=N
            nothing
        < 35=8|11=R7-2-0|37=V2|17=0|150=I|39=1|38=100|44=10.5|14=40|151=60|584=Ma-1|911=2|912=Y
            3 not found as of 2026-11-16T12:00:00Z
        < 35=AE|571=E|568=Ta-3|748=1|912=Y|17=E2|150=F|570=Y|55=MSFT|32=40|31=10.5|552=1|54=1|11=R7-2-0
            2 found as of 2026-11-16T12:00:00Z: Live, 100 @ 10.5 GTC, 40 @ 10.5 (E2)
        < 35=AE|571=E|568=Ta-6|748=1|912=Y|17=E1|150=F|570=Y|55=MSFT|32=40|31=10.5|552=1|54=1|11=R7-1-0
            nothing
        < 35=8|11=R7-1-0|37=V1|17=0|150=I|39=1|38=100|44=10.5|14=40|151=60|584=Ma-5|911=2|912=Y
            1 found as of 2026-11-16T12:00:00Z: Live, 100 @ 10.5 GTC, 40 @ 10.5 (E1)
    "#]]
    .assert_eq(&story.told);
}

/// Deribit has its own id in ClOrdID (11) there, and ours in OrigClOrdID (41).
#[test]
fn the_last_order_of_a_mass_status_is_found_where_the_venue_names_orders_by_its_own_ids() {
    let mut story = Story::new("deribit");
    for id in [1, 2] {
        ask_by_mass_status(&mut story, &order(id), 1);
    }
    let open = "37=8000001|55=MSFT|38=100|44=10.5|150=I|39=0|14=0|151=100|584=Ma-1|911=1|912=Y";
    story.venue(&format!("8 11=8000001|41=R7-1-0|{open}"));
    expect![[r#"
        < 35=8|11=8000001|41=R7-1-0|37=8000001|55=MSFT|38=100|44=10.5|150=I|39=0|14=0|151=100|584=Ma-1|911=1|912=Y
            1 found as of 2026-11-16T12:00:00Z: Live, 100 @ 10.5 GTC; 2 not found as of 2026-11-16T12:00:00Z
    "#]]
    .assert_eq(&story.told);
}

#[test]
fn the_end_of_a_mass_status_does_not_answer_a_question_from_after_it() {
    let generic = SHIPPED_DIALECTS[0].1;
    let text = generic.replace("orders = \"status\"", "orders = \"mass-status\"");
    let mut story = Story::of(Dialect::parse(&text).unwrap());
    ask_by_mass_status(&mut story, &order(1), 1);
    ask_by_mass_status(&mut story, &order(2), 2);
    let open = "17=0|150=I|39=0|38=100|44=10.5|14=0|151=100";
    // Of the process before, and of the first question.
    story.venue("8 37=NONE|17=0|150=I|39=8|14=0|151=0|584=M9-7|911=0");
    story.venue(&format!("8 11=R7-2-0|37=V2|{open}|584=Ma-1|911=2|912=N"));
    story.venue(&format!("8 11=R7-3-0|37=V3|{open}|584=Ma-1|911=2|912=Y"));
    story.venue(&format!("8 11=R7-2-0|37=V2|{open}|584=Ma-2|911=1|912=Y"));
    expect![[r#"
        < 35=8|37=NONE|17=0|150=I|39=8|14=0|151=0|584=M9-7|911=0
            nothing
        < 35=8|11=R7-2-0|37=V2|17=0|150=I|39=0|38=100|44=10.5|14=0|151=100|584=Ma-1|911=2|912=N
            nothing
        < 35=8|11=R7-3-0|37=V3|17=0|150=I|39=0|38=100|44=10.5|14=0|151=100|584=Ma-1|911=2|912=Y
            1 not found as of 2026-11-16T12:00:00Z
        < 35=8|11=R7-2-0|37=V2|17=0|150=I|39=0|38=100|44=10.5|14=0|151=100|584=Ma-2|911=1|912=Y
            2 found as of 2026-11-16T12:00:00Z: Live, 100 @ 10.5 GTC
    "#]]
    .assert_eq(&story.told);
}

#[test]
fn after_a_start_an_order_is_asked_about_by_the_newest_id_that_the_venue_has() {
    let chains = Story::new("generic-44").translator.chains;
    let request = OrderRequest { cl_ord_id: None, source: Source::Rest, requested_by: None, reason: None };
    let cancel = |overtaken| PendingRequest::Cancel(Box::new(request.clone()), overtaken);
    let replace = PendingRequest::Replace(Box::new(request.clone()), Box::new(order(1).terms));
    let overtaken = Box::new(ReplaceRequest { request: request.clone(), terms: order(1).terms });
    let asked =
        |revision, pending| chains.inquiry_id(INSTANCE, &Order { revision, request: 3, pending, ..order(1) }).request;
    assert_eq!(asked(0, PendingRequest::Nothing), 0, "it was never replaced");
    assert_eq!(asked(1, PendingRequest::Nothing), 3);
    assert_eq!([asked(1, cancel(None)), asked(1, replace)], [2, 2]);
    assert_eq!(asked(1, cancel(Some(overtaken))), 1);
}

/// Only OrdRejReason (103) 5, or none at all, says that the venue does not know the order.
#[test]
fn a_question_that_is_refused_says_nothing_of_the_order() {
    for dialect in ["generic-44", "rialto"] {
        let mut story = Story::new(dialect);
        story.translator.begun_millis = 10;
        let capture = (dialect == "rialto").then_some(QuestionId { begun_millis: 10, number: 1 });
        for answer in ["103=2|58=closed", "103=99|58=busy", "103=5|58=unknown", "58=unknown"] {
            story.translator.chains.on_question(NOW.parse().unwrap(), &order(1), None, capture);
            story.venue(&format!("8 11=R7-1-0|37=NONE|17=0|150=I|39=8|14=0|151=0|{answer}"));
        }
        story.venue("8 11=R7-1-0|37=V1|17=0|150=I|39=8|38=100|14=0|151=0|103=3|58=too much");
        let told: Vec<&str> = story.told.lines().filter_map(|line| line.strip_prefix("    ")).collect();
        let refused = |reason| format!("ALARM order 1: the venue refused the question about the order: {reason}");
        let unknown = "1 not found as of 2026-11-16T12:00:00Z".to_owned();
        let expected = [refused("closed"), refused("busy"), unknown.clone(), unknown, "nothing".to_owned()];
        assert_eq!(told, expected, "{dialect}: {}", story.told);
    }
}

/// An order that the venue rejected has its id there.
#[test]
fn an_order_that_was_rejected_is_found_so_with_its_reason() {
    let mut story = Story::new("generic-44");
    ask(&mut story, &order(1));
    story.venue("8 11=R7-1-0|37=V1|17=0|150=I|39=8|38=100|14=0|151=0|103=3|58=too much");
    let found = "    1 found as of 2026-11-16T12:00:00Z: Rejected, 100 @ 10.5 GTC";
    assert_eq!(story.told.lines().last(), Some(found), "{}", story.told);
}

#[test]
fn a_mass_status_that_is_refused_finds_no_order_missing() {
    let mut story = Story::new("deribit");
    ask_by_mass_status(&mut story, &order(1), 1);
    ask_by_mass_status(&mut story, &order(2), 1);
    story.venue("8 37=NONE|17=0|150=I|39=8|14=0|151=0|584=Ma-1|911=0|103=99|58=busy");
    let refused = |id| format!("ALARM order {id}: the venue refused the question about the order: busy");
    let told = story.told.lines().last().map(str::trim);
    assert_eq!(told, Some(format!("{}; {}", refused(1), refused(2)).as_str()), "{}", story.told);
}

#[test]
fn an_order_whose_newest_request_was_refused_is_found_by_an_older_id() {
    let mut story = Story::new("generic-44");
    // Replaced by its request 1; the cancel that was its request 2 never left.
    let held = Order { revision: 1, request: 2, ..order(1) };
    let unknown = "37=NONE|17=0|150=I|39=8|14=0|151=0|103=5";
    let mut ask_by = |answer: &str| {
        let id = story.translator.chains.inquiry_id(INSTANCE, &held);
        ask(&mut story, &held);
        story.venue(&format!("8 11=R7-1-{}|{answer}", id.request));
    };
    ask_by(unknown);
    ask_by("37=V1|17=0|150=I|39=0|38=100|44=10.5|14=0|151=100");
    ask_by(unknown);
    ask_by(unknown);
    ask_by(unknown);
    expect![[r#"
        < 35=8|11=R7-1-2|37=NONE|17=0|150=I|39=8|14=0|151=0|103=5
            1 is asked about again
        < 35=8|11=R7-1-1|37=V1|17=0|150=I|39=0|38=100|44=10.5|14=0|151=100
            1 found as of 2026-11-16T12:00:00Z: Live, 100 @ 10.5 GTC
        < 35=8|11=R7-1-1|37=NONE|17=0|150=I|39=8|14=0|151=0|103=5
            1 is asked about again
        < 35=8|11=R7-1-2|37=NONE|17=0|150=I|39=8|14=0|151=0|103=5
            1 is asked about again
        < 35=8|11=R7-1-0|37=NONE|17=0|150=I|39=8|14=0|151=0|103=5
            1 not found as of 2026-11-16T12:00:00Z
    "#]]
    .assert_eq(&story.told);
}

#[test]
fn a_question_of_a_lost_connection_has_no_answer() {
    let mut story = Story::new("generic-44");
    ask(&mut story, &order(1));
    story.translator.chains.on_disconnected(false);
    story.venue("8 11=R7-1-0|37=V1|17=0|150=I|39=0|38=100|14=0|151=100");
    assert!(story.told.ends_with("nothing\n"), "{}", story.told);
}

/// After a start the id by which the venue knows a replaced order is a guess: here the newest requests, cancels that never left, are not it.
#[test]
fn an_order_whose_cancel_was_refused_as_unknown_is_asked_about_and_the_next_cancel_names_it_rightly() {
    let mut story = Story::new("generic-44");
    let held = |request| Order { request, revision: 1, ..order(1) };
    story.cancel(&held(3));
    story.venue("9 11=R7-1-3|41=R7-1-2|37=NONE|39=8|434=1|102=1");
    ask(&mut story, &held(3));
    story.venue("8 11=R7-1-1|37=V1|17=0|150=I|39=0|38=100|44=10.5|14=0|151=100");
    story.cancel(&held(4));
    story.venue("9 11=R7-1-4|41=R7-1-1|37=V1|39=0|434=1|102=2|58=not now");
    expect![[r#"
        > 35=F|11=R7-1-3|38=100|41=R7-1-2|54=1|55=MSFT|60=20261116-12:00:00.000
        < 35=9|11=R7-1-3|41=R7-1-2|37=NONE|39=8|434=1|102=1
            1 cancel refused: CxlRejReason (102) 1; 1 in doubt: the venue refused a request about the order, and may not have it as it is here
        < 35=8|11=R7-1-1|37=V1|17=0|150=I|39=0|38=100|44=10.5|14=0|151=100
            1 found as of 2026-11-16T12:00:00Z: Live, 100 @ 10.5 GTC
        > 35=F|11=R7-1-4|38=100|41=R7-1-1|54=1|55=MSFT|60=20261116-12:00:00.000
        < 35=9|11=R7-1-4|41=R7-1-1|37=V1|39=0|434=1|102=2|58=not now
            1 cancel refused: not now
    "#]]
    .assert_eq(&story.told);
}
