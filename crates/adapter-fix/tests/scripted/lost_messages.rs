//! Messages of the venue that do not come, or come late: orders are asked about, and books begin again.

use domain::SecurityId;

use crate::scripted_venue::ScriptedVenue;
use crate::test_adapter::TestAdapter;

const SNAPSHOT: &str = "55=MSFT|268=2|269=0|270=10.5|271=100|269=1|270=10.7|271=50";
const CHANGE: &str = "268=1|279=1|269=0|55=MSFT|270=10.5";

/// A session with a book; gives the MDReqID.
fn with_a_book(desk: &mut TestAdapter, venue: &mut ScriptedVenue) -> String {
    desk.connect_while(|| drop(venue.log_on()));
    desk.subscribe(SecurityId(1));
    let request = venue.expect("V")[&262].clone();
    venue.send("W", &format!("262={request}|{SNAPSHOT}"));
    let book = desk.book_until(|_| true);
    assert_eq!((&*book.feed, book.bids.len()), ("FIX-MAIN", 1));
    request
}

/// The old subscription ends, and another one begins with a book.
fn a_book_begins_again(desk: &mut TestAdapter, venue: &mut ScriptedVenue, before: &str) {
    let ended = venue.expect("V");
    assert_eq!((ended[&262].as_str(), ended[&263].as_str()), (before, "2"));
    let begun = venue.expect("V");
    assert_eq!(begun[&263], "1");
    assert_ne!(begun[&262], before);
    venue.send("W", &format!("262={}|55=MSFT|268=1|269=0|270=10.4|271=7", begun[&262]));
    desk.book_until(|book| book.asks.is_empty());
}

#[test]
fn numbers_that_the_venue_skips_are_a_gap_of_reports_and_of_prices() {
    let (mut venue, folder) = (ScriptedVenue::start(), tempfile::tempdir().unwrap());
    let mut desk = TestAdapter::open(&folder, "generic-44", &venue.address());
    let request = with_a_book(&mut desk, &mut venue);
    let number = venue.next;
    venue.send_as(number, "4", &format!("43=Y|123=Y|36={}", number + 3));
    venue.next = number + 3;
    assert_eq!(desk.reports(2), ["Gap", "1 prices lost: MISSED_UPDATES, FIX-MAIN"]);
    a_book_begins_again(&mut desk, &mut venue, &request);
}

#[test]
fn a_change_that_comes_late_discards_the_book_that_lacked_it() {
    let (mut venue, folder) = (ScriptedVenue::start(), tempfile::tempdir().unwrap());
    let mut desk = TestAdapter::open(&folder, "generic-44", &venue.address());
    let request = with_a_book(&mut desk, &mut venue);
    let lost = venue.next;
    venue.next += 1;
    let change = |size: u32| format!("262={request}|{CHANGE}|271={size}");
    venue.send("X", &change(80));
    // It is asked for in the next round of the adapter.
    desk.deliver();
    assert_eq!(venue.expect("2")[&7], lost.to_string());
    venue.send_again(lost, "X", &change(90));
    venue.send_again(lost + 1, "X", &change(80));
    assert_eq!(desk.reports(1), ["1 prices lost: MISSED_UPDATES, FIX-MAIN"]);
    a_book_begins_again(&mut desk, &mut venue, &request);
}
