//! Status requests: scope, and rejections.

use domain::{ReferenceData, Timestamp};
use expect_test::expect;
use fix::{FixDecoder, OutgoingMessage};

use super::harness::{GatewayHarness, in_full, wire};
use crate::translate::{
    MessageReject, MessageRow, RequestEcho, RequestScope, application_not_available, status_request_rejected,
    unknown_order,
};

fn scope(text: &str, reference: &ReferenceData) -> String {
    let bytes = wire(text);
    let mut decoder = FixDecoder::new();
    let message = decoder.decode(&bytes).unwrap();
    match RequestScope::from_message(&message, reference) {
        Ok(scope) => format!("{text} => {scope:?}\n"),
        Err(reject) => format!(
            "{text} => {}\n",
            in_full(&status_request_rejected(&RequestEcho::from_message(&message), 4, &reject))
        ),
    }
}

#[test]
fn a_question_about_many_orders_says_which() {
    let floor = GatewayHarness::literal();
    let questions = [
        "35=AF|584=A|585=7",
        "35=AF|584=A|585=1|48=3",
        "35=AF|584=A|585=1|48=US0378331005|22=4",
        "35=AF|584=A|585=1|55=IBM",
        "35=AF|584=A|585=1|48=9",
        "35=AF|584=A|585=1",
        "35=AF|584=A|585=3",
    ];
    let told: String = questions.iter().map(|question| scope(question, floor.reference())).collect();
    expect![[r#"
        35=AF|584=A|585=7 => All
        35=AF|584=A|585=1|48=3 => Security(SecurityId(3))
        35=AF|584=A|585=1|48=US0378331005|22=4 => Security(SecurityId(1))
        35=AF|584=A|585=1|55=IBM => Security(SecurityId(3))
        35=AF|584=A|585=1|48=9 => 35=j|45=4|58=unknown-security: SecurityID (48) 9 is not known|372=AF|379=A|380=2
        35=AF|584=A|585=1 => 35=j|45=4|58=missing-field: SecurityID (48) is needed|372=AF|379=A|380=0
        35=AF|584=A|585=3 => 35=j|45=4|58=not-offered: MassStatusReqType (585) is 1 (by security, with 48 or 55) or 7 (all)|372=AF|379=A|380=0
    "#]].assert_eq(&told);
}

#[test]
fn where_there_is_no_order_the_answer_names_what_was_asked_for() {
    let texts = ["35=H|11=X", "35=H|37=p1", "35=AF|584=A|585=7", "35=AF|584=A|585=1|48=3", "35=AF|584=A|585=1|55=IBM"];
    let told = texts.map(|text| {
        let echo = RequestEcho::from_message(&FixDecoder::new().decode(&wire(text)).unwrap());
        let answer = in_full(&unknown_order(&echo, Timestamp(0), "id"));
        let said = answer.split('|').find(|field| field.starts_with("58=")).unwrap_or_default();
        format!("{text} => {said}\n")
    });
    expect![[r#"
        35=H|11=X => 58=unknown-order: order X is neither open nor of today or yesterday
        35=H|37=p1 => 58=unknown-order: order p1 is neither open nor of today or yesterday
        35=AF|584=A|585=7 => 58=unknown-order: none of your orders is open
        35=AF|584=A|585=1|48=3 => 58=unknown-order: none of your orders in SecurityID (48) 3 is open
        35=AF|584=A|585=1|55=IBM => 58=unknown-order: none of your orders in Symbol (55) IBM is open
    "#]]
    .assert_eq(&told.concat());
}

#[test]
fn an_engine_without_time_is_no_answer_about_orders() {
    let echo = |text: &str| RequestEcho::from_message(&FixDecoder::new().decode(&wire(text)).unwrap());
    let busy = MessageReject::other("busy", "the platform has too much to do, try again");
    let question = application_not_available(&echo("35=H|11=X"), 7, &busy);
    expect!["35=j|45=7|58=busy: the platform has too much to do, try again|372=H|379=X|380=4"]
        .assert_eq(&in_full(&question));
}

#[test]
fn an_answer_repeats_no_id_and_shows_no_value_that_makes_it_longer_than_a_record() {
    let echo = |text: &str| RequestEcho::from_message(&FixDecoder::new().decode(&wire(text)).unwrap());
    let busy = MessageReject::other("busy", "try again");
    let (fits, long) = ("é".repeat(64), "é".repeat(65));
    let repeats =
        |id: &str| in_full(&application_not_available(&echo(&format!("35=H|11={id}")), 7, &busy)).contains("|379=");
    assert_eq!([repeats(&fits), repeats(&long)], [true, false]);
    let huge = "x".repeat(400_000);
    assert_eq!(echo(&format!("35=H|11={huge}|37=p1")), echo("35=H|37=p1"));
    let invalid = MessageReject::invalid(38, &[0xff; 400_000], "a decimal");
    let shown = in_full(&application_not_available(&echo("35=H|11=X"), 7, &invalid));
    assert!(shown.contains("\\xff…") && shown.len() < 500, "{} bytes", shown.len());
    let all = MessageReject::other("bad-field", &huge);
    assert!(in_full(&application_not_available(&echo("35=H|11=X"), 7, &all)).len() < 5_000);
}

#[test]
fn what_an_answer_has_to_repeat_must_be_there_and_of_fix() {
    let unfit = [
        "35=H|54=1",
        "35=H|37=X|54=1",
        "35=AF|585=7",
        "35=AF|584=A",
        "35=AF|584=A|585=9",
        "35=q|530=7",
        "35=q|11=|530=7",
        "35=q|11=B",
        "35=q|11=B|530=8",
        "35=q|11=B|530=70",
        "35=q|11=B|530=7",
        "35=D|54=1",
    ];
    let told: String = unfit.iter().map(|text| format!("{text} => {}\n", fault(&wire(text)))).collect();
    expect![[r#"
        35=H|54=1 => 35=3|58=Required tag missing|371=11|372=H|373=1
        35=H|37=X|54=1 => taken
        35=AF|585=7 => 35=3|58=Required tag missing|371=584|372=AF|373=1
        35=AF|584=A => 35=3|58=Required tag missing|371=585|372=AF|373=1
        35=AF|584=A|585=9 => 35=3|58=Value is incorrect (out of range) for this tag|371=585|372=AF|373=5
        35=q|530=7 => 35=3|58=Required tag missing|371=11|372=q|373=1
        35=q|11=|530=7 => 35=3|58=Required tag missing|371=11|372=q|373=1
        35=q|11=B => 35=3|58=Required tag missing|371=530|372=q|373=1
        35=q|11=B|530=8 => 35=3|58=Value is incorrect (out of range) for this tag|371=530|372=q|373=5
        35=q|11=B|530=70 => 35=3|58=Value is incorrect (out of range) for this tag|371=530|372=q|373=5
        35=q|11=B|530=7 => taken
        35=D|54=1 => taken
    "#]]
    .assert_eq(&told);
    let unreadable = ["D", "G", "F", "H", "q"].map(|kind| {
        let mut bytes = wire(&format!("35={kind}|11=B?|41=A|530=7"));
        let at = bytes.iter().position(|byte| *byte == b'?').unwrap();
        bytes[at] = 0xff;
        let sum = bytes[..bytes.len() - 7].iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        bytes.truncate(bytes.len() - 7);
        bytes.extend(format!("10={sum:03}\x01").bytes());
        fault(&bytes)
    });
    assert!(unreadable.iter().all(|told| told.contains("|371=11|") && told.ends_with("|373=6")), "{unreadable:?}");
}

fn fault(bytes: &[u8]) -> String {
    let mut decoder = FixDecoder::new();
    let message = decoder.decode(bytes).unwrap();
    MessageRow::by_type(message.msg_type()).unwrap().fault_in(&message).map_or("taken".to_owned(), |fault| {
        let mut reject = OutgoingMessage::default();
        fault.reject(&message, &mut reject);
        in_full(&reject)
    })
}
