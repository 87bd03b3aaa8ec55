//! Questions about the account of a session: its executions (AD), its positions (AN), and orders that have ended (AF with 7004=Y).

use super::client::{FixClient, Message};
use super::{STEADY, buy, server_with};

/// Type and the wanted fields, those that are absent left out.
fn shown(message: &Message, tags: &[u32]) -> String {
    let fields = tags.iter().filter_map(|tag| Some(format!(" {tag}={}", message.get(*tag)?)));
    format!("{}{}", message.kind(), fields.collect::<String>())
}

fn answers(client: &mut FixClient, question: &str, count: usize, tags: &[u32]) -> Vec<String> {
    client.received.clear();
    client.send(question);
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
