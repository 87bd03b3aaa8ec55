//! Executions that are listed while the session is up (AD): from the last one on, in pages, and never half a list.

use adapters::SendOutcome;
use tempfile::TempDir;

use crate::scripted_venue::{Fields, ScriptedVenue};
use crate::test_adapter::{TestAdapter, now};

const NOON: &str = "20261116-12:00:00.000";
const LATER: &str = "20261116-12:00:01.500";
/// Behind E2 and E3, which happened at the same instant.
const CURSOR: &str = "1794830401500000000 E2 E3";

/// The dialect of another Rialto, which asks for no snapshot after a log-on.
fn dialect(folder: &TempDir) -> &'static str {
    let text = include_str!("../../dialects/rialto.toml").replacen("snapshot = true", "snapshot = false", 1);
    let file = folder.path().join("lists.toml");
    std::fs::write(&file, text).unwrap();
    // The settings of an adapter are those of a program.
    Box::leak(file.display().to_string().into_boxed_str())
}

fn connected() -> (ScriptedVenue, TempDir, TestAdapter) {
    let (mut venue, folder) = (ScriptedVenue::start(), tempfile::tempdir().unwrap());
    let mut desk = TestAdapter::open(&folder, dialect(&folder), &venue.address());
    desk.connect_while(|| drop(venue.log_on()));
    (venue, folder, desk)
}

fn asked(desk: &mut TestAdapter, venue: &mut ScriptedVenue, cursor: Option<&str>) -> Fields {
    assert_eq!(desk.list_fills(cursor), SendOutcome::Sent);
    venue.expect("AD")
}

fn ack(venue: &mut ScriptedVenue, question: &Fields, total: usize) {
    let status = if total == 0 { 1 } else { 0 };
    venue.send("AQ", &format!("568={}|569=1|55=[N/A]|748={total}|749=0|750={status}", question[&568]));
}

/// An execution of ten, of order 1 unless it is of another client.
fn execution(venue: &mut ScriptedVenue, question: &Fields, (id, at): (&str, &str), last: &str) {
    let order = if id.starts_with('X') { "other" } else { "R7-1-0" };
    let fields = format!(
        "571={id}|568={}|912={last}|17={id}|150=F|570=Y|55=MSFT|32=10|31=10.5|75=20261116|60={at}|552=1|54=1|37=V1|11={order}",
        question[&568]
    );
    venue.send("AE", &fields);
}

#[test]
fn executions_are_listed_from_the_last_one_on() {
    let (mut venue, _folder, mut desk) = connected();
    let first = asked(&mut desk, &mut venue, None);
    assert_eq!([569, 580, 7005, 7007].map(|tag| first[&tag].as_str()), ["1", "1", "Y", "1000"]);
    ack(&mut venue, &first, 3);
    execution(&mut venue, &first, ("E1", NOON), "N");
    execution(&mut venue, &first, ("E2", LATER), "N");
    execution(&mut venue, &first, ("E3", LATER), "Y");
    let expected =
        format!("fills from the beginning: 1 10 @ 10.5 (E1), 1 10 @ 10.5 (E2), 1 10 @ 10.5 (E3); last, next {CURSOR}");
    assert_eq!(desk.reports(1), [expected]);

    let next = asked(&mut desk, &mut venue, Some(CURSOR));
    assert_eq!([75, 60].map(|tag| next[&tag].as_str()), ["20261116", LATER]);
    ack(&mut venue, &next, 4);
    execution(&mut venue, &next, ("E2", LATER), "N");
    execution(&mut venue, &next, ("E3", LATER), "N");
    execution(&mut venue, &next, ("E4", LATER), "N");
    // It is not ours, and the next list begins behind it all the same.
    execution(&mut venue, &next, ("X1", "20261116-12:00:02.000"), "Y");
    let expected = format!("fills from {CURSOR}: 1 10 @ 10.5 (E4); last, next 1794830402000000000 X1");
    assert_eq!(desk.reports(1), [expected]);

    let nothing = asked(&mut desk, &mut venue, Some(CURSOR));
    ack(&mut venue, &nothing, 0);
    assert_eq!(desk.reports(1), [format!("fills from {CURSOR}: ; last, next {CURSOR}")]);
}

