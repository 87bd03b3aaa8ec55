//! Questions that can't be answered say so, and which orders a question is about.

use domain::{ReferenceData, Timestamp};
use expect_test::expect;
use fix::Decoder;

use super::floor::{Floor, in_full, wire};
use crate::words::{Affected, Complaint, Memo, Scope, mass_cancel_report, not_answered, not_available};

fn scope(text: &str, reference: &ReferenceData) -> String {
    let bytes = wire(text);
    let mut decoder = Decoder::new();
    let message = decoder.decode(&bytes).unwrap();
    match Scope::of(&message, reference) {
        Ok(scope) => format!("{text} => {scope:?}\n"),
        Err(complaint) => {
            let memo = Memo::of(&message);
            let answer = match message.msg_type() {
                b"q" => mass_cancel_report(&memo, Err(complaint), Timestamp(0)),
                _ => not_answered(&memo, 4, &complaint),
            };
            format!("{text} => {}\n", in_full(&answer))
        }
    }
}

#[test]
fn a_question_about_many_orders_says_which() {
    let floor = Floor::literal();
    let questions = [
        "35=AF|584=A|585=7",
        "35=AF|584=A|585=1|48=3",
        "35=AF|584=A|585=1|48=US0378331005|22=4",
        "35=AF|584=A|585=1|55=IBM",
        "35=AF|584=A|585=1|48=9",
        "35=AF|584=A|585=1",
        "35=AF|584=A|585=3",
        "35=q|11=B|530=1|55=IBM",
        "35=q|11=B|530=2",
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
        35=q|11=B|530=1|55=IBM => Security(SecurityId(3))
        35=q|11=B|530=2 => 35=r|11=B|37=B|58=not-offered: MassCancelRequestType (530) is 1 (by security, with 48 or 55) or 7 (all)|60=19700101-00:00:00.000|530=2|531=0|532=0
    "#]].assert_eq(&told);
}

#[test]
fn an_engine_without_time_is_no_answer_about_orders() {
    let memo = |text: &str| Memo::of(&Decoder::new().decode(&wire(text)).unwrap());
    let busy = Complaint::other("busy", "the platform has too much to do, try again");
    let question = not_available(&memo("35=H|11=X"), 7, &busy);
    let cancel = memo("35=q|11=B|530=7");
    let none = mass_cancel_report(&cancel, Err(busy), Timestamp(0));
    let some = Affected { orders: 2, text: Some("busy: try again; only 2 of 3 orders are cancelled".into()) };
    let some = mass_cancel_report(&cancel, Ok(some), Timestamp(0));
    let told: String = [question, none, some].iter().map(|answer| in_full(answer) + "\n").collect();
    expect![[r#"
        35=j|45=7|58=busy: the platform has too much to do, try again|372=H|379=X|380=4
        35=r|11=B|37=B|58=busy: the platform has too much to do, try again|60=19700101-00:00:00.000|530=7|531=0|532=0
        35=r|11=B|37=B|58=busy: try again; only 2 of 3 orders are cancelled|60=19700101-00:00:00.000|530=7|531=7|533=2
    "#]]
    .assert_eq(&told);
}
