//! A QuickFIX client asks for its executions and for the positions of its account.

use super::{SESSIONS, Story, order};

#[test]
fn executions_and_positions_are_told_on_request() {
    let mut story = Story::begin_in(&format!("{SESSIONS}ExtendedMessages=Y\n"), &[]);
    let client = &mut story.client;
    client.say(&order("first", "38=10|40=1"));
    client.hear_reports("F/2");
    client.say("35=AD|568=T1|569=1|580=[75=20200101,60=20200101-00:00:00]");
    let ack = client.hear_message("AQ");
    assert_eq!([568, 748, 749, 750].map(|tag| ack[&tag].as_str()), ["T1", "1", "0", "0"]);
    let trade = client.hear_message("AE");
    assert_eq!([568, 37, 32, 552, 912].map(|tag| trade[&tag].as_str()), ["T1", "first", "10", "1", "Y"]);
    client.say(&order("second", "38=10|40=1"));
    client.hear_reports("F/2");
    client.say("35=AD|568=T3|569=1|7007=1|580=[75=20200101,60=20200101-00:00:00]");
    assert_eq!(client.hear_message("AQ")[&748], "1");
    let oldest = client.hear_message("AE");
    assert_eq!([568, 37, 912].map(|tag| oldest[&tag].as_str()), ["T3", "first", "Y"]);
    client.say("35=AD|568=T2|569=1|11=nothing");
    assert_eq!(client.hear_message("AQ")[&748], "0");
    client.say("35=AN|710=P1|724=0|1=1|581=1|715=20261116|60=20261116-12:00:00|48=1");
    let ack = client.hear_message("AO");
    assert_eq!([710, 727, 728, 729].map(|tag| ack[&tag].as_str()), ["P1", "1", "0", "0"]);
    let position = client.hear_message("AP");
    assert_eq!([710, 55, 703, 704].map(|tag| position[&tag].as_str()), ["P1", "AAPL", "TOT", "20"]);
    assert_eq!(story.client.leave(), ["logged out"]);
    story.server.stop();
}
