//! AsyncAPI 3 document, from the topic families table and the schemas that OpenAPI has too. Tests validate real
//! messages against it.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::schema::{reference, schemas};
use crate::topics::topic_families::{FAMILIES, SEGMENTS, TopicFamily};

/// A port that carries STOMP.
pub struct AsyncApiServer {
    pub name: &'static str,
    pub description: &'static str,
    /// With its port.
    pub host: String,
    pub pathname: Option<&'static str>,
    pub protocol: &'static str,
}

/// The whole description, for a server of this version with these ports.
pub fn document(version: &str, servers: &[AsyncApiServer]) -> Value {
    json!({
        "asyncapi": "3.0.0",
        "info": {
            "title": "Rialto topics",
            "version": version,
            "description": ABOUT,
            "license": { "name": "Apache License 2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0" },
        },
        "defaultContentType": "application/json",
        "servers": servers.iter().map(|server| (server.name.to_owned(), describe_server(server))).collect::<Map<_, _>>(),
        "channels": each(channel),
        "operations": operations(),
        "components": {
            "messages": messages(),
            "schemas": payloads(),
            "securitySchemes": { "login": { "type": "userPassword", "description": LOGIN } },
        },
    })
}

const ABOUT: &str = "\
What the server publishes, as STOMP 1.0, 1.1 or 1.2 over TCP, TLS and WebSocket. Subscribe to a channel's address; `*` \
stands for one whole segment, `>` for the rest. A character of a name outside `A-Z a-z 0-9 _ -` is percent-encoded.

**Reconnect without loss**: where a channel has `x-from-sequence`, SUBSCRIBE with the header `from-sequence` and the \
last `event-id` or `sequence` that was seen delivers what was missed, then what happens, without a gap or a repeat.

**Snapshot**: where a channel has `x-snapshot`, SUBSCRIBE with `snapshot:true` first delivers the last value of each topic.

**Throttle**: where a channel has `x-throttled`, a WebSocket gets the newest value of each topic at a bounded rate.

**Amounts** are JSON numbers with their exact digits, **instants** are epoch milliseconds, every key is always there.";

const LOGIN: &str = "\
`login` and `passcode` of CONNECT: a user and the password, or any name and a token. While no users are \
configured, clients on the server's own machine need no login.";

fn describe_server(server: &AsyncApiServer) -> Value {
    let security = json!([{ "$ref": "#/components/securitySchemes/login" }]);
    let mut described = json!({
        "host": server.host,
        "protocol": server.protocol,
        "description": server.description,
        "security": security,
    });
    if let Some(pathname) = server.pathname {
        described["pathname"] = pathname.into();
    }
    described
}

/// One entry for each name of a family.
fn each(entry: impl Fn(&TopicFamily, &str) -> Value) -> Map<String, Value> {
    let names = FAMILIES.iter().flat_map(|family| family.patterns().map(move |pattern| (family, pattern)));
    names.map(|(family, pattern)| (key(&pattern), entry(family, &pattern))).collect()
}

/// The part of a name before its parameters, in characters that are valid in a key.
fn key(pattern: &str) -> String {
    let fixed = pattern.split(".{").next().unwrap_or(pattern);
    fixed.replace([' ', '.'], "-")
}

fn channel(family: &TopicFamily, pattern: &str) -> Value {
    let messages: Map<_, _> = message_names(family)
        .map(|name| (name.to_owned(), json!({ "$ref": format!("#/components/messages/{name}") })))
        .collect();
    let mut channel = json!({
        "address": format!("/topic/{pattern}"),
        "title": pattern,
        "description": family.description,
        "messages": messages,
        "x-from-sequence": family.is_replayable,
        "x-snapshot": family.has_snapshot,
        "x-throttled": family.is_price,
    });
    let parameters = parameters(family);
    if !parameters.is_empty() {
        channel["parameters"] = parameters.into();
    }
    channel
}

fn parameters(family: &TopicFamily) -> Map<String, Value> {
    let says = |name: &str| SEGMENTS.iter().find(|(known, _)| *known == name).map_or("", |(_, says)| says);
    let open = family.segments.iter().filter(|segment| !segment.starts_with('='));
    open.map(|name| ((*name).to_owned(), json!({ "description": says(name) }))).collect()
}

/// Its payloads by their names; a family of any JSON has one message of its own.
fn message_names(family: &TopicFamily) -> impl Iterator<Item = &'static str> {
    let any = family.payloads.is_empty().then_some(ANY);
    family.payloads.iter().copied().chain(any)
}

/// The message whose body is any JSON.
const ANY: &str = "AnyJson";

/// The server sends on every channel, and receives generic events.
fn operations() -> Map<String, Value> {
    let operation = |action: &'static str| {
        move |family: &TopicFamily, pattern: &str| {
            let channel = format!("#/channels/{}", key(pattern));
            let message = |name: &str| json!({ "$ref": format!("{channel}/messages/{name}") });
            let messages: Vec<_> = message_names(family).map(message).collect();
            json!({ "action": action, "channel": { "$ref": channel }, "messages": messages, "summary": family.description })
        }
    };
    let sent = each(operation("send")).into_iter().map(|(name, entry)| (format!("send-{name}"), entry));
    let taken = each(operation("receive")).into_iter().filter(|(name, _)| name == "generic-event");
    sent.chain(taken.map(|(name, entry)| (format!("receive-{name}"), entry))).collect()
}

