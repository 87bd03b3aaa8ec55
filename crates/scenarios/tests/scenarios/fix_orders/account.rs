//! Questions about the account of a session: its executions (AD), its positions (AN), and orders that have ended (AF with 7004=Y).

use super::client::{FixClient, Message};
use super::{STEADY, buy, reaches, server_with};

/// Type and the wanted fields, those that are absent left out.
fn shown(message: &Message, tags: &[u32]) -> String {
    let fields = tags.iter().filter_map(|tag| Some(format!(" {tag}={}", message.get(*tag)?)));
    format!("{}{}", message.kind(), fields.collect::<String>())
}

fn answers(client: &mut FixClient, question: &str, count: usize, tags: &[u32]) -> Vec<String> {
    client.received.clear();
    match question.contains("|580=") {
        true => client.send_as_is(question.to_owned()),
        false => client.send(question),
    }
    client.wait_for_messages(count);
    client.received.iter().map(|message| shown(message, tags)).collect()
}

#[test]
fn a_client_asks_what_it_has_traded_and_what_it_holds() {
    let sessions =
        format!("{STEADY}ExtendedMessages=Y\n[SESSION]\nSenderCompID=RIALTO\nTargetCompID=OTHER\nExtendedMessages=Y\n");
    let desk = server_with(&sessions);
    let server = desk.start();
    let mut client = FixClient::new("STEADY");
    client.log_on(server.port_address("fix"));
    let trades = [748, 749, 750, 912, 37, 11, 54, 32, 31];
    assert_eq!(answers(&mut client, "35=AD|568=T|569=0", 1, &trades), ["AQ 748=0 749=0 750=1"]);
    client.received.clear();
    client.send("35=D|11=m1|54=1|38=100|40=1|48=1");
    client.wait_for_messages(3);
    let executed = client.received[2].get(17).unwrap().to_owned();
    client.send(&buy("rests", 10, "250"));
    client.wait_for_messages(5);
    let told = answers(&mut client, "35=AD|568=T|569=0", 2, &trades);
    let trade = "AE 748=1 912=Y 37=m1 11=m1 54=1 32=100 31=272.41";
    assert_eq!(told, ["AQ 748=1 749=0 750=0", trade]);
    assert_eq!((client.received[1].get(17), client.received[1].get(851)), (Some(executed.as_str()), None));
    assert_eq!(answers(&mut client, "35=AD|568=T|569=1|11=m1|7005=Y", 2, &trades)[1], trade);
    assert_eq!(client.received[1].get(851), Some("2"));
    assert_eq!(answers(&mut client, "35=AD|568=T|569=1|11=rests", 1, &trades), ["AQ 748=0 749=0 750=1"]);
    let positions = [727, 728, 729, 1, 55, 704];
    let told = answers(&mut client, "35=AN|710=P|724=0|1=Rialto Desk|581=1|715=20261116|48=1", 2, &positions);
    assert_eq!(told, ["AO 727=1 728=0 729=0 1=Rialto Desk", "AP 727=1 728=0 1=Rialto Desk 55=AAPL 704=100"]);
    let told = answers(&mut client, "35=AN|710=P|724=0|1=Nobody|581=1|715=20261116", 1, &[728, 729, 58]);
    assert_eq!(told, ["AO 728=1 729=2 58=unknown-account: Account (1) Nobody is not known"]);
    // What another session traded is its own, and the position is the account's.
    let mut other = FixClient::new("OTHER");
    other.log_on(server.port_address("fix"));
    assert_eq!(answers(&mut other, "35=AD|568=T|569=1|11=m1", 1, &trades), ["AQ 748=0 749=0 750=1"]);
    server.stop();
}

fn since_2020(id: &str, further: &str) -> String {
    format!("35=AD|568={id}|569=1{further}|580=1|60=20200101-00:00:00")
}

