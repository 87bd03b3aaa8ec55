//! What a venue says about an account: executions of an order with the answer about it, and positions.

use adapter_fix::{CaptureScope, Dialect, OpenPositions, PositionStep, QuestionId, position_request, trade_capture};
use domain::{AccountId, Order, SecurityId, Timestamp};
use expect_test::expect;
use fix::FixDecoder;

use crate::story::{INSTANCE, NOW, Story, frame, order, shown};

const QUESTION: QuestionId = QuestionId { begun_millis: 10, number: 3 };
const STATUS: &str = "8 11=R7-1-0|37=V1|17=0|150=I|39=1|38=100|40=2|44=10.5|59=1|14=70|151=30";

/// The engine has booked 40 of the order, and asks.
fn asked(dialect: &str) -> Story {
    let mut story = Story::new(dialect);
    story.translator.begun_millis = QUESTION.begun_millis;
    let held = Order { filled: 40.into(), ..order(1) };
    story.translator.on_executions_asked(QUESTION, Some(held.id));
    story.translator.chains.on_question(NOW.parse().unwrap(), &held, None, Some(QUESTION));
    story
}

fn execution(id: &str, quantity: u32, last: &str) -> String {
    format!(
        "AE 571={id}|568=Ta-3|748=2|912={last}|17={id}|150=F|570=Y|55=MSFT|32={quantity}|31=10.5|75=20261116|\
         60=20261116-11:00:00|552=1|54=1|37=V1|11=R7-1-0"
    )
}

#[test]
fn the_answer_about_an_order_waits_for_its_executions() {
    for is_status_first in [true, false] {
        let mut story = asked("rialto");
        if is_status_first {
            story.venue(STATUS);
        }
        story.venue("AQ 568=Ta-3|569=1|748=2|749=0|750=0|55=[N/A]");
        story.venue(&execution("E1", 40, "N"));
        story.venue(&execution("E2", 30, "Y"));
        if !is_status_first {
            story.venue(STATUS);
        }
        let answer =
            story.told.lines().filter(|line| line.starts_with("    ")).filter(|line| !line.ends_with("nothing"));
        let found = "    1 found as of 2026-11-16T12:00:00Z: Live, 100 @ 10.5 GTC, 40 @ 10.5 (E1), 30 @ 10.5 (E2)";
        assert_eq!(answer.collect::<Vec<_>>(), [found], "{}", story.told);
        // The report of what was missed comes late, and is the same execution.
        story.venue("8 11=R7-1-0|37=V1|17=E2|150=F|39=1|38=100|14=70|151=30|32=30|31=10.5");
        assert!(story.told.ends_with("    1 filled 30 @ 10.5 (E2)\n"), "{}", story.told);
    }
}

/// E1 of 40 is corrected to E2 of 30, and that to E3 of 20; E4 is busted by E5. The reports that said so are lost.
const REVISED: [&str; 3] = [
    "AE 571=E2|568=Ta-3|748=3|912=N|17=E2|150=H|487=1|572=E1|570=Y|55=MSFT|32=30|31=10.4|75=20261116|60=20261116-11:00:01|552=1|54=1|\
     37=V1|11=R7-1-0",
    "AE 571=E3|568=Ta-3|748=3|912=N|17=E3|150=G|487=2|572=E2|570=Y|55=MSFT|32=20|31=10.3|75=20261116|60=20261116-11:00:02|552=1|54=1|\
     37=V1|11=R7-1-0",
    "AE 571=E5|568=Ta-3|748=3|912=Y|17=E5|150=H|487=1|572=E4|570=Y|55=MSFT|32=9|31=10.5|75=20261116|60=20261116-11:00:03|552=1|54=1|\
     37=V1|11=R7-1-0",
];
const LESS: &str = "8 11=R7-1-0|37=V1|17=0|150=I|39=1|38=100|40=2|44=10.5|59=1|14=20|151=80";

