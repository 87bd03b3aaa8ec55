//! Subscriptions with a replay: a disconnected client receives what it missed, then live events, each event once.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use scenarios::http::HttpClient;
use scenarios::server::RunningServer;
use serde_json::{Value, json};

use crate::test_platform::{AAPL, TestPlatform, TraderClient, limit, market, with_id};
use crate::topics::TopicListener;

pub(crate) const TRADING: &str = "/topic/order-status.>,/topic/fill.>,/topic/transaction.>";

/// What a client has heard, over all its connections: the id of each event and its body.
#[derive(Default)]
struct ReceivedMessage {
    events: Vec<(String, Value)>,
    message_ids: BTreeSet<u64>,
}

impl ReceivedMessage {
    /// Behind the last event, or from the first one on.
    fn join(&self, client: &mut HttpClient) -> TopicListener {
        let last = self.events.last().map_or("0", |(id, _)| id);
        let mut listener = TopicListener::join(client);
        listener.send(&format!("SUBSCRIBE\nid:1\ndestination:{TRADING}\nfrom-sequence:{last}\n\n"));
        listener
    }

    fn hear(&mut self, listener: &mut TopicListener) {
        let (headers, body) = listener.headers_and_body();
        let text = |name: &str| headers[name].as_str().unwrap_or_else(|| panic!("no {name}: {headers}")).to_owned();
        let (id, sequence) = (text("event-id"), text("sequence"));
        assert!(id.starts_with(&format!("{sequence}-")), "{headers}");
        assert!(self.message_ids.insert(text("message-id").parse().unwrap()), "the id of a message came again");
        self.events.push((id, body));
    }
}

fn history(client: &mut HttpClient) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for_each_event(client, |id, event| found.push((id, event.clone())));
    found
}

/// What history has of the same families, with the ids that the events must have.
pub(crate) fn for_each_event(client: &mut HttpClient, mut each: impl FnMut(String, &Value)) {
    let mut after = 0;
    loop {
        let page = client.get_json(&format!("/rest/history/events?after={after}&limit=500"));
        let page = page.as_array().unwrap();
        let Some(last) = page.last() else { return };
        after = last["sequence"].as_u64().unwrap();
        let mut place = (0, 0);
        for event in page {
            let sequence = event["sequence"].as_u64().unwrap();
            place = if place.0 == sequence { (sequence, place.1 + 1) } else { (sequence, 0) };
            if ["OrderStatus", "Fill", "Transaction"].contains(&event["objectType"].as_str().unwrap()) {
                each(format!("{sequence}-{}", place.1), &event["event"]);
            }
        }
    }
}

/// Orders come and go, and some trade, until the flag is set.
fn trade(mut client: HttpClient, name: &str, is_over: &AtomicBool) {
    for number in 0.. {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        let resting = client.place(&with_id(limit(AAPL, "BUY", 1, "250.00"), &format!("{name}-{number}")));
        client.place(&market(AAPL, if number % 2 == 0 { "BUY" } else { "SELL" }, 1));
        client.delete(&format!("/rest/execution/order/{resting}")).unwrap();
    }
}

/// Hears, and is cut so many times in the midst of it, wherever that is.
fn hear_with_cuts(server: &RunningServer, cuts: usize, heard: &mut ReceivedMessage) {
    for cut in 0..cuts {
        let mut listener = heard.join(&mut server.client());
        (0..=cut * 7 % 23).for_each(|_| heard.hear(&mut listener));
    }
}

fn trade_and_be_cut(server: &RunningServer, name: &str, heard: &mut ReceivedMessage) {
    let (client, is_over) = (server.client(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| trade(client, name, &is_over));
        hear_with_cuts(server, 10, heard);
        is_over.store(true, Ordering::Relaxed);
    });
}

/// An order that rests in the book.
fn rest(client: &mut HttpClient, id: &str) {
    client.place(&with_id(limit(AAPL, "BUY", 1, "250.00"), id));
    client.wait_for_status(id, "SUBMITTED");
}

