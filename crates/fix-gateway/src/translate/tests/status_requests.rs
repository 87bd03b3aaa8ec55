//! Questions: what they are about, their answers, and rejections.

use std::collections::BTreeSet;

use domain::order::ExecType;
use domain::rights::TradingRights;
use domain::{AccountId, Position, ReferenceData, SecurityId, StrategyId, Timestamp};
use expect_test::expect;
use fix::{FixDecoder, OutgoingMessage};

use super::ORDER;
use super::harness::{GatewayHarness, assert_sound, in_full, wire};
use crate::translate::{
    ExecIds, MessageReject, MessageRow, PositionAnswer, PositionRequest, ReportPlace, RequestEcho, RequestScope,
    TradeRequest, application_not_available, captured_trades, held_positions, position_report, positions_ack,
    status_request_rejected, trade_report, trades_ack, unknown_order,
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

/// The message by itself; where it is an answer, FIX 4.4 has it.
fn sound(message: &OutgoingMessage) -> String {
    assert_sound(message);
    in_full(message).replace('\u{1}', "|")
}

#[test]
fn executions_are_asked_for_by_order_security_and_time() {
    let floor = GatewayHarness::literal();
    let asked = [
        "35=AD|568=T|569=0",
        "35=AD|568=T|569=1|11=X|7005=Y",
        "35=AD|568=T|569=1|37=p1|48=3",
        "35=AD|568=T|569=1|580=1|60=20261116-12:00:00",
        "35=AD|568=T|569=1|580=1|75=20261116",
        "35=AD|568=T|569=1|580=1|75=20261116|60=20261116-12:00:00",
        "35=AD|568=T|569=1|580=2|75=20261115|75=20261116|60=20261116-12:00:00",
        "35=AD|568=T|569=1|580=1",
        "35=AD|568=T|569=1|580=1|60=noon",
        "35=AD|568=T|569=1|55=NOBODY",
        "35=AD|568=T|569=2",
        "35=AD|568=T|569=1|7007=500",
        "35=AD|568=T|569=1|7007=0",
        "35=AD|568=T|569=1|7007=10001",
        "35=AD|568=T|569=1|7007=some",
        "35=AD|568=T|569=1|263=1",
    ];
    let told = asked.map(|text| {
        let bytes = wire(text);
        let mut decoder = FixDecoder::new();
        let message = decoder.decode(&bytes).unwrap();
        match TradeRequest::from_message(&message, floor.reference()) {
            Ok(asked) => format!(
                "{text} => {:?} {:?} {:?} to {:?}{}{}\n",
                asked.order,
                asked.security,
                asked.from.map(|at| at.to_string()),
                asked.to.map(|at| at.to_string()),
                if asked.with_liquidity { ", maker or taker" } else { "" },
                asked.part.map_or_else(String::new, |part| format!(", {part} at most"))
            ),
            Err(refusal) => {
                format!("{text} => {}\n", sound(&trades_ack(&RequestEcho::from_message(&message), Err(&refusal))))
            }
        }
    });
    expect![[r#"
        35=AD|568=T|569=0 => None None None to None
        35=AD|568=T|569=1|11=X|7005=Y => Some("X") None None to None, maker or taker
        35=AD|568=T|569=1|37=p1|48=3 => Some("p1") Some(SecurityId(3)) None to None
        35=AD|568=T|569=1|580=1|60=20261116-12:00:00 => None None Some("2026-11-16T12:00:00Z") to None
        35=AD|568=T|569=1|580=1|75=20261116 => None None Some("2026-11-16T00:00:00Z") to Some("2026-11-16T23:59:59.999999999Z")
        35=AD|568=T|569=1|580=1|75=20261116|60=20261116-12:00:00 => None None Some("2026-11-16T12:00:00Z") to None
        35=AD|568=T|569=1|580=2|75=20261115|75=20261116|60=20261116-12:00:00 => None None Some("2026-11-15T00:00:00Z") to Some("2026-11-16T12:00:00Z")
        35=AD|568=T|569=1|580=1 => 35=AQ|55=[N/A]|58=bad-field: NoDates (580) is 1 or 2, each with TradeDate (75), TransactTime (60) or both|568=T|569=1|749=99|750=2
        35=AD|568=T|569=1|580=1|60=noon => 35=AQ|55=[N/A]|58=bad-field: TransactTime (60) noon is not a UTC time such as 20260105-14:30:00|568=T|569=1|749=99|750=2
        35=AD|568=T|569=1|55=NOBODY => 35=AQ|55=NOBODY|58=unknown-security: Symbol (55) NOBODY is not known|568=T|569=1|749=1|750=2
        35=AD|568=T|569=2 => 35=AQ|55=[N/A]|58=not-offered: TradeRequestType (569) is 0 (all trades) or 1 (those that match)|568=T|569=2|749=8|750=2
        35=AD|568=T|569=1|7007=500 => None None None to None, 500 at most
        35=AD|568=T|569=1|7007=0 => 35=AQ|55=[N/A]|58=bad-field: MaxTrades (7007) 0 is not a number from 1 to 10000|568=T|569=1|749=99|750=2
        35=AD|568=T|569=1|7007=10001 => 35=AQ|55=[N/A]|58=bad-field: MaxTrades (7007) 10001 is not a number from 1 to 10000|568=T|569=1|749=99|750=2
        35=AD|568=T|569=1|7007=some => 35=AQ|55=[N/A]|58=bad-field: MaxTrades (7007) some is not a number from 1 to 10000|568=T|569=1|749=99|750=2
        35=AD|568=T|569=1|263=1 => 35=AQ|55=[N/A]|58=not-offered: SubscriptionRequestType (263) is 0: executions are told by reports (8) as they happen|568=T|569=1|749=8|750=2
    "#]].assert_eq(&told.concat());
}

#[test]
fn executions_are_captured_with_the_ids_of_their_reports_and_what_was_taken_back_is_named() {
    let mut floor = GatewayHarness::literal().showing_all();
    let story = [
        ORDER,
        "venue accepts X",
        "venue fills X e1 40 10 as maker",
        "venue fills X e2 20 10",
        "venue fills X e3 10 10 as taker",
        "venue busts X e2",
        "venue corrects X e3 5 9.5",
    ];
    let told = floor.run(&story.join("\n"));
    let echo = RequestEcho::from_message(&FixDecoder::new().decode(&wire("35=AD|568=T|569=1|11=X")).unwrap());
    let trades = captured_trades(&floor.statuses, ExecIds(1));
    let total = trades.len();
    let mut reports = format!("{}\n", sound(&trades_ack(&echo, Ok(total))));
    for (number, trade) in (1..).zip(&trades) {
        let is_told = told.contains(&format!("|17={}|", trade.exec_id));
        assert_eq!(is_told, trade.counts(), "of what counts {} is a report, of a bust none", trade.exec_id);
        let report = trade_report(&echo, trade, ReportPlace { number, total }, false, floor.reference());
        reports += &format!("{}\n", sound(&report));
    }
    let with_liquidity = trade_report(&echo, &trades[0], ReportPlace { number: 1, total }, true, floor.reference());
    assert!(in_full(&with_liquidity).contains("|851=1|"), "{}", in_full(&with_liquidity));
    reports += &format!("{}\n", sound(&trades_ack(&echo, Ok(0))));
    expect![[r#"
        35=AQ|55=[N/A]|568=T|569=1|748=3|749=0|750=0
        35=AE|17=4c8c264f-b72a-8c36-aeb9-68e402465633|31=10|32=40|48=1|55=AAPL|60=20261116-12:00:00.000|75=20261116|150=F|167=CS|552=1|54=1|37=X|11=X|1=1|568=T|570=Y|571=4c8c264f-b72a-8c36-aeb9-68e402465633|748=3|912=N
        35=AE|17=9d49e2b9-c2ac-822c-8d99-9346dfe183d3|31=10|32=20|48=1|55=AAPL|60=20261116-12:00:00.000|75=20261116|150=H|167=CS|487=1|552=1|54=1|37=X|11=X|1=1|568=T|570=Y|571=9d49e2b9-c2ac-822c-8d99-9346dfe183d3|572=4c8c264d-b72a-8c36-aeb9-68e4024563cc|748=3|912=N
        35=AE|17=edcb1634-fa07-8670-b042-347f937b45c0|31=9.5|32=5|48=1|55=AAPL|60=20261116-12:00:00.000|75=20261116|150=G|167=CS|487=2|552=1|54=1|37=X|11=X|1=1|568=T|570=Y|571=edcb1634-fa07-8670-b042-347f937b45c0|572=4c8c264b-b72a-8c36-aeb9-68e402447165|748=3|912=Y
        35=AQ|55=[N/A]|568=T|569=1|748=0|749=0|750=1
    "#]].assert_eq(&reports);
}

/// What was executed and taken back of an order, as far as its events are kept.
fn captured(story: &[&str], is_kept: fn(ExecType) -> bool) -> String {
    let mut floor = GatewayHarness::literal().showing_all();
    floor.run(&[&[ORDER, "venue accepts X"], story].concat().join("\n"));
    let name = |id: &str| {
        let known = ["e1", "e1-new", "e1-new-new"];
        let is_meant = |known: &&&str| ExecIds(1).for_execution(1, known) == id;
        known.iter().find(is_meant).map_or_else(|| "bust".to_owned(), |known| (*known).to_owned())
    };
    let kept: Vec<_> = floor.statuses.iter().filter(|status| is_kept(status.exec_type)).cloned().collect();
    let trades = captured_trades(&kept, ExecIds(1));
    let echo = RequestEcho::from_message(&FixDecoder::new().decode(&wire("35=AD|568=T|569=1|11=X")).unwrap());
    let place = ReportPlace { number: 1, total: trades.len() };
    let shown = |report: String| {
        let fields = report.split('|').filter_map(|field| field.split_once('='));
        let wanted = fields.filter(|(tag, _)| ["17", "31", "32", "150", "487", "572"].contains(tag));
        let named = wanted.map(|(tag, value)| match tag {
            "17" | "572" => format!("{tag}={}", name(value)),
            _ => format!("{tag}={value}"),
        });
        named.collect::<Vec<_>>().join(" ")
    };
    let sent = trades.iter().map(|trade| sound(&trade_report(&echo, trade, place, false, floor.reference())));
    sent.map(shown).collect::<Vec<_>>().join("; ") + "\n"
}

/// What the client has missed of them it can follow: what an execution replaces, and what counts no more.
#[test]
fn each_execution_that_does_not_count_any_more_is_named_once() {
    let stories: [&[&str]; 4] = [
        &["venue fills X e1 40 10", "venue busts X e1"],
        &["venue fills X e1 40 10", "venue corrects X e1 30 9.5"],
        &["venue fills X e1 40 10", "venue corrects X e1 30 9.5", "venue corrects X e1-new 20 9"],
        &["venue fills X e1 40 10", "venue corrects X e1 30 9.5", "venue busts X e1-new"],
    ];
    expect![[r#"
        17=bust 31=10 32=40 150=H 487=1 572=e1
        17=e1-new 31=9.5 32=30 150=G 487=2 572=e1
        17=e1-new 31=9.5 32=30 150=H 487=1 572=e1; 17=e1-new-new 31=9 32=20 150=G 487=2 572=e1-new
        17=e1-new 31=9.5 32=30 150=H 487=1 572=e1; 17=bust 31=9.5 32=30 150=H 487=1 572=e1-new
    "#]]
    .assert_eq(&stories.map(|story| captured(story, |_| true)).concat());
}

/// As where a pruned journal was read anew. Otherwise a client would count the correction beside what it corrects, and keep what was busted.
#[test]
fn what_does_not_count_any_more_is_named_where_the_history_begins_after_it() {
    let stories: [&[&str]; 3] = [
        &["venue fills X e1 40 10", "venue busts X e1"],
        &["venue fills X e1 40 10", "venue corrects X e1 30 9.5"],
        &["venue fills X e1 40 10", "venue corrects X e1 30 9.5", "venue busts X e1-new"],
    ];
    let is_kept = |exec_type| matches!(exec_type, ExecType::TradeCancel | ExecType::TradeCorrect);
    expect![[r#"
        17=bust 31=0 32=0 150=H 487=1 572=e1
        17=e1-new 31=9.5 32=30 150=G 487=2 572=e1
        17=e1-new 31=9.5 32=30 150=H 487=1 572=e1; 17=bust 31=9.5 32=30 150=H 487=1 572=e1-new
    "#]]
    .assert_eq(&stories.map(|story| captured(story, is_kept)).concat());
}

#[test]
fn positions_are_told_of_an_account_that_the_client_may_trade() {
    let mut reference = GatewayHarness::literal().reference().clone();
    reference.accounts.insert(AccountId(1), samples::account(1, "DESK").into());
    reference.accounts.insert(AccountId(2), samples::account(2, "OTHER").into());
    let rights = TradingRights { accounts: Some(BTreeSet::from([AccountId(1)])), securities: None, interfaces: None };
    let asked = [
        "35=AN|710=P|724=0|1=DESK|581=1",
        "35=AN|710=P|724=0|1=1|581=1|48=3",
        "35=AN|710=P|724=0|1=OTHER|581=1",
        "35=AN|710=P|724=0|1=NOBODY|581=1",
        "35=AN|710=P|724=1|1=DESK|581=1",
        "35=AN|710=P|724=0|1=DESK|581=1|263=1",
    ];
    let told = asked.map(|text| {
        let bytes = wire(text);
        let mut decoder = FixDecoder::new();
        let message = decoder.decode(&bytes).unwrap();
        let echo = RequestEcho::from_message(&message);
        match PositionRequest::from_message(&message, &reference, Some(&rights), None) {
            Ok(asked) => format!("{text} => {:?} {:?}\n", asked.account, asked.security),
            Err(refusal) => {
                let answer = PositionAnswer { echo: &echo, id: "id".to_owned(), at: Timestamp(0), total: 0 };
                format!("{text} => {}\n", sound(&positions_ack(&answer, Some(&refusal))))
            }
        }
    });
    expect![[r#"
        35=AN|710=P|724=0|1=DESK|581=1 => AccountId(1) None
        35=AN|710=P|724=0|1=1|581=1|48=3 => AccountId(1) Some(SecurityId(3))
        35=AN|710=P|724=0|1=OTHER|581=1 => 35=AO|1=OTHER|58=no-right: you may not trade account OTHER|581=1|710=P|721=id-0|727=0|728=3|729=2
        35=AN|710=P|724=0|1=NOBODY|581=1 => 35=AO|1=NOBODY|58=unknown-account: Account (1) NOBODY is not known|581=1|710=P|721=id-0|727=0|728=1|729=2
        35=AN|710=P|724=1|1=DESK|581=1 => 35=AO|1=DESK|58=not-offered: PosReqType (724) is 0 (positions), and SubscriptionRequestType (263) is 0 where it is there|581=1|710=P|721=id-0|727=0|728=4|729=2
        35=AN|710=P|724=0|1=DESK|581=1|263=1 => 35=AO|1=DESK|58=not-offered: PosReqType (724) is 0 (positions), and SubscriptionRequestType (263) is 0 where it is there|581=1|710=P|721=id-0|727=0|728=4|729=2
    "#]].assert_eq(&told.concat());
}

#[test]
fn strategies_of_an_account_are_added_up_and_what_is_closed_is_not_held() {
    let mut floor = GatewayHarness::literal();
    floor.run(&[ORDER, "venue accepts X", "venue fills X e1 40 10"].join("\n"));
    let booked = floor.positions().remove(0);
    let echo = RequestEcho::from_message(&FixDecoder::new().decode(&wire("35=AN|710=P|724=0|1=DESK|581=3")).unwrap());
    let position = |strategy, security, quantity: i64| Position {
        strategy: StrategyId(strategy),
        security: SecurityId(security),
        quantity: quantity.into(),
        ..booked.clone()
    };
    let held = held_positions(&[
        position(1, 1, 100),
        position(2, 1, -30),
        position(1, 2, 5),
        position(2, 2, -5),
        position(1, 3, -7),
    ]);
    let held = held.unwrap();
    let at = "2026-11-16T12:00:00Z".parse().unwrap();
    let answer = PositionAnswer { echo: &echo, id: "id".to_owned(), at, total: held.len() };
    let reports = (1..).zip(&held).map(|(number, held)| position_report(&answer, number, held, floor.reference()));
    let told: Vec<_> = std::iter::once(positions_ack(&answer, None)).chain(reports).map(|told| sound(&told)).collect();
    let none = PositionAnswer { total: 0, ..answer.clone() };
    expect![[r#"
        35=AO|1=DESK|581=3|710=P|721=id-0|727=2|728=0|729=0
        35=AP|1=DESK|48=1|55=AAPL|167=CS|581=3|702=1|703=TOT|704=70|710=P|715=20261116|721=id-1|724=0|727=2|728=0|730=10|731=2|734=0
        35=AP|1=DESK|48=3|55=IBM|167=CS|581=3|702=1|703=TOT|705=7|710=P|715=20261116|721=id-2|724=0|727=2|728=0|730=10|731=2|734=0
        35=AO|1=DESK|581=3|710=P|721=id-0|727=0|728=2|729=0
    "#]].assert_eq(&format!("{}\n{}\n", told.join("\n"), sound(&positions_ack(&none, None))));
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