/// With the reports of before, and after a start without them.
#[test]
fn the_answer_about_an_order_takes_back_what_was_busted_or_corrected() {
    for is_reported in [true, false] {
        let mut story = Story::new("rialto");
        story.translator.begun_millis = QUESTION.begun_millis;
        let held = Order { filled: 49.into(), ..order(1) };
        if is_reported {
            story.venue("8 11=R7-1-0|37=V1|17=E1|150=F|39=1|38=100|14=40|151=60|32=40|31=10.5");
            story.venue("8 11=R7-1-0|37=V1|17=E4|150=F|39=1|38=100|14=49|151=51|32=9|31=10.5");
        }
        story.translator.on_executions_asked(QUESTION, Some(held.id));
        story.translator.chains.on_question(NOW.parse().unwrap(), &held, None, Some(QUESTION));
        REVISED.iter().for_each(|message| story.venue(message));
        story.venue(LESS);
        let answer = story.told.lines().filter(|line| line.starts_with("    "));
        let answer = answer.filter(|line| !line.ends_with("nothing")).skip(if is_reported { 2 } else { 0 });
        let expected = [
            "1 takes back E1 at 2026-11-16T11:00:01Z",
            "1 takes back E2 for 20 @ 10.3 (E3) at 2026-11-16T11:00:02Z",
            "1 takes back E4 at 2026-11-16T11:00:03Z",
            "1 found as of 2026-11-16T12:00:00Z: Live, 100 @ 10.5 GTC, 20 @ 10.3 (E3)",
        ];
        assert_eq!(answer.collect::<Vec<_>>(), [format!("    {}", expected.join("; "))], "{}", story.told);
        // What comes next adds up.
        story.venue("8 11=R7-1-0|37=V1|17=E6|150=F|39=1|38=100|14=30|151=70|32=10|31=10.5");
        assert!(story.told.ends_with("    1 filled 10 @ 10.5 (E6)\n"), "{}", story.told);
    }
}

/// A venue may tell the trade before, and name it by ExecRefID (19).
#[test]
fn what_an_answer_takes_back_again_is_none_of_its_executions() {
    let mut story = asked("rialto");
    let bust = execution("E3", 40, "Y").replace("150=F", "150=H|487=1|19=E1");
    for report in [execution("E1", 40, "N"), execution("E2", 30, "N"), bust] {
        story.venue(&report.replace("748=2", "748=3"));
    }
    story.venue("8 11=R7-1-0|37=V1|17=0|150=I|39=1|38=100|40=2|44=10.5|59=1|14=30|151=70");
    let answer = story.told.lines().filter(|line| line.starts_with("    ")).filter(|line| !line.ends_with("nothing"));
    let expected = "    1 takes back E1 at 2026-11-16T11:00:00Z; \
                    1 found as of 2026-11-16T12:00:00Z: Live, 100 @ 10.5 GTC, 30 @ 10.5 (E2)";
    assert_eq!(answer.collect::<Vec<_>>(), [expected], "{}", story.told);
}

/// A trade that is backed out of is busted.
#[test]
fn a_trade_that_is_backed_out_of_is_taken_back() {
    let mut story = asked("rialto");
    story.venue(&execution("E1", 40, "N"));
    story.venue(&execution("E2", 40, "Y").replace("150=F", "150=F|487=5|572=E1"));
    story.venue("8 11=R7-1-0|37=V1|17=0|150=I|39=0|38=100|40=2|44=10.5|59=1|14=0|151=100");
    let expected =
        "    1 takes back E1 at 2026-11-16T11:00:00Z; 1 found as of 2026-11-16T12:00:00Z: Live, 100 @ 10.5 GTC";
    assert_eq!(story.told.lines().last(), Some(expected), "{}", story.told);
}

/// One that is released or reversed (3, 4), or a code that is not of the standard, is no new trade: the answer is not used.
#[test]
fn an_execution_of_another_kind_spoils_its_answer() {
    for code in ["3", "4", "9"] {
        let mut story = asked("rialto");
        story.venue(&execution("E1", 40, "N"));
        story.venue(&execution("E2", 30, "Y").replace("150=F", &format!("150=F|487={code}")));
        story.venue(STATUS);
        let alarm = "    ALARM order 1: the venue has filled 70, but only 40 were reported";
        assert_eq!(story.told.lines().last(), Some(alarm), "{code}: {}", story.told);
    }
}

