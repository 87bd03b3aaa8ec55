//! Requests on orders, over the wire: they overtake each other, are repeated, cannot be read, and each gets its own
//! answer.

use super::client::FixClient;
use super::{STEADY, buy, server_with};

/// Long enough that a request is made before the venue has answered the one before.
const SLOW_MICROS: u32 = 700_000;

#[test]
fn a_replace_that_a_cancel_overtakes_has_an_answer_of_its_own() {
    let desk = server_with(STEADY).set("simulated.latencyMicros", SLOW_MICROS);
    let server = desk.start();
    let mut client = FixClient::new("STEADY");
    client.log_on(server.port_address("fix"));
    client.send(&buy("x", 10, "250"));
    client.wait_for_messages(2);
    client.send("35=G|11=y|41=x|54=1|38=20|40=2|44=251|48=1|59=1");
    client.send("35=F|11=z|41=x|54=1|48=1");
    let told = client.wait_for_messages(6).split_off(2);
    assert_eq!(told, ["8 y E/E 0/10", "8 z 6/6 0/10", "8 y I/6 0/20", "8 z I/4 0/20"]);
    assert_eq!(client.received[5].get(41), Some("y"));
    server.stop();
}

#[test]
fn an_order_is_found_by_every_name_it_had_whatever_the_connection() {
    let desk = server_with(STEADY);
    let mut server = desk.start();
    let mut client = FixClient::new("STEADY");
    client.log_on(server.port_address("fix"));
    client.send(&buy("a", 10, "250"));
    client.wait_for_messages(2);
    for (id, of) in [("b", "a"), ("c", "b")] {
        let count = client.received.len();
        client.send(&format!("35=G|11={id}|41={of}|54=1|38=20|40=2|44=251|48=1|59=1"));
        client.wait_for_messages(count + 2);
    }
    client.disconnect();
    server.stop();
    server = desk.start();
    client.log_on(server.port_address("fix"));
    let before = client.received.len();
    client.send("35=F|11=d|41=b|54=2|48=1");
    client.send("35=G|11=d|41=b|54=1|38=many|40=2|44=251|48=1");
    client.send("35=G|97=Y|11=b|41=a|54=1|38=20|40=2|44=251|48=1|59=1");
    client.wait_for_messages(before + 3);
    let told: Vec<_> = client.received[before..]
        .iter()
        .map(|message| [35, 11, 41, 37, 39, 102, 150].map(|tag| message.get(tag).unwrap_or("-")).join(" "))
        .collect();
    assert_eq!(told, ["9 d c a 0 99 -", "9 d c a 0 99 -", "8 b - a 0 - I"]);
    server.stop();
}