#[test]
fn corrections_and_busts_are_listed_before_the_page_and_told_once() {
    let (mut venue, _folder, mut desk) = connected();
    let revised = |question: &Fields, at: &str, step: &str, last: &str| {
        let id = step.split_once('|').unwrap().0;
        format!(
            "571={id}|568={}|912={last}|17={step}|570=Y|55=MSFT|32=5|31=10.4|75=20261116|60={at}|552=1|54=1|37=V1|11=R7-1-0",
            question[&568]
        )
    };
    let question = asked(&mut desk, &mut venue, None);
    ack(&mut venue, &question, 3);
    execution(&mut venue, &question, ("E1", NOON), "N");
    venue.send("AE", &revised(&question, LATER, "E2|150=G|487=2|572=E0", "N"));
    venue.send("AE", &revised(&question, LATER, "E3|150=H|487=1|572=E9", "Y"));
    let page = format!("fills from the beginning: 1 10 @ 10.5 (E1), 1 5 @ 10.4 (E2); last, next {CURSOR}");
    assert_eq!(desk.reports(3), ["1 takes back E0 for 5 @ 10.4 (E2)".to_owned(), "1 takes back E9".to_owned(), page]);

    let next = asked(&mut desk, &mut venue, Some(CURSOR));
    ack(&mut venue, &next, 2);
    venue.send("AE", &revised(&next, LATER, "E2|150=G|487=2|572=E0", "N"));
    venue.send("AE", &revised(&next, LATER, "E3|150=H|487=1|572=E9", "Y"));
    assert_eq!(desk.reports(1), [format!("fills from {CURSOR}: ; last, next {CURSOR}")]);
}

#[test]
fn a_full_page_has_others_behind_it() {
    let (mut venue, _folder, mut desk) = connected();
    let question = asked(&mut desk, &mut venue, None);
    ack(&mut venue, &question, 1_000);
    for number in 1..=1_000 {
        execution(&mut venue, &question, (&format!("E{number}"), NOON), if number == 1_000 { "Y" } else { "N" });
    }
    let page = desk.reports(1).remove(0);
    assert!(page.contains("(E1000); more, next 1794830400000000000 E1 E2 "), "{page}");
    assert!(page.ends_with(" E64"), "a cursor names no more than so many: {page}");
}

/// So many at noon, from a number on, answer the question.
fn send_page(venue: &mut ScriptedVenue, question: &Fields, numbers: std::ops::RangeInclusive<usize>) {
    ack(venue, question, numbers.clone().count());
    let newest = *numbers.end();
    for number in numbers {
        execution(venue, question, (&format!("E{number}"), NOON), if number == newest { "Y" } else { "N" });
    }
}

/// The ids of the fills of a page, and what follows them.
fn page(reports: &[String]) -> (Vec<String>, String) {
    let (fills, next) = reports[0].split_once("; ").unwrap();
    let ids = fills.split(['(', ')']).skip(1).step_by(2).map(str::to_owned).collect();
    (ids, next.split(' ').take(3).collect::<Vec<_>>().join(" "))
}

fn ids(numbers: std::ops::RangeInclusive<usize>) -> Vec<String> {
    numbers.map(|number| format!("E{number}")).collect()
}