#[test]
fn of_two_corrections_under_one_id_the_newest_counts() {
    let mut story = asked("rialto");
    let corrected = |quantity, last| execution("E1", quantity, last).replace("150=F", "150=G|487=2|572=E1");
    story.venue(&corrected(30, "N"));
    story.venue(&corrected(20, "Y"));
    story.venue(LESS);
    let expected = "    1 takes back E1 for 20 @ 10.5 (E1) at 2026-11-16T11:00:00Z; \
                    1 found as of 2026-11-16T12:00:00Z: Live, 100 @ 10.5 GTC, 20 @ 10.5 (E1)";
    assert_eq!(story.told.lines().last(), Some(expected), "{}", story.told);
}

/// Each correction names the first execution (572), not the one that counts since the correction before.
#[test]
fn of_two_corrections_that_name_the_same_execution_the_newest_counts() {
    let corrected = |id: &str, quantity, last| execution(id, quantity, last).replace("150=F", "150=G|487=2|572=E1");
    let mut story = asked("rialto");
    for report in [execution("E1", 40, "N"), corrected("E2", 30, "N"), corrected("E3", 20, "Y")] {
        story.venue(&report.replace("748=2", "748=3"));
    }
    story.venue(LESS);
    let expected = [
        "1 takes back E1 for 30 @ 10.5 (E2) at 2026-11-16T11:00:00Z",
        "1 takes back E2 for 20 @ 10.5 (E3) at 2026-11-16T11:00:00Z",
        "1 found as of 2026-11-16T12:00:00Z: Live, 100 @ 10.5 GTC, 20 @ 10.5 (E3)",
    ];
    assert_eq!(story.told.lines().last(), Some(format!("    {}", expected.join("; ")).as_str()), "{}", story.told);
}

/// The second one comes in an answer of its own: what is filled follows it all the same.
#[test]
fn a_correction_of_what_was_corrected_before_is_one_of_its_correction() {
    let corrected = |id: &str, quantity| {
        let report = execution(id, quantity, "Y").replace("150=F", "150=G|487=2|572=E1");
        report.replace("748=2", "748=1")
    };
    let mut story = Story::new("rialto");
    story.translator.begun_millis = QUESTION.begun_millis;
    story.venue("8 11=R7-1-0|37=V1|17=E1|150=F|39=1|38=100|14=40|151=60|32=40|31=10.5");
    for (booked, id, quantity) in [(40, "E2", 30), (30, "E3", 20)] {
        let held = Order { filled: booked.into(), ..order(1) };
        story.translator.on_executions_asked(QUESTION, Some(held.id));
        story.translator.chains.on_question(NOW.parse().unwrap(), &held, None, Some(QUESTION));
        story.venue(&corrected(id, quantity));
        story.venue(&LESS.replace("14=20|151=80", &format!("14={quantity}|151={}", 100 - quantity)));
    }
    let expected = "    1 takes back E1 for 20 @ 10.5 (E3) at 2026-11-16T11:00:00Z; \
                    1 found as of 2026-11-16T12:00:00Z: Live, 100 @ 10.5 GTC, 20 @ 10.5 (E3)";
    assert_eq!(story.told.lines().last(), Some(expected), "{}", story.told);
    // What comes next adds up.
    story.venue("8 11=R7-1-0|37=V1|17=E4|150=F|39=1|38=100|14=30|151=70|32=10|31=10.5");
    assert!(story.told.ends_with("    1 filled 10 @ 10.5 (E4)\n"), "{}", story.told);
}