#[test]
fn a_client_that_is_cut_off_again_and_again_hears_every_event_once() {
    let desk = TestPlatform::new();
    let mut heard = ReceivedMessage::default();
    let server = desk.start();
    trade_and_be_cut(&server, "first", &mut heard);
    server.stop();
    let server = desk.start();
    trade_and_be_cut(&server, "second", &mut heard);
    // The last event of all, so that the end is known.
    let mut client = server.client();
    rest(&mut client, "the-end");
    let mut listener = heard.join(&mut client);
    let is_end = |(_, body): &(String, Value)| body["intId"] == "the-end" && body["status"] == "SUBMITTED";
    while !heard.events.iter().rev().take(1).any(is_end) {
        heard.hear(&mut listener);
    }
    let expected = history(&mut client);
    assert!(expected.len() > 100, "{}", expected.len());
    assert_eq!(heard.events, expected);
    server.stop();
}

#[test]
fn a_picture_goes_on_by_its_own_sequence() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    rest(&mut client, "seen");
    let picture = client.get("/rest/execution/order").unwrap();
    let sequence = picture.header("rialto-sequence").unwrap().to_owned();
    rest(&mut client, "unseen");
    let mut listener = TopicListener::join(&mut client);
    listener.send(&format!("SUBSCRIBE\nid:1\ndestination:/topic/order-status.>\nfrom-sequence:{sequence}\n\n"));
    for status in ["OPEN", "SUBMITTED"] {
        let (headers, body) = listener.headers_and_body();
        assert_eq!((&body["intId"], &body["status"]), (&json!("unseen"), &json!(status)));
        assert_eq!(headers["replayed"], "true");
    }
    rest(&mut client, "new");
    let (headers, body) = listener.headers_and_body();
    assert_eq!((&body["intId"], &body["status"]), (&json!("new"), &json!("OPEN")));
    assert_eq!((headers.get("replayed"), headers["event-id"].is_string()), (None, true));
    server.stop();
}

#[test]
fn a_wildcard_replays_what_is_kept_under_all_its_names_once() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    rest(&mut client, "one");
    let mut listener = TopicListener::join(&mut client);
    // The patterns overlap, and each event comes once on each of its topics.
    let joined = "/topic/>,/topic/order-status.>,/topic/*.SERVER.one";
    listener.send(&format!("SUBSCRIBE\nid:1\ndestination:{joined}\nfrom-sequence:0\n\n"));
    let mut told = Vec::new();
    while told.len() < 6 {
        let (headers, body) = listener.headers_and_body();
        let destination = headers["destination"].as_str().unwrap();
        if body["intId"] == "one" && headers["replayed"] == "true" {
            told.push(format!("{destination} {}", body["status"].as_str().unwrap()));
        }
    }
    let names = ["order-status", "the service", "rialto"];
    let expected = ["OPEN", "SUBMITTED"].map(|status| names.map(|name| format!("/topic/{name}.SERVER.one {status}")));
    assert_eq!(told, expected.concat());
    server.stop();
}

#[test]
fn who_does_not_read_his_replay_holds_up_nobody_and_gets_it_all() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    for number in 0..300 {
        client.place(&with_id(limit(AAPL, "BUY", 1, "250.00"), &format!("order-{number}")));
    }
    let (mut lazy, mut quick) = (TopicListener::join(&mut client), TopicListener::join(&mut client));
    // Twenty of them, so that far more waits than any lane or socket takes.
    for id in 0..20 {
        lazy.send(&format!("SUBSCRIBE\nid:{id}\ndestination:/topic/order-status.>\nfrom-sequence:0\n\n"));
    }
    quick.subscribe(1, "/topic/order-status.SERVER.last");
    client.place(&with_id(limit(AAPL, "BUY", 1, "250.00"), "last"));
    assert_eq!(quick.message().2["status"], "OPEN");
    let mut heard = vec![vec![]; 20];
    while heard.iter().any(|ids: &Vec<_>| ids.len() < 601) {
        let (headers, _) = lazy.headers_and_body();
        let id: usize = headers["subscription"].as_str().unwrap().parse().unwrap();
        heard[id].push(headers["event-id"].as_str().unwrap().to_owned());
    }
    assert!(heard.iter().all(|ids| ids[..601] == heard[0][..601]));
    assert_eq!(heard[0].iter().collect::<BTreeSet<_>>().len(), heard[0].len());
    server.stop();
}

#[test]
fn what_has_not_happened_is_refused() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut listener = TopicListener::join(&mut server.client());
    listener.send("SUBSCRIBE\nid:1\ndestination:/topic/fill.>\nfrom-sequence:999999999999\n\n");
    let error = listener.frame();
    let ahead = "ERROR\nmessage:from-sequence\\c 999999999999 is ahead of this server, which is at ";
    assert!(error.starts_with(ahead), "{error}");
    server.stop();
}