/// The venue lists by time alone, so the next page of as many would be the same.
#[test]
fn where_more_than_a_page_happened_at_one_instant_the_next_page_is_larger() {
    let (mut venue, _folder, mut desk) = connected();
    let first = asked(&mut desk, &mut venue, None);
    send_page(&mut venue, &first, 1..=1_000);
    assert_eq!(page(&desk.reports(1)), (ids(1..=1_000), "more, next 1794830400000000000".to_owned()));

    // A full page that ends where it began. What the cursor names is not told again.
    let same = asked(&mut desk, &mut venue, Some("1794830400000000000 E1 E2"));
    assert_eq!([&same[&60], &same[&7007]], [NOON, "1000"]);
    send_page(&mut venue, &same, 1..=1_000);
    assert_eq!(page(&desk.reports(1)), (ids(3..=1_000), "more, next 1794830400000000000+".to_owned()));

    let larger = asked(&mut desk, &mut venue, Some("1794830400000000000+ E1 E2"));
    assert_eq!([&larger[&60], &larger[&7007]], [NOON, "10000"]);
    send_page(&mut venue, &larger, 1..=1_500);
    assert_eq!(page(&desk.reports(1)), (ids(3..=1_500), "last, next 1794830400000000000+".to_owned()));

    // Behind that instant a page is as large as before.
    let later = asked(&mut desk, &mut venue, Some("1794830400000000000+ E1 E2"));
    assert_eq!([&later[&60], &later[&7007]], [NOON, "10000"]);
    ack(&mut venue, &later, 2);
    execution(&mut venue, &later, ("E1", NOON), "N");
    execution(&mut venue, &later, ("E9", LATER), "Y");
    assert_eq!(page(&desk.reports(1)), (ids(9..=9), "last, next 1794830401500000000".to_owned()));
}

#[test]
fn more_than_the_largest_page_at_one_instant_is_told() {
    let (mut venue, _folder, mut desk) = connected();
    let question = asked(&mut desk, &mut venue, Some("1794830400000000000+ E1 E2"));
    send_page(&mut venue, &question, 1..=10_000);
    let reason = "10000 executions or more happened at 2026-11-16T12:00:00Z, and the venue is not asked for more at once: the list \
                  stands still there; reports and inquiries do not, compare with the venue's statement";
    let reports = desk.reports(2);
    assert_eq!(page(&reports), (ids(3..=10_000), "last, next 1794830400000000000+".to_owned()));
    assert_eq!(reports[1..], [format!("no list of Fills(None): {reason}")]);
}

/// The engine asks again and again.
#[test]
fn a_list_that_stands_still_says_so_once() {
    let (mut venue, _folder, mut desk) = connected();
    let mut told = vec![];
    for _ in 0..3 {
        let question = asked(&mut desk, &mut venue, Some("1794830400000000000+ E1 E2"));
        send_page(&mut venue, &question, 1..=10_000);
        let reports = desk.reports(1);
        told.push((page(&reports).1, reports.len() - 1));
    }
    let page = |kind: &str, warnings: usize| (format!("{kind}, next 1794830400000000000+"), warnings);
    assert_eq!(told, [page("last", 1), page("last", 0), page("last", 0)]);
}

/// What is reported next adds up: the correction counts in place of what it corrects.
#[test]
fn a_correction_in_a_list_counts_in_what_is_filled() {
    let (mut venue, _folder, mut desk) = connected();
    venue.send("8", "11=R7-1-0|37=V1|17=E1|150=F|39=1|38=100|14=10|151=90|32=10|31=10.5");
    assert_eq!(desk.reports(1), ["1 filled 10 @ 10.5 (E1)"]);
    let question = asked(&mut desk, &mut venue, None);
    ack(&mut venue, &question, 1);
    let corrects = "17=E2|150=G|487=2|572=E1|570=Y|55=MSFT|32=5|31=10.4|75=20261116|552=1|54=1|37=V1|11=R7-1-0";
    venue.send("AE", &format!("571=E2|568={}|912=Y|60={NOON}|{corrects}", question[&568]));
    assert_eq!(desk.reports(2)[0], "1 takes back E1 for 5 @ 10.4 (E2)");
    venue.send("8", "11=R7-1-0|37=V1|17=E3|150=F|39=1|38=100|14=15|151=85|32=10|31=10.5");
    venue.send("8", "11=R7-1-0|37=V1|17=E4|150=F|39=1|38=100|14=25|151=75|32=10|31=10.5");
    assert_eq!(desk.reports(2), ["1 filled 10 @ 10.5 (E3)", "1 filled 10 @ 10.5 (E4)"]);
}