/// A broker that tells the executions of today alone, of an order that was filled before too. Without the reports of before it is not known
/// whether what is taken back is booked: the engine books it, and asks again.
#[test]
fn an_answer_with_a_part_of_the_executions_takes_back_without_an_alarm() {
    let correction = "AE 571=E2|568=Ta-3|748=1|912=Y|17=E2|150=G|487=2|572=E1|570=Y|55=MSFT|32=20|31=10.4|75=20261116|\
                      60=20261116-11:00:01|552=1|54=1|37=V1|11=R7-1-0";
    let status = LESS.replace("14=20|151=80", "14=50|151=50");
    let taken_back = "1 takes back E1 for 20 @ 10.4 (E2) at 2026-11-16T11:00:01Z";
    let found = format!("{taken_back}; 1 found as of 2026-11-16T12:00:00Z: Live, 100 @ 10.5 GTC, 20 @ 10.4 (E2)");
    for is_reported in [true, false] {
        let mut story = Story::new("rialto");
        story.translator.begun_millis = QUESTION.begun_millis;
        if is_reported {
            story.venue("8 11=R7-1-0|37=V1|17=E0|150=F|39=1|38=100|14=30|151=70|32=30|31=10.5");
            story.venue("8 11=R7-1-0|37=V1|17=E1|150=F|39=1|38=100|14=60|151=40|32=30|31=10.5");
        }
        story.told.clear();
        for filled in [60, 50] {
            let held = Order { filled: filled.into(), ..order(1) };
            story.translator.on_executions_asked(QUESTION, Some(held.id));
            story.translator.chains.on_question(NOW.parse().unwrap(), &held, None, Some(QUESTION));
            story.venue(correction);
            story.venue(&status);
        }
        let answers = story.told.lines().filter_map(|line| line.strip_prefix("    "));
        let first = if is_reported { found.as_str() } else { taken_back };
        assert_eq!(answers.collect::<Vec<_>>(), ["nothing", first, "nothing", &found], "{}", story.told);
    }
}

