//! Session hours of a dialect: numbers belong to the period in which they began.

use std::fs::File;
use std::time::{Duration, SystemTime};

use crate::scripted_venue::ScriptedVenue;
use crate::test_adapter::{TestAdapter, now};

const SECONDS_PER_DAY: i64 = 24 * 3_600;
/// Round the clock, with new numbers every day.
const WHOLE_DAYS: &str = "start = '00:00:00'\nend = '00:00:00'\n";

/// The number of the Logon of a session whose next number is 40, in numbers that began at an instant.
fn logon_number(hours: &str, begun_nanos: i64) -> String {
    logon_number_of_file(hours, begun_nanos, 0)
}

/// Its file was last written so many days ago.
fn logon_number_of_file(hours: &str, begun_nanos: i64, days_ago: u64) -> String {
    let (mut venue, folder) = (ScriptedVenue::start(), tempfile::tempdir().unwrap());
    let text =
        adapter_fix::shipped_dialect("generic-44").unwrap().replacen("[session]\n", &format!("[session]\n{hours}"), 1);
    let file = folder.path().join("hours.toml");
    std::fs::write(&file, text).unwrap();
    // The settings of an adapter are those of a program.
    let dialect = Box::leak(file.display().to_string().into_boxed_str());
    let numbers = TestAdapter::open(&folder, dialect, &venue.address()).numbers_file();
    std::fs::write(&numbers, format!("{begun_nanos} 40 1\n")).unwrap();
    let written = SystemTime::now() - Duration::from_secs(days_ago * SECONDS_PER_DAY.unsigned_abs());
    File::options().write(true).open(&numbers).unwrap().set_modified(written).unwrap();
    let mut desk = TestAdapter::open(&folder, dialect, &venue.address());
    let mut number = String::new();
    desk.connect_while(|| number = venue.log_on()[&34].clone());
    number
}

#[test]
fn numbers_of_a_period_that_is_over_are_not_gone_on_with() {
    let last_year = now().plus_seconds(-365 * SECONDS_PER_DAY).0;
    assert_eq!([logon_number("", last_year), logon_number(WHOLE_DAYS, last_year)], ["40", "1"]);
}

/// As after a clock that ran a day ahead: each Logon would begin anew, also with numbers that an operator has set.
#[test]
fn numbers_that_began_in_the_future_are_gone_on_with() {
    let tomorrow = now().plus_seconds(SECONDS_PER_DAY).0;
    assert_eq!(logon_number(WHOLE_DAYS, tomorrow), "40");
}

/// The process was started again while the line was down, and the period of the numbers ended meanwhile.
#[test]
fn numbers_that_began_in_the_future_are_of_the_period_in_which_they_were_last_written() {
    let tomorrow = now().plus_seconds(SECONDS_PER_DAY).0;
    assert_eq!(logon_number_of_file(WHOLE_DAYS, tomorrow, 2), "1");
    assert_eq!(logon_number_of_file("", tomorrow, 2), "40");
}