#[test]
fn executions_are_told_in_parts_and_what_is_not_offered_is_refused() {
    let desk = server_with(&(STEADY.to_owned() + "ExtendedMessages=Y\n"));
    let server = desk.start();
    let mut client = FixClient::new("STEADY");
    client.log_on(server.port_address("fix"));
    for id in ["a", "b", "c"] {
        client.send(&format!("35=D|11={id}|54=1|38=1|40=1|48=1"));
    }
    client.wait_for_messages(9);
    let tags = [748, 749, 750, 912, 11, 58];
    let told = answers(&mut client, &since_2020("T", "|7007=2"), 3, &tags);
    assert_eq!(told, ["AQ 748=2 749=0 750=0", "AE 748=2 912=N 11=a", "AE 748=2 912=Y 11=b"]);
    let last = client.received[2].get(60).unwrap().to_owned();
    let rest = format!("35=AD|568=T|569=1|7007=9|580=1|60={last}");
    let told = answers(&mut client, &rest, 1, &tags);
    let count: usize = client.received[0].get(748).unwrap().parse().unwrap();
    client.wait_for_messages(1 + count);
    let executed = client.received.iter().filter_map(|message| message.get(11)).collect::<Vec<_>>();
    assert!(executed.ends_with(&["b", "c"]), "from the last one of the part on: {told:?} {executed:?}");
    let refused = [
        ("|7007=0", "AQ 749=99 750=2 58=bad-field: MaxTrades (7007) 0 is not a number from 1 to 10000"),
        (
            "|263=1",
            "AQ 749=8 750=2 58=not-offered: SubscriptionRequestType (263) is 0: executions are told by reports (8) as they happen",
        ),
    ];
    for (field, refusal) in refused {
        assert_eq!(answers(&mut client, &since_2020("T", field), 1, &tags), [refusal]);
    }
    let told = answers(&mut client, "35=AD|568=T|569=2", 1, &tags);
    assert_eq!(
        told,
        ["AQ 749=8 750=2 58=not-offered: TradeRequestType (569) is 0 (all trades) or 1 (those that match)"]
    );
    assert_eq!(answers(&mut client, "35=AD|568=T|569=9", 1, &[371, 373]), ["3 371=569 373=5"]);
    server.stop();
}

/// Each request is answered or refused, whatever the server had time for; a client that hangs up in the middle asks again.
#[test]
fn many_questions_at_once_are_refused_and_a_lost_line_costs_its_answers_alone() {
    const QUESTIONS: usize = 400;
    let desk = server_with(&(STEADY.to_owned() + "ExtendedMessages=Y\n"));
    let server = desk.start();
    let mut client = FixClient::new("STEADY");
    client.log_on(server.port_address("fix"));
    client.send("35=D|11=a|54=1|38=1|40=1|48=1");
    client.wait_for_messages(3);
    client.received.clear();
    (0..QUESTIONS).for_each(|number| client.send_as_is(since_2020(&format!("T{number}"), "")));
    let answered = |client: &FixClient| client.received.iter().filter(|message| message.kind() != "AE").count();
    client.receive_until("an answer to each question", |client| answered(client) == QUESTIONS);
    let refused: Vec<_> = client.received.iter().filter(|message| message.kind() == "j").collect();
    let busy = "j 372=AD 380=4 58=busy: 4 requests for executions wait for their answer, ask again";
    assert!(!refused.is_empty(), "none of {QUESTIONS}");
    assert!(refused.iter().all(|message| shown(message, &[372, 380, 58]) == busy), "{refused:?}");

    (0..QUESTIONS).for_each(|number| client.send_as_is(since_2020(&format!("U{number}"), "")));
    client.disconnect();
    reaches(&server, "STEADY", "DISCONNECTED");
    client.log_on(server.port_address("fix"));
    client.received.clear();
    client.send_as_is(since_2020("again", ""));
    client
        .receive_until("the answer", |client| client.received.iter().any(|message| message.get(568) == Some("again")));
    server.stop();
}

#[test]
fn a_mass_status_has_ended_orders_where_they_are_asked_for() {
    let desk = server_with(&(STEADY.to_owned() + "ExtendedMessages=Y\n"));
    let server = desk.start();
    let mut client = FixClient::new("STEADY");
    client.log_on(server.port_address("fix"));
    client.send(&buy("rests", 10, "250"));
    client.send(&buy("ends", 10, "250"));
    client.wait_for_messages(4);
    client.send("35=F|11=c|41=ends|54=1|48=1");
    client.wait_for_messages(6);
    let tags = [11, 39, 911, 912];
    assert_eq!(answers(&mut client, "35=AF|584=a|585=7", 1, &tags), ["8 11=rests 39=0 911=1 912=Y"]);
    let told = answers(&mut client, "35=AF|584=a|585=7|7004=Y", 2, &tags);
    assert_eq!(told, ["8 11=rests 39=0 911=2 912=N", "8 11=ends 39=4 911=2 912=Y"]);
    server.stop();
}