#[test]
fn half_an_answer_counts_for_nothing() {
    let mut story = asked("rialto");
    story.venue(STATUS);
    story.venue("AE 571=E1|568=Tb-3|912=Y|17=E1|570=Y|32=70|31=10.5|75=20261116|60=20261116-11:00:00|552=1|54=1|37=V1|11=R7-1-0");
    story.venue("AE 571=E1|568=Ta-3|748=1|912=Y|17=E1|570=Y|31=10.5|75=20261116|60=20261116-11:00:00|552=1|54=1|37=V1|11=R7-1-0");
    expect![[r#"
        < 35=8|11=R7-1-0|37=V1|17=0|150=I|39=1|38=100|40=2|44=10.5|59=1|14=70|151=30
            nothing
        < 35=AE|571=E1|568=Tb-3|912=Y|17=E1|570=Y|32=70|31=10.5|75=20261116|60=20261116-11:00:00|552=1|54=1|37=V1|11=R7-1-0
            nothing
        < 35=AE|571=E1|568=Ta-3|748=1|912=Y|17=E1|570=Y|31=10.5|75=20261116|60=20261116-11:00:00|552=1|54=1|37=V1|11=R7-1-0
            ALARM order 1: the venue has filled 70, but only 40 were reported
    "#]].assert_eq(&story.told);
    let mut story = asked("rialto");
    story.venue("AQ 568=Ta-3|569=1|749=99|750=2|55=[N/A]|58=too-many-trades");
    story.venue(STATUS);
    expect![[r#"
        < 35=AQ|568=Ta-3|569=1|749=99|750=2|55=[N/A]|58=too-many-trades
            nothing
        < 35=8|11=R7-1-0|37=V1|17=0|150=I|39=1|38=100|40=2|44=10.5|59=1|14=70|151=30
            ALARM order 1: the venue has filled 70, but only 40 were reported
    "#]]
    .assert_eq(&story.told);
}

#[test]
fn an_order_that_the_venue_does_not_know_needs_no_executions() {
    let mut story = asked("rialto");
    story.venue("8 11=R7-1-0|37=NONE|17=0|150=I|39=8|14=0|151=0|103=5|58=unknown");
    story.venue("AQ 568=Ta-3|569=1|748=0|749=0|750=1|55=[N/A]");
    expect![[r#"
        < 35=8|11=R7-1-0|37=NONE|17=0|150=I|39=8|14=0|151=0|103=5|58=unknown
            1 not found as of 2026-11-16T12:00:00Z
        < 35=AQ|568=Ta-3|569=1|748=0|749=0|750=1|55=[N/A]
            nothing
    "#]]
    .assert_eq(&story.told);
}

#[test]
fn a_second_order_with_a_known_id_leaves_no_doubt_about_the_first() {
    let mut story = Story::new("rialto");
    let sent = order(1);
    let refused = "8 11=R7-1-0|37=NONE|17=2|150=8|39=8|38=100|14=0|151=0|103=6|58=duplicate-order";
    story.submit(&sent);
    story.venue(refused);
    story.venue("8 11=R7-1-0|37=V1|17=3|150=0|39=0|38=100|14=0|151=100");
    story.submit(&sent);
    story.venue(refused);
    let told: Vec<_> = story.told.lines().filter(|line| line.starts_with("    ")).collect();
    assert_eq!(
        told,
        [
            "    ALARM order 1: the venue refused the order as a duplicate: it has the first one",
            "    1 accepted as Some(\"V1\")",
            "    nothing"
        ]
    );
}

#[test]
fn questions_about_the_account_as_messages() {
    let dialect = Dialect::shipped("rialto").unwrap();
    let ids = adapter_fix::ClientIds::new(INSTANCE, dialect.ids.clone());
    let at: Timestamp = NOW.parse().unwrap();
    let known = domain::WireId { instance: INSTANCE, order: domain::OrderId(1), request: 2 };
    let lines = [
        adapter_fix::mass_status(&dialect, QUESTION, true),
        adapter_fix::mass_status(&dialect, QUESTION, false),
        trade_capture(&dialect, &ids, QUESTION, CaptureScope::Order(known)),
        trade_capture(&dialect, &ids, QUESTION, CaptureScope::Since(at)),
        trade_capture(&dialect, &ids, QUESTION, CaptureScope::Oldest(at, 1_000)),
        position_request(&dialect, QUESTION, "DESK", at),
    ];
    let lines: String = lines.iter().map(|message| shown(message) + "\n").collect();
    expect![[r#"
        35=AF|584=Ma-3|585=7|7004=Y
        35=AF|584=Ma-3|585=7
        35=AD|11=R7-1-2|568=Ta-3|569=1|7005=Y
        35=AD|568=Ta-3|569=1|580=1|75=20261116|60=20261116-12:00:00.000|7005=Y
        35=AD|568=Ta-3|569=1|580=1|75=20261116|60=20261116-12:00:00.000|7005=Y|7007=1000
        35=AN|1=DESK|60=20261116-12:00:00.000|581=1|710=Pa-3|715=20261116|724=0
    "#]]
    .assert_eq(&lines);
}

#[test]
fn positions_count_when_all_of_them_have_come() {
    let told = |messages: &[(&str, Option<u64>)]| {
        let mut open = OpenPositions::default();
        open.begin(QUESTION, NOW.parse().unwrap(), AccountId(1));
        let steps = messages.iter().map(|(message, security)| {
            let (msg_type, fields) = message.split_once(' ').unwrap();
            let frame = frame("FIX.4.4", msg_type, fields);
            let mut decoder = FixDecoder::new();
            match open.on_message(&decoder.decode(&frame).unwrap(), security.map(SecurityId)) {
                PositionStep::Waiting => "waits".to_owned(),
                PositionStep::Refused(reason) => format!("refused: {reason}"),
                PositionStep::Stated(statement) => {
                    let held = statement.positions.iter().map(|held| format!("{} {}", held.security, held.quantity));
                    format!("holds {:?}", held.collect::<Vec<_>>())
                }
            }
        });
        steps.collect::<Vec<_>>().join(", ")
    };
    let ack = ("AO 710=Pa-3|727=2|728=0|729=0", None);
    let long = ("AP 710=Pa-3|727=2|728=0|55=A|702=2|703=SOD|704=1|703=TOT|704=9|705=2", Some(1));
    let short = ("AP 710=Pa-3|727=2|728=0|55=B|702=1|703=TOT|705=5", Some(2));
    let stories = [
        told(&[ack, long, short]),
        told(&[ack, long, ("AP 710=Pa-3|727=2|728=0|55=C|702=1|703=TOT|704=1", None)]),
        told(&[("AO 710=Pa-3|727=0|728=2|729=0", None)]),
        told(&[("AO 710=Pa-3|728=3|729=2|58=no-right", None), long]),
        told(&[ack, ("AP 710=Pa-3|727=2|728=0|55=A|702=1|703=TOT|704=x", Some(1)), short]),
        told(&[("AO 710=Pa-2|727=0|728=2|729=0", None)]),
    ];
    expect![[r#"
        waits, waits, holds ["1 7", "2 -5"]
        waits, waits, holds ["1 7"]
        holds []
        refused: no-right, waits
        waits, refused: a position cannot be read, waits
        waits
    "#]]
    .assert_eq(&(stories.join("\n") + "\n"));
}