fn messages() -> Map<String, Value> {
    let mut messages = Map::new();
    for family in FAMILIES {
        for name in message_names(family) {
            // A price is the same on the topic that strategies share.
            messages.entry(name).or_insert_with(|| message(family, name));
        }
    }
    messages
}

fn message(family: &TopicFamily, name: &str) -> Value {
    let payload = if name == ANY { json!({ "description": "any JSON" }) } else { reference(name) };
    json!({ "name": name, "contentType": "application/json", "headers": headers(family), "payload": payload })
}

/// Headers of every MESSAGE, and those of some families. STOMP headers are texts.
fn headers(family: &TopicFamily) -> Value {
    let text = |says: &str| json!({ "type": "string", "description": says });
    let number = |says: &str| json!({ "type": "string", "pattern": "^[0-9]+$", "description": says });
    let truth = |says: &str| json!({ "type": "string", "enum": ["true"], "description": says });
    let mut properties = json!({
        "destination": text("the topic"),
        "message-id": text("unique for ever, also over a restart; not stable for one event"),
        "subscription": text("the id of the subscription"),
        "content-type": text("application/json"),
        "content-length": number("octets of the body"),
        "sequence": number("of the input that caused it, ascending; what REST answers with rialto-sequence n knows of \
                            all messages up to n"),
        "ack": text("with another ack mode than auto in STOMP 1.2: what an ACK names"),
    });
    if family.is_replayable {
        let says = "the sequence, a dash and the place among the events of that sequence: one event for ever, \
                    whether it is heard live or replayed; absent on what is not kept";
        properties["event-id"] = json!({ "type": "string", "pattern": "^[0-9]+-[0-9]+$", "description": says });
        properties["replayed"] = truth("on what happened before the subscription");
    }
    if family.has_snapshot {
        properties["snapshot"] = truth("on a last value from before the subscription");
    }
    if family.is_price {
        properties["conflated"] = number("how many older values of the topic this one replaced");
    }
    let required = ["destination", "message-id", "content-type", "content-length", "sequence"];
    json!({ "type": "object", "properties": properties, "required": required })
}

/// The schemas that messages refer to, and those that these refer to.
fn payloads() -> Map<String, Value> {
    let all = schemas();
    let mut wanted: BTreeSet<String> =
        FAMILIES.iter().flat_map(|family| family.payloads).map(|name| (*name).to_owned()).collect();
    loop {
        let inner: Vec<_> = wanted.iter().filter_map(|name| all.get(name)).flat_map(referred).collect();
        let before = wanted.len();
        wanted.extend(inner);
        if wanted.len() == before {
            return all.into_iter().filter(|(name, _)| wanted.contains(name)).map(without_discriminator).collect();
        }
    }
}

/// OpenAPI's discriminator is an object, AsyncAPI's is not; each variant states its `objectType` anyway.
fn without_discriminator((name, mut schema): (String, Value)) -> (String, Value) {
    if let Some(keys) = schema.as_object_mut() {
        keys.remove("discriminator");
    }
    (name, schema)
}

/// Names of schemas that one refers to.
fn referred(schema: &Value) -> Vec<String> {
    let text = schema.to_string();
    let found = text.split("\"#/components/schemas/").skip(1).filter_map(|rest| rest.split('"').next());
    found.map(ToOwned::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole() -> Value {
        let server = AsyncApiServer {
            name: "tcp",
            description: "STOMP over TCP",
            host: "localhost:61613".into(),
            pathname: None,
            protocol: "stomp",
        };
        document("1.0.0", &[server])
    }

    fn references<'a>(value: &'a Value, found: &mut BTreeSet<&'a str>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str));
                fields.values().for_each(|value| references(value, found));
            }
            Value::Array(items) => items.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }

    #[test]
    fn every_reference_leads_somewhere_and_every_part_is_referred_to() {
        let document = whole();
        let mut found = BTreeSet::new();
        references(&document, &mut found);
        let lost: Vec<_> = found.iter().filter(|at| document.pointer(&at[1..]).is_none()).collect();
        assert!(found.len() > 50 && lost.is_empty(), "{lost:?}");
        for part in ["messages", "schemas"] {
            for name in document["components"][part].as_object().unwrap().keys() {
                assert!(found.contains(format!("#/components/{part}/{name}").as_str()), "{part} {name}");
            }
        }
    }

    #[test]
    fn every_family_has_a_channel_for_each_of_its_names() {
        let document = whole();
        let addresses: Vec<_> = document["channels"]
            .as_object()
            .unwrap()
            .values()
            .map(|channel| channel["address"].as_str().unwrap().to_owned())
            .collect();
        let names = FAMILIES.iter().flat_map(TopicFamily::patterns).map(|pattern| format!("/topic/{pattern}"));
        let mut names: Vec<_> = names.collect();
        assert_eq!(addresses.len(), names.len());
        names.retain(|name| !addresses.contains(name));
        assert_eq!(names, Vec::<String>::new());
        let the_service = &document["channels"]["the-service"];
        assert_eq!(the_service["address"], "/topic/the service.{strategyName}.{intId}");
        assert_eq!(the_service["messages"], json!({"OrderStatusVO": {"$ref": "#/components/messages/OrderStatusVO"}}));
    }
}
