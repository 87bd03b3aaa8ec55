//! Topics against their AsyncAPI description: AsyncAPI's own parser accepts the document, and a real message of every
//! channel fits the schemas of its headers and of its body.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use jsonschema::Validator;
use scenarios::http::{HttpClient, HttpRequest};
use scenarios::server::RunningServer;
use scenarios::wait::{DEADLINE, wait_for};
use serde_json::{Value, json};

use crate::test_platform::{AAPL, TestPlatform, TraderClient, limit, market};
use crate::topics::TopicListener;

const CHECKER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/asyncapi");

/// What `make test` sets where it has installed everything.
const EVERYTHING_IS_THERE: &str = "EXAMPLES_PYTHON";

#[test]
fn the_description_of_the_topics_is_valid_in_the_eyes_of_asyncapi() {
    let is_there = PathBuf::from(CHECKER).join("node_modules/@asyncapi/parser").is_dir();
    if !is_there {
        let must = env::var_os(EVERYTHING_IS_THERE).is_some() || env::var_os("CI").is_some();
        assert!(!must, "@asyncapi/parser is not installed");
        return eprintln!("NOT TESTED: @asyncapi/parser is not installed; `make test` does it");
    }
    let desk = TestPlatform::new();
    let server = desk.start();
    let file = desk.data().join("asyncapi.json");
    fs::write(&file, description(&mut server.client()).to_string()).unwrap();
    let checked = Command::new("node").current_dir(CHECKER).arg("check.mjs").arg(&file).output().unwrap();
    let told = String::from_utf8_lossy(&checked.stdout);
    assert!(checked.status.success(), "{told}{}", String::from_utf8_lossy(&checked.stderr));
    assert_eq!(told, "23 channels, 24 operations\n");
    server.stop();
}

#[test]
fn the_description_names_the_ports_of_this_server() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let servers = description(&mut server.client())["servers"].take();
    let host = |name: &str| (servers[name]["protocol"].clone(), servers[name]["host"].clone());
    let at = |port: u16| json!(format!("{}:{port}", server.address().ip()));
    assert_eq!(host("own"), (json!("ws"), at(server.address().port())));
    assert_eq!(host("tcp"), (json!("stomp"), at(server.port_address("brokerTcp").port())));
    assert_eq!(host("tls"), (json!("stomps"), at(server.port_address("brokerTcp").port())));
    assert_eq!(host("websocket"), (json!("ws"), at(server.port_address("brokerWs").port())));
    server.stop();
}

/// A strategy that comes and goes.
const STRATEGY: &str = "CROSS:moving-average-cross security=AAPL fast=50 slow=200 quantity=1";

#[test]
fn a_real_message_of_every_channel_fits_the_description() {
    let desk = TestPlatform::new().set("demo.activity", "busy").set("strategies.instances", STRATEGY);
    let server = with_a_break(&desk);
    let mut client = server.client();
    let described = Described::new(description(&mut client));
    let mut listener = TopicListener::join(&mut client);
    listener.subscribe(1, "/topic/strategy-bus.>");
    listener.send("SUBSCRIBE\nid:2\ndestination:/topic/>\nsnapshot:true\n\n");
    make_news(&mut client, &mut listener);
    accept_break(&mut client);
    change_a_security(&desk, &mut client);
    let mut unheard = described.channels.keys().cloned().collect::<BTreeSet<_>>();
    let until = Instant::now() + 4 * DEADLINE;
    while !unheard.is_empty() {
        assert!(Instant::now() < until, "nothing was heard on {unheard:?}");
        let (headers, body) = listener.headers_and_body();
        unheard.remove(&described.check(&headers, &body));
    }
    server.stop();
}

/// A server whose venue has forgotten an open order.
fn with_a_break(desk: &TestPlatform) -> RunningServer {
    let server = desk.start();
    let mut client = server.client();
    let order = client.place(&limit(AAPL, "BUY", 10, "250.00"));
    client.wait_for_status(&order, "SUBMITTED");
    server.stop();
    fs::remove_file(desk.data().join("venues/SIMULATED-ALPHA.ledger")).unwrap();
    desk.start()
}

/// Imports the demo's reference data with another description of one security.
fn change_a_security(desk: &TestPlatform, client: &mut HttpClient) {
    let folder = desk.data().with_file_name("reference");
    fs::create_dir(&folder).unwrap();
    for entry in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../demo/reference")).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap().replace("Apple", "Apple again");
        fs::write(folder.join(path.file_name().unwrap()), text).unwrap();
    }
    let imported = client.post("/rest/reference/import", &json!({ "path": folder }).to_string()).unwrap();
    assert_eq!(imported.status, 200, "{imported:?}");
}

