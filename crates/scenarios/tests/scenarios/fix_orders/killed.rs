//! kill -9 with requests in flight: whatever the moment, each is executed once and answered once.

use std::collections::BTreeMap;

use scenarios::server::RunningServer;
use serde_json::{Value, json};

use super::client::{FixClient, Message};
use super::{STEADY, all_again_is_the_same, buy, server_with};
use crate::test_platform::{TestPlatform, TraderClient};

/// How many messages a client has heard when the server dies.
const MOMENTS: [usize; 1] = [11];
const ORDERS: usize = 6;

#[test]
fn a_mass_cancel_survives_whenever_the_server_dies() {
    let desk = server_with(&(STEADY.to_owned() + "ExtendedMessages=Y\n")).set("risk.ordersPerSecond", "");
    let mut server = desk.start();
    let mut client = FixClient::new("STEADY");
    client.log_on(server.port_address("fix"));
    for (round, moment) in MOMENTS.into_iter().enumerate() {
        let heard = client.received.len();
        for n in 0..ORDERS {
            client.send(&buy(&format!("r{round}-{n}"), 1, "250"));
        }
        client.send(&format!("35=q|11=all-{round}|530=7"));
        client.send(&buy(&format!("r{round}-after"), 1, "250"));
        client.wait_for_messages(heard + moment);
        server = killed_and_started(&desk, server, &mut client);
        client.receive_until(&format!("the end of round {round}"), |client| is_over(client, round));
        let text = format!("35=F|11=gone-{round}|41=r{round}-after|54=1|48=1");
        client.send(&text);
        client.receive_until("the last order to be gone", |client| ended(client, &format!("r{round}-after")));
    }
    let answers: BTreeMap<&str, (&str, &str)> =
        client.received.iter().filter(|message| message.kind() == "r").map(answer).collect();
    let all = ORDERS.to_string();
    let expected: Vec<_> = (0..MOMENTS.len()).map(|round| format!("all-{round}")).collect();
    assert_eq!(
        answers.into_iter().collect::<Vec<_>>(),
        expected.iter().map(|id| (id.as_str(), ("7", all.as_str()))).collect::<Vec<_>>()
    );
    assert_eq!(client.received.iter().filter(|message| message.kind() == "r").count(), MOMENTS.len());
    let open: Value = serde_json::from_str(&server.client().get("/rest/execution/order").unwrap().body).unwrap();
    assert_eq!(open, json!([]));
    all_again_is_the_same(&mut client);
    server.stop();
}

fn answer(message: &Message) -> (&str, (&str, &str)) {
    let get = |tag| message.get(tag).unwrap_or("-");
    (get(11), (get(531), get(533)))
}

fn killed_and_started(desk: &TestPlatform, server: RunningServer, client: &mut FixClient) -> RunningServer {
    server.kill();
    let server = desk.start();
    client.log_on(server.port_address("fix"));
    server
}

/// All orders before the mass cancel are cancelled, the one behind it is confirmed.
fn is_over(client: &FixClient, round: usize) -> bool {
    let confirmed = client.received_summaries().contains(&format!("8 r{round}-after 0/0 0/1"));
    confirmed && (0..ORDERS).all(|n| ended(client, &format!("r{round}-{n}")))
}

/// Cancelled, or never at the venue.
fn ended(client: &FixClient, id: &str) -> bool {
    client.received.iter().any(|message| message.get(37) == Some(id) && matches!(message.get(39), Some("4" | "8")))
}

#[test]
fn a_pending_replace_has_one_outcome_whenever_the_server_dies() {
    // The venue takes its time, so that the replace is pending when the server dies.
    let desk = server_with(STEADY).set("simulated.latencyMicros", 300_000);
    let mut server = desk.start();
    let mut client = FixClient::new("STEADY");
    client.log_on(server.port_address("fix"));
    for (round, moment) in [0, 1].into_iter().enumerate() {
        let (order, request) = (format!("o{round}"), format!("g{round}"));
        client.send(&buy(&order, 10, "250"));
        client.receive_until("the order to rest", |client| {
            client.received_summaries().contains(&format!("8 {order} 0/0 0/10"))
        });
        let heard = client.received.len();
        client.send(&format!("35=G|11={request}|41={order}|54=1|38=20|40=2|44=251|48=1|59=1"));
        client.wait_for_messages(heard + moment);
        server = killed_and_started(&desk, server, &mut client);
        client.receive_until("an outcome", |client| !outcomes(client, &request).is_empty());
        let (replaced, quantity) = (format!("8 {request} I/0 0/20"), server.client().order(&order)["quantity"].clone());
        let expected = if outcomes(&client, &request) == [replaced] { 20 } else { 10 };
        assert_eq!(quantity, json!(expected), "{:?}", outcomes(&client, &request));
        assert_eq!(
            client.received_summaries().iter().filter(|told| **told == format!("8 {request} E/E 0/10")).count(),
            1
        );
    }
    for round in 0..2 {
        assert_eq!(outcomes(&client, &format!("g{round}")).len(), 1);
    }
    all_again_is_the_same(&mut client);
    server.stop();
}

/// What a request led to: the order replaced, or the request refused.
fn outcomes(client: &FixClient, request: &str) -> Vec<String> {
    let is_outcome =
        |told: &String| told.starts_with(&format!("9 {request} ")) || told.starts_with(&format!("8 {request} I/"));
    client.received_summaries().into_iter().filter(is_outcome).collect()
}