/// The report of E3 counts without E1 already.
#[test]
fn a_bust_in_a_list_is_not_counted_off_what_was_reported_after_it() {
    let (mut venue, _folder, mut desk) = connected();
    venue.send("8", &format!("11=R7-1-0|37=V1|17=E1|150=F|39=1|38=100|14=10|151=90|32=10|31=10.5|60={NOON}"));
    venue.send("8", &format!("11=R7-1-0|37=V1|17=E3|150=F|39=1|38=100|14=10|151=90|32=10|31=10.5|60={LATER}"));
    desk.reports(2);
    let question = asked(&mut desk, &mut venue, None);
    ack(&mut venue, &question, 1);
    let busted = "17=B1|150=H|487=1|572=E1|570=Y|55=MSFT|32=10|31=10.5|75=20261116|552=1|54=1|37=V1|11=R7-1-0";
    venue.send("AE", &format!("571=B1|568={}|912=Y|60={NOON}|{busted}", question[&568]));
    assert_eq!(desk.reports(2)[0], "1 takes back E1");
    venue.send("8", "11=R7-1-0|37=V1|17=E4|150=F|39=1|38=100|14=20|151=80|32=10|31=10.5");
    assert_eq!(desk.reports(1), ["1 filled 10 @ 10.5 (E4)"]);
}

/// The half of a list that came counts for nothing, and what was executed is listed once.
#[test]
fn a_line_that_breaks_in_the_middle_of_a_list_loses_and_doubles_nothing() {
    let (mut venue, _folder, mut desk) = connected();
    let cut = asked(&mut desk, &mut venue, Some(CURSOR));
    ack(&mut venue, &cut, 2);
    execution(&mut venue, &cut, ("E4", "20261116-12:00:02.000"), "N");
    venue.hang_up();
    desk.lose();
    assert_eq!(desk.list_fills(Some(CURSOR)), SendOutcome::NotSent("not logged on".into()));

    desk.connect_while(|| drop(venue.log_on()));
    let again = asked(&mut desk, &mut venue, Some(CURSOR));
    assert_ne!(again[&568], cut[&568]);
    // What the venue had still to send of the first answer.
    execution(&mut venue, &cut, ("E5", "20261116-12:00:03.000"), "Y");
    ack(&mut venue, &again, 2);
    execution(&mut venue, &again, ("E4", "20261116-12:00:02.000"), "N");
    execution(&mut venue, &again, ("E5", "20261116-12:00:03.000"), "Y");
    let expected =
        format!("fills from {CURSOR}: 1 10 @ 10.5 (E4), 1 10 @ 10.5 (E5); last, next 1794830403000000000 E5");
    assert_eq!(desk.reports(1), [expected]);
}

/// The engine asks again after a while where no answer came; an answer to the first question is late then.
#[test]
fn the_answer_to_an_older_question_is_not_used() {
    let (mut venue, _folder, mut desk) = connected();
    let older = asked(&mut desk, &mut venue, None);
    let newer = asked(&mut desk, &mut venue, Some(CURSOR));
    ack(&mut venue, &older, 1);
    execution(&mut venue, &older, ("E1", NOON), "Y");
    ack(&mut venue, &newer, 0);
    assert_eq!(desk.reports(1), [format!("fills from {CURSOR}: ; last, next {CURSOR}")]);
}