fn accept_break(client: &mut HttpClient) {
    let found = wait_for("the break of the forgotten order", || {
        client.get_json("/rest/break?state=ALL").as_array().unwrap().first().cloned()
    });
    let path = format!("/rest/break/{}/accept", found["id"].as_str().unwrap());
    let accepted = client.post(&path, r#"{"comment": "a story"}"#).unwrap();
    assert_eq!(accepted.status, 200, "{accepted:?}");
}

/// Something of every kind that does not happen by itself.
fn make_news(client: &mut HttpClient, listener: &mut TopicListener) {
    client.place(&market(AAPL, "BUY", 10));
    client.place(&limit(AAPL, "BUY", 10, "250.00"));
    let mut call = |method: &str, path: &str, body: Value| {
        let headers = [("Content-Type", "application/json")];
        let request = HttpRequest { method, path, headers: &headers, body: Some(&body.to_string()) };
        let answer = client.send(&request).unwrap();
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
    };
    let wish = json!({ "strategyName": "SERVER", "securityId": 3, "subscribe": true });
    call("PUT", "/rest/subscription/marketdata/subscribe", wish);
    call("POST", "/rest/strategy/CROSS/stop", json!({}));
    call("POST", "/rest/risk/kill", json!({ "scope": "SECURITY-2", "reason": "a story" }));
    listener.send("SEND\ndestination:/topic/generic-event.SERVER.note\n\n{\"x\":1}");
}

fn description(client: &mut HttpClient) -> Value {
    client.get_json("/asyncapi.json")
}

/// The document, by the first segments of its channels, with what checks each part of a message.
struct Described {
    document: Value,
    channels: BTreeMap<String, Value>,
    validators: BTreeMap<(String, &'static str), Validator>,
}

impl Described {
    fn new(document: Value) -> Self {
        let channels = document["channels"].as_object().unwrap().values();
        let by_root = channels.map(|channel| (fixed(channel["address"].as_str().unwrap()), channel.clone()));
        let names = document["components"]["messages"].as_object().unwrap().keys();
        let parts = names.flat_map(|name| ["headers", "payload"].map(|part| (name.clone(), part)));
        let validators = parts.map(|of| (of.clone(), validator(&document, &of.0, of.1)));
        Self { channels: by_root.collect(), validators: validators.collect(), document: document.clone() }
    }

    /// Gives the channel that the message came on.
    fn check(&self, headers: &Value, body: &Value) -> String {
        let destination = headers["destination"].as_str().unwrap();
        let is_of =
            |channel: &&String| destination == channel.as_str() || destination.starts_with(&format!("{channel}."));
        let name = self.channels.keys().find(is_of).unwrap_or_else(|| panic!("{destination} is not described"));
        let channel = &self.channels[name];
        let segments = |address: &str| address.split('.').count();
        assert_eq!(segments(destination), segments(channel["address"].as_str().unwrap()), "{destination}");
        let messages: Vec<_> = channel["messages"].as_object().unwrap().keys().collect();
        let faults: Vec<_> = messages.iter().map(|message| self.faults(message, headers, body)).collect();
        assert!(faults.iter().any(Vec::is_empty), "{headers:#} {body:#} {faults:#?}");
        name.clone()
    }

    /// What is wrong with a message, in the eyes of its schemas.
    fn faults(&self, message: &str, headers: &Value, body: &Value) -> Vec<String> {
        let mut faults = Vec::new();
        for (part, value) in [("headers", headers), ("payload", body)] {
            let validator = &self.validators[&(message.to_owned(), part)];
            faults
                .extend(validator.iter_errors(value).map(|error| format!("{part}{}: {error}", error.instance_path())));
            faults.extend(undescribed(&self.document, message, part, value));
        }
        faults
    }
}

fn validator(document: &Value, message: &str, part: &str) -> Validator {
    let mut schema = json!({ "$ref": format!("#/components/messages/{message}/{part}") });
    schema["components"] = document["components"].clone();
    jsonschema::options().should_validate_formats(true).build(&schema).unwrap()
}

/// Keys that the schema lacks.
fn undescribed(document: &Value, message: &str, part: &str, value: &Value) -> Vec<String> {
    let mut schema = &document["components"]["messages"][message][part];
    if let Some(at) = schema["$ref"].as_str() {
        schema = document.pointer(&at[1..]).unwrap();
    }
    let Some((told, keys)) = schema["properties"].as_object().zip(value.as_object()) else { return vec![] };
    keys.keys().filter(|key| !told.contains_key(*key)).map(|key| format!("{part}: {key} is not described")).collect()
}

/// The part of an address before what is filled in.
fn fixed(address: &str) -> String {
    address.split(".{").next().unwrap().to_owned()
}