#[test]
fn a_list_that_is_refused_or_cannot_be_read_is_none() {
    let (mut venue, _folder, mut desk) = connected();
    let question = asked(&mut desk, &mut venue, None);
    let refusal = "569=1|55=[N/A]|749=99|750=2|58=too-many-orders: name one";
    venue.send("AQ", &format!("568={}|{refusal}", question[&568]));
    assert_eq!(desk.reports(1), ["no list of Fills(None): too-many-orders: name one"]);

    let question = asked(&mut desk, &mut venue, None);
    venue.send("j", &format!("45={}|372=AD|379={}|380=4|58=busy: ask again", question[&34], question[&568]));
    assert_eq!(desk.reports(1), ["no list of Fills(None): busy: ask again"]);

    let question = asked(&mut desk, &mut venue, None);
    venue.send("3", &format!("45={}|371=7007|372=AD|373=2|58=Tag not defined", question[&34]));
    assert_eq!(desk.reports(1), ["no list of Fills(None): Tag not defined"]);

    let question = asked(&mut desk, &mut venue, None);
    ack(&mut venue, &question, 1);
    let fields = "912=Y|17=E1|570=Y|55=MSFT|32=10|31=10.5|75=20261116|552=1|54=1|37=V1|11=R7-1-0";
    venue.send("AE", &format!("571=E1|568={}|{fields}", question[&568]));
    assert_eq!(desk.reports(1), ["no list of Fills(None): the executions of the venue cannot be read"]);

    for cursor in ["", "newest", "E1 E2"] {
        let refused = SendOutcome::NotSent("the cursor is none of a list of fills".into());
        assert_eq!(desk.list_fills(Some(cursor)), refused, "{cursor:?}");
    }
}

/// How many minutes ago what is asked for begins.
fn minutes_back(question: &Fields) -> i64 {
    let from = fix::UtcTimestamp::parse(question[&60].as_bytes()).unwrap();
    (now().0 - from.nanos()) / 60_000_000_000
}

/// As a venue with more orders of ours since then than it looks through.
#[test]
fn a_first_list_that_is_refused_begins_half_as_far_back_the_next_time() {
    let (mut venue, _folder, mut desk) = connected();
    let mut asked_minutes = vec![];
    for _ in 0..10 {
        let question = asked(&mut desk, &mut venue, None);
        asked_minutes.push(minutes_back(&question));
        let refusal = "569=1|55=[N/A]|749=99|750=2|58=too-many-orders: more than 100000";
        venue.send("AQ", &format!("568={}|{refusal}", question[&568]));
        assert_eq!(desk.reports(1), ["no list of Fills(None): too-many-orders: more than 100000"]);
    }
    assert_eq!(asked_minutes, [1_380, 690, 345, 172, 86, 43, 21, 10, 5, 5]);

    // A cursor begins where it says.
    let next = asked(&mut desk, &mut venue, Some(CURSOR));
    assert_eq!(next[&60], LATER);
    venue.send("AQ", &format!("568={}|569=1|55=[N/A]|749=99|750=2|58=later", next[&568]));
    assert_eq!(desk.reports(1), ["no list of Fills(None): later"]);

    // A refusal that says nothing about the time: the venue is busy.
    let busy = asked(&mut desk, &mut venue, None);
    venue.send("j", &format!("45={}|372=AD|379={}|380=4|58=busy: ask again", busy[&34], busy[&568]));
    assert_eq!(desk.reports(1), ["no list of Fills(None): busy: ask again"]);

    venue.hang_up();
    desk.lose();
    desk.connect_while(|| drop(venue.log_on()));
    let again = asked(&mut desk, &mut venue, None);
    assert_eq!([minutes_back(&busy), minutes_back(&again)], [5, 1_380]);
}

#[test]
fn a_venue_that_lists_no_executions_is_not_asked() {
    let (mut venue, folder) = (ScriptedVenue::start(), tempfile::tempdir().unwrap());
    let mut desk = TestAdapter::open(&folder, "generic-44", &venue.address());
    desk.connect_while(|| drop(venue.log_on()));
    assert_eq!(desk.list_fills(None), SendOutcome::NotSent("the venue lists no fills".into()));
}

#[test]
fn a_refusal_that_names_another_question_does_not_end_the_list() {
    let (mut venue, _folder, mut desk) = connected();
    let older = asked(&mut desk, &mut venue, None);
    let newer = asked(&mut desk, &mut venue, Some(CURSOR));
    let refused = |id: &str| format!("45=999|372=AD|379={id}|380=4|58=busy");
    for id in [older[&568].as_str(), "POSITIONS-7", "T1-1"] {
        venue.send("j", &refused(id));
    }
    ack(&mut venue, &newer, 0);
    assert_eq!(desk.reports(1), [format!("fills from {CURSOR}: ; last, next {CURSOR}")]);
}
